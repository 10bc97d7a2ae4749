// The configuration as plain values, with resolved names and compiled windows. It is made from a snapshot of
// the objects once for each change (read_configuration.cc).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rrule/non_work_days.h"
#include "rrule/window_cache.h"
#include "rrule/window_set.h"
#include "rrule/zone.h"
#include "server_plugin/scheduler/model/error.h"
#include "server_plugin/scheduler/model/fs_group.h"
#include "server_plugin/scheduler/model/queue_hours.h"
#include "server_plugin/scheduler/model/settings.h"

namespace pbs::objects {
class Snapshot;
}  // namespace pbs::objects

namespace pbs::sched {

// The three policy slots of a scheduler (PP-748, interface 1). A slot without a policy has an empty name.
struct Slots {
    std::string all_time;
    std::string prime{};
    std::string non_prime{};
};

template <class T>
using ByName = std::map<std::string, T, std::less<>>;

struct Configuration {
    ByName<Settings> policies;  // the policies that are in a slot of a scheduler
    ByName<Slots> scheds;
    ByName<FsGroup> fs_groups;       // the fs_groups that a policy of a scheduler names
    ByName<QueueHours> queue_hours;  // only for queues with windows
    rrule::WindowSet prime;          // the union of the time_windows of type prime
    rrule::WindowSet dedicated;      // the union of the time_windows of type dedicated
    rrule::NonWorkDays non_work_days;
};

// Reads the configuration. Errors name the object and its mistake. Windows in `cache`, from an earlier
// reading, aren't parsed and compiled again.
Result<Configuration> read_configuration(const objects::Snapshot& snapshot, const rrule::Zone& zone,
                                         rrule::WindowCache& cache);

// Reads the settings of one policy object. REQUIRES: the windows and non_work_days of `configuration` have
// been read.
Settings read_policy(const objects::Object& policy, const Configuration& configuration,
                     const rrule::Zone& zone);

}  // namespace pbs::sched
