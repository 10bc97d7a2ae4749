// Reads the holidays file of the Origin scheduler, /usr/lib/acct/holidays.
//
// Format: a '*' begins a comment anywhere. A line whose first word starts with YEAR is skipped, but a year
// behind that word is the year of the dates. The first word of any other line is a day of the year, 1 to 365;
// 0 is skipped. The rest of the line is a description. A day counts in every year by its number: day 60 is 1
// March, or 29 February in leap years.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate {

struct Holiday {
    int day_of_year = 0;      // 1 to 365
    std::string description;  // the rest of the line, white space reduced
    int line = 0;

    // Returns the holiday as a rule: FREQ=YEARLY;BYYEARDAY=n.
    std::string rule() const;
};

struct HolidaysFile {
    std::string file;
    std::vector<Holiday> days;  // in the order of the file, each day once
    int year = 0;               // year of the days; 0: the file doesn't say
    Problems mistakes;          // lines whose first word is no day of the year; left out
};

// Reads the text of a file; `file` is its name in messages.
HolidaysFile parse_origin_holidays(std::string_view text, const std::string& file);

}  // namespace pbs::migrate
