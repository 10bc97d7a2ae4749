// What the server keeps on disk: HOME/server_priv/server.db, SQLite.
//
// WAL, synchronous=FULL: what a commit() has returned from survives a crash of the machine, unless begin()
// says that it needn't, and a loss of it all the same is noticed at the next start (sqlite/loss.h). The
// schema has a version (PRAGMA user_version) and a list of upgrade steps (schema.h).
//
// The room store/ is the disk: Store, whose rows are made by stored_attributes.h and job_rows.h, and what
// keeps the home whole: checks at the start (database_check.h), backups and the way back (backup.h,
// manifest.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/configuration.h"
#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

class Store {
  public:
    // Opens the database at `path`, makes or upgrades its tables. ":memory:" is for tests. With `check`,
    // which says whether the database is whole, nothing is written before it has been asked: load() does so
    // in the end, whatever has to be written does before.
    using Check = std::function<Result<void>()>;
    static Result<std::unique_ptr<Store>> open(const std::string& path, Check check = {});
    // The version of the format (PRAGMA user_version) that open() makes; it refuses newer ones.
    static int64_t newest_version();
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    // True until a server object has been saved.
    bool empty() const;
    // The server's name in job ids: `name` if there is none yet, else the one that was kept, whatever `name`
    // is. Jobs and what the disk holds of their starts are known by it, so it lives as long as they may.
    Result<std::string> keep_server_name(std::string_view name);
    // Fills a state that has its names (server_name, host_name) and nothing else.
    Result<void> load(State& state);

    // Between begin() and commit() or rollback(); errors are PBSE_SYSTEM with SQLite's message.
    // `later`: a crash of the machine may undo it; what is committed after it makes it durable as well.
    enum class Durable { now, later };
    Result<void> begin(Durable durable = Durable::now);
    Result<void> commit();
    void rollback();
    // Brings to the disk what was committed and may not be there, such as with Durable::later. Any thread may
    // call it.
    Result<void> sync() const;
    // Within a transaction, one after the other: takes back what was written since set_savepoint(), or keeps
    // it. An error of these two: the whole transaction is lost, and only rollback() may follow.
    Result<void> set_savepoint();
    Result<void> go_to_savepoint();
    Result<void> release_savepoint();

    Result<void> save_server(const Attributes& attributes);
    // `before`, if it isn't null, is the object as it is stored: only what is different is written then.
    Result<void> save(const Queue& queue, const Queue* before = nullptr);
    Result<void> save(const Node& node, const Node* before = nullptr);
    Result<void> save(const Sched& sched);
    Result<void> save(const Reservation& reservation);
    // A queue, vnode, scheduler or reservation (enum pbs_object_type).
    Result<void> remove(int type, std::string_view name);
    Result<void> save(const Resource& resource);
    // `is_new`: nothing is stored of it.
    Result<void> save(const Job& job, bool is_new = false);
    // Of a job that is stored, and of which nothing else has changed: its comment, by its number. Jobs with
    // the same comment share it.
    Result<void> save_comment(uint64_t sequence, std::string_view comment, int64_t mtime);
    Result<void> save_next_sequence(int64_t next);
    Result<void> save_script(const Job& job, std::string_view script);
    Result<void> remove_resource(std::string_view name);
    Result<void> remove_job(uint64_t sequence);
    Result<void> save(const Link& link);
    Result<void> remove(const Link& link);

    // That another server handed in the job with this id (in lower case), after so many servers had it; and
    // how many had it when it came last: nullopt: it never came, or that was forgotten, as what came before
    // an instant is by forget_received(), in a transaction of its own.
    Result<void> save_received(std::string_view id, int64_t hops, int64_t at);
    std::optional<int64_t> received(std::string_view id);
    Result<void> forget_received(int64_t before);

    // A change of many objects, of which no part keeps others waiting: what it makes of each is put aside, in
    // several transactions, then let_aside_hold() makes all of it hold at once, and in the end catch_up()
    // brings it to its place. A crash before let_aside_hold() is committed leaves nothing of the change, one
    // later leaves all of it.

    // Begins: what was put aside, and never came to hold, is gone.
    Result<void> clear_aside();
    // An object as the state has it, or that it has none of its name.
    Result<void> put_aside(const ConfigName& object, const State& state);
    Result<void> let_aside_hold();
    // Of so many objects, in a transaction of its own. False: nothing is left.
    Result<bool> catch_up(int64_t most);
    // Is something left? What saves an object next catches up first, all at once.
    bool behind() const;

    // The job's script as it was submitted.
    Result<std::string> script(uint64_t sequence);

  private:
    class Impl;
    explicit Store(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace pbs::host
