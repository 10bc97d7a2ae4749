// Rules (filters, turns, and orders) that no profile of this project uses, but a site could write. The tests
// with random sites add them to profiles.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "server_plugin/scheduler/framework/context.h"
#include "server_plugin/scheduler/framework/profile.h"
#include "tests/scheduler/toy_quota.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {

// Refuses jobs while four jobs run. It doesn't say which event lifts the refusal.
inline Refusal check_few_jobs(CycleState& state, const JobNeeds&, QueueView& view) {
    if (state.running < 4) return {};
    return {{ReasonCode::other, view.slot, state.strings->id("Four jobs are running")}};
}
inline const Filter kFewJobs{.name = "few_jobs", .check = check_few_jobs};

// Refuses jobs in the second half of each hour, and says until when.
inline Refusal check_half_hours(CycleState& state, const JobNeeds&, QueueView& view) {
    const auto hour = std::chrono::floor<std::chrono::hours>(state.now);
    if (state.now - hour >= Seconds(30 * kMinute)) return {};
    return Refusal::until_instant({ReasonCode::other, view.slot, state.strings->id("Half an hour")},
                                  hour + Seconds(30 * kMinute));
}
inline const Filter kHalfHours{.name = "half_hours", .check = check_half_hours};

// The rule of kHalfHours, marked as one about time: a look ahead checks it before it computes free amounts.
inline const Filter kHalfHoursFirst{
    .name = "half_hours_first", .traits = about_time, .check = check_half_hours};

// Refuses a job of negative priority while two jobs run: a rule that reads the job's own attributes.
inline Refusal check_priority(CycleState& state, const Candidate& job, const JobTable& jobs,
                              QueueView& view) {
    if (jobs.priority[job.job] >= 0 || state.running < 2) return {};
    return {{ReasonCode::other, view.slot, state.strings->id("Two jobs are running")}};
}
inline const Filter kPriority{.name = "priority", .check = check_priority};

// Refuses a job while two jobs of its owner run. It says which event lifts the refusal, but not how many more
// jobs the limit allows.
inline Refusal check_second_job(const OwnerUse& owner, const QueueFacts& o) {
    if (owner.running() < 2) return {};
    return Refusal::for_less_of({ReasonCode::queue_run_user, o.slot, 0, 2},
                                {UseScope::server, EntityKind::user, 0, owner.id()});
}
inline const Filter kSecondJob{.name = "second_job", .check = check_second_job};

// Refuses a long job while three jobs run, if two of these are of the job's group.
inline Refusal check_large_of_group(CycleState& state, const JobNeeds& job, const User& user,
                                    QueueView& view) {
    if (job.walltime < Seconds(2 * kHour) || state.running < 3) return {};
    if (state.counts->of_group(state.everywhere(), user.group) < 2) return {};
    return {{ReasonCode::other, view.slot, state.strings->id("Two jobs of the group are running")}};
}
inline const Filter kLargeOfGroup{.name = "large_of_group", .check = check_large_of_group};

// A limit of two running jobs of a user, defined as a row of limit_filter().
inline const Filter kTwoJobs =
    limit_filter("two_jobs", {.entity = EntityKind::user,
                              .most = [](const QueueFacts&) -> std::int64_t { return 2; },
                              .words = "Not Running: User has two jobs running"});

inline const Filter* const kFurtherRules[] = {&kFewJobs,   &kHalfHours,    &kHalfHoursFirst, &kPriority,
                                              &kSecondJob, &kLargeOfGroup, &kTwoJobs,        &kToyQuota};

// Gives queues turns in the reverse order of their creation.
inline const Deal kLastQueue{
    .name = "last_queue",
    .wanted = [](const Settings&, Instant) { return true; },
    .begin = [](const DealContext&,
                const DealtLane& lane) { return -static_cast<std::int64_t>(lane.queue); }};
// Gives users turns in the reverse order of their owner numbers. A long job counts as three turns.
inline const Deal kLastUser{
    .name = "last_user",
    .wanted = [](const Settings&, Instant) { return true; },
    .of_users = true,
    .begin = [](const DealContext& c,
                const DealtLane& lane) { return -static_cast<std::int64_t>(c.jobs.owner[lane.first]); },
    .charge = [](const Settings&, const JobTable& jobs, const OrderedJob& job) -> std::int64_t {
        return jobs.walltime[job.job] > Seconds(kHour) ? 3 : 1;
    }};
// Gives the groups in a queue turns. In each turn a group starts one job.
inline const Deal kGroupsInTurn{
    .name = "groups_in_turn",
    .wanted = [](const Settings&, Instant) { return true; },
    .part = [](const JobTable& jobs, JobSlot job) { return jobs.group[job]; },
    .begin = [](const DealContext&, const DealtLane&) -> std::int64_t { return 0; },
    .charge = [](const Settings&, const JobTable&, const OrderedJob&) -> std::int64_t { return 1; }};
inline const Deal* const kFurtherDeals[] = {&kLastQueue, &kLastUser, &kGroupsInTurn};

// A rule for refused jobs: a waiting job of two CPUs or more holds up the other jobs of its first queue.
class HoldQueue final : public AfterRefusal {
  public:
    explicit HoldQueue(const CycleParts& parts) : context_(parts.context) {}
    void refused(const OrderedJob& job, Verdict& verdict, CandidateQueues& queues) override {
        const Request& request = context_.tables.requests[context_.tables.jobs.request[job.job]];
        if (queues.empty() || !(verdict.waits || verdict.crosses) || holds_up(queues[0])) return;
        if (number_of(request.totals, context_.tables.resources.known().ncpus).value_or(0) < 2) return;
        held_.push_back(queues[0]->number);
        ++context_.held_up;
    }
    bool wants(const CandidateQueues& queues, JobClass) const override {
        return !queues.empty() && !holds_up(queues[0]);
    }
    Reason holds_up(const QueueView* view) const override {
        if (view == nullptr || std::ranges::find(held_, view->number) == held_.end()) return {};
        return {ReasonCode::other, view->slot, context_.tables.strings.id("A large job waits")};
    }

  private:
    CycleContext& context_;
    std::vector<std::uint32_t> held_;
};
inline const AfterRefusalRule kHoldQueue{"hold_queue",
                                         [](const CycleParts& parts) -> std::unique_ptr<AfterRefusal> {
                                             return std::make_unique<HoldQueue>(parts);
                                         }};

// Tries the vnodes with the least memory first.
inline const NodeOrder kLeastMemory{"least_memory", [](const Settings&, const Resources& resources) {
                                        return NodeKeys{{resources.known().mem, false}};
                                    }};

// Tries the vnodes with the most unused CPUs first.
inline const NodeOrder kMostFree{"most_free", [](const Settings&, const Resources& resources) {
                                     return NodeKeys{{resources.known().ncpus, true, SortAmount::unused}};
                                 }};

}  // namespace pbs::sched::test
