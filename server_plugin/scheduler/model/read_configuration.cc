// Makes a Configuration from the objects.

#include <fmt/format.h>

#include <set>

#include "objects/schema.h"
#include "objects/snapshot.h"
#include "objects/windows.h"
#include "server_plugin/scheduler/model/configuration.h"

namespace pbs::sched {
namespace {

using objects::Object;
using objects::ObjectType;

// Makes the set of these windows. A window without a rule never opens, so it is omitted.
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

Result<rrule::WindowSet> windows_of(const objects::Snapshot& snapshot, std::span<const std::string> names,
                                    const rrule::Zone& zone, rrule::WindowCache& cache) {
    std::vector<const Object*> windows;
    for (const std::string& name : names) windows.push_back(snapshot.time_window(name));
    return window_set(windows, zone, cache);
}

Result<QueueHours> hours_of(const objects::Snapshot& snapshot, std::span<const std::string> names,
                            const rrule::Zone& zone, rrule::WindowCache& cache) {
    auto open = windows_of(snapshot, names, zone, cache);
    if (!open) return tl::unexpected(open.error());
    std::vector<QueueHours::Window> windows;
    for (const std::string& name : names) {
        const Object* object = snapshot.time_window(name);
        auto own = windows_of(snapshot, std::span(&name, 1), zone, cache);
        if (object == nullptr || !own) continue;  // reported by the call above
        const std::string_view at_close = object->text("at_close");
        windows.push_back({name,
                           at_close == "suspend"   ? AtClose::suspend
                           : at_close == "requeue" ? AtClose::requeue
                                                   : AtClose::run,
                           *std::move(own)});
    }
    return QueueHours(*std::move(open), std::move(windows));
}

// Returns the policies that are in a slot of a scheduler, each once. The others aren't read, however many
// there are.
std::set<const Object*> assigned_policies(const objects::Snapshot& snapshot) {
    std::set<const Object*> policies;
    for (const objects::ObjectPtr& sched : snapshot.objects(ObjectType::sched)) {
        const auto slots = snapshot.policy_slots(sched->name());
        for (const std::string& name : slots.names()) {
            if (const Object* policy = snapshot.policy(name)) policies.insert(policy);
        }
    }
    return policies;
}

}  // namespace

Settings read_policy(const Object& policy, const Configuration& configuration, const rrule::Zone& zone) {
    Settings s(policy, zone);
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
        const auto names = snapshot.queue_time_windows(queue->name());
        if (names.empty()) continue;
        auto hours = hours_of(snapshot, names, zone, cache);
        if (!hours) return tl::unexpected(hours.error());
        configuration.queue_hours.emplace(queue->name(), *std::move(hours));
    }
    for (const objects::ObjectPtr& sched : snapshot.objects(ObjectType::sched)) {
        const auto slots = snapshot.policy_slots(sched->name());
        configuration.scheds[sched->name()] = {slots.all_time, slots.prime, slots.non_prime};
    }
    ByName<std::shared_ptr<const Quota>> quotas;
    for (const Object* policy : assigned_policies(snapshot)) {
        configuration.policies[policy->name()] = read_policy(*policy, configuration, zone);
        for (const std::string& name : policy->list("quotas")) {
            const Object* object = snapshot.find(ObjectType::quota, name);
            if (object == nullptr) continue;
            auto& quota = quotas[name];
            if (quota == nullptr) {
                auto windows = windows_of(snapshot, object->list("time_window"), zone, cache);
                if (!windows) return tl::unexpected(windows.error());
                quota = std::make_shared<const Quota>(*object, *std::move(windows));
            }
            configuration.policies[policy->name()].quotas.push_back(quota);
        }
        const std::string group(policy->text("fairshare_group"));
        if (const Object* object = group.empty() ? nullptr : snapshot.fs_group(group)) {
            const FsGroup& read =
                configuration.fs_groups.insert_or_assign(group, read_fs_group(*object)).first->second;
            configuration.policies[policy->name()].enforce_no_shares = read.enforce_no_shares;
        }
    }
    return configuration;
}

}  // namespace pbs::sched
