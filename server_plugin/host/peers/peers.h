// Other servers whose jobs are pulled into queues of this one (peer_queue of policies).
//
// Each such server is asked beside the cycles, over a connection of its own, for the jobs that are queued
// there; a server that doesn't answer is left alone for longer and longer. The scheduler is told of those
// jobs that may run here as jobs elsewhere. A job that it starts is pulled: the other server is asked to move
// it here. From its arrival on it is this server's (arrival.h), and it starts in the next cycle. Until then
// the scheduler takes it for running, so that nobody else gets its room.
//
// The room peers/ holds all dealings with other servers: pulling jobs (this file), sending jobs
// (deliveries.h) and receiving them (arrival.h), over connections that a process of their own makes
// (connector.h, peer_link.h).
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
    // `cycle_wanted` is called when the answer of another server calls for a cycle.
    Peers(uv_loop_t* loop, Server& server, std::function<void()> cycle_wanted);
    ~Peers();
    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    // Asks servers whose turn it is; call it every second or so.
    void look();
    void close();

    // Are jobs pulled into this queue from a server at this host or numeric address?
    bool pulls_from(std::string_view host, std::string_view address, std::string_view queue) const;

    // The queue into which the job elsewhere with this handle would be pulled; 0: there is no such job.
    uint64_t queue_of(uint64_t job) const;
    // Pulls the job, which the scheduler has decided to run on these places.
    void pull(uint64_t job, const std::vector<Place>& places);
    // Notes that a job with this id has come.
    void arrived(std::string_view id);

    // The state of one server, for status replies.
    struct Shown {
        std::string server;
        std::string queues;      // "workq from batch, ..."
        std::string trouble;     // why it isn't asked now; empty: it answers, or hasn't been asked
        int64_t answered = 0;    // the time of its last answer, by this server's clock; 0: never
        std::size_t jobs = 0;    // its jobs that may run here
        std::size_t pulled = 0;  // the number of them that are being pulled
    };
    std::vector<Shown> shown() const;

  private:
    using Steady = std::chrono::steady_clock;
    using Pair = std::pair<std::string, std::string>;  // the queue here and the queue there
    struct Peer;
    struct Elsewhere;
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
    void tell(const Elsewhere& job);
    void forget(uint64_t job);
    void forget_of(const Peer& peer, const Pair* queues);
    void not_pulled(uint64_t job, const std::string& why);

    uv_loop_t* loop_;
    Server& server_;
    std::function<void()> cycle_wanted_;
    bool closing_ = false;
    std::map<ServerName, std::unique_ptr<Peer>> peers_;
    std::map<uint64_t, std::unique_ptr<Elsewhere>> jobs_;         // by handle
    std::map<std::string, uint64_t> handles_;                     // by id in lower case
    std::map<std::string, Steady::time_point> not_again_before_;  // ids of jobs that couldn't be pulled
};

}  // namespace pbs::host
