// Starts non-prime time early in idle queues (NP_DRAIN_BACKTIME, NP_DRAIN_IDLETIME).

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "server_plugin/scheduler/framework/boundaries.h"
#include "server_plugin/scheduler/framework/judge.h"
#include "server_plugin/scheduler/framework/turns.h"

namespace pbs::sched {
namespace {

// Queues that ignore prime time early, and until when.
using EarlyUntil = std::unordered_map<QueueHandle, Instant>;

class EarlyNonPrime final : public AfterRefusal, CyclePart {
  public:
    explicit EarlyNonPrime(const CycleParts& parts)
        : CyclePart(parts.context),
          queues_(parts.queues),
          intake_(parts.intake),
          judge_(parts.judge),
          turns_(parts.turns) {
        if (is_possible()) watched = about_prime;
    }

    void was_refused(const Candidate& job, QueueView& view) override {
        if (may_go_early(view)) refused_for_prime_[view.number].push_back(job.job);
    }
    // end() tests one job of each category (jobs that filters can't distinguish) in early non-prime time, and
    // filters may read the user then. So jobs of different users need categories of their own.
    bool tells_users_apart() const override { return is_possible(); }
    // A cycle has to consider all jobs: to start those that were refused because of prime time, and to notice
    // queues that have become empty.
    bool wants_every_job() const override {
        const auto* early = in_.memory->own.find<EarlyUntil>();
        return is_possible() || (early != nullptr && !early->empty() && !s_.batch_queues.empty());
    }
    void end() override;
    void remember() override;

  private:
    bool is_switched_on() const;
    bool is_possible() const;
    bool may_go_early(const QueueView& view) const;
    bool wants_to_go_early(QueueView& view);
    std::vector<OrderedJob> normal_jobs() const;

