// The counters of a policy's quotas: the amounts that the running jobs use. They last from cycle to cycle:
// the next cycle counts only the jobs that have started, ended or changed since.
//
// Each start is charged, for each quota, to the first rule that matches the job: its user, group, project,
// queue and shape, and the vnode. A rule has one counter, or, for filters in braces, one for each combination
// of values. Rules that don't name vnodes match a job as a whole; else each vnode of the job may be charged
// to another rule, and amounts of the whole job (jobs, walltime, resources that vnodes don't have) are
// charged to the rule of its first vnode.
#pragma once

#include <absl/container/inlined_vector.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "objects/formula.h"
#include "server_plugin/scheduler/model/planning.h"
#include "server_plugin/scheduler/model/quota.h"
#include "server_plugin/scheduler/model/quota_use.h"
#include "server_plugin/scheduler/state/job_changes.h"
#include "server_plugin/scheduler/state/limits.h"
#include "server_plugin/scheduler/state/quota_vnodes.h"
#include "values/sum.h"
#include "values/tables.h"

namespace pbs::sched {

class QuotaBook {
  public:
    QuotaBook() = default;

    // The facts of a job that decide which rules match it.
    struct Subject {
        Entities whose;
        QueueSlot queue = kNoSlot;
        const Request* request = nullptr;
        Seconds walltime{-1};
    };
    // The limit that a job doesn't meet.
    struct Excess {
        std::uint32_t label = 0;  // "q1 (guests): ncpus", interned
        std::int64_t asked = 0;
        std::int64_t used = 0;
        std::int64_t most = 0;
        bool for_good = false;                // no end of a job lifts the refusal
        std::optional<EntityKind> lifted_by;  // the kind of entity whose jobs have to end
        std::optional<Instant> until;         // the next instant at which a window opens or closes
    };

    // Begins a cycle. Forgets the jobs that the last cycle counted, and counts the running jobs: those that
    // have changed since the last call; or all, if the policy or anything else by which they are counted has
    // changed. The same book may be used for several policies in turn.
    void begin_cycle(CycleState& state);
    // Returns how many running jobs begin_cycle() would count for these settings.
    std::size_t uncounted(const Settings& settings, const Tables& tables, Instant now) const;
    // Counts the running jobs for a listing of quotas, which also has the quotas that aren't enabled. Call
    // this once, instead of begin_cycle().
    void begin_to_show(CycleState& state);

