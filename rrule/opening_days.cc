#include "rrule/opening_days.h"

#include <bit>
#include <cstdlib>

namespace pbs::rrule {
namespace {

using Days = std::chrono::days;

constexpr Days kBefore{14};

}  // namespace

OpeningDays::OpeningDays(const Window& window, const NonWorkDays& holidays, Instant t) {
    const LocalDay first{std::chrono::floor<Days>(t).time_since_epoch() - kBefore};
    start_ = static_cast<std::uint64_t>(window.start_time().count());
    end_ = static_cast<std::uint64_t>(window.end_time().count());

    const Zone& zone = window.recurrence().zone();
    const Instant end{(first + Days{kDays}).time_since_epoch()};
    std::size_t changes = 0;
    for (Instant at{first.time_since_epoch()}; at < end; ++changes) {
        const Zone::Stretch stretch = zone.stretch(at);
        const auto quarters = stretch.offset.count() / kQuarter;
        if (stretch.from == stretch.to || changes == offsets_.size() ||
            stretch.offset.count() % kQuarter != 0 || std::abs(quarters) > 24 * 4)
            return;
        offsets_[changes] = static_cast<std::int8_t>(quarters);
        at = Instant{stretch.to.time_since_epoch() - stretch.offset};
        if (at < end && changes < changes_.size())
            changes_[changes] = static_cast<std::int16_t>(
                (std::chrono::floor<Days>(at).time_since_epoch() - first.time_since_epoch()).count());
    }
    for (const LocalDay day : window.days(first, first + Days{kDays}, holidays)) {
        const auto bit = static_cast<std::size_t>((day - first).count());
        days_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
    first_day_ = first.time_since_epoch().count();
}

std::optional<std::vector<LocalDay>> OpeningDays::days(LocalDay from, LocalDay to) const {
    const LocalDay first{Days{first_day_}};
    if (from < first || to > first + Days{kDays}) return std::nullopt;
    std::vector<LocalDay> out;
    const auto end = static_cast<int>((to - first).count());
    for (int day = static_cast<int>((from - first).count()); (day = next_opening(day)) < end; ++day)
        out.push_back(first + Days{day});
    return out;
}

int OpeningDays::next_opening(int day) const {
    for (; day < kDays; day += 64)
        if (const std::uint64_t days = days_from(day); days != 0) return day + std::countr_zero(days);
    return kDays;
}

int OpeningDays::next_other(int day) const {
    for (; day < kDays; day += 64)
        if (const std::uint64_t days = days_from(day); ~days != 0) return day + std::countr_one(days);
    return kDays;
}

}  // namespace pbs::rrule
