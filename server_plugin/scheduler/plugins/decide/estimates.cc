// estimated.start_time and exec_vnode of jobs that something is kept for.

#include <utility>

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {
namespace {

std::uint64_t number_of(const Placement& placement) {
    std::uint64_t number = placement.parts.size();
    const auto add = [&](std::uint64_t value) { number = (number ^ value) * 0x9E3779B97F4A7C15ULL; };
    for (const Part& part : placement)
        for (const std::uint64_t value :
             {std::uint64_t{part.vnode}, std::uint64_t{part.chunk}, static_cast<std::uint64_t>(part.count)})
            add(value);
    for (const Need& need : placement.amounts) add(static_cast<std::uint64_t>(need.amount));
    return number;
}

// For whom something is kept is told what has changed of it. What a cycle after events has taken over from
// the last one is as it was told then.
void decide(Outcome& outcome) {
    const CycleContext& cycle = outcome.cycle();
    Tables& t = cycle.tables;
    if (!t.estimates.on) return;
    std::span<const Reservation> made;
    if (!cycle.test_only) made = cycle.state.reservations;
    auto& list = outcome.out().list;
    auto& told = t.estimates.told;
    for (std::size_t i = 0; i < made.size(); ++i) {
        const bool kept = i < cycle.reserved_kept;
        const Placement& placement = kept ? cycle.in.events->kept[i].placement : made[i].placement;
        const JobHandle job = t.jobs.handle[made[i].job];
        Estimates::Told& known = told[job];
        known.still = true;
        if (kept && known.start == made[i].start) continue;
        const std::uint64_t where = number_of(placement);
        if (known.start == made[i].start && known.where == where) continue;
        known.start = made[i].start;
        known.where = where;
        list.push_back({DecisionKind::estimate,
                        job,
                        {},
                        {},
                        {},
                        outcome.places_of(made[i].job, placement),
                        made[i].start});
    }
    for (auto one = told.begin(); one != told.end();) {
        const JobSlot job = t.jobs.find(one->first);
        const Queue* queue = job == kNoSlot ? nullptr : &t.queues[t.jobs.queue[job]];
        const bool own =
            queue == nullptr || queue->partition == cycle.in.partition || cycle.is_unserved(*queue);
        if (std::exchange(one->second.still, false) || !own) {
            ++one;
            continue;
        }
        if (job != kNoSlot && t.jobs.state[job] == 'Q')
            list.push_back({DecisionKind::estimate, one->first, {}, {}, {}, {}});
        one = told.erase(one);
    }
}

}  // namespace

extern const Decide kEstimatesDecide;
const Decide kEstimatesDecide{.name = "estimates", .decide = decide, .when = Decide::When::always};

}  // namespace pbs::sched
