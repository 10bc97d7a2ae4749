// A policy compiled once for each change of configuration.
#pragma once

#include <optional>

#include "server_plugin/scheduler/configuration.h"
#include "server_plugin/scheduler/formula.h"
#include "server_plugin/scheduler/prime_periods.h"

namespace pbs::sched {

struct Policy {
    Settings settings;
    std::optional<Formula> formula;
    Chain standard_chain;  // of the standard algorithm
    // job_sort_key with names of resources is resolved against the resources of a cycle; until then:
    std::size_t resources_seen = SIZE_MAX;
    PrimePeriods prime;  // of settings.prime; at the time of the last cycle
    Chain lane_chain{};  // of the standard algorithm, for jobs of one queue that are all starving or all not
};

// The first instant after `t` at which one of the dates comes that Origin's boolean options may have instead
// of a truth value; nothing if none is to come.
std::optional<Instant> next_date(const Settings& settings, Instant t);

// Errors: a formula that doesn't compile.
Result<Policy> compile(const Settings& settings);

// The chain for the jobs of one class (origin-facts, "Order of the job list").
const Chain& origin_chain(JobClass job_class, bool prime_order);

// The chain of the standard algorithm, made of starving jobs, by_queue, the formula or job_sort_key, and the
// time in the queue.
Chain standard_chain(const Settings& settings, const Resources& resources);
// What of it is left for the jobs of one queue that are all starving or all not.
Chain lane_chain(const Chain& standard);

}  // namespace pbs::sched
