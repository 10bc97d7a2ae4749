// Migrates a legacy configuration to objects at the server's first start.
#pragma once

#include <cstdint>
#include <string>

#include "migrate/migrate.h"
#include "objects/error.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// If no server was started with this store before: migrates HOME/sched_priv/config (or CONFIGFILE) and
// HOME/sched_priv/holidays (or, for a configuration that enforces prime time, /usr/lib/acct/holidays), in one
// transaction. If these don't exist, migrates HOME/sched_priv/sched_config and the files beside it
// (migrate/legacy.h). Writes HOME/server_priv/migration_report; if a crash or the disk prevents that, the
// next start writes it.
//
// If a file has a mistake with which the older scheduler wouldn't have started, nothing is migrated.
// default_policy is in force, and the log, the report and `list sched` show the mistake
// (state.migration_error), until pbs_migrate has succeeded with the corrected files. Later starts migrate
// nothing.
//
// Returns only errors of the store itself.
objects::Result<void> first_start(State& state, sched::Instant now);

// Returns options with which the store keeps the report until write_migration_report() has written its file.
migrate::MigrateOptions with_report(migrate::MigrateOptions options);
// Returns the text of HOME/server_priv/migration_report; empty if there is none.
std::string migration_report(const State& state);
// Writes HOME/server_priv/migration_report after a migration with the options of with_report(). A failure is
// logged, and the next start tries again.
void write_migration_report(State& state);

// Forgets the migration that began at `revision`: the work that it left to the server, and its report. Called
// when the configuration goes back to that revision, because the server's own database lacks later changes
// after a crash.
objects::Result<void> forget_migration(State& state, std::uint64_t revision);

// Clears state.migration_error once the configuration is as pbs_migrate makes it, either by pbs_migrate on a
// stopped server or by qmgr commands. Call this after changes.
objects::Result<void> forget_corrected_mistake(State& state);

}  // namespace pbs::plugin
