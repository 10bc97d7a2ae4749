// Starts wardens (warden.h) for the runner, by a small process of its own, the launcher: forking the launcher
// takes a fraction of the time that another program takes to begin, and the copies share its memory. The
// launcher has only a few starts on their way at a time, so that the machine goes on with its other work
// however many jobs start at once. The server asks it over a socket and never waits for it.
//
// A start that was asked for may still fail, because the server or the launcher dies. The files of the start
// tell how far it came (runner.h).
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

// The server's end. Runs the launcher when there is something to start, and again if the launcher has gone.
class Launcher {
  public:
    // The outcome of a request.
    struct Answer {
        RunId id;
        Fd process;         // the warden; no descriptor if there is no warden, or none was to be had
        Fd notify;          // the pipe that the shepherd writes to (kShepherdNotifyFd); doesn't block
        std::string error;  // why there is no warden; empty: there is one
    };

    // Registers the socket to the launcher in `epoll`, with the number `data`. `epoll` has to outlive this
    // object.
    Launcher(std::string home, std::string program, int epoll, std::uint64_t data)
        : home_(std::move(home)), program_(std::move(program)), epoll_(epoll), data_(data) {}
    ~Launcher();  // starts that were asked for and haven't begun are dropped
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;

    // Asks to start a job. REQUIRES: the permission to start is on the disk. An error: the launcher can't be
    // run.
    Result<void> ask(const RunId& id);

    // Asks to remove the files of a start that has ended, which takes time in a folder with the files of many
    // jobs. False: the launcher can't be run.
    bool forget(const RunId& id);

    // Call it when the socket is readable: adds the answers that have come. False: the launcher has gone, and
    // earlier requests get no answer any more.
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
    bool waits_ = false;  // waits until the socket takes more
};

// The launcher's process: starts what it is asked for over kLauncherFd until the server has gone. Returns its
// exit code; in each process that it forks, the exit code of that one. For a process with one thread.
int launcher_main(int argc, char** argv);

}  // namespace pbs::host
