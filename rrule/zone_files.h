// Reads the files of the tz database, which package updates replace while servers run. Internal to rrule/.
#pragma once

#include <absl/time/time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rrule/error.h"

namespace pbs::rrule {

// The folder of the files, without a slash at its end: TZDIR, else /usr/share/zoneinfo.
std::string zoneinfo_folder();

// A number that changes when the file is replaced or written; nullopt: there is no such file.
std::optional<std::uint64_t> version_of(const std::string& path);

// Reads a file of zone data (an absolute path). nullopt: the file has none.
std::optional<absl::TimeZone> load_zone_file(const std::string& path, std::uint64_t version);

// The places where a machine says which zone is its own.
struct SystemZoneFiles {
    const char* tz;         // the variable TZ; null if it isn't set
    std::string zoneinfo;   // zoneinfo_folder()
    std::string localtime;  // /etc/localtime
    std::string timezone;   // /etc/timezone
};

// The zone of a machine: its name, such as "Europe/Vienna", where one is given; or the path of a file, where
// there is zone data without a name; or "UTC".
// - TZ is a name or a path, with or without a colon before it; empty is UTC, as for the C library. Anything
//   else is an error: the C library also takes rules such as CET-1CEST, and UTC for a name that it doesn't
//   know, and jobs would start at other times than the machine's clock shows.
// - Without TZ it is the target of the symbolic link /etc/localtime; if that is a plain file, the name in
//   /etc/timezone, provided that zone has the same data.
Result<std::string> system_zone(const SystemZoneFiles& files);

}  // namespace pbs::rrule
