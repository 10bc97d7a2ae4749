// Changes of many objects that are one: of a rollback, an import, a request for all nodes. They are made on
// tables of their own, some at a time, while everybody else goes on with those of before; in the end one
// short step puts them in place. Until then nothing has happened.
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
    // How many objects one step deals with, in a transaction if it writes: a few milliseconds.
    static constexpr int kAtOnce = 100;
    // How many objects the plugin is told of in one step.
    static constexpr int kToldAtOnce = 1000;

    // While a batch lives, other requests that change what managers set up have to wait (Server::open_batch).
    explicit Batch(Server& server);
    // Without commit() all is as it was.
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    // Calls `work` with the batch's tables in place of the server's: each Change::commit() in it changes them
    // and nothing else.
    void run(const std::function<void()>& work);
    // An action for the case that commit() never comes: it takes back what no Change knows of.
    void on_undo(std::function<void()> action) { undo_.push_back(std::move(action)); }

    // Writes some of the changed objects into the database, set aside so that they don't count yet. To be
    // called until it returns false: nothing is left.
    Result<bool> write_some();
    // As write_some(), but it only compares: for a caller that wants nothing but changes().
    bool compare_some();
    // How the objects differ from before, once nothing is left to write or compare.
    const std::vector<ConfigChange>& changes() const { return changes_; }

    // Can the batch still be put in place? PBSE_OBJBUSY: a job uses an object that is to go.
    Result<void> check() const;
    // Puts the batch's objects in place of the server's, for good once `plugins_part` has succeeded, whose
    // changes are durable then. With Told::before the plugin is told of the objects first, and after an error
    // of those of before again. With Told::after settle_some() tells the plugin, and until the plugin has
    // been told of all objects nothing asks it for decisions (Server::placing).
    enum class Told { before, after };
    Result<void> commit(const std::function<Result<void>()>& plugins_part, Told told = Told::after);
    // After commit(): tells the plugin of some objects, then moves some from where they were set aside in the
    // database to their places.
    // False: nothing is left.
    Result<bool> settle_some();
    // Tells the plugin of all objects that it hasn't been told of yet.
    void tell_rest();
    // Calls write_some() until nothing is left: for a caller that keeps nobody waiting.
    Result<void> write();

  private:
    friend class Change;

    std::vector<ConfigName> some();
    void compare(const ConfigName& object);
    // What the plugin is told of an object: first which objects are gone, so that their names can come again,
    // then which there are, each after those that it names.
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
