// The inside of a cycle: one object, made for one cycle. Its parts are in the files cycle*.cc beside this
// one, in plugins/after_refusal/ and in explain/.
#pragma once

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
#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/future/resource_schedule.h"
#include "server_plugin/scheduler/state/explanation.h"

namespace pbs::sched {

enum class ScheduleState : std::uint8_t;  // schedule_log.h

// What events released of the jobs that start in some queues.
struct Released {
    std::size_t as_of = SIZE_MAX;  // Cycle::state_number() when it was found out; the largest: it wasn't
    bool vain = false;             // a job of it has not started since
    Releases list;
    // Of less use by single users and groups, which their jobs alone may wait for.
    struct OfUser {
        UseKey key;
        JobSize most;
    };
    std::vector<OfUser> of_users{};
    Releases with_users{};  // both
    // Of requests, how many jobs had been started when there was room for them, and 1; 0: there is none.
    std::unordered_map<std::uint32_t, std::size_t> room;
};

// The queues that a job may start in, in the order in which they are asked.
struct Targets {
    std::vector<QueueView*> views;
    std::optional<unsigned> user_reads{};  // ReadsUser, once it has been looked at
    Standings standings{};
    Released released{};

    bool empty() const { return views.empty(); }
    std::size_t size() const { return views.size(); }
    QueueView* operator[](std::size_t i) const { return views[i]; }
    auto begin() const { return views.begin(); }
    auto end() const { return views.end(); }
};

// What all jobs of a user have in common that no filter of signatures can tell apart.
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
    Reason reason;  // nothing: it may start in `view`
    QueueView* view = nullptr;
    std::uint32_t starts = 0;           // how many had been started when it was made
    std::uint32_t no_start = 0;         // no_start_known()
    std::uint32_t answer = UINT32_MAX;  // its place in answers_, once a job was given it
    Blockers blockers = 0;              // what could lift it,
    bool by_user = false;               // and that of the filters of owners and groups
    bool of_job = false;                // holds for this job only
    bool rejected = false;
    bool lasting = true;   // holds whatever else is started
    bool waits = false;    // for running jobs to end
    bool crosses = false;  // it would run into a time when it may not
    bool later = false;    // time may lift it
};

// What is known of jobs like one, and where the answer for them is kept: null, nothing is.
struct Category {
    Verdict* verdict = nullptr;
    const Standing* standing = nullptr;       // null: no filter reads the user
    SignatureAnswer* of_signature = nullptr;  // by target
    Blockers of_user = 0;                     // what could lift the refusals of the standing
};

struct Started {
    JobSlot job;
    QueueView* view;
    Placement placement;
    Instant end;
};

// What jobs are told that don't start.
struct Answer {
    Reason reason;
    bool rejected = false;
    std::string_view text = {};  // once it was wanted
    std::uint32_t number = 0;    // of the text; its upper half is that of its kind: all but the amounts
};

struct Refused {
    JobSlot job;
    std::uint32_t answer;
};

// A queue that jobs are taken from.
struct Source {
    QueueSlot queue = no_slot;
    // Of its jobs; nothing: they are normal ones, and overdue ones after some time.
    std::optional<JobClass> job_class{};
};

// The queues that a policy takes jobs from and starts them in. They are the same in the next cycle as long as
// nothing but jobs changes, but for what jobs use of them and the time.
struct QueueSetup {
    std::deque<QueueView> views;
    Targets batch;                                    // origin: batch_queues
    std::unordered_map<QueueSlot, Targets> in_place;  // queues whose jobs start where they are
    std::vector<Source> sources;
    QueueSlot submit = no_slot;
    QueueSlot special = no_slot;
    std::vector<const Filter*> filters;
    std::vector<const Admission*> admissions;
    // What it was made from. Null: it isn't kept.
    const Policy* policy = nullptr;
    std::uint64_t times_all = 0;  // EventsSince
    std::uint64_t pools = 0;      // Vnodes::version()
};

// Of a lane, the next job that is to be looked at.
struct Turn {
    LaneId lane = 0;
    PendingJobs::Position at;
    std::int64_t turn = 0;  // of its deal,
    std::uint32_t rank = 0;
    PendingKey key{};
    std::size_t as_of = 0;  // Cycle::state_number() when it was found
};
// A job that changed.
struct News {
    LaneId lane = 0;
    PendingJobs::Position at;
    friend auto operator<=>(const News&, const News&) = default;
};

