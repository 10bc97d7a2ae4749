// A look into the future of a cycle, for one job in one queue.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "server_plugin/scheduler/framework/future.h"

namespace pbs::sched {

// Moves the state of the cycle (the time and all that follows from it, the use by jobs, the vnodes) on to
// later instants, so that the filters themselves tell whether the job could start then. The destructor puts
// the state back. Only one look-ahead exists at a time.
class Lookahead : CyclePart {
  public:
    // The job's walltime has to be the one in that queue.
    Lookahead(CycleContext& context, Future& future, Candidate& job, QueueView& view);
    ~Lookahead() { go_back(); }
    Lookahead(const Lookahead&) = delete;
    Lookahead& operator=(const Lookahead&) = delete;

    // Returns the first instant from `from` on at which the job could start, if jobs end at their walltimes
    // at the latest and no others start but those with reservations. The state is then that of this instant,
    // with the job's placement. `from` doesn't go back in time.
    //
    // Instants to try come from the profiles (where there could be enough of each limit and in all vnodes of
    // the pool together, for the whole walltime), from the filters about time, and from the ends of jobs: the
    // pool's sums tell nothing about single vnodes. O(log n + steps) for a profile and O(shares) for each job
    // that ends on the way. Empty if there is none, or if time forbids kMostRefusals times in a row: where no
    // gap between daily dedicated times is long enough, say, two months of them. Empty also if it is later
    // than `until`.
    std::optional<Instant> earliest(Instant from, Instant until = Instant::max());
    static constexpr int kMostRefusals = 64;

    // The events that the start has to wait for, and until when, in the order in which earliest() met them.
    const std::vector<Awaited>& awaited() const { return awaited_; }

    // After earliest(): is the start the first instant at which vnodes have room, whatever else there is?
    bool decided_by_vnodes() const { return decided_by_vnodes_; }
    // Is the start an instant that a filter names (decided_by_time)? Was no start found because of `until`
    // (too_late)?
    bool decided_by_time() const { return decided_by_time_; }
    bool too_late() const { return too_late_; }

    // After earliest(): would OpenPBS find the start? It looks ahead from one end or beginning of a job, a
    // reservation or a dedicated time to the next, and behind the last one to one boundary of prime time. It
    // doesn't know time_windows.
    bool is_foreseeable();

    // Before earliest(): the end of the last job that runs, or has a reservation, in the queue or on its
    // vnodes; now if there is none. O(jobs that end later elsewhere).
    Instant last_end() const;

    // The queue that the job is looked at in.
    const QueueView& view() const { return view_; }

    // The number of instants that were tried.
    std::int64_t steps() const { return steps_; }

    // The number of ends and beginnings of jobs that were passed.
    std::size_t events() const { return done_; }

    // After earliest(): reserves for the job its needs from then on.
    void reserve();
    // After earliest(): reserves for the rest of this cycle only, for later look-aheads; nobody is told of
    // it.
    void expect();

  private:
    void go_back();
    void set_clock(Instant at);
    void go_to(Instant at);
    void count(const ResourceSchedule::Event& event, bool forward);
    void await(std::string_view what, Instant until);
    void hold(bool is_kept);
    std::optional<Instant> refused_until();
    Refusal refused_now();
    bool is_wanted(const Filter& filter) const {
        return filter.wanted == nullptr || filter.wanted(s_, state_.now);
    }

    Future& future_;
    Candidate& job_;
    QueueView& view_;
    std::vector<LimitNeed> limits_;
    std::vector<Demand> demands_;                      // for limits_, then for the pool
    std::span<const ResourceSchedule::Event> events_;  // of the schedule, from now on
    std::size_t done_ = 0;                             // the number of events_ that are counted
    std::vector<Awaited> awaited_;
    std::int64_t steps_ = 0;
    bool decided_by_vnodes_ = false;
    bool decided_by_time_ = false;
    bool too_late_ = false;
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
