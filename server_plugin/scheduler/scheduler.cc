#include "server_plugin/scheduler/scheduler.h"

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/scheduler/explain/explain.h"
#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/log/schedule_log.h"
#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {
namespace {

// The soonest of some instants, where "none" is later than all.
void sooner(std::optional<Instant>& best, std::optional<Instant> other) {
    if (other && (!best || *other < *best)) best = other;
}

}  // namespace

// ---- Policies.

// In dedicated time p: if both slots are set; else by prime time; an empty slot falls back to all time.
Policy* Scheduler::Impl::active_policy(std::string_view sched, Instant now) {
    const auto known = scheds.find(sched);
    if (known != scheds.end() && known->second.is_known(now)) return known->second.until.policy;
    const Assigned slots = assigned(sched);
    Policy* chosen = nullptr;
    if (configuration.dedicated.contains(now)) {
        if (slots.prime != nullptr && slots.non_prime != nullptr) chosen = slots.prime;
    } else if (!configuration.prime.empty()) {
        chosen = configuration.prime.contains(now) ? slots.prime : slots.non_prime;
    }
    return chosen != nullptr ? chosen : slots.all_time;
}

// Policies before the sched_config file: "If both policy and sched_config files are present then sched_config
// file will be ignored" (PP-748, interface 1).
Assigned Scheduler::Impl::assigned(std::string_view sched) {
    const auto slots = configuration.scheds.find(sched);
    if (slots != configuration.scheds.end() && !slots->second.all_time.empty())
        return {policy(slots->second.all_time), policy(slots->second.prime), policy(slots->second.non_prime)};
    return sched_configs.assigned(sched);
}

// After a change of configuration: that isn't a switch by time.
void Scheduler::Impl::note_policies_in_force() {
    if (!last_tick) return;
    for (auto& [name, sched] : scheds) {
        const Policy* active = active_policy(name, *last_tick);
        sched.policy = active != nullptr ? active->settings.name : std::string();
    }
}

// The clock is first looked at, or was set back. What is in force at the first look is no switch from
// nothing: the next one is a switch from it.
void Scheduler::Impl::watch_from(Instant now) {
    const bool first = !last_tick;
    if (!first && *last_tick <= now) return;
    last_tick = now;
    look_again = look_again || !first;
    if (first) note_policies_in_force();
}

Policy* Scheduler::Impl::policy_of_queue(QueueSlot queue, Instant now) {
    for (const auto& [name, sched] : scheds)
        if (serves(name, sched, tables.queues[queue].partition)) return active_policy(name, sched, now);
    return nullptr;
}

// The partitions that a scheduler serves. Valid until it is asked again.
std::span<const std::uint32_t> Scheduler::Impl::served() {
    partitions.clear();
    for (const auto& [name, sched] : scheds)
        if (serves(name, sched, sched.partition)) partitions.push_back(sched.partition);
    return partitions;
}

// The policy whose decay_factor counts: of the scheduler `default` if it keeps past usage, else of the first
// that does.
Policy* Scheduler::Impl::usage_policy(Instant now) {
    const std::string_view keeper = usage_keeper(now);
    return keeper.empty() ? nullptr : active_policy(keeper, now);
}

std::string_view Scheduler::Impl::usage_keeper(Instant now) {
    const auto keeps = [&](std::string_view sched) {
        const Policy* p = active_policy(sched, now);
        return p != nullptr && p->settings.sort_by_past_usage.holds(now);
    };
    if (keeps(kDefaultSched)) return kDefaultSched;
    for (const auto& [name, sched] : scheds)
        if (keeps(name)) return name;
    return {};
}

// ---- Time.

// What DEDICATED_TIME_COMMAND tells begins and ends.
void Scheduler::Impl::outage_boundaries(const Settings& s, Instant t, std::optional<Instant>& next) const {
    if (s.enforce_dedicated_time.from && *s.enforce_dedicated_time.from > t)
        sooner(next, s.enforce_dedicated_time.from);
    if (s.dedicated_time_command.empty()) return;
    for (const std::string& host : outage_hosts(tables, s))
        sooner(next, next_outage_change(host_outages(tables, s, host).list, t));
}

// Is it a dedicated time of any host of the policy?
bool Scheduler::Impl::in_outage(const Settings& s, Instant t) const {
    if (s.dedicated_time_command.empty() || !s.enforce_dedicated_time.holds(t)) return false;
    return std::ranges::any_of(outage_hosts(tables, s), [&](const std::string& host) {
        const auto found = outage_at_or_after(host_outages(tables, s, host).list, t);
        return found && found->start <= t;
    });
}

// When options come into force, when prime time may end early in an idle queue, and when what is left of
// prime time is within the limit.
void Scheduler::Impl::option_boundaries(const Policy& policy, Instant t, std::optional<Instant>& next) const {
    const Settings& s = policy.settings;
    outage_boundaries(s, t, next);
    sooner(next, next_date(s, t));
    if (!s.enforce_prime_time.holds(t) || !s.prime.contains(t)) return;
    const auto end = s.prime.next_change(t);
    if (!end) return;
    for (const Seconds limit : {s.prime_time_wallt_limit, s.prime_time_small_wallt_limit})
        if (limit > Seconds(0) && *end - limit > t) sooner(next, *end - limit);
    if (s.np_drain_backtime == Seconds(0) || s.np_drain_idletime == Seconds(0)) return;
    for (const QueueSpec& spec : s.batch_queues) {
        const QueueSlot slot = tables.queues.find(spec.queue);
        if (slot == kNoSlot || !tables.queues[slot].running.empty()) continue;
        const Instant idle_long = tables.queues[slot].idle_since + s.np_drain_idletime + Seconds(1);
        const Instant early = std::max(*end - s.np_drain_backtime, idle_long);
        if (early > t && early < *end) sooner(next, early);
    }
}

