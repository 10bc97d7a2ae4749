// From objects to a Configuration.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "objects/schema.h"
#include "objects/snapshot.h"
#include "objects/windows.h"
#include "server_plugin/scheduler/model/configuration.h"

namespace pbs::sched {
namespace {

using objects::Object;
using objects::ObjectType;

Since since(const Object& policy, std::string_view name, const rrule::Zone& zone) {
    const auto date = policy.true_from(name);
    if (!date)
        return {policy.boolean_at(name, objects::LocalTime{})};  // without a date, the time is of no matter
    using namespace std::chrono;
    const auto day =
        local_days{year{date->year} / static_cast<unsigned>(date->month) / static_cast<unsigned>(date->day)};
    return {false, zone.instant(day + hours(date->hour) + minutes(date->minute) + seconds(date->second))};
}

std::vector<QueueSpec> queues(const Object& policy, std::string_view name) {
    std::vector<QueueSpec> specs;
    for (const std::string& text : policy.list(name)) specs.push_back(parse_queue_spec(text));
    return specs;
}

std::vector<QueueSpec> queue(const Object& policy, std::string_view name) {
    if (policy.text(name).empty()) return {};
    return {parse_queue_spec(policy.text(name))};
}

std::vector<SortKey> sort_keys(const Object& policy, std::string_view name) {
    std::vector<SortKey> keys;
    for (const std::string& text : policy.list(name)) {
        const auto blank = std::min(text.find(' '), text.size());
        const auto order = text.substr(std::min(text.find_first_not_of(' ', blank), text.size()));
        keys.push_back({text.substr(0, blank), !order.starts_with('L') && !order.starts_with('l')});
    }
    return keys;
}

void read_standard(const Object& policy, Settings& s) {
    s.round_robin = policy.boolean("round_robin");
    s.round_robin_all = policy.boolean("round_robin_all");
    s.by_queue = policy.boolean("by_queue");
    s.strict_ordering = policy.boolean("strict_ordering");
    s.help_starving_jobs = policy.boolean("help_starving_jobs");
    s.max_starve = policy.seconds("max_starve");
    s.backfill_depth = policy.integer("backfill_depth");
    s.job_sort_formula = policy.text("job_sort_formula");
    s.schedule_log = policy.text("schedule_log");
    s.job_sort_key = sort_keys(policy, "job_sort_key");
    s.backfill_prime = policy.boolean("backfill_prime");
    s.prime_exempt_anytime_queues = policy.boolean("prime_exempt_anytime_queues");
    s.time_window_spill = policy.seconds("time_window_spill");
}

void read_origin_queues(const Object& policy, Settings& s) {
    s.submit_queue = queue(policy, "submit_queue");
    s.batch_queues = queues(policy, "batch_queues");
    s.special_queue = queue(policy, "special_queue");
    s.dedicated_queues = queues(policy, "dedicated_queues");
    s.external_queues = queues(policy, "external_queues");
}

// ENFORCE_DEDICATED_TIME is required for the command; without it the time_windows of type dedicated hold.
void read_dedicated_time_command(const Object& policy, const rrule::Zone& zone, Settings& s) {
    s.enforce_dedicated_time = since(policy, "enforce_dedicated_time", zone);
    s.dedicated_time_command = policy.text("dedicated_time_command");
    s.dedicated_time_cache = Seconds(policy.integer("dedicated_time_cache_secs"));
    s.system_name = policy.text("system_name");
}

void read_origin_limits(const Object& policy, const rrule::Zone& zone, Settings& s) {
    s.enforce_prime_time = since(policy, "enforce_prime_time", zone);
    s.prime_time_wallt_limit = policy.seconds("prime_time_wallt_limit");
    s.prime_time_small_node_limit = policy.integer("prime_time_small_node_limit");
    s.prime_time_small_wallt_limit = policy.seconds("prime_time_small_wallt_limit");
    s.small_job_max = policy.integer("small_job_max");
    s.wallt_limit_small_job = policy.seconds("wallt_limit_small_job");
    s.wallt_limit_large_job = policy.seconds("wallt_limit_large_job");
    if (policy.is_set("enforce_dedicated_time")) read_dedicated_time_command(policy, zone, s);
    s.max_dedicated_jobs = policy.integer("max_dedicated_jobs");
    s.nonprime_drain_sys = since(policy, "nonprime_drain_sys", zone);
    s.np_drain_backtime = policy.seconds("np_drain_backtime");
    s.np_drain_idletime = policy.seconds("np_drain_idletime");
    s.max_jobs = policy.integer("max_jobs");
    s.min_jobs = policy.integer("min_jobs");
    s.high_systime = policy.integer("high_systime");
    s.max_user_run_jobs = policy.integer("max_user_run_jobs");
    if (policy.is_set("target_load_pct") || policy.is_set("target_load_variance"))
        s.max_load_percent =
            policy.integer("target_load_pct") + policy.variance("target_load_variance").above;
}

RestartAction restart_action(std::string_view word) {
    if (word == "restart" || word == "rerun") return RestartAction::restart;
    return word == "resubmit" ? RestartAction::resubmit : RestartAction::none;
}

void read_origin_order(const Object& policy, const rrule::Zone& zone, Settings& s) {
    s.sort_by_past_usage = since(policy, "sort_by_past_usage", zone);
    s.past_usage_charge =
        policy.text("past_usage_charge") == "flat" ? PastUsageCharge::flat : PastUsageCharge::node_hours;
    s.decay_factor = policy.real("decay_factor");
    s.oa_decay_factor = policy.real("oa_decay_factor");
    s.enforce_allocation = since(policy, "enforce_allocation", zone);
    s.sched_acct_dir = policy.text("sched_acct_dir");
    s.max_queued_time = policy.seconds("max_queued_time");
    s.interactive_long_wait = policy.seconds("interactive_long_wait");
    s.small_queued_time = policy.seconds("small_queued_time");
    s.sorted_job_dumpfile = policy.text("sorted_job_dumpfile");
    s.manage_hpm_counters = since(policy, "manage_hpm_counters", zone);
    s.revoke_hpm_counters = since(policy, "revoke_hpm_counters", zone);
    s.hpm_ctl = policy.text("hpm_ctl");
    s.sched_restart_action = restart_action(policy.text("sched_restart_action"));
    s.sched_host = policy.text("sched_host");
    s.avoid_fragmentation = since(policy, "avoid_fragmentation", zone);
    s.test_only = since(policy, "test_only", zone);
    s.fake_machine_mult = policy.integer("fake_machine_mult");
    s.ssinode_cpus = policy.integer("ssinode_cpus");
    s.ssinode_mem = policy.bytes("ssinode_mem");
}

// A window without a rule never opens: it isn't in the set.
Result<rrule::WindowSet> window_set(const std::vector<const Object*>& windows, const rrule::Zone& zone,
                                    rrule::WindowCache& cache) {
    std::vector<rrule::WindowSpec> specs;
    std::vector<const Object*> objects;
    for (const Object* object : windows) {
        if (object == nullptr || object->text("rrule").empty()) continue;
        specs.push_back(objects::window_spec(*object));
        objects.push_back(object);
    }
    std::size_t failed = 0;
    auto set = cache.set(specs, zone, &failed);
    if (!set)
        return tl::unexpected(
            Error{fmt::format("time_window {}: {}", objects.at(failed)->name(), set.error().message)});
    return *std::move(set);
}

// Each once. Those that no scheduler has aren't read, however many there are.
std::set<const Object*> assigned_policies(const objects::Snapshot& snapshot) {
    std::set<const Object*> policies;
    for (const objects::ObjectPtr& sched : snapshot.objects(ObjectType::sched)) {
        const auto slots = snapshot.policy_slots(sched->name());
        for (const std::string& name : {slots.all_time, slots.prime, slots.non_prime}) {
            if (const Object* policy = snapshot.policy(name)) policies.insert(policy);
        }
    }
    return policies;
}

}  // namespace

QueueSpec parse_queue_spec(std::string_view text) {
    const auto at = text.find('@');
    if (at == std::string_view::npos) return {std::string(text)};
    return {std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

Settings read_policy(const Object& policy, const Configuration& configuration, const rrule::Zone& zone) {
    Settings s;
    s.name = policy.name();
    s.algorithm = policy.text("algorithm") == "origin" ? Algorithm::origin : Algorithm::standard;
    read_standard(policy, s);
    read_origin_queues(policy, s);
    read_origin_limits(policy, zone, s);
    read_origin_order(policy, zone, s);
    s.prime = configuration.prime.empty()
                  ? objects::weekday_prime_hours(policy, configuration.non_work_days, zone)
                  : configuration.prime;
    return s;
}

Result<Configuration> read_configuration(const objects::Snapshot& snapshot, const rrule::Zone& zone,
                                         rrule::WindowCache& cache) {
    Configuration configuration;
    auto holidays = cache.non_work_days(snapshot.non_work_days(), zone);
    if (!holidays) return tl::unexpected(Error{"non_work_days: " + holidays.error().message});

    auto prime = window_set(snapshot.time_windows_of_type("prime"), zone, cache);
    if (!prime) return tl::unexpected(prime.error());
    auto dedicated = window_set(snapshot.time_windows_of_type("dedicated"), zone, cache);
    if (!dedicated) return tl::unexpected(dedicated.error());
    configuration.prime = *std::move(prime);
    configuration.dedicated = *std::move(dedicated);
    configuration.non_work_days = *holidays;

    for (const objects::ObjectPtr& queue : snapshot.objects(ObjectType::queue)) {
        std::vector<const Object*> windows;
        for (const std::string& name : snapshot.queue_time_windows(queue->name()))
            windows.push_back(snapshot.time_window(name));
        if (windows.empty()) continue;
        auto set = window_set(windows, zone, cache);
        if (!set) return tl::unexpected(set.error());
        configuration.queue_windows.emplace(queue->name(), *std::move(set));
    }
    for (const objects::ObjectPtr& sched : snapshot.objects(ObjectType::sched)) {
        const auto slots = snapshot.policy_slots(sched->name());
        configuration.scheds[sched->name()] = {slots.all_time, slots.prime, slots.non_prime};
    }
    for (const Object* policy : assigned_policies(snapshot)) {
        configuration.policies[policy->name()] = read_policy(*policy, configuration, zone);
    }
    return configuration;
}

}  // namespace pbs::sched
