// A policy in the form that cycles use: its settings, and what is computed from them once for each change of
// the configuration, such as a parsed formula and the order of jobs.
#pragma once

#include <optional>

#include "server_plugin/scheduler/framework/formula.h"
#include "server_plugin/scheduler/model/configuration.h"
#include "server_plugin/scheduler/model/prime_periods.h"

namespace pbs::sched {

struct Policy {
    Settings settings{};  // including the profile; without settings that the profile doesn't act on
    std::optional<Formula> formula{};
    // Returns whether jobs have a score (OrderedJob::score). Jobs with the largest scores go first.
    bool has_scores() const { return formula || settings.weighted_priority; }
    // Returns by how much a second jobs' values grow, if only that changes the order of jobs that gain
    // eligible time and of those that don't.
    std::optional<double> growth() const {
        return formula && formula->changes_with_time() && !settings.job_sort_formula_threshold
                   ? formula->growth()
                   : std::nullopt;
    }
    // The chains of comparators that the profile makes for this policy. Their names of resources were
    // resolved when Resources::version() was `resources_seen`.
    Chain chain{};
    Chain lane_chain{};
    std::size_t resources_seen = SIZE_MAX;
    PrimePeriods prime{settings.prime};  // the periods of prime time from the last cycle on
};

// Returns whether the order of jobs may go by tickets: by weighted_priority, or by names in job_sort_formula.
inline bool reads_tickets(const Policy& policy) {
    return policy.settings.weighted_priority || (policy.formula && policy.formula->reads_priorities());
}

// Returns the first date after `t` from which on a boolean option of Origin is true; nullopt: there is none.
// These options may have a date instead of a truth value.
std::optional<Instant> next_date(const Settings& settings, Instant t);

// Compiles settings with their profile. Errors: a formula that doesn't compile.
Result<Policy> compile(const Settings& settings);

}  // namespace pbs::sched
