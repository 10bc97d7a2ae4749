// Rules for jobs that were refused and may start later: room is reserved for the job, it holds up those
// behind it, or queues are opened for it.
//
// To add one: write plugins/after_refusal/<name>.cc with a class derived from AfterRefusal, which lives for
// one cycle and may keep data, and a `const AfterRefusalRule k<Name>AfterRefusal`; put that into the table of
// the profiles that have it.
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

// The parts of a cycle that such a rule works with. They live as long as the cycle.
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

    // Called after the refusal of a job that waits for others to end or for a time to come. No event wakes
    // the scheduler when a job that waited for others would run into such a time (Verdict::crosses), so a
    // rule that holds up others treats both alike.
    virtual void refused(const OrderedJob& /*job*/, Verdict& /*verdict*/, CandidateQueues& /*queues*/) {}
    // Makes room for a refused job. Returns the queue in which the job starts now, with its place in the
    // state; null: it waits. Adds to the blockers the events that could change that, beside those of the
    // refusal.
    virtual QueueView* makes_room(const OrderedJob& /*job*/, Candidate& /*candidate*/, Blockers& /*blockers*/,
                                  CandidateQueues& /*queues*/) {
        return nullptr;
    }
    // Would the refusal of the next job of the class in these queues matter to the jobs behind it? If not,
    // a cycle after events passes over jobs that no event released.
    virtual bool wants(const CandidateQueues& /*queues*/, JobClass /*job_class*/) const { return false; }
    // Returns the reason why no further job of the queue starts in this cycle; no reason: jobs may start. A
    // null view stands for jobs that may start in no queue. A rule that begins to hold jobs up counts that in
    // CycleContext::held_up.
    virtual Reason holds_up(const QueueView* /*view*/) const { return {}; }
    // Called after a filter refused a job in a queue, if the filter has one of the traits in `watched`.
    unsigned watched = 0;
    virtual void was_refused(const Candidate& /*job*/, QueueView& /*view*/) {}
    // Can refusals differ by user, though no filter reads the user?
    virtual bool tells_users_apart() const { return false; }

    // Called for a job of the submit queue that is found in another queue, to which it was moved for a
    // start. True: the rule decides about the job, and the cycle doesn't look at it.
    virtual bool takes_in(JobSlot /*job*/, QueueSlot /*queue*/) { return false; }
    // Called in a cycle over all jobs once the jobs are collected, before the first is looked at.
    virtual void took_in() {}

    // Does the rule need a cycle over all jobs, whatever happened?
    virtual bool wants_every_job() const { return false; }
    // Called in a cycle after events, before any job is looked at (begin), and before the first job that is
    // passed over (settle): releases jobs that earlier cycles refused for the sake of jobs that have nothing
    // reserved now.
    virtual void begin() {}
    virtual void settle() {}
    // Called in a cycle over all jobs, after the last job.
    virtual void end() {}
    // Called before the jobs of a class are gone through once more (Turns::consider_again()).
    virtual void again() {}
    // Leaves to the next cycle what it has to know (EventMemory::own), and notes the instants at which it
    // would decide otherwise (CycleState::instants): the scheduler is woken for them.
    virtual void remember() {}
};

struct AfterRefusalRule {
    const char* name;
    std::unique_ptr<AfterRefusal> (*make)(const CycleParts& parts);
    // Did the rule decide earlier that a queue gives up prime time, and until later than `now`? Null: never.
    bool (*gave_up_prime)(const OwnStates& memory, QueueSlot queue, Instant now) = nullptr;
    // Describe the rule's memory (SchedMemory::own) for a record, and restore it from one. Null: there is
    // nothing to keep.
    void (*describe)(const OwnStates& memory, const Tables& tables, KeptByRules& kept) = nullptr;
    void (*restore)(OwnStates& memory, Tables& tables, const KeptByRules& kept) = nullptr;
};

}  // namespace pbs::sched
