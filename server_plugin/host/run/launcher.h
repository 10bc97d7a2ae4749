// Starts wardens (warden.h) for the runner, by a small process of its own, the launcher: a copy of it is made
// in a fraction of the time that another program takes to begin, and shares its memory with all others. It
// has no more than a few starts on their way at a time, so that however many jobs start at once, the machine
// goes on with what else it does. The server asks it over a socket and never waits for it.
//
// A start that was asked for may still come to nothing: the server dies, or the launcher. The files of the
// start say which (runner.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// The server's end. It has the launcher run when there is something to start, and anew if it has gone.
class Launcher {
  public:
    // What became of a request.
    struct Answer {
        RunId id;
        Fd process;         // the warden; none if there was no descriptor for it, or no warden
        Fd notify;          // what the shepherd tells (kShepherdNotifyFd); it doesn't block
        std::string error;  // why there is no warden; empty: there is one
    };

    // `epoll` gets the socket to the launcher, with the number `data`, and outlives this object.
    Launcher(std::string home, std::string program, int epoll, std::uint64_t data)
        : home_(std::move(home)), program_(std::move(program)), epoll_(epoll), data_(data) {}
    ~Launcher();  // what was asked for and not begun isn't
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;

    // The permission to start is on the disk. An error: the launcher can't be run.
    Result<void> ask(const RunId& id);

    // Has the files of a start that has ended removed: in a folder in which many jobs have theirs, that takes
    // its time. False: the launcher can't be run.
    bool forget(const RunId& id);

    // To be called when the socket has something: adds the answers that have come. False: the launcher has
    // gone, and there will be none to what was asked before.
    bool carry(std::vector<Answer>& answers);

  private:
    Result<void> begin();
    Result<void> put(const RunId& id, const std::string& note);
    void send_some();
    void watch(bool writable, int operation) const;
    void end();

    std::string home_;
    std::string program_;
    int epoll_;
    std::uint64_t data_;
    Fd socket_;
    pid_t process_ = 0;
    std::deque<std::string> unsent_;
    bool waits_ = false;  // until the socket takes more
};

// The process: starts what it is asked for over kLauncherFd until the server has gone. Its exit code; in each
// of the processes that it makes, theirs. For a process with one thread.
int launcher_main(int argc, char** argv);

}  // namespace pbs::host
