#include "server_plugin/plugin/events.h"

#include <fmt/format.h>

#include "server_plugin/plugin/cycle.h"
#include "server_plugin/plugin/lifecycle.h"
#include "server_plugin/plugin/queue_settings.h"
#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

using Kind = sched::ObjectRef::Kind;

void refuse(State& state, std::string_view what) {
    state.host.log(
        PBS_LOG_ERROR, "events",
        fmt::format("A {} record of the server can't be read: it is too small, has an unknown kind, or lacks "
                    "an array",
                    what));
}

}  // namespace

void resource_defined(State& state, const pbs_resource_record* record) {
    const auto translated = state.translator.resource(record);
    if (!translated) return refuse(state, "resource");
    const bool stays = record->stays != 0;
    if (state.store) {
        state.store->define_resource(translated->name, translated->kind, stays);
    } else {
        state.resources.push_back({std::string(translated->name), translated->kind, stays});
    }
    state.resource_ids[std::string(translated->name)] = translated->id;
    SchedConfigs& known = state.sched_configs;
    if (record->consumable != 0) {
        known.names += known.consumables.emplace(translated->name).second ? 1 : 0;
    } else if (!objects::ResourceNames().contains(translated->name)) {
        known.names += known.others.emplace(translated->name).second ? 1 : 0;
        if (translated->kind == sched::ResourceKind::boolean && record->host_level != 0)
            known.vnode_booleans.emplace(translated->name);
    }
    state.changes.note(Kind::resource, translated->id);
    state.scheduler.resource_defined(*translated);
}

void resource_removed(State& state, std::string_view name) {
    if (state.store) {
        state.store->forget_resource(name);
    } else {
        std::erase_if(state.resources, [&](const auto& known) { return known.name == name; });
    }
    SchedConfigs& known = state.sched_configs;
    known.names += known.consumables.erase(std::string(name)) + known.others.erase(std::string(name));
    known.vnode_booleans.erase(std::string(name));
    if (const auto id = state.resource_ids.find(name); id != state.resource_ids.end()) {
        state.changes.note(Kind::resource, id->second);
        state.resource_ids.erase(id);
    }
    state.scheduler.resource_removed(name);
}

void server_changed(State& state, const pbs_server_record* record) {
    const auto translated = state.translator.server(record);
    if (!translated) return refuse(state, "server");
    state.server_formula = translated->job_sort_formula;
    state.server_backfill_depth = translated->backfill_depth;
    state.changes.note(Kind::server, 0);
    if (const auto taken = state.scheduler.server_changed(*translated); !taken)
        state.host.log(PBS_LOG_ERROR, "server", taken.error().message);
}

void sched_changed(State& state, const pbs_sched_record* record) {
    const auto translated = state.translator.sched(record);
    if (!translated) return refuse(state, "sched");
    state.sched_priv[std::string(translated->name)] = translated->sched_priv;
    state.partitions[std::string(translated->name)] = translated->partition;
    if (record->own != 0) {
        state.own_scheds.emplace(translated->name);
        state.changes.keep();
    } else {
        state.own_scheds.erase(std::string(translated->name));
    }
    std::string& directives = state.sched_directives[std::string(translated->name)];
    // Have the sched_config file read again, since directives take precedence over its settings.
    if (directives != view(record->directives)) ++state.sched_configs.names;
    directives = view(record->directives);
    if (record->scheduling == 0) state.dynamic_resources.forget(translated->name);
    state.changes.note({Kind::sched, 0, std::string(translated->name)});
    state.scheduler.sched_changed(*translated);
}

void sched_removed(State& state, std::string_view name) {
    state.sched_priv.erase(std::string(name));
    state.partitions.erase(std::string(name));
    state.sched_directives.erase(std::string(name));
    state.own_scheds.erase(std::string(name));
    state.dynamic_resources.forget(name);
    state.told_policies.erase(std::string(name));
    state.sched_configs.files.erase(std::string(name));
    state.changes.note({Kind::sched, 0, std::string(name)});
    state.scheduler.sched_removed(name);
}

void queue_changed(State& state, const pbs_queue_record* record) {
    const auto translated = state.translator.queue(record);
    if (!translated) return refuse(state, "queue");
    std::string& name = state.sched_configs.queues[record->queue];
    if (name != translated->name) {
        name = translated->name;
        ++state.sched_configs.names;
        if (state.store) state.store->define_queue(name);
    }
    note_queue(state, *translated);
    state.changes.note(Kind::queue, record->queue);
    state.scheduler.queue_changed(*translated);
}

void queue_removed(State& state, uint64_t queue) {
    if (const auto known = state.sched_configs.queues.extract(queue)) {
        ++state.sched_configs.names;
        if (state.store) state.store->forget_queue(known.mapped());
    }
    forget_queue(state, queue);
    state.changes.note(Kind::queue, queue);
    state.scheduler.queue_removed(sched::QueueHandle{queue});
}

void vnode_changed(State& state, const pbs_vnode_record* record) {
    const auto translated = state.translator.vnode(record);
    if (!translated) return refuse(state, "vnode");
    state.changes.note(Kind::vnode, record->vnode);
    state.scheduler.vnode_changed(*translated);
}

void vnode_removed(State& state, uint64_t vnode) {
    state.changes.note(Kind::vnode, vnode);
    state.scheduler.vnode_removed(sched::VnodeHandle{vnode});
}

void job_changed(State& state, sched::Instant now, const pbs_job_record* record) {
    // Open the store first: for a running job, the policy in force determines the charge, unless the store
    // shows that the job is charged already.
    prepare(state, now);
    const auto translated = state.translator.job(record);
    if (!translated) return refuse(state, "job");
    state.changes.note(Kind::job, record->job);
    state.scheduler.job_changed(now, *translated);
    append_ended(state);
}

void job_removed(State& state, sched::Instant now, uint64_t job) {
    state.changes.note(Kind::job, job);
    state.scheduler.job_removed(now, sched::JobHandle{job});
    append_ended(state);
}

void reservation_changed(State& state, const pbs_reservation_record* record) {
    const auto translated = state.translator.reservation(record);
    if (!translated) return refuse(state, "reservation");
    state.changes.note(Kind::reservation, record->reservation);
    state.scheduler.reservation_changed(*translated);
}

void reservation_removed(State& state, uint64_t reservation) {
    state.changes.note(Kind::reservation, reservation);
    state.scheduler.reservation_removed(sched::ReservationHandle{reservation});
}

}  // namespace pbs::plugin
