// The comparators. Each computes the number by which a chain of comparators (pending/sort.h) sorts jobs.

#include "server_plugin/scheduler/plugins/comparators.h"

#include <algorithm>

#include "server_plugin/scheduler/framework/policy.h"
#include "server_plugin/scheduler/framework/shares.h"

namespace pbs::sched {
namespace {

std::uint64_t seconds_of(Instant t) {
    return static_cast<std::uint64_t>(t.time_since_epoch().count());
}
std::uint64_t seconds_of(Seconds duration) {
    return static_cast<std::uint64_t>(duration.count());
}

}  // namespace

using Context = OrderContext;

// The shorter walltime goes first; jobs without a walltime go last.
const Comparator kWalltimeOrder{
    .name = "walltime",
    .bits = 40,
    .number = [](const Context& c, const OrderedJob& job,
                 std::uint32_t) { return seconds_of(c.jobs.expected_walltime(job.job)); },
    .shown = KeyForm::duration};

// The job with fewer nodes (ssinodes) goes first.
const Comparator kNodesOrder{.name = "nodes",
                             .attributes = "ssinode_cpus, ssinode_mem",
                             .bits = 32,
                             .number = [](const Context&, const OrderedJob& job,
                                          std::uint32_t) -> std::uint64_t { return job.nodes; }};

// The job that has been eligible longer goes first.
const Comparator kEligibleOrder{.name = "eligible",
                                .bits = 40,
                                .number = [](const Context& c, const OrderedJob& job,
                                             std::uint32_t) { return seconds_of(c.jobs.eligible[job.job]); },
                                .shown = KeyForm::instant};

// The job that has been in its queue longer goes first, by qtime.
const Comparator kQueuedOrder{.name = "queued",
                              .bits = 40,
                              .number = [](const Context& c, const OrderedJob& job,
                                           std::uint32_t) { return seconds_of(c.jobs.qtime[job.job]); },
                              .shown = KeyForm::instant};

// Jobs with a walltime of at least SMALL_QUEUED_TIME go first. This order is for overdue jobs.
// (origin-overview, "Waiting Job Support")
const Comparator kSmallQueuedOrder{
    .name = "small_queued",
    .attributes = "small_queued_time",
    .bits = 1,
    .number = [](const Context& c, const OrderedJob& job, std::uint32_t) -> std::uint64_t {
        return c.jobs.expected_walltime(job.job) < c.settings.small_queued_time ? 1 : 0;
    },
    .shown = KeyForm::yes_if_0};

// The job with the smaller number in its id goes first: the last tie-break.
const Comparator kSequenceOrder{
    .name = "sequence",
    .bits = 64,
    .number = [](const Context& c, const OrderedJob& job, std::uint32_t) -> std::uint64_t {
        return c.jobs.sequence[job.job];
    }};

// The running job that ends sooner goes first.
const Comparator kRunEndOrder{.name = "run_end",
                              .bits = 40,
                              .number = [](const Context& c, const OrderedJob& job,
                                           std::uint32_t) { return seconds_of(c.jobs.end(job.job)); },
                              .shown = KeyForm::instant};

// Starving jobs, which have waited longer than max_starve, go before all others.
const Comparator kStarvingOrder{
    .name = "starving",
    .attributes = "help_starving_jobs, max_starve",
    .bits = 1,
    .number = [](const Context&, const OrderedJob& job, std::uint32_t) -> std::uint64_t {
        return job.job_class == JobClass::overdue ? 0 : 1;
    },
    .shown = KeyForm::yes_if_0};

// by_queue: the jobs of the queue with the highest priority go first.
const Comparator kQueueOrder{
    .name = "queue",
    .attributes = "by_queue",
    .bits = 32,
    .number = [](const Context& c, const OrderedJob& job, std::uint32_t) -> std::uint64_t {
        return c.queue_rank[c.jobs.queue[job.job]];
    },
    .shown = KeyForm::queue};

// job_sort_formula: the job with the larger value goes first.
const Comparator kFormulaOrder{
    .name = "formula",
    .attributes = "job_sort_formula",
    .bits = 64,
    .number = [](const Context&, const OrderedJob& job, std::uint32_t) { return ~ordered_bits(job.score); },
    .shown = KeyForm::score,
    .changes_by_itself =
        [](const Policy& policy) {
            return policy.formula && policy.formula->changes_with_time() && !policy.growth();
        }};

// weighted_priority: the job with the larger sum goes first. Intake finds out whether the order lasts,
// because the range of urgencies and the tickets change with other jobs.
const Comparator kWeightedOrder{
    .name = "weighted_priority",
    .attributes =
        "weighted_priority, weight_job_priority, weight_urgency, urgency_of_resources, urgency_size, "
        "max_range_chunks, weight_waiting_time, weight_deadline, deadline_users, weight_tickets, "
        "tickets_functional, "
        "functional_shares, functional_weights, share_functional_shares, max_functional_jobs, tickets_share, "
        "override_tickets, share_override_tickets, ticket_order",
    .bits = 64,
    .number = [](const Context&, const OrderedJob& job, std::uint32_t) { return ~ordered_bits(job.score); },
    .shown = KeyForm::weighted};

// job_sort_key fairshare_perc: the part of the machine of the job's entity by its shares. A new entity
// outside of the tree changes the order, without any event.
const Comparator kFairsharePercOrder{
    .name = "fairshare_perc",
    .attributes = "job_sort_key",
    .bits = 64,
    .number = [](const Context& c, const OrderedJob& job, std::uint32_t) -> std::uint64_t {
        if (c.shares == nullptr) return 0;
        return ordered_bits(c.shares->tree.share(c.shares->entity(*c.tables, job.job)));
    },
    .shown = KeyForm::score,
    .changes_by_itself = [](const Policy&) { return true; }};

// job_sort_key with a resource: the job that requests less of it goes first (HIGH reverses that). A job that
// requests none counts as 0.
const Comparator kResourceOrder{
    .name = "resource",
    .attributes = "job_sort_key",
    .bits = 64,
    .number = [](const Context& c, const OrderedJob& job, std::uint32_t resource) -> std::uint64_t {
        const auto asked = number_of(c.requests[c.jobs.request[job.job]].totals, resource).value_or(0);
        return static_cast<std::uint64_t>(asked) ^ 1ULL << 63;
    },
    .shown = KeyForm::amount};

// job_sort_key with walltime: the job that requests less goes first (HIGH reverses that). A job without a
// walltime counts as 0, as for any other resource.
const Comparator kAskedWalltimeOrder{
    .name = "asked_walltime",
    .attributes = "job_sort_key",
    .bits = 40,
    .number = [](const Context& c, const OrderedJob& job,
                 std::uint32_t) { return seconds_of(std::max(Seconds(0), c.jobs.walltime[job.job])); },
    .shown = KeyForm::duration};

// job_sort_key with job_priority: the lower priority goes first (HIGH reverses that).
const Comparator kJobPriorityOrder{
    .name = "job_priority",
    .attributes = "job_sort_key",
    .bits = 32,
    .number = [](const Context& c, const OrderedJob& job, std::uint32_t) -> std::uint64_t {
        return static_cast<std::uint32_t>(c.jobs.priority[job.job]) ^ 1U << 31;
    },
    .shown = KeyForm::priority};

}  // namespace pbs::sched
