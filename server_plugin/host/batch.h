// Changes of many objects that are one: of a rollback, an import, a request for all nodes. They are made on
// tables of their own, some at a time, while everybody else goes on with those of before; in the end one
// short step puts them in place. Until then nothing has happened.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "server_plugin/host/configuration.h"
#include "server_plugin/host/error.h"
#include "server_plugin/host/server.h"
#include "server_plugin/host/state.h"

namespace pbs::host {

class Batch {
  public:
    // Objects of one step, which is a transaction where it writes: some milliseconds.
    static constexpr int at_once = 100;
    // Of those that the plugin is told of in one step.
    static constexpr int told_at_once = 1000;

    // While it lives, whatever else changes what managers set up has to wait (Server::open_batch).
    explicit Batch(Server& server);
    // Without commit() all is as it was.
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    // Calls `work` with the batch's tables in place of the server's: each Change::commit() in it changes them
    // and nothing else.
    void run(const std::function<void()>& work);
    // To be done without commit(): of what no Change knows.
    void on_undo(std::function<void()> action) { undo_.push_back(std::move(action)); }

    // Writes some of what was changed to where it counts for nothing yet, to be called until nothing is left:
    // false.
    Result<bool> write_some();
    // The same without writing, for who only wants to know changes().
    bool compare_some();
    // What is different in the end, once nothing is left to write or compare.
    const std::vector<ConfigChange>& changes() const { return changes_; }

    // Can it still be put in place? PBSE_OBJBUSY: a job is where something goes.
    Result<void> check() const;
    // Puts it in place, for good once `plugins_part` has succeeded, which is durable then. With Told::before
    // the plugin is told of it first, and on an error that it is as it was; with Told::after settle_some()
    // tells it, and until it knows all nothing asks it for decisions (Server::placing).
    enum class Told { before, after };
    Result<void> commit(const std::function<Result<void>()>& plugins_part, Told told = Told::after);
    // As commit() with Told::before, but then takes it back: what the plugin would say.
    Result<void> try_out(const std::function<Result<void>()>& plugins_part);
    // After commit(): tells the plugin of some of it, then brings some of it to its place in the database.
    // False: nothing is left.
    Result<bool> settle_some();
    // Tells the plugin what is left of it.
    void tell_rest();
    // All of it, for who has nobody waiting: until nothing is left to write.
    Result<void> write();

  private:
    friend class Change;

    std::vector<ConfigName> some();
    void compare(const ConfigName& object);
    // What the plugin is told of an object: first what is gone, so that a name can come again, then what is
    // named before what names it.
    enum class Tell : std::uint8_t { gone, is, gone_resource };
    void begin_telling();
    bool tell_some();
    void tell_gone(const ConfigName& object) const;
    void tell_what_is(const ConfigName& object) const;
    void tell_one(Tell what, const ConfigName& object) const;
    void exchange_and_tell();
    Result<void> ask(const std::function<Result<void>()>& plugins_part);

    Server& server_;
    State::Tables tables_;  // of the batch; once they are in place, those of before
    std::set<ConfigName> touched_;
    std::set<ConfigName>::const_iterator next_;  // to be compared
    bool begun_ = false;                         // comparing has
    std::vector<std::pair<Tell, const ConfigName*>> to_tell_;
    size_t told_ = 0;          // of these
    bool is_telling_ = false;  // a step at a time: it counts as placing
    bool committed_ = false;
    bool diverged_ = false;  // the plugin has committed, the server has not
    std::vector<ConfigChange> changes_;
    std::vector<std::function<void()>> undo_;
    std::vector<std::function<void()>> actions_;  // of the changes, for after the commit
};

}  // namespace pbs::host
