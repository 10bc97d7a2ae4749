#include "server_plugin/scheduler/framework/filter.h"

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
            [&](OfOwner check) {
                return check(OwnerUse(state, job.user.owner, view.slot), Opening::of(state, view));
            },
            [&](OfGroup check) {
                return check(GroupUse(state, job.user.group, view.slot), Opening::of(state, view));
            },
            [&](OfSignatureAndUser check) { return check(state, job, job.user, view); },
            [&](OfJob check) { return check(state, job, jobs, view); },
        },
        filter.check);
}

Refusal ask_admission(const Admission& admission, const CycleState& state, const Candidate& job) {
    return std::visit(
        Overloaded{
            [&](Refusal (*check)(const Settings&, const Asked&)) { return check(*state.settings, job); },
            [&](Refusal (*check)(const GroupUse&)) {
                return check(GroupUse(state, job.user.group, kNoSlot));
            },
        },
        admission.check);
}

}  // namespace pbs::sched
