// Reads the wishes of a simulation's jobs, for reports about what the jobs got of them. A wish is a request
// that the scheduler may leave unfulfilled, in part or as a whole: a deadline, a range of chunks, or
// preferences.
#pragma once

#include <cstdint>

#include "rrule/zone.h"
#include "tools/simulate/engine.h"

namespace pbs::simulate {

class Wishes {
  public:
    // The zone is that of deadlines. Both have to outlive this object.
    Wishes(const Cluster& cluster, const rrule::Zone& zone);

    // Takes max_range_chunks from the policies that are assigned to schedulers.
    void begin(const objects::Snapshot& snapshot);
    // Notes the wishes of a job when it is submitted, if they can be read.
    void submitted(std::uint32_t job, const sched::JobRecord& record, Schedule& run) const;
    // Notes what a job gets when it starts on the places of the record, which has what the scheduler has set.
    // Call this before the scheduler knows of the start.
    void started(sched::Scheduler& scheduler, std::uint32_t job, const sched::JobRecord& record,
                 Schedule& run) const;

  private:
    const rrule::Zone& zone_;
    // Numbers of resources; null: there is no such resource.
    const std::uint32_t* deadline_;
    const std::uint32_t* select_;
    const std::uint32_t* select_range_;
    const std::uint32_t* per_host_;
    const std::uint32_t* prefer_;
    std::int64_t most_chunks_ = 0;  // the greatest max_range_chunks
};

}  // namespace pbs::simulate
