// The configuration on disk: one SQLite file, one transaction per request or group of requests. (The
// tables: upgrade.cc.)
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "objects/commands.h"
#include "objects/error.h"
#include "objects/resources.h"
#include "objects/snapshot.h"
#include "objects/unsupported.h"
#include "rrule/zone.h"

namespace pbs::objects {

class Database;
class Draft;
struct CheckContext;

struct StoreOptions {
    // The server's zone, an IANA name; empty: the system's. Floating times of recurrences are in it.
    std::string time_zone{};
    // Names of the server's own resources, beyond those that every PBS has.
    std::vector<std::string> resources{};
    // The server's queues, which policies may name; not set: they aren't known, so that any name will do.
    QueueNames queues{};
    // Does the server provision vnodes? If not, policies can't say how.
    bool provisions = false;
    // Is the execution_type of queues kept here? If not, the server keeps it.
    bool keeps_execution_types = false;
    // Who sets in a policy what it can't do enough for is told so.
    ServerAbilities abilities{};
};

// A change of many objects that no list of commands says (restore.h).
struct Rewrite {
    std::string command;  // for the history
    // Changes the draft and checks it. On an error nothing is written.
    std::function<Result<void>(Draft&, const CheckContext&, std::vector<std::string>& warnings)> work;
    bool dry_run = false;            // throws the draft away in the end; the Reply then tells of what holds
    std::vector<HostChange> host{};  // what the server does in the same change
    // Called after it, for what is written in the same transaction, whether objects change or not: facts
    // (set_meta()) and usage.
    std::function<Result<void>()> beside{};
};

// One thread at a time. Snapshots that it hands out may be read anywhere.
//
// A change that takes long is made in a thread, by a second store on the same file: seed(), in the thread
// prepare() and the change, and take_over() brings both together. Meanwhile the first one answers questions;
// what would change it has to wait.
class Store {
  public:
    // Opens the file, creating it (with default_policy, assigned to the sched `default`) if it isn't there
    // or is empty, and upgrading an older one. Errors: system, for a file that can't be opened, is damaged,
    // is of a later version, or is no such database: the message says what is wrong and what to do.
    static Result<Store> open(const std::string& path, const StoreOptions& options,
                              std::chrono::sys_seconds now);

    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;
    ~Store();

    // Did open() create the file? True at the first start.
    bool created() const;

    // What holds now. Never null.
    std::shared_ptr<const Snapshot> snapshot() const;

    // Executes one command in one transaction with its history row; once it returns a Reply, the change
    // survives a crash of the machine. On an error nothing has changed.
    Result<Reply> execute(const Command& command, const Identity& identity, std::chrono::sys_seconds now);

    // As execute(), but leaves it to commit() to make the change durable, together with all that were staged
    // since the last one: the Reply holds once commit() has returned without an error. A command sees what
    // those before it did; one that is refused changes nothing and leaves the others alone. Reply::snapshot,
    // as snapshot(), is what was committed last. Every other member commits first what is staged.
    //
    // When the disk fails a command, all staged commands are lost. All commands that follow, up to commit(),
    // and commit() itself then return the error of that command.
    Result<Reply> stage(const Command& command, const Identity& identity, std::chrono::sys_seconds now);
    // Has commit() something to do, or an error to report?
    bool staged() const;
    // Brings what is staged to the disk in one transaction. On an error nothing of it has changed.
    Result<void> commit();

    // Commits what is staged, as every other member does first. The next commit() reports the error, if there
    // is one.
    void settle() const;

    // Executes many commands in one transaction, with a history row each. On an error, which names the
    // command (text and Error::command), nothing has changed.
    Result<Reply> apply(const ChangeSet& changes, const Identity& identity, std::chrono::sys_seconds now);

    // Does a rewrite in one transaction, with a history row for each object that it changed. The caller has
    // to have checked that the identity may do it.
    Result<Reply> rewrite(const Rewrite& rewrite, const Identity& identity, std::chrono::sys_seconds now);

    Result<std::vector<HistoryEntry>> history(const HistoryQuery& query) const;

    // Facts that the plugin keeps beside the objects, such as that a migration was done.
    Result<std::optional<std::string>> meta(std::string_view key) const;
    Result<void> set_meta(std::string_view key, std::string_view value);

    // Tell of the server's resources and queues, which values may name while they exist. An object that names
    // one that isn't there (any more) stays as it is.
    void define_resource(std::string_view name);
    void forget_resource(std::string_view name);
    void define_queue(std::string_view name);
    void forget_queue(std::string_view name);

    // Takes the server's zone as the tz database has it now.
    void set_zone(rrule::Zone zone);

    // Is this a formula to sort jobs by, as the policies' job_sort_formula? For the server's deprecated one,
    // which the host keeps. Errors: bad_value, with the position.
    Result<void> check_job_sort_formula(std::string_view text) const;

    // Does no object name this resource, so that the server may delete it? Errors: busy, naming what refers
    // to it. (Queues: execute() with a remove.)
    Result<void> check_resource_unused(std::string_view name) const;

    // The connection, for usage_store.h; without a transaction under way.
    Database& database();

    // Sets how much work the comparison of time_windows may be (rrule::OverlapSearch::work(); at first
    // OverlapSearch::kLongWork). A change that needs more ends with takes_long and changes nothing.
    void set_patience(std::uint64_t work);

    // All that this store knows, for prepare() to make another store of. Commits what is staged.
    struct Seed;
    std::shared_ptr<const Seed> seed();
    // Makes a store on the same file whose first change isn't committed: its rows are written to the disk,
    // only the commit is missing, and until take_over() the change is in force in that store alone. Once
    // another thread sets `end`, the change ends soon, with an error and nothing changed, unless it is done
    // already. Errors: system.
    static Result<Store> prepare(const Seed& seed, const std::atomic<bool>& end);
    // Commits the change of a prepared store, if it made one; from then on the change is in force here. On an
    // error nothing has changed. Afterwards the prepared store may be destroyed, in any thread; destroyed
    // earlier, its change is lost.
    Result<void> take_over(Store& prepared);

  private:
    struct State;
    explicit Store(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace pbs::objects
