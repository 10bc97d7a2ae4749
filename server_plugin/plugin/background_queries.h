// Status requests that take long. The scheduler's thread answers them one after the other, between cycles.
// The host repeats its call until the answer is ready (pbs_status_request).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::plugin {

struct State;

// A status query that runs in the scheduler's thread, with its result.
class BackgroundQuery {
  public:
    BackgroundQuery() = default;
    BackgroundQuery(const BackgroundQuery&) = delete;
    BackgroundQuery& operator=(const BackgroundQuery&) = delete;
    virtual ~BackgroundQuery() = default;

    // Called just before work(), in the host's thread: the scheduler has all events up to now.
    virtual void begin(const State&) {}
    // Runs in the scheduler's thread. May end early once given_up().
    virtual void work(sched::Inspector& scheduler) = 0;
    // Adds the result, or its next part, to the reply; called once the work is over. Returns 0 or the PBSE_
    // number, which the reply has, too.
    virtual int32_t answer(const pbs_status_request& request, bool in_parts, Reply reply) = 0;
    // Has the whole result been sent?
    virtual bool all_told() const { return true; }
    // Does the query use much memory until its result is sent? The number of such queries is limited.
    virtual bool is_large() const { return false; }
    // Frees a part of that memory, in some milliseconds, when nobody wants the result any more. False: all is
    // freed.
    virtual bool free_some() { return false; }

    void give_up() { given_up_ = true; }
    const std::atomic<bool>& given_up() const { return given_up_; }

  private:
    std::atomic<bool> given_up_ = false;
};

// The ticket of the request; 0 if the host can't repeat the call.
std::uint64_t ticket_of(const State& state, const pbs_status_request& request);

class BackgroundQueries {
  public:
    using Make = std::function<std::shared_ptr<BackgroundQuery>()>;

    // Answers a request. If the request has a ticket, may return PBSE_TRYAGAIN (15208), and the host repeats
    // its call later; without a ticket the call lasts until the answer is there. `make` is called for a new
    // ticket. A user's requests wait for each other, and users take turns; a user has at most as many
    // requests as connections to the host.
    int32_t answer(State& state, const pbs_status_request& request, const Make& make, Reply reply);
    bool knows(std::uint64_t ticket) const { return asked_.contains(ticket); }
    // Adds a finished query for the ticket.
    void put(std::uint64_t ticket, std::shared_ptr<BackgroundQuery> query) {
        asked_[ticket] = {std::move(query), Stage::over, nullptr};
    }

    // Does the scheduler's thread work on a query?
    bool at_work() const { return at_work_; }
    // Ends the query in the scheduler's thread if its work is over: the scheduler is free again, and has the
    // events that came meanwhile. Call it repeatedly.
    void finish(State& state);
    // Begins the next query, if the scheduler is free and no cycle is running.
    void begin_next(State& state, sched::Instant now);
    // Is the scheduler free for a change that needs it? If not, no query begins until the change repeats its
    // call or is abandoned. Without a ticket, the call waits for the scheduler.
    bool has_turn(State& state, std::uint64_t ticket);

    // Forgets a ticket for which no call will be repeated.
    void abandon(std::uint64_t ticket);
    // Frees a query's memory little by little. The query may be null.
    void discard(std::shared_ptr<BackgroundQuery> query);
    // Tells the query in the scheduler's thread to stop early.
    void stop();

  private:
    enum class Stage : std::uint8_t { waiting, working, over };
    struct Asked {
        std::shared_ptr<BackgroundQuery> query;
        Stage stage = Stage::waiting;
        std::exception_ptr thrown;  // by the query's work
    };
    struct User {
        std::string name;
        std::deque<std::uint64_t> tickets;  // waiting tickets, in the order of arrival
    };

    void wait_for_turn(std::uint64_t ticket, const std::string& user);
    std::uint64_t take_next();
    bool may_begin(const BackgroundQuery& query) const;
    void note_end(std::exception_ptr thrown);

    std::map<std::uint64_t, Asked> asked_;
    std::list<User> round_;     // users with waiting tickets; the first is next
    std::uint64_t change_ = 0;  // the ticket of a change that waits for the scheduler; 0: none
    bool at_work_ = false;
    std::uint64_t working_ = 0;  // the ticket of the query in the thread; it may be abandoned
    std::shared_ptr<BackgroundQuery> query_;
    std::vector<std::shared_ptr<BackgroundQuery>> discarded_;
};

}  // namespace pbs::plugin
