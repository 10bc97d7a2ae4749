// The simulated server, as a program that schedules its jobs sees and changes it (external.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ifl/error.h"
#include "server_plugin/record/change_log.h"
#include "server_plugin/scheduler/scheduler.h"
#include "tools/simulate/machine.h"
#include "tools/simulate/room.h"

namespace pbs::simulate {

// Jobs are given by their index in the trace.
class SimulatedServer {
  public:
    SimulatedServer() = default;
    SimulatedServer(const SimulatedServer&) = delete;
    SimulatedServer& operator=(const SimulatedServer&) = delete;
    virtual ~SimulatedServer() = default;

    virtual Instant now() const = 0;
    virtual sched::Scheduler& scheduler() = 0;
    virtual const record::ChangeLog& changes() const = 0;
    virtual const Cluster& cluster() const = 0;
    virtual const Room& room() const = 0;

    // Returns the letter of the job's state: Q, R or S; '\0': it is still to come, or has ended.
    virtual char state(std::uint64_t job) = 0;
    // Returns the amounts that the job requests, valid until the next call of a function. REQUIRES: it has a
    // state.
    virtual std::span<const sched::Amount> requested(std::uint64_t job) = 0;
    // REQUIRES: the job is in state Q, and the places are those of vnodes. PBSE_RESCUNAV: they have no room.
    // PBSE_BADATVAL: they have fewer or more CPUs than a moldable job may have.
    virtual ifl::Result<void> start(std::uint64_t job, std::span<const sched::Place> places) = 0;
    // Counts a start that was refused.
    virtual void refused_start(std::string_view reason) = 0;
    // Stops a job, which keeps its places. REQUIRES: it is in state R.
    virtual void suspend(std::uint64_t job) = 0;
    // Lets a job go on where it was. PBSE_BADSTATE: suspend() hasn't stopped it, though a preemption may
    // have.
    virtual ifl::Result<void> resume(std::uint64_t job) = 0;
    // Ends a job in state R or S and queues it again, from its beginning.
    virtual void requeue(std::uint64_t job) = 0;
    // Deletes a job, in whatever state.
    virtual void remove(std::uint64_t job) = 0;
    // Sets the comment of a job, or its estimated start.
    virtual void comment(std::uint64_t job, std::string_view text) = 0;
    virtual void estimate(std::uint64_t job, Instant start) = 0;

    // The numbers of jobs that wait, and that are still to come.
    virtual std::size_t waiting_jobs() const = 0;
    virtual std::size_t jobs_to_come() const = 0;
    // A number that grows with each start and each end of a job.
    virtual std::size_t progress() const = 0;
};

}  // namespace pbs::simulate
