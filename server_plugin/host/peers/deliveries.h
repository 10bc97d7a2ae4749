// Sends jobs to other servers, for a move to "queue@server".
//
// While a job is sent, it is in state T, and belongs to this server until the other server certainly has it.
// Before the Commit request the other server can't have the job, so after a failure the job returns to its
// queue. Before this server sends the Commit, it stores durably that it does. From then on only the other
// server knows whether it has the job. So this server asks the other one until it answers, even after a
// restart. If the other server has the job, it answers PBSE_JOBEXIST (arrival.h). So in the end exactly one
// of the two servers has the job.
#pragma once

#include <uv.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ifl/reply.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/peers/connector.h"

namespace pbs::host {

class PeerLink;

class Deliveries {
  public:
    Deliveries(uv_loop_t* loop, Server& server);
    ~Deliveries();
    Deliveries(const Deliveries&) = delete;
    Deliveries& operator=(const Deliveries&) = delete;

    // The outcome of a delivery. The reply is set when the outcome is known. It is set earlier, with an
    // error, when it is clear that the delivery will take long.
    struct Outcome {
        std::optional<ifl::Reply> reply;
    };
    // Begins to send a waiting job to a queue of another server (empty: its default queue), for a requester
    // (user@host). PBSE_NOSUP: the job can't leave this server.
    Result<std::shared_ptr<const Outcome>> begin(const Job& job, std::string_view queue, const ServerName& to,
                                                 std::string by);

    // Call it at the server's start. Returns the jobs that can't be on the other server yet to their queues,
    // and continues the other deliveries.
    Result<void> recover();
    // Continues the deliveries. Call it about every second.
    void look();
    // Closes all connections; deliveries stop. The server's next start continues them.
    void close();

  private:
    using Steady = std::chrono::steady_clock;
    struct Delivery;

    Delivery* find(uint64_t job, const PeerLink* link);
    bool leaves(uint64_t job) const;
    void attempt(Delivery& delivery);
    void queued(Delivery& delivery, const ifl::Result<ifl::Reply>& reply);
    void send_script(Delivery& delivery);
    void send_commit(Delivery& delivery);
    void committed(Delivery& delivery, const ifl::Result<ifl::Reply>& reply);
    void refused(Delivery& delivery, const ifl::Reply& reply);
    void lost(Delivery& delivery, const std::string& why);
    void arrived(Delivery& delivery);
    void take_back(Delivery& delivery, ifl::Reply why);
    void end(Delivery& delivery, ifl::Reply reply);
    void try_again(Delivery& delivery);
    template <typename Handle>
    void ask(Delivery& delivery, ifl::RequestType type, ifl::RequestBody&& body, Handle handle);

    uv_loop_t* loop_;
    Server& server_;
    bool closing_ = false;
    std::map<uint64_t, std::unique_ptr<Delivery>> deliveries_;  // by the job's handle
};

}  // namespace pbs::host
