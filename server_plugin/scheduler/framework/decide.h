// Rules that make decisions for the host, or lines for its log, from a cycle's outcome.
//
// To add one: write plugins/decide/<name>.cc with an `extern const Decide k<Name>Decide`, and put it into the
// table of the profiles that have it. Decisions are in the order of the table.
#pragma once

#include <cstdint>

#include "server_plugin/scheduler/model/decisions.h"

namespace pbs::sched {

class Outcome;
struct CycleContext;

struct Decide {
    const char* name;
    void (*decide)(Outcome& outcome);
    // The cycles in which the rule is called: those whose decisions are carried out, those whose decisions
    // are only logged (TEST_ONLY), or all.
    enum class Cycles : std::uint8_t { carried_out, only_told, always };
    Cycles when = Cycles::carried_out;
    // Returns whether the rule needs a cycle over all jobs. Null: it doesn't.
    bool (*wants_every_job)(const CycleContext& cycle) = nullptr;
};

}  // namespace pbs::sched
