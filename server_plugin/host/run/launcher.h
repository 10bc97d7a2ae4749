// Starts wardens (warden.h) for the runner, by a small process, the launcher, which forks one for each start.
// A fork of the launcher takes a fraction of the time that starting another program takes, and the forked
// processes share its memory. The launcher works on only a few starts at a time, so that the machine
// continues its other work when very many jobs start at once. The server sends requests over a socket and
// never waits for the answers.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <string>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/launch_message.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// The server's end of the socket to the launcher. Starts the launcher when there is a request, and starts
// another if the launcher has ended.
class Launcher {
  public:
    // The outcome of a request.
    struct Answer {
        RunId id;
        Fd process;         // the warden; no descriptor: no warden was started, or no descriptor was free
        Fd notify;          // the pipe that the shepherd writes to (kShepherdNotifyFd); non-blocking
        std::string error;  // why there is no warden; empty: there is one
    };

    // Registers the launcher's socket in `epoll`, with the number `data`. `epoll` has to outlive this object.
    Launcher(std::string home, std::string program, int epoll, std::uint64_t data)
        : home_(std::move(home)), program_(std::move(program)), epoll_(epoll), data_(data) {}
    ~Launcher();  // drops requested starts that haven't begun
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;

    // Requests the start of a job. REQUIRES: the file .job, which permits the start, is on the disk. Error:
    // the launcher can't be run; PBSE_TRYAGAIN: the reason may pass.
    Result<void> ask(const RunId& id);

    // Makes the launcher remove the files of an ended start, because that takes time in a folder with many
    // jobs. Returns false if the launcher can't be run.
    bool forget(const RunId& id);

    // Adds the answers that have come. Call it when the socket is readable. Returns false if the launcher is
    // gone; requests without an answer then get none. If an exception passes, the next call adds the answers
    // that this one hasn't added.
    bool carry(std::deque<Answer>& answers);

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
    launch_message::Received received_;  // the last message, until it is an answer
    std::deque<std::string> unsent_;
    bool waits_ = false;  // true while unsent requests wait until the socket accepts more
};

// Runs the launcher: carries out requests over kLauncherFd until the server is gone. Returns the exit code of
// the launcher; the processes that it forks don't return. REQUIRES: the process has one thread.
int launcher_main(int argc, char** argv);

}  // namespace pbs::host
