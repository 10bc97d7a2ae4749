// Advance reservations as OpenPBS's server describes them.
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
    // The partition in which the reservation is confirmed; empty: none yet, or that of the default scheduler.
    std::string partition;
    bool asked = false;  // the scheduler is to find places for it
    std::int64_t start = 0;
    std::int64_t end = 0;
    cluster::ResourceList requested;
    std::string nodes;  // its places, as an exec_vnode; empty: none yet
    // An occurrence of a standing reservation after this one.
    struct Occurrence {
        std::int64_t start = 0;
        std::int64_t end = 0;
        std::string nodes;
        bool asked = false;
        bool operator==(const Occurrence&) const = default;
    };
    std::vector<Occurrence> later{};
    std::string later_select{};  // the select of later occurrences; empty: as requested
    bool standing = false;
    bool one_altered = false;  // places are requested for the next occurrence only
    bool keeps_first = false;  // places are requested for later occurrences only
    bool soonest = false;      // the reservation is to begin as soon as there are places
    std::string error;         // the reason why the scheduler can't answer
    bool operator==(const Reservation&) const = default;
};

// Orders reservations' ids by their numbers, the order in which they were submitted: S9.server is before
// R10.server.
struct ByNumber {
    bool operator()(const std::string& a, const std::string& b) const;
};
using Reservations = std::map<std::string, Reservation, ByNumber>;

// Reads a reservation. One that has lost vnodes is marked as asked if its time to retry is not after `now`.
Reservation reservation_of(const ifl::ObjectView& object, std::int64_t now);
// Chooses the occurrences to find places for. If the reservation has lost vnodes, these are the occurrences
// that have lost some. `is_there`: does the vnode exist, and take jobs?
void choose_asked(Reservation& reservation, const std::function<bool(const std::string&)>& is_there);

}  // namespace pbs::openpbs
