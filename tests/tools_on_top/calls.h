// Tables of the calls that a program makes of a batch system's commands, and of the facts that it reads from
// their output. A row is a call. Each table runs in three places with the same expectations: with this
// project's commands and server, with OpenPBS's commands and this project's server, and with OpenPBS alone,
// which shows that the table is right.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

// How a program reads a fact from the output of a command.
enum class Read {
    text,    // first group of a regular expression in the standard output
    joined,  // like `text`, after joining continued lines (line break and tab)
    errors,  // first group of a regular expression in the standard error
    json,    // JSON pointer into the standard output; a number 5 becomes "number 5"
    word,    // word number N, counted from 0, of the line whose first word begins `{id}`
    none,    // regular expression that must not occur in the standard output
};

struct Fact {
    Read by;
    std::string where;
    std::string is{};         // regular expression that the whole fact matches
    std::string keep{};       // name under which later rows use the fact
    bool ours_alone = false;  // only this project's command shows the fact
};

// A call of a command. In its texts, these stand for other texts: {work}, the folder; {user}, the caller;
// {queue}, the queue; {node}, the vnode; {host}, the vnode's host; and {NAME}, a fact that an earlier row
// kept as NAME.
struct Call {
    std::string what;            // purpose of the call
    std::string command;         // shell command, run in {work}
    std::string script{};        // standard input of the command, also written to `file`
    std::string file{"job.sh"};  // name of the script's file in {work}
    std::string state{};         // job states: first wait until the job {id} is in one of them
    int exit = 0;
    std::vector<Fact> facts{};
    bool asks = false;  // it only asks, so both projects' commands must print the same
};

// A place where tables run: a server with a queue, a vnode of 8 CPUs and a job history; and commands for it.
class Place {
  public:
    virtual ~Place() = default;
    // Runs a bash script as the ordinary user `user` in the folder `work`.
    virtual Output shell(const std::string& script) const = 0;
    // If shell() runs OpenPBS's commands with this project's server, runs the script with this project's
    // commands. Otherwise returns nullopt.
    virtual std::optional<Output> shell_with_ours(const std::string& /*script*/) const { return {}; }
    std::map<std::string, std::string> names;
};

enum class Where { ours, openpbs_commands, openpbs };

// Runs tables of calls in a place. Skips the test if the place isn't available.
class ToolOnTop : public ::testing::TestWithParam<Where> {
  protected:
    void SetUp() override;
    void run(const std::vector<Call>& calls);

  private:
    void run(const Call& call);
    std::unique_ptr<Place> place_;
};

std::string where_name(const ::testing::TestParamInfo<Where>& one);
inline const auto kEverywhere = ::testing::Values(Where::ours, Where::openpbs_commands, Where::openpbs);

// Returns why the program of this name in /usr/bin can't be used, or "" if it can.
std::string not_installed(const std::string& program);

// A fact that several programs read: the job's id, which qsub prints as its only line.
inline const Fact kId{Read::text, R"(^([^\n]*)\n$)", R"(\d+\.[\w.-]+)", "id"};
inline const Fact kArrayId{Read::text, R"(^([^\n]*)\n$)", R"(\d+\[\]\.[\w.-]+)", "id"};

}  // namespace pbs::e2e
