// The first start: migrates a legacy configuration to objects, once.
#pragma once

#include <cstdint>
#include <string>

#include "migrate/migrate.h"
#include "objects/error.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// If no server was started with this store before: migrates, in one transaction, HOME/sched_priv/config (or
// CONFIGFILE) and HOME/sched_priv/holidays (else, for a configuration that enforces prime time,
// /usr/lib/acct/holidays). Without these it migrates HOME/sched_priv/sched_config and the files beside it
// (migrate/legacy.h). Writes HOME/server_priv/migration_report; if a crash or the disk prevents that, the
// next start does it.
//
// If a file has a mistake that kept the older scheduler from starting, nothing is migrated. default_policy is
// in force, and the log, the report and `list sched` show the mistake (state.migration_error) until
// pbs_migrate has succeeded after a correction. Later starts migrate nothing.
//
// Errors: only those of the store itself.
objects::Result<void> first_start(State& state, sched::Instant now);

// Returns options by which the store keeps the report until write_migration_report() has written its file.
migrate::MigrateOptions with_report(migrate::MigrateOptions options);
// The text of HOME/server_priv/migration_report; empty: there is none.
std::string migration_report(const State& state);
// Writes the report of a migration with the options of with_report() to HOME/server_priv/migration_report.
// Failures go to the log, and the next start tries again.
void write_migration_report(State& state);

// Forgets a migration: the work that it left to the server, and its report. Called when the configuration
// goes back to an earlier revision because a crash kept later changes from the server's own database.
objects::Result<void> forget_migration(State& state, std::uint64_t revision);

// Forgets state.migration_error once default_policy is as pbs_migrate makes it, either in the store of a
// stopped server or by qmgr commands. Call after changes.
objects::Result<void> forget_corrected_mistake(State& state);

}  // namespace pbs::plugin
