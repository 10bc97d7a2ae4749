// A program in the background that is started again when it dies.
#pragma once

#include <functional>
#include <string>

namespace pbs::openpbs {

struct Supervised {
    std::string pid_file;  // of the supervisor, which locks it
    std::function<int()> work;
    std::function<void(const std::string&)> log;
};

// Goes to the background and does the work in a child, again and again until SIGTERM: the status to exit
// with, in the process that was called; it doesn't return in the others. If another supervisor has the file
// already, that is well: 0.
int supervise(const Supervised& supervised);

// Ends the supervisor that has the file, and its work, and waits for that: 0 when there is none any more.
int stop_supervised(const std::string& pid_file);

}  // namespace pbs::openpbs
