// What the exporters have in common. Internal to migrate/.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "migrate/export.h"
#include "migrate/pbs_holidays.h"

namespace pbs::migrate {

// The policies of a scheduler by time; the same one thrice if its slots for prime and non-prime time are
// empty. Null: it has none.
struct PoliciesByTime {
    const objects::Object* all_time = nullptr;
    const objects::Object* prime = nullptr;
    const objects::Object* non_prime = nullptr;
};
PoliciesByTime policies_of(const ExportSource& source);

// "policy p1 by_queue = True" for a line of what is left out.
std::string setting_text(const objects::Object& object, const objects::Attribute& attribute,
                         const objects::Value& value);

// The fs_group that the policies use, else default_fs_group; null: there is none.
const objects::Object* fs_group_of(const ExportSource& source);

// The minutes of a week that a window is open, by day from Sunday: of rules that are the same in every week
// only.
using WeekHours = std::array<std::vector<PrimeHours>, 7>;
std::optional<WeekHours> week_hours(const objects::Object& window);

// Day numbers of the server's non_work_days in a year, with a remark such as "Dec 25". A rule that means
// another day in another year is in `left_out`.
struct DayNumber {
    int day_of_year = 0;
    std::string remark;
};
std::vector<DayNumber> day_numbers(const ExportSource& source, int year, std::vector<std::string>& left_out);

int year_of(const ExportSource& source);

}  // namespace pbs::migrate
