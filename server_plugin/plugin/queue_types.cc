#include "server_plugin/plugin/queue_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "objects/execute.h"

namespace pbs::plugin {
namespace {

constexpr std::chrono::minutes kTypesAgain{1};

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

sched::Instant next_queue_types(const State& state, sched::Instant now) {
    const bool wanted = state.host.has_pbs_sched() && state.store && !state.long_change.busy() &&
                        state.queue_types_names != state.sched_configs.names;
    return wanted ? std::max(now, state.queue_types_again) : sched::Instant::max();
}

void set_queue_types(State& state, sched::Instant now) {
    if (!state.host.has_pbs_sched() || !state.store || state.long_change.busy()) return;
    state.queue_types_names = state.sched_configs.names;
    const std::vector<migrate::QueueType> types = queue_types(state);
    if (types.empty()) return;
    constexpr std::string_view kAttribute = "execution_type";
    std::string done;
    objects::Rewrite rewrite;
    rewrite.command = "migrate the execution_type of queues";
    rewrite.work = [&](objects::Draft& draft, const objects::CheckContext& context,
                       std::vector<std::string>&) -> objects::Result<void> {
        for (const migrate::QueueType& type : types) {
            const objects::ObjectPtr queue = draft.find(objects::ObjectType::queue, type.queue);
            if ((queue ? queue->text(kAttribute) : std::string_view()) != type.from) continue;
            objects::Command command{objects::CommandKind::set, objects::ObjectType::queue, type.queue, {}};
            if (type.to.empty()) command.kind = objects::CommandKind::unset;
            command.changes = {{std::string(kAttribute), type.to,
                                type.to.empty() ? objects::Operation::unset : objects::Operation::set}};
            if (auto changed = objects::execute_on(draft, command, context); !changed) return changed;
            done += fmt::format("{}{}", done.empty() ? "" : ", ", type.queue);
        }
        return {};
    };
    rewrite.beside = [&]() -> objects::Result<void> {
        std::vector<migrate::QueueType> left = pending(state);
        std::erase_if(left, [&](const auto& type) { return std::ranges::find(types, type) != types.end(); });
        return state.store->set_meta(migrate::kQueueTypesKey, migrate::to_text(left));
    };
    const objects::Identity server{"pbs_server", std::string(state.host.server_name()),
                                   objects::manager_privilege | objects::root_privilege};
    if (const auto set = state.store->rewrite(rewrite, server, now); !set) {
        state.queue_types_names.reset();
        state.queue_types_again = now + kTypesAgain;
        return state.host.log(PBS_LOG_ERROR, "migration", set.error().message);
    }
    if (!done.empty())
        state.host.log(PBS_LOG_INFO, "migration",
                       fmt::format("execution_type of queues is set as the legacy files say: {}", done));
}

}  // namespace pbs::plugin
