// What is written down of a cycle as it goes.
//
// To add one: write plugins/log/<name>.cc with a class derived from CycleLog, which lives for one cycle, and
// a `const CycleLogRule <name>_log`; put that into the table of the profiles that have it.
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

    // It is the job's turn; nothing has been asked of it yet.
    virtual void turn(const OrderedJob& /*job*/, CandidateQueues& /*queues*/) {}
    // Room is kept for a job.
    virtual void reserved(JobSlot /*job*/, const QueueView& /*view*/, Instant /*start*/, Instant /*end*/,
                          const Placement& /*placement*/) {}
    // The cycle is over, and what it decides is known.
    virtual void end(Decisions& /*out*/) {}
};

struct CycleLogRule {
    const char* name;
    bool (*wanted)(const Settings& settings, Instant now);
    std::unique_ptr<CycleLog> (*make)(const CycleContext& context);
    bool wants_every_job = false;  // only a cycle over all jobs will do for it
};

}  // namespace pbs::sched
