// Writes committed ends of jobs to the disk, with a delay, so that no commit has to wait for the disk. Until
// a job's end is on the disk, the shepherd's record of the end stays, and the server reads it again after a
// crash of the machine.
#pragma once

#include <uv.h>

#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/run/executor.h"

namespace pbs::host {

class Server;

class EndedRuns {
  public:
    // REQUIRES: the loop and the server outlive this object; the loop runs until the thread has ended.
    EndedRuns(uv_loop_t* loop, Server& server) : loop_(loop), server_(server) {}
    EndedRuns(const EndedRuns&) = delete;
    EndedRuns& operator=(const EndedRuns&) = delete;
    ~EndedRuns() = default;

    // Makes a thread write the committed ends of runs (Server::ended_runs) to the disk; then removes the
    // files of these runs. Call it in each turn of the loop.
    void look();

  private:
    void written();

    uv_loop_t* loop_;
    Server& server_;
    uv_work_t work_{};
    std::vector<RunId> on_their_way_;
    Result<void> outcome_;  // outcome of the thread; valid while server_.ends_on_their_way
};

// Waits until all committed ends of runs are on the disk. Call it before storing data that must not survive a
// crash of the machine without these ends.
Result<void> settle_ended_runs(Server& server);

}  // namespace pbs::host
