// Converts between days and libical's times. Internal to rrule/.
#pragma once

#include <libical/ical.h>

#include <chrono>

#include "rrule/zone.h"

namespace pbs::rrule {

// Midnight of a day, floating. With is_date set it means the day itself.
inline icaltimetype ical_midnight(LocalDay day) {
    const std::chrono::year_month_day ymd{day};
    icaltimetype t = icaltime_null_time();
    t.year = static_cast<int>(ymd.year());
    t.month = static_cast<int>(static_cast<unsigned>(ymd.month()));
    t.day = static_cast<int>(static_cast<unsigned>(ymd.day()));
    return t;
}

inline icaltimetype ical_date(LocalDay day) {
    icaltimetype t = ical_midnight(day);
    t.is_date = 1;
    return t;
}

// The day of a time that isn't the null time.
inline LocalDay day_of(const icaltimetype& t) {
    return LocalDay{std::chrono::year{t.year} / t.month / t.day};
}

}  // namespace pbs::rrule
