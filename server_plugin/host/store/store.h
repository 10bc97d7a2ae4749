// Stores the server's data in HOME/server_priv/server.db, an SQLite database.
//
// The database uses WAL and synchronous=FULL: after commit() a change survives a crash of the machine, unless
// begin() got Durable::later. If a change is lost in spite of that, the next start notices it
// (sqlite/loss.h). The schema has a version (PRAGMA user_version) and a list of upgrade steps (schema.h).
//
// The folder store/ is about data on the disk: Store, whose rows stored_attributes.h and job_rows.h make; and
// the safety of a home's databases, by checks at the start (database_check.h), and by backups and restores
// (backup.h, manifest.h).
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/configuration.h"
#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

class Store {
  public:
    // Opens the database at `path`, and makes or upgrades its tables. ":memory:" is for tests. `check`
    // returns an error if the database isn't intact. It is called before anything is written, and by load()
    // at the latest.
    using Check = std::function<Result<void>()>;
    static Result<std::unique_ptr<Store>> open(const std::string& path, Check check = {});
    // The version of the format (PRAGMA user_version) that open() makes. open() refuses newer versions.
    static int64_t newest_version();
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    // Returns whether no object of the server has been saved yet.
    Result<bool> empty() const;
    // Returns the server's name in job ids: the stored name; if there is none yet, stores and returns `name`.
    // The name stays the same, because jobs' ids and the files of their starts have it.
    Result<std::string> keep_server_name(std::string_view name);
    // Loads the stored data. REQUIRES: the state has only its names (server_name, host_name).
    Result<void> load(State& state);

    // The time at which a committed transaction is safe from a crash of the machine. `now`: when commit()
    // returns. `later`: when sync() is called, or a later transaction with `now` is committed.
    enum class Durable { now, later };
    // Opens a transaction. Call the save functions only between begin() and commit() or rollback(). Errors
    // are PBSE_SYSTEM with SQLite's message.
    Result<void> begin(Durable durable = Durable::now);
    Result<void> commit();
    void rollback();
    // Calls `work` in a transaction, and commits it. If work() fails or throws, or the commit fails, undoes
    // the transaction: an open one would keep all later ones from beginning.
    template <typename Work>
    Result<void> in_transaction(Work&& work, Durable durable = Durable::now) {
        Result<void> done = begin(durable);
        if (!done) return done;
        try {
            done = work();
            if (done) done = commit();
        } catch (const std::exception& error) {
            done = fail(PBSE_SYSTEM, error.what());
        }
        if (!done) rollback();
        return done;
    }
    // Writes to the disk all commits that may not be there yet, such as those with Durable::later. Any thread
    // may call it.
    Result<void> sync() const;
    // These functions use a savepoint within a transaction, one at a time. go_to_savepoint() undoes what was
    // written since set_savepoint(); release_savepoint() retains it. If one of these two fails, the whole
    // transaction is lost, and only rollback() may follow.
    Result<void> set_savepoint();
    Result<void> go_to_savepoint();
    Result<void> release_savepoint();

    Result<void> save_server(const Attributes& attributes);
    // Saves an object. `before`: the object as it is stored; then only the differences are written. If it is
    // null, the whole object is written.
    Result<void> save(const Queue& queue, const Queue* before = nullptr);
    Result<void> save(const Node& node, const Node* before = nullptr);
    Result<void> save(const Sched& sched);
    Result<void> save(const Reservation& reservation);
    // Removes a queue, vnode, scheduler or reservation (enum pbs_object_type).
    Result<void> remove(int type, std::string_view name);
    Result<void> save(const Resource& resource);
    // `is_new`: the job has no row yet.
    Result<void> save(const Job& job, bool is_new = false);
    // Saves only the comment and mtime of the stored job with this number. Jobs with the same comment share
    // its row.
    Result<void> save_comment(uint64_t sequence, std::string_view comment, int64_t mtime);
    Result<void> save_next_sequence(int64_t next);
    Result<void> save_script(const Job& job, std::string_view script);
    Result<void> remove_resource(std::string_view name);
    Result<void> remove_job(uint64_t sequence);
    Result<void> save(const Link& link);
    Result<void> remove(const Link& link);

    // save_received() stores that another server handed in the job with this id (in lower case), after `hops`
    // servers had it. received() returns the hops of the job's last hand-in; nullopt: no hand-in of it is
    // stored. forget_received() forgets the hand-ins before an instant, in a transaction of its own.
    Result<void> save_received(std::string_view id, int64_t hops, int64_t at);
    Result<std::optional<int64_t>> received(std::string_view id);
    Result<void> forget_received(int64_t before);

    // The next functions make a change of many objects without keeping others from the database for long.
    // put_aside() stores the new objects in another table, in several transactions. let_aside_hold() makes
    // them all count at once. catch_up() then moves them to their places. After a crash before the commit of
    // let_aside_hold() the whole change is undone; after a later crash all of it holds.

    // Begins a change of many objects: removes objects that an earlier change stored aside but didn't commit.
    Result<void> clear_aside();
    // Stores the object aside as it is in `state`; if it isn't there, stores its removal.
    Result<void> put_aside(const ConfigName& object, const State& state);
    Result<void> let_aside_hold();
    // Moves at most `most` objects to their places, in a transaction of its own. Returns false if none is
    // left.
    Result<bool> catch_up(int64_t most);
    // Returns whether objects that count are still stored aside. The next save of an object moves them to
    // their places first.
    bool behind() const;

    // Returns the job's script, as submitted.
    Result<std::string> script(uint64_t sequence);

  private:
    class Impl;
    explicit Store(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace pbs::host
