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
    std::string config;            // of an Origin scheduler
    std::string holidays;          // of the same, or with sched_config of its scheduler
    std::string sched_config{};    // of the scheduler of PBS or TORQUE; instead of config
    std::string dedicated_time{};  // beside sched_config

    bool empty() const { return config.empty() && holidays.empty() && sched_config.empty(); }
};

// The files of a home: sched_priv/config (else sched_priv/CONFIGFILE), and beside it sched_priv/holidays,
// else /usr/lib/acct/holidays. A home without a configuration of an Origin scheduler has
// sched_priv/sched_config (which PBS puts into every home, in use or not), and beside it sched_priv/holidays
// in PBS's form and sched_priv/dedicated_time. Without either there is nothing to
// migrate and all are empty.
LegacyFiles find_legacy_files(const std::string& home);

// Reads the files and converts them against `current` (null: a fresh server), without changing anything.
// Problems: all of both files.
//
// /usr/lib/acct/holidays, which belongs to the system, is left out unless the configuration has
// ENFORCE_PRIME_TIME.
//
// `server`: what options of a sched_config file are about, and the files beside it.
Result<Conversion> read_and_convert(const LegacyFiles& files, const objects::Snapshot* current,
                                    const Surroundings& server = {});

// Reads the files, converts them and applies the changes in one transaction. The files are read only, never
// touched. On problems, which are all of all files, nothing was changed. `now` is the time of the history
// rows.
Result<Report> migrate(const LegacyFiles& files, objects::Store& store, const objects::Identity& identity,
                       std::chrono::sys_seconds now, const Surroundings& server = {});

// find_legacy_files() and migrate(), for the first start of a server on `home`. A report without lines and
// notes: there was nothing to migrate.
Result<Report> first_start(const std::string& home, objects::Store& store, const objects::Identity& identity,
                           std::chrono::sys_seconds now, const Surroundings& server = {});

}  // namespace pbs::migrate
