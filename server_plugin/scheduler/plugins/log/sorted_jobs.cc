// SORTED_JOB_DUMPFILE: the running jobs, and behind them the pending jobs as they were sorted.

#include "server_plugin/scheduler/log/sorted_jobs.h"
#include "server_plugin/scheduler/framework/context.h"
#include "server_plugin/scheduler/plugins/comparators.h"

namespace pbs::sched {
namespace {

class SortedJobs final : public CycleLog {
  public:
    explicit SortedJobs(const CycleContext& context) : c_(context) {}

    void turn(const OrderedJob& job, CandidateQueues&) override {
        if (!c_.second_pass) pending_.push_back(job);
    }

    void end(Decisions& out) override {
        const Tables& t = c_.tables;
        std::vector<OrderedJob> all;
        for (const QueueView& view : c_.views)
            for (const JobSlot job : view.queue->running)
                all.push_back({job, JobClass::running, c_.nodes_of_ordered(job), t.jobs.signature[job], 0});
        const OrderContext context{c_.in.now, c_.settings, t.jobs, t.queues, t.requests, {}};
        sort_by(running_order(), context, all);
        all.insert(all.end(), pending_.begin(), pending_.end());
        out.sorted_jobs = FileToWrite{c_.settings.sorted_job_dumpfile,
                                      sorted_jobs_text(t, c_.settings, c_.in.now, c_.state.prime_now, all)};
    }

  private:
    static const Chain& running_order() {
        static const Chain order = {up(kRunEndOrder), up(kSequenceOrder)};
        return order;
    }
    const CycleContext& c_;
    std::vector<OrderedJob> pending_;
};

}  // namespace

extern const CycleLogRule kSortedJobsRule;
const CycleLogRule kSortedJobsRule{
    .name = "sorted_jobs",
    .wanted = [](const Settings& s, Instant) { return !s.sorted_job_dumpfile.empty(); },
    .make = [](const CycleContext& c) -> std::unique_ptr<CycleLog> {
        return std::make_unique<SortedJobs>(c);
    },
    .wants_every_job = true};

}  // namespace pbs::sched
