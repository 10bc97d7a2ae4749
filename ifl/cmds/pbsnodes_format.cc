#include "ifl/cmds/pbsnodes_format.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ifl/cmds/datetime.h"
#include "ifl/cmds/json_value.h"
#include "ifl/cmds/text.h"
#include "text/json_document.h"
#include "values/amount.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

using Json = nlohmann::ordered_json;

std::string shown_node_value(const attrl& attribute) {
    const std::string_view name = view(attribute.name);
    if (name == ATTR_NODE_last_used_time || name == ATTR_NODE_last_state_change_time) {
        if (const auto instant = parse_integer(view(attribute.value)))
            return date_text(static_cast<std::time_t>(*instant));
    }
    return std::string(view(attribute.value));
}

std::string dsv_row(const batch_status& node, std::string_view delimiter) {
    std::string text = fmt::format("Name={}", view(node.name));
    for (const attrl* attribute = node.attribs; attribute != nullptr; attribute = attribute->next) {
        std::string value(view(attribute->value));  // unchanged: instants are shown in seconds
        if (view(attribute->name) == ATTR_NODE_jobs)
            value.erase(std::remove(value.begin(), value.end(), ' '), value.end());
        text += fmt::format("{}{}={}", delimiter, attribute_name(*attribute), printable(value));
    }
    return text + "\n";
}

// Writes the size with at most three digits, in the smallest unit for which they are enough.
std::string short_size(std::int64_t bytes) {
    constexpr std::string_view kUnits = "kmgtp";
    std::int64_t amount = bytes / 1024 + (bytes % 1024 > 0 ? 1 : 0);
    std::size_t unit = 0;
    for (; amount > 999 && unit + 1 < kUnits.size(); ++unit) amount = (amount + 512) / 1024;
    return fmt::format("{}{}b", amount, kUnits[unit]);
}

std::string_view available(const batch_status& node, std::string_view resource) {
    return value_of(node.attribs, ATTR_rescavail, resource).value_or("0");
}

std::string_view assigned(const batch_status& node, std::string_view resource) {
    return value_of(node.attribs, ATTR_rescassn, resource).value_or("0");
}

std::string count_cell(const batch_status& node, std::string_view resource, bool with_free) {
    const long long total = parse_integer(available(node, resource)).value_or(0);
    if (!with_free) return std::to_string(total);
    return fmt::format("{}/{}", total - parse_integer(assigned(node, resource)).value_or(0), total);
}

std::string memory_cell(const batch_status& node, bool with_free) {
    const std::int64_t total = values::parse_bytes(available(node, "mem")).value_or(0);
    if (!with_free) return short_size(total);
    const std::int64_t used = std::min(values::parse_bytes(assigned(node, "mem")).value_or(0), total);
    return fmt::format("{}/{}", short_size(total - used), short_size(total));
}

// The jobs in "12.srv/0, 12.srv/1, 13.srv/2", each once.
std::vector<std::string> jobs_of(std::string_view text) {
    std::vector<std::string> jobs;
    for (const std::string_view part : values::split(text, ',')) {
        const std::string_view item = values::trim(part);
        std::string job(item.substr(0, item.find('/')));
        if (!job.empty() && std::find(jobs.begin(), jobs.end(), job) == jobs.end())
            jobs.push_back(std::move(job));
    }
    return jobs;
}

std::string cell(std::string_view text, std::size_t width, bool whole) {
    return fmt::format("{:<{}}", whole ? text : text.substr(0, width), width);
}

std::string right_cell(std::string_view text, std::size_t width, bool whole) {
    return fmt::format("{:>{}}", whole ? text : text.substr(0, width), width);
}

std::string jobs_row(const NodeSummary& node, std::string_view server, bool whole) {
    std::vector<std::string> jobs;
    for (const std::string& job : node.jobs) {
        const std::size_t dot = job.find('.');
        const bool ours = dot != std::string::npos && std::string_view(job).substr(dot + 1) == server;
        jobs.push_back(ours ? job.substr(0, dot) : job);
    }
    return fmt::format("{} {} {:>6} {:>5} {:>6} {} {} {} {} {}\n", cell(node.name, 15, whole),
                       cell(node.state, 15, whole), jobs.size(), jobs.size(), 0,
                       right_cell(node.memory, 12, whole), right_cell(node.ncpus, 7, whole),
                       right_cell(node.nmics, 7, whole), right_cell(node.ngpus, 7, whole),
                       jobs.empty() ? "--" : fmt::format("{}", fmt::join(jobs, ",")));
}

