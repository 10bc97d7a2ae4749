// Other servers whose jobs are pulled into queues of this one (peer_queue of policies).
//
// Each such server is asked beside the cycles, over a connection of its own, for the jobs that are queued
// there; one that doesn't answer is left alone for longer and longer. Those jobs that may run here are told
// to the scheduler as jobs elsewhere. What it starts is pulled: the other server is asked to move the job
// here, which is this server's from its arrival on (arrival.h) and starts in the next cycle. Until then it is
// told of as running, so that nobody else gets its room.
//
// The room peers/ is all that is done with other servers: these, jobs that are sent to others (deliveries.h)
// and that come from them (arrival.h), over connections that a process of its own makes (connector.h,
// peer_link.h).
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
    // `cycle_wanted` is called when one is, because of what another server said.
    Peers(uv_loop_t* loop, Server& server, std::function<void()> cycle_wanted);
    ~Peers();
    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    // To be called every second or so.
    void look();
    void close();

    // Are jobs pulled from a server at this host, or numeric address, into this queue?
    bool pulls_from(std::string_view host, std::string_view address, std::string_view queue) const;

    // The queue for which a job elsewhere is told by this handle; 0: there is none.
    uint64_t queue_of(uint64_t job) const;
    // The scheduler has decided to run the job on these places.
    void pull(uint64_t job, const std::vector<Place>& places);
    // A job of this id has come.
    void arrived(std::string_view id);

    // What there is to be known of each.
    struct Shown {
        std::string server;
        std::string queues;      // "workq from batch, ..."
        std::string trouble;     // why it is left alone; empty: it answers, or hasn't been asked
        int64_t answered = 0;    // when it answered last, by the server's clock; 0: never
        std::size_t jobs = 0;    // of it that may run here
        std::size_t pulled = 0;  // of them that are being pulled
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
