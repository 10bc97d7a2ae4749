// A filter: one test that a job has to pass before it starts in a queue.
//
// To add one: write plugins/filter/<name>.cc with a `const Filter k<Name>Filter`, and put it into the tables
// of the profiles that have it (profiles/), whose order is the order of the tests. The type of `check` says
// what the filter reads, and with that how often it is asked: once for all jobs of a signature, once for a
// user or group, or for each job. A refusal says what could lift it; one that doesn't say is looked at again
// in every cycle. Everything else is optional and only saves time.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "server_plugin/scheduler/framework/limit.h"
#include "server_plugin/scheduler/pending/blockers.h"
#include "server_plugin/scheduler/pending/job_size.h"
#include "server_plugin/scheduler/state/cycle_state.h"

namespace pbs::sched {

// What filters read that are asked about owners and groups: the numbers of their running jobs, those that
// were started in this cycle among them, and the name.
class OwnerUse {
  public:
    OwnerUse(const CycleState& state, std::uint32_t owner, QueueSlot queue)
        : state_(state), owner_(owner), queue_(queue) {}
    std::uint32_t id() const { return owner_; }
    std::string_view name() const { return state_.strings->text(owner_); }
    std::int64_t running_in_queue() const { return state_.counts->of_user(queue_, owner_); }
    std::int64_t running() const { return state_.counts->of_user(RunCounts::kEverywhere, owner_); }

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
    std::int64_t running() const { return state_.counts->of_group(RunCounts::kEverywhere, group_); }
    // Null: allocations aren't known.
    const Allocations* allocations() const { return state_.allocations; }
    // What rules keep for the length of the cycle.
    const OwnStates& own() const { return state_.own; }

  private:
    const CycleState& state_;
    std::uint32_t group_;
    QueueSlot queue_;
};

// The ways to ask. By what each is given:
using OfSignature = Refusal (*)(CycleState&, const JobNeeds&, QueueView&);
using OfOwner = Refusal (*)(const OwnerUse&, const QueueFacts&);
using OfGroup = Refusal (*)(const GroupUse&, const QueueFacts&);
using OfSignatureAndUser = Refusal (*)(CycleState&, const JobNeeds&, const User&, QueueView&);
using OfJob = Refusal (*)(CycleState&, const Candidate&, const JobTable&, QueueView&);
// A limit (limit.h) reads what its row says, and is asked accordingly.
using Check = std::variant<OfSignature, OfOwner, OfGroup, OfSignatureAndUser, OfJob, Limit>;

enum FilterTrait : unsigned {
    // Is about time: a look into the future asks it before it reckons what will be free then.
    about_time = 1,
    // Is about prime time: an early start of non-prime time does away with it.
    about_prime = 2,
    // Is about what there is: also asked about a job that an operator starts.
    about_room = 4,
    // Finds the job's place on vnodes, and leaves it in the state.
    places = 16,
    // Running jobs matter to the filter only through limits and the vnodes, or not at all. So a
    // reservation that an earlier cycle made can be kept.
    by_limits_only = 8,
    // Is about what users, groups or projects have running.
    about_entities = 32,
    // Of a filter of jobs whose answer only a change of the configuration changes: a job that it refuses is
    // told so before the turns, and has none. With round_robin another job of its queue has the turn.
    before_turns = 64,
};

struct Filter {
    const char* name;
    const char* attributes = "";  // that switch it on, for people; "": always on
    unsigned traits = 0;
    Check check{};
    // Does the policy switch it on at this instant? Null: always.
    bool (*wanted)(const Settings& settings, Instant now) = nullptr;
    // Does it let every job into this queue, in this whole cycle? Then it isn't asked. Null: never.
    bool (*is_open)(const QueueFacts& facts) = nullptr;
    // Of a filter of signatures without `is_open`: is its answer about a job that asks for a walltime the
    // same in both queues? Then a job that the filter refused in one of them isn't asked about in the other.
    // Null: that isn't known.
    bool (*is_same_in)(const QueueView& a, const QueueView& b) = nullptr;
    // Of a filter whose refusals are blocked by less_of(key), for that key: the most that a job may ask for
    // which it lets through now; nothing: there is no such limit. Null: `anything` is added to what blocks
    // its refusals.
    std::optional<JobSize> (*leaves)(const CycleState& state, const UseKey& key) = nullptr;
    // Of a filter of signatures and users: does the user matter now? May begin to only where a filter of
    // owners or groups is asked. Null: always.
    bool (*reads_user)(const CycleState& state, const QueueView& view) = nullptr;
    // The cycle starts a job. Null: that matters to the filter only by what the state counts.
    void (*started)(CycleState& state, const Candidate& job) = nullptr;
    // A word for people about a job that it is meant for (SORTED_JOB_DUMPFILE); empty: it isn't. Null: there
    // is none.
    std::string_view (*flag)(const Tables& tables, const Request& request) = nullptr;
    // A limit with counters of its own, which vnodes are asked about while the job is placed; `check` may be
    // null then.
    const OwnLimit* own_limit = nullptr;

    const Limit* limit() const { return std::get_if<Limit>(&check); }
    // Does it let every job into the queue, in this whole cycle?
    bool lets_all_pass(const QueueFacts& facts) const {
        if (const Limit* row = limit()) return row->is_open(facts);
        if (const auto* own = std::get_if<OfSignature>(&check); own != nullptr && *own == nullptr)
            return true;
        return is_open != nullptr && is_open(facts);
    }
    // The answer of `leaves`, or of the limit.
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
    bool reads_user_of(const CycleState& state, const QueueView& view) const {
        if (limit() != nullptr) return limit()->is_of_signature_and_user();
        return std::holds_alternative<OfSignatureAndUser>(check) &&
               (reads_user == nullptr || reads_user(state, view));
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

// Returns the limits among these filters that a job would meet in a queue, with what it needs of each.
// Reservations keep that for a job that waits.
std::vector<LimitNeed> limits_of(std::span<const Filter* const> filters, const CycleState& state,
                                 const Candidate& job, const QueueView& view);

// By the type of its check.
Refusal ask_any_filter(const Filter& filter, CycleState& state, const JobTable& jobs, const Candidate& job,
                       QueueView& view);

// Asks a filter about one job in a queue.
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

// A test of a job by itself, before any queue is asked. Who fails it is rejected, unless the reason is one of
// those that aren't (is_rejection()).
struct Admission {
    const char* name;
    const char* attributes;
    std::variant<Refusal (*)(const Settings&, const JobNeeds&), Refusal (*)(const GroupUse&)> check;
    bool (*wanted)(const Settings& settings, Instant now);
    // The cycle starts a job. Null: that doesn't matter to it.
    void (*started)(CycleState& state, const Candidate& job) = nullptr;

    bool is_of_group() const { return check.index() == 1; }
};
Refusal ask_admission(const Admission& admission, const CycleState& state, const Candidate& job);

// Why a job of this queue can't start now for the queue's execution_type; also asked of the queue that a job
// is started from.
Refusal execution_type_refusal(const CycleState& state, QueueSlot queue);

}  // namespace pbs::sched
