// Logs of a cycle, written while it runs.
//
// To add one: write plugins/log/<name>.cc with a class derived from CycleLog, which lives for one cycle, and
// an `extern const CycleLogRule k<Name>Rule`; put that into the table of the profiles that have it.
#pragma once

#include <memory>

#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/model/decisions.h"

namespace pbs::sched {

struct CandidateQueues;
struct CycleContext;
struct OrderedJob;

class CycleLog {
  public:
    CycleLog() = default;
    virtual ~CycleLog() = default;
    CycleLog(const CycleLog&) = delete;
    CycleLog& operator=(const CycleLog&) = delete;

    // Called at the job's turn, before the filters.
    virtual void turn(const OrderedJob& /*job*/, CandidateQueues& /*queues*/) {}
    // Called when places are reserved for a job.
    virtual void reserved(JobSlot /*job*/, const QueueView& /*view*/, Instant /*start*/, Instant /*end*/,
                          const Placement& /*placement*/) {}
    // Called when the cycle is over, and its decisions are known.
    virtual void end(Decisions& /*out*/) {}
};

struct CycleLogRule {
    const char* name;
    bool (*wanted)(const Settings& settings, Instant now);
    std::unique_ptr<CycleLog> (*make)(const CycleContext& context);
    bool wants_every_job = false;  // needs a cycle over all jobs
};

}  // namespace pbs::sched
