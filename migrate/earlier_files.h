// Tells which files earlier migrations have read, for a migration of some of the files: what the others said
// still counts. Internal to migrate/.
#pragma once

#include <string>

#include "migrate/ledger.h"
#include "migrate/legacy.h"
#include "migrate/problem.h"

namespace pbs::migrate {

// When prime time is. always: there is no holidays file, or none with a year.
enum class PrimeTime { always, at_hours, never };

// Attribute that the server has in ledgers only, with the value True: by the migrated holidays file it is
// never prime time, so that no time_window shows that there was a file.
inline constexpr const char* kNeverPrime = "never_prime";

PrimeTime prime_time(const PbsHolidays& file);
PrimeTime prime_time(const Ledger& before);

// Returns whether an earlier migration has read the configuration of an Origin scheduler, or sched_config.
bool had_config(const Ledger& before);
bool had_sched_config(const Ledger& before);

// Returns the value that migrations have given an attribute of a policy as of one of the parts; empty: none.
std::string policy_value(const Ledger& before, Part part, const std::string& policy,
                         const std::string& attribute);

// Refuses holidays or a configuration that mean something else with the file beside which an earlier
// migration has read them, and names the option for that file.
Result<void> check_companions(const Legacy& files, const Ledger& before);

}  // namespace pbs::migrate
