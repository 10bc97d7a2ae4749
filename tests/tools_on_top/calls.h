// Tables of the calls that programs make of a batch system's commands, with what they read from the answers.
// A row is a call. A table runs in three places with the same expectations: our commands with our server,
// OpenPBS's commands with our server, and OpenPBS alone, which checks the table itself.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

// Way in which a program reads a fact.
enum class Read {
    text,    // first group of a regular expression in the standard output
    joined,  // the same, after continued lines (line break and tab) were joined
    errors,  // first group of a regular expression in the standard error
    json,    // JSON pointer into the standard output; numbers are shown as "number 5"
    word,    // word N, from 0, of the line whose first word is a beginning of `{id}`
    none,    // regular expression that must not occur in the standard output
};

struct Fact {
    Read by;
    std::string where;
    std::string is{};         // a regular expression for the whole fact
    std::string keep{};       // name of the fact in later rows
    bool ours_alone = false;  // OpenPBS's command doesn't show the fact
};

// A call. In its texts {work} is the folder, {user} the caller, {queue} the queue, {node} the vnode, {host}
// its host, and {NAME} a fact that was kept as NAME.
struct Call {
    std::string what;            // purpose of the call
    std::string command;         // for a shell, run in {work}
    std::string script{};        // standard input, also written to `file`
    std::string file{"job.sh"};  // name in {work}
    std::string state{};         // states, one of which the job {id} must reach first
    int exit = 0;
    std::vector<Fact> facts{};
    bool asks = false;  // changes nothing: OpenPBS's command must write the same as ours
};

// A server with a queue, a vnode of 8 CPUs and a history of jobs, and the commands to use.
class Place {
  public:
    virtual ~Place() = default;
    // Runs a bash script as an ordinary user, `user`, in the folder `work`.
    virtual Output shell(const std::string& script) const = 0;
    // Runs the script with our commands, where `shell` uses other commands with our server.
    virtual std::optional<Output> shell_with_ours(const std::string& /*script*/) const { return {}; }
    std::map<std::string, std::string> names;
};

enum class Where { ours, openpbs_commands, openpbs };

// Runs tables in a place. Skips a place that isn't available.
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

// Says why a program of /usr/bin can't be tried; empty: it can.
std::string not_installed(const std::string& program);

// Facts that several programs read: the id that qsub prints alone in a line.
inline const Fact kId{Read::text, R"(^([^\n]*)\n$)", R"(\d+\.[\w.-]+)", "id"};
inline const Fact kArrayId{Read::text, R"(^([^\n]*)\n$)", R"(\d+\[\]\.[\w.-]+)", "id"};

}  // namespace pbs::e2e
