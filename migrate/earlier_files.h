// Tells from the ledger what files of earlier migrations said. A migration of some of the files needs this,
// because the contents of the other files still count. Internal to migrate/.
#pragma once

#include <string>

#include "migrate/ledger.h"
#include "migrate/legacy.h"
#include "migrate/problem.h"

namespace pbs::migrate {

// The times that are prime time. always: there is no holidays file, or it has no year.
enum class PrimeTime { always, at_hours, never };

// An attribute of the server that only ledgers have, with the value True. It says that by the migrated
// holidays file it is never prime time: such a file makes no time_window that would show it.
inline constexpr const char* kNeverPrime = "never_prime";

PrimeTime prime_time(const PbsHolidays& file);
PrimeTime prime_time(const Ledger& before);

// Returns whether an earlier migration has read the configuration of an Origin scheduler, or sched_config.
bool had_config(const Ledger& before);
bool had_sched_config(const Ledger& before);

// Returns the value that migrations of a part of the configuration have given a policy's attribute; empty:
// none.
std::string policy_value(const Ledger& before, Part part, const std::string& policy,
                         const std::string& attribute);

// Refuses a holidays file or a configuration whose meaning depends on another file that only an earlier
// migration has read. The error names the option for that other file.
Result<void> check_companions(const Legacy& files, const Ledger& before);

}  // namespace pbs::migrate
