// reprioritize: weighs the processes of running jobs by the jobs' tickets, at most every 30 seconds. A job's
// weight is 100 times its tickets per CPU, divided by the mean of the tickets per CPU of all running jobs; it
// is at least 1 and at most 10000.

#include <algorithm>
#include <cmath>
#include <vector>

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/outcome.h"
#include "server_plugin/scheduler/framework/policy.h"
#include "server_plugin/scheduler/framework/tickets.h"
#include "values/tables.h"

namespace pbs::sched {
namespace {

constexpr Seconds kPause{30};
constexpr std::int32_t kUsual = 100;
constexpr double kMost = 10000;

// The weights that the host was told last, except those of 100, and when it was told (`last`).
struct Weights {
    struct RunWeight {
        Instant began{};  // the start of the run that has the weight
        std::int32_t weight = kUsual;
    };
    std::optional<Instant> last;
    values::HashMap<JobHandle, RunWeight> told;
};

// A running job, with its tickets for each of its CPUs.
struct Weighed {
    JobSlot job = kNoSlot;
    double tickets = 0;
};

std::int64_t cpus_of(const Tables& t, JobSlot job) {
    const Request& request = t.requests[t.jobs.request[job]];
    if (const auto asked = number_of(request.totals, t.resources.known().ncpus); asked && *asked > 0)
        return *asked;
    std::int64_t chunks = 0;
    for (const Chunk& chunk : request.chunks) chunks += chunk.count;
    return std::max<std::int64_t>(1, chunks);
}

std::vector<Weighed> running_jobs(CycleContext& cycle) {
    Tables& t = cycle.tables;
    std::vector<QueueSlot> queues;
    for (QueueSlot queue = 0; queue < t.queues.size(); ++queue)
        if (t.queues[queue].known && t.queues[queue].execution &&
            t.queues[queue].partition == cycle.in.partition)
            queues.push_back(queue);
    const Tickets tickets(cycle.settings, t, cycle.state.shares, cycle.in.now, queues);
    std::vector<Weighed> jobs;
    for (const QueueSlot queue : queues)
        for (const JobSlot job : t.queues[queue].running)
            if (t.jobs.state[job] == 'R')
                jobs.push_back({job, tickets.of(job).sum() / static_cast<double>(cpus_of(t, job))});
    return jobs;
}

void decide_weights(Outcome& outcome) {
    CycleContext& cycle = outcome.cycle();
    // The decisions of a cycle without events aren't carried out.
    if (cycle.in.events == nullptr || !cycle.tables.weighs) return;
    const bool is_on = cycle.settings.reprioritize && reads_tickets(*cycle.in.policy) &&
                       gives_tickets(cycle.settings, cycle.tables.resources);
    Weights& known = cycle.in.memory->own.of<Weights>();
    if (!is_on && known.told.empty()) return;
    const Instant now = cycle.in.now;
    if (is_on && known.last && now >= *known.last && now - *known.last < kPause) {
        cycle.state.instants->insert(*known.last + kPause);
        return;
    }
    // Jobs that this cycle starts don't run yet, so ask for a further cycle that weighs them.
    if (is_on &&
        std::ranges::find(outcome.out().list, DecisionKind::run, &Decision::kind) != outcome.out().list.end())
        cycle.state.instants->insert(now + kPause);
    // The first time, tell all weights: an earlier process of the server may have given jobs others.
    const bool is_first = !std::exchange(known.last, now);
    const JobTable& jobs = cycle.tables.jobs;
    const auto before = std::exchange(known.told, {});
    std::vector<Weighed> running;
    if (is_on) {
        running = running_jobs(cycle);
    } else {
        for (const auto& [handle, told] : before)
            if (const JobSlot job = jobs.find(handle); job != kNoSlot && jobs.state[job] == 'R')
                running.push_back({job, 1});
        std::ranges::sort(running, {}, &Weighed::job);
    }
    // A suspended job keeps its weight.
    for (const auto& [handle, told] : before)
        if (const JobSlot job = jobs.find(handle); job != kNoSlot && jobs.state[job] != 'R')
            known.told[handle] = told;
    double sum = 0;
    for (const Weighed& job : running) sum += job.tickets;
    const double mean = running.empty() ? 0 : sum / static_cast<double>(running.size());
    for (const auto& [job, tickets] : running) {
        const double part = mean > 0 ? tickets / mean : 1;
        const auto weight = static_cast<std::int32_t>(std::clamp(std::round(kUsual * part), 1.0, kMost));
        const auto told = before.find(jobs.handle[job]);
        // If the start has changed, this is another run, which has the usual weight, or a run that was
        // suspended, which has its old weight. So tell the weight in any case.
        const bool is_doubtful = told != before.end() && told->second.began != jobs.stime[job];
        const bool is_usual = told == before.end();
        if (weight != kUsual) known.told[jobs.handle[job]] = {jobs.stime[job], weight};
        if (!is_first && !is_doubtful && weight == (is_usual ? kUsual : told->second.weight)) continue;
        Decision decision;
        decision.kind = DecisionKind::weigh;
        decision.job = jobs.handle[job];
        decision.weight = weight;
        outcome.out().list.push_back(decision);
    }
}

}  // namespace

extern const Decide kWeightsDecide{.name = "weights", .decide = decide_weights};

}  // namespace pbs::sched
