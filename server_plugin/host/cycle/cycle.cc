#include "server_plugin/host/cycle/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/cycle/apply_decisions.h"
#include "server_plugin/host/life/ended_runs.h"
#include "server_plugin/host/policy/plugin_records.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/preemption.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

using std::chrono::nanoseconds;

// The most jobs that are started in one slice of a cycle's decisions. Each start takes time, because files
// are written for it.
constexpr size_t kMostStartsAtOnce = 16;

// The longest time, in seconds, for which a job whose start was refused or has failed is put aside.
constexpr int64_t kLongestAside = 64;

// Returns for how long a job is put aside after so many refusals or failed starts in succession. The time
// doubles with each.
int64_t time_aside(int times) {
    return std::min(kLongestAside, int64_t{1} << std::clamp(times - 1, 0, 30));
}

int64_t iteration(const Sched& sched) {
    return std::max<int64_t>(1, sched.attributes.integer("scheduler_iteration", 600));
}

}  // namespace

void Cycles::begin(const std::string& name, int trigger) {
    const Sched* sched = server_.state.sched(name);
    if (sched == nullptr || !sched->attributes.boolean("scheduling", false) || server_.winding_down()) return;
    const int64_t now = server_.now();
    last_[name] = now;
    if (server_.parts.plugin->scheduled_by(now, name) != PBS_BY_PLUGIN) return;  // a program schedules
    sched_ = name;
    trigger_ = trigger;
    dropped_ = false;
    refused_ = 0;
    preempted_.clear();
    to_put_aside_.clear();
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
    DecisionBatch batch(server_, server_.now(), preempted_, not_preempted_, weights_, &log);
    const std::vector<Decision> group = on ? next_together() : std::vector<Decision>();
    bool fits = true;
    if (!group.empty()) {
        const Together outcome = apply_together(batch, group);
        fits = outcome != Together::refused;
        if (!fits) note_refusal(group.front(), batch);
        applied_ += group.size();
        dropped = array_goes_on(batch) || (!fits && server_.changed->anything()) || dropped;
        if (outcome == Together::started) starts = group.size();
        end_of_slice = applied_;
    }
    while (applied_ < end_of_slice) {
        const Decision decision = decisions_.at(applied_, StateNames(server_.state));
        if (on && decision.together > 1 && applied_ > first) break;  // these are a slice of their own
        ++applied_;
        if (!on && !is_harmless(decision)) {
            ++refused_;
        } else if (!still_holds(decision)) {
            dropped = true;
            ++note_.dropped;
        } else if (!batch.apply(decision)) {
            dropped = dropped || server_.changed->anything();
            ++note_.dropped;
            note_refusal(decision, batch);
        } else {
            ++note_.decisions.at(static_cast<size_t>(decision.kind));
            if (decision.kind == Decision::Kind::run)
                if (const auto at = refused_jobs_.find(decision.job); at != refused_jobs_.end())
                    at->second.times = 0;
            if (decision.kind == Decision::Kind::run && ++starts == most_starts_at_once_)
                end_of_slice = applied_;
            if (decision.kind == Decision::Kind::run && array_goes_on(batch)) {
                dropped = true;
                break;
            }
        }
    }
    together.reset();
    if (applied_ > first && fits)
        if (auto done = batch.commit(); !done) return fail_cycle(done.error());
    dropped_ = dropped;
    if (starts > 0) learn_of_starts(starts, batch.since_commit());
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

// If the array whose subjob the batch has started has a next one, drops the further decisions: that subjob
// has precedence over all later jobs. Returns whether decisions were dropped, so that another cycle is
// needed.
bool Cycles::array_goes_on(const DecisionBatch& batch) {
    if (!batch.array_goes_on() || !more_starts()) return false;
    note_.dropped += decisions_.size() - applied_;
    applied_ = decisions_.size();
    return true;
}

// Notes that the server has refused to start or to move a job. If nothing has changed since the cycle began,
// the next cycle would decide the same, so the job is put aside. If something has, or the state of an object
// didn't fit, only a further refusal puts it aside.
void Cycles::note_refusal(const Decision& decision, const DecisionBatch& batch) {
    const bool starts = decision.kind == Decision::Kind::run || decision.kind == Decision::Kind::move;
    if (!starts || !batch.refusal()) return;
    Refused& refused = refused_jobs_[decision.job];
    const bool may_pass = server_.changed->anything() || batch.refusal()->code == PBSE_BADSTATE;
    if (++refused.times == 1 && may_pass) return;
    refused.sched = sched_;
    to_put_aside_.emplace_back(decision.job, batch.refusal()->message);
}

// Puts a job aside that was refused. The job's comment says why. Returns false if the job doesn't wait any
// more.
bool Cycles::put_aside(uint64_t handle, const std::string& why) {
    const Job* job = server_.state.job_told_as(handle);
    if (job == nullptr || state_for_plugin(*job) != job_state::kQueued) return false;
    const int64_t now = server_.now();
    Change change(server_, now);
    change.comment(*job, fmt::format("Not Running: PBS Error: {}", why));
    if (auto done = change.commit(); !done) server_.parts.log.error(job->id, done.error().message);
    put_aside(handle, refused_jobs_[handle].times, now);
    return true;
}

// Keeps the plugin from choosing the job for a time, by the number of its refusals or failed starts. Tells
// the plugin also if the job is put aside already: a change of the job may have lifted that (take_up() of
// job_life.h).
void Cycles::put_aside(uint64_t handle, int times, int64_t now) {
    Refused& refused = refused_jobs_[handle];
    refused.aside = true;
    refused.again = now + time_aside(times);
    server_.parts.plugin->put_aside(now, handle, server_.state);
}

// Puts the jobs aside whose starts were carried out, and have failed for a reason that may pass. The next
// cycle would start them again at once.
void Cycles::put_failed_starts_aside(int64_t now) {
    for (const uint64_t handle : std::exchange(server_.failed_starts, {})) {
        const Job* job = server_.state.job(handle);
        if (job == nullptr || state_for_plugin(*job) != job_state::kQueued) continue;
        Failures& failures = failures_[handle];
        Refused& refused = refused_jobs_[job->told_as()];
        // Subjobs of an array that fail together count once.
        if (!refused.aside || failures.count == 0) ++failures.count;
        failures.last = now;
        refused.sched.clear();
        put_aside(job->told_as(), failures.count, now);
    }
}

// Forgets the failed starts of jobs that are gone, and those that are long past. A job that is being started
// may fail again.
void Cycles::forget_failures(int64_t now) {
    std::erase_if(failures_, [&](const auto& entry) {
        const auto& [handle, failures] = entry;
        const Job* job = server_.state.job(handle);
        if (job == nullptr || job->history()) return true;
        if (job->running() && job->substate == substate::kPrerun) return false;
        return failures.last + time_aside(failures.count) + kLongestAside < now ||
               failures.last > now + kLongestAside;  // the clock was set back
    });
}

// Lets the plugin choose jobs again that were put aside for a time that is over. Forgets refusals of jobs
// that don't wait any more.
void Cycles::take_up_jobs(int64_t now) {
    put_failed_starts_aside(now);
    forget_failures(now);
    for (auto at = refused_jobs_.begin(); at != refused_jobs_.end();) {
        auto& [handle, refused] = *at;
        const Job* job = server_.state.job_told_as(handle);
        const bool waits = job != nullptr && !job->history() && (!job->running() || is_preempted(*job));
        const bool over =
            refused.again <= now || refused.again > now + kLongestAside;  // the clock was set back
        if (refused.aside && (!waits || over)) {
            refused.aside = false;
            server_.parts.plugin->take_up(now, handle, server_.state);
            if (waits) server_.want_cycle(PBS_SCH_SCHEDULE_CMD, refused.sched);
        }
        const bool done = !refused.aside && (!waits || refused.times == 0);
        at = done ? refused_jobs_.erase(at) : std::next(at);
    }
}

// Returns the next decisions, if they start subjobs of an array together; else an empty list.
std::vector<Decision> Cycles::next_together() const {
    std::vector<Decision> together;
    const StateNames names(server_.state);
    size_t left = applied_ < decisions_.size() ? decisions_.at(applied_, names).together : 0;
    if (left < 2 || left > decisions_.size() - applied_) return together;
    for (; left > 0; --left) together.push_back(decisions_.at(applied_ + together.size(), names));
    return together;
}

// Carries out decisions that start subjobs of an array together, if they still hold.
Together Cycles::apply_together(DecisionBatch& batch, const std::vector<Decision>& decisions) {
    const bool hold = std::ranges::all_of(decisions, [&](const Decision& one) { return still_holds(one); });
    const Together outcome = hold ? batch.apply_together(decisions) : Together::refused;
    if (outcome == Together::started)
        note_.decisions.at(static_cast<size_t>(Decision::Kind::run)) += decisions.size();
    else
        note_.dropped += decisions.size();
    return outcome;
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
    if (!server_.parts.plugin->has_cycle()) server_.parts.plugin->forget_decisions();
    // The places of the jobs that are put aside are free for others, so another cycle is needed, too.
    for (const auto& [job, why] : std::exchange(to_put_aside_, {}))
        dropped_ = put_aside(job, why) || dropped_;
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
    weights_.try_again(now);
    take_up_jobs(now);
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
