// A program of the site that runs beside the server, such as DEDICATED_TIME_COMMAND. The server starts the
// program and polls it, but never waits for it.
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
    bool of_manager = false;              // a manager chose the arguments, so they are checked, too
    std::chrono::seconds time_limit{20};  // then the program and its children are killed; 0: never
    std::string time_zone{};              // the program's TZ; empty: none
    // The user to run the program as, if the server is root. Empty: root, for programs that only root may
    // run.
    std::string user = "nobody";
    // A command line of the administrator for a shell, instead of path and arguments. It runs with the
    // environment of this process, in `folder`, as OpenPBS's scheduler runs the programs of server_dyn_res.
    // `path` is still checked.
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

// Runs the program with PATH, LANG=C and TZ as its environment and / as its directory; standard input is
// empty, and errors are discarded. A shell runs the program and reports its status, because OpenPBS's server
// waits for every child of its process, so the status of a child may be lost. More than a megabyte of output
// is a failure. Anyone who may change the program or a directory above it could act as its user, so these are
// checked before each start (objects/program_file.h).
class Command {
  public:
    // Starts the program. If it can't be started, poll() returns that like any other failure.
    Command(CommandOptions options, sched::Instant now);
    // Kills the program if it is still running, and waits some milliseconds for its end.
    ~Command();
    Command(Command&& other) noexcept;
    Command& operator=(Command&& other) noexcept;

    // Reads the output so far. Returns nothing while the program runs; then its result, once.
    std::optional<CommandResult> poll(sched::Instant now);

    // The pause before gone() is called again for a program that has given its result.
    static constexpr std::chrono::seconds kLinger{1};
    // After the result: has the process ended? A process that was killed may take a while, on a busy machine
    // or if a file server hangs; it stays in the process table until gone() has returned true.
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
