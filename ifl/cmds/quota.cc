// pbs_quota: shows what running jobs use of a scheduler's quotas.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/cmds/quota_counter.h"
#include "ifl/cmds/text.h"

namespace {

using namespace pbs::cmds;  // NOLINT(google-build-using-namespace): this is a program

constexpr Program kProgram{"pbs_quota", ""};

struct Arguments {
    std::string sched = "default";
    std::string server;
    std::string queue;
    std::string user;
    std::string format;
    std::string quota;
};

std::string json(const std::vector<QuotaCounter>& rows) {
    auto list = nlohmann::ordered_json::array();
    for (const QuotaCounter& row : rows) {
        auto of = nlohmann::ordered_json::object();
        for (const auto& [filter, value] : row.of) of[filter] = value;
        list.push_back({{"quota", row.quota},
                        {"rule", row.rule},
                        {"of", of},
                        {"resource", row.resource},
                        {"used", row.used},
                        {"limit", row.limit},
                        {"enabled", row.enabled},
                        {"in_force", row.in_force}});
    }
    const nlohmann::ordered_json document = {{"counters", list}};
    return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// Returns which jobs the options select, in words: "" or " of user u in queue q".
std::string whose(const Arguments& arguments) {
    std::string text;
    const auto add = [&](std::string_view before, const std::string& name) {
        if (!name.empty()) text += fmt::format("{}{}", before, printable(name));
    };
    add(" of user ", arguments.user);
    add(" in queue ", arguments.queue);
    return text;
}

std::string table(const std::vector<QuotaCounter>& rows, const Arguments& arguments) {
    if (rows.empty())
        return fmt::format(
            "No running job{} is counted by {}.\n", whose(arguments),
            arguments.quota.empty() ? "a quota" : fmt::format("quota {}", printable(arguments.quota)));
    using Line = std::array<std::string, 7>;
    std::vector<Line> lines{{"Quota", "Rule", "Counter", "Resource", "Used", "Limit", "In force"}};
    for (const QuotaCounter& row : rows)
        lines.push_back({printable(row.quota), printable(row.rule), printable(row.whose(" ")), row.resource,
                         row.used, row.limit,
                         row.in_force  ? "yes"
                         : row.enabled ? "not now"
                                       : "not enabled"});
    std::array<std::size_t, 7> width{};
    for (const Line& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i) width[i] = std::max(width[i], line[i].size());
    std::string text;
    for (const Line& line : lines) {
        for (std::size_t i = 0; i + 1 < line.size(); ++i)
            text += (i == 4 || i == 5 ? right(line[i], width[i]) : left(line[i], width[i])) + "  ";
        text += line.back() + "\n";
    }
    return text;
}

int show(const Connection& connection, const Arguments& arguments) {
    const StatusList list(pbs_statquotause(connection.handle(), arguments.sched.c_str(), nullptr));
    if (const int code = pbs_errno; !list && code != 0) {
        complain(kProgram, connection.error_text());
        return exit_status(code);
    }
    std::vector<QuotaCounter> rows = quota_counters(list.get());
    std::erase_if(rows, [&](const QuotaCounter& row) {
        return (!arguments.quota.empty() && row.quota != arguments.quota) ||
               !row.is_for("queues", arguments.queue) || !row.is_for("users", arguments.user);
    });
    if (rows.empty() && !arguments.quota.empty()) {
        // A quota that counts nothing isn't shown: ask whether there is one of this name.
        const StatusList known(pbs_statquota(connection.handle(), arguments.quota.c_str(), nullptr, nullptr));
        if (const int code = pbs_errno; !known && code != 0) {
            complain(kProgram, connection.error_text());
            return exit_status(code);
        }
    }
    const std::string text = arguments.format == "json" ? json(rows) : table(rows, arguments);
    return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
}

int run(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Shows what running jobs use of the quotas of a scheduler's policy in force.",
                 std::string(kProgram.name));
    app.footer("See pbs_quota(1).");
    app.add_option("-I", arguments.sched, "The scheduler; default, if none is named")->type_name("SCHED");
    app.add_option("--server", arguments.server, "Another server than the default one")->type_name("NAME");
    app.add_option("-q", arguments.queue, "Leave out counters of other queues")->type_name("QUEUE");
    app.add_option("-u", arguments.user, "Leave out counters of other users")->type_name("USER");
    app.add_option("-F", arguments.format, "json: for programs")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"json"}));
    app.add_option("quota", arguments.quota, "One quota")->type_name("QUOTA");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    const auto connection = Connection::open(arguments.server);
    if (!connection) return failed(kProgram, connection.error());
    return show(*connection, arguments);
}

}  // namespace

int main(int argc, char** argv) {
    return run_program(kProgram, argc, argv, run);
}