// What a cycle leaves to the next one: how the queues are set up, and the memory of its lists. Taking that
// for large lists from the system each time is a tenth of a cycle over 10,000 jobs, and a quarter of one
// after a single event.
struct CycleScratch {
    QueueSetup setup;
    std::vector<Started> started;
    PlaceMap verdict_of_user;
    PlaceMap answers_of_few;
    std::vector<Turn> turns;
    std::vector<LaneId> lanes;
    std::vector<News> news;
    std::array<std::vector<OrderedJob>, 6> classes;  // jobs that are put into lanes
    PendingJobs pending;                             // of a cycle that keeps no lanes
    std::array<std::vector<std::uint32_t>, 6> verdict_of;
    std::vector<Verdict> verdicts;
    std::array<std::vector<std::uint32_t>, 6> answers_of_signature;
    std::vector<SignatureAnswer> signature_answers;
    std::vector<Answer> answers;
    std::vector<Refused> refused;

    // Empties all but the set-up; of what is very large the memory is given back.
    void clear();
};

class Cycle {
  public:
    explicit Cycle(const CycleInput& input);
    ~Cycle();
    Cycle(const Cycle&) = delete;
    Cycle& operator=(const Cycle&) = delete;
    Decisions run();
    // The cycle that cycle_events.cc is about. False: nothing was decided, run() is needed (of another
    // Cycle).
    bool run_events(Decisions& out);
    void explain();
    Decisions place(JobSlot job);

    // For rules after refusals (framework/after_refusal.h).
    void drain_if_wanted(const OrderedJob& job, Verdict& verdict, Targets& targets);
    bool is_drained_for(JobClass job_class) const;
    void release_drained();
    void help_top_job(const OrderedJob& job, Verdict& verdict, Targets& targets);
    bool may_help_next(const Targets& targets, JobClass job_class) const;
    void release_for_top_jobs();

  private:
    void collect_jobs();
    void consider_all();
    void take_back();

    // Setting up.
    void set_up_state();
    void set_up_time();
    void count_running();
    Targets views_of(const std::vector<QueueSpec>& specs, bool dedicated);
    QueueView* make_view(QueueSlot slot, std::uint32_t host, bool dedicated);
    void set_dedicated_time(QueueView& view) const;
    void set_windows(QueueView& view) const;
    void set_time(QueueView& view) const;
    bool is_early(const QueueView& view) const;
    void fill_view(QueueView& view);
    void renew_view(QueueView& view);
    void count_into(QueueView& view, JobSlot job, int sign) const;
    std::int64_t node_limit(const Queue& queue) const;
    std::int64_t nodes_of(JobSlot job) const;
    NodeSize vnode_share() const { return state_.vnode_share; }

    // Classify and order.
    std::vector<QueueSpec> dedicated_queues() const;
    void refuse_unserved();
    bool is_unserved(const Queue& queue) const;
    void refuse_if_unserved(JobSlot job);
    void set_up_queues();
    void add_named_queues();
    void add_every_queue();
    void add_in_place(QueueSlot queue, const QueueSpec& spec, std::optional<JobClass> job_class);
    // By the intake: do jobs of the class start in the queue that they are in?
    bool starts_in_place(JobClass job_class) const {
        return p_.intake == Intake::every_queue || is_in_place(job_class);
    }
    bool has_lane_by_user(JobClass job_class) const {
        return job_class == JobClass::normal && !starts_in_place(job_class);
    }
    bool queues_are_set_up() const;
    void forget_queues();
    void renew_targets(Targets& targets);
    std::optional<JobClass> class_of(JobSlot job) const;
    Instant overdue_from(JobSlot job) const;
    void add_requeued();
    bool found_at_start(JobSlot job, QueueSlot queue);
    PoolId restart_pool(const QueueView& view) const;
    void restart_found();
    void add_job(JobSlot job, JobClass job_class);
    OrderedJob ordered(JobSlot job, JobClass job_class);
    std::uint32_t nodes_of_ordered(JobSlot job) const;
    bool is_overdue(JobSlot job) const;
    JobClass class_by_time(JobSlot job) const;
    std::vector<OrderedJob> normal_jobs() const;
    std::vector<std::uint32_t> queue_ranks() const;

