// Infers holidays that need no yearly update: the rule that a day number of one year was an instance of.
#pragma once

#include <optional>
#include <string>

namespace pbs::migrate {

// A holiday as a line of a holidays file has it.
struct HolidayLine {
    std::string file;
    int line = 0;
    std::string description;  // "Dec 25 Christmas Day", with the text of a comment
    int day_of_year = 0;      // 1 to 366
    int year = 0;             // year of the file; 0: unknown
    std::string rule;         // the day number as a rule: FREQ=YEARLY;BYYEARDAY=359
};

struct Proposal {
    std::string rule;   // FREQ=YEARLY;BYMONTH=11;BYDAY=4TH
    std::string words;  // "the fourth Thursday of November"
};

// Proposes the rule of a holiday that the description names. The rule has to give the day of the line in the
// year of the file or, if the year is unknown, in some year: a holiday that was moved to a Monday that year
// gets no proposal. nullopt: no known holiday, or not on its day.
std::optional<Proposal> propose_rule(const HolidayLine& holiday);

// Name of the holiday, such as "Christmas Day": the description without a date at its beginning. Empty if
// nothing is left. The encoding is the file's.
std::string name_of(const HolidayLine& holiday);

// Says that the date at the beginning of the description isn't the line's day of the year: "day 359 of 2026
// is December 25". Without a year, only if they differ in every year. nullopt: they agree, or there is no
// date.
std::optional<std::string> date_mismatch(const HolidayLine& holiday);

}  // namespace pbs::migrate
