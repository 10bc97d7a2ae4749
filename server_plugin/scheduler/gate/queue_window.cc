// A queue with time_windows starts jobs only inside them. How far they may run past the end is for
// prime_boundary.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState&, const Candidate&, QueueView& view) {
    if (view.open) return {};
    return {Because::queue_closed, view.slot, 0, view.opens ? view.opens->time_since_epoch().count() : 0};
}

bool is_open(const CycleState&, const QueueView& view) {
    return view.open;
}

}  // namespace

extern const Gate queue_window_gate;
const Gate queue_window_gate{"queue_window", "", 0, always, check, nullptr, nullptr, is_open, named_instant};

}  // namespace pbs::sched
