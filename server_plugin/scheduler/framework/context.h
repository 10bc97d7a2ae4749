// The data that the parts of a cycle share. A part is a class for one task of a cycle, such as Queues, Intake
// and Judge.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/framework/after_refusal.h"
#include "server_plugin/scheduler/framework/categories.h"
#include "server_plugin/scheduler/framework/cycle.h"
#include "server_plugin/scheduler/framework/cycle_log.h"
#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/state/explanation.h"
#include "values/tables.h"

namespace pbs::sched {

// The releases (pending_jobs.h) by the events since the last cycle: they tell which parked jobs, refused by
// earlier cycles, may start now. For the jobs that start in one list of candidate queues.
struct Released {
    std::size_t as_of = SIZE_MAX;  // CycleContext::state_number() when `list` was computed; SIZE_MAX: never
    bool missed = false;           // since then a job that the list releases was considered and didn't start
    bool everywhere = false;       // CycleContext::room_everywhere at that time
    bool settled = false;          // the reservations had been compared with those of the last cycle
    Releases list;
    // By blocker: the amounts that limits leave which aren't on users.
    std::array<JobSize, 32> left{};
    // The sizes that have room on the vnodes that became freer; and on any, once they were asked for.
    std::vector<JobSize> freed{};
    std::optional<std::vector<JobSize>> anywhere{};
    // The further releases of all users whose limits are open (OpenLimits); of each one, by owner and group,
    // with the CycleContext::state_number() at which they were computed; and of a lane that was behind.
    UserReleases of_users{};
    struct OfUser {
        std::size_t as_of = SIZE_MAX;
        UserReleases releases{};
    };
    values::HashMap<std::uint64_t, OfUser> of_user{};
    std::optional<Releases> behind{};  // of all lanes that are behind
    UserReleases of_lane{};
    // The answers about places for a request. Only ReleasedJobs::may_have_room() uses them.
    struct Room {
        bool told_by_size = false;  // the job's size tells, without a search
        // There is no place for jobs that end then or later.
        Instant none_from = Instant::max();
        // When so many jobs had started, plus 1, there was a place for jobs that end by this instant.
        std::size_t as_of = 0;
        Instant until = Instant::min();
    };
    values::HashMap<std::uint32_t, Room> room;  // by number of a request
    NoPlace no_place;                           // the same about requests without a place
    std::size_t cleared = 0;                    // CycleContext::reservations_cleared when these were found
};

// The queues that refuse all jobs of a signature until the configuration changes. Lasts from cycle to cycle.
class RefusedForGood {
  public:
    static constexpr std::size_t kMostQueues = 64;  // with more queues nothing is stored

    // Returns the bits of the signature. Bit i is set if candidate queue i refuses its jobs. Valid until the
    // next call.
    std::uint64_t& of(const Signatures& signatures, std::uint32_t signature) {
        if (signature >= known_.size()) known_.resize(signatures.size());
        QueuesOfSignature& known = known_[signature];
        if (known.serial != signatures.serial(signature)) known = {signatures.serial(signature), 0};
        return known.queues;
    }

  private:
    struct QueuesOfSignature {
        std::uint64_t serial = 0;
        std::uint64_t queues = 0;
    };
    std::vector<QueuesOfSignature> known_;  // by signature
};

// The reason why preemption of other jobs doesn't let a waiting job start.
struct NoRoomMade {
    enum class Cause : std::uint8_t {
        nothing,       // the job could start, or preemption wasn't tried
        no_lower,      // no preemptable job of a lower level runs
        not_by_room,   // the job would wait even if no job of a lower level ran, for `reason`
        by_levels,     // the job would fit, but jobs' levels rise once others are preempted (soft limits)
        tried_enough,  // a cycle's number of tries was used up
    };
    Cause why = Cause::nothing;
    Reason reason{};
};

// The queues in which a job may start, in the order of the tests.
struct CandidateQueues {
    std::vector<QueueView*> views;
    std::optional<unsigned> user_reads{};  // bits of ReadsUser; nullopt: not computed yet
    Standings standings{};
    Released released{};
    RefusedForGood refused_for_good{};

