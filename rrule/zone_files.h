// The files of the tz database, which packages replace while servers run. Internal to rrule/.
#pragma once

#include <absl/time/time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rrule/error.h"

namespace pbs::rrule {

// Where the files are, without a slash at its end: TZDIR, else /usr/share/zoneinfo.
std::string zoneinfo_folder();

// A number that is another one once the file is replaced or written; empty if there is no such file.
std::optional<std::uint64_t> version_of(const std::string& path);

// Reads a file of zone data (an absolute path). Empty if it is none.
std::optional<absl::TimeZone> load_zone_file(const std::string& path, std::uint64_t version);

// Where a machine says which zone is its own.
struct SystemZoneFiles {
    const char* tz;         // the variable TZ; null if it isn't set
    std::string zoneinfo;   // zoneinfo_folder()
    std::string localtime;  // /etc/localtime
    std::string timezone;   // /etc/timezone
};

// The zone of a machine: the name of a zone, such as "Europe/Vienna", where one is given; or the path of a
// file, where there is zone data without a name; or "UTC".
// - TZ is a name or a path, with or without a colon before it; empty is UTC, as for the C library. What is
//   neither is an error: the C library takes rules such as CET-1CEST as well, and UTC for what it doesn't
//   know, and jobs would start at other times than the machine's clock shows.
// - Without TZ it is what the symbolic link /etc/localtime points to; of a plain file the name that
//   /etc/timezone says, if that zone has the same data.
Result<std::string> system_zone(const SystemZoneFiles& files);

}  // namespace pbs::rrule
