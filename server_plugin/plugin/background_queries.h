// Status requests that take long: each is a query of the scheduler's state, in the scheduler's thread, one
// after the other and between cycles. The host asks again until its answer is there (pbs_status_request).
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

    // Runs in the scheduler's thread. May end early once given_up().
    virtual void work(sched::Inspector& scheduler) = 0;
    // Answers once the work is over: with all of the result, or the next part of it. Returns 0 or the PBSE_
    // number that the reply has as well.
    virtual int32_t answer(const pbs_status_request& request, bool in_parts, Reply reply) = 0;
    // Has the whole result been answered?
    virtual bool all_told() const { return true; }
    // Does the query keep much memory until then? The number of such queries is limited.
    virtual bool is_large() const { return false; }
    // Frees some of that memory, in some milliseconds, when nobody wants the answer. False: nothing is left.
    virtual bool free_some() { return false; }

    void give_up() { given_up_ = true; }
    const std::atomic<bool>& given_up() const { return given_up_; }

  private:
    std::atomic<bool> given_up_ = false;
};

// The ticket of the request; 0 if the host can't ask again.
std::uint64_t ticket_of(const State& state, const pbs_status_request& request);

class BackgroundQueries {
  public:
    using Make = std::function<std::shared_ptr<BackgroundQuery>()>;

    // Answers a request, or has the host ask again (15208); without a ticket the host waits. `make` is called
    // for a ticket that isn't known yet. A user's requests wait for each other, and users take turns; a user
    // has at most as many as he has connections to the host.
    int32_t answer(State& state, const pbs_status_request& request, const Make& make, Reply reply);
    bool knows(std::uint64_t ticket) const { return asked_.contains(ticket); }
    // Adds a query whose work is over, for the ticket.
    void put(std::uint64_t ticket, std::shared_ptr<BackgroundQuery> query) {
        asked_[ticket] = {std::move(query), Stage::over, nullptr};
    }

    // Is a query in the scheduler's thread?
    bool at_work() const { return at_work_; }
    // Takes the query at work back if it is over: events that came meanwhile are then in force, and the
    // scheduler is free. Call it again and again.
    void finish(State& state);
    // Begins the next query, if the scheduler is free and no cycle is on its way.
    void begin_next(State& state, sched::Instant now);
    // Is the scheduler free for a change that needs it? If not, no query begins until the change has asked
    // again, or is abandoned. Without a ticket it waits for the scheduler.
    bool has_turn(State& state, std::uint64_t ticket);

    // Forgets a ticket with which nobody asks again.
    void abandon(std::uint64_t ticket);
    // Frees a query's memory little by little. The query may be null.
    void discard(std::shared_ptr<BackgroundQuery> query);
    // Tells the query that is being worked on to stop early.
    void stop();

  private:
    enum class Stage : std::uint8_t { waiting, working, over };
    struct Asked {
        std::shared_ptr<BackgroundQuery> query;
        Stage stage = Stage::waiting;
        std::exception_ptr thrown;  // thrown by its work
    };
    struct User {
        std::string name;
        std::deque<std::uint64_t> tickets;  // waiting ones, in the order in which they came
    };

    void wait_for_turn(std::uint64_t ticket, const std::string& user);
    std::uint64_t take_next();
    bool may_begin(const BackgroundQuery& query) const;
    void note_end(std::exception_ptr thrown);

    std::map<std::uint64_t, Asked> asked_;
    std::list<User> round_;     // users who wait, the next one first
    std::uint64_t change_ = 0;  // the ticket of a change that waits for the scheduler; 0: none
    bool at_work_ = false;
    std::uint64_t working_ = 0;  // the ticket of the query at work; it may be abandoned
    std::shared_ptr<BackgroundQuery> query_;
    std::vector<std::shared_ptr<BackgroundQuery>> discarded_;
};

}  // namespace pbs::plugin