// Users whose group is over its allocation forget more slowly.
void Scheduler::Impl::decay(Instant now, const Settings& s) {
    const auto found = tables.allocations.find(s.sched_acct_dir);
    const bool enforced = s.enforce_allocation.holds(now) && found != tables.allocations.end();
    tables.usage.decay(now, [&](std::string_view group) {
        return enforced && found->second.of(group).over() ? s.oa_decay_factor : s.decay_factor;
    });
}

// The first instant after t at which time alone may change what a cycle of the scheduler decides.
std::optional<Instant> Scheduler::Impl::boundary_after(std::string_view name, Sched& sched, Instant t) {
    if (sched.is_known(t)) return sched.until.boundary;
    std::optional<Instant> next;
    Policy* active = active_policy(name, t);
    if (active == nullptr) return next;
    sooner(next, configuration.dedicated.next_change(t));
    sooner(next, configuration.prime.next_change(t));
    for (const auto& [queue, windows] : configuration.queue_windows) {
        const QueueSlot slot = tables.queues.find(queue);
        if (slot != kNoSlot && serves(name, sched, tables.queues[slot].partition))
            sooner(next, windows.next_change(t));
    }
    sooner(next, active->settings.prime.next_change(t));
    option_boundaries(*active, t, next);
    for (const auto& [handle, reservation] : tables.reservations) {
        for (const Instant at : {reservation.held_start, reservation.held_end})
            if (!reservation.shares.empty() && at > t) sooner(next, at);
        const auto one = std::ranges::find_if(
            reservation.later, [&](const auto& later) { return !later.shares.empty() && later.end > t; });
        if (one != reservation.later.end()) sooner(next, one->start > t ? one->start : one->end);
    }
    // Queues become idle by events of jobs.
    if (active->settings.np_drain_idletime == Seconds(0))
        sched.until = Sched::Until{sched.events.since.times_all, t, next, active};
    return next;
}

// The first instant after t that a refusal names, or at which a job becomes overdue.
std::optional<Instant> Scheduler::Impl::named_after(const Sched& sched, Instant t) {
    std::optional<Instant> next;
    const auto named = sched.events.instants.upper_bound(t);
    if (named != sched.events.instants.end()) sooner(next, *named);
    const auto due = sched.events.pending.next_due();
    if (sched.events.pending_known && due && *due > t) sooner(next, *due);
    return next;
}

Instant Scheduler::next_deadline(Instant now) {
    settle();
    impl_->watch_from(now);
    if (impl_->look_again) return now;
    std::optional<Instant> next;
    for (auto& [name, sched] : impl_->scheds) {
        sooner(next, impl_->boundary_after(name, sched, *impl_->last_tick));
        sooner(next, impl_->named_after(sched, *impl_->last_tick));
    }
    if (impl_->usage_policy(now) != nullptr) sooner(next, impl_->tables.usage.next_decay(now));
    for (const auto& [name, sched] : impl_->scheds)
        for (const auto& [group, shares] : sched.shares) sooner(next, shares.tree.next_decay(now));
    return next.value_or(Instant::max());
}

TickResult Scheduler::tick(Instant now) {
    settle();
    TickResult result;
    impl_->watch_from(now);
    const auto has_come = [&](const std::optional<Instant>& at) { return at && *at <= now; };
    for (auto& [name, sched] : impl_->scheds) {
        const bool at_boundary = has_come(impl_->boundary_after(name, sched, *impl_->last_tick));
        const bool at_named = has_come(impl_->named_after(sched, *impl_->last_tick));
        const Policy* active = impl_->active_policy(name, now);
        const std::string policy = active != nullptr ? active->settings.name : std::string();
        const bool switched = policy != sched.policy && !sched.policy.empty();
        if (switched)
            result.switched.push_back(
                fmt::format("sched {}: policy {} is in force after {}", name, policy, sched.policy));
        const bool for_all = switched || impl_->look_again || at_boundary;
        sched.woken_for_instants = at_named && !for_all;
        if (for_all || at_named) result.due.push_back({name, switched});
        sched.policy = policy;
        result.policy_switched = result.policy_switched || switched;
    }
    result.cycle_wanted = !result.due.empty();
    impl_->last_tick = now;
    impl_->look_again = false;
    if (const Policy* policy = impl_->usage_policy(now)) impl_->decay(now, policy->settings);
    for (auto& [name, sched] : impl_->scheds)
        for (auto& [group, shares] : sched.shares) {
            shares.bring_up_to_date(impl_->tables, now);
            shares.tree.decay(now);
        }
    result.usage_changed = impl_->tables.usage.has_changes() || has_share_changes();
    return result;
}

Status Scheduler::status(Instant now, std::string_view sched) {
    if (impl_->background.runs) {
        const auto known = impl_->background.status.find(sched);
        return known == impl_->background.status.end() ? Status{} : known->second;
    }
    Status status;
    const Policy* active = impl_->active_policy(sched, now);
    const rrule::WindowSet& prime = impl_->prime_windows(active);
    const rrule::WindowSet& dedicated = impl_->configuration.dedicated;
    if (active != nullptr) {
        status.policy = active->settings.name;
        status.algorithm = active->settings.profile->name;
    }
    status.prime_time = prime.contains(now);
    const auto dedicated_at = [&](const Policy* policy, Instant t) {
        return dedicated.contains(t) || (policy != nullptr && impl_->in_outage(policy->settings, t));
    };
    status.dedicated_time = dedicated_at(active, now);
    sooner(status.next_change, prime.next_change(now));
    sooner(status.next_change, dedicated.next_change(now));
    if (active != nullptr) impl_->outage_boundaries(active->settings, now, status.next_change);
    if (!status.next_change) return status;
    const Policy* next = impl_->active_policy(sched, *status.next_change);
    if (next != nullptr) status.next_policy = next->settings.name;
    status.next_prime_time = prime.contains(*status.next_change);
    status.next_dedicated_time = dedicated_at(next, *status.next_change);
    return status;
}

// ---- Configuration and cycles.

namespace {

using Policies = std::map<std::string, Policy, std::less<>>;

Result<Policies> compile_all(const Configuration& configuration) {
    Policies policies;
    for (const auto& [name, settings] : configuration.policies) {
        auto policy = compile(settings);
        if (!policy) return tl::unexpected(policy.error());
        policies.emplace(name, *std::move(policy));
    }
    return policies;
}

}  // namespace

