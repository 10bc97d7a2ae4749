// Many time windows, for tests of slow operations.
#pragma once

#include <string>

namespace pbs::test {

struct ManyWindows {
    std::string document;  // for pbs_config import
    std::string names;     // for a queue's time_window
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

// Makes windows t0, t1, ... of one day a year each; at most 336.
inline ManyWindows yearly_windows(int count) {
    return detail::many_windows(count, [](int i) {
        return R"("rrule": "FREQ=YEARLY;BYMONTH=)" + std::to_string(i / 28 + 1) +
               ";BYMONTHDAY=" + std::to_string(i % 28 + 1) +
               R"(", "start_time": "08:00", "end_time": "17:00")";
    });
}

// Makes windows of three minutes each day; at most 479.
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