    bool empty() const { return views.empty(); }
    std::size_t size() const { return views.size(); }
    QueueView* operator[](std::size_t i) const { return views[i]; }
    auto begin() const { return views.begin(); }
    auto end() const { return views.end(); }
};

// Jobs of the same signature, user and class can't be distinguished by any filter.
struct UserCategory {
    std::uint32_t signature;
    std::uint32_t owner;
    std::uint32_t group;
    JobClass job_class;
    friend bool operator==(const UserCategory&, const UserCategory&) = default;
};
struct UserCategoryHash {
    std::size_t operator()(const UserCategory& c) const {
        std::uint64_t h = std::uint64_t{c.signature} << 3 | static_cast<std::uint64_t>(c.job_class);
        h = (h ^ (std::uint64_t{c.owner} << 32 | c.group) * 0xBF58476D1CE4E5B9ULL) * 0x9E3779B97F4A7C15ULL;
        return h ^ h >> 29;
    }
};

struct Verdict {
    Reason reason;  // why the job can't start; empty: it may start in `view`
    QueueView* view = nullptr;
    std::uint32_t starts = 0;    // the number of started jobs when the verdict was made
    std::uint32_t no_start = 0;  // Judge::no_start_known()
    std::uint32_t answer =
        UINT32_MAX;         // the index of the reason in CycleContext::answers, once a job has been given it
    Blockers blockers = 0;  // events that could lift the refusal
    bool by_user = false;   // filters of owners and groups refused, too; Category::of_user has their blockers
    bool of_job = false;    // the verdict holds for this job only
    bool rejected = false;  // the job is deleted
    bool lasting = true;    // the verdict holds whatever else starts
    bool waits = false;     // the job waits for running jobs to end
    bool crosses = false;   // the job would run into a time when it may not run
    bool later = false;     // time may lift the refusal
};

// The stored answers for a job and all jobs that filters can't distinguish from it.
struct Category {
    Verdict* verdict = nullptr;          // where the jobs' verdict is stored; null: nowhere
    const Standing* standing = nullptr;  // the refusals of the jobs' users; null: no filter reads users
    // No filter refuses because of the users, so the verdict holds for all others of whom this is true.
    bool by_signature = false;
    SignatureAnswer* of_signature = nullptr;  // one for each candidate queue; null: none are stored
    Blockers of_user = 0;                     // events that could lift the refusals of the standing
};

struct Started {
    JobSlot job;
    QueueView* view;
    Placement placement;
    Instant end;
    Seconds asked{-1};  // the walltime with which it starts; -1: it asks for none
    // The cycle has preempted jobs before this start, and the job may use their places.
    bool after_preemptions = false;
    std::uint32_t together = 0;  // Decision::together
};

// A running job that is preempted.
struct Preempted {
    JobSlot job = kNoSlot;
    JobSlot for_job = kNoSlot;
    PreemptMethods methods{};
    Placement placement{};  // the place that the job held
};

// The answer that refused jobs get.
struct Answer {
    Reason reason;
    bool rejected = false;
    std::string_view text = {};  // made when it is first needed
    // Stands for the text in comparisons: its upper 8 bits for the reason, the others for the whole text.
    std::uint32_t number = 0;
};

struct Refused {
    JobSlot job;
    std::uint32_t answer;
};

// A queue from which the policy takes jobs.
struct Source {
    QueueSlot queue = kNoSlot;
    // The class of its jobs; nullopt: normal, and overdue after some time.
    std::optional<JobClass> job_class{};
};

// The queues from which a policy takes jobs, and those in which it starts them. The set-up stays from cycle
// to cycle as long as nothing but jobs changes. Each cycle updates only the amounts in use and the members
// that depend on the time.
struct QueueSetup {
    std::deque<QueueView> views;
    CandidateQueues batch;                                    // with Origin: those of batch_queues
    std::unordered_map<QueueSlot, CandidateQueues> in_place;  // queues whose jobs start in their own queue
    std::vector<Source> sources;
    QueueSlot submit = kNoSlot;
    QueueSlot special = kNoSlot;
    std::vector<const Filter*> filters;
    // Those of `filters` whose left() may say how large a job they let pass: limits that are set for the
    // server or any queue, and other filters with a function `leaves`.
    std::vector<const Filter*> leaving;
    std::vector<const Admission*> admissions;
    // The policy for which this was set up. Null: it isn't reused.
    const Policy* policy = nullptr;
    std::uint64_t times_all = 0;  // EventsSince::times_all at the set-up
    std::uint64_t pools = 0;      // Vnodes::version() at the set-up
};

// The next job to consider in a lane (a sorted list of pending jobs, pending_jobs.h). Lanes take turns.
struct Turn {
    LaneId lane = 0;
    PendingJobs::Position at;
    std::int64_t level = 0;  // preemption level
    bool first = false;      // the job goes before all jobs that the deal orders
    bool preempted = false;
    JobClass job_class = JobClass::normal;
    std::int64_t turn = 0;   // the turn that the deal (deal.h) gives the job
    std::uint32_t rank = 0;  // the rank that the deal gives the job, among equal turns
    PendingKey key{};        // the job's key
    std::size_t as_of = 0;   // Turns::state_number() when the job was found
};
// The position of a pending job that has changed since the last cycle.
struct News {
    LaneId lane = 0;
    PendingJobs::Position at;
    friend auto operator<=>(const News&, const News&) = default;
};

// Data of a cycle that the next one reuses: the set-up of the queues, and the memory of lists. Getting the
// memory of large lists from the system each time would take a tenth of a cycle over 10,000 jobs, and a
// quarter of a cycle after a single event.
struct CycleScratch {
    QueueSetup setup;
    std::vector<Started> started;
    PlaceMap verdict_of_user;
    PlaceMap answers_of_few;
    std::vector<Turn> turns;
    std::vector<LaneId> lanes;
    std::vector<double> ratios;  // memory for Turns::ratios_
    std::vector<News> news;
    std::array<std::vector<OrderedJob>, 6> classes;  // jobs that are to be put into lanes (pending_jobs.h)
    // The pending jobs of a cycle that doesn't store them for the next one.
    PendingJobs pending;
    std::array<std::vector<std::uint32_t>, 6> verdict_of;
    std::vector<Verdict> verdicts;
    std::array<std::vector<std::uint32_t>, 12> answers_of_signature;
    std::vector<SignatureAnswer> signature_answers;
    std::vector<Refusal> signature_refusals;
    std::vector<Answer> answers;
    std::vector<Refused> refused;

