// The states that a simulation keeps for some of a trace's jobs: the waiting and the started ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/scheduler.h"
#include "tools/simulate/held_places.h"
#include "tools/simulate/job_records.h"
#include "tools/simulate/trace.h"

namespace pbs::simulate {

// State of a job that waits or is suspended.
struct Waiting {
    sched::QueueHandle queue{};
    bool has_comment = false;
    Instant commented{};
    std::string comment;
    Instant preempted_at{};   // if it was preempted: its comment, which stays, names the preempting job
    bool by_program = false;  // it was preempted by a program's request to run it again
    sched::Accrual accrual{};
};

// State of a started job, until the job ends or is queued again.
struct Run {
    sched::QueueHandle queue{};
    Instant stime{};     // start time as the server reports it: later by the time for which the job was
                         // suspended
    Instant since{};     // when it started to run, or was suspended
    Seconds elapsed{0};  // run time before `since`
    bool suspended = false;
    bool keeps_places = false;  // while suspended: true if the program has suspended it
    Seconds eligible{0};        // eligible time up to its start
    std::int64_t cpus = 0;      // CPUs that it has
    SetResources set;
    HeldPlaces places;
    // Returns whether the job has been preempted by suspension. Such a job has given back its places. A job
    // that a program has suspended keeps them, because its processes stay in memory.
    bool preempted() const { return suspended && !keeps_places; }
};

// Work that a preempted job has done.
struct Work {
    Seconds done{0};
    Seconds kept{0};  // the part of `done` that isn't lost if the job is queued again
    // Converts the times on some CPUs to times for the same work on another number of CPUs.
    void convert(std::int64_t from_cpus, std::int64_t to_cpus) {
        for (Seconds* const time : {&done, &kept}) *time = *time * from_cpus / to_cpus;
    }
};

// Maps jobs, by their index in the trace, to states. The memory of a removed state is used again.
template <class State>
class JobStates {
  public:
    explicit JobStates(std::size_t jobs) : place_of_(jobs) {}

    bool empty() const { return size() == 0; }
    std::size_t size() const { return states_.size() - unused_.size(); }
    // Returns the job's state; null: it has none.
    State* find(std::uint32_t job) { return place_of_[job] == 0 ? nullptr : &states_[place_of_[job] - 1]; }
    // Adds a state for a job that has none. The state still has the values of the job that used it last. The
    // reference is valid until the next add().
    State& add(std::uint32_t job) {
        if (unused_.empty()) {
            states_.emplace_back();
            unused_.push_back(static_cast<std::uint32_t>(states_.size()));
        }
        place_of_[job] = unused_.back();
        unused_.pop_back();
        return states_[place_of_[job] - 1];
    }
    void remove(std::uint32_t job) { unused_.push_back(std::exchange(place_of_[job], 0)); }
    // Calls visit(job, state) in the order of the trace.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (std::uint32_t job = 0; job < place_of_.size(); ++job)
            if (place_of_[job] != 0) visit(job, states_[place_of_[job] - 1]);
    }

  private:
    std::vector<std::uint32_t> place_of_;  // by job: index in states_ plus 1; 0: no state
    std::vector<State> states_;
    std::vector<std::uint32_t> unused_;  // indices in states_ plus 1
};

}  // namespace pbs::simulate
