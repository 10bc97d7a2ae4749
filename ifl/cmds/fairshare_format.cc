#include "ifl/cmds/fairshare_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/datetime.h"
#include "ifl/cmds/text.h"
#include "text/json_document.h"
#include "text/table.h"
#include "text/xml.h"
#include "values/number.h"

namespace pbs::cmds {

namespace {

using Json = nlohmann::ordered_json;

std::optional<std::int64_t> integer_of(const batch_status& object, std::string_view name) {
    const auto value = parse_integer(text_of(object, name));
    return value ? std::optional<std::int64_t>(*value) : std::nullopt;
}

ShareTree tree_of(const batch_status& object) {
    ShareTree tree;
    tree.name = view(object.name);
    tree.sched = text_of(object, "sched");
    tree.entity = text_of(object, "entity");
    tree.usage_formula = text_of(object, "usage_formula");
    tree.unknown_shares = integer_of(object, "unknown_shares").value_or(0);
    tree.enforce_no_shares = !text_of(object, "enforce_no_shares").empty();
    tree.counts_usage = text_of(object, "counts_usage") != "False";
    tree.decay_time = integer_of(object, "decay_time").value_or(0);
    tree.decay_factor = real_of(object, "decay_factor");
    tree.half_life = integer_of(object, "half_life");
    tree.now = integer_of(object, "now").value_or(0);
    tree.last_decay = integer_of(object, "last_decay");
    tree.next_decay = integer_of(object, "next_decay");
    return tree;
}

ShareElement element_of(const batch_status& object) {
    ShareElement element;
    element.name = view(object.name);
    element.parent = text_of(object, "parent");
    element.is_group = text_of(object, "kind") == "group";
    element.shares = integer_of(object, "shares").value_or(0);
    element.target = real_of(object, "target");
    element.actual = real_of(object, "actual");
    element.usage = real_of(object, "usage");
    element.decayed = real_of(object, "decayed");
    element.long_usage = real_of(object, "long_usage");
    element.tree_usage = real_of(object, "tree_usage");
    element.factor = real_of(object, "factor");
    element.jobs = integer_of(object, "jobs").value_or(0);
    element.running = integer_of(object, "running").value_or(0);
    element.level = real_of(object, "level");
    element.short_target = real_of(object, "short_target");
    element.overall_short_target = real_of(object, "overall_short_target");
    element.place = integer_of(object, "place").value_or(0);
    return element;
}

// Writes the value without a fraction if it is whole or at least 1000, else with two decimals.
std::string amount(double value) {
    return value == std::floor(value) || value >= 1000 ? fmt::format("{:.0f}", value)
                                                       : fmt::format("{:.2f}", value);
}

std::string percent(double part) {
    return fmt::format("{:.3f}%", part * 100);
}

std::string hours(std::int64_t seconds) {
    return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string heading(const ShareTree& tree) {
    std::string out = fmt::format("fs_group {} of sched {}, {}\n", printable(tree.name),
                                  printable(tree.sched), instant_text(static_cast<std::time_t>(tree.now)));
    out += fmt::format("Usage is {} of each {}; ", printable(tree.usage_formula), printable(tree.entity));
    out += tree.half_life
               ? fmt::format("it decays to its half in {}", hours(*tree.half_life))
               : fmt::format("every {} it is multiplied by {}", hours(tree.decay_time), tree.decay_factor);
    if (tree.next_decay && !tree.half_life)
        out += fmt::format(", next at {}", instant_text(static_cast<std::time_t>(*tree.next_decay)));
    out += '\n';
    if (!tree.counts_usage)
        out += "No policy goes by these shares: usage of jobs isn't counted, and can be set\n";
    return out;
}

using Row = text::TableRow;

std::string elements_text(const ShareTree& tree) {
    std::vector<Row> rows = {{"", "Shares", "Target", "Actual", "Usage", "Decayed", "Long", "Place", "Jobs",
                              "Running", "Level", "Short", "Overall"}};
    for (const ShareElement& element : tree.elements)
        rows.push_back({std::string(2 * element.depth, ' ') + printable(element.name),
                        element.parent.empty() ? "" : std::to_string(element.shares), percent(element.target),
                        percent(element.actual), amount(element.usage), amount(element.decayed),
                        amount(element.long_usage), element.place == 0 ? "" : std::to_string(element.place),
                        std::to_string(element.jobs), std::to_string(element.running), percent(element.level),
                        percent(element.short_target), percent(element.overall_short_target)});
    return text::table(rows);
}

// The usage in proportion to the target share. Of two elements, the one with the smaller ratio is served
// first.
double ratio(const ShareElement& element) {
    return element.target > 0 ? element.usage / element.target : std::numeric_limits<double>::infinity();
}

std::string ratio_text(const ShareElement& element) {
    return element.target > 0 ? amount(ratio(element)) : "no share";
}

Json json_of(const ShareElement& element) {
    Json json = {{"name", element.name}};
    if (!element.parent.empty()) json["parent"] = element.parent;
    json["kind"] = element.is_group ? "group" : "entity";
    json["shares"] = element.shares;
    json["target"] = element.target;
    json["actual"] = element.actual;
    json["usage"] = element.usage;
    json["decayed"] = element.decayed;
    json["long_usage"] = element.long_usage;
    json["tree_usage"] = element.tree_usage;
    json["factor"] = element.factor;
    json["jobs"] = element.jobs;
    json["running"] = element.running;
    json["level"] = element.level;
    json["short_target"] = element.short_target;
    json["overall_short_target"] = element.overall_short_target;
    if (element.place != 0) json["place"] = element.place;
    return json;
}

Json json_of(const ShareTree& tree) {
    Json json = {{"fs_group", tree.name},
                 {"sched", tree.sched},
                 {"entity", tree.entity},
                 {"usage_formula", tree.usage_formula},
                 {"unknown_shares", tree.unknown_shares},
                 {"enforce_no_shares", tree.enforce_no_shares},
                 {"counts_usage", tree.counts_usage},
                 {"decay_time", tree.decay_time},
                 {"decay_factor", tree.decay_factor},
                 {"now", tree.now}};
    if (tree.half_life) json["half_life"] = *tree.half_life;
    if (tree.last_decay) json["last_decay"] = *tree.last_decay;
    if (tree.next_decay) json["next_decay"] = *tree.next_decay;
    json["elements"] = Json::array();
    for (const ShareElement& element : tree.elements) json["elements"].push_back(json_of(element));
    return json;
}

std::string xml(std::string_view text) {
    return text::to_xml(printable(text));
}

}  // namespace

std::vector<ShareTree> share_trees(const batch_status* list) {
    std::vector<ShareTree> trees;
    std::map<std::string, std::size_t, std::less<>> depths;
    for (const batch_status* object = list; object != nullptr; object = object->next) {
        if (!text_of(*object, "sched").empty()) {
            trees.push_back(tree_of(*object));
            depths.clear();
            continue;
        }
        if (trees.empty()) continue;
        ShareElement element = element_of(*object);
        if (const auto above = depths.find(element.parent); above != depths.end())
            element.depth = above->second + 1;
        depths[element.name] = element.depth;
        trees.back().elements.push_back(std::move(element));
    }
    return trees;
}

std::optional<ShareTree> path_to(const ShareTree& tree, std::string_view name) {
    ShareTree path = tree;
    path.elements.clear();
    for (std::string wanted(name); !wanted.empty();) {
        const auto found = std::ranges::find(tree.elements, wanted, &ShareElement::name);
        if (found == tree.elements.end()) return std::nullopt;
        path.elements.insert(path.elements.begin(), *found);
        if (path.elements.size() > tree.elements.size()) return std::nullopt;  // a loop: not a tree
        wanted = found->parent;
    }
    return path;
}

std::string shares_text(const std::vector<ShareTree>& trees) {
    std::string out;
    for (const ShareTree& tree : trees)
        out += (out.empty() ? "" : "\n") + heading(tree) + "\n" + elements_text(tree);
    return out;
}

std::string shares_outline(const std::vector<ShareTree>& trees) {
    std::string out;
    for (const ShareTree& tree : trees) {
        if (trees.size() > 1) out += (out.empty() ? "" : "\n") + heading(tree);
        for (const ShareElement& element : tree.elements)
            out += fmt::format("{:{}}{}{}\n", "", 4 * element.depth, printable(element.name),
                               element.parent.empty() ? "" : fmt::format(" ({})", element.shares));
    }
    return out;
}

std::string entity_text(const ShareTree& path) {
    if (path.elements.empty()) return {};
    const ShareElement& entity = path.elements.back();
    std::string out = heading(path) + "\n" + elements_text(path) + "\n";
    out += fmt::format("Usage by target  {}", ratio_text(entity));
    std::string way;
    for (const ShareElement& element : path.elements)
        if (!element.parent.empty())
            way +=
                fmt::format("{}{} {}", way.empty() ? "" : ", ", printable(element.name), ratio_text(element));
    if (path.elements.size() > 2) out += fmt::format(" (on its way: {})", way);
    if (entity.overall_short_target > 0)
        out +=
            fmt::format("\nOf tickets_share  {} now, for {} running and {} waiting jobs",
                        percent(entity.overall_short_target), entity.running, entity.jobs - entity.running);
    return out + fmt::format(
                     "\nfairshare_perc, fairshare_tree_usage, fairshare_factor in formulas: {:.6g}, {:.6g}, "
                     "{:.6g}\n",
                     entity.target, entity.tree_usage, entity.factor);
}

Result<ShareComparison> compare_shares(const ShareTree& tree, const std::string& a, const std::string& b) {
    std::array<std::vector<ShareElement>, 2> ways;
    for (const auto& [name, way] : {std::pair(&a, &ways[0]), std::pair(&b, &ways[1])}) {
        auto path = path_to(tree, *name);
        if (!path) return fail(fmt::format("{}: fs_group {} has no such entity", *name, tree.name), 1);
        if (path->elements.back().is_group)
            return fail(fmt::format("{}: it is a group of fs_group {}: expected an entity", *name, tree.name),
                        1);
        *way = std::move(path->elements);
    }
    // Begin below the root, which both paths have.
    for (std::size_t i = 1; i < std::min(ways[0].size(), ways[1].size()); ++i) {
        const ShareElement& x = ways[0][i];
        const ShareElement& y = ways[1][i];
        if (ratio(x) == ratio(y)) continue;
        const bool first = ratio(x) < ratio(y);
        const ShareElement& less = first ? x : y;
        const ShareElement& more = first ? y : x;
        return ShareComparison{
            first ? a : b,
            fmt::format("{} goes before {}: usage by target is {} of {} and {} of {}\n", first ? a : b,
                        first ? b : a, ratio_text(less), less.name, ratio_text(more), more.name)};
    }
    if (ways[0].size() != ways[1].size()) {
        const bool first = ways[0].size() < ways[1].size();
        return ShareComparison{first ? a : b, fmt::format("{} goes before {}: it is nearer to the root\n",
                                                          first ? a : b, first ? b : a)};
    }
    return ShareComparison{{}, fmt::format("{} and {} stand equal\n", a, b)};
}

std::string shares_json(const std::vector<ShareTree>& trees) {
    Json json = {{"trees", Json::array()}};
    for (const ShareTree& tree : trees) json["trees"].push_back(json_of(tree));
    return text::write_json(json, 2) + "\n";
}

TicketList ticket_list(const batch_status* list) {
    TicketList tickets;
    for (const batch_status* object = list; object != nullptr; object = object->next) {
        if (!text_of(*object, "sched").empty()) {
            tickets.sched = text_of(*object, "sched");
            tickets.policy = view(object->name);
            tickets.now = integer_of(*object, "now").value_or(0);
            continue;
        }
        tickets.jobs.push_back({std::string(view(object->name)), std::string(text_of(*object, "owner")),
                                std::string(text_of(*object, "queue")), text_of(*object, "runs") == "True",
                                real_of(*object, "override"), real_of(*object, "functional"),
                                real_of(*object, "share"), real_of(*object, "tickets"),
                                real_of(*object, "normalised")});
    }
    return tickets;
}

std::string tickets_text(const TicketList& list) {
    std::string out = fmt::format("Tickets by policy {} of sched {}, {}\n", printable(list.policy),
                                  printable(list.sched), instant_text(static_cast<std::time_t>(list.now)));
    std::vector<Row> rows = {
        {"Job", "Owner", "Queue", "S", "Override", "Functional", "Share", "Tickets", "Normalised"}};
    for (const JobTickets& job : list.jobs)
        rows.push_back({printable(job.job), printable(job.owner), printable(job.queue), job.runs ? "R" : "Q",
                        amount(job.by_override), amount(job.functional), amount(job.share),
                        amount(job.tickets), fmt::format("{:.6f}", job.normalised)});
    return out + text::table(rows, 4);
}

std::string tickets_json(const TicketList& list) {
    Json json = {{"sched", list.sched}, {"policy", list.policy}, {"now", list.now}, {"jobs", Json::array()}};
    for (const JobTickets& job : list.jobs)
        json["jobs"].push_back({{"job", job.job},
                                {"owner", job.owner},
                                {"queue", job.queue},
                                {"runs", job.runs},
                                {"override", job.by_override},
                                {"functional", job.functional},
                                {"share", job.share},
                                {"tickets", job.tickets},
                                {"normalised", job.normalised}});
    return text::write_json(json, 2) + "\n";
}

std::string shares_svg(const std::vector<ShareTree>& trees) {
    // sizes in pixels
    constexpr int kRow = 22;
    constexpr int kTop = 58;
    constexpr int kIndent = 16;
    constexpr int kBarLeft = 300;
    constexpr int kBar = 400;
    constexpr int kWidth = 900;
    int height = 10;
    for (const ShareTree& tree : trees) height += kTop + kRow * static_cast<int>(tree.elements.size()) + 20;
    std::string out = fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="{0}" height="{1}" viewBox="0 0 {0} {1}" )"
        R"(font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#ffffff"/>)"
        "\n",
        kWidth, height);
    int y = 10;
    for (const ShareTree& tree : trees) {
        out += fmt::format(R"(<text x="10" y="{}" font-size="15">{}</text>)"
                           "\n",
                           y + 16,
                           xml(fmt::format("fs_group {} of sched {}, {}", tree.name, tree.sched,
                                           instant_text(static_cast<std::time_t>(tree.now)))));
        out += fmt::format(R"(<text x="10" y="{}" fill="#606060">{}</text>)"
                           "\n",
                           y + 36,
                           xml(fmt::format("bar: part of all usage ({}); mark: part of the machine by shares",
                                           tree.usage_formula)));
        y += kTop;
        for (const ShareElement& element : tree.elements) {
            const int middle = y + kRow / 2;
            out += fmt::format(R"(<text x="{}" y="{}"{}>{}</text>)",
                               10 + kIndent * static_cast<int>(element.depth), middle + 4,
                               element.is_group ? R"( font-weight="bold")" : "", xml(element.name));
            out += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="#eeeeee"/>)"
                               R"(<rect x="{}" y="{}" width="{:.1f}" height="{}" fill="{}"/>)",
                               kBarLeft, y + 4, kBar, kRow - 8, kBarLeft, y + 4,
                               std::clamp(element.actual, 0.0, 1.0) * kBar, kRow - 8,
                               element.actual > element.target ? "#d97706" : "#3b82c4");
            out += fmt::format(
                R"(<line x1="{0:.1f}" y1="{1}" x2="{0:.1f}" y2="{2}" stroke="#000000" stroke-width="2"/>)",
                kBarLeft + std::clamp(element.target, 0.0, 1.0) * kBar, y + 1, y + kRow - 1);
            out += fmt::format(R"(<text x="{}" y="{}">{} of {}, usage {}</text>)"
                               "\n",
                               kBarLeft + kBar + 10, middle + 4, percent(element.actual),
                               percent(element.target), amount(element.usage));
            y += kRow;
        }
        y += 20;
    }
    return out + "</svg>\n";
}

}  // namespace pbs::cmds