std::string plain_row(const NodeSummary& node, bool whole) {
    return fmt::format(
        "{} {} {} {} {} {} {} {} {} {} {}\n", cell(node.name, 15, whole), cell(node.state, 15, whole),
        cell(node.os, 8, whole), cell(node.hardware, 8, whole), cell(node.host, 15, whole),
        cell(node.queue, 10, whole), right_cell(node.memory, 8, whole), right_cell(node.ncpus, 7, whole),
        right_cell(node.nmics, 7, whole), right_cell(node.ngpus, 7, whole), printable(node.comment));
}

std::string summary_dsv(const NodeSummary& node, const PbsnodesOptions& options) {
    const std::string& d = options.delimiter;
    if (options.jobs) {
        return fmt::format(
            "vnode={}{d}state={}{d}njobs={}{d}run={}{d}susp=0{d}mem(f/t)={}{d}ncpus(f/t)={}{d}nmics(f/"
            "t)={}{d}"
            "ngpus(f/t)={}{d}jobs={}\n",
            node.name, node.state, node.jobs.size(), node.jobs.size(), node.memory, node.ncpus, node.nmics,
            node.ngpus, node.jobs.empty() ? "--" : fmt::format("{}", fmt::join(node.jobs, ",")),
            fmt::arg("d", d));
    }
    return fmt::format(
        "vnode={}{d}state={}{d}OS={}{d}hardware={}{d}host={}{d}queue={}{d}mem={}{d}ncpus={}{d}nmics={}{d}"
        "ngpus={}{d}"
        "comment={}\n",
        node.name, node.state, node.os, node.hardware, node.host, node.queue, node.memory, node.ncpus,
        node.nmics, node.ngpus, printable(node.comment), fmt::arg("d", d));
}

Json summary_json(const NodeSummary& node, bool with_jobs) {
    Json json;
    json["State"] = node.state;
    if (with_jobs) {
        json["Total Jobs"] = node.jobs.size();
        json["Running Jobs"] = node.jobs.size();
        json["Suspended Jobs"] = 0;
        json["mem f/t"] = node.memory;
        json["ncpus f/t"] = node.ncpus;
        json["nmics f/t"] = node.nmics;
        json["ngpus f/t"] = node.ngpus;
        json["jobs"] = node.jobs;
        return json;
    }
    json["OS"] = node.os;
    json["hardware"] = node.hardware;
    json["host"] = node.host;
    json["queue"] = node.queue;
    json["Memory"] = node.memory;
    json["ncpus"] = json_value(node.ncpus);
    json["nmics"] = json_value(node.nmics);
    json["ngpus"] = json_value(node.ngpus);
    json["comment"] = node.comment;
    return json;
}

// Returns whether the amount is zero: "0", "0kb", "00:00:00".
bool is_nothing(std::string_view amount) {
    return amount.starts_with('0') && amount.find_first_of("123456789") == std::string_view::npos;
}

Json node_json(const batch_status& node) {
    Json json = Json::object();
    for (const attrl* attribute = node.attribs; attribute != nullptr; attribute = attribute->next) {
        const std::string_view name = view(attribute->name);
        const std::string_view value = view(attribute->value);
        if (name == ATTR_NODE_jobs) {
            add_json(json, *attribute, jobs_of(value));
        } else if (name != ATTR_rescassn || !is_nothing(value)) {
            // assigned resources are shown only if they are in use
            add_json(json, *attribute, json_value(value));
        }
    }
    return json;
}

}  // namespace

bool has_state(const batch_status& node, std::string_view state) {
    const auto parts = values::split(value_of(node.attribs, ATTR_NODE_state).value_or(""), ',');
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return values::trim(part) == state; });
}