    // Empties all except the set-up, and frees the memory of very large lists.
    void clear();
};

struct CycleContext {
    explicit CycleContext(const CycleInput& input);
    ~CycleContext();
    CycleContext(const CycleContext&) = delete;
    CycleContext& operator=(const CycleContext&) = delete;

    const CycleInput& in;
    std::shared_ptr<CycleScratch> scratch;
    Tables& tables;
    const Settings& settings;
    const Profile& profile;
    CycleState state;
    std::set<Instant> instants;  // the instants that may lift refusals, in a cycle without EventMemory
    // `resized`: the jobs that start with another request than their own, each with the number of its own
    // one. `own_requests`: the numbers of the requests that the cycle has made for them. At the end of the
    // cycle the jobs get their own requests back, and the cycle's requests are released.
    values::HashMap<JobSlot, std::uint32_t> resized;
    std::vector<std::uint32_t> own_requests;
    std::optional<Vnodes> fake_vnodes;  // FAKE_MACHINE_MULT
    bool test_only;

    QueueSetup& setup;
    std::deque<QueueView>& views;
    const std::vector<const Filter*>& filters;
    const std::vector<const Admission*>& admissions;

    // The rules of this cycle.
    std::vector<std::unique_ptr<AfterRefusal>> after_refusal;
    std::vector<std::unique_ptr<CycleLog>> logs;
    unsigned watched = 0;  // the traits of filters that after_refusal rules watch

    // The findings of the cycle.
    std::vector<Started>& started;
    std::vector<Refused>& refused;
    std::vector<Answer>& answers;
    std::vector<std::pair<JobSlot, QueueSlot>> moves;
    // The reasons, as texts, of subjobs that don't fit beside others of their arrays
    // (ReasonCode::subjobs_together).
    std::vector<std::string> of_next_subjobs;
    std::vector<Preempted> preempted;
    NoRoomMade no_room_made{};  // for the job that is explained
    std::int64_t considered = 0;
    std::int64_t look_aheads = 0;     // see Decisions
    std::int64_t searches_ahead = 0;  // see Decisions
    std::size_t held_up = 0;          // how often a rule has begun to hold jobs up

    bool by_events =
        false;  // a cycle after single events considers few jobs: tables of all signatures would be too large
    bool everything = false;   // all pending jobs are considered
    bool second_pass = false;  // a pass over queues that ignore prime time early

    // Blockers that events lifted for all jobs, whatever they request.
    Blockers lifted = 0;
    // True if jobs that earlier cycles refused may find places on any vnodes, and not only on those where
    // something became free.
    bool room_everywhere = false;

    // Returns the instant whose fair-share usage orders jobs. It is a whole minute, so that the order lasts
    // for a minute if nothing happens.
    Instant usage_as_of() const { return std::chrono::floor<std::chrono::minutes>(in.now); }

    std::size_t reservations_cleared = 0;  // how often all reservations were removed
    std::size_t reserved_kept = 0;         // how many of the first reservations come from an earlier cycle
    std::size_t reserved_as_before = 0;    // how many of the first ones are exactly those of the last cycle
    // The steps of searches for a later start (Lookahead) that found none. A cycle takes at most
    // kMostFailedSteps, so that it doesn't take long if there are many such jobs; a step takes some
    // microseconds.
    std::int64_t failed_steps = 0;
    static constexpr std::int64_t kMostFailedSteps = 20'000;
    bool may_look_ahead() const { return failed_steps < kMostFailedSteps; }

