#include "rrule/series.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "rrule/recurrence.h"
#include "rrule/rule_text.h"

namespace pbs::rrule {
namespace {

using Days = std::chrono::days;
using Kind = SeriesError::Kind;

tl::unexpected<SeriesError> refuse(Kind kind, std::string message) {
    return tl::unexpected(SeriesError{kind, std::move(message)});
}

std::pair<std::string_view, Seconds> period_of(text::Freq frequency) {
    switch (frequency) {
        case text::Freq::minutely:
            return {"MINUTELY", std::chrono::minutes{1}};
        case text::Freq::hourly:
            return {"HOURLY", std::chrono::hours{1}};
        case text::Freq::daily:
            return {"DAILY", Days{1}};
        case text::Freq::weekly:
            return {"WEEKLY", Days{7}};
        case text::Freq::monthly:
            return {"MONTHLY", Days{30}};
        case text::Freq::yearly:
            return {"YEARLY", Days{365}};
    }
    return {};
}

// The reading of a clock as a floating DATE-TIME.
std::string date_time(Local l) {
    const LocalDay day = std::chrono::floor<Days>(l);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(l - Local{day});
    return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       time.hours().count(), time.minutes().count(), time.seconds().count());
}

}  // namespace

tl::expected<Series, SeriesError> series(std::string_view rule, Instant start, const Zone& zone,
                                         std::size_t most) {
    constexpr std::size_t kLongest = 4096;
    if (rule.size() > kLongest)
        return refuse(Kind::rule, fmt::format("a rule of {} bytes is too long: expected at most {}",
                                              rule.size(), kLongest));
    // Refuse DTSTART, RDATE and EXDATE: a DTSTART with a zone of its own would move all occurrences
    const auto parts = text::parse(rule, text::Freq::minutely);
    if (!parts) return refuse(Kind::rule, parts.error().message);
    if (!parts->rule || parts->start || !parts->rdates.empty() || !parts->exdates.empty())
        return refuse(Kind::rule, fmt::format("'{}' isn't a rule alone, such as FREQ=DAILY;COUNT=5", rule));
    if (!parts->rule->count && !parts->rule->until)
        return refuse(Kind::endless, fmt::format("'{}' has no end: expected COUNT or UNTIL in it", rule));
    const auto too_many = [&] {
        return refuse(Kind::too_many,
                      fmt::format("'{}' has too many occurrences: expected at most {}", rule, most));
    };
    if (parts->rule->count && *parts->rule->count > static_cast<std::int64_t>(most)) return too_many();

    const Local first = zone.local(start);
    const std::size_t at = rule.find_first_not_of(" \t\r\n");
    const auto recurrence = Recurrence::parse(
        fmt::format("DTSTART:{}\n{}", date_time(first), rule.substr(std::min(at, rule.size()))), zone,
        Seconds{0}, Recurrence::Finest::minutely);
    const auto none = [&] {
        return refuse(Kind::none, fmt::format("'{}' doesn't occur from {} on", rule, date_time(first)));
    };
    // text::parse() has found all other mistakes, so the rule has no occurrence
    if (!recurrence) return none();

    Series out;
    std::tie(out.frequency, out.period) = period_of(parts->rule->freq);
    const Local end = Local{recurrence->last_day().value_or(kLastDay) + Days{1}};
    out.readings = recurrence->occurrences(first, end, most + 1);
    if (out.readings.size() > most) return too_many();
    if (out.readings.empty()) return none();
    out.starts.reserve(out.readings.size());
    for (const Local reading : out.readings) {
        // if the clock shows the reading of the start twice, the start may be the second time
        const Instant t = reading == first ? start : zone.rfc5545_instant(reading);
        out.starts.push_back(out.starts.empty() ? t : std::max(t, out.starts.back() + Seconds{1}));
    }
    return out;
}

}  // namespace pbs::rrule
