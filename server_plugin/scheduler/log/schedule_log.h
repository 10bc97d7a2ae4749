// The schedule log has, for each job, the resources that it uses, where, and from when to when, like the
// schedule entry recording facility of Grid Engine (grid-engine-schedd-api, SERF).
//
// A record is a line of ten fields with semicolons between them:
//
//     time;job;task;state;start;end;level;object;resource;amount
//     1795428000;12.server;1;STARTING;1795428000;1795431600;H;n1;ncpus;2
//
// time      when the record was made
// job, task the job's id; the index of a subjob, 1 for a job that isn't one
// state     STARTING: a cycle starts it; ENDING: it ends, or stops running; RESERVING: a place is reserved.
//           With schedule_log_detail=all, at the beginning of a cycle over all jobs, after a line of colons:
//           RUNNING: it runs; SUSPENDED: it is suspended, with the amounts that it still holds
// start, end  from when to when it uses this, as far as is known: by its walltime until it has ended
// level     Q: a queue, H: a vnode, G: the server, for the resources that it limits
// object    the name of the queue, vnode or server
// resource  its name; `jobs` for the job itself, the first record of a job
// amount    in bytes, seconds or units
//
// Instants are seconds since 1970-01-01 UTC. In names, bytes that would break the line (semicolons, control
// characters) are question marks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

enum class ScheduleState : std::uint8_t { starting, ending, reserving, running, suspended };

// The line before the records of a cycle over all jobs, with schedule_log_detail=all.
inline constexpr std::string_view kNewCycleLine = "::::::::\n";

// The amount of a resource that a job uses on a vnode.
struct VnodeAmount {
    VnodeHandle vnode{};
    std::uint32_t resource = 0;
    std::int64_t amount = 0;
};

struct ScheduleEntry {
    ScheduleState state{};
    JobSlot job = kNoSlot;
    QueueSlot queue = kNoSlot;  // the queue in which it runs
    Instant start{};
    Instant end{};
    std::vector<VnodeAmount> amounts;
};

// Appends the records of an entry to `out`: those of the queue, then those of each vnode, then those of the
// server.
void add_schedule_records(std::string& out, const Tables& tables, Instant now, const ScheduleEntry& entry);

// Returns an entry of a job that runs or is suspended, with the amounts that it holds.
ScheduleEntry held_entry(const Tables& tables, ScheduleState state, JobSlot job, Instant end);

}  // namespace pbs::sched
