// Tests the behaviour of a site that the plugin schedules, by tables of cases: the files in
// tests/openpbs/behaviour/, one for each topic. The cases of a topic share a server, and each case takes its
// settings back. ptl.md names the tests of OpenPBS that expect the same as a case.
//
// A line of a case is one of these. `{NAME}` stands for the id of the job or reservation NAME:
//
//     == TITLE              begins a case. The lines before the first case precede each case
//     with A; B             runs the case once for each such line, with A for {1} and B for {2}
//     nodes 4 2             v0 has 4 CPUs and v1 has 2; the other vnodes have none
//     policy strict_ordering = True          sets attributes of the scheduler's policy
//     create, set, unset, delete ...         a directive of qmgr; the first two are taken back after the case
//     off, on               turns scheduling off or on
//     restart               ends the server and starts it again
//     NAME: OPTIONS         una submits a job with these options of qsub; NAME@alice: alice submits it
//     NAME = COMMAND        una runs the command; its first word of output is {NAME} from then on
//     R NAME ...            waits until the jobs run; Q, S, H and B likewise; gone: until they don't exist
//     Q NAME: COMMENT       waits until the job has the state, and its comment has the text
//     order NAME ...        waits until all these jobs have started, and compares the order of their starts
//     is NAME ATTRIBUTE TEXT                 waits until the job's attribute has this value
//     run, fails, until COMMAND              root runs a command that succeeds, or fails, or at last succeeds
//     end NAME ...          deletes the jobs, and waits until they are gone
//
// PBSPOLICY_CASE chooses the cases whose title contains its value.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {

constexpr std::chrono::seconds kPatience{20};
constexpr int kVnodes = 4;
constexpr int kMostValues = 9;  // most values in a line `with`

struct Case {
    std::string title;
    std::vector<std::string> lines;
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}
std::vector<std::string> split(const std::string& text, char by) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, by);)
        if (part = stripped(part); !part.empty()) parts.push_back(part);
    return parts;
}

// Returns the cases of a file. A case with lines `with` is returned once for each of these lines.
std::vector<Case> cases_of(const std::filesystem::path& path) {
    std::vector<Case> out;
    Case one;
    std::vector<std::string> first;  // the lines before the first case
    std::vector<std::string> rows;
    const auto finish = [&] {
        if (rows.empty() && !one.title.empty()) out.push_back(one);
        for (const std::string& row : rows) {
            Case filled = one;
            std::size_t from = 0;
            for (int number = 1; number <= kMostValues; ++number) {
                const std::size_t end = std::min(row.find("; ", from), row.size());
                const std::string value = stripped(row.substr(from, end - from));
                from = std::min(end + 2, row.size());
                const std::string name = fmt::format("{{{}}}", number);
                filled.title = replaced(filled.title, name, value);
                for (std::string& line : filled.lines) line = replaced(line, name, value);
            }
            out.push_back(filled);
        }
        one = {};
        rows.clear();
    };
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        line = stripped(line);
        if (line.starts_with("== ")) {
            if (out.empty() && one.title.empty()) first = one.lines;
            finish();
            one = {line.substr(3), first};
        } else if (line == "with" || line.starts_with("with ")) {
            rows.push_back(line.substr(4));
        } else if (!line.empty() && !line.starts_with("#")) {
            one.lines.push_back(line);
        }
    }
    finish();
    return out;
}

std::filesystem::path folder() {
    return std::filesystem::path(PBS_SOURCE_DIR) / "tests/openpbs/behaviour";
}
std::vector<std::string> topics() {
    std::vector<std::string> out;
    for (const auto& file : std::filesystem::directory_iterator(folder()))
        if (file.path().extension() == ".txt") out.push_back(file.path().stem().string());
    std::ranges::sort(out);
    return out;
}

