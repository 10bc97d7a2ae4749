// The first start: a legacy configuration becomes objects, once.
#ifndef PBSPOLICY_PLUGIN_FIRST_START_H
#define PBSPOLICY_PLUGIN_FIRST_START_H

#include "migrate/report.h"
#include "objects/error.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// In a store that was never started with: migrates HOME/sched_priv/config (or CONFIGFILE) and
// HOME/sched_priv/holidays (else, for a configuration that enforces prime time, /usr/lib/acct/holidays), or
// without these HOME/sched_priv/sched_config and the files beside it (migrate/legacy.h), in one transaction,
// and writes HOME/server_priv/migration_report. With a mistake in a file nothing is migrated: default_policy
// is in force, and the log, the report and `list sched` say what is wrong (state.migration_error) until
// pbs_migrate has done it after a correction. Later starts migrate nothing.
//
// Errors: only those of the store itself.
objects::Result<void> first_start(State& state, sched::Instant now);

// Writes HOME/server_priv/migration_report anew. Failures go to the log.
void keep_report(const State& state, const migrate::Report& report);

// Forgets state.migration_error once default_policy is as pbs_migrate makes it, whether it
// wrote into the store of a stopped server or its commands went through qmgr. To be called after changes.
objects::Result<void> forget_corrected_mistake(State& state);

}  // namespace pbs::plugin

#endif
