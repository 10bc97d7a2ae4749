// A change of the configuration that takes long: it is made in a thread, on a connection of its own to the
// store's file, while the plugin goes on. There is one at a time.
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
    // The work, done in the thread: it uses the store that it is given, and no data that others change.
    using Work = std::function<Done(objects::Store& store)>;

    LongChange() = default;
    ~LongChange() { stop(); }
    LongChange(const LongChange&) = delete;
    LongChange& operator=(const LongChange&) = delete;

    // Is a change under way: from begin() to end(), or until an abandoned change is taken back? Until then
    // nothing else may change the store.
    bool busy() const;
    // The ticket of the request that the change is for; 0: no change is under way, or it was given up.
    std::uint64_t ticket() const { return ticket_; }
    // May a change begin? Not while an earlier one is being put away.
    bool ready() const;

    // Begins a change. Only if ready(); `ticket` is not 0.
    void begin(objects::Store& store, std::uint64_t ticket, Work work);
    // Has the work been done?
    bool over() const;
    // Makes the work durable, if it is over(); the store then has it.
    Done end(objects::Store& store);
    // Throws the change away: nothing has changed. Doesn't wait for the thread, which ends as soon as it can.
    // Does nothing with another ticket.
    void abandon(std::uint64_t ticket);
    // Throws the thread's work away, and waits for its end.
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
