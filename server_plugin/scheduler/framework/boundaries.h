// Instants at which time alone changes the decisions of a rule, and which no refusal names, such as the
// beginning of a period. The scheduler runs a cycle over all jobs then.
//
// To add one: write an `extern const BoundaryRule` beside the rule that it belongs to, and name it in
// profiles/rules.h and in the tables of the profiles that have it.
#pragma once

#include <optional>
#include <string_view>

#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

struct BoundaryRule {
    std::string_view name;
    // Returns the first such instant after `t`; nullopt: there is none.
    std::optional<Instant> (*next)(const Tables& tables, const Settings& settings, Instant t);
    // Returns whether events of jobs may change next(). Null: only events of other objects may.
    bool (*depends_on_jobs)(const Settings& settings) = nullptr;
};

}  // namespace pbs::sched
