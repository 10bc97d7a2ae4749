// A cycle: its records for the schedule log.

#include "server_plugin/scheduler/framework/cycle_parts.h"
#include "server_plugin/scheduler/log/schedule_log.h"

namespace pbs::sched {

// A job that starts, or for which room is kept from `start` on. Nothing is done where the policy has no log.
void Cycle::log_schedule(ScheduleState state, JobSlot job, const QueueView& view, Instant start, Instant end,
                         const Placement& placement) {
    if (s_.schedule_log.empty()) return;
    ScheduleEntry entry{state, job, view.slot, start, end, {}};
    const auto& known = t_.resources.known();
    const Request& request = t_.requests[t_.jobs.request[job]];
    for (const Part& part : placement) {
        const VnodeHandle vnode = (*state_.vnodes)[part.vnode].handle;
        std::int64_t ncpus = -1;
        std::int64_t mem = -1;
        for (const Need& need : placement.amounts_of(part, request)) {
            if (need.resource == known.ncpus) ncpus = need.amount;
            if (need.resource == known.mem) mem = need.amount;
            if (!p_.counts_nodes || need.resource != known.ssinodes)
                entry.amounts.push_back({vnode, need.resource, need.amount * part.count});
        }
        if (p_.counts_nodes && known.ssinodes != no_resource)
            entry.amounts.push_back({vnode, known.ssinodes, state_.node_size.nodes(ncpus, mem) * part.count});
    }
    add_schedule_records(schedule_records_, t_, in_.now, entry);
}

// Behind the reservations, which the cycle made as it went.
void Cycle::log_starts(Decisions& out) {
    for (const Started& started : started_)
        log_schedule(ScheduleState::starting, started.job, *started.view, in_.now, started.end,
                     started.placement);
    if (!schedule_records_.empty()) out.schedule = FileToWrite{s_.schedule_log, std::move(schedule_records_)};
}

}  // namespace pbs::sched