std::string nodes_text(const batch_status* nodes, const PbsnodesOptions& options) {
    std::string text;
    for (; nodes != nullptr; nodes = nodes->next) {
        if (options.format == ListFormat::dsv) {
            text += dsv_row(*nodes, options.delimiter);
            continue;
        }
        text += fmt::format("{}\n", view(nodes->name));
        for (const attrl* attribute = nodes->attribs; attribute != nullptr; attribute = attribute->next) {
            text += fmt::format("     {} = {}\n", attribute_name(*attribute),
                                printable(shown_node_value(*attribute)));
        }
        text += '\n';
    }
    return text;
}

NodeSummary summarize(const batch_status& node, bool with_free) {
    NodeSummary summary;
    summary.name = view(node.name);
    const auto take = [](std::string& cell, std::optional<std::string_view> value) {
        if (value && !value->empty()) cell = *value;
    };
    take(summary.state, value_of(node.attribs, ATTR_NODE_state));
    take(summary.os, value_of(node.attribs, ATTR_rescavail, "OS"));
    take(summary.hardware, value_of(node.attribs, ATTR_rescavail, "hardware"));
    take(summary.host, value_of(node.attribs, ATTR_rescavail, "host"));
    take(summary.queue, value_of(node.attribs, ATTR_queue));
    take(summary.comment, value_of(node.attribs, ATTR_comment));
    summary.memory = memory_cell(node, with_free);
    summary.ncpus = count_cell(node, "ncpus", with_free);
    summary.nmics = count_cell(node, "nmics", with_free);
    summary.ngpus = count_cell(node, "ngpus", with_free);
    summary.jobs = jobs_of(value_of(node.attribs, ATTR_NODE_jobs).value_or(""));
    return summary;
}

std::string nodes_summary_heading(const PbsnodesOptions& options) {
    if (options.format != ListFormat::text) return "";
    if (options.jobs) {
        return fmt::format("{:56}mem       ncpus   nmics   ngpus\n", "") +
               "vnode           state           njobs   run   susp      f/t        f/t     f/t     f/t   "
               "jobs\n"
               "--------------- --------------- ------ ----- ------ ------------ ------- ------- ------- "
               "-------\n";
    }
    return "vnode           state           OS       hardware host            queue        mem     ncpus   "
           "nmics"
           "   ngpus  comment\n"
           "--------------- --------------- -------- -------- --------------- ---------- -------- ------- "
           "-------"
           " ------- ---------\n";
}

std::string nodes_summary(const batch_status* nodes, std::string_view server,
                          const PbsnodesOptions& options) {
    std::string text;
    for (; nodes != nullptr; nodes = nodes->next) {
        NodeSummary node = summarize(*nodes, options.jobs);
        if (!options.long_columns) node.state = node.state.substr(0, node.state.find(','));
        if (options.format == ListFormat::dsv)
            text += summary_dsv(node, options);
        else if (options.jobs)
            text += jobs_row(node, server, options.long_columns);
        else
            text += plain_row(node, options.long_columns);
    }
    return text;
}

std::string marked_nodes_text(const batch_status* nodes) {
    std::string text;
    for (; nodes != nullptr; nodes = nodes->next) {
        if (has_state(*nodes, "down") || has_state(*nodes, "offline")) {
            text += fmt::format("{:<20} {} {}\n", view(nodes->name),
                                value_of(nodes->attribs, ATTR_NODE_state).value_or(""),
                                printable(value_of(nodes->attribs, ATTR_comment).value_or("")));
        }
    }
    return text;
}

std::string nodes_json(const batch_status* nodes, std::string_view server, std::string_view version,
                       long long now, const PbsnodesOptions& options) {
    Json json;
    json["timestamp"] = now;
    json["pbs_version"] = version;
    json["pbs_server"] = server;
    Json& all = json["nodes"] = Json::object();
    for (; nodes != nullptr; nodes = nodes->next) {
        all[std::string(view(nodes->name))] =
            options.summary ? summary_json(summarize(*nodes, options.jobs), options.jobs) : node_json(*nodes);
    }
    return text::write_json(json, 4) + "\n";
}

}  // namespace pbs::cmds
