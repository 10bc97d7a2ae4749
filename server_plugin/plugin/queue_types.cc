#include "server_plugin/plugin/queue_types.h"

#include <algorithm>

namespace pbs::plugin {
namespace {

std::vector<migrate::QueueType> pending(const State& state) {
    const auto kept = state.store->meta(migrate::kQueueTypesKey);
    if (kept) return migrate::queue_types_from_text(kept->value_or(""));
    state.host.log(PBS_LOG_ERROR, "migration", kept.error().message);
    return {};
}

bool is_queue(const State& state, std::string_view name) {
    return std::ranges::any_of(state.sched_configs.queues,
                               [&](const auto& queue) { return queue.second == name; });
}

}  // namespace

std::vector<migrate::QueueType> queue_types(const State& state) {
    std::vector<migrate::QueueType> types = pending(state);
    std::erase_if(types, [&](const auto& type) { return !is_queue(state, type.queue); });
    return types;
}

void queue_type_done(State& state, std::string_view queue) {
    std::vector<migrate::QueueType> left = pending(state);
    if (std::erase_if(left, [&](const auto& type) { return type.queue == queue; }) == 0) return;
    if (const auto kept = state.store->set_meta(migrate::kQueueTypesKey, migrate::to_text(left)); !kept)
        state.host.log(PBS_LOG_ERROR, "migration", kept.error().message);
}

}  // namespace pbs::plugin
