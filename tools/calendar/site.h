// What a calendar is drawn from: the windows, non-work days, policies and reservations of one server.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "objects/snapshot.h"
#include "rrule/window_set.h"

namespace pbs::calendar {

// One line for the person at the terminal, naming the object and what was expected.
template <class T>
using Result = tl::expected<T, std::string>;

// An object as a status reply describes it: attributes by name, as text.
struct ObjectText {
    std::string name;
    std::map<std::string, std::string, std::less<>> attributes;

    // Empty if it isn't there.
    std::string_view value(std::string_view attribute) const;
};

// The replies of one server.
struct Answers {
    ObjectText server;
    std::vector<ObjectText> scheds;
    std::vector<ObjectText> queues;
    std::vector<ObjectText> policies;
    std::vector<ObjectText> time_windows;
    std::vector<ObjectText> reservations;
};

struct NamedWindow {
    std::string name;
    std::string type;                 // standard, prime, dedicated
    std::vector<std::string> queues;  // that it opens
    rrule::WindowSet set;             // of this window alone, without the non-work days it doesn't apply on
};

// A time of a reservation; a standing one has several.
struct Reservation {
    std::string name;  // its id, and the name that its owner gave it: "R12.server (course)"
    rrule::Interval when;
};

struct SchedPolicies {
    std::string name;
    objects::PolicySlots slots;
};

struct Site {
    std::string server;
    rrule::Zone zone = rrule::Zone::utc();
    // True: the server doesn't tell its zone, so this is the zone of this machine.
    bool zone_assumed = false;
    std::optional<rrule::Instant> now;       // what the server's clock shows, if it says
    std::vector<std::string> holiday_rules;  // non_work_days, an entry each
    rrule::NonWorkDays holidays;
    std::vector<NamedWindow> windows;  // those that have a rule, in the order of names
    // The unions of the windows of a type. Without a prime window, prime time is what a policy of the Origin
    // algorithm says (prime_time_start to prime_time_end on working days), which switches no policy.
    rrule::WindowSet prime;
    rrule::WindowSet dedicated;
    bool prime_switches = false;
    std::vector<SchedPolicies> scheds;
    std::vector<Reservation> reservations;  // those that are confirmed and not over
};

// Errors name an object whose attributes make no sense.
Result<Site> make_site(const Answers& answers);

}  // namespace pbs::calendar