Result<void> Scheduler::set_configuration(std::shared_ptr<const objects::Snapshot> snapshot) {
    auto configuration = read_configuration(*snapshot, impl_->tables.zone, impl_->window_cache);
    if (!configuration) return tl::unexpected(configuration.error());
    impl_->window_cache.drop_unused();
    return set_configuration(*std::move(configuration), std::move(snapshot));
}

Result<void> Scheduler::set_configuration(Configuration configuration,
                                          std::shared_ptr<const objects::Snapshot> snapshot) {
    auto policies = compile_all(configuration);
    if (!policies) return tl::unexpected(policies.error());
    if (impl_->works_elsewhere()) {
        impl_->keep(ConfigurationRead{std::make_shared<Configuration>(std::move(configuration)),
                                      std::move(snapshot)});
        return {};
    }
    impl_->note(&EventsSince::settings_changed);
    std::swap(impl_->configuration, configuration);
    if (auto done = impl_->sched_configs.renew(impl_->file_context()); !done) {
        impl_->configuration = std::move(configuration);
        return done;
    }
    impl_->policies = *std::move(policies);
    impl_->snapshot = std::move(snapshot);
    impl_->renew_shares();
    impl_->note_policies_in_force();
    return {};
}

Result<void> Scheduler::set_sched_config(std::string_view sched,
                                         std::shared_ptr<const objects::Object> all_time,
                                         std::shared_ptr<const objects::Object> prime,
                                         std::shared_ptr<const objects::Object> non_prime) {
    settle();
    impl_->note(&EventsSince::settings_changed);
    auto done = impl_->sched_configs.set(sched, {std::move(all_time), std::move(prime), std::move(non_prime)},
                                         impl_->file_context());
    if (!done) return done;
    impl_->renew_shares();
    impl_->note_policies_in_force();
    return {};
}

bool Scheduler::zones_are_current(Instant now) {
    settle();
    if (impl_->zones_checked != now)
        impl_->zones_current = impl_->tables.zone.is_current() && impl_->window_cache.zones_are_current();
    impl_->zones_checked = now;
    return impl_->zones_current;
}

Result<void> Scheduler::renew_zones(std::shared_ptr<const objects::Snapshot> snapshot) {
    settle();
    impl_->zones_current = true;
    impl_->look_again = true;
    impl_->tables.zone = impl_->tables.zone.renewed();
    impl_->tables.last_ctime = {};
    impl_->window_cache.clear();
    // The policy that is in force may be another one now: to tick() that is a switch.
    std::map<std::string, std::string, std::less<>> in_force;
    for (const auto& [name, sched] : impl_->scheds) in_force.emplace(name, sched.policy);
    auto done = set_configuration(std::move(snapshot));
    for (auto& [name, sched] : impl_->scheds) sched.policy = std::move(in_force[name]);
    return done;
}

const rrule::Zone& Scheduler::zone() const {
    return impl_->tables.zone;
}

void Scheduler::clear_sched_config(std::string_view sched) {
    settle();
    impl_->note(&EventsSince::settings_changed);
    impl_->sched_configs.clear(sched);
    impl_->renew_shares();
    impl_->note_policies_in_force();
}

Decisions Scheduler::Impl::run(Instant now, std::string_view sched, CycleTrigger trigger, bool rehearsal) {
    const auto found = scheds.find(sched);
    Policy* policy = nullptr;
    if (found != scheds.end() && found->second.scheduling &&
        serves(sched, found->second, found->second.partition))
        policy = active_policy(sched, found->second, now);
    if (policy == nullptr) {
        Decisions none;
        none.memory = std::make_unique<std::pmr::monotonic_buffer_resource>();
        return none;
    }
    for (QueueSlot q = 0; q < tables.queues.size(); ++q) {
        Queue& queue = tables.queues[q];
        if (queue.running.empty() && queue.idle_since == Instant{}) queue.idle_since = now;
    }
    EventMemory& events = found->second.events;
    // Jobs that had become overdue aren't yet, when the clock was set back.
    if (!rehearsal && events.last && now < *events.last) events.pending_known = false;
    CycleInput input;
    input.tables = &tables;
    input.configuration = &configuration;
    input.policy = policy;
    input.memory = &found->second.memory;
    input.shares = shares_of(found->second, *policy);
    if (input.shares != nullptr) input.shares->bring_up_to_date(tables, now);
    if (!rehearsal) input.events = &events;
    input.partition = found->second.partition;
    if (sched == kDefaultSched) input.served = served();
    input.now = now;
    input.categories = categories;
    input.answers_reservations = answers_reservations;
    const bool of_event = trigger == CycleTrigger::job_new || trigger == CycleTrigger::job_ended ||
                          found->second.woken_for_instants;
    if (!rehearsal) found->second.woken_for_instants = false;
    input.keep_pending_jobs = by_events && categories && !rehearsal;
    input.by_events = input.keep_pending_jobs && of_event && only_events_since(found->second, sched, now);
    return run_cycle(input);
}

Decisions Scheduler::cycle(Instant now, std::string_view sched, CycleTrigger trigger) {
    settle();
    return impl_->run(now, sched, trigger, false);
}

void Scheduler::set_by_events(bool on) {
    settle();
    impl_->note(&EventsSince::settings_changed);
    impl_->by_events = on;
}

void Scheduler::set_divide_chunks(bool on) {
    settle();
    if (std::exchange(impl_->tables.divides_chunks, on) != on) impl_->note(&EventsSince::all);
}

bool Scheduler::divides_chunks() const {
    settle();
    return impl_->tables.divides_chunks;
}

void Scheduler::set_preempt(bool on) {
    settle();
    if (std::exchange(impl_->tables.preempts, on) != on) impl_->note(&EventsSince::all);
}

void Scheduler::set_answer_reservations(bool on) {
    settle();
    if (std::exchange(impl_->answers_reservations, on) != on) impl_->note(&EventsSince::all);
}

