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
// of the job. So a job that is found running after a restart is charged exactly once: its id is there, and
// then its charge is too, or neither is, and it is charged then. Between events and the write lies at most
// one turn of the host's loop (next_deadline() asks for it at once).
//
// When the write fails, what has to be written is kept, and tried again every minute.
class UsageSaver {
  public:
    // Of the store's records of usage (objects/usage_store.h), that of the permutation by past usage. Those
    // of fair shares are named by the scheduler.
    static constexpr std::string_view kScope = "past_usage";

    // Gives the stored usage to the scheduler, before it sees a job.
    objects::Result<void> load(objects::Store& store, sched::Scheduler& scheduler) const;

    // The same of the trees of fair shares that the scheduler has begun to keep. A tree whose usage can't be
    // read begins with none; the log is told. Not while the scheduler is at work.
    static void load_shares(objects::Store& store, sched::Scheduler& scheduler, const Host& host);

    // The same of usage that was stored where there was none: what the scheduler has charged since is added.
    objects::Result<void> add_stored(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                                     sched::Instant now);

    // Writes what the scheduler has to be written, if anything. A failure goes to the log, once until it
    // works again.
    void save(objects::Store& store, sched::Scheduler& scheduler, const Host& host, sched::Instant now);

    // The same at once, for a change that is acknowledged when it is written. On an error it is tried again
    // later.
    objects::Result<void> save_now(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                                   sched::Instant now);

    // The same at the end of the server, however long ago a write has failed.
    void save_at_end(objects::Store& store, sched::Scheduler& scheduler, const Host& host,
                     sched::Instant now);

    // When save() has something to do; Instant::max(): nothing.
    sched::Instant next_deadline(const sched::Scheduler& scheduler, sched::Instant now) const;

  private:
    void write(objects::Store& store, sched::Scheduler& scheduler, const Host& host, sched::Instant now);

    // Of a write that failed, by scope.
    std::map<std::string, objects::UsageBatch, std::less<>> unsaved_;
    bool failed_ = false;
    std::string why_;  // the last write failed
    sched::Instant retry_at_{};
};

}  // namespace pbs::plugin
