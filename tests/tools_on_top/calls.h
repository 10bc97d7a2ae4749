// Tables of the calls that a program makes of a batch system's commands, and of the facts that it reads from
// the answers. A row is a call. Each table runs in three places with the same expectations: with our commands
// and our server, with OpenPBS's commands and our server, and with OpenPBS alone, which shows that the table
// is right.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

// The way in which a program reads a fact from an answer.
enum class Read {
    text,    // first group of a regular expression in the standard output
    joined,  // the same, once continued lines (line break and tab) are joined
    errors,  // first group of a regular expression in the standard error
    json,    // JSON pointer into the standard output; a number 5 becomes "number 5"
    word,    // word number N, from 0, of the line whose first word begins `{id}`
    none,    // regular expression that must not occur in the standard output
};

struct Fact {
    Read by;
    std::string where;
    std::string is{};         // regular expression that the whole fact matches
    std::string keep{};       // name by which later rows use the fact
    bool ours_alone = false;  // OpenPBS's command doesn't show the fact
};

// A call. Its texts may have {work}, the folder; {user}, the caller; {queue}, the queue; {node}, the vnode;
// {host}, the vnode's host; and {NAME}, a fact that an earlier row kept as NAME.
struct Call {
    std::string what;            // purpose of the call
    std::string command;         // of a shell, run in {work}
    std::string script{};        // text of the standard input, also written to `file`
    std::string file{"job.sh"};  // name of that file in {work}
    std::string state{};         // letters of states; first wait until the job {id} is in one
    int exit = 0;
    std::vector<Fact> facts{};
    bool asks = false;  // it changes nothing, so OpenPBS's command and ours must write the same
};

// A place where tables run: a server with a queue, a vnode of 8 CPUs and a job history, and commands.
class Place {
  public:
    virtual ~Place() = default;
    // Runs a bash script as an ordinary user, `user`, in the folder `work`.
    virtual Output shell(const std::string& script) const = 0;
    // Runs the script with our commands, if shell() uses other commands with our server; otherwise returns
    // nullopt.
    virtual std::optional<Output> shell_with_ours(const std::string& /*script*/) const { return {}; }
    std::map<std::string, std::string> names;
};

enum class Where { ours, openpbs_commands, openpbs };

// Runs tables in a place. The test is skipped if the place isn't available.
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

// Returns why a program of /usr/bin can't be tried, or "" if it can.
std::string not_installed(const std::string& program);

// Facts that several programs read: the job's id, which qsub prints as its only line.
inline const Fact kId{Read::text, R"(^([^\n]*)\n$)", R"(\d+\.[\w.-]+)", "id"};
inline const Fact kArrayId{Read::text, R"(^([^\n]*)\n$)", R"(\d+\[\]\.[\w.-]+)", "id"};

}  // namespace pbs::e2e
