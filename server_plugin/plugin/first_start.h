// The first start: a legacy configuration becomes objects, once.
#pragma once

#include <cstdint>
#include <string>

#include "migrate/migrate.h"
#include "objects/error.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// In a store that was never started with: migrates HOME/sched_priv/config (or CONFIGFILE) and
// HOME/sched_priv/holidays (else, for a configuration that enforces prime time, /usr/lib/acct/holidays), or
// without these HOME/sched_priv/sched_config and the files beside it (migrate/legacy.h), in one transaction.
// Writes HOME/server_priv/migration_report, at the next start if a crash or the disk prevents it now. After a
// mistake in a file that kept the older scheduler from starting, nothing is migrated: default_policy is in
// force, and the log, the report and `list sched` show the mistake (state.migration_error) until pbs_migrate
// has succeeded after a correction. Later starts migrate nothing.
//
// Errors: only those of the store itself.
objects::Result<void> first_start(State& state, sched::Instant now);

// Returns these options, with the report kept in the store until write_migration_report() has written its
// file.
migrate::MigrateOptions with_report(migrate::MigrateOptions options);
// The text of HOME/server_priv/migration_report; empty: there is none.
std::string migration_report(const State& state);
// Writes HOME/server_priv/migration_report of a migration with such options. Failures go to the log, and the
// next start tries again.
void write_migration_report(State& state);

// Forgets a migration when the configuration goes back to an earlier revision, because a crash kept later
// changes from the server's own database: the work left to the server, and the report.
objects::Result<void> forget_migration(State& state, std::uint64_t revision);

// Forgets state.migration_error once default_policy is as pbs_migrate makes it, whether it wrote into the
// store of a stopped server or its commands went through qmgr. To be called after changes.
objects::Result<void> forget_corrected_mistake(State& state);

}  // namespace pbs::plugin
