#include "server_plugin/plugin/queue_settings.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "objects/unsupported.h"
#include "server_plugin/plugin/configuration.h"
#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

// The scheduler of the queues without a partition.
constexpr std::string_view kDefaultSched = "default";

// Returns the scheduler of a partition; empty: no scheduler has the partition.
std::string_view sched_of(const State& state, std::string_view partition) {
    if (partition.empty()) return kDefaultSched;
    const auto found =
        std::ranges::find_if(state.partitions, [&](const auto& known) { return known.second == partition; });
    return found == state.partitions.end() ? std::string_view{} : std::string_view(found->first);
}

// Returns the policy in force as the scheduler uses it: if it comes from a sched_config file, the server's
// job_sort_formula replaces the policy's.
std::optional<objects::Object> policy_in_force(State& state, std::string_view sched, sched::Instant now) {
    const std::string name = state.scheduler.status(now, sched).policy;
    if (const auto policy = state.store->snapshot()->objects(objects::ObjectType::policy).find(name);
        policy && !state.store->snapshot()->policy_slots(sched).empty())
        return *policy;
    const auto file = state.sched_configs.files.find(sched);
    if (file == state.sched_configs.files.end()) return std::nullopt;
    for (const objects::ObjectPtr& policy : file->second.policies) {
        if (!policy || policy->name() != name) continue;
        objects::Object found = *policy;
        if (!state.server_formula.empty())
            found.assign(*objects::find_attribute(found.type(), "job_sort_formula"), state.server_formula);
        return found;
    }
    return std::nullopt;
}

void tell(State& state, const QueueSettings& queue, const std::optional<objects::Object>& policy) {
    std::vector<std::string> lines;
    if (policy) {
        const std::array values{objects::QueueValue{"Priority", queue.priority},
                                objects::QueueValue{"backfill_depth", queue.backfill_depth}};
        lines = objects::unsupported_in_queue(
            *policy, queue.name, std::span(values).first(queue.backfill_depth.empty() ? 1 : values.size()));
    }
    tell_unsupported(state, {objects::ObjectType::queue, queue.name}, std::move(lines));
}

}  // namespace

void note_queue(State& state, const sched::QueueRecord& queue) {
    const auto handle = static_cast<uint64_t>(queue.queue);
    if (!queue.execution || (queue.priority == 0 && queue.backfill_depth < 0))
        return forget_queue(state, handle);
    state.queue_settings[handle] = {
        std::string(queue.name), std::string(queue.partition), std::to_string(queue.priority),
        queue.backfill_depth < 0 ? std::string() : std::to_string(queue.backfill_depth)};
    state.queues_to_tell.insert(handle);
}

void forget_queue(State& state, uint64_t queue) {
    state.queues_to_tell.erase(queue);
    const auto known = state.queue_settings.extract(queue);
    if (known) state.unsupported.erase({objects::ObjectType::queue, known.mapped().name});
}

void tell_of_queues(State& state, std::string_view sched, sched::Instant now) {
    if (state.queue_settings.empty()) return;
    const std::optional<objects::Object> policy = policy_in_force(state, sched, now);
    std::optional<objects::Object>& before = state.told_policies[std::string(sched)];
    const bool another = before != policy;
    if (another) before = policy;
    if (another)
        for (const auto& [handle, queue] : state.queue_settings) state.queues_to_tell.insert(handle);
    std::erase_if(state.queues_to_tell, [&](uint64_t handle) {
        const QueueSettings& queue = state.queue_settings.at(handle);
        if (sched_of(state, queue.partition) != sched) return false;
        tell(state, queue, policy);
        return true;
    });
}

// Adds the policy's peer queues. There are none if its algorithm knows none, or if pbs_sched pulls the jobs.
void tell_peer_queues(State& state, sched::Instant now, std::string_view sched, Reply reply) {
    const auto policy = policy_in_force(state, sched, now);
    if (!policy || policy->text("algorithm") == "origin") return;
    const objects::Attribute& attribute = *objects::find_attribute(policy->type(), "peer_queue");
    const objects::Value* value = policy->set_value(attribute);
    if (value == nullptr) return;
    for (const std::string& queues : std::get<objects::StringList>(*value))
        reply.attribute({attribute.name, queues, {}});
}

void warn_of_queue(State& state, sched::Instant now, std::string_view name, std::string_view partition,
                   std::span<const pbs_attr> attributes, Reply reply) {
    const std::string_view sched = sched_of(state, partition);
    const auto policy = sched.empty() ? std::nullopt : policy_in_force(state, sched, now);
    if (!policy) return;
    std::vector<objects::QueueValue> values;
    for (const pbs_attr& attribute : attributes)
        values.emplace_back(view(attribute.name), view(attribute.value));
    for (const std::string& line : objects::unsupported_in_queue(*policy, name, values)) reply.warning(line);
}

}  // namespace pbs::plugin
