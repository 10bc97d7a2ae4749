// From legacy files to objects.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "migrate/configfile.h"
#include "migrate/origin_holidays.h"
#include "migrate/report.h"
#include "objects/commands.h"

namespace pbs::objects {
class Snapshot;
}

namespace pbs::migrate {

struct Conversion {
    objects::ChangeSet changes;  // to be applied as a whole; empty if everything is there already
    Report report;
};

// The changes that make `current` (null: a fresh server) mean what the files say; either file may be missing.
// - Every option becomes the attribute of default_policy of its name, and algorithm becomes origin.
// - PRIME_TIME_START and PRIME_TIME_END become the time_window prime_time of type prime: Monday to Friday,
// not on
//   holidays; an end that isn't after the start is on the next day.
// - Holidays are added to the server's non_work_days.
// What is there already is left alone, so that a second conversion of the same files is empty. Problems:
// values that the attributes refuse.
Result<Conversion> convert(const std::optional<ConfigFile>& config,
                           const std::optional<HolidaysFile>& holidays, const objects::Snapshot* current);

// The qmgr commands that have the same effect as the changes, one per line.
std::string to_qmgr(const objects::ChangeSet& changes);

}  // namespace pbs::migrate
