// The vnode shares of a started job.
#pragma once

#include <span>
#include <vector>

#include "server_plugin/scheduler/scheduler.h"
#include "tools/simulate/machine.h"

namespace pbs::simulate {

class HeldPlaces {
  public:
    // Copies the places. On each place, the amounts that a suspended job releases come first.
    void take(std::span<const sched::Place> places, const Cluster& cluster);
    // All places.
    const std::vector<sched::Place>& all() const { return places_; }
    // The amounts that the job releases, and those that it keeps, while it is suspended.
    struct Suspended {
        std::vector<sched::Place> released;
        std::vector<sched::Place> kept;
    };
    void split(const Cluster& cluster, Suspended& parts) const;

  private:
    std::vector<sched::Place> places_;
    std::vector<sched::Amount> amounts_;  // of all places
};

}  // namespace pbs::simulate
