// Remembers which version of which holidays file a migration has read. The older schedulers read the file
// again after a change. With pbspolicy only non_work_days and the time_windows count, so an administrator who
// changes the file has to be told that the change has no effect.
#pragma once

#include <string>
#include <string_view>

#include "migrate/legacy.h"

namespace pbs::migrate {

// The key of Store::meta for the text that holidays_fact() returns.
inline constexpr std::string_view kHolidaysFactKey = "holidays_file";

// Returns a text for kHolidaysFactKey: "path \t path of sched_config \t size mtime \t digest", with the time
// in nanoseconds and a digest of the content. The path of sched_config is empty for a file of the Origin
// scheduler. The text is empty if `texts` has no holidays, if this machine has another file or none under
// that name, or if whoever chose the name may not be allowed to read the file (objects/plain_file.h; `home`
// is PBS_HOME).
std::string holidays_fact(const LegacyTexts& texts, const std::string& home);

// Returns a message if the file was changed since the migration: that the file isn't read, and which command
// migrates it again. Empty: the file is unchanged or gone. A new time alone, as of a restored file, is no
// change.
std::string holidays_change(std::string_view fact);

}  // namespace pbs::migrate
