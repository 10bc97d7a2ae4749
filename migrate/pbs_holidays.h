// Reads the holidays file of the schedulers of PBS and TORQUE, sched_priv/holidays (OpenPBS,
// src/scheduler/pbs_holidays and prime.cpp). The Origin scheduler's file (origin_holidays.h) has the same
// name but another format.
//
// Format: a line is empty; a comment, which begins with '#' or '*' after any white space; or one of
//
//     HOLIDAYFILE_VERSION1               skipped
//     YEAR 2026                          the year of the holidays
//     weekday PRIME NONPRIME             also monday to friday, saturday, sunday
//     359 Dec 25 Christmas Day           a holiday: its day of the year, and a remark
//
// PRIME is the start of prime time on that day, NONPRIME its end: HHMM, all or none. Without YEAR, or with
// YEAR 0, the file has no effect: it is always prime time. With it:
// - a day without a line, or with 0000 0000, is prime time as a whole;
// - PRIME all, or none for both: the whole day is prime time. Else, NONPRIME all or PRIME none: there is no
//   prime time that day. Else, NONPRIME none: the whole day is prime time;
// - with two times, prime time is from PRIME until NONPRIME; if NONPRIME is the earlier one, until NONPRIME
//   and again from PRIME; with equal times there is none;
// - a holiday has no prime time. Its number counts in every year: day 60 is 29 February in leap years.
//
// A later line for a day replaces the words and times of an earlier one, but a time doesn't take back the
// word all or none. If the second time of a line can't be read, the first one counts all the same. Words are
// separated by blanks and tabs only, so a carriage return belongs to the last word and makes it unreadable: a
// YEAR line with a carriage return at its end means nothing. A line has at most 255 bytes; the remaining
// bytes are read as the next line.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate {

// The days of the week as the file names them.
inline constexpr std::array<std::string_view, 7> kDayNames = {"sunday",   "monday", "tuesday", "wednesday",
                                                              "thursday", "friday", "saturday"};
inline constexpr int kWholeDay = 1440;  // in minutes

// A span of prime time within one day, in minutes since midnight: [start, end).
struct PrimeHours {
    int start = 0;
    int end = kWholeDay;
    friend bool operator==(const PrimeHours&, const PrimeHours&) = default;
};

struct PbsHoliday {
    int day_of_year = 0;      // 1 to 366
    std::string description;  // the rest of the line, white space reduced
    int line = 0;

    // Returns the holiday as a rule: FREQ=YEARLY;BYYEARDAY=n.
    std::string rule() const;
};

struct PbsHolidays {
    std::string file;
    int year = 0;                                    // 0: the file has no effect
    std::array<std::vector<PrimeHours>, 7> prime{};  // by day from Sunday; at most two spans, ascending, none
                                                     // empty
    std::array<int, 7> lines{};                      // line that set the day; 0: none
    std::vector<PbsHoliday> days;                    // in the order of the file, each day once
    // Lines with an unknown first word, or a time or year that doesn't exist; they are left out. A word
    // such as 12x counts as its number, as the older schedulers read it.
    Problems mistakes;
    std::vector<std::string> notes;  // remarks on lines that mean something else than they seem to

    bool in_use() const { return year != 0; }
};

// Returns whether a text has lines that only PBS's format has: HOLIDAYFILE_VERSION1, weekday or a day of the
// week.
bool is_pbs_holidays(std::string_view text);

// Reads the text of a file; `file` is its name in messages.
PbsHolidays parse_pbs_holidays(std::string_view text, const std::string& file);

// A time_window of type prime. Days of the week with the same hours share a window.
struct PrimeWindow {
    std::string rrule;  // FREQ=WEEKLY;BYDAY=..., or FREQ=DAILY
    PrimeHours hours;
    int line = 0;  // line for the first of its days; 0: no line
};
std::vector<PrimeWindow> prime_windows(const PbsHolidays& holidays);

}  // namespace pbs::migrate
