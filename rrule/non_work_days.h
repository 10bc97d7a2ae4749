// Non-work days: the server attribute non_work_days.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rrule/recurrence.h"

namespace pbs::rrule {

// An entry of the attribute: its rule, for how many days each occurrence lasts (DURATION:P3D), and the name
// behind it as a person reads it (plain text; empty without one). What follows SUMMARY: is the name, as
// iCalendar writes texts (RFC 5545 3.3.11: \, \; and \\).
struct NamedDays {
    std::string rule;
    int days = 1;
    std::string name{};

    static constexpr int kMostDays = 366;
    static constexpr std::size_t kLongestName = 255;  // in bytes
    // A DURATION that isn't one stays in the rule, where it is refused.
    static NamedDays split(std::string_view entry);
    // As an entry. The name becomes plain text (plain_text.h) and '"' becomes "'", so that qmgr can print it
    // and read it again.
    std::string entry() const;
};

// The union of the days of some recurrences. A cheap value to copy, empty by default. Answers come from years
// compiled on first use: one thread at a time may ask.
class NonWorkDays {
  public:
    NonWorkDays();

    // What an entry of the attribute is stored as: a recurrence is kept as it is, "MM/DD" becomes
    // FREQ=YEARLY;BYMONTH=MM;BYMONTHDAY=DD (02/29 in leap years) and "MM/DD/YYYY" becomes that day once.
    // After it DURATION:PnD and then SUMMARY: and a name may stand. Errors: an entry that is none of these.
    static Result<std::string> stored(std::string_view entry, const Zone& zone);

    // From entries as they are typed or stored (stored() is applied). An error names the entry.
    static Result<NonWorkDays> parse(std::span<const std::string> entries, const Zone& zone);

    bool empty() const;
    // All zones that the rules depend on; some may be there several times.
    std::vector<Zone> zones() const;
    // Whether a date is one. Dates are those of the rules' own zones, taken as they are written.
    bool contains(LocalDay day) const;
    // The first one on or after a date, if there is one up to the year 9999.
    std::optional<LocalDay> next(LocalDay day) const;
    // All of a year, ascending.
    std::vector<LocalDay> year(std::chrono::year y) const;
    // The same as bits.
    const YearDays& days(const Year& y) const;
    // The names of the entries that make a day a non-work day, in their order, with ", " between them.
    std::string names(LocalDay day) const;

    // The first day from which on the days repeat every period_days(): the rules that end are over, and no
    // single dates follow.
    LocalDay periodic_from() const;
    // At most as long as the calendar of iCalendar.
    std::int64_t period_days() const;

    // Recurrence::steps of all rules.
    std::uint64_t steps() const;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace pbs::rrule
