// quotas of the policy: limits on what running jobs use together, by rules. Rules that name vnodes are
// checked during the search for a place, the others here.

#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/state/quota_book.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {
namespace {

QuotaBook& book_of(CycleState& state) {
    auto& book = state.own.of<QuotaBook>();
    if (!book.has_begun()) book.begin(state);
    return book;
}

QuotaBook::Subject subject_of(const JobNeeds& job, const User& user, const QueueView& view) {
    return {entities_of(job, user), view.slot, job.request, job.asked};
}

Reason reason_of(const QuotaBook::Excess& excess, const QueueView& view) {
    const bool never = excess.for_good && !excess.until;
    return {never ? ReasonCode::above_quota : ReasonCode::over_quota,
            view.slot,
            excess.label,
            excess.asked,
            excess.used,
            excess.most};
}

Refusal refusal_of(const QuotaBook::Excess& excess, const Entities& whose, const QueueView& view) {
    Refusal refusal = Refusal::for_good(reason_of(excess, view));
    if (!excess.for_good)
        refusal.blockers =
            blocker::less_of({UseScope::server, *excess.lifted_by, 0, whose.of(*excess.lifted_by)});
    refusal.until = excess.until;
    return refusal;
}

Refusal check_quota(CycleState& state, const JobNeeds& job, const User& user, QueueView& view) {
    const QuotaBook::Subject subject = subject_of(job, user, view);
    const auto excess = book_of(state).excess(state, subject, state.now, state.ends(job));
    return excess ? refusal_of(*excess, subject.whose, view) : Refusal{};
}

const OwnLimit kQuotaLimit{
    .words = "Not Running: Quotas leave too little on the vnodes with room",
    .entity = EntityKind::all,
    .binds_vnodes =
        [](const Settings& s) {
            return std::ranges::any_of(s.quotas, [](const auto& quota) {
                return quota->enabled && quota->names(objects::QuotaSubject::vnodes);
            });
        },
    .until = [](CycleState& state) { return book_of(state).next_change(state.now); },
    .most =
        [](CycleState& state, const JobNeeds& job, const User& user, const QueueView& view, VnodeSlot vnode,
           const Row& needs, const Placement& given) {
            return book_of(state).most(state, subject_of(job, user, view), state.now, state.ends(job), vnode,
                                       needs, given);
        },
    .check = [](CycleState& state, const JobNeeds& job, const User& user, const QueueView& view,
                const Placement& places) -> Reason {
        const auto excess = book_of(state).excess_of_places(state, subject_of(job, user, view), state.now,
                                                            state.ends(job), places);
        return excess ? reason_of(*excess, view) : Reason{};
    },
    .details = [](CycleState& state, const Reason& reason) -> std::string {
        if (reason.code != ReasonCode::over_quota && reason.code != ReasonCode::above_quota) return {};
        return book_of(state).last_refusal(state);
    },
    .leaves = [](CycleState& state, const JobNeeds& job, const User& user,
                 const QueueView& view) { return book_of(state).leaves(state, subject_of(job, user, view)); },
    .count = [](CycleState& state, const LimitUser& user,
                int sign) { book_of(state).count(state, user, sign); },
    .keep = [](CycleState& state, const LimitUser& user,
               Reservation& reservation) { book_of(state).keep(state, user, kQuotaLimit, reservation); },
    .may_exceed =
        [](CycleState& state, const User& user, const LimitKey& key, std::int64_t left) {
            return book_of(state).may_exceed(state, user.owner, user.group, key, left);
        },
    .use = [](CycleState& state, const LimitUser& user,
              const LimitKey& key) { return book_of(state).use(state, user, key); }};

}  // namespace

extern const Filter kQuotaFilter;
const Filter kQuotaFilter{.name = "quota",
                          .attributes = "quotas",
                          .traits = about_entities,
                          .check = check_quota,
                          .wanted = [](const Settings& s, Instant) { return !s.quotas.empty(); },
                          .leaves = [](const CycleState&, const UseKey& key) -> std::optional<JobSize> {
                              if (key.scope == UseScope::server) return kAnySize;
                              return std::nullopt;
                          },
                          .may_refuse =
                              [](CycleState& state, const User& user, const QueueView& view) {
                                  return book_of(state).may_refuse(state, user.owner, user.group, view.slot);
                              },
                          .own_limit = &kQuotaLimit};

}  // namespace pbs::sched
