// A filter: one test that a job has to pass before it starts in a queue.
//
// To add one: write plugins/filter/<name>.cc with an `extern const Filter k<Name>Filter`, and put it into the
// tables of the profiles that have it (profiles/), whose order is the order of the tests. The type of `check`
// declares the facts that the filter reads, and so how often it is called: once for all jobs of a signature,
// once for a user or group, or for each job. A refusal names the events that could lift it; a job whose
// refusal names none is considered in every cycle. Everything else is optional and only saves time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server_plugin/scheduler/framework/limit.h"
#include "server_plugin/scheduler/pending/blockers.h"
#include "server_plugin/scheduler/pending/job_size.h"
#include "server_plugin/scheduler/state/cycle_state.h"

namespace pbs::sched {

// The facts that a filter of owners or groups may read: the name, and the numbers of running jobs, including
// those that this cycle has started.
class OwnerUse {
  public:
    OwnerUse(const CycleState& state, std::uint32_t owner, QueueSlot queue)
        : state_(state), owner_(owner), queue_(queue) {}
    std::uint32_t id() const { return owner_; }
    std::string_view name() const { return state_.strings->text(owner_); }
    std::int64_t running_in_queue() const { return state_.counts->of_user(queue_, owner_); }
    std::int64_t running() const { return state_.counts->of_user(state_.everywhere(), owner_); }

  private:
    const CycleState& state_;
    std::uint32_t owner_;
    QueueSlot queue_;
};
class GroupUse {
  public:
    GroupUse(const CycleState& state, std::uint32_t group, QueueSlot queue)
        : state_(state), group_(group), queue_(queue) {}
    std::uint32_t id() const { return group_; }
    std::string_view name() const { return state_.strings->text(group_); }
    std::int64_t running_in_queue() const { return state_.counts->of_group(queue_, group_); }
    std::int64_t running() const { return state_.counts->of_group(state_.everywhere(), group_); }
    // Returns the node-hours of groups; null: they aren't known.
    const Allocations* allocations() const { return state_.allocations; }
    // The objects in which rules store their own data for this cycle (own_states.h).
    const OwnStates& own() const { return state_.own; }

  private:
    const CycleState& state_;
    std::uint32_t group_;
    QueueSlot queue_;
};

// The types of checks, by the facts that they read.
using OfSignature = Refusal (*)(CycleState&, const JobNeeds&, QueueView&);
using OfOwner = Refusal (*)(const OwnerUse&, const QueueFacts&);
using OfGroup = Refusal (*)(const GroupUse&, const QueueFacts&);
using OfSignatureAndUser = Refusal (*)(CycleState&, const JobNeeds&, const User&, QueueView&);
using OfJob = Refusal (*)(CycleState&, const Candidate&, const JobTable&, QueueView&);
// A Limit (limit.h) isn't a function but a row of data. It reads only the facts that its row needs.
using Check = std::variant<OfSignature, OfOwner, OfGroup, OfSignatureAndUser, OfJob, Limit>;

enum FilterTrait : unsigned {
    // The filter depends on time. A search for a later start (Lookahead) calls it before it computes the
    // amounts that will be free.
    about_time = 1,
    // The filter depends on prime time. Its refusals are lifted when a queue ignores prime time early.
    about_prime = 2,
    // The filter depends on the existing vnodes. It is also called for a job that an operator starts (qrun).
    about_room = 4,
    // The filter finds the job's place on vnodes, and stores it in the state.
    places = 16,
    // Running jobs affect the filter only by limits and vnodes, or not at all. So a reservation of an earlier
    // cycle may still hold.
    by_limits_only = 8,
    // The filter limits the running jobs of users, groups or projects.
    about_entities = 32,
    // The filter is called for each job, and its answer changes only with the configuration. A job that it
    // refuses gets its comment before the turns, and has no turn. With round_robin another job of its queue
    // has the turn instead.
    before_turns = 64,
    // The filter refuses no job of a user for whom `refuses_after` isn't 0, with a request that there was
    // when the cycle began. Searches for more chunks (select_range) call it for each of their larger
    // requests.
    by_users_only = 128,
    // The filter reads QueueView::empties, which few policies need.
    about_last_end = 256,
};

struct Filter {
    const char* name;
    const char* attributes = "";  // for explanations: the attributes that switch it on; "": always on
    unsigned traits = 0;
    Check check{};
    // Returns whether the policy switches the filter on at this instant. Null: it is always on.
    bool (*wanted)(const Settings& settings, Instant now) = nullptr;
    // Returns whether the filter lets all jobs into this queue, during this whole cycle. If so, it isn't
    // called. Null: it never does.
    bool (*is_open)(const QueueFacts& facts) = nullptr;
    // For a filter without `is_open`. Returns whether the answer about a job with a walltime is the same in
    // both queues, if it doesn't depend on the user (`refuses_after`). If so, a job that was refused in one
    // isn't tested in the other. Null: unknown.
    bool (*is_same_in)(const QueueView& a, const QueueView& b) = nullptr;
    // For a filter whose refusals have the blocker less_of(key). Returns, for that key, the largest job that
    // the filter would let pass now; nullopt: no such limit. Null: `anything` is added to the blockers of its
    // refusals.
    std::optional<JobSize> (*leaves)(const CycleState& state, const UseKey& key) = nullptr;
    // For a filter of type OfSignatureAndUser. Returns whether its answers depend on the user at present.
    // False may become true during a cycle only if a filter of owners or groups tests the user, too. Null:
    // the answers always depend on the user.
    bool (*reads_user)(const CycleState& state, const QueueView& view) = nullptr;
    // For a filter of type OfSignatureAndUser. Returns after how many starts of jobs of the same owner or
    // group it may refuse a job because of this user; 0: it may now. Users whom it can't refuse share
    // answers. Null: it may refuse jobs of any user.
    std::int64_t (*refuses_after)(CycleState& state, const User& user, const QueueView& view) = nullptr;
    // Called when the cycle starts a job; for subjobs that start together, once all of them have places.
    // Null: a start affects the filter only by the state's counts.
    void (*started)(CycleState& state, const Candidate& job) = nullptr;
    // Returns the word that SORTED_JOB_DUMPFILE shows for a job that the filter concerns; empty: it doesn't
    // concern the job. Null: there is no such word.
    std::string_view (*flag)(const Tables& tables, const Request& request) = nullptr;
    // A limit with its own counters, which vnodes have to observe while a place for the job is searched;
    // `check` may be null then.
    const OwnLimit* own_limit = nullptr;

