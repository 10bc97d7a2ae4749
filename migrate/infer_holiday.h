// Holidays that need no yearly update: which rule a day number of one year was an instance of.
#pragma once

#include <optional>
#include <string>

namespace pbs::migrate {

// A holiday as its line of a holidays file has it.
struct HolidayLine {
    std::string file;
    int line = 0;
    std::string description;  // "Dec 25 Christmas Day", with what a comment says
    int day_of_year = 0;      // 1 to 366
    int year = 0;             // that the file is of; 0: not known
    std::string rule;         // that means the day number: FREQ=YEARLY;BYYEARDAY=359
};

struct Proposal {
    std::string rule;   // FREQ=YEARLY;BYMONTH=11;BYDAY=4TH
    std::string words;  // "the fourth Thursday of November"
};

// The rule of a holiday that is known by its description. It has to give the day of the line in the year of
// the file, or, if that isn't known, in some year: one that was moved to a Monday that year has no proposal.
// nullopt: the description is of no holiday that is known, or the day isn't that of the holiday.
std::optional<Proposal> propose_rule(const HolidayLine& holiday);

// The name of the holiday: the description without a date that it begins with, "Christmas Day"; empty if
// there is none. In the bytes of the file.
std::string name_of(const HolidayLine& holiday);

// The description begins with a month and a day, which are another day of the year than the number: "day 359
// of 2026 is December 25". If the year isn't known, another one in every year. nullopt: they agree, or it
// begins otherwise.
std::optional<std::string> date_mismatch(const HolidayLine& holiday);

}  // namespace pbs::migrate
