// What becomes of a cycle's outcome: decisions for the host, or lines for its log.
//
// To add one: write plugins/decide/<name>.cc with a `const Decide <name>_decide`, and put it into the table
// of the profiles that have it; the order of the table is that of the decisions.
#pragma once

#include <cstdint>

#include "server_plugin/scheduler/model/decisions.h"

namespace pbs::sched {

class Outcome;
struct CycleContext;

struct Decide {
    const char* name;
    void (*decide)(Outcome& outcome);
    // What the cycle found is carried out, or only told (TEST_ONLY): when is it asked?
    enum class When : std::uint8_t { carried_out, only_told, always };
    When when = When::carried_out;
    // Only a cycle over all jobs will do for it. Null: any cycle.
    bool (*wants_every_job)(const CycleContext& cycle) = nullptr;
};

}  // namespace pbs::sched
