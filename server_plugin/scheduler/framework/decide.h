// Rules that make decisions for the host, or lines for its log, from a cycle's outcome.
//
// To add one: write plugins/decide/<name>.cc with a `const Decide k<Name>Decide`, and put it into the table
// of the profiles that have it. Decisions are in the order of the table.
#pragma once

#include <cstdint>

#include "server_plugin/scheduler/model/decisions.h"

namespace pbs::sched {

class Outcome;
struct CycleContext;

struct Decide {
    const char* name;
    void (*decide)(Outcome& outcome);
    // Is the rule called when decisions are carried out, when they are only logged (TEST_ONLY), or always?
    enum class When : std::uint8_t { carried_out, only_told, always };
    When when = When::carried_out;
    // Does the rule need a cycle over all jobs? Null: no.
    bool (*wants_every_job)(const CycleContext& cycle) = nullptr;
};

}  // namespace pbs::sched
