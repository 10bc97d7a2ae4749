#include "server_plugin/host/cycle/apply_decisions.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/cycle/sched_logs.h"
#include "server_plugin/host/life/array_life.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/preempt.h"
#include "server_plugin/host/life/reservation_life.h"
#include "server_plugin/host/peers/peers.h"
#include "server_plugin/host/policy/plugin_records.h"
#include "server_plugin/host/run/executor.h"
#include "server_plugin/host/state/accrual.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/exec_vnode.h"
#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/host/state/preemption.h"
#include "server_plugin/host/state/reservation.h"
#include "server_plugin/host/state/select_spec.h"

namespace pbs::host {
namespace {

constexpr const char* kStaysInItsRouteQueue =
    "it has dependencies, and the scheduler takes no such job out of a route queue";

}  // namespace

bool is_harmless(const Decision& decision) {
    return decision.kind == Decision::Kind::comment || decision.kind == Decision::Kind::estimate ||
           decision.kind == Decision::Kind::accrue || decision.kind == Decision::Kind::weigh;
}

DecisionBatch::DecisionBatch(Server& server, int64_t now, std::vector<std::string>& preempted, bool& failed,
                             Weights& weights, Log* log)
    : server_(server),
      change_(server, now),
      preempted_(preempted),
      failed_(failed),
      weights_(weights),
      log_(log) {
    change_.then([this] { committed_ = std::chrono::steady_clock::now(); });
    for (const std::string& id : preempted)
        if (const Job* job = server.state.job(id); job != nullptr && is_preempting(*job)) leave(job->places);
}

// Commits without adding the changes to Server::changed. Otherwise these changes would make later decisions
// of the same cycle about the same objects look outdated.
Result<void> DecisionBatch::commit() {
    class Aside {
      public:
        explicit Aside(Server& server)
            : server_(server), kept_(std::exchange(server.changed, std::nullopt)) {}
        ~Aside() { server_.changed = std::move(kept_); }
        Aside(const Aside&) = delete;
        Aside& operator=(const Aside&) = delete;

      private:
        Server& server_;
        std::optional<ChangedSince> kept_;
    };
    const Aside aside(server_);
    if (only_tells_) change_.need_not_last();
    return change_.commit();
}

// Checks that the queue exists and is started: it may have been stopped since the cycle began.
Result<void> DecisionBatch::check_started(const Queue* queue) {
    if (queue == nullptr) return fail(PBSE_UNKQUE, "its queue has gone");
    if (queue->started()) return {};
    return fail(PBSE_IVALREQ, fmt::format("queue {} is not started", queue->name));
}

Result<void> DecisionBatch::take_room(const std::vector<Place>& places) {
    if (auto ok = check_places(places, server_.state, taken_); !ok) return ok;
    for (const Place& place : places)
        for (const auto& [id, amount] : place.amounts) taken_[place.node][id] += amount;
    return {};
}

Result<void> DecisionBatch::move(const Decision& decision, Job& job) {
    if (decision.queue == 0 || decision.queue == job.queue) return {};
    const Queue* queue = server_.state.queue(decision.queue);
    if (queue == nullptr) return fail(PBSE_UNKQUE, "the queue to move to has gone");
    // Refuse to move a job with dependencies out of a route queue: the dependencies are linked only in an
    // execution queue, so the job would run too early.
    if (job.attributes.has("depend")) return fail(PBSE_BADDEPEND, kStaysInItsRouteQueue);
    return enter_queue(change_, job, *queue, Entry::managed);
}

// Makes the places of a preempted job free for later decisions of this cycle, although the job still holds
// them in the state.
void DecisionBatch::leave(const std::vector<Place>& places) {
    for (const Place& place : places)
        for (const auto& [id, amount] : place.amounts) taken_[place.node][id] -= amount;
}

// Returns the runs of the cycle's preempted jobs that haven't given their places back yet.
std::vector<RunId> DecisionBatch::awaited() const {
    std::vector<RunId> runs;
    for (const std::string& id : preempted_) {
        const Job* known = server_.state.job(id);
        const Job* job = known == nullptr ? nullptr : change_.current(known->sequence);
        if (job != nullptr && job->running() && !is_preempted(*job)) runs.push_back(run_id(*job));
    }
    return runs;
}

// Checks that the job that is to get the places of a preempted job still waits.
Result<void> DecisionBatch::check_waits(uint64_t handle) const {
    const Job* job = server_.state.job_told_as(handle);
    if (job == nullptr || (state_for_plugin(*job) != job_state::kQueued && !is_preempted(*job)))
        return fail(PBSE_BADSTATE, "the job that it was to make room for doesn't wait any more");
    return check_started(server_.state.queue(job->queue));
}

// Preempts a job. First checks the present state: since the cycle began, the job may have ended, and the job
// for which it is preempted may have been held.
Result<void> DecisionBatch::preempt(const Decision& decision) {
    const Job* job = server_.state.job_told_as(decision.job);
    if (job == nullptr || !job->running() || is_preempted(*job)) return {};
    std::string other;
    if (decision.for_job != 0) {
        if (auto ok = check_waits(decision.for_job); !ok) return ok;
        other = server_.state.job_told_as(decision.for_job)->id;
    }
    if (job->state != job_state::kRunning || is_preempting(*job))
        return fail(PBSE_BADSTATE, fmt::format("its state is {}", job->state));
    const Job before = *job;
    if (!host::preempt(change_, change_.job(*job), decision.methods, other))
        return fail(PBSE_BADSTATE, "it could be preempted by no method");
    const Job* after = change_.current(before.sequence);
    if (!decision.text.empty() && after != nullptr) set_comment(change_.job(*after), decision.text);
    if (decision.for_job == 0) return {};  // no start of this cycle waits for the job's places
    leave(after != nullptr && is_preempted(*after) ? released_places(*after, server_.state.resources)
                                                   : before.places);
    preempted_.push_back(before.id);
    return {};
}

// Resumes a suspended job on its places. If other jobs are preempted for it, waits for their ends first.
Result<void> DecisionBatch::resume(const Decision& decision, Job& job) {
    if (auto ok = check_started(server_.state.queue(job.queue)); !ok) return ok;
    if (auto ok = take_room(released_places(job, server_.state.resources)); !ok) return ok;
    const auto others = decision.after_preemptions ? awaited() : std::vector<RunId>();
    if (others.empty()) {
        resume_preempted(change_, job);
        return {};
    }
    await(change_, job, others);
    return {};
}

// Checks that no place of the decision belongs to a job that couldn't be preempted.
Result<void> DecisionBatch::may_use_places(const Decision& decision) const {
    if (decision.after_preemptions && failed_) return fail(PBSE_RESCUNAV, "a job could not be preempted");
    return {};
}

Result<void> DecisionBatch::run(const Decision& decision, Job& job) {
    const Job before = job;
    auto done = check_started(server_.state.queue(job.queue));
    if (done && decision.queue != 0) done = check_started(server_.state.queue(decision.queue));
    if (done) done = take_room(decision.places);
    if (done) done = move(decision, job);
    if (done) done = start_as_decided(change_, job, decision);
    if (done && decision.after_preemptions)
        if (const auto others = awaited(); !others.empty()) await(change_, job, others);
    if (done) return {};
    job = before;
    // A subjob that was made a job of its own for this start isn't in the state, so it must not count at all.
    if (server_.state.job(job.handle) != nullptr)
        change_.counted().stage(job);
    else
        change_.counted().forget(job.handle);
    return done;
}

// Starts the first queued subjob of the array.
Result<void> DecisionBatch::run_subjob(const Decision& decision, Job& array) {
    if (decision.queue != 0 && decision.queue != array.queue && array.attributes.has("depend"))
        return fail(PBSE_BADDEPEND, kStaysInItsRouteQueue);
    const bool goes_on = may_start_subjob(array, 1);
    auto subjob = subjob_to_start(change_, array, array.subjobs->queued.first().value_or(-1));
    if (!subjob) return tl::unexpected(subjob.error());
    if (auto done = run(decision, *subjob); !done) return done;
    if (auto done = add_started_subjob(change_, array, *std::move(subjob)); !done) return done;
    array_goes_on_ = goes_on;
    return {};
}

// Asks another server to move its job here. Ignores decisions other than `run` about such a job. Returns
// false if the decision doesn't fit any more.
bool DecisionBatch::pull(const Decision& decision, uint64_t queue) {
    if (decision.kind != Decision::Kind::run) return true;
    auto done = check_started(server_.state.queue(queue));
    if (done) done = take_room(decision.places);
    if (!done) return false;
    only_tells_ = false;
    change_.then([&server = server_, job = decision.job, places = decision.places] {
        server.peers->pull(job, places);
    });
    return true;
}

// Passes the scheduler's answer on to a reservation. Does nothing if the reservation is gone or doesn't wait
// for an answer. If it has changed since the cycle began, still_holds() has dropped the answer already.
void DecisionBatch::answer_reservation(const Decision& decision) {
    const Reservation* current = server_.state.reservation(decision.job);
    if (current == nullptr || !awaits_answer(*current)) return;
    only_tells_ = false;
    if (decision.kind == Decision::Kind::confirm)
        confirm_reservation(change_, change_.reservation(*current), decision.places, decision.start);
    else
        deny_reservation(change_, *current, decision.text);
    if (log_ != nullptr) write_decision(*log_, decision, current->id, server_.state);
}

// Weighs the processes of a running job. It may have ended since the cycle began; there is nothing to weigh
// then.
void DecisionBatch::weigh(const Decision& decision, const Job& job) {
    if (!job.running() || !weights_.set(job, decision.weight, change_.now())) return;
    if (log_ != nullptr) write_decision(*log_, decision, job.id, server_.state);
}

bool DecisionBatch::apply(const Decision& decision) {
    refusal_.reset();
    if (decision.kind == Decision::Kind::confirm || decision.kind == Decision::Kind::deny) {
        answer_reservation(decision);
        return true;
    }
    if (server_.peers != nullptr)
        if (const uint64_t queue = server_.peers->queue_of(decision.job); queue != 0)
            return pull(decision, queue);
    const Job* current = server_.state.job_told_as(decision.job);
    if (current == nullptr || current->history()) return true;
    if (decision.kind == Decision::Kind::weigh) {
        weigh(decision, *current);
        return true;
    }
    const bool suspended = is_preempted(*current);
    if (current->running() && !suspended && decision.kind != Decision::Kind::preempt) return true;
    const bool waits = suspended || state_for_plugin(*current) == job_state::kQueued;
    std::string subjob;  // the id of the started subjob
    if (decision.kind == Decision::Kind::run && current->is_array())
        subjob = subjob_id(*current, current->subjobs->queued.first().value_or(-1));
    Result<void> done;
    array_goes_on_ = false;
    only_tells_ = only_tells_ && is_harmless(decision);
    switch (decision.kind) {
        case Decision::Kind::preempt:
            done = preempt(decision);
            failed_ = failed_ || (!done && decision.for_job != 0);
            break;
        case Decision::Kind::run:
            if (!waits) return true;
            done = may_use_places(decision);
            if (done && suspended)
                done = resume(decision, change_.job(*current));
            else if (done)
                done = current->is_array() ? run_subjob(decision, change_.job(*current))
                                           : run(decision, change_.job(*current));
            break;
        case Decision::Kind::comment:
            if (!waits) return true;  // the job has been held meanwhile
            // Keep the comment of a preempted job, because it names the job that was to get the place.
            if (names_preemption(current->attributes.text("comment"))) return true;
            if (current->attributes.text("comment") == decision.text) return true;
            change_.comment(*current, decision.text);
            break;
        case Decision::Kind::reject:
            reject_job(change_, change_.job(*current), decision.text);
            break;
        case Decision::Kind::estimate:
            server_.state.set_estimate(
                current->handle, {decision.start, exec_vnode_text(decision.places, server_.state.resources,
                                                                  current->attributes.text("schedselect"))});
            break;
        case Decision::Kind::accrue:
            // The job's present state may decide the type of its time; then ignore the scheduler's type.
            if (waits)
                set_accrue_type(change_.job(*current), server_.state,
                                static_cast<Accrue>(decision.accrue_type), change_.now());
            break;
        case Decision::Kind::move:
            done = move(decision, change_.job(*current));
            break;
        case Decision::Kind::confirm:
        case Decision::Kind::deny:
        case Decision::Kind::weigh:
            break;
    }
    if (done) {
        if (log_ != nullptr)
            write_decision(*log_, decision, subjob.empty() ? current->id : subjob, server_.state);
        return true;
    }
    server_.parts.log.write(LogEvent::sched, LogClass::job, current->id,
                            fmt::format("decision dropped: {}", done.error().message));
    refusal_ = done.error();
    return false;
}

Together DecisionBatch::apply_together(const std::vector<Decision>& decisions) {
    refusal_.reset();
    const Job* array = server_.state.job_told_as(decisions.front().job);
    if (array == nullptr || !array->is_array() || state_for_plugin(*array) != job_state::kQueued)
        return Together::moot;
    only_tells_ = false;
    std::vector<std::string> subjobs;
    for (const Decision& decision : decisions) {
        Job& changed = change_.job(*array);
        subjobs.push_back(subjob_id(changed, changed.subjobs->queued.first().value_or(-1)));
        auto done = may_use_places(decision);
        if (done) done = run_subjob(decision, changed);
        if (!done) {
            server_.parts.log.write(LogEvent::sched, LogClass::job, array->id,
                                    fmt::format("{} decisions dropped, which start subjobs together: {}: {}",
                                                decisions.size(), subjobs.back(), done.error().message));
            array_goes_on_ = false;
            refusal_ = done.error();
            return Together::refused;
        }
    }
    for (size_t i = 0; i < subjobs.size() && log_ != nullptr; ++i)
        write_decision(*log_, decisions[i], subjobs[i], server_.state);
    return Together::started;
}

namespace {

// Completes a job whose select comes from a decision. The select has all that the chunks need, and no other
// host-level request may stand beside it: those of the job become defaults, which complete_resources() may
// replace by sums over the chunks. The place stays, even if it was made from `nodes` or for a job without
// chunks.
Result<void> complete_select(Job& job, const State& state) {
    static const AttributeDef& resource_list = *job_table().find("Resource_List");
    for (const AttributeValue& value : job.attributes.all_of("Resource_List"))
        if (const Resource* resource = state.resources.find(value.resource());
            resource != nullptr && (resource->flags & resource_host) != 0)
            job.set_defaulted(resource->name, true);
    job.attributes.unset(resource_list, "nodes");
    for (const char* name : {"select", "place"}) job.set_defaulted(name, false);
    return complete_resources(job, *state.queue(job.queue), state);
}

}  // namespace

Result<void> start_as_decided(Change& change, Job& job, const Decision& decision) {
    static const AttributeDef& resource_list = *job_table().find("Resource_List");
    const State& state = change.server().state;
    std::vector<const Resource*> resources;  // by the decision's values; null: it was deleted
    bool has_select = false;
    for (const auto& [id, value] : decision.set_resources) {
        resources.push_back(state.resources.by_id(id));
        has_select = has_select || (resources.back() != nullptr && resources.back()->name == "select");
    }
    // `beside_select`: sets the host-level values of a decision with a select, unless they are sums over its
    // chunks. REQUIRES: the select is complete. Without `beside_select`: sets the other values.
    const auto set = [&](bool beside_select) {
        for (size_t i = 0; i < resources.size(); ++i) {
            const Resource* resource = resources[i];
            if (resource == nullptr) continue;
            if (beside_select != (has_select && (resource->flags & resource_host) != 0)) continue;
            if (beside_select && job.attributes.has("Resource_List", resource->name)) continue;
            job.attributes.set(resource_list, resource->name, decision.set_resources[i].second);
            if (has_select) job.set_defaulted(resource->name, beside_select);
        }
    };
    set(false);
    if (has_select) {
        if (auto ok = complete_select(job, state); !ok) return ok;
        set(true);
    }
    return start_job(change, job, decision.places, decision.text);
}

}  // namespace pbs::host
