// Migration of the legacy files of a home into its store: what the first start of a server and pbs_migrate
// do.
#pragma once

#include <chrono>
#include <string>

#include "migrate/convert.h"
#include "migrate/problem.h"
#include "migrate/report.h"

namespace pbs::objects {
class Store;
struct Identity;
class Snapshot;
}  // namespace pbs::objects

namespace pbs::migrate {

// Paths of legacy files; empty: there is none.
struct LegacyFiles {
    std::string config;
    std::string holidays;

    bool empty() const { return config.empty() && holidays.empty(); }
};

// The files of a home: sched_priv/config (else sched_priv/CONFIGFILE), and beside it sched_priv/holidays,
// else /usr/lib/acct/holidays. Without a configuration there is nothing to migrate and both are empty.
LegacyFiles find_legacy_files(const std::string& home);

// Reads the files and converts them against `current` (null: a fresh server), without changing anything.
// Problems: all of both files.
//
// /usr/lib/acct/holidays, which belongs to the system, is left out unless the configuration has
// ENFORCE_PRIME_TIME.
Result<Conversion> read_and_convert(const LegacyFiles& files, const objects::Snapshot* current);

// Reads the files, converts them and applies the changes in one transaction. The files are read only, never
// touched. On problems, which are all of both files, nothing was changed. `now` is the time of the history
// rows.
Result<Report> migrate(const LegacyFiles& files, objects::Store& store, const objects::Identity& identity,
                       std::chrono::sys_seconds now);

// find_legacy_files() and migrate(), for the first start of a server on `home`. A report without lines and
// notes: there was nothing to migrate.
Result<Report> first_start(const std::string& home, objects::Store& store, const objects::Identity& identity,
                           std::chrono::sys_seconds now);

}  // namespace pbs::migrate
