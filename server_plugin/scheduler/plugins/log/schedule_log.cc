// schedule_log: the amounts that each job uses, and those that are reserved for jobs. schedule_log_detail:
// also the amounts of jobs that run or are suspended, at the beginning of each cycle over all jobs.

#include "server_plugin/scheduler/log/schedule_log.h"

#include <algorithm>

#include "server_plugin/scheduler/framework/context.h"

namespace pbs::sched {
namespace {

class ScheduleLog final : public CycleLog {
  public:
    explicit ScheduleLog(const CycleContext& context) : c_(context) {
        if (c_.settings.schedule_log_detail == "all" && !c_.by_events && !c_.test_only) add_held();
    }

    void reserved(JobSlot job, const QueueView& view, Instant start, Instant end,
                  const Placement& placement) override {
        add(ScheduleState::reserving, job, view, start, end, placement);
    }

    // The log lists starts after the reservations, which were written while the cycle made them.
    void end(Decisions& out) override {
        if (c_.test_only) return;
        for (const Started& started : c_.started)
            add(ScheduleState::starting, started.job, *started.view, c_.in.now, started.end,
                started.placement);
        if (!records_.empty()) out.schedule = FileToWrite{c_.settings.schedule_log, std::move(records_)};
    }

  private:
    // Adds the jobs that hold something, so that the cycle can be drawn from its own records.
    void add_held() {
        const Tables& t = c_.tables;
        std::vector<JobSlot> held;
        for (QueueSlot q = 0; q < t.queues.size(); ++q)
            if (t.queues[q].known && t.queues[q].partition == c_.in.partition)
                held.insert(held.end(), t.queues[q].running.begin(), t.queues[q].running.end());
        for (const auto& [job, places] : t.suspended)
            if (t.queues[t.jobs.queue[job]].partition == c_.in.partition) held.push_back(job);
        std::ranges::sort(held, {}, [&](JobSlot job) { return t.jobs.handle[job]; });
        records_ = kNewCycleLine;
        for (const JobSlot job : held) {
            const bool waits = t.jobs.is_suspended(job);
            const ScheduleState state =
                waits || t.jobs.state[job] == 'S' ? ScheduleState::suspended : ScheduleState::running;
            const Instant end = waits ? end_of_suspended(job) : c_.state.planned_end(job);
            add_schedule_records(records_, t, c_.in.now, held_entry(t, state, job, end));
        }
    }
    // Returns the end of a suspended job that goes on now or, if its queue is closed, when it opens.
    Instant end_of_suspended(JobSlot job) const {
        const Seconds left = c_.tables.jobs.walltime_left(job);
        const QueueHours* hours = c_.tables.queues[c_.tables.jobs.queue[job]].hours;
        const Instant from = hours == nullptr || hours->open().contains(c_.in.now)
                                 ? c_.in.now
                                 : hours->open().next_change(c_.in.now).value_or(c_.in.now);
        return from + (left < Seconds(0) ? kUnlimitedWalltime : left);
    }

    void add(ScheduleState state, JobSlot job, const QueueView& view, Instant start, Instant end,
             const Placement& placement) {
        const Tables& t = c_.tables;
        ScheduleEntry entry{state, job, view.slot, start, end, {}};
        const auto& known = t.resources.known();
        const Request& request = t.requests[t.jobs.request[job]];
        for (const Part& part : placement) {
            const VnodeHandle vnode = (*c_.state.vnodes)[part.vnode].handle;
            std::int64_t ncpus = -1;
            std::int64_t mem = -1;
            for (const Need& need : placement.amounts_of(part, request)) {
                if (need.resource == known.ncpus) ncpus = need.amount;
                if (need.resource == known.mem) mem = need.amount;
                if (!c_.profile.counts_nodes || need.resource != known.ssinodes)
                    entry.amounts.push_back({vnode, need.resource, need.amount * part.count});
            }
            if (c_.profile.counts_nodes && known.ssinodes != kNoResource)
                entry.amounts.push_back(
                    {vnode, known.ssinodes, c_.state.node_size.nodes(ncpus, mem) * part.count});
        }
        add_schedule_records(records_, t, c_.in.now, entry);
    }

    const CycleContext& c_;
    std::string records_;
};

}  // namespace

extern const CycleLogRule kScheduleLogRule{
    .name = "schedule_log",
    .wanted = [](const Settings& s, Instant) { return !s.schedule_log.empty(); },
    .make = [](const CycleContext& c) -> std::unique_ptr<CycleLog> {
        return std::make_unique<ScheduleLog>(c);
    }};

}  // namespace pbs::sched