    const Limit* limit() const { return std::get_if<Limit>(&check); }
    // Returns whether the filter lets all jobs into the queue, during this whole cycle.
    bool lets_all_pass(const QueueFacts& facts) const {
        if (const Limit* row = limit()) return row->is_open(facts);
        if (const auto* own = std::get_if<OfSignature>(&check); own != nullptr && *own == nullptr)
            return true;
        return is_open != nullptr && is_open(facts);
    }
    // Returns, for the key, the largest job that the filter would let pass now, by `leaves` or by its limit.
    std::optional<JobSize> left(const CycleState& state, const UseKey& key) const {
        if (const Limit* row = limit()) return row->left(state, key);
        return leaves != nullptr ? leaves(state, key) : std::nullopt;
    }

    bool is_of_owner() const {
        return limit() != nullptr ? limit()->is_of_owner() : std::holds_alternative<OfOwner>(check);
    }
    bool is_of_group() const {
        return limit() != nullptr ? limit()->is_of_group() : std::holds_alternative<OfGroup>(check);
    }
    bool is_of_user() const {
        if (const Limit* row = limit()) return row->is_of_owner() || row->is_of_group();
        return std::holds_alternative<OfOwner>(check) || std::holds_alternative<OfGroup>(check);
    }
    bool is_of_job() const { return std::holds_alternative<OfJob>(check); }
    // Returns whether the filter reads the user at present, and the signature as well.
    bool reads_user_of(const CycleState& state, const QueueView& view) const {
        if (limit() != nullptr) return limit()->is_of_signature_and_user();
        return std::holds_alternative<OfSignatureAndUser>(check) &&
               (reads_user == nullptr || reads_user(state, view));
    }
    // Returns false if the filter never reads the user.
    bool may_read_user() const {
        return is_of_user() || std::holds_alternative<OfSignatureAndUser>(check) ||
               (limit() != nullptr && limit()->is_of_signature_and_user());
    }
};

// Makes the filter of a limit.
consteval Filter limit_filter(const char* name, const Limit& limit, const char* attributes = "",
                              bool (*wanted)(const Settings& settings, Instant now) = nullptr) {
    limit.assert_can_be_counted();
    return {.name = name,
            .attributes = attributes,
            .traits = by_limits_only | (limit.entity == EntityKind::all ? 0U : unsigned{about_entities}) |
                      (limit.measure == Limit::Measure::available ? unsigned{about_room} : 0U),
            .check = limit,
            .wanted = wanted};
}

// Returns a job's need of each limit among these filters, in a queue. Reservations keep these amounts for a
// waiting job.
std::vector<LimitNeed> limits_of(std::span<const Filter* const> filters, const CycleState& state,
                                 const Candidate& job, const QueueView& view);

// Calls a filter whose check reads more than the signature.
Refusal ask_any_filter(const Filter& filter, CycleState& state, const JobTable& jobs, const Candidate& job,
                       QueueView& view);

// Calls a filter for one job in a queue.
inline Refusal ask_filter(const Filter& filter, CycleState& state, const JobTable& jobs, const Candidate& job,
                          QueueView& view) {
    const OfSignature* check = std::get_if<OfSignature>(&filter.check);
    if (check != nullptr && *check == nullptr) return {};
    Refusal refusal =
        check != nullptr ? (*check)(state, job, view) : ask_any_filter(filter, state, jobs, job, view);
    if (filter.leaves == nullptr && filter.limit() == nullptr && (refusal.blockers & blocker::kUses) != 0)
        refusal.blockers |= blocker::kAnything;
    return refusal;
}

// A test of a job that doesn't depend on queues. A job that fails is rejected, unless is_rejection() is false
// for the reason.
struct Admission {
    const char* name;
    const char* attributes;
    std::variant<Refusal (*)(const Settings&, const JobNeeds&), Refusal (*)(const GroupUse&)> check;
    bool (*wanted)(const Settings& settings, Instant now);
    // As Filter::started. Null: a start doesn't matter.
    void (*started)(CycleState& state, const Candidate& job) = nullptr;

    bool is_of_group() const { return check.index() == 1; }
};
Refusal ask_admission(const Admission& admission, const CycleState& state, const Candidate& job);

// The reason why a job of this queue can't start now, by the queue's execution_type. Also called for the
// queue that a job comes from.
Refusal execution_type_refusal(const CycleState& state, QueueSlot queue);

// Returns the reason why a suspended job of the queue stays suspended. REQUIRES: the queue's time_windows are
// closed.
Reason suspended_until(const CycleState& state, const QueueView& view);

// The names of the placement sets in which the job may be, in the order in which they are tried; empty:
// anywhere.
std::vector<std::string> placement_sets_of(const CycleState& state, const JobNeeds& job,
                                           const QueueView& view);

}  // namespace pbs::sched
