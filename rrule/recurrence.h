// Recurrences of RFC 5545.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rrule/year_days.h"
#include "rrule/zone.h"

namespace pbs::rrule {

class DayCycle;

// A set of readings of the wall clock in one zone: a recurrence rule (RFC 5545 3.3.10) with optional DTSTART,
// RDATE and EXDATE lines. An immutable value, cheap to copy.
//
// What is accepted
// - the rule with or without the prefix "RRULE:"; lines separated by a newline or by a space; any case;
// - DTSTART, RDATE and EXDATE with VALUE=DATE, with TZID, in UTC (a trailing Z) or floating. Floating times
//   are in the zone given to parse(). The zone of the recurrence is that of DTSTART; values in another zone
//   are converted to it;
// - several RDATE and EXDATE lines; RDATE without a rule when there is a DTSTART or at least one RDATE.
//
// What it means
// - With DTSTART, nothing occurs before it. An occurrence is what the rule gives; DTSTART itself counts when
//   the rule matches it (RFC 5545 leaves the other case undefined; here it is then no occurrence).
// - Without DTSTART the rule has always recurred. Parts that DTSTART would give come from Monday, 1 January
//   1601, at the time `at`: it fixes which weeks INTERVAL=2 means, and the day of a rule without BY parts
//   (WEEKLY: Mondays; MONTHLY: the first; YEARLY: 1 January). It begins a Gregorian cycle of 400 years.
//   Occurrences are given from the year 1600 on.
// - Everything is counted on the wall clock: HOURLY;INTERVAL=6 is four readings of the clock each day, also
//   on the days of 23 or 25 hours.
// - With BYWEEKNO a year is the year of its weeks: 29 December may be in week 1 of the year that follows.
//   INTERVAL counts from the year in whose weeks DTSTART is.
// - BYHOUR, BYMINUTE and BYSECOND are ignored when DTSTART is a date (RFC 5545 3.3.10). Second 60 is 59.
// - EXDATE with a date removes every occurrence on that date; with a time, the occurrence at that time (when
//   DTSTART is missing, all of that date, as the rule then names days).
//
// What is refused: syntax errors and unknown parts (with their position), COUNT together with UNTIL, COUNT
// without DTSTART, FREQ below HOURLY, or below MINUTELY where the caller takes minutes, parts that RFC 5545
// forbids for the FREQ, unknown zones, and rules that never occur up to the end of year 9999
// (BYMONTH=2;BYMONTHDAY=30).
class Recurrence {
  public:
    // `floating` is the zone of times that name none; `at` is the time of day, from 0 to 24 h, of occurrences
    // of a rule without DTSTART (a window's start), which UNTIL with a time is compared with. Whoever goes by
    // days has no use for FREQ=MINUTELY.
    enum class Finest : std::uint8_t { hourly, minutely };
    static Result<Recurrence> parse(std::string_view text, const Zone& floating, Seconds at = Seconds{0},
                                    Finest finest = Finest::hourly);

    // The text that was given, without surrounding space.
    const std::string& text() const;
    // The zone in which occurrences are read: TZID or UTC of DTSTART, else the floating zone.
    const Zone& zone() const;

    // All zones that it depends on: zone(), and those that RDATE and EXDATE name.
    const std::vector<Zone>& zones() const;

    // The first `most` occurrences in [from, to), ascending, without duplicates. Time grows with their number
    // and that of the years.
    std::vector<Local> occurrences(Local from, Local to, std::size_t most = kAll) const;
    static constexpr std::size_t kAll = static_cast<std::size_t>(-1);
    // The same as instants (RFC 5545 3.3.5 for times in gaps and folds).
    std::vector<Instant> instants(Instant from, Instant to) const;
    // Days in [from, to) with at least one occurrence, ascending. Time grows with the number of years,
    // whatever BYHOUR, BYMINUTE and BYSECOND say.
    std::vector<LocalDay> days(LocalDay from, LocalDay to) const;
    // The same for a whole year, without a list.
    YearDays year(const Year& y) const;
    // The days of all years together, and of those of each kind, and maybe more: what isn't in it never
    // occurs.
    struct Ever {
        YearDays all;
        std::array<YearDays, Year::kKinds> kinds;
    };
    const Ever& ever() const;
    // Whether it ever occurs on a weekday, 0 being Sunday; maybe true where it doesn't.
    std::bitset<7> weekdays() const;
    // What INTERVAL leaves of the days, if it is counted in days and nothing is added to the rule; else null.
    const DayCycle* cycle() const;

    // The first day on which something can occur; empty when the rule has always recurred.
    std::optional<LocalDay> first_day() const;
    // The last day on which something can occur; empty when the rule goes on for ever.
    std::optional<LocalDay> last_day() const;
    // The first day from which on only the rule counts: after DTSTART, the last RDATE and the last EXDATE.
    LocalDay periodic_from() const;
    // After so many days, counted from periodic_from() on, the pattern of days repeats, when it goes on for
    // ever: 7 for BYDAY=MO, 146097 (the 400 years of the Gregorian cycle) or a multiple with calendar parts.
    std::int64_t period_days() const;

    // How many years have been looked at, and occurrences given, since parse() began: the measure of the work
    // that rules cause, which tests hold against a bound.
    std::uint64_t steps() const;

  private:
    struct Impl;
    explicit Recurrence(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
    std::shared_ptr<const Impl> impl_;
};

// The last day of iCalendar's dates, whose years have four digits. Nothing occurs after it.
inline constexpr LocalDay kLastDay{std::chrono::days{2932896}};  // 9999-12-31

}  // namespace pbs::rrule
