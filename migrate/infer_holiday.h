// Infers the rule of a holiday from the day number that it has in one year, so that the holiday needs no
// yearly update.
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

// Proposes the rule of a holiday that the description names. nullopt: no known holiday, or its rule doesn't
// give the line's day in the file's year (or, if the year is unknown, in any year). So a holiday that was
// moved to a Monday that year gets no proposal.
std::optional<Proposal> propose_rule(const HolidayLine& holiday);

// Returns the name of the holiday, such as "Christmas Day": the description without a date at its beginning,
// in the file's encoding. Empty if nothing is left.
std::string name_of(const HolidayLine& holiday);

// Returns a message if the date at the beginning of the description isn't the line's day of the year: "day
// 359 of 2026 is December 25". If the year is unknown, date and day must differ both in common years and in
// leap years. nullopt: they agree, or there is no date.
std::optional<std::string> date_mismatch(const HolidayLine& holiday);

}  // namespace pbs::migrate
