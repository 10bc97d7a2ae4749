// Reads the wishes of a simulation's jobs: requests that no job has to get, for reports about what the jobs
// got of them.
#pragma once

#include <cstdint>

#include "rrule/zone.h"
#include "tools/simulate/engine.h"

namespace pbs::simulate {

class Wishes {
  public:
    // The zone is that of deadlines. Both have to outlive this object.
    Wishes(const Cluster& cluster, const rrule::Zone& zone)
        : zone_(zone), deadline_(cluster.resource("deadline")) {}

    // Notes the wishes of a job, which `record` describes, when it is submitted: its deadline, if that can be
    // read.
    void submitted(std::uint32_t job, const sched::JobRecord& record, Schedule& run) const;

  private:
    const rrule::Zone& zone_;
    const std::uint32_t* deadline_;  // the number of the resource; null: there is none
};

}  // namespace pbs::simulate
