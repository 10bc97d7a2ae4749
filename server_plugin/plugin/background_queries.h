// Answers status requests that take long, in the scheduler's thread, one after the other, between cycles. The
// host repeats its call until the answer is ready (pbs_status_request).
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
#include <string_view>
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

    // Called just before work(), in the host's thread, when the scheduler has received all events so far.
    virtual void begin(const State&) {}
    // Does the query's work, in the scheduler's thread. `now`: when the work begins, perhaps long after the
    // request. May end early if given_up() has become true.
    virtual void work(sched::Inspector& scheduler, sched::Instant now) = 0;
    // Adds the result to the reply, with `in_parts` its next part. Called after the end of work(). Returns 0,
    // or the PBSE_ number that it has put into the reply.
    virtual int32_t answer(const pbs_status_request& request, bool in_parts, Reply reply) = 0;
    // Returns whether the whole result has been sent.
    virtual bool all_told() const { return true; }
    // Returns whether the query uses much memory until its result is sent. The number of such queries is
    // limited.
    virtual bool is_large() const { return false; }
    // Frees some of a large query's memory, in a step of a few milliseconds. Called repeatedly once nobody
    // wants the result. Returns false if all is freed.
    virtual bool free_some() { return false; }

    void give_up() { given_up_ = true; }
    const std::atomic<bool>& given_up() const { return given_up_; }

  private:
    std::atomic<bool> given_up_ = false;
};

// Returns the request's ticket; or 0 if the host can't repeat its call, because it doesn't take
// work_finished().
std::uint64_t ticket_of(const State& state, const pbs_status_request& request);

class BackgroundQueries {
  public:
    using Make = std::function<std::shared_ptr<BackgroundQuery>()>;

    // Answers a request. `make` makes its query, once for each ticket. If the request has a ticket, the
    // answer may be PBSE_TRYAGAIN (15208), and the host repeats its call later. Without a ticket the call
    // lasts until the answer is complete. A user's requests are worked on one after the other, and users take
    // turns. A user can have as many requests as connections to the host.
    int32_t answer(State& state, const pbs_status_request& request, const Make& make, Reply reply);
    // Does the same for a request of another kind with a ticket. Returns null while the host has to repeat
    // its call, and the query when its work is over. The caller then calls again(), or end() and
    // begin_next(). Throws the exception that the work has thrown.
    std::shared_ptr<BackgroundQuery> finished(State& state, std::uint64_t ticket, std::string_view user,
                                              sched::Instant now, const Make& make);
    // Lets the query of the ticket work once more, when it is its user's turn.
    void again(State& state, std::uint64_t ticket, std::string_view user, sched::Instant now);
    // Forgets the ticket: its answer is given.
    void end(std::uint64_t ticket);
    bool knows(std::uint64_t ticket) const { return asked_.contains(ticket); }
    // Adds a finished query for the ticket.
    void put(std::uint64_t ticket, std::shared_ptr<BackgroundQuery> query) {
        asked_[ticket] = {std::move(query), Stage::over, nullptr};
    }

    // Returns whether the scheduler's thread works on a query.
    bool at_work() const { return at_work_; }
    // If the query in the scheduler's thread has ended its work, takes it from the thread: the scheduler is
    // free again, and gets the events that came meanwhile. Call this repeatedly.
    void finish(State& state);
    // Begins the next query, if the scheduler is free and no cycle is running.
    void begin_next(State& state, sched::Instant now);
    // For a change of the configuration that needs the scheduler: returns whether the scheduler is free. If
    // not, no query begins until the change repeats its call with this ticket, or is abandoned. With
    // ticket 0 returns true, and the change then waits for the scheduler.
    bool has_turn(State& state, std::uint64_t ticket);

    // Forgets the ticket of a request that the host has given up.
    void abandon(std::uint64_t ticket);
    // Frees a query's memory in steps of a few milliseconds. The query may be null.
    void discard(std::shared_ptr<BackgroundQuery> query);
    // Tells the query in the scheduler's thread to stop early.
    void stop();

  private:
    enum class Stage : std::uint8_t { waiting, working, over };
    struct TicketedQuery {
        std::shared_ptr<BackgroundQuery> query;
        Stage stage = Stage::waiting;
        std::exception_ptr thrown;  // the exception that the query's work() has thrown
    };
    struct User {
        std::string name;
        std::deque<std::uint64_t> tickets;  // waiting tickets, in the order of arrival
    };

    void wait_for_turn(std::uint64_t ticket, const std::string& user);
    std::uint64_t take_next();
    bool may_begin(const BackgroundQuery& query) const;
    void note_end(std::exception_ptr thrown);

    std::map<std::uint64_t, TicketedQuery> asked_;
    std::list<User> round_;     // users with waiting tickets; the first is next
    std::uint64_t change_ = 0;  // the ticket of a change that waits for the scheduler; 0: none
    bool at_work_ = false;
    std::uint64_t working_ = 0;  // the ticket of the query in the scheduler's thread; it may be abandoned
    std::shared_ptr<BackgroundQuery> query_;
    std::vector<std::shared_ptr<BackgroundQuery>> discarded_;
};

}  // namespace pbs::plugin
