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
    // What is to be done, in the thread: it uses the store that it is given, and nothing that others change.
    using Work = std::function<Done(objects::Store& store)>;

    LongChange() = default;
    ~LongChange() { stop(); }
    LongChange(const LongChange&) = delete;
    LongChange& operator=(const LongChange&) = delete;

    // Is a change under way? It is from begin() to end(), or until a change that was given up is taken back.
    // Until then nothing else may change the store.
    bool busy() const;
    // The ticket of the request that the change is for; 0: no change is under way, or it was given up.
    std::uint64_t ticket() const { return ticket_; }
    // May one begin? Not while an earlier one is being put away.
    bool ready() const;

    // `ticket` is not 0. Only if it is ready().
    void begin(objects::Store& store, std::uint64_t ticket, Work work);
    // Has the work been done?
    bool over() const;
    // Makes durable what the work did, if it is over(); it holds in the store then.
    Done end(objects::Store& store);
    // Throws it away: nothing has changed. Doesn't wait for the thread, which ends as soon as it can. Of
    // another ticket: nothing.
    void abandon(std::uint64_t ticket);
    // Throws away what the thread did, and waits for its end.
    void stop();

  private:
    struct Job;

    void put_away();

    std::uint64_t ticket_ = 0;
    bool abandoned_ = false;  // the last one was
    std::shared_ptr<Job> job_;
    std::thread thread_;
};

}  // namespace pbs::plugin
