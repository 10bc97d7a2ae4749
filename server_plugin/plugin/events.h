// Passes the host's events about its objects to the scheduler. A record of the host that can't be read is
// ignored, which is logged.
#pragma once

#include "server_plugin/plugin/pbs_plugin.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

void resource_defined(State& state, const pbs_resource_record* record);
void resource_removed(State& state, std::string_view name);
void server_changed(State& state, const pbs_server_record* record);
void sched_changed(State& state, const pbs_sched_record* record);
void sched_removed(State& state, std::string_view name);
void queue_changed(State& state, const pbs_queue_record* record);
void queue_removed(State& state, uint64_t queue);
void vnode_changed(State& state, const pbs_vnode_record* record);
void vnode_removed(State& state, uint64_t vnode);
void job_changed(State& state, sched::Instant now, const pbs_job_record* record);
void job_removed(State& state, sched::Instant now, uint64_t job);

void reservation_changed(State& state, const pbs_reservation_record* record);
void reservation_removed(State& state, uint64_t reservation);

}  // namespace pbs::plugin
