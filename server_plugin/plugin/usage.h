// Carries past usage between the scheduler and the store: loads it once, and writes it when it changes.
#pragma once

#include <string>
#include <string_view>

#include "objects/store.h"
#include "objects/usage_store.h"
#include "server_plugin/plugin/host.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::plugin {

// Writes changes of past usage to the store. All changes, such as the charge of a started job, its user's new
// usage, the job's id, and the long usage of its entity, are written in one transaction. So a job that still
// runs after a restart is charged exactly once: if its id isn't stored, neither is its charge, and it is
// charged then. At most one turn of the host's loop passes between an event and the write, because
// next_deadline() then returns `now`.
//
// If a write fails, it is tried again every minute.
class UsageSaver {
  public:
    // The scope of past usage that orders jobs (SORT_BY_PAST_USAGE) in the store's records
    // (objects/usage_store.h). The scheduler names the scopes of fair shares.
    static constexpr std::string_view kScope = "past_usage";

    // Hands the stored past usage to the scheduler. Call this before the scheduler gets jobs.
    objects::Result<void> load(objects::Store& store, sched::Scheduler& scheduler) const;

    // Hands the stored usage to the scheduler's new trees of fair shares. If a tree's usage can't be read,
    // which is logged, the tree begins without usage. REQUIRES: the scheduler isn't busy.
    static void load_shares(objects::Store& store, sched::Scheduler& scheduler, const Host& host);

    // For past usage that a migration has stored after load(): hands it to the scheduler, and adds the
    // charges that the scheduler has made meanwhile.
    objects::Result<void> add_stored(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                                     sched::Instant now);

    // Writes the scheduler's changes, if any. Logs a failure once, until a write succeeds.
    void save(objects::Store& store, sched::Scheduler& scheduler, const Host& host, sched::Instant now);

    // Writes the changes at once, for a request that is acknowledged only when they are stored. After an
    // error, save() tries again later.
    objects::Result<void> save_now(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                                   sched::Instant now);

    // Writes the changes at the end of the server, even if a write failed a moment ago.
    void save_at_end(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                     sched::Instant now);

    // Returns the instant at which save() has work; Instant::max(): there are no changes.
    sched::Instant next_deadline(const sched::Scheduler& scheduler, sched::Instant now) const;

  private:
    void write(objects::Store& store, sched::Scheduler& scheduler, const Host& host, sched::Instant now);

    objects::UsageBatches unsaved_;  // changes whose write failed
    bool failed_ = false;
    std::string why_;  // the reason of the last failure; valid while failed_
    sched::Instant retry_at_{};
};

}  // namespace pbs::plugin
