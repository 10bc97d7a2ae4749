#include "server_plugin/host/cycle/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/life/array_life.h"
#include "server_plugin/host/life/ended_runs.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/preempt.h"
#include "server_plugin/host/life/reservation_life.h"
#include "server_plugin/host/peers/peers.h"
#include "server_plugin/host/policy/plugin_records.h"
#include "server_plugin/host/state/accrual.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/exec_vnode.h"
#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/host/state/placement.h"
#include "server_plugin/host/state/preemption.h"
#include "server_plugin/host/state/reservation.h"
#include "server_plugin/host/state/select_spec.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

using std::chrono::nanoseconds;

// The most jobs that are started in one slice of a cycle's decisions. Each start takes time, because files
// are written for it.
constexpr size_t kMostStartsAtOnce = 16;

int64_t iteration(const Sched& sched) {
    return std::max<int64_t>(1, sched.attributes.integer("scheduler_iteration", 600));
}

// Returns whether the decision only informs users. Such a decision is never dropped, because the plugin
// assumes that it is carried out and doesn't repeat it.
bool is_harmless(const Decision& decision) {
    return decision.kind == Decision::Kind::comment || decision.kind == Decision::Kind::estimate ||
           decision.kind == Decision::Kind::accrue;
}

// Puts decisions of a cycle into one transaction. Keeps account of the amounts on vnodes: a later decision
// can't use amounts that an earlier decision has taken.
class Application {
  public:
    // `preempted`: the ids of the jobs that the cycle's decisions have preempted so far; this object adds
    // further ones. `failed`: whether a preemption of the cycle has failed. `log`: the scheduler's log, or
    // null.
    Application(Server& server, int64_t now, std::vector<std::string>& preempted, bool& failed, Log* log)
        : server_(server), change_(server, now), preempted_(preempted), failed_(failed), log_(log) {
        change_.then([this] { committed_ = std::chrono::steady_clock::now(); });
        for (const std::string& id : preempted)
            if (const Job* job = server.state.job(id); job != nullptr && is_preempting(*job))
                leave(job->places);
    }

    // Applies a decision. Returns false if it doesn't fit any more.
    bool apply(const Decision& decision);
    // Returns whether the last decision has started a subjob, and the array's next subjob may start, too.
    bool array_goes_on() const { return array_goes_on_; }
    // Commits. A transaction that has only comments, estimates and types of accrued time doesn't wait for the
    // disk: if it is lost, a later cycle decides the same again.
    Result<void> commit();
    // Returns the time since the commit: after the actions that follow a commit, this is their duration.
    std::chrono::nanoseconds since_commit() const { return std::chrono::steady_clock::now() - committed_; }

  private:
    Result<void> run(const Decision& decision, Job& job);
    Result<void> run_subjob(const Decision& decision, Job& array);
    bool pull(const Decision& decision, uint64_t queue);
    void answer_reservation(const Decision& decision);
    Result<void> resume(const Decision& decision, Job& job);
    Result<void> check_waits(uint64_t handle) const;
    Result<void> preempt(const Decision& decision);
    std::vector<RunId> awaited() const;
    void leave(const std::vector<Place>& places);
    Result<void> move(const Decision& decision, Job& job);
    static Result<void> check_started(const Queue* queue);
    Result<void> take_room(const std::vector<Place>& places);

    Server& server_;
    Change change_;
    Taken taken_;
    std::vector<std::string>& preempted_;
    bool& failed_;
    Log* log_;
    std::chrono::steady_clock::time_point committed_{};
    bool only_tells_ = true;
    bool array_goes_on_ = false;
};

