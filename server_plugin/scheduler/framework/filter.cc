#include "server_plugin/scheduler/framework/filter.h"

#include <algorithm>

namespace pbs::sched {
namespace {

template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

Refusal ask_any_filter(const Filter& filter, CycleState& state, const JobTable& jobs, const Candidate& job,
                       QueueView& view) {
    return std::visit(
        Overloaded{
            [&](OfSignature check) { return check(state, job, view); },
            [&](OfOwner check) { return check(OwnerUse(state, job.user.owner, view.slot), view.facts); },
            [&](OfGroup check) { return check(GroupUse(state, job.user.group, view.slot), view.facts); },
            [&](OfSignatureAndUser check) { return check(state, job, job.user, view); },
            [&](OfJob check) { return check(state, job, jobs, view); },
            [&](const Limit& limit) { return limit.check(state, job, job.user, view); },
        },
        filter.check);
}

std::vector<LimitNeed> limits_of(std::span<const Filter* const> filters, const CycleState& state,
                                 const Candidate& job, const QueueView& view) {
    std::vector<LimitNeed> needs;
    for (const Filter* filter : filters)
        if (const Limit* limit = filter->limit()) limit->add_needs(state, job, job.user, view, needs);
    // Put the limits of views (queues of the cycle) first. If several limits refuse a job because of a drain,
    // its reason is then that the queue is drained.
    std::stable_partition(needs.begin(), needs.end(),
                          [](const LimitNeed& need) { return need.key.use.scope == UseScope::view; });
    return needs;
}

Refusal ask_admission(const Admission& admission, const CycleState& state, const Candidate& job) {
    return std::visit(
        Overloaded{
            [&](Refusal (*check)(const Settings&, const JobNeeds&)) { return check(*state.settings, job); },
            [&](Refusal (*check)(const GroupUse&)) {
                return check(GroupUse(state, job.user.group, kNoSlot));
            },
        },
        admission.check);
}

}  // namespace pbs::sched
