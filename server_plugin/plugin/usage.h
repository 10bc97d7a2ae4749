// Carries past usage between the scheduler and the store: loads it once, and writes it when it changes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "objects/store.h"
#include "objects/usage_store.h"
#include "server_plugin/plugin/host.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::plugin {

// A started job's charge, its user's new usage and the job's id are written in one transaction. So a job that
// is still running after a restart is charged exactly once: if its id isn't stored, its charge isn't either,
// and it is charged then. At most one turn of the host's loop passes between an event and the write, because
// next_deadline() demands it at once.
//
// If the write fails, the changes are tried again every minute.
class UsageSaver {
  public:
    // The scope of the permutation by past usage in the store's records (objects/usage_store.h). The
    // scheduler names the scopes of fair shares.
    static constexpr std::string_view kScope = "past_usage";

    // Hands the stored usage to the scheduler. Call before the scheduler gets jobs.
    objects::Result<void> load(objects::Store& store, sched::Scheduler& scheduler) const;

    // Hands the stored usage to the scheduler's new trees of fair shares. If a tree's usage can't be read, it
    // begins without usage, which is logged. REQUIRES: the scheduler isn't busy.
    static void load_shares(objects::Store& store, sched::Scheduler& scheduler, const Host& host);

    // Hands usage that was stored later to the scheduler: what the scheduler has charged since is added to
    // it.
    objects::Result<void> add_stored(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                                     sched::Instant now);

    // Writes the scheduler's changes, if there are any. Failures are logged once, until a write succeeds.
    void save(objects::Store& store, sched::Scheduler& scheduler, const Host& host, sched::Instant now);

    // Writes the changes at once, for a request that is acknowledged when they are stored. After an error,
    // the write is tried again later.
    objects::Result<void> save_now(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                                   sched::Instant now);

    // Writes the changes at the end of the server, even if a write has failed just before.
    void save_at_end(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                     sched::Instant now);

    // The instant at which save() has work; Instant::max(): there are no changes.
    sched::Instant next_deadline(const sched::Scheduler& scheduler, sched::Instant now) const;

  private:
    void write(objects::Store& store, sched::Scheduler& scheduler, const Host& host, sched::Instant now);

    // Changes whose write failed, by scope.
    std::map<std::string, objects::UsageBatch, std::less<>> unsaved_;
    bool failed_ = false;
    std::string why_;  // the reason of the last failure
    sched::Instant retry_at_{};
};

}  // namespace pbs::plugin
