#include "rrule/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "rrule/pattern.h"

namespace pbs::rrule {

struct Window::Impl {
    Recurrence rule;
    Seconds start;
    Seconds end;
    bool on_holidays;
    bool only_on_holidays;
};

namespace {

constexpr Seconds kDay{86400};

std::string clock(Seconds s) {
    return fmt::format("{:02}:{:02}:{:02}", s.count() / 3600, s.count() / 60 % 60, s.count() % 60);
}

}  // namespace

Result<Window> Window::make(const WindowSpec& spec, const Zone& zone) {
    const Seconds start = spec.start_time.value_or(Seconds{0});
    Seconds end = spec.end_time.value_or(kDay);
    if (start == kDay && end == kDay)
        return tl::unexpected(
            Error{"a window from 24:00 to 24:00 has no length, expected a start_time below 24:00", {}});
    if (start < Seconds{0} || start >= kDay)
        return tl::unexpected(Error{
            fmt::format("start_time {} is not a time of day from 00:00:00 to 23:59:59", clock(start)), {}});
    if (end < Seconds{0} || end > kDay)
        return tl::unexpected(
            Error{fmt::format("end_time {} is not a time of day from 00:00:00 to 24:00:00", clock(end)), {}});
    if (spec.only_on_holidays && !spec.applies_on_holidays)
        return tl::unexpected(
            Error{"a window with only_on_holidays=True and applies_on_holidays=False never opens, expected "
                  "one of them",
                  {}});
    if (end <= start) end += kDay;
    auto rule = Recurrence::parse(spec.rrule, zone, start);
    if (!rule) return tl::unexpected(rule.error());
    return Window(std::make_shared<const Impl>(
        Impl{std::move(*rule), start, end, spec.applies_on_holidays, spec.only_on_holidays}));
}

const Recurrence& Window::recurrence() const {
    return impl_->rule;
}
Seconds Window::start_time() const {
    return impl_->start;
}
Seconds Window::end_time() const {
    return impl_->end;
}
bool Window::applies_on_holidays() const {
    return impl_->on_holidays;
}
bool Window::only_on_holidays() const {
    return impl_->only_on_holidays;
}

Interval Window::on(LocalDay day) const {
    const Zone& zone = impl_->rule.zone();
    return {zone.instant(Local{day} + impl_->start), zone.instant(Local{day} + impl_->end)};
}

void Window::expand(LocalDay from, LocalDay to, const NonWorkDays& holidays,
                    std::vector<Interval>& out) const {
    open_on(*this, days(from, to, holidays), out);
}

std::vector<LocalDay> Window::days(LocalDay from, LocalDay to, const NonWorkDays& holidays) const {
    std::vector<LocalDay> out = impl_->rule.days(from, to);
    if (depends_on_holidays())
        std::erase_if(out, [&](LocalDay day) { return holidays.contains(day) != only_on_holidays(); });
    return out;
}

YearDays Window::year(const Year& y, const NonWorkDays& holidays) const {
    const YearDays days = impl_->rule.year(y);
    if (!depends_on_holidays()) return days;
    return days & (only_on_holidays() ? holidays.days(y) : ~holidays.days(y));
}

bool Window::opens_on(LocalDay day, const NonWorkDays& holidays) const {
    if (day > kLastDay) return false;
    const Year y(Year::of(day_number(day)));
    return year(y, holidays).test(static_cast<int>(day_number(day) - y.first));
}

}  // namespace pbs::rrule
