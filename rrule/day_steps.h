// Computes the hours or minutes in which a rule of FREQ=HOURLY or MINUTELY occurs. Internal to rrule/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "rrule/rule_text.h"
#include "rrule/year_days.h"

namespace pbs::rrule {

// A step is an hour that INTERVAL and BYHOUR select, or a minute that INTERVAL, BYHOUR and BYMINUTE select.
class DaySteps {
  public:
    static bool are_of(const text::Rule& rule) { return rule.freq <= text::Freq::hourly; }

    // For a rule with FREQ=HOURLY or MINUTELY; INTERVAL counts from `anchor`.
    DaySteps(const text::Rule& rule, Local anchor)
        : interval_(rule.interval),
          length_(rule.freq == text::Freq::hourly ? 3600 : 60),
          per_day_(86400 / length_),
          first_(floored(anchor.time_since_epoch().count(), length_)),
          wanted_(static_cast<std::size_t>(per_day_)) {
        const auto any_or = [](const std::vector<int>& list, std::int64_t value) {
            return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
        };
        for (std::int64_t step = 0; step < per_day_; ++step) {
            const std::int64_t minute = step * length_ / 60;
            wanted_[static_cast<std::size_t>(step)] =
                any_or(rule.by_hour, minute / 60) && (length_ == 3600 || any_or(rule.by_minute, minute % 60));
        }
    }

    Seconds length() const { return Seconds{length_}; }
    // The number of days after which the steps are the same again.
    std::int64_t cycle() const { return interval_ / std::gcd(interval_, per_day_); }

    // Calls `seen` for each step of `days` days from `day` on, with the begin of the step as the time since
    // the first day's midnight. Stops when `seen` returns false, and returns false then; otherwise returns
    // true.
    template <class Seen>
    bool each(std::int64_t day, std::int64_t days, const Seen& seen) const {
        const std::int64_t end = days * per_day_;
        for (std::int64_t step = remainder(first_ - day * per_day_, interval_); step < end; step += interval_)
            if (wanted_[static_cast<std::size_t>(step % per_day_)] && !seen(Seconds{step * length_}))
                return false;
        return true;
    }

  private:
    static std::int64_t floored(std::int64_t a, std::int64_t b) { return (a - remainder(a, b)) / b; }

    std::int64_t interval_;
    std::int64_t length_;
    std::int64_t per_day_;
    std::int64_t first_;        // the anchor's step, counted from 1970-01-01
    std::vector<bool> wanted_;  // steps of a day that the BY parts select
};

}  // namespace pbs::rrule
