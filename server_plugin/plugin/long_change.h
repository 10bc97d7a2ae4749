// A change of the configuration that takes long. It is made in a thread, on a separate connection to the
// store's file, while the plugin goes on. There is one such change at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "objects/restore.h"
#include "objects/store.h"

namespace pbs::plugin {

class LongChange {
  public:
    using Done = objects::Result<objects::Rewritten>;
    // The work. It runs in the thread, and uses only the store in its argument and data that nobody else
    // changes.
    using Work = std::function<Done(objects::Store& store)>;

    LongChange() = default;
    ~LongChange() { stop(); }
    LongChange(const LongChange&) = delete;
    LongChange& operator=(const LongChange&) = delete;

    // Is a change under way, from begin() to end(), or until an abandoned change is undone? Meanwhile nothing
    // else may change the store.
    bool busy() const;
    // The ticket of the request for this change; 0: no change is under way, or it was abandoned.
    std::uint64_t ticket() const { return ticket_; }
    // May a change begin? Not while the thread of an earlier one still ends.
    bool ready() const;

    // Begins a change. REQUIRES: ready(), and `ticket` isn't 0.
    void begin(objects::Store& store, std::uint64_t ticket, Work work);
    // Has the work been done?
    bool over() const;
    // Makes the change durable and visible in `store`. REQUIRES: over().
    Done end(objects::Store& store);
    // Drops the change: nothing has changed. Doesn't wait for the thread, which ends as soon as it can. Does
    // nothing if `ticket` is that of another change.
    void abandon(std::uint64_t ticket);
    // Drops the change, and waits for the thread's end.
    void stop();

  private:
    struct Job;

    void put_away();

    std::uint64_t ticket_ = 0;
    bool abandoned_ = false;  // the last change was abandoned
    std::shared_ptr<Job> job_;
    std::thread thread_;
};

}  // namespace pbs::plugin
