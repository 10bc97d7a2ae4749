// Computes non-work days from the server attribute non_work_days.
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

// An entry of the attribute: a rule, the number of days that each occurrence lasts (DURATION:P3D), and a name
// as plain text for people (empty: none). The name follows SUMMARY:, escaped as iCalendar escapes texts (RFC
// 5545 3.3.11: \, \; and \\).
struct NamedDays {
    std::string rule;
    int days = 1;
    std::string name{};

    static constexpr int kMostDays = 366;
    static constexpr std::size_t kLongestName = 255;  // in bytes
    // Splits an entry. A malformed DURATION stays in the rule, where it is refused.
    static NamedDays split(std::string_view entry);
    // The text of the entry. The name becomes plain text (plain_text.h), and '"' in it "'", so that qmgr can
    // print the entry and read it again.
    std::string entry() const;
};

// The union of the days of some recurrences. Cheap to copy, empty by default. Years are compiled on first
// use, so only one thread at a time may use it.
class NonWorkDays {
  public:
    NonWorkDays();

    // The form in which an entry of the attribute is stored: a recurrence stays as it is, "MM/DD" becomes
    // FREQ=YEARLY;BYMONTH=MM;BYMONTHDAY=DD (02/29 in leap years), and "MM/DD/YYYY" becomes that day once.
    // DURATION:PnD and then SUMMARY: with a name may follow. Errors: the entry is none of these.
    static Result<std::string> stored(std::string_view entry, const Zone& zone);

    // The union of entries as they are typed or stored (stored() is applied). An error names the entry.
    static Result<NonWorkDays> parse(std::span<const std::string> entries, const Zone& zone);

    bool empty() const;
    // All zones that the rules depend on, possibly with repetitions.
    std::vector<Zone> zones() const;
    // Returns whether the date is a non-work day. Dates of rules count as they are written, whatever their
    // zone.
    bool contains(LocalDay day) const;
    // The first non-work day on or after a date; nullopt: none up to the year 9999.
    std::optional<LocalDay> next(LocalDay day) const;
    // All non-work days of a year, ascending.
    std::vector<LocalDay> year(std::chrono::year y) const;
    // All non-work days of a year, as bits.
    const YearDays& days(const Year& y) const;
    // The names of the entries that make a day a non-work day, in their order, with ", " between them.
    std::string names(LocalDay day) const;

    // The first day from which the non-work days repeat every period_days() days. The last days of rules that
    // end, and all single dates, are before it.
    LocalDay periodic_from() const;
    // The number of days after which the non-work days repeat, at most kCalendarDays.
    std::int64_t period_days() const;

    // The sum of Recurrence::steps() of all rules.
    std::uint64_t steps() const;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace pbs::rrule
