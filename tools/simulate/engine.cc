#include "tools/simulate/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/simulate/engine_impl.h"

namespace pbs::simulate {
namespace {

using sched::CycleTrigger;
using sched::Decision;
using sched::DecisionKind;
using sched::ObjectRef;
using sched::PreemptMethod;

// The time for which the simulation goes on without an event while jobs wait. Windows open each week, and
// public holidays may delay them by a week.
constexpr Seconds kPatience = std::chrono::days(14);
constexpr std::size_t kProgressEvery = 512;  // in events
// After so many requeues a job isn't stopped any more: otherwise jobs could requeue each other for ever, and
// a job that is longer than its queue's hours would never end.
constexpr std::int64_t kMostRequeues = 100;
constexpr std::size_t kRequeued = 2;  // index of PreemptMethod::requeue in kPreemptMethods

}  // namespace

Result<void> Engine::set_up(const std::shared_ptr<const objects::Snapshot>& snapshot) {
    if (trace_.jobs.empty())
        return tl::unexpected(
            fmt::format("{}: no job to simulate, expected at least one that ran", trace_.name));
    if (cluster_.cpus() == 0)
        return tl::unexpected(
            std::string("the machine has no vnode with CPUs: --nodes and --cpus make some"));
    if (auto done = cluster_.tell(scheduler_); !done) return done;
    if (options_.loads_by_cpus) {
        loads_.emplace(cluster_);
        if (auto done = loads_->begin(scheduler_); !done) return done;
    }
    if (auto done = scheduler_.set_configuration(snapshot); !done)
        return tl::unexpected(done.error().message);
    snapshot_ = snapshot;
    if (options_.external != nullptr) {
        auto room = Room::make(cluster_);
        if (!room) return tl::unexpected(room.error());
        room_ = *std::move(room);
    }
    for (const objects::ObjectPtr& window : snapshot->objects(objects::ObjectType::time_window))
        hours_stop_jobs_ = hours_stop_jobs_ || window->text("at_close") != "run";
    wishes_.begin(*snapshot);
    for (const Cluster::Sched& sched : cluster_.scheds())
        scheds_.push_back({sched.name, Seconds(sched.iteration)});
    run_.outcomes.resize(trace_.jobs.size());
    run_.cpus = cluster_.cpus();
    run_.vnodes = cluster_.vnodes();
    run_.begin = run_.end = now_ = last_news_ = trace_.jobs.front().submit;
    scheduler_.load_usage({}, {}, now_);
    std::vector<std::string> scheds;
    for (const SchedTimes& sched : scheds_) scheds.push_back(sched.name);
    shares_.begin(scheduler_, options_.usage, scheds, trace_.jobs.size(), now_);
    tickets_.begin(std::move(scheds), trace_.jobs.size(), now_);
    scheduler_.keep_usage_changes(false);
    scheduler_.set_tell_estimates(true);
    // Only the last comments matter, unless the waits for quotas are counted by comments, or a program reads
    // them. At the end, only the policy in force then decides about them: with others before it, which may
    // have looked at other jobs, all comments matter.
    const auto has_one_policy_at_most = [&](const SchedTimes& sched) {
        const objects::PolicySlots slots = snapshot->policy_slots(sched.name);
        return slots.names().empty() || (slots.names().size() == 1 && !slots.all_time.empty());
    };
    scheduler_.set_comment_interval(Seconds::max());
    scheduler_.set_comments(options_.external != nullptr ||
                            !snapshot->objects(objects::ObjectType::quota).empty() ||
                            !std::ranges::all_of(scheds_, has_one_policy_at_most));
    for (SchedTimes& sched : scheds_) sched.last = now_;
    return {};
}

// Notes for the report whether it is prime time, and which policies are in force.
void Engine::note_time() {
    time_changes_ = Instant::max();
    for (SchedTimes& sched : scheds_) {
        const sched::Status status = scheduler_.status(now_, sched.name);
        if (options_.external != nullptr) {
            const objects::Object* const policy = snapshot_->policy(status.policy);
            sched.external = policy != nullptr && policy->text("algorithm") == "external";
        }
        if (status.next_change) time_changes_ = std::min(time_changes_, *status.next_change);
        if (!status.policy.empty() && std::ranges::find(run_.policies, status.policy) == run_.policies.end())
            run_.policies.push_back(status.policy);
        if (sched.name != "default") continue;
        if (status.prime_time && !prime_) run_.prime.push_back({now_, now_});
        if (!status.prime_time && prime_) run_.prime.back().end = now_;
        prime_ = status.prime_time;
    }
}

void Engine::tick() {
    const sched::TickResult result = scheduler_.tick(now_);
    if (result.usage_changed) (void)scheduler_.take_share_changes();  // nothing stores these changes
    for (const sched::DueSched& due : result.due) {
        if (due.policy_switched) log_.note({ObjectRef::Kind::sched, 0, due.name});
        for (SchedTimes& sched : scheds_) {
            if (sched.name != due.name) continue;
            sched.wanted_by_time = true;
            sched.policy_switched = sched.policy_switched || due.policy_switched;
        }
    }
}

// Makes an accrual of eligible time that begins now.
sched::Accrual Engine::accrual(sched::AccrueType type, Seconds before) const {
    return cluster_.counts_eligible_time() ? sched::Accrual{type, before, now_} : sched::Accrual{};
}

// Tells the scheduler of the job in the record.
void Engine::job_changed() {
    scheduler_.job_changed(now_, record_);
    log_.note(ObjectRef::Kind::job, static_cast<std::uint64_t>(record_.job));
}

void Engine::job_removed(Position position) {
    scheduler_.job_removed(now_, handle_of(position));
    log_.note(ObjectRef::Kind::job, static_cast<std::uint64_t>(handle_of(position)));
}

// Tells the scheduler of a waiting or suspended job, whose record fill() has filled.
void Engine::tell_waiting(Position position) {
    const Waiting& waiting = *waiting_.find(position);
    record_.has_comment = waiting.has_comment;
    if (waiting.has_comment) record_.mtime = waiting.commented;
    if (!waiting.by_program) record_.preempted_at = waiting.preempted_at;
    record_.accrual = waiting.accrual;
    if (const Run* run = runs_.find(position)) {
        records_.add_set(run->set);
        record_.state = 'S';
        record_.stime = run->stime;
        record_.places = run->places.all();
        if (run->preempted()) {
            record_.suspended = true;
            record_.elapsed = run->elapsed.count();
            run->places.split(cluster_, suspended_);
            record_.places = suspended_.released;
            record_.kept = suspended_.kept;
        }
    }
    job_changed();
}

Result<void> Engine::submit(Position position) {
    last_news_ = run_.end = now_;
    const Cluster::Queue* const queue = entries_.of(trace_.jobs[position], run_);
    if (queue == nullptr) {
        ++done_;
        return {};
    }
    if (auto done = fill(position, cluster_.handle(*queue)); !done) return done;
    wishes_.submitted(position, record_, run_);
    Waiting& waiting = waiting_.add(position);
    waiting.queue = record_.queue;
    waiting.has_comment = false;
    waiting.commented = waiting.preempted_at = {};
    waiting.by_program = false;
    waiting.comment.clear();
    waiting.accrual = accrual(sched::AccrueType::eligible, Seconds(0));
    tell_waiting(position);
    dirty_ = true;
    return {};
}

Result<void> Engine::submit_due() {
    while (next_job_ < trace_.jobs.size() && trace_.jobs[next_job_].submit <= now_)
        if (auto done = submit(next_job_++); !done) return done;
    return {};
}

// Returns the next end of a running job; Instant::max(): no job runs. Drops ends of runs that were cut short.
Instant Engine::next_end() {
    while (!ends_.empty()) {
        const auto [at, job] = ends_.top();
        if (run_.preempted.empty()) return at;
        const Run* const run = runs_.find(job);
        if (run != nullptr && !run->suspended && run_.outcomes[job].end == at) return at;
        ends_.pop();
    }
    return Instant::max();
}

void Engine::end_due() {
    while (next_end() <= now_) {
        const Position job = ends_.top().job;
        ends_.pop();
        Run& run = *runs_.find(job);
        if (const auto known = run_.preempted.find(job); known != run_.preempted.end())
            known->second.runs.push_back({run.since, now_, run.cpus});
        run.elapsed += now_ - run.since;
        remove_run(job, run);
        dirty_ = true;
    }
}

// Removes the run of a job that has ended.
void Engine::remove_run(Position position, Run& run) {
    // Filling can't fail: the same job was filled before.
    if (!shares_.empty() && !run.preempted() && fill(position, run.queue)) {
        records_.add_set(run.set);
        records_.add_used(position, run.elapsed, run.cpus);
        record_.state = 'E';
        record_.stime = run.stime;
        record_.places = run.places.all();
        job_changed();
    }
    job_removed(position);
    runs_.remove(position);
    tell_holds(position);
    ++done_;
    last_news_ = run_.end = now_;
}

void Engine::tell_holds(Position position) {
    if (!options_.holds && !loads_ && !room_) return;
    const Run* const run = runs_.find(position);
    const auto held = run == nullptr     ? std::span<const sched::Place>()
                      : run->preempted() ? std::span<const sched::Place>(suspended_.kept)
                                         : std::span<const sched::Place>(run->places.all());
    if (options_.holds) options_.holds(position, held);
    if (room_) room_->holds(position, held);
    if (!loads_) return;
    // holds() can't fail: the job's start has read the same vnodes.
    static_cast<void>(loads_->holds(scheduler_, position, held));
    for (const std::uint64_t vnode : loads_->told()) log_.note(ObjectRef::Kind::vnode, vnode);
}

void Engine::start(const Decision& decision, Position position, Waiting& waiting) {
    const TraceJob& job = trace_.jobs[position];
    Run* run = runs_.find(position);
    const bool resumes = run != nullptr;
    if (!resumes) {
        run = &runs_.add(position);
        run->queue = decision.queue == sched::QueueHandle{} ? waiting.queue : decision.queue;
        run->stime = now_;
        run->elapsed = Seconds(0);
        run->set.take(decision.set_resources);
        run->cpus = records_.cpus(position, run->set);
        run->places.take(decision.places, cluster_);
    } else {
        run->stime += now_ - run->since;
    }
    run->suspended = run->keeps_places = false;
    run->eligible = waiting.accrual.at(now_);
    if (!fill(position, run->queue)) return;  // can't fail: the job was submitted
    records_.add_set(run->set);
    record_.state = 'R';
    record_.has_comment = true;
    record_.stime = run->stime;
    record_.mtime = now_;
    record_.places = run->places.all();

    Outcome& outcome = run_.outcomes[position];
    Seconds work = job.run_time_with(run->cpus);
    if (outcome.how == JobEnd::none) {
        outcome.start = now_;
        outcome.prime = prime_;
        ++run_.started;
    } else {
        PreemptedJob& preempted = run_.preempted[position];
        Work& before = work_[position];
        if (job.least_cpus > 0) before.convert(preempted.runs.back().cpus, run->cpus);
        work = std::max(work - before.done, Seconds(0));
        Stops& stops = preempted.*preempted.last;
        (resumes ? stops.suspended : stops.queued_again) += now_ - waiting.preempted_at;
        record_.not_preemptable =
            preempted.preempted.by[kRequeued] + preempted.at_close.by[kRequeued] >= kMostRequeues;
    }
    run->since = now_;
    if (!resumes) wishes_.started(scheduler_, position, record_, run_);
    job_changed();
    shares_.started(scheduler_, position);
    tell_holds(position);
    const Seconds left = job.walltime - run->elapsed;
    const bool killed = job.walltime >= Seconds(0) && work > left;
    outcome.end = now_ + (killed ? left : work);
    outcome.cpus = run->cpus;
    outcome.how = killed ? JobEnd::killed : JobEnd::finished;
    ends_.push({outcome.end, position});
    ++changes_;
    last_news_ = now_;
    waiting_.remove(position);
    quotas_.comment(position, {});
}

void Engine::preempt(const Decision& decision) {
    const Position position = job_of(decision.job);
    Run* const run = runs_.find(position);
    const PreemptMethod method = decision.methods.front();
    const auto number = std::ranges::find(kPreemptMethods, method) - kPreemptMethods.begin();
    const bool by_program = decision.for_job == decision.job;
    if (run == nullptr || (run->suspended && !by_program) || number == std::ssize(kPreemptMethods)) return;
    PreemptedJob& preempted = run_.preempted[position];
    preempted.queue = cluster_.queue(run->queue).name;
    Work& work = work_[position];
    if (run->suspended) {
        (preempted.*preempted.last).suspended += now_ - run->since;
        run->eligible = waiting_.find(position)->accrual.at(now_);
        waiting_.remove(position);
        quotas_.comment(position, {});
    } else {
        preempted.runs.push_back({run->since, now_, run->cpus});
        work.done += now_ - run->since;
        run->elapsed += now_ - run->since;
    }
    preempted.last =
        decision.for_job == sched::JobHandle{} ? &PreemptedJob::at_close : &PreemptedJob::preempted;
    Stops& stops = preempted.*preempted.last;
    ++stops.by[static_cast<std::size_t>(number)];
    run->since = now_;
    Outcome& outcome = run_.outcomes[position];
    outcome.end = now_;
    outcome.how = JobEnd::stopped;
    dirty_ = true;
    ++changes_;
    last_news_ = now_;
    const auto lose = [&](Seconds kept) {
        const Seconds lost = std::exchange(work.done, kept) - kept;
        stops.lost += lost;
        stops.cpu_seconds_lost += static_cast<double>(lost.count()) * static_cast<double>(run->cpus);
    };
    if (method == PreemptMethod::remove) {
        lose(Seconds(0));
        outcome.how = JobEnd::deleted;
        return remove_run(position, *run);
    }
    if (method == PreemptMethod::checkpoint) work.kept = work.done;
    run->suspended = method == PreemptMethod::suspend;
    run->keeps_places = run->suspended && by_program;
    if (!run->suspended) lose(work.kept);
    wait_again(position, *run, by_program);
}

// Makes a job that was stopped wait again. While a job is preempted by suspension, all of its waiting counts
// as eligible time; otherwise the scheduler decides what counts.
void Engine::wait_again(Position position, Run& run, bool by_program) {
    if (!fill(position, run.queue)) return;  // can't fail: the job was submitted
    Waiting& waiting = waiting_.add(position);
    waiting.queue = run.queue;
    waiting.has_comment = true;
    waiting.commented = waiting.preempted_at = now_;
    waiting.by_program = by_program;
    waiting.comment.clear();
    waiting.accrual =
        accrual(run.preempted() ? sched::AccrueType::eligible : sched::AccrueType::initial, run.eligible);
    if (!shares_.empty()) records_.add_used(position, run.elapsed, run.cpus);
    if (!run.suspended) runs_.remove(position);
    tell_waiting(position);
    tell_holds(position);
}

void Engine::apply(const Decision& decision) {
    if (decision.kind == DecisionKind::preempt) return preempt(decision);
    const Position position = job_of(decision.job);
    Waiting* const found = waiting_.find(position);
    if (found == nullptr) return;  // another scheduler has started the job in this second
    Waiting& waiting = *found;
    Outcome& outcome = run_.outcomes[position];
    switch (decision.kind) {
        case DecisionKind::run:
            return start(decision, position, waiting);
        case DecisionKind::reject:
            if (outcome.how == JobEnd::none) {
                count_reason(run_.rejections, decision.text);
                outcome.how = JobEnd::rejected;
            }
            if (runs_.find(position) != nullptr) runs_.remove(position);
            job_removed(position);
            waiting_.remove(position);
            quotas_.comment(position, {});
            tell_holds(position);
            ++done_;
            ++changes_;
            last_news_ = now_;
            return;
        case DecisionKind::move:
            waiting.queue = decision.queue;
            break;
        case DecisionKind::comment:
            if (waiting.preempted_at != Instant{}) return;
            waiting.has_comment = true;
            waiting.commented = now_;
            waiting.comment = decision.text;
            quotas_.comment(position, decision.text);
            break;
        case DecisionKind::estimate:
            if (decision.start && outcome.how == JobEnd::none) {
                Estimate& estimate = run_.estimates[position];
                if (estimate.first == Instant{}) estimate.first = *decision.start;
                estimate.last = *decision.start;
            }
            return;
        case DecisionKind::accrue:
            waiting.accrual = accrual(decision.accrue_type, waiting.accrual.at(now_));
            break;
        case DecisionKind::preempt:  // handled above
        case DecisionKind::confirm:  // traces have no reservations
        case DecisionKind::deny:
        case DecisionKind::weigh:  // simulations have no groups of processes
            return;
    }
    if (fill(position, waiting.queue)) tell_waiting(position);
}

void Engine::cycle(SchedTimes& sched, CycleTrigger trigger) {
    sched.last = now_;
    ++run_.cycles;
    const sched::Decisions decided = scheduler_.cycle(now_, sched.name, trigger);
    for (const Decision& decision : decided.list) apply(decision);
    quotas_.counters(now_, scheduler_.inspect().quotas(now_, sched.name));
}

void Engine::run_cycles() {
    const bool by_jobs =
        dirty_ && (last_cycle_ == Instant::min() || now_ >= last_cycle_ + options_.cycle_interval);
    const bool was_dirty = std::exchange(dirty_, false);
    // If the program schedules for all schedulers, there are no cycles: it has looked at the changes itself.
    bool ran = std::ranges::all_of(scheds_, &SchedTimes::external);
    for (SchedTimes& sched : scheds_) {
        if (sched.external) {
            sched.wanted_by_time = sched.policy_switched = false;
            continue;
        }
        const bool iteration = now_ >= sched.last + sched.iteration;
        if (!by_jobs && !sched.wanted_by_time && !iteration) continue;
        // The end of a queue's hours may stop jobs though none waits.
        const bool may_stop_jobs = hours_stop_jobs_ && sched.wanted_by_time;
        const CycleTrigger trigger = sched.policy_switched ? CycleTrigger::policy_switch
                                     : by_jobs             ? CycleTrigger::job_new
                                                           : CycleTrigger::timer;
        sched.wanted_by_time = sched.policy_switched = false;
        if (waiting_.empty() && !may_stop_jobs) {
            sched.last = now_;
        } else {
            cycle(sched, trigger);
        }
        ran = true;
    }
    if (ran)
        last_cycle_ = now_;
    else
        dirty_ = was_dirty;
}

// Runs a cycle over all waiting jobs, so that each has a present reason for waiting at the end. Returns
// whether the cycle has changed something: a start, a preemption or a rejection.
bool Engine::look_at_all() {
    const std::size_t before = changes_;
    scheduler_.set_comments(true);
    for (SchedTimes& sched : scheds_)
        if (!waiting_.empty() && !sched.external) cycle(sched, CycleTrigger::timer);
    return changes_ != before;
}

// Returns the instant of the next event; Instant::max(): there is none.
Instant Engine::next_event() {
    Instant next = Instant::max();
    if (next_job_ < trace_.jobs.size()) next = trace_.jobs[next_job_].submit;
    next = std::min(next, next_end());
    if (waiting_.empty() && next == Instant::max()) return next;
    next = std::min({next, std::max(now_ + Seconds(1), deadline_), time_changes_});
    if (options_.external != nullptr)
        next = std::min(next, std::max(now_, options_.external->next_turn(*this)));
    if (waiting_.empty()) return next;
    if (dirty_) next = std::min(next, last_cycle_ + options_.cycle_interval);
    for (const SchedTimes& sched : scheds_)
        if (!sched.external) next = std::min(next, sched.last + sched.iteration);
    return std::max(next, now_);
}

void Engine::tell_progress() {
    if (options_.progress && ++events_ % kProgressEvery == 0)
        options_.progress({done_, trace_.jobs.size(), now_});
}

Result<Schedule> Engine::run() {
    tick();
    note_time();
    while (true) {
        if (options_.stop.stop_requested()) return tl::unexpected(std::string("it was stopped"));
        end_due();
        if (auto done = submit_due(); !done) return tl::unexpected(done.error());
        if (deadline_ <= now_) tick();
        if (time_changes_ <= now_) note_time();
        run_cycles();
        if (options_.external != nullptr)
            if (auto done = options_.external->turn(*this); !done) return tl::unexpected(done.error());
        tickets_.look(scheduler_, now_);
        deadline_ = scheduler_.next_deadline(now_);
        tell_progress();
        const Instant next = next_event();
        const bool over =
            next == Instant::max() || (next_job_ == trace_.jobs.size() && next > last_news_ + kPatience &&
                                       next_end() == Instant::max());
        if (!over)
            now_ = next;
        else if (!look_at_all())
            break;
    }
    run_.shares = shares_.end(scheduler_, run_.end);
    run_.tickets = tickets_.end();
    waiting_.for_each([&](Position job, const Waiting& waiting) {
        if (run_.outcomes[job].started()) return;
        count_reason(run_.waiting,
                     waiting.comment.empty() ? std::string_view("not looked at") : waiting.comment);
    });
    if (options_.external != nullptr) run_.cycles += options_.external->turns();
    run_.quotas = quotas_.end(run_.end);
    if (prime_) run_.prime.back().end = run_.end;
    for (Period& period : run_.prime) period.end = std::min(period.end, run_.end);
    std::erase_if(run_.prime, [](const Period& period) { return period.start >= period.end; });
    if (options_.progress) options_.progress({trace_.jobs.size(), trace_.jobs.size(), run_.end});
    return std::move(run_);
}

Result<Schedule> simulate(const Trace& trace, const Cluster& cluster,
                          const std::shared_ptr<const objects::Snapshot>& snapshot, const rrule::Zone& zone,
                          const EngineOptions& options) {
    Engine engine(trace, cluster, zone, options);
    if (auto done = engine.set_up(snapshot); !done) return tl::unexpected(done.error());
    return engine.run();
}

}  // namespace pbs::simulate
