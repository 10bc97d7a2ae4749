// A program of the site that runs beside the server, such as DEDICATED_TIME_COMMAND: started, looked after
// now and then, and never waited for.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::plugin {

struct CommandOptions {
    std::string path;  // absolute
    std::vector<std::string> arguments{};
    bool of_manager = false;  // the arguments are what a manager set, so the program is checked for them too
    std::chrono::seconds time_limit{20};  // then it is killed with all that it started
    std::string time_zone{};              // its TZ; empty: none
    // Whom it runs as if the server is root; empty: root, for what only root may do.
    std::string user = "nobody";
    // What the administrator has written, for a shell, in place of path and arguments: it runs with the
    // environment of this process, in `folder`, as OpenPBS's scheduler runs the programs of server_dyn_res.
    // `path` is what is checked.
    std::string shell_command{};
    std::string folder = "/";
};

// What came of it.
struct CommandResult {
    std::string output;  // what it wrote to its standard output
    std::string
        failure;  // why the output is of no use, a sentence that names the program; empty: it ended with 0
    bool hung = false;  // it had to be killed at the time limit
};

// The program has an environment of PATH, LANG=C and TZ, / as its directory, nothing on its standard input,
// and its errors go nowhere. A shell beside it tells how it ended: OpenPBS's server waits for every child of
// its process, so that a child's status may be lost, but not what it wrote. More than a megabyte of output is
// a failure. Whoever may change it (or a directory above it) could become its user, so it is checked before
// each start (objects/program_file.h).
class Command {
  public:
    // Starts it; what keeps it from starting is told by poll() like any other failure.
    Command(CommandOptions options, sched::Instant now);
    // Kills it if it is still running, and waits some milliseconds for its end.
    ~Command();
    Command(Command&& other) noexcept;
    Command& operator=(Command&& other) noexcept;

    // Reads what is there. Nothing while it runs; afterwards its result, once.
    std::optional<CommandResult> poll(sched::Instant now);

    // When to ask again whether one that has given its result has gone().
    static constexpr std::chrono::seconds kLinger{1};
    // After its result: has the process gone? One that was killed may take a while, on a busy machine or
    // where a file server hangs, and stays in the table of processes until this has been true.
    bool gone();

  private:
    std::string start();
    bool read_output();
    std::string how_it_ended(pid_t ended, int status) const;
    void kill_it();
    CommandResult failed(std::string why);

    CommandOptions options_;
    sched::Instant started_;
    std::string could_not_start_;
    pid_t pid_ = -1;
    int output_fd_ = -1;
    int status_fd_ = -1;
    std::string output_;
};

}  // namespace pbs::plugin
