// A program in the background that is started again when it dies.
#pragma once

#include <functional>
#include <string>

namespace pbs::openpbs {

struct Supervised {
    std::string pid_file;  // the supervisor's file, which it locks
    std::function<int()> work;
    std::function<void(const std::string&)> log;
};

// Goes to the background and does the work in a child, again and again until SIGTERM. Returns, in the process
// that was called, the status to exit with; doesn't return in the others. Returns 0, too, if another
// supervisor has the file already.
int supervise(const Supervised& supervised);

// Ends the supervisor that has the file, and its work, and waits for that. Returns 0 when there is none any
// more.
int stop_supervised(const std::string& pid_file);

}  // namespace pbs::openpbs
