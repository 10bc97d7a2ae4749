// Rules for refused jobs that may start later. Such a rule reserves places for the job, holds up later jobs,
// or opens queues for it.
//
// To add one: write plugins/after_refusal/<name>.cc with a class derived from AfterRefusal, which lives for
// one cycle and may have data, and an `extern const AfterRefusalRule k<Name>AfterRefusal`; put that into the
// table of the profiles that have it.
#pragma once

#include <memory>

#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/model/kept_by_rules.h"

namespace pbs::sched {

struct CandidateQueues;
struct CycleContext;
struct OrderedJob;
struct Verdict;
class Future;
class Intake;
class Judge;
class Queues;
class Turns;

// The parts of a cycle that rules after refusals use. The parts live as long as the cycle.
struct CycleParts {
    CycleContext& context;
    Queues& queues;
    Intake& intake;
    Judge& judge;
    Future& future;
    Turns& turns;
};

class AfterRefusal {
  public:
    AfterRefusal() = default;
    virtual ~AfterRefusal() = default;
    AfterRefusal(const AfterRefusal&) = delete;
    AfterRefusal& operator=(const AfterRefusal&) = delete;

    // Called after the refusal of a job that waits for other jobs to end or for a time to come. A rule that
    // holds up later jobs does so for both kinds of jobs, because no event tells when a job has stopped
    // waiting for other jobs and waits only for a time (Verdict::crosses).
    virtual void refused(const OrderedJob& /*job*/, Verdict& /*verdict*/, CandidateQueues& /*queues*/) {}
    // Makes a place for a refused job. Returns the queue in which the job starts now; its place is then in
    // CycleState::placement. Null: the job waits. Adds to `blockers` further events that could let it start.
    virtual QueueView* makes_room(const OrderedJob& /*job*/, Candidate& /*candidate*/, Blockers& /*blockers*/,
                                  CandidateQueues& /*queues*/) {
        return nullptr;
    }
    // Returns whether a refusal of the next job of the class in these queues would affect later jobs. If not,
    // a cycle after events skips jobs whose refusals no event could have lifted.
    virtual bool wants(const CandidateQueues& /*queues*/, JobClass /*job_class*/) const { return false; }
    // Returns the reason why no further job of the queue starts in this cycle; an empty reason: jobs may
    // start. `view` is null for jobs that may start in no queue. A rule that begins to hold jobs up counts
    // that in CycleContext::held_up.
    virtual Reason holds_up(const QueueView* /*view*/) const { return {}; }
    // Called after a filter with one of the traits in `watched` has refused a job in a queue.
    unsigned watched = 0;
    virtual void was_refused(const Candidate& /*job*/, QueueView& /*view*/) {}
    // Returns whether the rule may refuse jobs of one user but not equal jobs of another, even if no filter
    // reads the user.
    virtual bool tells_users_apart() const { return false; }

    // Called for a queued job that was submitted to the submit queue, and is still in the queue to which it
    // was moved for an earlier start. Returns true if the rule itself decides about the job, so that the
    // cycle doesn't consider it.
    virtual bool takes_in(JobSlot /*job*/, QueueSlot /*queue*/) { return false; }
    // Called in a cycle over all jobs when the jobs are collected, before the first is considered.
    virtual void took_in() {}

    // Called in a cycle after events, before the first job is considered. If the events change nothing for
    // the jobs that the rule wants (wants()), and a cycle would do for them what the last one did, returns
    // the last of them in the order of turns. Then take_over() does the same at once, if no other job up to
    // this one is considered; wants() returns false from then on.
    virtual JobSlot last_as_before() { return kNoSlot; }
    virtual void take_over() {}
    // Returns whether the rule needs each cycle to consider all jobs.
    virtual bool wants_every_job() const { return false; }
    // Called in a cycle after events, before the first job is skipped. Has jobs considered again that
    // earlier cycles refused because of other jobs' reservations that don't exist any more.
    virtual void settle() {}
    // Called in a cycle over all jobs, after the last job.
    virtual void end() {}
    // Called before the jobs of a class are considered again (Turns::consider_again()).
    virtual void again() {}
    // Stores data for the next cycle (EventMemory::own), and notes the instants at which the rule would
    // decide otherwise (CycleState::instants), so that the scheduler is woken then.
    virtual void remember() {}
    // Called when all is decided, before the state is put back. Stores what take_over() needs.
    virtual void leave() {}
};

struct AfterRefusalRule {
    const char* name;
    std::unique_ptr<AfterRefusal> (*make)(const CycleParts& parts);
    // Returns whether the rule has decided in an earlier cycle that the queue ignores prime time until an
    // instant after `now`. Null: the rule never decides that.
    bool (*gave_up_prime)(const OwnStates& memory, QueueHandle queue, Instant now) = nullptr;
    // describe() writes the rule's memory (SchedMemory::own) to a record, and restore() reads it back. Null:
    // the rule has no memory.
    void (*describe)(const OwnStates& memory, const Tables& tables, KeptByRules& kept) = nullptr;
    void (*restore)(OwnStates& memory, Tables& tables, const KeptByRules& kept) = nullptr;
};

}  // namespace pbs::sched
