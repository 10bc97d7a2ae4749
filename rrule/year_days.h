// Days of a year as bits, so that sets of days are compared 64 at a time. Internal to rrule/.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "rrule/zone.h"

namespace pbs::rrule {

// The number of days from the year 1600 to 9999. A longer period of repetition makes no difference.
inline constexpr std::int64_t kCalendarDays = 3068037;
// The Gregorian calendar with its weekdays, and the offsets of zones, repeat after 400 years.
inline constexpr std::int64_t kCycleDays = 146097;
inline LocalDay day_of(Local l) {
    return std::chrono::floor<std::chrono::days>(l);
}

// Days are numbered from 1970-01-01.
inline std::int64_t day_number(LocalDay d) {
    return d.time_since_epoch().count();
}
inline LocalDay day_at(std::int64_t number) {
    return LocalDay{std::chrono::days{number}};
}
// The weekday, 0 being Sunday; day 0 was a Thursday. Day numbers may be negative.
inline int weekday_of(std::int64_t number) {
    return static_cast<int>((number % 7 + 11) % 7);
}

// The remainder of a divided by b, from 0 to b - 1 also for a negative a.
inline std::int64_t remainder(std::int64_t a, std::int64_t b) {
    return (a % b + b) % b;
}

// A set of the days 0 to 383 of a year; day 0 is 1 January.
class YearDays {
  public:
    static constexpr int kBits = 384;

    bool test(int day) const { return (word(day) >> (day & 63) & 1U) != 0; }
    void set(int day) { words_[index(day)] |= std::uint64_t{1} << (day & 63); }
    void reset(int day) { words_[index(day)] &= ~(std::uint64_t{1} << (day & 63)); }

    // The days in [from, to), as far as there are bits for them.
    static YearDays range(int from, int to) { return up_to(to) & ~up_to(from); }

    bool any() const {
        std::uint64_t all = 0;
        for (const std::uint64_t word : words_) all |= word;
        return all != 0;
    }
    int count() const {
        int sum = 0;
        for (const std::uint64_t word : words_) sum += std::popcount(word);
        return sum;
    }
    // The first day of the set from `day` on; kBits if there is none.
    int next(int day) const {
        if (day >= kBits) return kBits;
        std::size_t i = index(day);
        std::uint64_t rest = words_[i] >> (day & 63) << (day & 63);
        while (rest == 0) {
            if (++i == words_.size()) return kBits;
            rest = words_[i];
        }
        return static_cast<int>(i) * 64 + std::countr_zero(rest);
    }

    // All days moved by `by` days (earlier if negative); those that fall off the ends are lost.
    YearDays shifted(int by) const {
        YearDays out;
        const int whole = by >> 6;
        const int bits = by & 63;
        for (int i = 0; i < kWords; ++i) {
            const int from = i - whole;
            std::uint64_t word =
                from >= 0 && from < kWords ? words_[static_cast<std::size_t>(from)] << bits : 0;
            if (bits != 0 && from > 0 && from <= kWords)
                word |= words_[static_cast<std::size_t>(from - 1)] >> (64 - bits);
            out.words_[static_cast<std::size_t>(i)] = word;
        }
        return out;
    }

    YearDays& operator&=(const YearDays& other) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
        return *this;
    }
    YearDays& operator|=(const YearDays& other) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
        return *this;
    }
    friend YearDays operator&(YearDays a, const YearDays& b) { return a &= b; }
    friend YearDays operator|(YearDays a, const YearDays& b) { return a |= b; }
    friend YearDays operator~(YearDays a) {
        for (std::uint64_t& word : a.words_) word = ~word;
        return a;
    }

  private:
    static constexpr int kWords = kBits / 64;

    static std::size_t index(int day) { return static_cast<std::size_t>(day) / 64; }
    std::uint64_t word(int day) const { return words_[index(day)]; }
    static YearDays up_to(int day) {
        YearDays out;
        for (int i = 0; i < kWords; ++i) {
            const int left = day - i * 64;
            out.words_[static_cast<std::size_t>(i)] = left >= 64  ? ~std::uint64_t{0}
                                                      : left <= 0 ? 0
                                                                  : (std::uint64_t{1} << left) - 1;
        }
        return out;
    }

    friend class DayCycle;
    std::array<std::uint64_t, kWords> words_{};
};

// A year of the Gregorian calendar.
struct Year {
    // A year's kind determines the calendar of the year and of the days around it: which of the year, the one
    // before and the one after is a leap year (at most one is), and the weekday on which it begins.
    static constexpr int kKinds = 28;

    int number;
    std::int64_t first;  // 1 January, in days since 1970-01-01
    int length;
    int kind;

    explicit Year(int y) : number(y), first(begin_of(y)), length(leap(y) ? 366 : 365) {
        const int leaps = leap(y) ? 1 : leap(y - 1) ? 2 : leap(y + 1) ? 3 : 0;
        kind = leaps * 7 + weekday_of(first);
    }
    static bool leap(int y) { return std::chrono::year{y}.is_leap(); }
    static std::int64_t begin_of(int y) { return day_number(LocalDay{std::chrono::year{y} / 1 / 1}); }
    static int of(std::int64_t day) {
        return static_cast<int>(std::chrono::year_month_day{day_at(day)}.year());
    }

    YearDays all() const { return YearDays::range(0, length); }
    // The number of days before the first of a month, from 0 for January to 12 for the year's length.
    int before_month(int month) const {
        static constexpr std::array<int, 13> kBefore{0,   31,  59,  90,  120, 151, 181,
                                                     212, 243, 273, 304, 334, 365};
        return kBefore[static_cast<std::size_t>(month)] + (month > 1 && length == 366 ? 1 : 0);
    }
};

}  // namespace pbs::rrule
