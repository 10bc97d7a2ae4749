// Reads advance reservations from the replies of OpenPBS's server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cluster/fields.h"
#include "ifl/reply.h"

namespace pbs::openpbs {

struct Reservation {
    std::string queue;
    // The partition in which the reservation was confirmed; empty: it isn't confirmed yet, or the partition
    // is the default scheduler's.
    std::string partition;
    bool asked = false;  // the scheduler has to find places for it
    std::int64_t start = 0;
    std::int64_t end = 0;
    cluster::ResourceList requested;
    std::string nodes;  // the reservation's places, as an exec_vnode; empty: none yet
    // An occurrence of a standing reservation that follows the one described by `start` and `end`.
    struct Occurrence {
        std::int64_t start = 0;
        std::int64_t end = 0;
        std::string nodes;
        bool asked = false;
        bool operator==(const Occurrence&) const = default;
    };
    std::vector<Occurrence> later{};
    std::string later_select{};  // the select of later occurrences; empty: that in `requested`
    bool standing = false;
    bool one_altered = false;  // places are requested for the next occurrence only, which was altered
    bool keeps_first = false;  // places are requested for later occurrences only
    bool soonest = false;      // the reservation is to begin as soon as there are places
    std::string error;         // the reason why the scheduler can't decide about the reservation
    bool operator==(const Reservation&) const = default;
};

// Orders the ids of reservations by their numbers, that is by the order of their submission: S9.server is
// before R10.server.
struct ByNumber {
    bool operator()(const std::string& a, const std::string& b) const;
};
using Reservations = std::map<std::string, Reservation, ByNumber>;

// Reads a reservation. A reservation that has lost vnodes is `asked` if at `now` it is time to try again.
Reservation reservation_of(const ifl::ObjectView& object, std::int64_t now);
// Chooses the occurrences that need places. If a standing reservation has lost vnodes, these are the
// occurrences that have lost some. `is_there` returns whether a vnode exists and takes jobs.
void choose_asked(Reservation& reservation, const std::function<bool(const std::string&)>& is_there);

}  // namespace pbs::openpbs
