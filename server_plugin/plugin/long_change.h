// Makes a change of the configuration that takes long, in a thread and on a connection of its own to the
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
    // Makes the change, in the thread. It uses only the store in its argument, and data that nobody else
    // changes.
    using Work = std::function<Done(objects::Store& store)>;

    LongChange() = default;
    ~LongChange() { stop(); }
    LongChange(const LongChange&) = delete;
    LongChange& operator=(const LongChange&) = delete;

    // Returns whether a change is under way: from begin() to end(), or until an abandoned change is undone.
    // Meanwhile nothing else may change the store.
    bool busy() const;
    // Returns the ticket of the request for this change; 0: no change is under way, or it was abandoned.
    std::uint64_t ticket() const { return ticket_; }
    // Returns whether a change may begin. It may not while the thread of an earlier change is still ending.
    bool ready() const;

    // Begins a change. REQUIRES: ready(), and `ticket` isn't 0.
    void begin(objects::Store& store, std::uint64_t ticket, Work work);
    // Returns whether the change's work has ended.
    bool over() const;
    // Makes the change durable and visible in `store`. Returns the work's result. REQUIRES: over().
    Done end(objects::Store& store);
    // Drops the change of this ticket: nothing has changed. The call doesn't wait for the thread, which ends
    // as soon as it can. Does nothing for a ticket of another change.
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
