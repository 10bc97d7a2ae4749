// The class Batch: a change of many objects at once, such as a rollback, an import, or a request for all
// nodes. Each of its steps works on some objects, in tables of its own, while everybody else uses the
// server's tables. At the end one short step replaces the server's tables. Until then nothing has changed.
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
    // The number of objects that one step handles, so that it takes a few milliseconds. A step that writes is
    // one transaction.
    static constexpr int kAtOnce = 100;
    // The number of objects that one step reports to the plugin.
    static constexpr int kToldAtOnce = 1000;

    // While a batch exists, other requests that change objects of managers have to wait (Server::open_batch).
    explicit Batch(Server& server);
    // Undoes the whole change unless commit() has succeeded.
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    // Calls `work` with the batch's tables in place of the server's: each Change::commit() in it changes only
    // these tables.
    void run(const std::function<void()>& work);
    // Adds an action to run if the batch isn't committed: to take back effects that aren't part of a Change.
    void on_undo(std::function<void()> action) { undo_.push_back(std::move(action)); }

    // Writes some of the changed objects to the database, aside from the rows in force. Returns false when
    // all are written: call it until then.
    Result<bool> write_some();
    // Compares objects as write_some() does, but without writing them, for callers that need only changes().
    // Returns false when all are compared.
    bool compare_some();
    // The differences from the server's objects. Complete when write_some() or compare_some() has returned
    // false.
    const std::vector<ConfigChange>& changes() const { return changes_; }

    // Checks that the batch's tables can still replace the server's. PBSE_OBJBUSY: a job uses an object that
    // the batch deletes.
    Result<void> check() const;
    // The time at which commit() reports the new objects to the plugin. `before`: before `plugins_part`, and
    // after an error the old ones again. `after`: settle_some() reports them, and nothing asks the plugin for
    // decisions before all are reported (Server::placing).
    enum class ToldToPlugin { before, after };
    // Replaces the server's objects by the batch's. Calls `plugins_part`, which makes the plugin's changes
    // durable. If that fails, nothing is replaced.
    Result<void> commit(const std::function<Result<void>()>& plugins_part,
                        ToldToPlugin told = ToldToPlugin::after);
    // Call it after commit(): reports some objects to the plugin, then moves some of the rows that were set
    // aside in the database to their places. Returns false when nothing is left.
    Result<bool> settle_some();
    // Reports to the plugin all objects that aren't reported yet.
    void tell_rest();
    // Calls write_some() until all is written. For a caller that may block the server.
    Result<void> write();

  private:
    friend class Change;

    std::vector<ConfigName> some();
    void compare(const ConfigName& object);
    // The kinds of reports to the plugin about an object, in the order in which they are made: objects that
    // are gone come first, so that their names can be used again; then objects that are there, each after the
    // objects that it names; then resources that are gone.
    enum class Tell : std::uint8_t { gone, is, gone_resource };
    void begin_telling();
    bool tell_some();
    void tell_gone(const ConfigName& object) const;
    void tell_what_is(const ConfigName& object) const;
    void tell_one(Tell what, const ConfigName& object) const;
    void exchange_and_tell();
    Result<void> ask(const std::function<Result<void>()>& plugins_part);

    Server& server_;
    State::Tables tables_;  // the batch's; after commit(), the server's old ones
    std::set<ConfigName> touched_;
    std::set<ConfigName>::const_iterator next_;  // the next object to compare
    bool begun_ = false;                         // comparing has begun
    std::vector<std::pair<Tell, const ConfigName*>> to_tell_;
    size_t told_ = 0;          // how many of to_tell_ are reported
    bool is_telling_ = false;  // settle_some() has reports left; no cycle may begin (Server::placing)
    bool committed_ = false;
    bool diverged_ = false;  // the plugin may have committed a change that the server hasn't
    std::vector<ConfigChange> changes_;
    std::vector<std::function<void()>> undo_;
    std::vector<std::function<void()>> actions_;  // actions of the batch's changes, for after the commit
};

}  // namespace pbs::host