    // True if jobs have preemption levels, and preempt each other by them.
    bool preempts = false;
    // True if preemption levels depend on soft limits.
    bool by_soft_limits = false;
    // The preemption level of a job in a queue. `starving`: the job has waited for too long, or had when it
    // started.
    std::int64_t preempt_level(JobSlot job, bool starving) const;
    // Returns the level that the job has if it exceeds the soft limits in `traits`.
    std::int64_t preempt_level_over(JobSlot job, bool starving, unsigned traits) const;
    // Returns the soft limits that the job exceeds together with all running jobs, as bits of PreemptTrait:
    // those of its queue and of the server.
    unsigned soft_traits(JobSlot job) const;
    // Returns the soft limits that a waiting job would exceed if it ran, as bits of PreemptTrait.
    unsigned soft_traits_once_it_runs(JobSlot job) const;
    // Returns the preemption level of a job of this queue and entity. `starving`: as above; `traits`: the
    // further traits of the job, as bits of PreemptTrait.
    std::int64_t preempt_level(QueueSlot queue, std::uint32_t entity, bool starving,
                               unsigned traits = 0) const;

    // Returns a number that changes whenever less may be free than before.
    std::size_t state_number() const { return started.size() + state.reservations.size() + held_up; }
    NodeSize vnode_share() const { return state.vnode_share; }
    // Returns how many subjobs of the array start in one cycle or not at all; 1: the job starts alone.
    std::int64_t together(JobSlot job) const {
        if (tables.impatient_until.empty() || !settings.immediate) return 1;
        const auto known = tables.impatient.find(job);
        if (known == tables.impatient.end() || known->second.together == 0) return 1;
        const std::int64_t most = settings.max_run_subjobs;
        return most > 0 ? std::min(most, known->second.together) : known->second.together;
    }
    ReasonContext reason_context() const {
        return {tables.zone,     tables.jobs,   tables.queues, tables.resources,        tables.strings,
                tables.requests, *state.vnodes, vnode_share(), state.reserved_resources};
    }
    // Returns an answer in words, for a job's comment.
    std::string text_of(const Answer& answer) const;
    // Sets the members of the state that follow from its time (CycleState::now), except those of queues
    // (Queues::set_time()).
    void set_clock();
    // For each resource whose amount a program of server_dyn_res reports: stores how much the started jobs
    // have taken of it, until the program's next report.
    void keep_what_was_taken();
    // Returns the order of vnodes. `place`: the element of node_sort_key_of_place that the job's place
    // matches; null: none.
    NodeKeys node_keys(const KeysOfPlace* place = nullptr) const;
    // Returns whether any order of vnodes changes as jobs start and end.
    bool order_moves() const;
    std::int64_t nodes_of(JobSlot job) const { return job_nodes(tables, settings, job); }
    // Returns the job's number of nodes, as comparators use it.
    std::uint32_t nodes_of_ordered(JobSlot job) const;
    Candidate candidate(const OrderedJob& job) const;
    // Sets the time for which the job is planned in a queue. A job without a walltime gets default_duration,
    // at most the queue's maximum.
    void set_walltime(Candidate& job, const QueueView& view) const;
    Seconds time_unasked(const JobNeeds& job) const;
    // Adds a running job to limits with counters of their own, or removes it (sign -1). `is_first`: it runs
    // as the cycle begins.
    void count_own(JobSlot job, int sign, bool is_first = false);
    Refusal check(const Filter& filter, const Candidate& job, QueueView& view) {
        return ask_filter(filter, state, tables.jobs, job, view);
    }
    Reason not_started_reason(QueueSlot home) const;
    // Returns the reason of a rule after refusals why no further job of the queue starts; empty: jobs may
    // start.
    Reason held_up_reason(const QueueView* view) const;
    bool is_held_up(const QueueView& view) const { return static_cast<bool>(held_up_reason(&view)); }
    // Refuses a job for a reason that needs no filter.
    void refuse(JobSlot job, const Reason& reason);
    // is_unserved() returns whether the queue's partition has no scheduler. The other functions refuse such a
    // queue's jobs, which would otherwise wait without a comment.
    bool is_unserved(const Queue& queue) const;
    void refuse_if_unserved(JobSlot job);
    void refuse_unserved();

  private:
    void set_up_state();
    void count_running();
    void count_own_limits();
    void add_told_amount(const std::string& element);
    bool soft_limits_matter() const;
    bool has_levels() const;
};

// The base class of a cycle's parts, with short names for shared data.
class CyclePart {
  protected:
    explicit CyclePart(CycleContext& context)
        : c_(context),
          in_(context.in),
          t_(context.tables),
          s_(context.settings),
          p_(context.profile),
          state_(context.state),
          views_(context.views),
          started_(context.started) {}
    ~CyclePart() = default;
    CyclePart(const CyclePart&) = delete;
    CyclePart& operator=(const CyclePart&) = delete;

    CycleContext& c_;
    const CycleInput& in_;
    Tables& t_;
    const Settings& s_;
    const Profile& p_;
    CycleState& state_;
    std::deque<QueueView>& views_;
    std::vector<Started>& started_;
};

}  // namespace pbs::sched
