// Packs the openings of one window in a year into one line of the processor's cache. An opening is an
// interval in which the window is open. Internal to rrule/.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "rrule/window.h"

namespace pbs::rrule {

// A table of the days on which a window opens. The times of day are the same on each day, so one bit for each
// of 384 days is enough. Thousands of windows then fit into the processor's cache, which lists of their
// openings don't; a question costs one read of memory.
//
// The table has no answer if the question or the answer is about an instant outside of it, or within two days
// of a change of the clock. It has no answer at all for a window in a zone whose clock changes more than
// twice in that time, or whose offset from UTC isn't a whole number of quarters of an hour. WindowSet's list
// answers instead.
class alignas(64) OpeningDays {
  public:
    // A table of no days.
    OpeningDays() = default;
    // A table of the days around t, from two weeks before it to a year after it.
    OpeningDays(const Window& window, const NonWorkDays& holidays, Instant t);

    // Returns whether the table has the day of t. (The functions below may still have no answer for t.)
    bool covers(Instant t) const;

    // The days in [from, to) on which the window opens; nullopt: the table doesn't have all of them.
    std::optional<std::vector<LocalDay>> days(LocalDay from, LocalDay to) const;

    // Returns whether the window is open at t. nullopt, here and below: the table has no answer.
    std::optional<bool> contains(Instant t) const;
    // The first instant after t at which the window opens or closes.
    std::optional<Instant> next_change(Instant t) const;

  private:
    static constexpr int kDays = 384;
    static constexpr int kDaySeconds = 86400;
    static constexpr int kNear = 2;
    static constexpr int kQuarter = 900;
    static constexpr std::int64_t kNever = -(1 << 27);
    static constexpr std::int16_t kNoChange = kDays + 2 * kNear;

    // A reading of the window's clock: the day, counted in the table (kUnknown where the table has no
    // answer), and the time of day. It fits into a register.
    struct Reading {
        int day;
        int time;  // seconds since midnight
        bool known() const { return day != kUnknown; }
    };
    static constexpr int kUnknown = -1000;
    Reading reading(Instant t) const;
    // The clock's offset from UTC around a day, in quarters of an hour; kUnknown near a change and outside
    // the table.
    int offset_around(int day) const;
    std::optional<Instant> instant(int day, int time) const;

    // The bits of the 64 days from `day` on, which must be in the table; days after the table are no opening
    // days.
    std::uint64_t days_from(int day) const;
    // The first opening day from `day` on; kDays if there is none.
    int next_opening(int day) const;
    // The first day from `day` on that isn't an opening day.
    int next_other(int day) const;
    bool open(Reading now) const;

    // Midnight UTC of the table's first day, in seconds since the Epoch.
    std::int64_t begin() const { return std::int64_t{first_day_} * kDaySeconds; }
    int length() const { return static_cast<int>(end_) - static_cast<int>(start_); }

    std::array<std::uint64_t, kDays / 64> days_{};
    std::int64_t first_day_ : 28 = kNever;  // since 1970-01-01
    std::uint64_t start_ : 18 = 0;          // seconds since midnight
    std::uint64_t end_ : 18 =
        0;  // since midnight of the opening day: above 24 h when the end is on the next day
    // The days on which the clock changes, and its offset from UTC before, between and after them.
    std::array<std::int16_t, 2> changes_{kNoChange, kNoChange};
    std::array<std::int8_t, 3> offsets_{};  // quarters of an hour
};

static_assert(sizeof(OpeningDays) == 64);

inline bool OpeningDays::covers(Instant t) const {
    const std::int64_t since = t.time_since_epoch().count() - begin();
    return since >= kNear * kDaySeconds && since < (kDays - kNear) * kDaySeconds;
}

inline int OpeningDays::offset_around(int day) const {
    const auto near = [day](int other) { return static_cast<unsigned>(day - other + kNear) <= 2 * kNear; };
    if (day < kNear || day >= kDays - kNear || near(changes_[0]) || near(changes_[1])) return kUnknown;
    const std::size_t passed = (day > changes_[0] ? 1U : 0U) + (day > changes_[1] ? 1U : 0U);
    return offsets_[passed];
}

inline OpeningDays::Reading OpeningDays::reading(Instant t) const {
    if (!covers(t)) return {kUnknown, 0};
    const auto since = static_cast<int>(t.time_since_epoch().count() - begin());
    const int offset = offset_around(since / kDaySeconds);
    if (offset == kUnknown) return {kUnknown, 0};
    const int shown = since + offset * kQuarter;
    return {shown / kDaySeconds, shown % kDaySeconds};
}

inline std::optional<Instant> OpeningDays::instant(int day, int time) const {
    const int offset = offset_around(day + time / kDaySeconds);
    if (offset == kUnknown) return std::nullopt;
    return Instant{Seconds{begin() + std::int64_t{day} * kDaySeconds + time - offset * kQuarter}};
}

inline std::uint64_t OpeningDays::days_from(int day) const {
    const auto word = static_cast<std::size_t>(day) / 64;
    const auto bit = static_cast<unsigned>(day) % 64;
    const std::uint64_t after = word + 1 < days_.size() ? days_[word + 1] : 0;
    return days_[word] >> bit | after << 1 << (63 - bit);
}

// This function has no branches: the tables of other windows push this window's table out of the cache, and
// each mispredicted branch would wait for memory.
inline bool OpeningDays::open(Reading now) const {
    const auto time = static_cast<unsigned>(now.time);
    const std::uint64_t days = days_from(now.day - 1);
    const unsigned yesterday = static_cast<unsigned>(days) & 1U;
    const unsigned today = static_cast<unsigned>(days >> 1) & 1U;
    const unsigned begun = time >= start_ ? 1U : 0U;
    const unsigned not_over = time < end_ ? 1U : 0U;
    const unsigned not_over_since_yesterday = time + kDaySeconds < end_ ? 1U : 0U;
    return ((today & begun & not_over) | (yesterday & not_over_since_yesterday)) != 0;
}

inline std::optional<bool> OpeningDays::contains(Instant t) const {
    const Reading now = reading(t);
    if (!now.known()) return std::nullopt;
    return open(now);
}

inline std::optional<Instant> OpeningDays::next_change(Instant t) const {
    const Reading now = reading(t);
    if (!now.known()) return std::nullopt;
    const bool is_open = open(now);
    const int begun = static_cast<unsigned>(now.time) >= start_ ? 1 : 0;
    // the day on which the opening under way starts; of 24-hour openings on consecutive days, the last one's
    const int last =
        length() == kDaySeconds && is_open ? next_other(now.day + begun) - 1 : now.day + begun - 1;
    const int next = next_opening(now.day + begun);
    return instant(is_open ? last : next, static_cast<int>(is_open ? end_ : start_));
}

}  // namespace pbs::rrule
