// The ends of jobs on their way to the disk. Nobody waits for them: until an end is there, the record that
// the job's shepherd has written of it is, and would be read again after a crash of the machine.
#pragma once

#include <uv.h>

#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/run/executor.h"

namespace pbs::host {

class Server;

class EndedRuns {
  public:
    // Both have to outlive this; the loop waits for what it has begun.
    EndedRuns(uv_loop_t* loop, Server& server) : loop_(loop), server_(server) {}
    EndedRuns(const EndedRuns&) = delete;
    EndedRuns& operator=(const EndedRuns&) = delete;
    ~EndedRuns() = default;

    // Has a thread bring those to the disk that have come since (Server::ended_runs); what the disk holds of
    // their runs is removed once they are there. Call it in each turn of the loop.
    void look();

  private:
    void written();

    uv_loop_t* loop_;
    Server& server_;
    uv_work_t work_{};
    std::vector<RunId> on_their_way_;
    Result<void> outcome_;  // the thread's, while server_.ends_on_their_way
};

// Waits until all are on the disk: something is about to be kept elsewhere that must not outlive them.
Result<void> settle_ended_runs(Server& server);

}  // namespace pbs::host
