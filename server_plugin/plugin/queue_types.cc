#include "server_plugin/plugin/queue_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "objects/execute.h"

namespace pbs::plugin {
namespace {

constexpr std::chrono::minutes kTypesAgain{1};

// Reads the types that wait for their queues.
objects::Result<std::vector<migrate::QueueType>> pending(const State& state) {
    const auto kept = state.store->meta(migrate::kQueueTypesKey);
    if (!kept) return tl::unexpected(kept.error());
    return migrate::queue_types_from_text(kept->value_or(""));
}

// Removes types from those that wait.
template <class IsDone>
objects::Result<void> forget_types(State& state, IsDone is_done) {
    auto left = pending(state);
    if (!left) return tl::unexpected(left.error());
    if (std::erase_if(*left, is_done) == 0) return {};
    return state.store->set_meta(migrate::kQueueTypesKey, migrate::to_text(*left));
}

bool is_queue(const State& state, std::string_view name) {
    return std::ranges::any_of(state.sched_configs.queues,
                               [&](const auto& queue) { return queue.second == name; });
}

// Reads the types that wait, of queues that exist.
objects::Result<std::vector<migrate::QueueType>> types_to_set(const State& state) {
    auto types = pending(state);
    if (types) std::erase_if(*types, [&](const auto& type) { return !is_queue(state, type.queue); });
    return types;
}

}  // namespace

std::vector<migrate::QueueType> queue_types(const State& state) {
    auto types = types_to_set(state);
    if (types) return *std::move(types);
    state.host.log(PBS_LOG_ERROR, "migration", types.error().message);
    return {};
}

void queue_type_done(State& state, std::string_view queue) {
    const auto done = forget_types(state, [&](const auto& type) { return type.queue == queue; });
    if (!done) state.host.log(PBS_LOG_ERROR, "migration", done.error().message);
}

sched::Instant next_queue_types(const State& state, sched::Instant now) {
    const bool wanted = state.host.has_pbs_sched() && state.store && !state.long_change.busy() &&
                        state.queue_types_names != state.sched_configs.names;
    return wanted ? std::max(now, state.queue_types_again) : sched::Instant::max();
}

void set_queue_types(State& state, sched::Instant now) {
    if (!state.host.has_pbs_sched() || !state.store || state.long_change.busy()) return;
    const auto failed = [&](const objects::Error& error) {
        state.queue_types_again = now + kTypesAgain;
        state.host.log(PBS_LOG_ERROR, "migration", error.message);
    };
    const auto found = types_to_set(state);
    if (!found) return failed(found.error());
    const std::vector<migrate::QueueType>& types = *found;
    if (types.empty()) {
        state.queue_types_names = state.sched_configs.names;
        state.queue_types_again = {};
        return;
    }
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
        return forget_types(state,
                            [&](const auto& type) { return std::ranges::find(types, type) != types.end(); });
    };
    const objects::Identity server{"pbs_server", std::string(state.host.server_name()),
                                   objects::manager_privilege | objects::root_privilege};
    if (const auto set = state.store->rewrite(rewrite, server, now); !set) return failed(set.error());
    state.queue_types_names = state.sched_configs.names;
    state.queue_types_again = {};
    if (!done.empty())
        state.host.log(PBS_LOG_INFO, "migration",
                       fmt::format("execution_type of queues is set as the legacy files say: {}", done));
}

}  // namespace pbs::plugin