    // Counts a job in (sign 1) or out (sign -1), until the next cycle begins.
    void count(const CycleState& state, const LimitUser& user, int sign);
    // Returns the first limit that keeps the job from running in [begins, ends), by the rules that match it
    // whatever vnodes it gets; empty: none does.
    std::optional<Excess> excess(const CycleState& state, const Subject& subject, Instant begins,
                                 Instant ends);
    // For each resource that the job asks for, returns the amounts asked, in use and allowed by the rules
    // that match a job that runs from now to `ends`. Where rules name vnodes, these are sums over the vnodes
    // of the pool, to which a vnode without a limit adds its own amounts.
    std::vector<Leaves> leaves(const CycleState& state, const Subject& subject, Instant ends, PoolId pool);
    // Returns a line for each limit by a formula that isn't in force for such a job, because the formula's
    // value isn't known: "quota q1 (half): ncpus isn't limited: (ncpus // 2) isn't known for vnodes=n1".
    std::vector<std::string> unknown_limits(const CycleState& state, const Subject& subject, Instant ends,
                                            PoolId pool);
    // Returns after how many starts of the owner or the group a rule may refuse a job of theirs in the queue;
    // 0: it may now. Above 0: each of their counters is theirs alone, and leaves enough. `request`: the
    // job's; null: any request that there is.
    std::int64_t refuses_after(const CycleState& state, std::uint32_t owner, std::uint32_t group,
                               QueueSlot queue, const Request* request);
    // Returns the number of chunks with these needs (by column) that a vnode may give the job, by the rules
    // that name vnodes.
    std::int64_t most(const CycleState& state, const Subject& subject, Instant begins, Instant ends,
                      VnodeSlot vnode, const Row& needs, const Placement& given);
    // Returns the first limit of rules that name vnodes that keeps the job from all these places together;
    // nullopt: none does.
    std::optional<Excess> excess_of_places(const CycleState& state, const Subject& subject, Instant begins,
                                           Instant ends, const Placement& places);
    // Describes the counter of the limit that the last refusal was about: "users=bob queues=long; counted:
    // job 12.s (2)". Jobs are only named where the counter is a user's own; else their number is given.
    std::string last_refusal(CycleState& state);
    // Returns the instant from which the limit of the last refusal holds; nullopt: it held at the start that
    // was refused.
    std::optional<Instant> refused_from() const { return refused_from_; }
    // Describes the limit of a refusal for programs, as names and values: quota, rule, of ("users=bob", once
    // for each filter in braces), resource, asked, used (of amounts that jobs use up), limit, and holds_from
    // (in seconds since the Epoch) if the limit doesn't hold yet.
    std::vector<AnswerFact> facts_of_refusal(const CycleState& state, const Reason& reason) const;
    // Adds, for each counter that counts the job, the amount that it leaves at the reservation's start, once
    // the job is counted.
    void keep(const CycleState& state, const LimitUser& user, const OwnLimit& limit,
              Reservation& reservation);
    // Returns the entity whose jobs alone count in the counters of a job of the owner and the group in the
    // queue: the owner (user) or the group. nullopt: other jobs may count, or a quota has windows.
    std::optional<EntityKind> changed_by(const CycleState& state, std::uint32_t owner, std::uint32_t group,
                                         QueueSlot queue);
    // Returns after how many starts of the owner or the group a job of theirs may need more than is `left`
    // now of the counter and limit in a key that keep() made; 0 for a counter that isn't for a user or a
    // group.
    std::int64_t exceeds_after(const CycleState& state, std::uint32_t owner, std::uint32_t group,
                               const LimitKey& key, std::int64_t left);
    // The job's use of the counter and limit in a key that keep() made.
    std::int64_t use(const CycleState& state, const LimitUser& user, const LimitKey& key);

    // The next instant at which a window of a quota opens or closes.
    std::optional<Instant> next_change(Instant now) const;

    // The counters, in the order of quotas and rules. `with_jobs`: also those that only suspended jobs
    // and those with an expected start will use. `user`: only those for this user.
    std::vector<QuotaUse> shown(CycleState& state, bool with_jobs, std::optional<std::string_view> user);

  private:
    explicit QuotaBook(std::uint32_t made) : made_(made) {}

    struct Bound {                   // a limit of a rule
        std::uint32_t what = kJobs;  // kJobs, kWalltimeAmount or a resource
        std::int64_t most = 0;
        std::string text;                           // the limit on a resource that isn't a number
        std::optional<objects::Formula> formula{};  // instead of `most`
        bool consumable = false;                    // false: the limit bounds each request alone
        bool must_equal = false;                    // a text or a boolean, which a request has to equal
        std::uint32_t column = 0;
        std::uint32_t label = 0;
        std::int64_t largest = -1;  // the most that a job asks for; below 0: not known
    };
    struct Rule {
        const objects::QuotaRule* rule = nullptr;
        std::vector<Bound> bounds;
        QuotaVnodes::Values vnodes;  // null: not asked for yet
        // Returns whether the rule has a counter for each value of this filter.
        bool counts_by(objects::QuotaSubject which) const {
            const auto& filter = rule->filter(which);
            return filter && filter->each;
        }
    };
    struct InQuota {
        std::shared_ptr<const Quota> quota;
        std::vector<Rule> rules;
    };
    // The quota, the rule, and a value for each filter in braces.
    using Key = std::array<std::uint32_t, 2 + objects::kQuotaSubjects.size()>;
    static constexpr std::size_t place_of(objects::QuotaSubject which) {
        return 2 + static_cast<std::size_t>(which);
    }
    static constexpr std::uint32_t kNoCounter = std::numeric_limits<std::uint32_t>::max();
    struct Candidate {
        std::uint32_t rule = 0;
        Key key{};
        std::uint32_t counter = kNoCounter;  // the key's counter, once a job was charged to it as a whole
    };
    // The rules of a quota that may match a job, in order; the last one matches on every vnode.
    struct Route {
        std::uint32_t quota = 0;
        std::vector<Candidate> rules;
        bool by_vnode = false;
    };
    // These have an element for each bound of a rule; most rules have one or two.
    using Sums = absl::InlinedVector<values::Sum, 2>;
    using Amounts = absl::InlinedVector<std::int64_t, 2>;
    struct Counter {
        Key key{};
        std::uint32_t group = 0;  // its number in groups_
        Sums used;
        // For quotas that look ahead: the amounts of the jobs that end at an instant.
        std::map<Instant, Sums> ends;
    };
    // Counters whose keys differ only in the vnode.
    struct CounterGroup {
        Key key{};  // of the counters, without a vnode
        std::vector<std::uint32_t> counters;
        Sums most_used;           // no counter has used more
        std::uint64_t as_of = 0;  // begun_ when `most_used` was last exact
        // The number of the largest jobs that there are for which each counter leaves enough; nullopt: not
        // computed yet.
        std::optional<std::int64_t> room{};
    };
    struct Charge {
        std::uint32_t counter = 0;
        Amounts amounts;
    };
    using Charges = absl::InlinedVector<Charge, 1>;
    // The charges of a job, as they were counted.
    struct Counted {
        Charges charges;
        Instant ends{};
        // The instant at which the planned end of a running job that goes on changes. Instant::max(): it
        // doesn't, or no quota looks ahead.
        Instant ends_until = Instant::max();
    };
    // The amounts that the chunks of a job take while a search places one after the other.
    struct Given {
        const Request* request = nullptr;
        const std::vector<Route>* routes = nullptr;
        Placement places;
        std::map<std::pair<Key, std::uint32_t>, values::Sum> taken;  // by counter and column
    };
    // The owner, group, project, queue and shapes of a job.
    using RouteKey = std::array<std::uint32_t, 5>;

