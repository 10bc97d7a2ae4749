// Makes the site of a calendar from a server's replies: its windows, non-work days, policies and
// reservations.
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

// A result, or an error: one line for the user, which names the object and the expected form.
template <class T>
using Result = tl::expected<T, std::string>;

// An object of a status reply, with its attributes as texts.
struct ObjectText {
    std::string name;
    std::map<std::string, std::string, std::less<>> attributes;

    // Returns the value of an attribute; empty: it isn't set.
    std::string_view value(std::string_view attribute) const;
};

// The status replies of one server.
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
    std::vector<std::string> queues;  // queues that the window opens
    std::string at_close;             // what becomes of their jobs at its end: run, suspend, requeue
    rrule::WindowSet set;             // openings of this window alone, without the non-work days on which it
                                      // doesn't apply
};

// One time of a reservation. A standing reservation has several.
struct Reservation {
    std::string name;  // the id and the owner's name for the reservation: "R12.server (course)"
    rrule::Interval when;
};

struct SchedPolicies {
    std::string name;
    objects::PolicySlots slots;
};

struct Site {
    std::string server;
    rrule::Zone zone = rrule::Zone::utc();
    // True: `zone` is this machine's, because the server doesn't report its own.
    bool zone_assumed = false;
    std::optional<rrule::Instant> now;       // the server's clock, if it reports that
    std::vector<std::string> holiday_rules;  // entries of non_work_days
    rrule::NonWorkDays holidays;
    std::vector<NamedWindow> windows;  // windows with a rule, sorted by name
    // The unions of all windows of type prime and dedicated. Without a window of type prime, `prime` has the
    // hours of the Origin policy (prime_time_start to prime_time_end on working days), and switches no
    // policy.
    rrule::WindowSet prime;
    rrule::WindowSet dedicated;
    bool prime_switches = false;
    std::vector<SchedPolicies> scheds;
    std::vector<Reservation> reservations;  // confirmed ones that aren't over
};

// Makes a site of the replies. The error names an object with attributes that can't be used.
Result<Site> make_site(const Answers& answers);

}  // namespace pbs::calendar
