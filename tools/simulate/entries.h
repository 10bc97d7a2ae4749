// Chooses the queues in which the jobs of a trace begin, and counts reasons of refusals.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/simulate/engine.h"

namespace pbs::simulate {

// Counts a reason by its text. From the 1001st text on, reasons are counted together.
void count_reason(std::map<std::string, std::int64_t>& reasons, std::string_view reason);

class Entries {
  public:
    // Both have to outlive this object.
    Entries(const Trace& trace, const Cluster& cluster);
    // Returns the execution queue for a job that is submitted: that of the trace or, if the machine hasn't
    // got it, the default queue, which is noted in the schedule. nullptr: no queue takes the job, which is
    // counted as refused.
    const Cluster::Queue* of(const TraceJob& job, Schedule& run);
    // Returns the name of this queue. REQUIRES: of() has returned one.
    const std::string& name(const TraceJob& job) const { return queues_[job.queue]->name; }

  private:
    const Trace& trace_;
    const Cluster& cluster_;
    // By the trace's number of the queue.
    std::vector<const Cluster::Queue*> queues_;
    std::vector<bool> elsewhere_;  // the queue is missing, and the default queue takes its jobs
};

}  // namespace pbs::simulate
