// Holds the vnode shares of a started job, and splits them when the job is suspended.
#pragma once

#include <span>
#include <vector>

#include "server_plugin/scheduler/scheduler.h"
#include "tools/simulate/machine.h"

namespace pbs::simulate {

class HeldPlaces {
  public:
    // Copies the places. On each place, the amounts that the job releases when it is suspended come first.
    void take(std::span<const sched::Place> places, const Cluster& cluster);
    // Returns all places.
    const std::vector<sched::Place>& all() const { return places_; }
    // The amounts that a job releases when it is suspended, and those that it keeps.
    struct Suspended {
        std::vector<sched::Place> released;
        std::vector<sched::Place> kept;
    };
    void split(const Cluster& cluster, Suspended& parts) const;

  private:
    std::vector<sched::Place> places_;
    std::vector<sched::Amount> amounts_;  // amounts of all places
};

}  // namespace pbs::simulate
