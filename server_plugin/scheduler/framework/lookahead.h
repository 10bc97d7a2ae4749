// A look-ahead: the search for the first instant at which one job can start in one queue.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "server_plugin/scheduler/framework/future.h"
#include "server_plugin/scheduler/framework/range_search.h"
#include "server_plugin/scheduler/placement/chunk_count.h"
#include "values/sum.h"

namespace pbs::sched {

// Moves the state of the cycle (the time and all that follows from it, the use by jobs, the vnodes) to later
// instants, so that the filters themselves decide whether the job could start then. The destructor restores
// the state. Only one look-ahead exists at a time.
class Lookahead : CyclePart {
  public:
    // REQUIRES: the job has its walltime for this queue.
    Lookahead(CycleContext& context, Future& future, Candidate& job, QueueView& view);
    ~Lookahead();
    Lookahead(const Lookahead&) = delete;
    Lookahead& operator=(const Lookahead&) = delete;

    // Returns the first instant from `from` on at which the job could start, if running jobs end at their
    // walltimes at the latest, and no other jobs start except those with reservations. For a job with a
    // select_range it is the first at which the least number of chunks could start; for an array whose
    // subjobs start together, the first at which all of them could. The state is then that of this instant,
    // and has the place of the job, or of the first subjob; with a select_range, a place for the greatest
    // number that fits then. `from` must not be earlier than at the last call.
    //
    // The instants to try come from three sources: the profiles over time (enough of each limit, and of all
    // vnodes of the pool together, for the whole walltime); the filters about time; and the ends of jobs,
    // because the sums of a pool say nothing about single vnodes. O(log n + steps) for a profile, and
    // O(shares) for each job that ends before the result. nullopt: there is no such instant up to `until`; or
    // filters about time have refused kMostRefusals times in a row, for example if no gap between two months
    // of daily dedicated times is long enough; or kMostPlacedInVain subjobs, which take some microseconds
    // each, were placed at instants at which not all of them fit.
    std::optional<Instant> earliest(Instant from, Instant until = Instant::max());
    static constexpr int kMostRefusals = 64;
    static constexpr std::int64_t kMostPlacedInVain = 5'000;

    // The events that the start has to wait for, each with its instant, in order.
    const std::vector<Awaited>& awaited() const { return awaited_; }

    // After earliest(): returns whether the last instant that was tried before the start was refused because
    // vnodes lacked room.
    bool decided_by_vnodes() const { return decided_by_vnodes_; }
    // After earliest(): decided_by_time() returns whether the start is an instant that a filter named.
    // too_late() returns whether no start was found because of `until`.
    bool decided_by_time() const { return decided_by_time_; }
    bool too_late() const { return too_late_; }
    // After earliest(): returns whether a filter about time has refused at any instant that was tried.
    bool refused_by_time() const { return refused_by_time_; }
    // Returns whether the job has to observe limits on running jobs.
    bool has_limits() const { return !limits_.empty(); }

    // After earliest(): returns whether OpenPBS would find the start. OpenPBS looks ahead to the next
    // beginning or end of a job, a reservation or a dedicated time, one after the other, and after the last
    // one to one boundary of prime time. It doesn't know time_windows.
    bool is_foreseeable();

    // Before earliest(): the end of the last job that runs, or has a reservation, in the queue or on its
    // vnodes; now if there is none. O(later jobs elsewhere).
    Instant last_end() const;
    // Returns the job that ends last of those that run in the queue or on its vnodes; kNoSlot: none does.
    JobSlot last_running() const;

    // The queue of this look-ahead.
    const QueueView& view() const { return view_; }

    // The number of instants that were tried, and of further subjobs that were tried there.
    std::int64_t steps() const { return steps_; }

    // The number of beginnings and ends of jobs that were passed.
    std::size_t events() const { return done_ + done_ends_; }

    // After earliest(): reserves the job's needs from the start that it has found. REQUIRES: the job isn't an
    // array whose subjobs start together.
    void reserve();
    // After earliest(): reserves the job's needs, but only for later look-aheads of this cycle.
    void expect();

  private:
    void go_back();
    void set_clock(Instant at);
    void go_to(Instant at);
    bool may_pass_ends() const;
    void apply_passed(int sign);
    std::optional<Instant> next_event() const;
    void settle();
    void find_filters();
    bool may_count_chunks() const;
    bool lacks_room();
    void count(const ResourceSchedule::Event& event, bool forward);
    void count(const ResourceSchedule::Holding& holding, int sign);
    void charge(const Placement& placement, int sign);
    Refusal refused_together();
    void add_pauses();
    void await(std::string_view what, Instant until);
    void hold(bool is_kept);
    void hold(const Placement& placement, const rrule::Interval& when);
    std::optional<Instant> refused_until();
    Refusal refused_now();
    void grow();
    void use_own_request();
    using Events = std::span<const ResourceSchedule::Event>;
    const ResourceSchedule::Event* last_of(Events events) const;
    // The amount of one subjob as that of all that start together.
    std::int64_t of_all(std::int64_t amount) const { return (values::Sum(amount) * together_).value(); }
    bool is_wanted(const Filter& filter) const {
        return filter.wanted == nullptr || filter.wanted(s_, state_.now);
    }

    Future& future_;
    Candidate& job_;
    const Request* request_;  // the job's own request
    std::uint32_t request_number_;
    std::optional<RangeSearch> range_;
    QueueView& view_;
    std::int64_t together_;               // how many subjobs have to start at the same instant
    std::int64_t placed_in_vain_ = 0;     // the subjobs that were placed where not all of them fit
    std::vector<Placement> of_others_;    // after earliest(): the places of all of these but the first
    std::vector<const Filter*> of_time_;  // the filters about time
    std::vector<const Filter*> others_;   // the others, but for limits that are set for nothing
    bool searches_first_ = true;  // no filter of `others_` reads vnodes before that which finds places
    QueueFacts facts_{};          // the facts of the queue for which `others_` was made
    bool went_ = false;           // go_to() was called
    bool settled_ = true;         // the pool's trees have the present amounts
    // The refusal for want of a place, and how often the filter that finds places has given it.
    std::optional<Refusal> no_room_;
    int searches_ = 0;
    std::optional<ChunkCount> chunks_;  // the chunks for which there is room, up to the event `done_`
    std::size_t counted_ = 0;           // how many of Vnodes::not_settled() are counted in `chunks_`
    std::vector<LimitNeed> limits_;
    std::vector<Demand> demands_;  // the demands of limits_, then those of the pool
    Events ends_;                  // the ends of running jobs from now on
    Events events_;                // the schedule's other events, or with_pauses_
    std::vector<ResourceSchedule::Event> with_pauses_;
    std::size_t done_ends_ = 0;  // the number of ends_ that are counted
    std::size_t done_ = 0;       // the number of events_ that are counted
    // The ends up to the instant of the state, if they aren't counted one by one.
    const PassedEnds* passed_ = nullptr;
    bool applied_ = false;  // the use by passed ends is subtracted from the state
    std::vector<Awaited> awaited_;
    std::int64_t steps_ = 0;
    bool decided_by_vnodes_ = false;
    bool decided_by_time_ = false;
    bool too_late_ = false;
    bool refused_by_time_ = false;
    bool away_ = true;

    // Values of the present, which go_back() puts back.
    PrimePeriods* prime_;
    PrimePeriods prime_ahead_;  // at the instant that is tried
    std::optional<Instant> prime_change_;
    bool prime_enforced_;
    bool prime_now_;
    QueueView view_now_;
};

}  // namespace pbs::sched
