// The loop of a cycle: considers in order the jobs that may start. Each is tested by the filters, and then
// placed and started; or it is refused, and parked until an event may lift the refusal. At the end the rules
// make decisions.

#include "server_plugin/scheduler/framework/cycle.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "server_plugin/scheduler/framework/advance_reservations.h"
#include "server_plugin/scheduler/framework/future.h"
#include "server_plugin/scheduler/framework/outcome.h"
#include "server_plugin/scheduler/framework/shares.h"
#include "server_plugin/scheduler/framework/turns.h"
#include "server_plugin/scheduler/pending/past_usage_deal.h"

namespace pbs::sched {
namespace {

class Cycle {
  public:
    explicit Cycle(const CycleInput& input);
    // Runs a cycle that considers all jobs.
    Decisions run();
    // Runs a cycle after events. False: nothing was decided, and run() of another Cycle is needed.
    bool run_events(Decisions& out);
    // Runs a cycle over all jobs that decides nothing, and only calls the log.
    void rehearse(std::unique_ptr<CycleLog> (*make)(const CycleParts& parts));
    Decisions place(JobSlot job, bool preempts);
    Decisions test_start(JobSlot job, std::span<const Place> places,
                         std::unique_ptr<CycleLog> (*make)(const CycleParts& parts));

  private:
    Answer why_not(Candidate& job, QueueView& view);
    Answer explained_refusal() const;
    void begin_logs();
    void answer_reservations(Decisions& out);
    bool only_jobs_changed() const;
    bool wants_every_job() const;
    void consider_all();
    void decide(Decisions& out);
    void take_back();
    void remember();

    CycleParts parts() { return {c_, queues_, intake_, judge_, future_, turns_}; }