    Queues& queues_;
    Intake& intake_;
    Judge& judge_;
    Turns& turns_;
    // By view: one job of each category that was refused only because of prime time.
    std::unordered_map<std::uint32_t, std::vector<JobSlot>> refused_for_prime_;
};

bool EarlyNonPrime::is_switched_on() const {
    return state_.prime_now && s_.np_drain_backtime != Seconds(0) && s_.np_drain_idletime != Seconds(0) &&
           s_.nonprime_drain_sys.holds(in_.now);
}

// Returns whether the rule is switched on, and non-prime time begins within NP_DRAIN_BACKTIME.
bool EarlyNonPrime::is_possible() const {
    if (!is_switched_on()) return false;
    const auto boundary = state_.prime->boundary();
    return boundary && *boundary - in_.now <= s_.np_drain_backtime;
}

// Returns whether the queue may ignore prime time: is_possible(), and no job has run in the queue for longer
// than NP_DRAIN_IDLETIME.
bool EarlyNonPrime::may_go_early(const QueueView& view) const {
    return is_possible() && !view.early && view.running == 0 && view.queue->idle_since != Instant{} &&
           in_.now - view.queue->idle_since > s_.np_drain_idletime;
}

// Returns whether the queue may ignore prime time, and only prime time prevents some job from starting in it.
bool EarlyNonPrime::wants_to_go_early(QueueView& view) {
    if (!may_go_early(view)) return false;
    view.early = true;
    const bool wanted = std::ranges::any_of(refused_for_prime_[view.number], [&](JobSlot slot) {
        Candidate job = c_.candidate(intake_.ordered(slot, JobClass::normal));
        c_.set_walltime(job, view);
        // The job's own reservation must not prevent its start.
        const auto set_own = [&](bool begun) {
            for (Reservation& reservation : state_.reservations)
                if (reservation.job == slot) reservation.begun = begun;
        };
        set_own(true);
        Verdict verdict;
        const bool starts = !judge_.ask_queue(job, view, verdict);
        set_own(false);
        return starts;
    });
    view.early = false;
    return wanted;
}

// Returns the normal jobs, lane by lane.
std::vector<OrderedJob> EarlyNonPrime::normal_jobs() const {
    std::vector<OrderedJob> jobs;
    const PendingJobs& pending = intake_.jobs();
    for (const LaneId lane : pending.lanes_of(JobClass::normal))
        for (PendingJobs::Position at; pending.settle(lane, at); ++at.index)
            jobs.push_back({pending.job(lane, at), JobClass::normal,
                            static_cast<std::uint32_t>(pending.size_of(lane, at).nodes),
                            pending.signature_of(lane, at), 0});
    return jobs;
}

// Lets queues that may go early ignore prime time, and considers the normal jobs again in non-prime order.
void EarlyNonPrime::end() {
    for (QueueView* view : queues_.batch()) {
        if (!wants_to_go_early(*view)) continue;
        const auto next_prime = state_.prime->next_start(*state_.prime->boundary());
        in_.memory->own.of<EarlyUntil>()[view->queue->handle] = next_prime.value_or(Instant::max());
        view->early = true;
    }
    if (std::ranges::none_of(queues_.batch(), &QueueView::early)) return;
    std::vector<OrderedJob> normal = normal_jobs();
    judge_.begin_second_pass();
    std::erase_if(normal, [&](const OrderedJob& job) { return judge_.is_done_with(job.job); });
    c_.second_pass = true;
    turns_.consider_again(JobClass::normal, std::move(normal), false);
    c_.second_pass = false;
}

// Notes the instants at which an early start becomes possible, and at which a queue will have been idle for
// long enough.
void EarlyNonPrime::remember() {
    if (!is_switched_on()) return;
    const auto boundary = state_.prime->boundary();
    if (!boundary) return;
    if (!is_possible()) {
        state_.instants->insert(*boundary - s_.np_drain_backtime);
        return;
    }
    for (const QueueView* view : queues_.batch()) {
        const Instant idle_enough = view->queue->idle_since + s_.np_drain_idletime + Seconds(1);
        if (!view->early && view->queue->idle_since != Instant{} && idle_enough > in_.now)
            state_.instants->insert(idle_enough);
    }
}

// Returns the first instant after `t` at which prime time may end early in an idle queue.
std::optional<Instant> next_early_end(const Tables& tables, const Settings& s, Instant t) {
    std::optional<Instant> next;
    const auto end = s.end_of_enforced_prime(t);
    if (!end || s.np_drain_backtime == Seconds(0) || s.np_drain_idletime == Seconds(0)) return next;
    for (const QueueSpec& spec : s.batch_queues) {
        const QueueSlot slot = tables.queues.find(spec.queue);
        if (slot == kNoSlot || !tables.queues[slot].running.empty()) continue;
        const Instant idle_long = tables.queues[slot].idle_since + s.np_drain_idletime + Seconds(1);
        const Instant early = std::max(*end - s.np_drain_backtime, idle_long);
        if (early > t && early < *end) sooner(next, early);
    }
    return next;
}

bool gave_up_prime(const OwnStates& memory, QueueHandle queue, Instant now) {
    const auto* early = memory.find<EarlyUntil>();
    if (early == nullptr) return false;
    const auto until = early->find(queue);
    return until != early->end() && now < until->second;
}

void describe_early(const OwnStates& memory, const Tables& /*tables*/, KeptByRules& kept) {
    const auto* early = memory.find<EarlyUntil>();
    if (early == nullptr) return;
    for (const auto& [queue, until] : *early) kept.early.push_back({queue, until});
    std::ranges::sort(kept.early, {}, &EarlyQueue::queue);
}

void restore_early(OwnStates& memory, Tables& /*tables*/, const KeptByRules& kept) {
    for (const EarlyQueue& early : kept.early) memory.of<EarlyUntil>()[early.queue] = early.until;
}

}  // namespace

extern const AfterRefusalRule kEarlyNonPrimeAfterRefusal{
    .name = "early_non_prime",
    .make = [](const CycleParts& parts) -> std::unique_ptr<AfterRefusal> {
        return std::make_unique<EarlyNonPrime>(parts);
    },
    .gave_up_prime = gave_up_prime,
    .describe = describe_early,
    .restore = restore_early};

// An end of a job may make a queue idle, and a start ends that, so events of jobs change the instants.
extern const BoundaryRule kEarlyNonPrimeBoundaries{
    "early_non_prime", next_early_end, [](const Settings& s) { return s.np_drain_idletime != Seconds(0); }};

}  // namespace pbs::sched