// Commits without adding the changes to Server::changed. Otherwise these changes would make later decisions
// of the same cycle about the same objects look outdated.
Result<void> Application::commit() {
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
Result<void> Application::check_started(const Queue* queue) {
    if (queue == nullptr) return fail(PBSE_UNKQUE, "its queue has gone");
    if (queue->started()) return {};
    return fail(PBSE_IVALREQ, fmt::format("queue {} is not started", queue->name));
}

Result<void> Application::take_room(const std::vector<Place>& places) {
    if (auto ok = check_places(places, server_.state, taken_); !ok) return ok;
    for (const Place& place : places)
        for (const auto& [id, amount] : place.amounts) taken_[place.node][id] += amount;
    return {};
}

Result<void> Application::move(const Decision& decision, Job& job) {
    if (decision.queue == 0 || decision.queue == job.queue) return {};
    const Queue* queue = server_.state.queue(decision.queue);
    if (queue == nullptr) return fail(PBSE_UNKQUE, "the queue to move to has gone");
    // Refuse to move a job with dependencies out of a route queue: the dependencies are linked only in an
    // execution queue, so the job would run too early.
    if (job.attributes.has("depend")) return fail(PBSE_BADDEPEND, "a route queue has it, with dependencies");
    return enter_queue(change_, job, *queue, Entry::managed);
}

// Makes the places of a preempted job free for later decisions of this cycle, although the job still holds
// them in the state.
void Application::leave(const std::vector<Place>& places) {
    for (const Place& place : places)
        for (const auto& [id, amount] : place.amounts) taken_[place.node][id] -= amount;
}

// Returns the runs of the cycle's preempted jobs that haven't given their places back yet.
std::vector<RunId> Application::awaited() const {
    std::vector<RunId> runs;
    for (const std::string& id : preempted_) {
        const Job* known = server_.state.job(id);
        const Job* job = known == nullptr ? nullptr : change_.current(known->sequence);
        if (job != nullptr && job->running() && !is_preempted(*job)) runs.push_back(run_id(*job));
    }
    return runs;
}

// Checks that the job that is to get the places of a preempted job still waits.
Result<void> Application::check_waits(uint64_t handle) const {
    const Job* job = server_.state.job_told_as(handle);
    if (job == nullptr || (state_for_plugin(*job) != job_state::kQueued && !is_preempted(*job)))
        return fail(PBSE_BADSTATE, "the job that it was to make room for doesn't wait any more");
    return check_started(server_.state.queue(job->queue));
}

// Preempts a job. First checks the present state: since the cycle began, the job may have ended, and the job
// for which it is preempted may have been held.
Result<void> Application::preempt(const Decision& decision) {
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
Result<void> Application::resume(const Decision& decision, Job& job) {
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

Result<void> Application::run(const Decision& decision, Job& job) {
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
Result<void> Application::run_subjob(const Decision& decision, Job& array) {
    if (decision.queue != 0 && decision.queue != array.queue && array.attributes.has("depend"))
        return fail(PBSE_BADDEPEND, "a route queue has it, with dependencies");
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
bool Application::pull(const Decision& decision, uint64_t queue) {
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
void Application::answer_reservation(const Decision& decision) {
    const Reservation* current = server_.state.reservation(decision.job);
    if (current == nullptr || !awaits_answer(*current)) return;
    only_tells_ = false;
    if (decision.kind == Decision::Kind::confirm)
        confirm_reservation(change_, change_.reservation(*current), decision.places, decision.start);
    else
        deny_reservation(change_, *current, decision.text);
    if (log_ != nullptr) write_decision(*log_, decision, current->id, server_.state);
}

bool Application::apply(const Decision& decision) {
    if (decision.kind == Decision::Kind::confirm || decision.kind == Decision::Kind::deny) {
        answer_reservation(decision);
        return true;
    }
    if (server_.peers != nullptr)
        if (const uint64_t queue = server_.peers->queue_of(decision.job); queue != 0)
            return pull(decision, queue);
    const Job* current = server_.state.job_told_as(decision.job);
    if (current == nullptr || current->history()) return true;
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
            if (decision.after_preemptions && failed_)
                done = fail(PBSE_RESCUNAV, "a job could not be preempted");
            else if (suspended)
                done = resume(decision, change_.job(*current));
            else
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
            break;
    }
    if (done) {
        if (log_ != nullptr)
            write_decision(*log_, decision, subjob.empty() ? current->id : subjob, server_.state);
        return true;
    }
    server_.parts.log.write(LogEvent::sched, LogClass::job, current->id,
                            fmt::format("decision dropped: {}", done.error().message));
    return false;
}

}  // namespace

Result<void> start_as_decided(Change& change, Job& job, const Decision& decision) {
    static const AttributeDef& resource_list = *job_table().find("Resource_List");
    const State& state = change.server().state;
    bool has_select = false;
    for (const auto& [id, value] : decision.set_resources) {
        const Resource* resource = state.resources.by_id(id);
        if (resource == nullptr) continue;
        job.attributes.set(resource_list, resource->name, value);
        has_select = has_select || resource->name == "select";
    }
    if (has_select) {
        // complete_resources() computes the job-wide sums from the new select, which has all that the chunks
        // need. So mark consumable resources as defaults, which it may replace: the amounts that the job
        // requested don't count any more.
        for (const auto& [id, value] : decision.set_resources)
            if (const Resource* resource = state.resources.by_id(id); resource != nullptr)
                job.set_defaulted(resource->name, resource->consumable());
        job.attributes.unset(resource_list, "nodes");
        if (auto ok = complete_resources(job, *state.queue(job.queue), state); !ok) return ok;
    }
    return start_job(change, job, decision.places, decision.text);
}

Result<void> apply_decisions(Server& server, int64_t now, const std::vector<Decision>& decisions) {
    if (decisions.empty()) return {};
    std::vector<std::string> preempted;
    bool failed = false;
    Application application(server, now, preempted, failed, nullptr);
    for (const Decision& decision : decisions) (void)application.apply(decision);
    return application.commit();
}

void Cycles::begin(const std::string& name, int trigger) {
    const Sched* sched = server_.state.sched(name);
    if (sched == nullptr || !sched->attributes.boolean("scheduling", false) || server_.winding_down()) return;
    const int64_t now = server_.now();
    last_[name] = now;
    if (!server_.parts.plugin->schedules(now, name)) return;  // a program does
    sched_ = name;
    trigger_ = trigger;
    dropped_ = false;
    refused_ = 0;
    preempted_.clear();
    not_preempted_ = false;
    note_ = {.sched = name, .trigger = trigger, .began = now};
    stage_began_ = std::chrono::steady_clock::now();
    // The log_event of the scheduler's last cycle decides whether this line is written, because the plugin
    // reports the present cycle's log_event only with its decisions.
    logs_.of(*sched).write(LogEvent::debug, LogClass::request, {},
                           fmt::format("Starting Scheduling Cycle: {}", trigger_name(trigger)));
    server_.changed.emplace();
    const auto running = server_.parts.plugin->start_cycle(now, name, trigger);
    if (!running && running.error().code == PBSE_TRYAGAIN) return wait(name, trigger);
    if (!running) return fail_cycle(running.error());
    if (*running)
        stage_ = Stage::deciding;
    else
        take_decisions();
}

void Cycles::cycle_finished() {
    if (stage_ != Stage::deciding) return;
    take_decisions();
    begin_next();
}

// Returns how long the cycle's present stage has taken, and begins the next stage.
std::chrono::nanoseconds Cycles::stage_took() {
    const auto began = std::exchange(stage_began_, std::chrono::steady_clock::now());
    return stage_began_ - began;
}

// Lets a cycle wait until the plugin has finished a request. The cycle stays wanted, and merges with further
// wanted cycles of the scheduler.
void Cycles::wait(const std::string& name, int trigger) {
    server_.changed.reset();
    server_.want_cycle(trigger, name);
    server_.cycle_waits = true;
}

void Cycles::work_finished() {
    if (stage_ != Stage::idle) return;
    server_.cycle_waits = false;
    look_at_clock();
    run_wanted();
}

void Cycles::take_decisions() {
    stage_ = Stage::idle;  // set first, because finish_cycle() may throw
    auto decisions = server_.parts.plugin->finish_cycle(server_.now());
    if (!decisions) return fail_cycle(decisions.error());
    decisions_ = *decisions;
    note_.deciding = stage_took();
    note_.considered = decisions_.considered();
    applied_ = 0;
    stage_ = Stage::applying;
    apply_some();
}

void Cycles::go_on() {
    if (stage_ == Stage::applying) apply_some();
    begin_next();
}

// Applies a slice of decisions in one transaction. Most of a decision's cost is in the commit, so the time
// that this slice takes determines how many decisions the next slice has.
void Cycles::apply_some() {
    using Steady = std::chrono::steady_clock;
    const Sched* sched = server_.state.sched(sched_);
    if (sched == nullptr || server_.winding_down()) return end();
    const bool on = sched->attributes.boolean("scheduling", false);
    const auto begin = Steady::now();
    const size_t first = applied_;
    size_t starts = 0;
    size_t end_of_slice = first + std::min(most_at_once_, decisions_.size() - first);
    // If anything throws, dropped_ stays true, because the slice's decisions are lost.
    bool dropped = std::exchange(dropped_, true);
    Log& log = logs_.of(*sched);
    if (decisions_.log_event() >= 0) log.set_events(static_cast<unsigned>(decisions_.log_event()));
    std::optional<Log::Together> together(std::in_place, log);
    Application application(server_, server_.now(), preempted_, not_preempted_, &log);
    while (applied_ < end_of_slice) {
        const Decision decision = decisions_.at(applied_++, StateNames(server_.state));
        if (!on && !is_harmless(decision)) {
            ++refused_;
        } else if (!still_holds(decision)) {
            dropped = true;
            ++note_.dropped;
        } else if (!application.apply(decision)) {
            dropped = dropped || server_.changed->anything();
            ++note_.dropped;
        } else {
            ++note_.decisions.at(static_cast<size_t>(decision.kind));
            if (decision.kind == Decision::Kind::run && ++starts == most_starts_at_once_)
                end_of_slice = applied_;
            // The array's next subjob has precedence over all later jobs, so leave the further decisions to
            // the next cycle.
            if (decision.kind == Decision::Kind::run && application.array_goes_on() && more_starts()) {
                note_.dropped += decisions_.size() - applied_;
                applied_ = decisions_.size();
                dropped = true;
                break;
            }
        }
    }
    together.reset();
    if (applied_ > first)
        if (auto done = application.commit(); !done) return fail_cycle(done.error());
    dropped_ = dropped;
    if (starts > 0) learn_of_starts(starts, application.since_commit());
    learn(applied_ - first, Steady::now() - begin);
    if (applied_ < decisions_.size()) return;
    if (refused_ > 0)
        server_.parts.log.write(
            LogEvent::sched, LogClass::sched, sched_,
            fmt::format("scheduling is off now: decisions of the cycle dropped: {}", refused_));
    server_.parts.log.write(LogEvent::debug2, LogClass::sched, sched_,
                            fmt::format("cycle, command {}: {} decisions", trigger_, decisions_.size()));
    log.write(LogEvent::debug, LogClass::request, {},
              fmt::format("Leaving Scheduling Cycle: jobs considered: {}, decisions: {}", note_.considered,
                          decisions_.size()));
    end();
}

// Returns whether decisions other than harmless ones (comments, estimates, types of accrued time) are left.
// Harmless decisions come last, because decisions are in the order of their effect. So the next decision
// tells.
bool Cycles::more_starts() const {
    return applied_ < decisions_.size() && !is_harmless(decisions_.at(applied_, StateNames(server_.state)));
}

// Returns whether a decision still holds after the changes since the cycle began. A rejection doesn't hold
// after any change of the configuration: the change may have removed its reason, and a rejection can't be
// undone.
bool Cycles::still_holds(const Decision& decision) const {
    const ChangedSince& changed = *server_.changed;
    if (is_harmless(decision)) return true;
    if (changed.jobs.contains(decision.job)) return false;
    if (decision.kind == Decision::Kind::reject && changed.configuration) return false;
    return std::ranges::none_of(decision.places,
                                [&](const Place& place) { return changed.nodes.contains(place.node); });
}

void Cycles::learn(size_t count, std::chrono::nanoseconds took) {
    // A small slice that was quick doesn't show how long a large one would take, so don't change the size.
    if (count < most_at_once_ && took < slice_) return;
    const double share = std::chrono::duration<double>(slice_) / std::max(took, nanoseconds(1));
    const auto fitting = static_cast<size_t>(share * static_cast<double>(count));
    most_at_once_ = std::clamp(fitting, least_at_once_, 2 * most_at_once_);
}

void Cycles::learn_of_starts(size_t starts, std::chrono::nanoseconds took) {
    const double share = std::chrono::duration<double>(slice_) / std::max(took, nanoseconds(1));
    const auto fitting = static_cast<size_t>(share * static_cast<double>(starts));
    // A few quick starts don't show how long many would take, so at most double their number.
    const size_t most = std::min(std::max(most_starts_at_once_, 2 * starts), kMostStartsAtOnce);
    most_starts_at_once_ = std::clamp(fitting, size_t{1}, most);
}

void Cycles::fail_cycle(const Error& error) {
    server_.parts.log.error(sched_, fmt::format("cycle failed: {}", error.message));
    note_.failed = true;
    end();
}

void Cycles::end() {
    stage_ = Stage::idle;
    note_.carrying = stage_took();
    server_.counters.cycle_over(std::move(note_));
    server_.changed.reset();
    decisions_ = {};
    // If decisions were dropped, ask for another cycle, which considers their jobs anew.
    if (dropped_) server_.want_cycle(PBS_SCH_SCHEDULE_CMD, sched_);
    dropped_ = false;
}

// Begins the next cycle. First makes the plugin do its work that is due, which it can't do during a cycle.
void Cycles::begin_next() {
    while (!busy() && !todo_.empty() && server_.placing == 0) {
        look_at_clock();
        const auto [name, trigger] = todo_.front();
        todo_.pop_front();
        begin(name, trigger);
    }
}

void Cycles::run_wanted() {
    if (busy()) return;
    if (todo_.empty()) {
        const auto wanted = server_.take_wanted_cycles();
        const auto all = wanted.find("");
        for (const auto& [name, sched] : server_.state.scheds()) {
            const auto own = wanted.find(name);
            if (own == wanted.end() && all == wanted.end()) continue;
            const int trigger = own == wanted.end()   ? all->second
                                : all == wanted.end() ? own->second
                                                      : Server::more_telling(own->second, all->second);
            todo_.emplace_back(name, trigger);
        }
    }
    begin_next();
}

void Cycles::look_at_clock() {
    const int64_t now = server_.now();
    Plugin& plugin = *server_.parts.plugin;
    if (plugin.next_deadline(now) <= now) {
        // The plugin may now store the usage of jobs. Write the ends of their runs to the disk first: if a
        // crash lost these ends, the usage would count twice.
        if (auto done = settle_ended_runs(server_); !done)
            server_.parts.log.error("jobs", done.error().message);
        for (const auto& [name, trigger] : plugin.tick(now, server_.state)) server_.want_cycle(trigger, name);
    }
    for (const auto& [name, sched] : server_.state.scheds()) {
        const auto [at, added] = last_.try_emplace(name, now);
        if (now < at->second) at->second = now;  // the clock was set back
        if (now - at->second >= iteration(sched)) {
            at->second = now;
            server_.want_cycle(PBS_SCH_SCHEDULE_TIME, name);
        }
    }
}

}  // namespace pbs::host