bool Scheduler::preempts() const {
    settle();
    return impl_->tables.preempts;
}

void Scheduler::set_tell_estimates(bool on) {
    settle();
    impl_->tables.estimates.on = on;
}

void Scheduler::set_comment_interval(Seconds interval) {
    settle();
    impl_->comment_interval = interval;
}

// Has time alone changed nothing since the last cycle? Now and then all jobs are looked at in any case, for
// the comments of those that wait.
bool Scheduler::Impl::only_events_since(Sched& sched, std::string_view name, Instant now) {
    const EventMemory& memory = sched.events;
    if (!memory.last || now < *memory.last || now - memory.last_full >= comment_interval) return false;
    const auto boundary = boundary_after(name, sched, *memory.last);
    return !boundary || *boundary > now;
}

namespace {

// Why no cycle looks at a job in a state other than queued.
std::string not_queued(const Tables& tables, JobSlot job) {
    const char state = tables.jobs.state[job];
    if (state == 'S') return "it is suspended";
    if (is_running(state))
        return fmt::format("it runs, since {}", ctime_text(tables.jobs.stime[job], tables.zone));
    switch (state) {
        case 'A':
            return "it couldn't be run when that was tried last, and is tried again later";
        case 'H':
            return "it is held";
        case 'B':
            return "no more of its subjobs may start now";
        case 'W':
            return "it waits for its execution time";
        case 'T':
            return "it is being moved";
        default:
            return fmt::format("its state is {}", state);
    }
}

JobSlot find_job(const JobTable& jobs, std::string_view id) {
    const auto found = std::ranges::find(jobs.id, id);
    return id.empty() || found == jobs.id.end() ? kNoSlot : static_cast<JobSlot>(found - jobs.id.begin());
}

}  // namespace

std::optional<Explanation> Inspector::explain(Instant now, std::string_view job_id) {
    Tables& tables = impl_->tables;
    const JobSlot job = find_job(tables.jobs, job_id);
    if (job == kNoSlot) return std::nullopt;
    Explanation out;
    out.job = job_id;
    const Queue& queue = tables.queues[tables.jobs.queue[job]];
    const auto sched = std::ranges::find_if(
        impl_->scheds, [&](const auto& s) { return impl_->serves(s.first, s.second, queue.partition); });
    if (sched == impl_->scheds.end()) {
        out.reason = text({ReasonCode::no_scheduler, tables.jobs.queue[job], queue.partition},
                          tables.reason_context());
        return out;
    }
    out.sched = sched->first;
    Policy* policy = impl_->active_policy(sched->first, now);
    if (policy != nullptr) {
        out.policy = policy->settings.name;
        out.algorithm = policy->settings.profile->name;
        if (SchedShares* shares = impl_->shares_of(sched->second, *policy))
            out.shares = impl_->shares_of_job(*shares, sched->first, sched->second, job, now);
    }
    if (tables.jobs.state[job] != 'Q') {
        out.reason = not_queued(tables, job);
    } else if (!sched->second.scheduling) {
        out.reason = fmt::format("scheduling is off in sched {}", sched->first);
    } else if (policy == nullptr) {
        out.reason = fmt::format("sched {} has no policy", sched->first);
    } else {
        SchedMemory memory = sched->second.memory;  // a cycle leaves its marks there
        CycleInput input;
        input.tables = &tables;
        input.configuration = &impl_->configuration;
        input.policy = policy;
        input.memory = &memory;
        input.partition = sched->second.partition;
        input.now = now;
        input.categories = impl_->categories;
        input.explained = job;
        input.shares = impl_->shares_of(sched->second, *policy);
        input.explanation = &out;
        explain_job(input);
    }
    return out;
}

Decisions Scheduler::place(Instant now, JobHandle handle, bool preempts) {
    settle();
    Tables& tables = impl_->tables;
    const JobSlot job = tables.jobs.find(handle);
    if (job == kNoSlot) return {};
    Policy standard = *compile({});  // where none is in force
    Policy* const active = impl_->policy_of_queue(tables.jobs.queue[job], now);
    SchedMemory memory;
    CycleInput input;
    input.tables = &tables;
    input.configuration = &impl_->configuration;
    input.policy = active != nullptr ? active : &standard;
    input.memory = &memory;
    input.partition = tables.queues[tables.jobs.queue[job]].partition;
    input.now = now;
    return place_job(input, job, preempts);
}

void Scheduler::set_categories(bool on) {
    settle();
    impl_->note(&EventsSince::settings_changed);
    impl_->categories = on;
}

// ---- Events.

Scheduler::Scheduler(rrule::Zone zone) : impl_(std::make_unique<Impl>(std::move(zone))) {}
Scheduler::~Scheduler() {
    if (impl_->background.runs) impl_->background.thread.join();
}

void Scheduler::resource_defined(const ResourceRecord& record) {
    if (impl_->keep(record)) return;
    impl_->note(&EventsSince::settings_changed);
    Tables& t = impl_->tables;
    t.resources.define(record);
    t.requests.recompile(t.resources);
    t.vnodes.rebuild(t.resources);
    t.recount();
    for (auto& [name, policy] : impl_->policies) policy.resources_seen = SIZE_MAX;
    impl_->sched_configs.resources_changed();
}

Result<void> Scheduler::server_changed(const ServerRecord& record) {
    if (impl_->keep(record)) return {};
    impl_->note(&EventsSince::settings_changed);
    impl_->tables.server = {record.max_running,
                            record.max_user_run,
                            record.max_group_run,
                            keep(record.resources_available),
                            record.backfill_depth,
                            record.eligible_since,
                            std::move(impl_->tables.server.limits)};
    impl_->set_limits(impl_->tables.server.limits, EntityUse::kServer, record.limits);
    impl_->tables.server_host = record.host_name.empty() ? record.name : record.host_name;
    impl_->tables.suspend_releases = record.suspend_releases;
    impl_->tables.node_group_enable = record.node_group_enable;
    impl_->tables.node_group_key = record.node_group_key;
    if (impl_->server_formula == record.job_sort_formula) return {};
    std::string before = std::exchange(impl_->server_formula, std::string(record.job_sort_formula));
    const auto done = impl_->sched_configs.renew(impl_->file_context());
    if (done) return {};
    impl_->server_formula = std::move(before);
    return tl::unexpected(
        Error{fmt::format("job_sort_formula of the server is not used: {}", done.error().message)});
}

