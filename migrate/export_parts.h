// Helpers that the exporters share. Internal to migrate/.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "migrate/export.h"
#include "migrate/pbs_holidays.h"

namespace pbs::migrate {

// The policies of a scheduler. Without a policy for prime or non-prime time, that member is the all-time
// policy. Null: there is no such policy.
struct PoliciesByTime {
    const objects::Object* all_time = nullptr;
    const objects::Object* prime = nullptr;
    const objects::Object* non_prime = nullptr;
};
PoliciesByTime policies_of(const ExportSource& source);

// Returns a setting as a text for `left_out`: "policy p1 by_queue = True".
std::string setting_text(const objects::Object& object, const objects::Attribute& attribute,
                         const objects::Value& value);

// Returns the fs_group that the policies use, or default_fs_group; null: neither exists.
const objects::Object* fs_group_of(const ExportSource& source);

// The hours of a week at which a window is open, by day from Sunday. nullopt: the window's rule isn't the
// same every week.
using WeekHours = std::array<std::vector<PrimeHours>, 7>;
std::optional<WeekHours> week_hours(const objects::Object& window);

// A holiday in the form of the file holidays: the number of its day in the year, and a remark.
struct DayNumber {
    int day_of_year = 0;
    std::string remark;  // "Dec 25"
};
// Returns the holidays of the year from the server's non_work_days. A rule whose day has another number in
// other years goes to `left_out`.
std::vector<DayNumber> day_numbers(const ExportSource& source, int year, std::vector<std::string>& left_out);

int year_of(const ExportSource& source);

}  // namespace pbs::migrate
