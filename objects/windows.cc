#include "objects/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

rrule::Result<rrule::Window> KeptWindows::of(const Object& time_window, const rrule::Zone& zone) {
    rrule::WindowSpec spec = window_spec(time_window);
    const auto known = kept_.find(time_window.name());
    if (known != kept_.end() && known->second.spec == spec) return known->second.window;
    rrule::Result<rrule::Window> made = rrule::Window::make(spec, zone);
    if (made) kept_.insert_or_assign(time_window.name(), Kept{std::move(spec), *made});
    return made;
}

void KeptWindows::forget_gone(const Draft& draft) {
    if (kept_.size() <= enough_) return;
    std::erase_if(kept_, [&](const auto& kept) { return !draft.find(ObjectType::time_window, kept.first); });
    enough_ = std::max<std::size_t>(64, kept_.size() * 2);
}

Result<rrule::Window> make_window(const Object& time_window, const rrule::Zone& zone) {
    KeptWindows none;
    return make_window(time_window, zone, none);
}

Result<rrule::Window> make_window(const Object& time_window, const rrule::Zone& zone, KeptWindows& kept) {
    if (!time_window.has("rrule")) {
        return fail(
            Code::bad_value,
            fmt::format(
                "time_window {} has no rrule, so it never opens; expected one on a window that queues use",
                time_window.name()));
    }
    rrule::Result<rrule::Window> window = kept.of(time_window, zone);
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
