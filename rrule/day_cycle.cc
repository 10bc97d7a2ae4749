#include "rrule/day_cycle.h"

#include <algorithm>
#include <numeric>

#include "rrule/day_steps.h"

namespace pbs::rrule {

std::optional<DayCycle> DayCycle::of(const text::Rule& rule, Local anchor) {
    const std::int64_t first = day_number(std::chrono::floor<std::chrono::days>(anchor));
    const std::int64_t n = rule.interval;
    std::vector<std::int64_t> days;
    if (DaySteps::are_of(rule)) {
        const DaySteps steps(rule, anchor);
        const std::int64_t length = steps.cycle();
        steps.each(0, length, [&](Seconds begin) {
            days.push_back(begin.count() / 86400);
            return true;
        });
        days.erase(std::unique(days.begin(), days.end()), days.end());
        if (static_cast<std::int64_t>(days.size()) == length) return std::nullopt;
        return DayCycle(length, days);
    }
    if (n == 1 || (rule.freq != text::Freq::daily && rule.freq != text::Freq::weekly)) return std::nullopt;
    if (rule.freq == text::Freq::daily) return DayCycle(n, {remainder(first, n)});
    const std::int64_t week = first - (weekday_of(first) + 7 - static_cast<int>(rule.week_start)) % 7;
    for (int day = 0; day < 7; ++day) days.push_back(remainder(week + day, n * 7));
    return DayCycle(n * 7, days);
}

DayCycle::DayCycle(std::int64_t length, const std::vector<std::int64_t>& days)
    : length_(length), days_(days), words_(static_cast<std::size_t>(length + YearDays::kBits) / 64 + 2) {
    for (std::int64_t day : days)
        for (; day < length + YearDays::kBits; day += length)
            words_[static_cast<std::size_t>(day / 64)] |= std::uint64_t{1} << (day % 64);
}

YearDays DayCycle::year(const Year& year) const {
    const auto from = static_cast<std::size_t>(remainder(year.first, length_));
    YearDays out;
    for (std::size_t i = 0; i < out.words_.size(); ++i) {
        const std::size_t word = from / 64 + i;
        out.words_[i] = words_[word] >> (from % 64) | words_[word + 1] << 1 << (63 - from % 64);
    }
    return out;
}

bool DayCycle::meets(const DayCycle& other, int shift) const {
    const std::int64_t common = std::gcd(length_, other.length_);
    std::vector<bool> there(static_cast<std::size_t>(common));
    for (const std::int64_t day : days_)
        there[static_cast<std::size_t>(remainder(day + shift, common))] = true;
    return std::any_of(other.days_.begin(), other.days_.end(),
                       [&](std::int64_t day) { return there[static_cast<std::size_t>(day % common)]; });
}

}  // namespace pbs::rrule