    // Filter, place, decide.
    Targets& targets_of(const OrderedJob& job);
    // Returns what could lift the job's refusal, and `anything` if the job starts.
    Blockers consider(const OrderedJob& job, Targets& targets);
    Reason top_job_reason(const Targets& targets) const;
    Reason not_started_reason(QueueSlot home) const;
    Verdict judge(const OrderedJob& job, Candidate& candidate, const Targets& targets,
                  const Category& category);
    Verdict ask(Candidate& job, const Targets& targets, const Category& category);
    Reason ask_queue(const Candidate& job, QueueView& view, Verdict& verdict);
    Refusal check(const Filter& filter, const Candidate& job, QueueView& view) {
        return ask_filter(filter, state_, t_.jobs, job, view);
    }
    Blockers blockers_of(const Refusal& refusal);
    void weigh(const FilterRefusal& refusal, const Candidate& job, QueueView& view, Verdict& verdict,
               bool by_standing = false);
    Verdict rejection(const Candidate& job);
    Candidate candidate(const OrderedJob& job) const;
    void set_walltime(Candidate& job, const QueueView& view) const;
    void start(const Candidate& job, QueueView& view);
    std::uint32_t& no_start_known(const OrderedJob& job, Verdict& verdict, Targets& targets);
    Blockers refused(const OrderedJob& job, Verdict& verdict, Targets& targets, Blockers of_user);
    void refuse(JobSlot job, const Reason& reason);

    // What is known of jobs like one (cycle_categories.cc).
    unsigned user_reads_of(Targets& targets) const;
    bool reads_user(Targets& targets) const;
    Category category_of(const OrderedJob& job, Targets& targets);
    const Standings::User& standing_of(const OrderedJob& job, Targets& targets);
    Blockers find_standing(const Candidate& job, const Targets& targets);
    SignatureAnswer* answers_of_signature(const OrderedJob& job, const Targets& targets);
    void forget_answers();
    void find_filters(QueueView& view) const;
    FilterRefusal first_refusal(const Candidate& job, QueueView& view);
    FilterRefusal first_refusal(const Candidate& job, QueueView& view, const FilterRefusal& of_user,
                                SignatureAnswer& of_signature);
    FilterRefusal first_refusal_of_job(const Candidate& job, QueueView& view);

    // For whom a queue is drained (cycle_drain.cc).
    bool drain_for(Candidate& job, const Targets& targets);
    bool reserve_kept(const Candidate& job);
    void keep_reservation(const Candidate& job, const QueueView& view,
                          std::span<const QueueView* const> possible, bool decided_by_vnodes);
    void give_up_head();

    // Top jobs.
    std::int64_t backfill_depth() const;
    bool backfills() const;
    class Lookahead;
    bool reserve_for(Candidate& job, QueueView& view);
    void use_reserved(const Candidate& job, QueueView& view);
    ResourceSchedule& resource_schedule();
    bool keeps_schedule() const { return in_.keep_pending_jobs && !fake_vnodes_; }
    ResourceSchedule::Holding holding_of(JobSlot job, QueueSlot queue, const QueueView& view) const;
    bool may_hold_up(const QueueView& view) const;
    void hold_up(JobSlot job, QueueView& view);
    bool is_held_up(const QueueView& view) const;

