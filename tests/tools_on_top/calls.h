// What programs that use a batch system ask of its commands, and what they read in the answers, as tables: a
// row is a call. A table is run in three places, and what it expects holds in each: our commands with our
// server, OpenPBS's commands with our server, and OpenPBS with itself, so that the table is checked as well.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

// How a program gets at a fact.
enum class Read {
    text,    // by a regular expression in the standard output: its first group
    joined,  // the same after lines that go on behind a line break and a tab were joined
    errors,  // by a regular expression in the standard error: its first group
    json,    // by a JSON pointer in the standard output; numbers are shown as "number 5"
    word,    // word N, from 0, of the line whose first word is the beginning of `{id}`
    none,    // a regular expression that must not be found in the standard output
};

struct Fact {
    Read by;
    std::string where;
    std::string is{};         // a regular expression for the whole fact
    std::string keep{};       // later rows have the fact under this name
    bool ours_alone = false;  // OpenPBS's command doesn't show it
};

// In each text, {work} is the folder of the calls, {user} who makes them, {queue} the queue, {node} the
// vnode, {host} its host, and {NAME} a fact that was kept under NAME.
struct Call {
    std::string what;            // what the program does by it
    std::string command;         // as a shell gets it, in {work}
    std::string script{};        // the standard input; also in the file `file`
    std::string file{"job.sh"};  // in {work}
    std::string state{};         // the job {id} is waited for to be in one of these states before
    int exit = 0;
    std::vector<Fact> facts{};
    bool asks = false;  // it changes nothing: what OpenPBS's command writes is compared with what ours does
};

// A server, with a queue, a vnode of 8 CPUs and a history of jobs, and commands to use with it.
class Place {
  public:
    virtual ~Place() = default;
    // Runs a script of bash as an ordinary user, who is `user`, in the folder `work`.
    virtual Output shell(const std::string& script) const = 0;
    // The same with our commands, where `shell` has those of somebody else and the server is ours.
    virtual std::optional<Output> shell_with_ours(const std::string& /*script*/) const { return {}; }
    std::map<std::string, std::string> names;
};

enum class Where { ours, openpbs_commands, openpbs };

// Runs tables in a place, which is skipped where it can't be had.
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

// Why a program of /usr/bin can't be tried; empty: it is there.
std::string not_installed(const std::string& program);

// Facts that several programs read.
// The id that qsub prints, alone in a line.
inline const Fact kId{Read::text, R"(^([^\n]*)\n$)", R"(\d+\.[\w.-]+)", "id"};
inline const Fact kArrayId{Read::text, R"(^([^\n]*)\n$)", R"(\d+\[\]\.[\w.-]+)", "id"};

}  // namespace pbs::e2e
