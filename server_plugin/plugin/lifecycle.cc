#include "server_plugin/plugin/lifecycle.h"

#include <fmt/format.h>

#include <utility>

#include "server_plugin/plugin/configuration.h"
#include "server_plugin/plugin/first_start.h"
#include "server_plugin/plugin/queue_types.h"
#include "server_plugin/plugin/timer.h"

namespace pbs::plugin {
namespace {

std::string store_path(const State& state) {
    return fmt::format("{}/server_priv/policy.db", state.host.home());
}

bool open_store(State& state, sched::Instant now) {
    objects::StoreOptions options;
    options.time_zone = state.host.time_zone();
    options.resources = std::move(state.resources);
    options.provisions = state.host.provisions();
    options.keeps_execution_types = state.host.has_pbs_sched();
    options.abilities = state.abilities();
    state.scheduler.set_weigh(state.host.abilities().weighs);
    options.queues.emplace();
    for (const auto& [handle, name] : state.sched_configs.queues) options.queues->insert(name);
    auto store = objects::Store::open(store_path(state), options, now);
    if (!store) {
        state.failure = fmt::format("{}: {}", store_path(state), store.error().message);
        return false;
    }
    state.store.emplace(std::move(*store));
    return true;
}

}  // namespace

void prepare(State& state, sched::Instant now) {
    if (state.prepared) return;
    state.prepared = true;
    if (!open_store(state, now)) return;
    if (auto first = first_start(state, now); !first) {
        state.failure = fmt::format("{}: {}", store_path(state), first.error().message);
        return;
    }
    if (auto loaded = state.usage.load(*state.store, state.scheduler); !loaded) {
        state.failure = fmt::format("{}: {}", store_path(state), loaded.error().message);
        return;
    }
    set_queue_types(state, now);
    adopt_configuration(state);
}

std::string start(State& state, sched::Instant now) {
    prepare(state, now);
    return state.failure;
}

void save_all(State& state, sched::Instant now) {
    if (!state.store || !state.failure.empty()) return;
    write_usage_file(state, now);
    state.usage.save_at_end(*state.store, state.scheduler, state.host, now);
}

}  // namespace pbs::plugin
