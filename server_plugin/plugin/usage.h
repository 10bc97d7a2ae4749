// Past usage on its way between the scheduler and the store: loaded once, written when it changes.
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

// A started job's charge and the new usage of its user are written in one transaction, together with the id
// of the job. So a job that is found running after a restart is charged exactly once: either its id and its
// charge are both stored, or neither is, and it is charged then. Between events and the write lies at most
// one turn of the host's loop (next_deadline() asks for it at once).
//
// When the write fails, the changes are kept, and tried again every minute.
class UsageSaver {
  public:
    // The scope, in the store's records of usage (objects/usage_store.h), of the permutation by past usage.
    // The scheduler names the scopes of fair shares.
    static constexpr std::string_view kScope = "past_usage";

    // Gives the stored usage to the scheduler, before it sees a job.
    objects::Result<void> load(objects::Store& store, sched::Scheduler& scheduler) const;

    // Gives the scheduler the stored usage of the trees of fair shares that it has begun to keep. A tree
    // whose usage can't be read begins with none; the log is told. Not while the scheduler is at work.
    static void load_shares(objects::Store& store, sched::Scheduler& scheduler, const Host& host);

    // Gives the scheduler usage that was stored later, where there was none: the scheduler's charges since
    // are added to it.
    objects::Result<void> add_stored(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                                     sched::Instant now);

    // Writes the scheduler's changes, if any. A failure is logged once until it works again.
    void save(objects::Store& store, sched::Scheduler& scheduler, const Host& host, sched::Instant now);

    // Writes the changes at once, for a change that is acknowledged when it is written. On an error it is
    // tried again later.
    objects::Result<void> save_now(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                                   sched::Instant now);

    // Writes the changes at the end of the server, however recently a write has failed.
    void save_at_end(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                     sched::Instant now);

    // The instant at which save() has work; Instant::max(): none.
    sched::Instant next_deadline(const sched::Scheduler& scheduler, sched::Instant now) const;

  private:
    void write(objects::Store& store, sched::Scheduler& scheduler, const Host& host, sched::Instant now);

    // Changes whose write failed, by scope.
    std::map<std::string, objects::UsageBatch, std::less<>> unsaved_;
    bool failed_ = false;
    std::string why_;  // the reason why the last write failed
    sched::Instant retry_at_{};
};

}  // namespace pbs::plugin
