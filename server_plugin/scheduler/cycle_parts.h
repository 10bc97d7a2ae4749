// The inside of a cycle: one object, made for one cycle. Its parts are in cycle_setup.cc, cycle_order.cc,
// cycle_gates.cc, cycle_lookahead.cc, cycle_early.cc, cycle_output.cc and explain.cc.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/cycle.h"
#include "server_plugin/scheduler/explanation.h"
#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {

using Targets = std::vector<QueueView*>;

// What all jobs have in common that no gate can tell apart.
struct Category {
    const Targets* targets;
    Seconds walltime;
    std::uint32_t request;
    std::uint32_t run_host;
    std::uint32_t owner;
    std::uint32_t group;
    QueueSlot home;
    JobClass job_class;
    friend bool operator==(const Category&, const Category&) = default;
};
struct CategoryHash {
    std::size_t operator()(const Category& c) const {
        std::uint64_t h = reinterpret_cast<std::uintptr_t>(c.targets);
        const auto mix = [&](std::uint64_t value) {
            h = (h ^ value) * 0x9E3779B97F4A7C15ULL;
            h ^= h >> 29;
        };
        mix(static_cast<std::uint64_t>(c.walltime.count()));
        mix(std::uint64_t{c.request} << 32 | c.run_host);
        mix(std::uint64_t{c.owner} << 32 | c.group);
        mix(std::uint64_t{c.home} << 8 | static_cast<std::uint64_t>(c.job_class));
        return h;
    }
};

struct Verdict {
    Reason reason;  // nothing: it may start in `view`
    QueueView* view = nullptr;
    bool rejected = false;
    bool lasting = true;     // holds whatever else is started
    bool waits = false;      // for running jobs to end
    std::size_t starts = 0;  // how many had been started when it was made
};

struct Started {
    JobSlot job;
    QueueView* view;
    Placement placement;
    Instant end;
};

struct Refused {
    JobSlot job;
    Reason reason;
    bool rejected;
};

class Cycle {
  public:
    explicit Cycle(const CycleInput& input);
    Decisions run();
    void explain();

  private:
    void make_list();
    void consider_list();
    void take_back();

    // Setting up.
    void set_up_state();
    void set_up_time();
    void count_running();
    Targets views_of(const std::vector<QueueSpec>& specs, bool dedicated);
    QueueView* make_view(QueueSlot slot, std::uint32_t host, bool dedicated);
    void set_dedicated_time(QueueView& view);
    void fill_view(QueueView& view);
    void count_into(QueueView& view, JobSlot job, int sign) const;
    std::int64_t node_limit(const Queue& queue) const;
    std::int64_t nodes_of(JobSlot job) const;
    // How a share of a vnode is reckoned: origin's also has ssinodes.
    NodeSize vnode_share() const { return s_.algorithm == Algorithm::origin ? state_.node_size : NodeSize{}; }

    // Classify and order.
    void make_origin_list();
    std::vector<QueueSpec> dedicated_queues() const;
    void refuse_unserved();
    void add_requeued();
    bool found_at_start(JobSlot job, QueueSlot queue);
    void restart_found();
    void make_standard_list();
    void add_job(JobSlot job, JobClass job_class);
    bool is_waiting(JobSlot job) const;
    void order_class(JobClass job_class, bool prime_order);
    void deal_by_past_usage(std::vector<OrderedJob>& jobs);
    std::vector<std::uint32_t> queue_ranks() const;

    // Gates, place, decide.
    void consider_all(std::span<const OrderedJob> jobs);
    const Targets& targets_of(const OrderedJob& job);
    void consider(const OrderedJob& job, const Targets& targets);
    Reason top_job_reason() const;
    Reason not_started_reason(QueueSlot home) const;
    Verdict ask(Candidate& job, const Targets& targets);
    Reason ask_queue(Candidate& job, QueueView& view, Verdict& verdict);
    Verdict rejection(const Candidate& job);
    Candidate candidate(const OrderedJob& job) const;
    void set_walltime(Candidate& job, const QueueView& view) const;
    void start(const Candidate& job, QueueView& view);
    void refused(const OrderedJob& job, Candidate& candidate, const Verdict& verdict, const Targets& targets);
    bool reads_user(const Targets& targets) const;

    // Waiting and top jobs.
    void drain_for(Candidate& job, const Targets& targets);
    std::int64_t backfill_depth() const;
    void reserve_for(Candidate& job, QueueView& view);
    std::optional<Instant> earliest_start(Candidate& job, QueueView& view);
    void reserve_at(Instant start, Candidate& job, QueueView& view);
    struct Ending {
        Instant end;
        JobSlot job;
        const Started* started;  // null: it ran before the cycle
    };
    std::vector<Ending> endings() const;
    void end_job(const Ending& ending, int sign);
    bool could_start(Candidate& job, QueueView& view, Instant at);
    bool holds_up(const OrderedJob& job, const Candidate& candidate, const Verdict& verdict,
                  const Targets& targets);

    // Early non-prime time.
    void start_non_prime_early();
    bool may_go_early(const QueueView& view) const;
    bool wants_to_go_early(QueueView& view);

    // Explaining one job (explain.cc).
    void explain_turn(const OrderedJob& job, const Targets& targets);
    void explain_place(const OrderedJob& job, Explanation& out) const;
    std::vector<OrderKey> order_keys(const OrderedJob& job) const;
    void explain_home(QueueSlot home, Explanation& out) const;
    QueueAnswers explain_queue(Candidate& job, QueueView& view);
    void explain_outcome(JobSlot job, Explanation& out);

    // Output.
    void dump_sorted_jobs(Decisions& out);
    void decide(Decisions& out);
    void decide_start(Decisions& out, const Started& started, std::string_view text);
    void decide_comments(Decisions& out);
    void decide_moves(Decisions& out);
    void say_what_would_be_done(Decisions& out);
    std::string_view keep_text(Decisions& out, std::string_view text) const;
    ReasonContext reason_context() const { return t_.reason_context(); }

    const CycleInput& in_;
    Tables& t_;
    const Settings& s_;
    CycleState state_;
    std::optional<Vnodes> fake_vnodes_;
    std::vector<const Gate*> gates_;
    std::vector<const JobGate*> job_gates_;

    std::deque<QueueView> views_;
    Targets batch_;                                    // origin: batch_queues
    std::unordered_map<QueueSlot, Targets> in_place_;  // queues whose jobs start where they are
    std::unordered_map<const Targets*, bool> reads_user_;
    QueueSlot submit_ = no_slot;
    QueueSlot special_ = no_slot;

    std::array<std::vector<OrderedJob>, 6> classes_;
    std::unordered_map<Category, Verdict, CategoryHash> verdicts_;
    std::deque<Started> started_;
    std::vector<Refused> refused_;
    std::vector<JobSlot> to_restart_;  // SCHED_RESTART_ACTION
    std::vector<std::pair<JobSlot, QueueSlot>> moves_;
    std::vector<std::uint32_t> refusal_of_;  // by job: index into refused_ and 1
    bool only_early_ = false;                // the second pass, over queues without prime time
    bool drained_ = false;
    JobSlot top_job_ = no_slot;  // strict_ordering without backfilling: nothing starts after it
    std::unordered_map<QueueSlot, std::int64_t> reservations_;
    std::int64_t considered_ = 0;
};

}  // namespace pbs::sched
