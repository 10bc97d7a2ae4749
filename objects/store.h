// The configuration on disk: one SQLite file, with a transaction for each request or group of requests.
// upgrade.cc describes the tables.
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
    // The server's zone, an IANA name; empty: the system's. Floating times of recurrences are in this zone.
    std::string time_zone{};
    // The server's custom resources, with their types if these are known. The list may also have resources
    // that every PBS has.
    std::vector<KnownResource> resources{};
    // The server's queues, which policies may name; nullopt: unknown, so any name is accepted.
    QueueNames queues{};
    // True: the server provisions vnodes. False: a policy's provision_policy must be the default.
    bool provisions = false;
    // True: the store keeps the execution_type of queues. False: the server keeps it.
    bool keeps_execution_types = false;
    // The server's abilities. A policy with settings that need others gets a warning.
    ServerAbilities abilities{};
};

// A change of many objects that isn't a list of commands (restore.h).
struct Rewrite {
    std::string command;  // for the history
    // Changes the draft and checks it. On an error nothing is written.
    std::function<Result<void>(Draft&, const CheckContext&, std::vector<std::string>& warnings)> work;
    bool dry_run = false;            // check the change, then discard it: the Reply then has the
                                     // configuration in force
    std::vector<HostChange> host{};  // the server's own changes at the same time
    // Called after `work`, whether objects change or not, to write facts (set_meta()) and usage in the same
    // transaction.
    std::function<Result<void>()> beside{};
};

// The store. For one thread at a time; its snapshots may be read by any thread.
//
// A second store on the same file makes a change that takes long in another thread: call seed() of the first
// store; in the other thread, prepare() and the change; then take_over() of the first store. Meanwhile the
// first store answers queries, and changes of it have to wait.
class Store {
  public:
    // Opens the file. If it doesn't exist or is empty, creates it, with default_policy as the policy of the
    // sched `default`. Upgrades an older file. Errors: system, if the file can't be opened, is damaged, is of
    // a later version, or isn't such a database. The message says what is wrong and what to do.
    static Result<Store> open(const std::string& path, const StoreOptions& options,
                              std::chrono::sys_seconds now);

    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;
    ~Store();

    // Returns the configuration in force; never null.
    std::shared_ptr<const Snapshot> snapshot() const;

    // Executes one command and writes its history row in one transaction; once it returns a Reply, the change
    // survives a crash of the machine. On an error nothing has changed.
    Result<Reply> execute(const Command& command, const Identity& identity, std::chrono::sys_seconds now);

    // Executes a command without making it durable. commit() writes all commands that were staged since the
    // last commit; a Reply counts only when commit() has returned without an error. A command sees the effect
    // of those staged before it. A refused command changes nothing and leaves the others alone.
    // Reply::snapshot, like snapshot(), is the last committed state. All members that read the disk or write
    // to it commit the staged commands first.
    //
    // If the disk fails a command, all staged commands are lost. All commands that follow, up to commit(),
    // and commit() itself then return the error of that command.
    Result<Reply> stage(const Command& command, const Identity& identity, std::chrono::sys_seconds now);
    // Returns whether commit() has something to write or an error to report.
    bool staged() const;
    // Writes the staged commands to the disk in one transaction. On an error none of them has changed
    // anything.
    Result<void> commit();

    // Commits the staged commands. The next commit() reports the error, if there is one.
    void settle() const;

    // Executes many commands in one transaction, with a history row each. On an error, which names the
    // command (text and Error::command), nothing has changed.
    Result<Reply> apply(const ChangeSet& changes, const Identity& identity, std::chrono::sys_seconds now);

    // Makes a change in one transaction, with a history row for each changed object. The caller must have
    // checked that the identity may do this.
    Result<Reply> rewrite(const Rewrite& rewrite, const Identity& identity, std::chrono::sys_seconds now);

    Result<std::vector<HistoryEntry>> history(const HistoryQuery& query) const;

    // Facts that the plugin keeps beside the objects, such as that a migration was done.
    Result<std::optional<std::string>> meta(std::string_view key) const;
    Result<void> set_meta(std::string_view key, std::string_view value);

    // These functions add and remove names of the server's resources and queues, which values may use while
    // they exist. If a name is removed, objects that use it stay as they are. `stays`: the server has the
    // resource even after its definition was deleted, so this may be done while objects name it.
    void define_resource(std::string_view name, std::optional<values::ResourceKind> kind = {},
                         bool stays = false);
    void forget_resource(std::string_view name);
    void define_queue(std::string_view name);
    void forget_queue(std::string_view name);

    // Replaces the server's zone, after a change of its rules in the tz database.
    void set_zone(rrule::Zone zone);

    // Checks a formula by the rules of job_sort_formula, for the server's deprecated attribute of that name,
    // which the host keeps. Errors: bad_value, with the position.
    Result<void> check_job_sort_formula(std::string_view text) const;

    // Checks that no object names this resource, so that the server may delete it. Errors: busy, naming what
    // refers to it. (For queues, execute() of a remove checks this.)
    Result<void> check_resource_unused(std::string_view name) const;

    // Returns the connection, for usage_store.h. No transaction has begun on it.
    Database& database();

    // Limits the work that the comparison of time_windows may take (in units of rrule::OverlapSearch::work();
    // at first OverlapSearch::kLongWork). A change that needs more changes nothing: it fails with takes_long
    // if `work` is less than kLongWork, else with bad_value.
    void set_patience(std::uint64_t work);

    // The parts of this store from which prepare() makes another one.
    struct Seed;
    // Commits the staged commands. Returns the parts of this store that prepare() needs.
    std::shared_ptr<const Seed> seed();
    // Makes a second store on the same file. Its first change is written to the disk, but not committed:
    // until take_over(), only that store has it in force. When another thread sets `end`, the change soon
    // fails with nothing changed, unless it is done already. Errors: system.
    static Result<Store> prepare(const Seed& seed, const std::atomic<bool>& end);
    // Commits the change of a prepared store, if it made one, and puts it in force in this store. On an error
    // nothing has changed. Afterwards the prepared store may be destroyed in any thread. If it is destroyed
    // earlier, its change is lost.
    Result<void> take_over(Store& prepared);

  private:
    struct State;
    explicit Store(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace pbs::objects