    CycleContext c_;
    Queues queues_{c_};
    Intake intake_{c_, queues_};
    Judge judge_{c_, queues_};
    Future future_{c_, queues_};
    ReleasedJobs released_{c_};
    Turns turns_{c_, queues_, intake_, judge_, released_};
};

Cycle::Cycle(const CycleInput& input) : c_(input) {
    for (const AfterRefusalRule* rule : c_.profile.after_refusal) {
        c_.after_refusal.push_back(rule->make(parts()));
        c_.watched |= c_.after_refusal.back()->watched;
    }
}

void Cycle::begin_logs() {
    for (const CycleLogRule* rule : c_.profile.logs)
        if (rule->wanted(c_.settings, c_.in.now)) c_.logs.push_back(rule->make(c_));
}

void Cycle::consider_all() {
    c_.everything = true;
    intake_.take_in();
    if (EventMemory* memory = c_.in.events) {
        memory->open.clear();
        memory->always_open = 0;
        memory->open_of_users.clear();
        memory->pending.catch_up_all();
    }
    for (const auto& rule : c_.after_refusal) rule->took_in();
    turns_.consider();
    for (const auto& rule : c_.after_refusal) rule->end();
    c_.refuse_unserved();
}

Decisions Cycle::run() {
    Decisions out;
    out.memory = std::make_unique<std::pmr::monotonic_buffer_resource>(64 * 1024);
    if (c_.in.events != nullptr) {
        c_.in.events->kept.clear();
        c_.in.events->tops.clear();
        c_.in.events->instants.clear();
    }
    begin_logs();
    answer_reservations(out);
    consider_all();
    decide(out);
    if (c_.in.events != nullptr) c_.in.events->last_full = c_.in.now;
    return out;
}

// Answers reservations first, so that no job gets their places.
void Cycle::answer_reservations(Decisions& out) {
    if (!c_.in.answers_reservations || c_.test_only || c_.tables.reservations.empty()) return;
    const Outcome outcome(parts(), out);
    for (const ReservationAnswer& answer : sched::answer_reservations(c_, queues_)) {
        Decision decision;
        decision.kind = answer.why_not.empty() ? DecisionKind::confirm : DecisionKind::deny;
        decision.reservation = answer.reservation;
        decision.text = outcome.keep_text(answer.why_not);
        std::vector<Outcome::Placed> placed;
        for (const auto& [request, placement] : answer.placements)
            placed.push_back({c_.tables.requests[request], placement});
        if (answer.why_not.empty()) decision.places = outcome.places_of(placed);
        decision.start = answer.start;
        out.list.push_back(decision);
    }
}

bool Cycle::run_events(Decisions& out) {
    if (!only_jobs_changed() || !intake_.knows_jobs()) return false;
    c_.by_events = true;
    begin_logs();
    intake_.take_in();
    released_.begin();
    if (!turns_.consider()) {
        take_back();
        return false;
    }
    const EventMemory& memory = *c_.in.events;
    for (const JobSlot job : memory.since.changed)
        if (!memory.pending.contains(job)) c_.refuse_if_unserved(job);
    decide(out);
    return true;
}

void Cycle::rehearse(std::unique_ptr<CycleLog> (*make)(const CycleParts& parts)) {
    c_.logs.push_back(make(parts()));
    consider_all();
    Decisions none;
    c_.logs.back()->end(none);
    take_back();
}

// Returns whether a rule needs each cycle to consider all jobs.
bool Cycle::wants_every_job() const {
    return std::ranges::any_of(c_.profile.decides,
                               [&](const Decide* rule) {
                                   return rule->wants_every_job != nullptr && rule->wants_every_job(c_);
                               }) ||
           std::ranges::any_of(c_.after_refusal, [](const auto& rule) { return rule->wants_every_job(); }) ||
           std::ranges::any_of(c_.profile.logs, [&](const CycleLogRule* rule) {
               return rule->wants_every_job && rule->wanted(c_.settings, c_.in.now);
           });
}

// Returns whether only jobs have changed since the last cycle, and each job that it started was seen running.
// A started job that never ran leaves a place for which the cycle refused other jobs.
bool Cycle::only_jobs_changed() const {
    const CycleInput& in = c_.in;
    if (!in.by_events || in.events->since.everything || wants_every_job()) return false;
    const JobTable& jobs = in.tables->jobs;
    return std::ranges::none_of(in.events->started, [&](const auto& started) {
        const JobSlot job = jobs.find(started.first);
        return job == kNoSlot ? !started.second : jobs.state[job] != 'B' && !is_running(jobs.state[job]);
    });
}

// Lets the rules decide. Then takes the cycle's starts and preemptions back from the state, because the host
// reports their outcome by events.
void Cycle::decide(Decisions& out) {
    out.jobs_considered = c_.considered;
    out.log_event = c_.settings.log_event;
    if (c_.in.events != nullptr && !c_.test_only) c_.keep_what_was_taken();
    remember();
    if (!c_.test_only) out.list.reserve(c_.moves.size() + c_.started.size() + c_.refused.size());
    Outcome outcome(parts(), out);
    const Decide::Cycles when = c_.test_only ? Decide::Cycles::only_told : Decide::Cycles::carried_out;
    for (const Decide* rule : c_.profile.decides)
        if (rule->when == when || rule->when == Decide::Cycles::always) rule->decide(outcome);
    out.look_aheads = c_.look_aheads;
    out.searches_ahead = c_.searches_ahead;
    for (const auto& log : c_.logs) log->end(out);
    if (c_.in.events != nullptr)
        for (const auto& rule : c_.after_refusal) rule->leave();
    take_back();
}

void Cycle::take_back() {
    const Tables& t = c_.tables;
    for (const Started& started : c_.started) {
        c_.state.vnodes->forget(started.placement, t.requests[t.jobs.request[started.job]], c_.vnode_share());
        c_.tables.count_use(started.view->slot, t.counted(started.job), -1);
    }
    for (const Preempted& preempted : c_.preempted) {
        c_.state.vnodes->assume(preempted.placement, t.requests[t.jobs.request[preempted.job]],
                                c_.vnode_share());
        c_.tables.count_use(t.jobs.queue[preempted.job], t.counted(preempted.job), 1);
    }
    for (const auto& [job, request] : std::exchange(c_.resized, {})) c_.tables.jobs.request[job] = request;
    for (const std::uint32_t request : std::exchange(c_.own_requests, {}))
        c_.tables.requests.release(request);
    c_.state.vnodes->clear_reservations();
    c_.state.vnodes->bookings().clear();
    if (c_.in.shares != nullptr) c_.in.shares->tree.forget_expected();
}

// Stores this cycle's data for the next one.
void Cycle::remember() {
    if (c_.in.events == nullptr) return;
    EventMemory& memory = *c_.in.events;
    memory.last = c_.in.now;
    memory.started.clear();
    const JobTable& jobs = c_.tables.jobs;
    for (const Started& started : c_.started)
        memory.started.emplace(jobs.handle[started.job], jobs.is_elsewhere(started.job));
    if (!c_.everything) released_.remember();
    memory.held_up.clear();
    if (c_.held_up > 0)
        for (const QueueView& view : c_.views)
            if (c_.is_held_up(view)) memory.held_up.push_back(view.slot);
    memory.refused_by_sets = c_.state.refused_by_sets > 0 || (memory.refused_by_sets && !c_.everything);
    for (const auto& rule : c_.after_refusal) rule->remember();
    memory.since.forget();
    if (!intake_.knows_jobs()) memory.pending_known = false;
}

// Finds a place for a job that an operator wants started (qrun). As in OpenPBS, only filters about places are
// called, since the operator decides about everything else; and the job has the highest preemption level, if
// the policy preempts.
Decisions Cycle::place(JobSlot job, bool preempts) {
    Decisions out;
    out.memory = std::make_unique<std::pmr::monotonic_buffer_resource>();
    Tables& t = c_.tables;
    c_.state.at_request = c_.in.at_request;
    c_.state.vnodes = &t.vnodes;  // even if the policy assumes a larger machine (FAKE_MACHINE_MULT)
    QueueView& view = queues_.add_alone(t.jobs.queue[job]);
    const OrderedJob ordered{job, JobClass::normal, c_.nodes_of_ordered(job), t.jobs.signature[job]};
    Candidate c = c_.candidate(ordered);
    c_.set_walltime(c, view);
    Outcome outcome(parts(), out);
    Reason reason = judge_.refusal_about(about_room, c, view);
    if (reason && preempts && c_.settings.preemption && t.preempts) {
        c_.preempts = true;
        CandidateQueues queues{{&view}};
        Blockers blockers = 0;
        if (std::ranges::any_of(c_.after_refusal, [&](const auto& rule) {
                return rule->makes_room(ordered, c, blockers, queues) != nullptr;
            }))
            reason = {};
    }
    if (reason) {
        c_.refuse(job, reason);
        const std::string_view line = outcome.text(c_.answers.back());
        // Note the comment, so that the next cycle replaces it by its own.
        t.jobs.comment[job] = c_.answers.back().number;
        out.list.push_back({DecisionKind::comment, t.jobs.handle[job], {}, line, {}, {}});
        return out;
    }
    for (const Preempted& preempted : c_.preempted) outcome.preempt(preempted);
    Started started{job, &view, std::move(c_.state.placement), c_.state.ends(c), c.asked};
    started.after_preemptions = !c_.preempted.empty();
    outcome.start(started, {});
    if (started.after_preemptions) take_back();
    return out;
}

// The places as a placement, without the resources that the policy excludes. Empty: one of the vnodes is
// gone.
Placement named_placement(const Tables& tables, std::span<const Place> places) {
    Placement out;
    for (const Place& place : places) {
        const VnodeSlot vnode = tables.vnodes.find(place.vnode);
        if (vnode == kNoSlot) return {};
        const auto first = static_cast<std::uint32_t>(out.amounts.size());
        for (const Amount& amount : place.amounts)
            if (tables.resources.consumable(amount.resource) && amount.number > 0 &&
                !tables.requests.is_excluded(amount.resource))
                out.amounts.push_back({amount.resource, amount.number});
        const auto amounts = static_cast<std::uint32_t>(out.amounts.size()) - first;
        // A part without amounts gets the count 0: nothing is taken of its vnode, yet the vnode is tested.
        out.parts.push_back({vnode, 0, amounts > 0 ? 1 : 0, first, amounts, place.joined});
    }
    return out;
}

// Returns the answer with the first reason why the job may not start in its queue now; without a reason, it
// may.
Answer Cycle::why_not(Candidate& job, QueueView& view) {
    for (const Admission* admission : c_.admissions)
        if (const Reason reason = ask_admission(*admission, c_.state, job).reason)
            return {reason, is_rejection(reason.code)};
    if (const Reason reason = c_.not_started_reason(view.slot)) return {reason};
    if (const Refusal refusal = execution_type_refusal(c_.state, view.slot)) return {refusal.reason};
    for (const Filter* filter : c_.filters)
        if (const Refusal refusal = c_.check(*filter, job, view)) return {refusal.reason};
    return {};
}

// Returns the answer of why_not() from the explanation, which has the answers of all these rules in the same
// order.
Answer Cycle::explained_refusal() const {
    const auto first = [](const std::vector<FilterAnswer>& filters) -> Answer {
        for (const FilterAnswer& answer : filters)
            if (answer.reason) return {answer.reason, is_rejection(answer.reason.code)};
        return {};
    };
    const Explanation& found = *c_.in.explanation;
    if (const Answer answer = first(found.filters); answer.reason) return answer;
    return found.queues.empty() ? Answer{} : Answer{first(found.queues.back().filters).reason};
}

Decisions Cycle::test_start(JobSlot job, std::span<const Place> places,
                            std::unique_ptr<CycleLog> (*make)(const CycleParts& parts)) {
    Decisions out;
    out.memory = std::make_unique<std::pmr::monotonic_buffer_resource>();
    Tables& t = c_.tables;
    const Placement named = named_placement(t, places);
    c_.state.only_asked = true;
    if (!places.empty()) c_.state.named_place = &named;
    QueueView& view = queues_.add_alone(t.jobs.queue[job]);
    const OrderedJob ordered{job, JobClass::normal, c_.nodes_of_ordered(job), t.jobs.signature[job]};
    CandidateQueues queues{{&view}};
    if (make != nullptr) {
        c_.logs.push_back(make(parts()));
        c_.logs.back()->turn(ordered, queues);
    }
    Candidate c = c_.candidate(ordered);
    c_.set_walltime(c, view);
    Outcome outcome(parts(), out);
    if (const Answer answer = make != nullptr ? explained_refusal() : why_not(c, view); answer.reason) {
        c_.refuse(job, answer.reason);
        c_.answers.back().rejected = answer.rejected;
        out.list.push_back(
            {DecisionKind::comment, t.jobs.handle[job], {}, outcome.text(c_.answers.back()), {}, {}});
    } else if (places.empty()) {
        outcome.start({job, &view, std::move(c_.state.placement), c_.state.ends(c), c.asked}, {});
    } else {
        out.list.push_back({DecisionKind::run, t.jobs.handle[job], view.queue->handle, {}, {}, {}});
    }
    for (const auto& log : c_.logs) log->end(out);
    take_back();
    return out;
}

// Memory for decisions. If they are few, the bytes in the object suffice. The object is so small that the
// allocator can give it the memory of the last such object.
struct ArenaBytes {
    alignas(std::max_align_t) std::array<std::byte, 896> bytes;
};
class SmallArena final : ArenaBytes, public std::pmr::monotonic_buffer_resource {
  public:
    SmallArena() : monotonic_buffer_resource(bytes.data(), bytes.size()) {}
};

}  // namespace

Decisions run_cycle(const CycleInput& input) {
    Decisions out;
    out.memory = std::make_unique<SmallArena>();
    if (Cycle(input).run_events(out)) return out;
    return Cycle(input).run();
}

void rehearse_cycle(const CycleInput& input, std::unique_ptr<CycleLog> (*make)(const CycleParts& parts)) {
    Cycle(input).rehearse(make);
}

Decisions place_job(const CycleInput& input, JobSlot job, bool preempts) {
    return Cycle(input).place(job, preempts);
}

Decisions test_start(const CycleInput& input, JobSlot job, std::span<const Place> places,
                     std::unique_ptr<CycleLog> (*make)(const CycleParts& parts)) {
    return Cycle(input).test_start(job, places, make);
}

std::optional<double> start_charge(const Tables& tables, const Settings& settings, Instant now, JobSlot job) {
    if (!settings.sort_by_past_usage.holds(now)) return std::nullopt;
    return past_usage_charge(settings.past_usage_charge, job_nodes(tables, settings, job),
                             tables.jobs.expected_walltime(job));
}

Chunks chunks_by(const Tables& tables, const Settings& settings) {
    return tables.divides_chunks && settings.profile->divides_chunks ? Chunks::divided : Chunks::whole;
}

}  // namespace pbs::sched