// What running jobs use is counted for what limits are about.
void Scheduler::Impl::set_limits(EntityLimits& limits, std::uint32_t scope,
                                 std::span<const EntityLimitRecord> records) {
    EntityLimits told(records, tables.strings, tables.resources);
    if (told == limits) return;
    limits = std::move(told);
    tables.counts.watch(scope, limits);
    tables.recount();
    const bool by_project = tables.tells_projects_apart();
    if (std::exchange(tables.by_project, by_project) == by_project) return;
    tables.jobs.for_each([&](JobSlot slot) {
        Signature signature = tables.signatures[tables.jobs.signature[slot]];
        signature.project = by_project ? tables.jobs.project[slot] : 0;
        const auto number = tables.signatures.acquire(signature);
        tables.signatures.release(std::exchange(tables.jobs.signature[slot], number));
    });
}

void Scheduler::sched_changed(const SchedRecord& record) {
    if (impl_->keep(record)) return;
    impl_->note(&EventsSince::settings_changed);
    Sched& sched = impl_->scheds[std::string(record.name)];
    sched.scheduling = record.scheduling;
    const std::uint32_t partition = impl_->tables.strings.id(record.partition);
    if (std::exchange(sched.partition, partition) != partition) impl_->enroll_all();
    impl_->renew_shares();
}

void Scheduler::sched_removed(std::string_view name) {
    if (impl_->keep(SchedGone{name})) return;
    if (const auto found = impl_->scheds.find(name); found != impl_->scheds.end()) {
        found->second.events.schedule.clear(impl_->tables.requests);
        impl_->leave_shares(found->first, found->second, {});
        impl_->scheds.erase(found);
    }
    clear_sched_config(name);
}

void Scheduler::queue_changed(const QueueRecord& record) {
    if (impl_->keep(record)) return;
    impl_->note(&EventsSince::settings_changed);
    Queue& queue = impl_->tables.queues[impl_->tables.queues.slot(record.queue)];
    queue.known = true;
    queue.name = record.name;
    queue.execution = record.execution;
    queue.started = record.started;
    queue.enabled = record.enabled;
    queue.user_acl = record.user_acl;
    queue.priority = record.priority;
    queue.max_running = record.max_running;
    queue.max_user_run = record.max_user_run;
    queue.max_group_run = record.max_group_run;
    queue.resources_max = keep(record.resources_max);
    queue.resources_min = keep(record.resources_min);
    queue.resources_available = keep(record.resources_available);
    queue.node_group_key = record.node_group_key;
    queue.acl_users.assign(record.acl_users.begin(), record.acl_users.end());
    const std::uint32_t partition = impl_->tables.strings.id(record.partition);
    if (std::exchange(queue.partition, partition) != partition) impl_->enroll_all();
    queue.backfill_depth = record.backfill_depth;
    queue.execution_type = record.execution_type;
    impl_->set_limits(queue.limits, impl_->tables.queues.slot(record.queue), record.limits);
}

void Scheduler::queue_removed(QueueHandle handle) {
    if (impl_->keep(QueueGone{handle})) return;
    impl_->note(&EventsSince::settings_changed);
    if (const QueueSlot slot = impl_->tables.queues.find(handle); slot != kNoSlot)
        impl_->tables.queues[slot].known = false;
}

void Scheduler::vnode_changed(const VnodeRecord& record) {
    if (impl_->keep(record)) return;
    // What load a host has matters to no policy that goes by events, unless it has a maximum.
    if (impl_->tables.vnodes.change(record, impl_->tables.resources)) impl_->note(&EventsSince::all);
}

void Scheduler::vnode_removed(VnodeHandle vnode) {
    if (impl_->keep(VnodeGone{vnode})) return;
    impl_->note(&EventsSince::all);
    impl_->tables.vnodes.remove(vnode);
}

namespace {

void release_requests(Requests& requests, const AdvanceReservation& reservation) {
    requests.release(reservation.request);
    requests.release(reservation.later_request);
}

}  // namespace

// Any job may start otherwise than before, and its queue is one that jobs start in.
void Scheduler::reservation_changed(const ReservationRecord& record) {
    if (impl_->keep(record)) return;
    impl_->note(&EventsSince::settings_changed);
    Tables& t = impl_->tables;
    const std::uint32_t request = t.requests.acquire(record.requested, t.resources);
    const std::uint32_t later_request = t.requests.acquire(
        record.later_requested.empty() ? record.requested : record.later_requested, t.resources);
    const auto [at, is_new] = t.reservations.try_emplace(record.reservation);
    AdvanceReservation& reservation = at->second;
    if (!is_new) release_requests(t.requests, reservation);
    reservation.id = record.id;
    reservation.queue = record.queue;
    reservation.asked = record.asked;
    reservation.start = record.start;
    reservation.end = record.end;
    reservation.request = request;
    reservation.later_request = later_request;
    reservation.held_start = record.asked ? record.held_start : record.start;
    reservation.held_end = record.asked ? record.held_end : record.end;
    const auto shares = [](std::span<const Place> places) {
        std::vector<AdvanceReservation::Share> held;
        held.reserve(places.size());
        for (const Place& place : places) {
            AdvanceReservation::Share& share = held.emplace_back();
            share.vnode = place.vnode;
            for (const Amount& amount : place.amounts)
                share.amounts.push_back({amount.resource, amount.number});
        }
        return held;
    };
    reservation.shares = shares(record.places);
    reservation.keeps_first = record.asked && record.keeps_first;
    reservation.soonest = record.asked && record.soonest;
    reservation.later.clear();
    for (const ReservationOccurrence& one : record.later)
        reservation.later.push_back({one.start, one.end, record.asked && one.asked, shares(one.places)});
}