    // The counters of a user and a group in a queue.
    struct Own {
        bool not_only = false;  // their jobs may count in other counters, too; `groups` is empty
        bool by_group = false;  // a counter counts all jobs of the group
        std::vector<std::uint32_t> groups;
    };
    // The amounts of a limit for one job: the amount that the job asks for, the use by others, and the
    // maximum.
    struct Balance {
        std::int64_t asked = 0;
        std::int64_t used = 0;
        std::int64_t most = 0;
    };

    // Returns whether the counters are those of these settings, apart from changes of jobs.
    bool is_for(const Settings& settings, const Tables& tables) const;
    void read_rules(const CycleState& state, bool to_show);
    void count_all(CycleState& state);
    // Counts a job that may have started, ended or changed.
    void recount(CycleState& state, JobSlot job);
    Instant ends_until(const CycleState& state, JobSlot job) const;
    using EndsMove = std::set<std::pair<Instant, JobSlot>>;
    // Returns the end of the jobs at the beginning of `ends_move_` whose planned ends have moved by `now`.
    EndsMove::const_iterator end_of_moved(Instant now) const;
    bool looks_ahead() const;
    bool is_ahead(const Counter& counter) const;
    // Adds the amounts to the counter (sign 1), or subtracts them (sign -1). `ends`: when the job ends.
    template <class Amount>
    void add(std::uint32_t counter, Instant ends, const absl::InlinedVector<Amount, 2>& amounts, int sign);
    void add(const Counted& counted, int sign) {
        for (const Charge& charge : counted.charges) add(charge.counter, counted.ends, charge.amounts, sign);
    }

    Rule& rule_of(const Key& key) { return quotas_[key[0]].rules[key[1]]; }

