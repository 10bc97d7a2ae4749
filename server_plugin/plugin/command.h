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
    std::string path;  // absolute path of the program
    std::vector<std::string> arguments{};
    bool of_manager = false;              // a manager chose the arguments, so they are checked, too
    std::chrono::seconds time_limit{20};  // the program and its children are killed after it; 0: never
    std::string time_zone{};              // the program's TZ; empty: none
    // The user as whom the program runs, if the server is root. Empty: root, for programs that only root may
    // run.
    std::string user = "nobody";
    // A command line of the administrator, which a shell runs instead of path and arguments, with the
    // environment of this process, in `folder`, as OpenPBS's scheduler runs the programs of server_dyn_res.
    // `path` is checked nevertheless.
    std::string shell_command{};
    std::string folder = "/";
};

// The result of a program.
struct CommandResult {
    std::string output;   // the program's standard output
    std::string failure;  // the reason why the output can't be used, a sentence that names the program;
                          // empty: the program ended with status 0
    bool hung = false;    // the program was killed at the time limit
};

// One run of a program of the site. The program runs in / with the environment variables PATH, LANG=C and TZ.
// Its standard input is empty, and its standard error is discarded. More than a megabyte of output is a
// failure. A shell runs the program and reports its status, because OpenPBS's server waits for every child of
// its process and could take the status. Whoever may change the program or a directory above it could act as
// the program's user, so their permissions are checked before each start (objects/program_file.h).
class Command {
  public:
    // Starts the program. If it can't be started, poll() returns the reason as a result.
    Command(CommandOptions options, sched::Instant now);
    // Kills the program if it is still running, and waits some milliseconds for its end.
    ~Command();
    Command(Command&& other) noexcept;
    Command& operator=(Command&& other) noexcept;

    // Reads the output so far. Returns nullopt while the program runs; then, once, its result.
    std::optional<CommandResult> poll(sched::Instant now);

    // After poll() has returned the result: the pause between two calls of gone().
    static constexpr std::chrono::seconds kLinger{1};
    // Returns whether the process has ended, after poll() has returned the result. A killed process may take
    // a while, on a busy machine or if a file server hangs. It stays in the process table until gone() has
    // returned true.
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
