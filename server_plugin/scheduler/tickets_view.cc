// Inspector's function that shows the tickets of jobs.

#include "server_plugin/scheduler/model/tickets_view.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/framework/tickets.h"
#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {

TicketsView Inspector::tickets(const SharesAsked& asked) {
    TicketsView view{asked.sched, {}, asked.now, false, {}};
    const auto sched = impl_->scheds.find(asked.sched);
    Policy* const policy = impl_->active_policy(asked.sched, asked.now);
    if (sched == impl_->scheds.end() || policy == nullptr) return view;
    Tables& t = impl_->tables;
    view.policy = policy->settings.name;
    // The Origin algorithm, which takes jobs from named queues, knows no tickets.
    view.gives_tickets = gives_tickets(policy->settings, t.resources) && reads_tickets(*policy) &&
                         policy->settings.profile->intake != JobSource::named_queues;
    if (!view.gives_tickets) return view;
    std::vector<QueueSlot> queues;
    for (QueueSlot queue = 0; queue < t.queues.size(); ++queue)
        if (t.queues[queue].known && t.queues[queue].execution &&
            impl_->serves(sched->first, sched->second, t.queues[queue].partition))
            queues.push_back(queue);
    SchedShares* const shares = impl_->shares_of(sched->second, *policy);
    if (shares != nullptr) shares->bring_up_to_date(t, asked.now);
    const Tickets tickets(policy->settings, t, shares, asked.now, queues);

    std::vector<std::pair<JobSlot, Tickets::Of>> jobs;
    for (const QueueSlot queue : queues)
        for (const auto* list : {&t.queues[queue].queued, &t.queues[queue].running})
            for (const JobSlot job : *list)
                if (t.jobs.state[job] != 'S' &&
                    (!asked.user || t.strings.text(t.jobs.owner[job]) == *asked.user))
                    jobs.emplace_back(job, tickets.of(job));
    std::ranges::sort(jobs, {}, [&](const auto& job) {
        return std::tuple(-job.second.sum(), t.jobs.ctime[job.first], t.jobs.sequence[job.first]);
    });
    view.rows.reserve(jobs.size());
    for (const auto& [job, of] : jobs)
        view.rows.push_back({t.jobs.id[job], std::string(t.strings.text(t.jobs.owner[job])),
                             std::string(t.queues[t.jobs.queue[job]].name), is_running(t.jobs.state[job]),
                             of.by_override, of.functional, of.share, tickets.normalised(job)});
    return view;
}

}  // namespace pbs::sched
