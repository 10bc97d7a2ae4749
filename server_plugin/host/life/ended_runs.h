// Brings committed ends of jobs to the disk. Nobody waits for that: until an end is there, the record that
// the job's shepherd has written of it exists, and is read again after a crash of the machine.
#pragma once

#include <uv.h>

#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/run/executor.h"

namespace pbs::host {

class Server;

class EndedRuns {
  public:
    // REQUIRES: both outlive this object; the loop runs until its work is done.
    EndedRuns(uv_loop_t* loop, Server& server) : loop_(loop), server_(server) {}
    EndedRuns(const EndedRuns&) = delete;
    EndedRuns& operator=(const EndedRuns&) = delete;
    ~EndedRuns() = default;

    // Lets a thread bring ends that are new (Server::ended_runs) to the disk, then removes the files of their
    // runs. Call it in each turn of the loop.
    void look();

  private:
    void written();

    uv_loop_t* loop_;
    Server& server_;
    uv_work_t work_{};
    std::vector<RunId> on_their_way_;
    Result<void> outcome_;  // the thread's outcome; valid while server_.ends_on_their_way
};

// Waits until all ends are on the disk. Call it before something is stored elsewhere that must not outlive
// them.
Result<void> settle_ended_runs(Server& server);

}  // namespace pbs::host
