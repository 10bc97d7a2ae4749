// The holidays file of the schedulers of PBS and TORQUE, sched_priv/holidays (OpenPBS,
// src/scheduler/pbs_holidays and prime.cpp). Its name is that of the Origin scheduler's file, its form is
// not.
//
// Format: a line is empty, a comment, whose first character that isn't white space is '#' or '*', or one of
//
//     HOLIDAYFILE_VERSION1               skipped
//     YEAR 2026                          the year that the holidays are of
//     weekday PRIME NONPRIME             also monday to friday, saturday, sunday
//     359 Dec 25 Christmas Day           a holiday: its day of the year, and a remark
//
// PRIME is when prime time starts on that day, NONPRIME when it ends: HHMM, all or none. Without YEAR, or
// with YEAR 0, the file means nothing: it is always prime time. With it:
// - a day without a line, and one with 0000 0000, is prime time as a whole;
// - PRIME all: the whole day is prime time. Else, NONPRIME all or PRIME none: there is no prime time that
//   day. Else, NONPRIME none: the whole day is prime time;
// - with two times, prime time is from PRIME until NONPRIME; if NONPRIME is the earlier one, until NONPRIME
//   and again from PRIME; with equal times there is none;
// - a holiday has no prime time. Its number counts in every year: day 60 is 29 February in leap years.
//
// A later line for a day replaces the words and times of an earlier one, but not as a whole: a time doesn't
// take back the word all or none of before. A line whose second time can't be read counts for the first.
// Words are parted by blanks and tabs, so that a carriage return belongs to the last one, which then can't be
// read: YEAR of a file with such ends of lines says nothing. No more than 255 bytes are a line, what follows
// is the next one.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate {

// Prime time within one day, in minutes since midnight: [start, end).
struct PrimeHours {
    int start = 0;
    int end = 1440;
    friend bool operator==(const PrimeHours&, const PrimeHours&) = default;
};

struct PbsHoliday {
    int day_of_year = 0;      // 1 to 366
    std::string description;  // the rest of the line, white space reduced
    int line = 0;

    // The recurrence that means the same: FREQ=YEARLY;BYYEARDAY=n.
    std::string rule() const;
};

struct PbsHolidays {
    std::string file;
    int year = 0;                                    // 0: the file means nothing
    std::array<std::vector<PrimeHours>, 7> prime{};  // from Sunday; at most two, ascending, none empty
    std::array<int, 7> lines{};                      // where the day was set; 0: nowhere
    std::vector<PbsHoliday> days;                    // in the order of the file, each day once
    // Lines with a first word that isn't one of the above, or with a time or year that doesn't exist: they
    // are left out. But of a word such as 12x the number counts, as the older schedulers read it.
    Problems mistakes;
    std::vector<std::string> notes;  // lines that mean something else than they seem to

    bool in_use() const { return year != 0; }
};

// Reads the text of a file; `file` is its name in messages.
PbsHolidays parse_pbs_holidays(std::string_view text, const std::string& file);

// Prime time as time_windows of type prime: those days of the week that have the same hours are one.
struct PrimeWindow {
    std::string rrule;  // FREQ=WEEKLY;BYDAY=..., or FREQ=DAILY
    PrimeHours hours;
    int line = 0;  // of the first of its days; 0: no line says so
};
std::vector<PrimeWindow> prime_windows(const PbsHolidays& holidays);

}  // namespace pbs::migrate
