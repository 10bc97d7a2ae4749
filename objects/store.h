// The configuration on disk: one SQLite file, one transaction per request or group of requests. (upgrade.cc
// describes the tables.)
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
    // The server's custom resources, with their types if these are known. It may also have the types of
    // resources that every PBS has.
    std::vector<KnownResource> resources{};
    // The server's queues, which policies may name; nullopt: unknown, so any name is accepted.
    QueueNames queues{};
    // Does the server provision vnodes? If not, policies can't have a provision_policy but the default.
    bool provisions = false;
    // Is the execution_type of queues kept in the store? If not, the server keeps it.
    bool keeps_execution_types = false;
    // The server's abilities. Policies whose settings need more get a warning.
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

// The store. One thread at a time; its snapshots may be read by any thread.
//
// A change that takes long is made in another thread, by a second store on the same file: call seed(); in the
// thread prepare() and the change; then take_over() in the first store. Meanwhile the first store answers
// queries; changes of it have to wait.
class Store {
  public:
    // Opens the file. Creates it (with default_policy, assigned to the sched `default`) if it doesn't exist
    // or is empty, and upgrades an older one. Errors: system, for a file that can't be opened, is damaged, is
    // of a later version, or isn't such a database: the message says what is wrong and what to do.
    static Result<Store> open(const std::string& path, const StoreOptions& options,
                              std::chrono::sys_seconds now);

    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;
    ~Store();

    // Did open() create the file? True at the first start.
    bool created() const;

    // The configuration in force. Never null.
    std::shared_ptr<const Snapshot> snapshot() const;

    // Executes one command and writes its history row in one transaction; once it returns a Reply, the change
    // survives a crash of the machine. On an error nothing has changed.
    Result<Reply> execute(const Command& command, const Identity& identity, std::chrono::sys_seconds now);

    // Executes a command without making it durable: commit() writes all commands staged since the last
    // commit, and the Reply holds once it has returned without an error. A command sees the effect of those
    // staged before it; a refused one changes nothing and leaves the others alone. Reply::snapshot, like
    // snapshot(), is the last committed state. Every other member commits the staged commands first.
    //
    // When the disk fails a command, all staged commands are lost. All commands that follow, up to commit(),
    // and commit() itself then return the error of that command.
    Result<Reply> stage(const Command& command, const Identity& identity, std::chrono::sys_seconds now);
    // Has commit() something to write, or an error to report?
    bool staged() const;
    // Writes the staged commands to the disk in one transaction. On an error none of them has changed
    // anything.
    Result<void> commit();

    // Commits the staged commands, as every other member does first. The next commit() reports the error, if
    // any.
    void settle() const;

    // Executes many commands in one transaction, with a history row each. On an error, which names the
    // command (text and Error::command), nothing has changed.
    Result<Reply> apply(const ChangeSet& changes, const Identity& identity, std::chrono::sys_seconds now);

    // Does a rewrite in one transaction, with a history row for each object that changed. The caller must
    // have checked the identity's permission.
    Result<Reply> rewrite(const Rewrite& rewrite, const Identity& identity, std::chrono::sys_seconds now);

    Result<std::vector<HistoryEntry>> history(const HistoryQuery& query) const;

    // Facts that the plugin keeps beside the objects, such as that a migration was done.
    Result<std::optional<std::string>> meta(std::string_view key) const;
    Result<void> set_meta(std::string_view key, std::string_view value);

    // Add and remove names of the server's resources and queues, which values may use while they exist. An
    // object that names one that is gone stays as it is.
    void define_resource(std::string_view name, std::optional<values::ResourceKind> kind = {});
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

    // The connection, for usage_store.h; no transaction is under way on it.
    Database& database();

    // Limits the work that the comparison of time_windows may take (in units of rrule::OverlapSearch::work();
    // at first OverlapSearch::kLongWork). A change that needs more fails with takes_long and changes nothing.
    void set_patience(std::uint64_t work);

    // The parts of this store from which prepare() makes another one. Commits the staged commands.
    struct Seed;
    std::shared_ptr<const Seed> seed();
    // Makes a second store on the same file. Its first change is written to the disk, but not committed:
    // until take_over() it is in force in that store alone. Once another thread sets `end`, the change fails
    // soon, with nothing changed, unless it is done already. Errors: system.
    static Result<Store> prepare(const Seed& seed, const std::atomic<bool>& end);
    // Commits the change of a prepared store, if it made one; the change is then in force in this store. On
    // an error nothing has changed. Afterwards the prepared store may be destroyed, in any thread; if it is
    // destroyed earlier, its change is lost.
    Result<void> take_over(Store& prepared);

  private:
    struct State;
    explicit Store(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace pbs::objects
