// A change of many objects at once, for a rollback, an import or a request for all nodes. It is made on
// tables of its own, some objects at a time, while everybody else goes on with the old ones; in the end one
// short step puts the new tables in place. Until then nothing has happened.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/state/configuration.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

class Batch {
  public:
    // How many objects one step handles, in one transaction if it writes: a few milliseconds.
    static constexpr int kAtOnce = 100;
    // How many objects the plugin is told of in one step.
    static constexpr int kToldAtOnce = 1000;

    // While a batch lives, other requests that change what managers set up have to wait (Server::open_batch).
    explicit Batch(Server& server);
    // Takes everything back unless commit() has succeeded.
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    // Calls `work` with the batch's tables in place of the server's: each Change::commit() in it changes them
    // and nothing else.
    void run(const std::function<void()>& work);
    // Adds an action for the case that the batch is given up: it takes back what no Change knows of.
    void on_undo(std::function<void()> action) { undo_.push_back(std::move(action)); }

    // Writes some of the changed objects into the database, set aside so that they don't count yet. Call it
    // until it returns false: nothing is left.
    Result<bool> write_some();
    // Compares as write_some() does, without writing: for a caller that wants only changes().
    bool compare_some();
    // The differences of the objects from before, once nothing is left to write or compare.
    const std::vector<ConfigChange>& changes() const { return changes_; }

    // Can the batch still be put in place? PBSE_OBJBUSY: a job uses an object that is to go.
    Result<void> check() const;
    // Puts the batch's objects in place of the server's, for good once `plugins_part`, which makes the
    // plugin's changes durable, has succeeded. With Told::before the plugin is told of the new objects first,
    // and of the old ones again after an error. With Told::after settle_some() tells it, and until it has
    // been told of all objects nothing asks it for decisions (Server::placing).
    enum class Told { before, after };
    Result<void> commit(const std::function<Result<void>()>& plugins_part, Told told = Told::after);
    // Call it after commit(): tells the plugin of some objects, then moves some that were set aside in the
    // database to their places. False: nothing is left.
    Result<bool> settle_some();
    // Tells the plugin of all objects that it hasn't been told of yet.
    void tell_rest();
    // Calls write_some() until nothing is left: for a caller that keeps nobody waiting.
    Result<void> write();

  private:
    friend class Change;

    std::vector<ConfigName> some();
    void compare(const ConfigName& object);
    // The kinds of news that the plugin gets of an object. All objects that are gone come first, so that
    // their names can be used again, then the others, each after the objects that it names.
    enum class Tell : std::uint8_t { gone, is, gone_resource };
    void begin_telling();
    bool tell_some();
    void tell_gone(const ConfigName& object) const;
    void tell_what_is(const ConfigName& object) const;
    void tell_one(Tell what, const ConfigName& object) const;
    void exchange_and_tell();
    Result<void> ask(const std::function<Result<void>()>& plugins_part);

    Server& server_;
    State::Tables tables_;  // of the batch; once it is in place, the old ones
    std::set<ConfigName> touched_;
    std::set<ConfigName>::const_iterator next_;  // the next object to compare
    bool begun_ = false;                         // comparing has begun
    std::vector<std::pair<Tell, const ConfigName*>> to_tell_;
    size_t told_ = 0;          // how many of to_tell_ were told
    bool is_telling_ = false;  // telling goes on step by step, which counts in Server::placing
    bool committed_ = false;
    bool diverged_ = false;  // the plugin has committed, the server has not
    std::vector<ConfigChange> changes_;
    std::vector<std::function<void()>> undo_;
    std::vector<std::function<void()>> actions_;  // of the batch's changes, for after the commit
};

}  // namespace pbs::host