    // The pending jobs that events released, or all of them, in order (cycle_events.cc).
    bool goes_by_events() const;
    bool knows_pending_jobs() const;
    bool order_lasts() const;
    void load_pending_jobs();
    void load_pending_jobs(JobClass job_class, bool prime_order,
                           std::vector<std::optional<LeastNeeds>>& needs);
    bool finds_at_start() const {
        return !s_.batch_queues.empty() && (in_.memory->first_cycle || !in_.memory->found_at_start.empty());
    }
    void renew_pending_jobs();
    std::uint32_t lane_is_of(JobSlot job, JobClass job_class) const;
    LaneId lane_of(JobSlot job, JobClass job_class) const;
    PendingJobs::Entry entry_of(const OrderedJob& job, const Chain& chain, const LeastNeeds& needs) const;
    void find_news();
    void note_lifted();
    void add_vnodes_of_hosts(std::vector<VnodeSlot>& freed) const;
    bool consider_pending();
    bool consider_class(JobClass job_class);
    const Deal* deal_of(JobClass job_class, Instant at) const;
    DealContext deal_context(LaneId lane);
    DealtLane dealt_lane(LaneId lane) const;
    std::int64_t begin_of(LaneId lane);
    void deal_class(JobClass job_class);
    std::int64_t take_turn(Turn& turn, JobClass job_class);
    void fetch(const Turn& turn, JobClass job_class) const;
    bool next_turn(Turn& turn, JobClass job_class);
    bool find_released(Turn& turn, Targets& targets);
    bool is_wanted(const Targets& targets, JobClass job_class) const;
    std::size_t state_number() const { return started_.size() + state_.reservations.size() + held_up_; }
    Released& released_of(Targets& targets);
    void find_released_limits(Targets& targets, Released& released);
    JobSize fit(const QueueView& view, JobSize most, const Vnodes::Room& room) const;
    void add_rooms(const QueueView& view, bool everywhere, std::vector<JobSize>& rooms);
    void add_room_of(const QueueView& view, VnodeSlot vnode, std::vector<JobSize>& rooms) const;
    struct Left {
        std::array<JobSize, 32> lifted;
        std::array<JobSize, 32> open;
    };
    Left left_of_limits();
    std::optional<JobSize> left_of(const UseKey& key) const;
    bool is_of(const UseKey& key, JobSlot job) const;
    static constexpr std::size_t most_open = 128;
    bool may_have_room(std::uint32_t signature, Targets& targets, Released& released);
    bool each_kind_has_room(const Request& request, PoolId pool, const PlaceRules& rules) const;
    void lanes_with_turns(JobClass job_class, std::vector<LaneId>& lanes);
    const std::vector<Vnodes::Room>& rooms_of(PoolId pool);
    std::vector<Turn>::iterator first_of_equals(std::vector<Turn>& tied);
    bool may_start_now(const Turn& turn, JobClass job_class);
    Targets& targets_of_lane(const Lane& lane);
    void settle_reservations();
    std::vector<DrainFor> drains_now() const;
    TopJobs top_jobs() const;
    void remember();

    // Early non-prime time.
    void start_non_prime_early();
    void consider_again(JobClass job_class, std::vector<OrderedJob> jobs, bool prime_order);
    bool early_is_possible() const;
    bool may_go_early(const QueueView& view) const;
    bool wants_to_go_early(QueueView& view);

    // Explaining one job (explain.cc).
    void explain_turn(const OrderedJob& job, const Targets& targets);
    void explain_place(const OrderedJob& job, Explanation& out);
    std::vector<OrderKey> order_keys(const OrderedJob& job) const;
    void explain_home(QueueSlot home, const Targets& targets, Explanation& out) const;
    QueueAnswers explain_queue(Candidate& job, QueueView& view);
    void explain_drain(JobSlot job, Explanation& out) const;
    void explain_outcome(JobSlot job, Explanation& out);

    // The schedule log (cycle_schedule.cc).
    void log_schedule(ScheduleState state, JobSlot job, const QueueView& view, Instant start, Instant end,
                      const Placement& placement);
    void log_starts(Decisions& out);

    // Output.
    void dump_sorted_jobs(Decisions& out);
    void decide(Decisions& out);
    void decide_start(Decisions& out, const Started& started, std::string_view text);
    void decide_comments(Decisions& out);
    void decide_estimates(Decisions& out, std::span<const Reservation> made);
    std::span<const Place> places_of(Decisions& out, JobSlot job, const Placement& placement) const;
    std::string_view answer_text(Decisions& out, Answer& answer);
    void decide_moves(Decisions& out);
    void say_what_would_be_done(Decisions& out);
    std::string_view keep_text(Decisions& out, std::string_view text) const;
    ReasonContext reason_context() const {
        return {t_.zone,    t_.jobs,     t_.queues,      t_.resources,
                t_.strings, t_.requests, *state_.vnodes, vnode_share()};
    }

    const CycleInput& in_;
    std::shared_ptr<CycleScratch> scratch_;
    Tables& t_;
    const Settings& s_;
    const Profile& p_;
    CycleState state_;
    std::set<Instant> instants_;             // of a cycle that leaves nothing behind
    Instant last_instant_ = Instant::max();  // that was put there: many refusals in a row name the same
    std::optional<Vnodes> fake_vnodes_;

    // The lanes of the jobs, kept from cycle to cycle where the order lasts.
    PendingJobs* pending_ = &scratch_->pending;
    const Deal* deal_ = nullptr;              // of the class whose turn it is
    std::vector<std::uint32_t> queue_ranks_;  // once a deal asked for them
    std::size_t turns_of_class_ = 0;
    std::vector<OrderedJob> turns_in_order_;  // where the list is written down

