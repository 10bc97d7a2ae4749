// Jobs on their way to other servers: a move to "queue@server".
//
// The job is in state T meanwhile, and stays this server's until the other one has it for certain. Up to its
// Commit the other server hasn't got it, and whatever fails brings the job back into its queue. That the
// Commit is sent is made durable before: from then on only the other server knows, and it is asked until it
// says so, also after a restart; it answers PBSE_JOBEXIST for a job that it has got (arrival.h). So there is
// the job once in the end.
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

    // What came of one: set once it is known, or when it is known that this takes long.
    struct Outcome {
        std::optional<ifl::Reply> reply;
    };
    // Begins to send a job that waits to a queue of another server (empty: its default one), on whose request
    // (user@host). PBSE_NOSUP: a job that can't leave this server.
    Result<std::shared_ptr<const Outcome>> begin(const Job& job, std::string_view queue, const ServerName& to,
                                                 std::string by);

    // At the start: those that the other server can't have go back to their queues, the others go on.
    Result<void> recover();
    // To be called every second or so.
    void look();
    // Sends and takes nothing more; what is on its way is taken up by the next start.
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
