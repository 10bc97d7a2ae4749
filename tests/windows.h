// Many time windows, for tests of what takes long.
#pragma once

#include <string>

namespace pbs::test {

struct ManyWindows {
    std::string document;  // as pbs_config imports it
    std::string names;     // as a queue's time_window takes them
};

// Windows t0, t1, ... of one day a year each; at most 336 of them.
inline ManyWindows yearly_windows(int count) {
    ManyWindows windows;
    for (int i = 0; i < count; ++i) {
        const std::string name = "t" + std::to_string(i);
        const std::string separator = i == 0 ? "" : ",";
        windows.document +=
            separator + '"' + name + R"(": {"rrule": "FREQ=YEARLY;BYMONTH=)" + std::to_string(i / 28 + 1) +
            ";BYMONTHDAY=" + std::to_string(i % 28 + 1) +
            R"(", "start_time": "08:00", "end_time": "17:00", "applies_on_holidays": "False"})";
        windows.names += separator + name;
    }
    windows.document = R"({"format": 1, "time_window": {)" + windows.document + "}}";
    return windows;
}

}  // namespace pbs::test
