// SORT_BY_PAST_USAGE: the next job is always one of the user with the least usage. Each job in this order
// adds to its user's usage, as if it had run. (sched-config guide, "Increasing Fairness In Resource Usage")

#include "server_plugin/scheduler/pending/deal.h"
#include "server_plugin/scheduler/pending/past_usage_deal.h"

namespace pbs::sched {

extern const Deal kPastUsageDeal;
const Deal kPastUsageDeal{
    .name = "past_usage",
    .wanted = [](const Settings& s, Instant now) { return s.sort_by_past_usage.holds(now); },
    .of_users = true,
    .begin = [](const DealContext& c, const DealtLane&) { return c.usage; },
    .charge =
        [](const Settings& s, const JobTable& jobs, const OrderedJob& job) {
            return charge_units(s.past_usage_charge, job.nodes, jobs.expected_walltime(job.job));
        },
    .in_circle = true,
};

}  // namespace pbs::sched
