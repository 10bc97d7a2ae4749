// Runs a program in the background, and starts it again when it dies.
#pragma once

#include <functional>
#include <string>

namespace pbs::openpbs {

struct Supervised {
    std::string pid_file;  // locked by the supervisor
    std::function<int()> work;
    std::function<void(const std::string&)> log;
};

// Goes to the background and does the work in a child, again and again until SIGTERM. Only the calling
// process returns, with its exit status; 0, too, if another supervisor has locked the file.
int supervise(const Supervised& supervised);

// Ends the supervisor that has locked the file, and its work, and waits for their end. Returns 0 when none is
// left.
int stop_supervised(const std::string& pid_file);

}  // namespace pbs::openpbs