    const Own& own(const CycleState& state, std::uint32_t owner, std::uint32_t group, QueueSlot queue);
    Own own_counters(const CycleState& state, std::uint32_t owner, std::uint32_t group, QueueSlot queue);
    std::vector<Route>& routes(const CycleState& state, const Subject& subject);
    std::vector<Route> make_routes(const CycleState& state, const Subject& subject) const;
    std::uint32_t counter(const Key& key);
    std::uint32_t group_of(const Key& key);
    std::int64_t room_in(const CycleState& state, CounterGroup& group, const Request* request);
    const Counter* find(const Key& key) const;
    std::optional<Candidate> at_vnode(const CycleState& state, const Route& route, VnodeSlot vnode);
    static const QuotaVnodes::Answers& vnodes_of(const CycleState& state, Rule& rule);
    Charges charges(const CycleState& state, const LimitUser& user);
    // The jobs with their amounts, by counter and bound.
    using JobAmounts = std::map<std::pair<std::uint32_t, std::size_t>, std::vector<QuotaUse::Job>>;
    JobAmounts amounts_of_jobs(CycleState& state, std::optional<std::string_view> user);
    // Returns the amount that a job asks for in all its chunks. If it asks for no processors, it counts with
    // one for each chunk.
    static std::int64_t asked_in_all(const CycleState& state, const Request& request, Seconds walltime,
                                     std::uint32_t what);
    std::int64_t largest_asked(const CycleState& state, Bound& bound);
    const Given& given(const CycleState& state, const Subject& subject, const Placement& places);
    std::optional<Excess> excess_at(const CycleState& state, const Route& route, const Candidate& candidate,
                                    const Subject& subject, Instant begins, Instant binds);
    // The limit of a counter; nullopt: it has none, because a value in its formula isn't known.
    std::optional<std::int64_t> limit_of(const CycleState& state, const Key& key, std::size_t bound);
    std::int64_t used_at(const Counter* counter, std::size_t bound, Instant now, Instant at) const;
    std::optional<Balance> balance(const CycleState& state, const Candidate& candidate, std::size_t number,
                                   const Subject& subject, Instant begins, Instant binds);
    std::optional<Balance> unequal(const CycleState& state, const Key& key, std::size_t number,
                                   const Request& request);
    Excess excess_of(const Key& key, std::size_t bound, const Balance& balance, Instant now, Instant binds);
    std::string layer_name(const Route& route) const;
    std::optional<Leaves> left_on_vnodes(const CycleState& state, const Route& route, const KeptAmount& asked,
                                         Instant binds, PoolId pool);
    // resource_of() returns the resource of a limit, kNoResource for jobs; amount_text() writes an amount of
    // it.
    static std::uint32_t resource_of(const CycleState& state, const Bound& bound);
    static std::string amount_text(const CycleState& state, const Bound& bound, std::int64_t amount);
    // The values in braces that a counter is for, as {"users", "bob"}.
    std::vector<std::pair<std::string, std::string>> values_of(const CycleState& state, const Key& key) const;

    // The facts by which is_for() decides, with `read_`.
    std::vector<std::shared_ptr<const Quota>> of_;
    std::vector<std::string> excluded_;
    Planning planning_{};
    JobChanges::Position read_{};  // how far the log of running jobs was read
    Instant last_{};               // the instant of the last begin_cycle()

    values::HashMap<JobSlot, Counted> running_;  // the running jobs that are counted
    EndsMove ends_move_;                         // the jobs of `running_` that have an instant `ends_until`
    // The sums that count() has added in this cycle, by counter and end (Epoch if the quota doesn't look
    // ahead).
    values::HashMap<std::pair<std::uint32_t, std::int64_t>, Sums> this_cycle_;
    std::vector<InQuota> quotas_;
    values::NodeHashMap<RouteKey, std::vector<Route>> routes_;
    values::HashMap<Key, std::uint32_t> numbers_;
    std::vector<Counter> counters_;
    values::HashMap<Key, std::uint32_t> group_numbers_;  // by the key of the counters, without a vnode
    std::vector<CounterGroup> groups_;
    std::uint64_t begun_ = 1;  // the number of calls of begin_cycle()
    // How often the counters were made anew: keys that keep() made have this number.
    std::uint32_t made_ = 0;
    Given given_;
    // By user and group, and by queue; nullopt: not known yet. The one that was looked up last is
    // `last_own_`.
    using OwnByQueue = std::vector<std::optional<Own>>;
    values::NodeHashMap<std::pair<std::uint32_t, std::uint32_t>, OwnByQueue> own_;
    std::pair<std::uint32_t, std::uint32_t> last_of_{};
    OwnByQueue* last_own_ = nullptr;
    values::HashMap<std::uint32_t, std::int64_t> largest_;  // by Bound::what: Bound::largest
    std::uint64_t largest_of_ = 0;                          // Requests::made() of these
    Key refused_key_{};                                     // the counter and the bound of the last refusal
    std::size_t refused_bound_ = 0;
    std::optional<Instant> refused_from_;
    std::map<std::pair<Key, std::size_t>, std::optional<std::int64_t>> computed_;  // limits by formula
};

}  // namespace pbs::sched