// Returns the local time of day that is `seconds` from now.
std::string time_of_day(int seconds) {
    const std::time_t then = std::time(nullptr) + seconds;
    std::tm local{};
    localtime_r(&then, &local);
    return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

class OpenpbsBehaviour : public OpenpbsTest, public ::testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        OpenpbsTest::SetUp();
        if (IsSkipped()) return;
        site.emplace();
        site->install("--scheduler");
        site->start_with_plugin();
        EXPECT_TRUE(wait_for([&] {
            return site->sh("$stock/qmgr -c 'list sched default' | grep -q 'scheduled_by = pbs_policy'")
                       .exit == 0;
        }));
        std::vector<std::string> vnodes;
        for (int i = 0; i < kVnodes; ++i) vnodes.push_back(fmt::format("v{}", i));
        site->add_moms(vnodes);
        site->ok(
            "$stock/qmgr -c 'set server flatuid = True'; for u in dora emil; do id $u 2>/dev/null || useradd "
            "-M -d / $u; done; for g in ga gb; do groupadd $g; usermod -a -G $g una; done >/dev/null");
        EXPECT_TRUE(wait_for([&] { return all_free(); })) << site->sh("$stock/pbsnodes -av").out;
        site->ok(
            "for v in box v0 v1 v2 v3; do $stock/qmgr -c \"set node $v resources_available.ncpus = 0\"; "
            "done");
    }

    void run_case(const Case& one) {
        undo.clear();
        names.clear();
        directive("create policy site");
        directive("set sched default policy = site");
        const auto failures = [] {
            return ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
        };
        const int before = failures();
        for (const std::string& line : one.lines) {
            SCOPED_TRACE(line);
            step(with_names(line));
            if (failures() == before) continue;
            ADD_FAILURE() << site->sh(
                                     "$stock/qstat -tfw; $ours/qmgr -c 'print policy site'; $ours/qmgr -c "
                                     "'list sched'; $stock/pbsnodes -av; "
                                     "tail -n 60 /var/spool/pbs/server_logs/*")
                                 .out;
            break;
        }
        clear();
    }

    std::optional<Site> site;

  private:
    bool all_free() const {
        return number_of(site->sh("$stock/pbsnodes -a | grep -c 'state = free'").out) == kVnodes + 1;
    }
    // Ends all jobs and reservations, and undoes the settings of the case.
    void clear() {
        site->sh(
            "$stock/qmgr -c 'set server scheduling = True'; for i in 1 2 3; do "
            "$stock/qdel -W force $($stock/qselect) 2>/dev/null; done; "
            "$stock/pbs_rdel $($stock/pbs_rstat -B 2>/dev/null | sed -n 's/.*: //p') 2>/dev/null");
        EXPECT_TRUE(
            wait_for([&] { return stripped(site->sh("$stock/qselect; $stock/pbs_rstat -B").out).empty(); },
                     kPatience));
        directive("set sched default policy = default_policy");
        directive("delete policy site");
        for (auto line = undo.rbegin(); line != undo.rend(); ++line) directive(*line);
    }
    std::string with_names(std::string line) const {
        for (std::size_t at = 0; (at = line.find_first_of("{", at)) != std::string::npos; ++at)
            if (line[at + 1] == '+' || line[at + 1] == '-')
                line.replace(at, line.find('}', at) + 1 - at,
                             time_of_day(number_of(line.substr(at + (line[at + 1] == '+' ? 2 : 1)))));
        for (const auto& [name, id] : names) line = replaced(std::move(line), "{" + name + "}", id);
        return line;
    }
    std::string id(const std::string& name) const {
        const auto found = names.find(name);
        return found == names.end() ? name : found->second;
    }
    std::string attribute(const std::string& job, const std::string& name) const {
        return attribute_in(site->sh("$stock/qstat -fw '" + job + "' 2>/dev/null").out, name);
    }
    // Has the directive executed by this project's qmgr or, if it is about a hook, by OpenPBS's, because this
    // project's doesn't know hooks.
    void directive(const std::string& text) const {
        const Output done = text.find(" hook ") == std::string::npos ? site->qmgr(text, "root")
                                                                     : site->stock_qmgr(text, "root");
        EXPECT_EQ(done.exit, 0) << text << done;
    }
    Output shell(const std::string& command, const std::string& user = "root") const {
        return site->sh(". " + (folder() / "functions.sh").string() + "\n" + command, user);
    }
    void expect_state(const std::string& state, const std::string& job, const std::string& comment) const {
        const std::string wanted = state == "gone" ? "(none)" : state;
        std::string seen;
        EXPECT_TRUE(wait_for(
            [&] {
                const std::string shown = site->sh("$stock/qstat -fw '" + id(job) + "' 2>/dev/null").out;
                seen = attribute_in(shown, "job_state") + " " + attribute_in(shown, "comment");
                // Before mom has confirmed a start (substate 42), the job can't be suspended.
                return seen.starts_with(wanted + " ") && seen.find(comment) != std::string::npos &&
                       (wanted != "R" || attribute_in(shown, "substate") == "42");
            },
            kPatience))
            << job << ": " << seen;
    }
    void expect_order(const std::vector<std::string>& jobs) const {
        std::vector<std::string> order;
        EXPECT_TRUE(wait_for(
            [&] {
                order.clear();
                std::istringstream lines(site->sh("sed -n 's/.*;Job;\\(.*\\);Job Run at request.*/\\1/p' "
                                                  "/var/spool/pbs/server_logs/*")
                                             .out);
                for (std::string line; std::getline(lines, line);)
                    for (const std::string& job : jobs)
                        if (id(job) == line) order.push_back(job);
                return order.size() >= jobs.size();
            },
            kPatience));
        EXPECT_EQ(fmt::format("{}", fmt::join(order, " ")), fmt::format("{}", fmt::join(jobs, " ")));
    }
    void set_nodes(const std::vector<std::string>& cpus) {
        for (int i = 0; i < kVnodes; ++i) {
            const std::string set = fmt::format("set node v{} resources_available.ncpus = ", i);
            directive(set + (i < static_cast<int>(cpus.size()) ? cpus[static_cast<std::size_t>(i)] : "0"));
            undo.push_back(set + "0");
        }
    }
    // Executes a directive of qmgr, and notes the directive that undoes it.
    void change(const std::string& line) {
        directive(line);
        std::istringstream words(line);
        std::string verb;
        std::string type;
        std::string name;
        words >> verb >> type;
        if (type != "server") words >> name;
        if (verb == "create") undo.push_back(fmt::format("delete {} {}", type, name));
        if (type == "hook") return;
        if (verb != "set" || (type == "policy" && name == "site") ||
            line.find("scheduling =") != std::string::npos)
            return;
        std::string attributes;
        std::getline(words, attributes);
        const std::string attribute = attributes.substr(0, attributes.find_first_of("=+"));
        undo.push_back(fmt::format("unset {} {} {}", type, name, stripped(attribute)));
    }
    void submit(const std::string& name, const std::string& options) {
        const std::size_t of_user = name.find('@');
        const std::string user = of_user == std::string::npos ? "una" : name.substr(of_user + 1);
        const bool own_script = options.find(" -- ") != std::string::npos;
        const Output said = shell(fmt::format("qsub -o /dev/null -e /dev/null {}{}", options,
                                              own_script ? "" : " -- /bin/sleep 1000"),
                                  user);
        EXPECT_EQ(said.exit, 0) << said;
        names[name.substr(0, of_user)] = stripped(said.out);
    }

    void step(const std::string& line) {
        const std::string verb = line.substr(0, line.find(' '));
        const std::string rest = stripped(line.substr(verb.size()));
        const bool changes = verb == "create" || verb == "set" || verb == "unset" || verb == "delete";
        if (verb == "nodes") return set_nodes(split(rest, ' '));
        if (verb == "policy") return directive("set policy site " + rest);
        if (changes) return change(line);
        if (verb == "off" || verb == "on")
            return directive(std::string("set server scheduling = ") + (verb == "on" ? "True" : "False"));
        if (verb == "order") return expect_order(split(rest, ' '));
        if (verb == "run" || verb == "fails") {
            const Output done = shell(rest);
            EXPECT_EQ(done.exit == 0, verb == "run") << done;
            return;
        }
        if (verb == "until") {
            EXPECT_TRUE(wait_for([&] { return shell(rest).exit == 0; }, kPatience)) << shell(rest);
            return;
        }
        if (verb == "restart") {
            site->ok("$stock/qterm -t quick; sleep 1");
            site->start_with_plugin();
            EXPECT_TRUE(wait_for([&] { return all_free(); }));
            return;
        }
        if (verb == "end") {
            for (const std::string& job : split(rest, ' ')) site->ok("$stock/qdel '" + id(job) + "'");
            for (const std::string& job : split(rest, ' ')) expect_state("gone", job, "");
            return;
        }
        if (verb == "is") {
            const auto words = split(rest, ' ');
            const std::string value =
                stripped(rest.substr(rest.find(' ' + words.at(1)) + 1 + words.at(1).size()));
            std::string seen;
            EXPECT_TRUE(wait_for(
                [&] {
                    seen = attribute(id(words.at(0)), words.at(1));
                    return seen == value;
                },
                kPatience))
                << seen;
            return;
        }
        if (verb == "R" || verb == "Q" || verb == "S" || verb == "H" || verb == "B" || verb == "gone") {
            const std::size_t colon = rest.find(": ");
            for (const std::string& job : split(rest.substr(0, colon), ' '))
                expect_state(verb, job, colon == std::string::npos ? "" : rest.substr(colon + 2));
            return;
        }
        if (verb.ends_with(':')) return submit(verb.substr(0, verb.size() - 1), rest);
        if (rest.starts_with("= ")) {
            const Output said = shell(rest.substr(2), "una");
            EXPECT_EQ(said.exit, 0) << said;
            names[verb] = said.out.substr(0, said.out.find_first_of(" \n"));
            return;
        }
        ADD_FAILURE() << "unknown step";
    }

    std::vector<std::string> undo;
    std::map<std::string, std::string> names;
};

TEST_P(OpenpbsBehaviour, IsAsTheCasesSay) {
    const char* wanted = std::getenv("PBSPOLICY_CASE");
    int count = 0;
    for (const Case& one : cases_of(folder() / (GetParam() + ".txt"))) {
        if (wanted != nullptr && one.title.find(wanted) == std::string::npos) continue;
        SCOPED_TRACE(one.title);
        const auto from = std::chrono::steady_clock::now();
        run_case(one);
        fmt::print("{:5.1f} s  {}\n",
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count(), one.title);
        std::fflush(stdout);
        ++count;
    }
    EXPECT_TRUE(count > 0 || wanted != nullptr);
}

INSTANTIATE_TEST_SUITE_P(Topics, OpenpbsBehaviour, ::testing::ValuesIn(topics()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace pbs::e2e
