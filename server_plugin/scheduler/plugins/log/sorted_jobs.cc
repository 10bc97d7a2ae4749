// SORTED_JOB_DUMPFILE: the running jobs, followed by the pending jobs in their order, for people to read.

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/scheduler/framework/context.h"
#include "server_plugin/scheduler/plugins/comparators.h"
#include "values/amount.h"

namespace pbs::sched {
namespace {

// Returns whether the job requests a host, by a job-wide host= or in a chunk of its select.
bool asks_for_host(const Tables& tables, JobSlot job) {
    const Request& request = tables.requests[tables.jobs.request[job]];
    const std::uint32_t host = tables.resources.known().host;
    return tables.jobs.run_host[job] != 0 || std::ranges::any_of(request.chunks, [&](const Chunk& chunk) {
               return std::ranges::find(chunk.matches, host, &KeptAmount::resource) != chunk.matches.end();
           });
}

std::string flags_of(const CycleContext& c, const OrderedJob& ordered) {
    const JobTable& jobs = c.tables.jobs;
    std::string flags;
    const auto add = [&](bool holds, std::string_view flag) {
        if (!holds) return;
        if (!flags.empty()) flags += ',';
        flags += flag;
    };
    add((jobs.flags[ordered.job] & job_interactive) != 0, "Int");
    add(ordered.job_class == JobClass::special, "High");
    add(ordered.job_class == JobClass::overdue, "Wait");
    add(ordered.job_class == JobClass::dedicated, "Ded");
    for (const Filter* filter : c.profile.filters) {
        if (filter->flag == nullptr) continue;
        const std::string_view flag = filter->flag(c.tables, c.tables.requests[jobs.request[ordered.job]]);
        add(!flag.empty(), flag);
    }
    add(asks_for_host(c.tables, ordered.job), "Run");
    return flags;
}

// Line 1 has the date and its seconds since the Epoch, line 2 the policy in force. Then come a heading and a
// line for each job: id, state, nodes, walltime, owner, group, time queued, time eligible, flags (Int, High,
// Wait, Ded, those of filters, Run).
std::string sorted_jobs_text(const CycleContext& c, std::span<const OrderedJob> ordered) {
    const Tables& tables = c.tables;
    const JobTable& jobs = tables.jobs;
    const Instant now = c.in.now;
    std::string text =
        fmt::format("{} ({})\nPolicy {}: {}\n", ctime_text(now, tables.zone), now.time_since_epoch().count(),
                    c.settings.name, c.state.prime_now ? "primetime" : "non-primetime");
    text += fmt::format("{:<24} {} {:>6} {:>10} {:<12} {:<12} {:>10} {:>10} {}\n", "Job", "S", "Nodes",
                        "Walltime", "Owner", "Group", "Queued", "Eligible", "Flags");
    const auto since = [&](Instant t) { return values::duration_text(std::max(Seconds(0), now - t)); };
    for (const OrderedJob& o : ordered) {
        const JobSlot j = o.job;
        text += fmt::format(
            "{:<24} {} {:>6} {:>10} {:<12} {:<12} {:>10} {:>10} {}\n", jobs.id[j], jobs.state[j], o.nodes,
            jobs.walltime[j] < Seconds(0) ? std::string("-") : values::duration_text(jobs.walltime[j]),
            tables.strings.text(jobs.owner[j]), tables.strings.text(jobs.group[j]), since(jobs.qtime[j]),
            since(jobs.eligible[j]), flags_of(c, o));
    }
    return text;
}

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
        out.sorted_jobs = FileToWrite{c_.settings.sorted_job_dumpfile, sorted_jobs_text(c_, all)};
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

extern const CycleLogRule kSortedJobsRule{
    .name = "sorted_jobs",
    .wanted = [](const Settings& s, Instant) { return !s.sorted_job_dumpfile.empty(); },
    .make = [](const CycleContext& c) -> std::unique_ptr<CycleLog> {
        return std::make_unique<SortedJobs>(c);
    },
    .wants_every_job = true};

}  // namespace pbs::sched
