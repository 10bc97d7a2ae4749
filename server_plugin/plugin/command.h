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
    bool of_manager = false;  // the arguments are a manager's, so the program is checked for them too
    std::chrono::seconds time_limit{20};  // after it the program and its children are killed
    std::string time_zone{};              // the program's TZ; empty: none
    // The user that the program runs as if the server is root; empty: root, for programs that only root may
    // run.
    std::string user = "nobody";
    // A command line of the administrator for a shell, in place of path and arguments: it runs with the
    // environment of this process, in `folder`, as OpenPBS's scheduler runs the programs of server_dyn_res.
    // `path` is the file that is checked.
    std::string shell_command{};
    std::string folder = "/";
};

// The result of a program.
struct CommandResult {
    std::string output;   // the program's standard output
    std::string failure;  // the reason why the output can't be used, a sentence that names the program;
                          // empty: status 0
    bool hung = false;    // the program was killed at the time limit
};

// The program has an environment of PATH, LANG=C and TZ, / as its directory, nothing on its standard input,
// and its errors go nowhere. A shell beside it reports how it ended: OpenPBS's server waits for every child
// of its process, so that a child's status may be lost, but not the shell's report. More than a megabyte of
// output is a failure. Anyone who may change the program (or a directory above it) could become its user, so
// it is checked before each start (objects/program_file.h).
class Command {
  public:
    // Starts the program; poll() returns a failure to start like any other.
    Command(CommandOptions options, sched::Instant now);
    // Kills the program if it is still running, and waits some milliseconds for its end.
    ~Command();
    Command(Command&& other) noexcept;
    Command& operator=(Command&& other) noexcept;

    // Reads the output so far. Empty while the program runs; afterwards its result, once.
    std::optional<CommandResult> poll(sched::Instant now);

    // The time after which to ask again whether a program that has given its result has gone().
    static constexpr std::chrono::seconds kLinger{1};
    // After the result: has the process gone? One that was killed may take a while, on a busy machine or
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
