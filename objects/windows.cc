#include "objects/windows.h"

#include <fmt/format.h>

namespace pbs::objects {

rrule::WindowSpec window_spec(const Object& time_window) {
    rrule::WindowSpec spec;
    spec.rrule = time_window.text("rrule");
    if (time_window.has("start_time")) spec.start_time = time_window.seconds("start_time");
    if (time_window.has("end_time")) spec.end_time = time_window.seconds("end_time");
    spec.applies_on_holidays = time_window.boolean("applies_on_holidays");
    spec.only_on_holidays = time_window.boolean("only_on_holidays");
    return spec;
}

Result<rrule::Window> make_window(const Object& time_window, const rrule::Zone& zone) {
    if (!time_window.has("rrule")) {
        return fail(
            Code::bad_value,
            fmt::format(
                "time_window {} has no rrule, so it never opens; expected one on a window that queues use",
                time_window.name()));
    }
    rrule::Result<rrule::Window> window = rrule::Window::make(window_spec(time_window), zone);
    if (!window) {
        return fail(Code::bad_value,
                    fmt::format("time_window {}: {}", time_window.name(), window.error().message));
    }
    return std::move(*window);
}

rrule::WindowSet weekday_prime_hours(const Object& policy, const rrule::NonWorkDays& holidays,
                                     const rrule::Zone& zone) {
    if (!policy.is_set("prime_time_start") || !policy.is_set("prime_time_end")) return {};
    auto window = rrule::Window::make({.rrule = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
                                       .start_time = policy.seconds("prime_time_start"),
                                       .end_time = policy.seconds("prime_time_end"),
                                       .applies_on_holidays = false},
                                      zone);
    if (!window) return {};
    return rrule::WindowSet({std::move(*window)}, holidays);
}

}  // namespace pbs::objects
