// Which holidays file a migration has read, and in which version. The older schedulers read a holidays file
// again when it was touched; after the migration non_work_days and the time_windows count, so that a change
// of the file has to be told.
#pragma once

#include <string>
#include <string_view>

#include "migrate/legacy.h"

namespace pbs::migrate {

// The key of Store::meta for holidays_fact().
inline constexpr std::string_view kHolidaysFactKey = "holidays_file";

// "path \t sched_config \t size mtime": the path of sched_config is empty for a file of the Origin scheduler,
// the time in nanoseconds. Empty: the texts have no holidays, or this machine has another file of that name
// or none, or one that whoever chose its name may not be allowed to read (objects/plain_file.h; `home` is
// PBS_HOME).
std::string holidays_fact(const LegacyTexts& texts, const std::string& home);

// Says that the file of such a fact was changed since and isn't read, and which command takes it over.
// Empty: it is as it was, or is gone.
std::string holidays_change(std::string_view fact);

}  // namespace pbs::migrate
