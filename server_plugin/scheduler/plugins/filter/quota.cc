// quotas of the policy: limits on what running jobs use together, by rules. Rules that name vnodes are
// checked during the search for a place, the others here.

#include <fmt/format.h>

#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/state/quota_book.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {
namespace {

// The book that a cycle uses; null: there is none yet.
struct CycleBook {
    std::shared_ptr<QuotaBook> book{};
};
// The book that lasts from cycle to cycle; null: there is none yet.
struct KeptBook {
    std::shared_ptr<QuotaBook> book{};
};

// Returns whether the book lasts from cycle to cycle. The book of a larger machine that is only assumed
// (fake_machine_mult) doesn't last, because the vnodes of that machine have other amounts.
bool lasts(const CycleState& state) {
    return state.sums != nullptr && state.vnodes == &state.tables->vnodes;
}

QuotaBook& book_of(CycleState& state) {
    auto& own = state.own.of<CycleBook>().book;
    if (own) return *own;
    if (lasts(state)) {
        auto& kept = state.sums->of<KeptBook>().book;
        if (!kept) kept = std::make_shared<QuotaBook>();
        own = kept;
    } else {
        own = std::make_shared<QuotaBook>();
    }
    own->begin_cycle(state);
    return *own;
}

bool is_of_quota(const Reason& reason) {
    return reason.code == ReasonCode::over_quota || reason.code == ReasonCode::above_quota;
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

// Returns whether a rule of the quotas names vnodes.
bool names_vnodes(const Settings& s) {
    return std::ranges::any_of(s.quotas, [](const auto& quota) {
        return quota->enabled && quota->names(objects::QuotaSubject::vnodes);
    });
}

const OwnLimit kQuotaLimit{
    .words = "Not Running: Quotas leave too little on the vnodes with room",
    .entity = EntityKind::all,
    .finds_running = true,
    .uncounted = [](const Settings& settings, const Tables& tables, const OwnStates& sums,
                    Instant now) -> std::size_t {
        const KeptBook* const kept = sums.find<KeptBook>();
        if (kept == nullptr || !kept->book) return static_cast<std::size_t>(tables.running);
        return kept->book->uncounted(settings, tables, now);
    },
    .begin_cycle = [](CycleState& state) { book_of(state); },
    .binds_vnodes = names_vnodes,
    .counts_vnodes = names_vnodes,
    .refuses_after = [](CycleState& state, const JobNeeds* job, const User& user,
                        const QueueView& view) -> std::int64_t {
        return book_of(state).refuses_after(state, user.owner, user.group, view.slot,
                                            job != nullptr ? job->request : nullptr);
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
        if (!is_of_quota(reason)) return {};
        QuotaBook& book = book_of(state);
        std::string text = book.last_refusal(state);
        if (const auto from = book.refused_from())
            text += fmt::format("{}holds from {}", text.empty() ? "" : "; ",
                                ctime_text(*from, state.tables->zone));
        return text;
    },
    .facts = [](CycleState& state, const Reason& reason) -> std::vector<AnswerFact> {
        if (!is_of_quota(reason)) return {};
        return book_of(state).facts_of_refusal(state, reason);
    },
    .leaves =
        [](CycleState& state, const JobNeeds& job, const User& user, const QueueView& view) {
            return book_of(state).leaves(state, subject_of(job, user, view), state.ends(job), view.pool);
        },
    .notes =
        [](CycleState& state, const JobNeeds& job, const User& user, const QueueView& view) {
            return book_of(state).unknown_limits(state, subject_of(job, user, view), state.ends(job),
                                                 view.pool);
        },
    .count = [](CycleState& state, const LimitUser& user,
                int sign) { book_of(state).count(state, user, sign); },
    .keep = [](CycleState& state, const LimitUser& user,
               Reservation& reservation) { book_of(state).keep(state, user, kQuotaLimit, reservation); },
    .exceeds_after =
        [](CycleState& state, const User& user, const LimitKey& key, std::int64_t left) {
            return book_of(state).exceeds_after(state, user.owner, user.group, key, left);
        },
    .changed_by = [](CycleState& state, const User& user,
                     const QueueView& view) -> std::optional<EntityKind> {
        // A book that doesn't last numbers its counters anew in each cycle, so keys of counters can't be
        // kept.
        if (!lasts(state)) return std::nullopt;
        return book_of(state).changed_by(state, user.owner, user.group, view.slot);
    },
    .use = [](CycleState& state, const LimitUser& user,
              const LimitKey& key) { return book_of(state).use(state, user, key); },
    .gives = is_of_quota};

}  // namespace

extern const Filter kQuotaFilter{
    .name = "quota",
    .attributes = "quotas",
    .traits = about_entities | by_users_only,
    .check = check_quota,
    .wanted = [](const Settings& s, Instant) { return !s.quotas.empty(); },
    .leaves = [](const CycleState&, const UseKey& key) -> std::optional<JobSize> {
        if (key.scope == UseScope::server) return kAnySize;
        return std::nullopt;
    },
    .refuses_after =
        [](CycleState& state, const User& user, const QueueView& view) {
            return book_of(state).refuses_after(state, user.owner, user.group, view.slot, nullptr);
        },
    .own_limit = &kQuotaLimit};

}  // namespace pbs::sched
