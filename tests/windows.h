// Makes documents with many time windows, for tests of operations that take long with many.
#pragma once

#include <string>

namespace pbs::test {

struct ManyWindows {
    std::string document;  // JSON with the windows, as pbs_config import reads it
    std::string names;     // the windows' names as the value of a queue's time_window
};

namespace detail {

template <class Hours>
ManyWindows many_windows(int count, const Hours& hours) {
    ManyWindows windows;
    for (int i = 0; i < count; ++i) {
        const std::string name = "t" + std::to_string(i);
        const std::string separator = i == 0 ? "" : ",";
        windows.document +=
            separator + '"' + name + R"(": {)" + hours(i) + R"(, "applies_on_holidays": "False"})";
        windows.names += separator + name;
    }
    windows.document = R"({"format": 1, "time_window": {)" + windows.document + "}}";
    return windows;
}

}  // namespace detail

// Makes `count` windows t0, t1, ..., at most 336. Each opens on one day of the year.
inline ManyWindows yearly_windows(int count) {
    return detail::many_windows(count, [](int i) {
        return R"("rrule": "FREQ=YEARLY;BYMONTH=)" + std::to_string(i / 28 + 1) +
               ";BYMONTHDAY=" + std::to_string(i % 28 + 1) +
               R"(", "start_time": "08:00", "end_time": "17:00")";
    });
}

// Makes `count` windows t0, t1, ..., at most 479. Each is open for three minutes a day.
inline ManyWindows daily_windows(int count) {
    const auto clock = [](int minutes) {
        const auto two = [](int number) { return (number < 10 ? "0" : "") + std::to_string(number); };
        return '"' + two(minutes / 60) + ":" + two(minutes % 60) + '"';
    };
    return detail::many_windows(count, [&](int i) {
        return R"("rrule": "FREQ=DAILY", "start_time": )" + clock(3 * i) + R"(, "end_time": )" +
               clock(3 * i + 3);
    });
}

}  // namespace pbs::test
