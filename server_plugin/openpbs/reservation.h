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
    // The partition where it is confirmed; empty: none, or that of the default scheduler.
    std::string partition;
    bool asked = false;  // the scheduler is to find places for it
    std::int64_t start = 0;
    std::int64_t end = 0;
    cluster::ResourceList requested;
    std::string nodes;  // its places, as an exec_vnode; empty: it has none yet
    // An occurrence of a standing reservation after this one.
    struct Occurrence {
        std::int64_t start = 0;
        std::int64_t end = 0;
        std::string nodes;
        bool asked = false;
        bool operator==(const Occurrence&) const = default;
    };
    std::vector<Occurrence> later{};
    std::string later_select{};  // the select of later occurrences; empty: the same
    bool standing = false;
    bool one_altered = false;  // only the next occurrence is asked for
    bool keeps_first = false;  // only later occurrences are asked for
    bool soonest = false;      // it begins as soon as there are places
    std::string error;         // why the scheduler can't answer
    bool operator==(const Reservation&) const = default;
};

// Orders ids by their numbers, in the order in which they came: S9.server is before R10.server.
struct ByNumber {
    bool operator()(const std::string& a, const std::string& b) const;
};
using Reservations = std::map<std::string, Reservation, ByNumber>;

// Reads a reservation. `now`: one that has lost vnodes is asked for again when its time to retry has come.
Reservation reservation_of(const ifl::ObjectView& object, std::int64_t now);
// Chooses which of a reservation's occurrences are asked for: if it has lost vnodes, those that have lost
// some. `is_there`: does the vnode exist, and take jobs?
void choose_asked(Reservation& reservation, const std::function<bool(const std::string&)>& is_there);

}  // namespace pbs::openpbs
