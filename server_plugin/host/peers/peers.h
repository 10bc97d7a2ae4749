// Pulls jobs of other servers into queues of this one (peer_queue of policies).
//
// This server asks each of the other servers for its queued jobs, over a connection of its own and
// independently of cycles. A server that doesn't answer is asked at longer and longer intervals. The
// scheduler gets the jobs that may run here as jobs elsewhere. When the scheduler starts such a job, it is
// pulled: the other server is asked to move it here. From then on the scheduler counts it as running, so that
// no other job gets its places. When the job has arrived (arrival.h), it belongs to this server, and starts
// in the next cycle.
//
// The folder peers/ has all work with other servers: pulling jobs (this file), sending jobs (deliveries.h)
// and receiving them (arrival.h), over connections that separate processes make (connector.h, peer_link.h).
#pragma once

#include <uv.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ifl/reply.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/peers/connector.h"
#include "server_plugin/host/policy/plugin.h"

namespace pbs::host {

class PeerLink;

class Peers {
  public:
    // Calls `cycle_wanted` when an answer of another server demands a cycle.
    Peers(uv_loop_t* loop, Server& server, std::function<void()> cycle_wanted);
    ~Peers();
    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    // Asks those servers whose next time has come. Call it about every second.
    void look();
    void close();

    // Returns whether jobs are pulled into this queue from a server at this host or numeric address.
    bool pulls_from(std::string_view host, std::string_view address, std::string_view queue) const;

    // Returns the queue into which the job elsewhere (on another server) with this handle would be pulled; 0:
    // there is no such job.
    uint64_t queue_of(uint64_t job) const;
    // Pulls the job, which the scheduler has decided to run on these places.
    void pull(uint64_t job, const std::vector<Place>& places);
    // Forgets the job elsewhere with this id, because the job has arrived here.
    void arrived(std::string_view id);

    // The state of one other server, for status replies.
    struct PeerStatus {
        std::string server;
        std::string queues;      // "workq from batch, ..."
        std::string trouble;     // why jobs can't be pulled from it; empty: no trouble is known
        int64_t answered = 0;    // the time of its last answer, by this server's clock; 0: never
        std::size_t jobs = 0;    // its jobs that may run here
        std::size_t pulled = 0;  // number of its jobs that are being pulled
    };
    std::vector<PeerStatus> shown() const;

  private:
    using Steady = std::chrono::steady_clock;
    using Pair = std::pair<std::string, std::string>;  // the local queue and the remote one
    struct Peer;
    struct RemoteJob;
    using Listed = std::vector<ifl::ObjectStatus>;

    void refresh();
    bool may_have_room() const;
    void ask(Peer& peer);
    void answered(const ServerName& name, const PeerLink* link, const Pair& queues, const Listed& listed,
                  const ifl::Result<ifl::Reply>& reply);
    void failed(Peer& peer, const std::string& why);
    void lost(const ServerName& name, const std::string& why);
    void take(Peer& peer, const Pair& queues, const Listed& listed);
    Result<Job> job_of(const ifl::ObjectStatus& object, const Pair& queues) const;
    void tell(const RemoteJob& job);
    void forget(uint64_t job);
    void forget_of(const Peer& peer, const Pair* queues);
    void not_pulled(uint64_t job, const std::string& why);

    uv_loop_t* loop_;
    Server& server_;
    std::function<void()> cycle_wanted_;
    bool closing_ = false;
    std::map<ServerName, std::unique_ptr<Peer>> peers_;
    std::map<uint64_t, std::unique_ptr<RemoteJob>> jobs_;         // by handle
    std::map<std::string, uint64_t> handles_;                     // by id in lower case
    std::map<std::string, Steady::time_point> not_again_before_;  // by id: jobs that couldn't be pulled
};

}  // namespace pbs::host
