#include "tests/faults/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <set>
#include <sstream>
#include <utility>

namespace pbs::e2e {
namespace {

namespace fs = std::filesystem;

Request qmgr(const std::string& directive) {
    return {directive, {"qmgr", "-c", directive}};
}
Request user(const std::string& name, std::vector<std::string> argv, const std::string& input = {}) {
    return {name, std::move(argv), input, false};
}

constexpr const char* kDocument =
    R"({"format": 1, "policy": {"imported": {"backfill_depth": "3"}, "p1": {"backfill_depth": "4"}},
        "host": {"queue": {"imported": {"queue_type": "e"}}, "node": {"imported": {"Priority": "2"}}}})";

const std::vector<std::string>& first_directives() {
    static const std::vector<std::string> all{
        "create resource licences type=long, flag=q",
        "create resource unused type=string",
        "create queue workq queue_type=execution, enabled=True, started=True",
        "create queue other queue_type=execution, enabled=True, started=True, Priority=3",
        "create queue unused queue_type=execution",
        "create node n1 resources_available.ncpus=8, resources_available.mem=8gb",
        "create node n2 resources_available.ncpus=4",
        "create policy p1 backfill_depth=2",
        "create time_window day rrule=FREQ=DAILY, start_time=0800, end_time=1700, type=prime",
        "create fs_group tree tree_element=[grp:root=50, una:grp=20]",
        "create quota q1",
        "set quota q1 rule.rest = \"users={*} to ncpus=60\"",
        "create sched second partition=two",
        "set server default_queue=workq, scheduling=False, job_history_enable=True, flatuid=True",
    };
    return all;
}

}  // namespace

std::vector<Request> requests(const Server& server, const std::map<std::string, std::string>& ids) {
    const auto id = [&](const char* name) { return ids.at(name); };
    std::vector<Request> all;
    for (const char* directive :
         {"create policy p2 backfill_depth=5, comment='second'",
          "set policy p1 backfill_depth=7",
          "unset policy p1 backfill_depth",
          "delete policy p1",
          "create time_window night rrule=FREQ=DAILY, start_time=2000, end_time=2300, type=dedicated",
          "set time_window day end_time=1800",
          "delete time_window day",
          "create fs_group g2 tree_element=[una:root=1]",
          "set fs_group tree tree_element+=una2:grp=4",
          "delete fs_group tree",
          "create quota second",
          "set quota q1 rule.guests=\"users={*} queues={other} to jobs=9\", enabled=True",
          "unset quota q1 rule.rest",
          "delete quota q1",
          "set server non_work_days=12/25",
          "set sched default policy='default_policy,p:p1'",
          "create queue q2 queue_type=execution, enabled=True",
          "set queue other Priority=9, time_window=day",
          "unset queue other Priority",
          "delete queue unused",
          "create node n3 resources_available.ncpus=2",
          "set node n2 resources_available.ncpus=6, comment='more'",
          "delete node n2",
          "create resource tapes type=long",
          "set resource licences flag=h",
          "delete resource unused",
          "set server max_running=20, comment='changed'",
          "unset server default_queue",
          "create sched third partition=three",
          "set sched second comment='changed'",
          "delete sched second"})
        all.push_back(qmgr(directive));
    all.push_back({"import", {"pbs_config", "import", (server.work() / "document.json").string()}});
    all.push_back({"rollback", {"pbs_config", "rollback", "5"}});
    all.push_back({"backup", {"pbs_config", "backup"}});
    all.push_back(
        user("qsub", {"qsub", "-S", "/bin/sh", "-N", "new", "-l", "select=1:ncpus=2"}, "echo new\n"));
    all.push_back(
        user("qsub of an array", {"qsub", "-S", "/bin/sh", "-N", "newarray", "-J", "1-4"}, "true\n"));
    all.push_back(
        user("qsub that depends", {"qsub", "-N", "after", "-W", "depend=afterany:" + id("held")}, "true\n"));
    all.push_back(user("qalter", {"qalter", "-l", "walltime=00:20:00", "-N", "renamed", id("waiting")}));
    all.push_back(user("qhold", {"qhold", id("waiting")}));
    all.push_back(user("qrls", {"qrls", id("held")}));
    all.push_back(user("qmove", {"qmove", "other", id("waiting")}));
    all.push_back(user("qorder", {"qorder", id("waiting"), id("held")}));
    all.push_back(user("qdel", {"qdel", id("waiting")}));
    all.push_back(user("qdel of an array", {"qdel", id("array")}));
    all.push_back(user("pbs_rsub", {"pbs_rsub", "-N", "talk", "-R", "202611241200", "-E", "202611241300",
                                    "-l", "select=1:ncpus=1"}));
    all.push_back(user("pbs_rdel", {"pbs_rdel", id("lecture")}));
    all.push_back(user("pbs_ralter", {"pbs_ralter", "-N", "seminar", id("lecture")}));
    all.push_back({"qenable", {"qenable", "unused"}});
    all.push_back({"qstart", {"qstart", "unused"}});
    all.push_back({"qdisable", {"qdisable", "other"}});
    all.push_back({"qstop", {"qstop", "other"}});
    all.push_back({"pbsnodes -o", {"pbsnodes", "-o", "n1"}});
    return all;
}