void Scheduler::reservation_removed(ReservationHandle handle) {
    if (impl_->keep(ReservationGone{handle})) return;
    Tables& t = impl_->tables;
    const auto found = t.reservations.find(handle);
    if (found == t.reservations.end()) return;
    impl_->note(&EventsSince::settings_changed);
    release_requests(t.requests, found->second);
    t.reservations.erase(found);
}

namespace {

// A job that a decision has suspended waits as a queued one does, and everybody else's in state S holds what
// it has.
char table_state(const JobRecord& record) {
    return record.suspended && record.state == 'S' ? 'Q' : record.state;
}

}  // namespace

void Scheduler::Impl::fill_job(JobSlot slot, const JobRecord& record) {
    JobTable& jobs = tables.jobs;
    const auto request = tables.requests.acquire(record.requested, tables.resources);
    const bool is_new = jobs.state[slot] == ' ';
    if (!is_new) tables.requests.release(jobs.request[slot]);
    jobs.request[slot] = request;
    jobs.id[slot] = record.id;
    const auto user = std::pair(jobs.group[slot], jobs.owner[slot]);
    jobs.take_fields(slot, record, tables.strings);
    if (is_new || user != std::pair(jobs.group[slot], jobs.owner[slot]))
        jobs.user[slot] = tables.user(jobs.group[slot], jobs.owner[slot]);
    const QueueSlot queue = tables.queues.slot(record.queue);
    const bool arrived = is_new || jobs.queue[slot] != queue;
    jobs.queue[slot] = queue;
    // A comment that was decided on for a job that is held by now hasn't been given.
    if (!is_new && jobs.state[slot] != table_state(record)) jobs.comment[slot] = 0;
    jobs.state[slot] = table_state(record);
    if (arrived) jobs.flags[slot] |= job_fresh;
    jobs.eligible[slot] = record.etime == Instant{} ? record.ctime : record.etime;
    if (record.accrual == Accrual{})
        jobs.accruals.erase(slot);
    else
        jobs.accruals[slot] = record.accrual;
    // 3,000 years are as good as more, and can be added to any instant.
    const Seconds hard = std::min(record.walltime, Seconds(100'000'000'000));
    jobs.walltime[slot] = hard;
    jobs.hard_walltimes.erase(slot);
    if (record.soft_walltime > Seconds(0) && (hard < Seconds(0) || record.soft_walltime < hard)) {
        jobs.walltime[slot] = std::min(record.soft_walltime, kUnlimitedWalltime);
        const Seconds ended = hard < Seconds(0) ? kUnlimitedWalltime : hard;
        jobs.hard_walltimes.emplace(slot, JobTable::HardWalltime{ended, record.extended});
    }
    // The new one before the old one is given back: the same number means that it is the same.
    const auto signature = tables.signatures.acquire(
        {jobs.walltime[slot], request, jobs.run_host[slot], queue, jobs.is_suspended(slot) ? slot + 1 : 0,
         tables.by_project ? jobs.project[slot] : 0, jobs.hard_walltime(slot)});
    if (!is_new) tables.signatures.release(jobs.signature[slot]);
    jobs.signature[slot] = signature;
    if (!record.account.empty())
        tables.accounts[slot] = tables.strings.id(record.account);
    else if (!tables.accounts.empty())
        tables.accounts.erase(slot);
    if (!record.used.empty()) tables.used[slot] = sched::keep(record.used);
    tables.suspended.erase(slot);
    if (!jobs.is_suspended(slot)) return;
    auto& places = tables.suspended[slot];
    for (const Place& place : record.places) {
        auto& amounts = places.emplace_back(Tables::GivenBack{place.vnode, {}}).amounts;
        for (const Amount& amount : place.amounts) amounts.push_back({amount.resource, amount.number});
    }
}

// Starting a job adds its charge to the stored usage, once.
void Scheduler::Impl::started_running(Instant now, JobSlot slot) {
    const Policy* policy = policy_of_queue(tables.jobs.queue[slot], now);
    if (policy == nullptr) return;
    if (const auto charge = start_charge(tables, policy->settings, now, slot))
        tables.usage.charge({slot, tables.jobs.id[slot]}, tables.user_of(slot), *charge);
    const auto charge = allocation_charge(tables, policy->settings, now, slot);
    if (!charge) return;
    Allocations& allocations = tables.allocations[policy->settings.sched_acct_dir];
    const std::string_view group = tables.strings.text(tables.jobs.group[slot]);
    const bool was_over = allocations.of(group).over();
    allocations.charge(tables.jobs.id[slot], group, *charge);
    // Whatever jobs of the group wait for: they are rejected now.
    if (!was_over && allocations.of(group).over()) note(&EventsSince::all);
}

void Scheduler::Impl::ended_running(Instant now, JobSlot slot) {
    tables.usage.forget_job({slot, tables.jobs.id[slot]});
    unshare_job(slot, now, tables.jobs.is_suspended(slot));
    tables.used.erase(slot);
    for (auto& [dir, allocations] : tables.allocations) allocations.job_ended(tables.jobs.id[slot]);
}

namespace {

// What of a queued job matters to its place in the order and to whether it may start.
struct QueuedJob {
    std::uint32_t signature;
    std::uint32_t user;
    std::uint32_t origin_queue;
    std::uint64_t sequence;
    std::int32_t priority;
    Instant qtime;
    Instant eligible;
    bool interactive;
    std::uint32_t account;
    Instant preempted_at;
    friend bool operator==(const QueuedJob&, const QueuedJob&) = default;
};

QueuedJob queued_job(const Tables& t, JobSlot slot) {
    const JobTable& jobs = t.jobs;
    const auto account = t.accounts.find(slot);
    return {jobs.signature[slot],
            jobs.user[slot],
            jobs.origin_queue[slot],
            jobs.sequence[slot],
            jobs.priority[slot],
            jobs.qtime[slot],
            jobs.eligible[slot],
            (jobs.flags[slot] & job_interactive) != 0,
            account == t.accounts.end() ? 0 : account->second,
            jobs.seldom_of(slot).preempted_at};
}

// What speaks for preempting a job: bits, none of a job that doesn't run.
unsigned preemptable(const JobTable& jobs, JobSlot slot) {
    constexpr unsigned kFor = job_rerunnable | job_checkpointable;
    constexpr unsigned kRuns = 1U << 8;
    if (jobs.state[slot] != 'R' || (jobs.flags[slot] & job_not_preemptable) != 0) return 0;
    return kRuns | (jobs.flags[slot] & kFor);
}

}  // namespace

// Into the lists and sums of its queue.
void Scheduler::Impl::list(JobSlot slot) {
    enlist(tables.jobs, tables.queues, slot);
    if (is_running(tables.jobs.state[slot])) tables.count_running(slot, 1);
}

void Scheduler::Impl::take_off(JobSlot slot) {
    if (is_running(tables.jobs.state[slot])) tables.count_running(slot, -1);
    delist(tables.jobs, tables.queues, slot);
}

void Scheduler::Impl::forget_pending(JobSlot slot) {
    for (auto& [name, sched] : scheds) sched.events.pending.remove(slot);
}

// While it still holds what it ran with.
void Scheduler::Impl::log_end(Instant now, JobSlot slot) {
    for (const auto& [name, sched] : scheds) {
        if (!serves(name, sched, tables.queues[tables.jobs.queue[slot]].partition)) continue;
        const Policy* policy = active_policy(name, sched, now);
        if (policy == nullptr || policy->settings.schedule_log.empty()) return;
        const std::string& path = policy->settings.schedule_log;
        if (schedule.empty() || schedule.back().sched != name || schedule.back().file.path != path)
            schedule.push_back({name, {path, {}}});
        add_schedule_records(schedule.back().file.text, tables, now, ended_entry(tables, now, slot));
        return;
    }
}

std::vector<ScheduleRecords> Scheduler::take_schedule() {
    if (impl_->background.runs) return {};
    return std::exchange(impl_->schedule, {});
}

void Scheduler::job_changed(Instant now, const JobRecord& record) {
    if (impl_->keep(JobChanged{now, record})) return;
    Tables& t = impl_->tables;
    JobSlot slot = t.jobs.find(record.job);
    const bool is_new = slot == kNoSlot;
    if (is_new) slot = t.jobs.add(record.job);
    const bool ran = !is_new && is_running(t.jobs.state[slot]);
    const bool waited = !is_new && t.jobs.state[slot] == 'Q';
    const bool was_suspended = !is_new && t.jobs.is_suspended(slot);
    const unsigned was_preemptable = is_new ? 0 : preemptable(t.jobs, slot);
    const QueueSlot old_queue = is_new ? kNoSlot : t.jobs.queue[slot];
    const QueuedJob before = queued_job(t, slot);
    const Seconds old_walltime = t.jobs.walltime[slot];
    const Instant old_stime = t.jobs.stime[slot];
    const Entities old_entities = t.jobs.entities(slot);
    const char state = table_state(record);
    if (ran && !is_running(state)) {
        impl_->log_end(now, slot);
        impl_->note_end(slot);
    }
    if (!is_new) impl_->take_off(slot);
    impl_->fill_job(slot, record);
    impl_->list(slot);

    const bool runs = is_running(state);
    const bool waits = state == 'Q';
    if (!waits) t.estimates.left_queue(record.job);
    if (!(waited && waits && queued_job(t, slot) == before)) {
        if (waited) impl_->forget_pending(slot);
        if (waits) impl_->note(&EventsSince::job_changed, slot);
    }
    const Request& request = t.requests[t.jobs.request[slot]];
    if (runs && ran && t.vnodes.holds(slot, record.places, request)) {
        // As it was, but for what it has used so far.
        const QueuedJob after = queued_job(t, slot);
        // Another one may ask for less of a limit than before, or may be preempted now.
        if (t.jobs.queue[slot] != old_queue || t.jobs.walltime[slot] != old_walltime ||
            after.signature != before.signature || after.user != before.user ||
            (preemptable(t.jobs, slot) & ~was_preemptable) != 0)
            impl_->note(&EventsSince::all);
        else if (t.jobs.stime[slot] != old_stime)
            impl_->forget_kept();
    } else if (runs) {
        if (ran) impl_->note(&EventsSince::all);
        t.vnodes.allocate(slot, record.places, request, t.jobs.stime[slot]);
    } else if (ran) {
        impl_->note(&EventsSince::job_ended, old_queue, old_entities, t.vnodes.held_by(slot));
        t.vnodes.release(slot);
    }
    // What a suspended job keeps of its vnodes.
    if (!runs && (t.jobs.is_suspended(slot) || was_suspended)) {
        t.vnodes.release(slot);
        t.vnodes.allocate(slot, record.kept, Request{});
        impl_->note(&EventsSince::all);
        if (!t.jobs.is_suspended(slot)) impl_->unshare_job(slot, now);
    }
    if (runs && !ran) {
        impl_->note(&EventsSince::job_started,
                    std::ranges::any_of(t.vnodes.held_by(slot), [&](VnodeSlot vnode) {
                        return t.vnodes.sole(vnode, request.sharing) != Sole::nothing;
                    }));
        impl_->note_start(slot);
        impl_->started_running(now, slot);
    }
    if (ran && !runs) impl_->ended_running(now, slot);
    impl_->share_job(slot, now);
    if (runs) t.queues[t.jobs.queue[slot]].idle_since = {};
    if (ran && t.queues[old_queue].running.empty()) t.queues[old_queue].idle_since = now;
}

void Scheduler::job_removed(Instant now, JobHandle job) {
    if (impl_->keep(JobGone{now, job})) return;
    Tables& t = impl_->tables;
    const JobSlot slot = t.jobs.find(job);
    if (slot == kNoSlot) return;
    const bool ran = is_running(t.jobs.state[slot]);
    if (ran) {
        impl_->log_end(now, slot);
        impl_->note_end(slot);
    }
    impl_->take_off(slot);
    impl_->forget_pending(slot);
    t.estimates.forget(job);
    if (ran) {
        impl_->note(&EventsSince::job_ended, t.jobs.queue[slot], t.jobs.entities(slot),
                    t.vnodes.held_by(slot));
        t.vnodes.release(slot);
        impl_->ended_running(now, slot);
        Queue& queue = t.queues[t.jobs.queue[slot]];
        if (queue.running.empty()) queue.idle_since = now;
    }
    t.requests.release(t.jobs.request[slot]);
    t.signatures.release(t.jobs.signature[slot]);
    if (!ran && t.jobs.is_suspended(slot)) {
        t.vnodes.release(slot);
        impl_->unshare_job(slot, now);
        impl_->note(&EventsSince::all);
    }
    t.accounts.erase(slot);
    t.used.erase(slot);
    t.suspended.erase(slot);
    t.jobs.remove(slot);
}

// ---- Dedicated times.

std::vector<OutageQuestion> Scheduler::outage_questions(Instant now, std::string_view sched) {
    settle();
    std::vector<OutageQuestion> questions;
    const Policy* policy = impl_->active_policy(sched, now);
    if (policy == nullptr) return questions;
    const Settings& s = policy->settings;
    if (s.dedicated_time_command.empty() || !s.enforce_dedicated_time.holds(now)) return questions;
    auto names = outage_hosts(impl_->tables, s);
    if (!s.system_name.empty()) names.push_back(s.system_name);
    for (std::string& name : names)
        questions.push_back(
            {s.dedicated_time_command, std::move(name), Seconds(s.dedicated_time_cache_secs)});
    return questions;
}

void Scheduler::await_outages(std::string_view command, std::string_view name) {
    settle();
    impl_->note(&EventsSince::all);
    impl_->tables.outages.await(command, name);
}

bool Scheduler::set_outages(std::string_view command, std::string_view name, std::vector<Outage> outages) {
    settle();
    impl_->note(&EventsSince::all);
    return impl_->tables.outages.set(command, name, std::move(outages));
}

bool Scheduler::settle_outages(std::string_view command, std::string_view name) {
    settle();
    impl_->note(&EventsSince::all);
    return impl_->tables.outages.settle(command, name);
}

// ---- Allocations and counters.

std::string Scheduler::accounting_dir(Instant now, std::string_view sched) {
    settle();
    const Policy* policy = impl_->active_policy(sched, now);
    if (policy == nullptr) return {};
    return policy->settings.enforce_allocation.holds(now) ? policy->settings.sched_acct_dir : std::string();
}

void Scheduler::set_allocated(std::string_view dir, NodeHours groups) {
    settle();
    impl_->note(&EventsSince::all);
    impl_->tables.allocations[std::string(dir)].set_allocated(std::move(groups));
}

void Scheduler::set_used(std::string_view dir, NodeHours groups) {
    settle();
    impl_->note(&EventsSince::all);
    impl_->tables.allocations[std::string(dir)].set_used(std::move(groups));
}

std::optional<HpmSource> Scheduler::hpm_source(Instant now, std::string_view sched) {
    settle();
    const Policy* policy = impl_->active_policy(sched, now);
    if (policy == nullptr) return std::nullopt;
    const Settings& s = policy->settings;
    if (!s.manage_hpm_counters.holds(now) || s.hpm_ctl.empty() || s.test_only.holds(now)) return std::nullopt;
    const Tables& t = impl_->tables;
    const auto hpm = t.resources.id("hpm");
    HpmSource source{s.hpm_ctl, s.revoke_hpm_counters.holds(now), false};
    for (QueueSlot q = 0; q < t.queues.size() && !source.used; ++q)
        source.used = std::ranges::any_of(t.queues[q].running, [&](JobSlot job) {
            return number_of(t.requests[t.jobs.request[job]].totals, hpm).value_or(0) != 0;
        });
    return source;
}

void Scheduler::set_hpm(HpmCounters counters) {
    settle();
    impl_->note(&EventsSince::all);
    impl_->tables.hpm = counters;
}

// ---- Amounts that programs tell.

std::vector<std::string> Scheduler::told_elements(Instant now, std::string_view sched) {
    settle();
    const Policy* policy = impl_->active_policy(sched, now);
    std::vector<std::string> elements;
    if (policy == nullptr || policy->settings.test_only.holds(now)) return elements;
    const Tables& t = impl_->tables;
    for (const std::string& element : policy->settings.server_dyn_res)
        if (t.requests.asks_for(t.resources.id(ToldBy::of(element).resource))) elements.push_back(element);
    return elements;
}

bool Scheduler::set_told(std::string_view element, std::string_view output) {
    settle();
    if (!impl_->tables.told.set(element, std::string(output.substr(0, output.find('\n'))))) return false;
    impl_->note(&EventsSince::amount_told);
    return true;
}

bool Scheduler::is_amount(std::string_view element, std::string_view output) const {
    settle();
    const Resources& resources = impl_->tables.resources;
    return resources.parse_told(resources.id(ToldBy::of(element).resource), output).has_value();
}

// ---- Past usage.

void Scheduler::load_usage(std::span<const UsageRow> rows, std::span<const ChargeRow> charges,
                           Instant last_decay) {
    settle();
    impl_->note(&EventsSince::all);
    impl_->tables.usage.load(rows, charges, last_decay);
}

UsageChanges Scheduler::take_usage_changes() {
    settle();
    return impl_->tables.usage.take_changes();
}

void Scheduler::keep_usage_changes(bool keep) {
    settle();
    impl_->tables.usage.keep_changes(keep);
}

std::vector<UsageRow> Scheduler::usage_rows() const {
    settle();
    return impl_->tables.usage.rows();
}

std::string Scheduler::usage_keeper(Instant now) {
    settle();
    return std::string(impl_->usage_keeper(now));
}

bool Scheduler::has_usage_changes() const {
    settle();
    return impl_->tables.usage.has_changes();
}

}  // namespace pbs::sched
