// Recurrences: rules and dates of RFC 5545, as sets of readings of the wall clock.
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

// A set of wall clock readings in one zone: a recurrence rule (RFC 5545 3.3.10) with optional DTSTART, RDATE
// and EXDATE lines. An immutable value, cheap to copy.
//
// Accepted
// - the rule with or without the prefix "RRULE:"; lines separated by a newline or by a space; any case;
// - DTSTART, RDATE and EXDATE with VALUE=DATE, with TZID, in UTC (a trailing Z) or floating. Floating times
//   are in the zone given to parse(). The zone of the recurrence is that of DTSTART; values in another zone
//   are converted to it;
// - several RDATE and EXDATE lines; RDATE without a rule when there is a DTSTART or at least one RDATE.
//
// Meaning
// - With DTSTART, nothing occurs before it. Occurrences are those of the rule: DTSTART itself is one only if
//   the rule matches it (RFC 5545 leaves the other case undefined).
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
// Refused: syntax errors and unknown parts (with their position), COUNT together with UNTIL, COUNT
// without DTSTART, FREQ below HOURLY, or below MINUTELY where the caller takes minutes, parts that RFC 5545
// forbids for the FREQ, unknown zones, and rules that never occur up to the end of year 9999
// (BYMONTH=2;BYMONTHDAY=30).
class Recurrence {
  public:
    // The finest FREQ that a rule may have. MINUTELY is of no use to callers that only ask for days.
    enum class Finest : std::uint8_t { hourly, minutely };
    // Reads a recurrence. `floating` is the zone of times that name none. `at` is the time of day, from 0 to
    // 24 h, at which a rule without DTSTART occurs (a window's start); an UNTIL with a time is compared with
    // it.
    static Result<Recurrence> parse(std::string_view text, const Zone& floating, Seconds at = Seconds{0},
                                    Finest finest = Finest::hourly);

    // The text that was given, without surrounding space.
    const std::string& text() const;
    // The zone of the occurrences: TZID or UTC of DTSTART, else the floating zone.
    const Zone& zone() const;

    // All zones that the recurrence depends on: zone(), and those that RDATE and EXDATE name.
    const std::vector<Zone>& zones() const;

    // The first `most` occurrences in [from, to), ascending, without duplicates. The time grows with their
    // number and the number of years.
    std::vector<Local> occurrences(Local from, Local to, std::size_t most = kAll) const;
    static constexpr std::size_t kAll = static_cast<std::size_t>(-1);
    // The occurrences as instants. Times in gaps and folds of the clock follow RFC 5545 3.3.5.
    std::vector<Instant> instants(Instant from, Instant to) const;
    // Days in [from, to) with at least one occurrence, ascending. The time grows with the number of years,
    // whatever BYHOUR, BYMINUTE and BYSECOND say.
    std::vector<LocalDay> days(LocalDay from, LocalDay to) const;
    // The days of a whole year with at least one occurrence.
    YearDays year(const Year& y) const;
    // The days of a year that may have an occurrence: `all` in any year, and `kinds` in each kind of year.
    // Days that aren't in these sets never have one.
    struct Ever {
        YearDays all;
        std::array<YearDays, Year::kKinds> kinds;
    };
    const Ever& ever() const;
    // The weekdays, 0 being Sunday, that may have an occurrence; others never have.
    std::bitset<7> weekdays() const;
    // The days that INTERVAL selects, if it is counted in days and the rule has no RDATE; else null.
    const DayCycle* cycle() const;

    // The first day that may have an occurrence; nullopt: the rule has always recurred.
    std::optional<LocalDay> first_day() const;
    // The last day that may have an occurrence; nullopt: the rule goes on for ever.
    std::optional<LocalDay> last_day() const;
    // The first day from which only the rule counts: after DTSTART, the last RDATE and the last EXDATE.
    LocalDay periodic_from() const;
    // The number of days after which the pattern repeats from periodic_from() on, if the rule goes on for
    // ever: 7 for BYDAY=MO, 146097 (the 400 years of the Gregorian cycle) or a multiple with calendar parts.
    std::int64_t period_days() const;

    // The number of years looked at and of occurrences given since parse() began: a measure of the work that
    // a rule causes, which tests compare with a bound.
    std::uint64_t steps() const;

  private:
    struct Impl;
    explicit Recurrence(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
    std::shared_ptr<const Impl> impl_;
};

// The last day of iCalendar's dates, whose years have four digits. Nothing occurs after it.
inline constexpr LocalDay kLastDay{std::chrono::days{2932896}};  // 9999-12-31

}  // namespace pbs::rrule
