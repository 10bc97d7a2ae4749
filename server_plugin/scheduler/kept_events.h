// Stores events that come while the scheduler works in its thread, with all data that they point to, until
// the work is done. One thread may add events while another delivers them.
#pragma once

#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"
#include "values/mutex.h"

namespace pbs::objects {
class Snapshot;
}

namespace pbs::sched {

class Scheduler;
struct Configuration;

struct ResourceGone {
    std::string_view name;
};
struct SchedGone {
    std::string_view name;
};
struct QueueGone {
    QueueHandle queue{};
};
struct VnodeGone {
    VnodeHandle vnode{};
};
struct ReservationGone {
    ReservationHandle reservation{};
};
struct JobChanged {
    Instant now{};
    JobRecord record;
};
struct JobGone {
    Instant now{};
    JobHandle job{};
};
// A configuration without an error. `snapshot`: the snapshot that it was read from; null: it was given as
// values.
struct ConfigurationRead {
    std::shared_ptr<Configuration> configuration;
    std::shared_ptr<const objects::Snapshot> snapshot;
};

using Event = std::variant<ResourceRecord, ResourceGone, ServerRecord, SchedRecord, SchedGone, QueueRecord,
                           QueueGone, VnodeRecord, VnodeGone, JobChanged, JobGone, ReservationRecord,
                           ReservationGone, ConfigurationRead>;

class KeptEvents {
  public:
    // Copies the data that the event points to.
    void keep(Event event);
    // Delivers the events in the order of arrival; none remain. Returns a line for each that the scheduler
    // refuses.
    std::vector<std::string> deliver(Scheduler& scheduler);

  private:
    values::Mutex mutex_;
    std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_ PBS_GUARDED_BY(mutex_);
    std::vector<Event> events_ PBS_GUARDED_BY(mutex_);
};

}  // namespace pbs::sched
