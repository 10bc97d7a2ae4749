// Functions that make dates, instants and time zones from short texts, for tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "rrule/overlap.h"
#include "rrule/window_set.h"

namespace pbs::rrule::test {

// Returns the local time of a text such as "2026-03-08 02:30", "2026-03-08 02:30:15" or "2026-03-08".
inline Local local(std::string_view s) {
    const auto n = [&](std::size_t at, std::size_t count) {
        return std::stoi(std::string(s.substr(at, count)));
    };
    const std::chrono::year_month_day ymd{std::chrono::year{n(0, 4)},
                                          std::chrono::month(static_cast<unsigned>(n(5, 2))),
                                          std::chrono::day(static_cast<unsigned>(n(8, 2)))};
    Local l{LocalDay{ymd}};
    if (s.size() >= 16) l += Seconds{n(11, 2) * 3600 + n(14, 2) * 60};
    if (s.size() >= 19) l += Seconds{n(17, 2)};
    return l;
}
inline LocalDay day(std::string_view s) {
    return std::chrono::floor<std::chrono::days>(local(s));
}
inline Instant utc(std::string_view s) {
    return Instant{local(s).time_since_epoch()};
}

inline std::string text(Local l) {
    const auto d = std::chrono::floor<std::chrono::days>(l);
    const std::chrono::year_month_day ymd{d};
    const auto s = (l - d).count();
    char out[40];
    std::snprintf(out, sizeof out, "%04d-%02u-%02u %02d:%02d", static_cast<int>(ymd.year()),
                  static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()),
                  static_cast<int>(s / 3600), static_cast<int>(s / 60 % 60));
    return out;
}
inline std::string text(Instant t) {
    return text(Local{t.time_since_epoch()});
}
inline std::string text(std::optional<Instant> t) {
    return t ? text(*t) : "never";
}

// Compares two instants. Makes their texts only if they differ, as some tests compare many thousands of
// instants.
inline testing::AssertionResult same(std::optional<Instant> found, std::optional<Instant> expected) {
    if (found == expected) return testing::AssertionSuccess();
    return testing::AssertionFailure() << text(found) << " in place of " << text(expected);
}

inline Zone zone(std::string_view name) {
    auto found = Zone::find(name);
    EXPECT_TRUE(found) << name;
    return found ? *found : Zone::utc();
}

// Returns the number of days, and the first 400 of them, as text for messages of failed tests.
inline std::string text(const std::vector<LocalDay>& days) {
    std::string out = std::to_string(days.size()) + ":";
    for (std::size_t i = 0; i < days.size() && i < 400; ++i) out += ' ' + text(Local{days[i]}).substr(0, 10);
    return out;
}

inline Seconds hm(int hours, int minutes = 0) {
    return Seconds{hours * 3600 + minutes * 60};
}

inline Window window(const std::string& rule, Seconds start, Seconds end, const Zone& z,
                     bool on_holidays = true) {
    auto made = Window::make({rule, start, end, on_holidays}, z);
    if (!made) throw std::runtime_error(made.error().message);
    return *made;
}

inline std::optional<Instant> first_overlap(const Window& a, const Window& b, Instant from,
                                            const NonWorkDays& holidays = {}) {
    return OverlapSearch(holidays, from).of(a, b);
}

// Returns the intervals, which are in ascending order, with touching ones joined.
inline std::vector<Interval> joined(const std::vector<Interval>& parts) {
    std::vector<Interval> out;
    for (const Interval& part : parts) {
        if (!out.empty() && out.back().end == part.start) {
            out.back().end = part.end;
        } else {
            out.push_back(part);
        }
    }
    return out;
}

}  // namespace pbs::rrule::test