    QueueSetup& setup_ = scratch_->setup;
    std::vector<const Filter*>& filters_ = setup_.filters;
    std::vector<const Admission*>& admissions_ = setup_.admissions;
    std::deque<QueueView>& views_ = setup_.views;
    Targets& batch_ = setup_.batch;
    std::unordered_map<QueueSlot, Targets>& in_place_ = setup_.in_place;
    std::vector<Source>& sources_ = setup_.sources;
    QueueSlot& submit_ = setup_.submit;
    QueueSlot& special_ = setup_.special;
    std::vector<Targets*> targets_of_queue_;       // in_place_ by slot; null: batch_
    std::vector<std::uint32_t> nodes_of_request_;  // what nodes_of() says of queued jobs; 0: not asked yet

    std::array<std::vector<OrderedJob>, 6>& classes_ = scratch_->classes;
    // Answers that hold for all jobs of a signature: by class and signature, the place in verdicts_ and 1.
    std::array<std::vector<std::uint32_t>, 6>& verdict_of_ = scratch_->verdict_of;
    // By class, standing and signature, where filters refuse the user, and in a cycle after single events.
    PlaceMap& verdict_of_user_ = scratch_->verdict_of_user;
    std::vector<Verdict>& verdicts_ = scratch_->verdicts;
    // Likewise, the places in signature_answers_.
    std::array<std::vector<std::uint32_t>, 6>& answers_of_signature_ = scratch_->answers_of_signature;
    PlaceMap& answers_of_few_ = scratch_->answers_of_few;  // by class and signature
    std::vector<SignatureAnswer>& signature_answers_ = scratch_->signature_answers;
    std::vector<std::uint32_t>
        user_numbers_;  // by JobTable::user, from 0 on; empty: no filter reads the user
    std::uint32_t users_ = 0;
    std::vector<std::uint32_t> starts_of_owner_;  // jobs started in this cycle, since filters read the user
    std::vector<std::uint32_t> starts_of_group_;
    Standing standing_;  // the last that was found
    std::unordered_map<UserCategory, std::uint32_t, UserCategoryHash> no_start_of_user_;
    std::vector<Answer>& answers_ = scratch_->answers;
    std::unordered_map<Reason, std::string_view, ReasonHash> text_of_;
    std::vector<Started>& started_ = scratch_->started;
    std::vector<Refused>& refused_ = scratch_->refused;
    std::vector<JobSlot> to_restart_;  // SCHED_RESTART_ACTION
    std::vector<std::pair<JobSlot, QueueSlot>> moves_;
    std::vector<std::uint32_t> refusal_of_;  // for the second pass, by job: index into refused_ and 1
    bool only_early_ = false;                // the second pass, over queues without prime time
    int passed_over_ = 0;  // jobs that no queue could be drained for, before the head of the list
    bool by_events_ =
        false;  // a cycle after single events: for few jobs, tables of all signatures are too large
    struct Rooms {
        std::size_t started = SIZE_MAX;  // jobs, when they were looked for
        std::vector<Vnodes::Room> list;
    };
    std::unordered_map<PoolId, Rooms> rooms_;
    std::vector<News>& news_ = scratch_->news;  // in order
    Blockers lifted_ = 0;                       // in this cycle, whatever jobs ask for
    bool room_everywhere_ = false;              // not on the vnodes alone that gave something back
    bool everything_ = false;                   // all pending jobs are looked at
    bool rejects_more_ = false;                 // a start used up an allocation
    bool reservations_settled_ = false;
    ResourceSchedule own_schedule_;           // of a cycle that leaves nothing behind
    ResourceSchedule& schedule_;              // begun with the first question about the future
    std::size_t scheduled_ = 0;               // how many of started_ are in it
    std::size_t scheduled_reservations_ = 0;  // and of those that were kept
    std::size_t reserved_kept_ = 0;           // the first reservations are those of an earlier cycle
    std::int64_t vain_steps_ = 0;             // of looking ahead for jobs that no start was found for
    // For them, so many are taken in a cycle, so that it doesn't take long for a crowd of them; a step is a
    // matter of microseconds.
    static constexpr std::int64_t most_vain_steps = 20'000;
    JobSlot top_job_ = no_slot;  // without backfilling: nothing starts after it
    std::size_t held_up_ = 0;    // top_job_ and those of queues, how many
    std::unordered_map<QueueSlot, std::int64_t> reservations_;
    std::int64_t considered_ = 0;
    std::string schedule_records_;  // for the schedule log
};

}  // namespace pbs::sched