namespace {

// Returns the lines of a listing that have these names, grouped by object. Objects are sorted, so that the
// listing's order doesn't matter. `begins` is the beginning of each object's first line.
std::string facts_in(const std::string& listing, std::string_view begins,
                     const std::set<std::string>& names) {
    std::vector<std::string> objects;
    std::istringstream lines(listing);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(begins)) objects.emplace_back();
        const std::size_t from = line.find_first_not_of(' ');
        const std::size_t equals = line.find(" = ");
        if (objects.empty() || from == std::string::npos || equals == std::string::npos) continue;
        if (names.contains(line.substr(from, equals - from))) objects.back() += line.substr(from) + "\n";
    }
    std::ranges::sort(objects);
    std::string text;
    for (const std::string& object : objects) text += object + "--\n";
    return text;
}

// Replaces the ids of jobs in dependencies by the jobs' names.
std::string with_names_in_dependencies(std::string listing) {
    std::map<std::string, std::string> names;
    std::istringstream lines(listing);
    std::string id;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("Job Id: ")) id = line.substr(8);
        if (line.starts_with("    Job_Name = ")) names[id] = line.substr(15);
    }
    for (const auto& [from, name] : names) {
        const std::string named = ":" + from + "@";
        for (std::size_t at = 0; (at = listing.find(named, at)) != std::string::npos;)
            listing.replace(at, named.size(), ":" + name + "@");
    }
    return listing;
}

}  // namespace

std::string state_of(const Server& server) {
    const Output configuration = server.command({"pbs_config", "export"});
    const Output jobs = server.command({"qstat", "-x", "-f"});
    const Output reservations = server.command({"pbs_rstat", "-f"});
    for (const Output* output : {&configuration, &jobs, &reservations})
        if (output->exit != 0) return fmt::format("no state: {} {}", output->exit, output->err);
    std::string text = configuration.out;
    text += facts_in(with_names_in_dependencies(jobs.out), "Job Id: ",
                     {"Job_Name", "job_state", "queue", "Hold_Types", "Resource_List.walltime",
                      "Resource_List.select", "array_indices_submitted", "depend", "Exit_status"});
    text +=
        facts_in(reservations.out,
                 "Resv ID: ", {"Reserve_Name", "reserve_state", "Resource_List.select", "reserve_duration"});
    // Skip unfinished backups, as the next backup removes them.
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(server.home() / "server_priv/backups", none))
        if (entry.path().string().find(".partial-") == std::string::npos)
            text += "backup " + std::to_string(fs::exists(entry.path() / "MANIFEST")) + "\n";
    return text;
}

std::map<std::string, std::string> set_the_scene(const Server& server) {
    if (const auto made = server.configure(first_directives()); !made) {
        ADD_FAILURE() << made.message();
        return {};
    }
    std::ofstream(server.work() / "document.json") << kDocument;
    std::map<std::string, std::string> ids;
    ids["waiting"] = server.submit("true\n", {"-N", "waiting"});
    ids["held"] = server.submit("true\n", {"-N", "held", "-h"});
    ids["array"] = server.submit("true\n", {"-N", "array", "-J", "1-3"});
    const Output reserved = server.command_as(runner(), {"pbs_rsub", "-N", "lecture", "-R", "202611241400",
                                                         "-E", "202611241500", "-l", "select=1:ncpus=2"});
    EXPECT_EQ(reserved.exit, 0) << reserved;
    ids["lecture"] = reserved.out.substr(0, reserved.out.find(' '));
    return ids;
}

Output ask(const Server& server, const Request& request) {
    const RunOptions options{.input = request.input, .folder = server.work()};
    return request.by_manager ? server.command(request.argv, options)
                              : server.command_as(runner(), request.argv, options);
}

bool lost_connection(const Output& output) {
    const std::string text = output.err + output.out;
    return std::ranges::any_of(
        std::initializer_list<const char*>{"cannot connect to ", "cannot send to the server",
                                           "cannot read from the server", "closed the connection",
                                           "there is no connection", "End of File"},
        [&](const char* words) { return text.find(words) != std::string::npos; });
}

std::string differences_of(const std::string& expected, const std::string& found) {
    const auto lines_of = [](const std::string& text) {
        std::istringstream stream(text);
        std::multiset<std::string> lines;
        for (std::string line; std::getline(stream, line);) lines.insert(line);
        return lines;
    };
    const auto before = lines_of(expected);
    const auto after = lines_of(found);
    std::string text;
    for (const std::string& line : before)
        if (!after.contains(line)) text += "- " + line + "\n";
    for (const std::string& line : after)
        if (!before.contains(line)) text += "+ " + line + "\n";
    return text;
}

}  // namespace pbs::e2e
