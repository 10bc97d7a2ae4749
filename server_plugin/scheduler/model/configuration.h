// The configuration as the scheduler works with it: plain values, names resolved, windows compiled. Made once
// for each change from a snapshot of the objects (read_configuration.cc).
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
#include "server_plugin/scheduler/model/settings.h"

namespace pbs::objects {
class Snapshot;
}  // namespace pbs::objects

namespace pbs::sched {

// The three policy slots of a scheduler (PP-748, interface 1); an empty name: the slot is empty.
struct Slots {
    std::string all_time;
    std::string prime{};
    std::string non_prime{};
};

template <class T>
using ByName = std::map<std::string, T, std::less<>>;

struct Configuration {
    ByName<Settings> policies;  // those that a scheduler has
    ByName<Slots> scheds;
    ByName<FsGroup> fs_groups;               // those that a policy of a scheduler names
    ByName<rrule::WindowSet> queue_windows;  // of queues that have any
    rrule::WindowSet prime;                  // union of the time_windows of type prime
    rrule::WindowSet dedicated;              // and of those of type dedicated
    rrule::NonWorkDays non_work_days;
};

// Errors name the object and what is wrong with it. Windows that `cache` knows from an earlier reading are
// not parsed and compiled again.
Result<Configuration> read_configuration(const objects::Snapshot& snapshot, const rrule::Zone& zone,
                                         rrule::WindowCache& cache);

// The settings of one policy object, within a configuration whose windows and non_work_days are read.
Settings read_policy(const objects::Object& policy, const Configuration& configuration,
                     const rrule::Zone& zone);

}  // namespace pbs::sched
