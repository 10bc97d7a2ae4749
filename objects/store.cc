#include "objects/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "objects/change_warnings.h"
#include "objects/config_json.h"
#include "objects/database.h"
#include "objects/draft.h"
#include "objects/execute.h"
#include "objects/formula.h"
#include "objects/history.h"
#include "objects/names_in_use.h"
#include "objects/persist.h"
#include "objects/snapshot.h"
#include "objects/unsupported.h"
#include "objects/upgrade.h"
#include "objects/windows.h"
#include "rrule/overlap.h"
#include "rrule/zone.h"

namespace pbs::objects {

namespace {

// A transaction that has begun, and the effect of its commands so far.
struct Group {
    Transaction transaction;
    Draft draft;
    std::uint64_t revision;
    bool beside = false;  // something was written that has no revision, such as a fact (set_meta())
};

// The change to which a command belongs.
struct Part {
    std::uint64_t first;  // the revision at which the change begins
    // Takes warnings about names that the server doesn't know; null: such names are refused.
    std::vector<std::string>* warnings = nullptr;
    // Takes warnings about settings without effect; null: there are none.
    std::vector<std::string>* unsupported = nullptr;
};

}  // namespace

struct Store::State {
    std::unique_ptr<Database> database;
    rrule::Zone zone;
    ResourceNames resources = ResourceNames::of_every_server();
    QueueNames queues{};
    std::shared_ptr<const Snapshot> snapshot{};
    KeptWindows windows{};
    // Commands that wait for a commit. Declared after the database, so that their transaction ends before the
    // database closes.
    std::optional<Group> staged{};
    std::optional<Error> staged_error{};  // why staged commands were lost, until commit() reports it
    std::uint64_t patience = rrule::OverlapSearch::kLongWork;
    const std::atomic<bool>* end = nullptr;
    bool provisions = false;
    bool keeps_execution_types = false;
    ServerAbilities abilities{};
    bool holds = false;           // a store of prepare(): another store's take_over() commits
    std::optional<Group> held{};  // the change for take_over(); declared after the database, to end before it

    // Returns the path of the list of programs that run as root. It is beside the database.
    std::string root_programs() const {
        const std::string& path = database->path();
        return path.substr(0, path.rfind('/') + 1) + "root_programs";
    }

    Result<Group> begin();
    Result<void> reload();
    // Parses all windows in advance, so that a change parses only the windows that it touches.
    void make_windows();
    Result<bool> execute(Group& group, const Command& command, const Part& part, const Identity& identity,
                         std::chrono::sys_seconds now);
    Result<void> write_host_changes(Group& group, std::span<const HostChange> changes, HistoryEntry entry);
    Result<void> commit(Group& group);
    Result<void> commit_staged();
    // Commits the staged commands, before a function reads the disk or begins another transaction. The next
    // commit() reports a failure.
    void settle();
};

namespace {

// Calls work(). If memory is short, returns that as an error. The text is one that needs no memory.
template <class Work>
auto without_exceptions(Work&& work) -> decltype(work()) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return fail(Code::system, "out of memory");
    }
}

Result<void> check_rows(Database& database, std::string_view sql, std::string_view good) {
    Statement rows = database.statement(sql);
    std::string found;
    Result<bool> row = rows.step();
    for (; row && *row; row = rows.step()) {
        if (rows.text(0) == good) continue;
        if (!found.empty()) found += "; ";
        found += good.empty() ? fmt::format("a row of table {} refers to a row of {} that isn't there",
                                            rows.text(0), rows.text(2))
                              : rows.text(0);
    }
    if (!row) return tl::unexpected(row.error());
    if (found.empty()) return {};
    return tl::unexpected(database.damage(found));
}

Result<void> check_integrity(Database& database) {
    if (Result<void> checked = check_rows(database, "PRAGMA integrity_check(10)", "ok"); !checked)
        return checked;
    return check_rows(database, "PRAGMA foreign_key_check", "");
}

// Returns the commands for a new store: they make the default policy, and give it to the default scheduler
// (PP-748, interface 1).
ChangeSet first_objects() {
    return {{{CommandKind::create, ObjectType::policy, std::string(kDefaultPolicy), {}},
             {CommandKind::set, ObjectType::sched, "default", {{"policy", std::string(kDefaultPolicy)}}}}};
}

Result<rrule::Zone> zone_of(const StoreOptions& options) {
    rrule::Result<rrule::Zone> zone =
        options.time_zone.empty() ? rrule::Zone::system() : rrule::Zone::find(options.time_zone);
    if (!zone) return fail(Code::bad_value, zone.error().message);
    return std::move(*zone);
}

}  // namespace

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::string& path, const StoreOptions& options,
                          std::chrono::sys_seconds now) {
    Result<rrule::Zone> zone = zone_of(options);
    if (!zone) return tl::unexpected(zone.error());
    Result<std::unique_ptr<Database>> database = Database::open(path);
    if (!database) return tl::unexpected(database.error());
    Store store(std::unique_ptr<State>(new State{std::move(*database), std::move(*zone)}));
    State& state = *store.state_;
    for (const KnownResource& one : options.resources) state.resources.add(one.name, one.kind, one.stays);
    state.queues = options.queues;
    state.provisions = options.provisions;
    state.keeps_execution_types = options.keeps_execution_types;
    state.abilities = options.abilities;
    const auto prepare = [&]() -> Result<void> {
        if (Result<void> checked = check_integrity(*state.database); !checked) return checked;
        if (Result<void> done = upgrade(*state.database, schema()); !done) return done;
        if (Result<void> done = state.database->guard(); !done) return done;
        return state.reload();
    };
    if (Result<void> done = prepare(); !done) return tl::unexpected(done.error());
    // Make default_policy: the store is new, or a crash came after the creation of its tables.
    if (!state.snapshot->policy(kDefaultPolicy)) {
        const Identity self{"pbs_policy", "", root_privilege};
        const Result<Reply> made = store.apply(first_objects(), self, now);
        if (!made) return tl::unexpected(made.error());
    }
    state.make_windows();
    return store;
}

Result<void> Store::State::reload() {
    Result<std::shared_ptr<const Snapshot>> read = read_configuration(*database);
    if (!read) return tl::unexpected(read.error());
    snapshot = std::move(*read);
    return {};
}

void Store::State::make_windows() {
    for (const ObjectPtr& window : snapshot->objects(ObjectType::time_window))
        if (window->has("rrule")) (void)windows.of(*window, zone);
}

Result<Group> Store::State::begin() {
    if (held) return fail(Code::internal, "a prepared store makes one change");
    Result<Transaction> transaction = Transaction::begin(*database);
    if (!transaction) return tl::unexpected(transaction.error());
    // read the file anew if another process (pbs_migrate, or a person with sqlite3) has changed it
    const Result<std::uint64_t> stored = last_revision(*database);
    if (!stored) return tl::unexpected(stored.error());
    if (*stored != snapshot->revision()) {
        if (Result<void> done = reload(); !done) return tl::unexpected(done.error());
    }
    return Group{std::move(*transaction), Draft(snapshot), snapshot->revision()};
}

// Writes history rows for changes of attributes that the server keeps itself.
Result<void> Store::State::write_host_changes(Group& group, std::span<const HostChange> changes,
                                              HistoryEntry entry) {
    entry.of_host = true;
    for (const HostChange& change : changes) {
        entry.revision = ++group.revision;
        entry.type = change.type;
        entry.object = change.name;
        entry.before = change.before;
        entry.after = change.after;
        if (Result<void> done = write_history(*database, entry); !done) return done;
    }
    return {};
}

// Executes a command and writes its history rows. Returns whether it changed something.
Result<bool> Store::State::execute(Group& group, const Command& command, const Part& part,
                                   const Identity& identity, std::chrono::sys_seconds now) {
    const std::string name = command.type == ObjectType::server ? std::string{} : command.object;
    const ObjectPtr before = group.draft.find(command.type, name);
    const CheckContext context{
        zone,     resources, now,        &queues,         part.warnings,        windows,
        patience, end,       provisions, root_programs(), keeps_execution_types};
    if (Result<void> done = execute_on(group.draft, command, context); !done)
        return tl::unexpected(done.error());
    const ObjectPtr after = group.draft.find(command.type, name);
    if (part.unsupported) {
        add_change_warnings(group.draft, before.get(), after.get(), &command, abilities, *part.unsupported);
    }
    const bool same = before && after ? *before == *after : before == after;
    if (same && command.host.empty()) return false;
    const HistoryEntry entry{group.revision + 1,   now,          identity.user, identity.host,
                             to_text(command),     command.type, name,          to_json(before.get()),
                             to_json(after.get()), part.first};
    if (!same) {
        if (Result<void> done = write_history(*database, entry); !done) return tl::unexpected(done.error());
        ++group.revision;
    }
    if (Result<void> done = write_host_changes(group, command.host, entry); !done)
        return tl::unexpected(done.error());
    return true;
}

// Commits the change, whose rows are all written, and makes its result the store's snapshot.
Result<void> Store::State::commit(Group& group) {
    if (group.revision == snapshot->revision() && !group.beside) return {};
    database->reached(group.revision);
    // Make the snapshot first: once the change is on the disk, nothing may fail, such as for lack of memory.
    std::shared_ptr<const Snapshot> next = group.draft.finish(group.revision);
    if (Result<void> done = holds ? database->flush() : group.transaction.commit(); !done) return done;
    snapshot = std::move(next);
    if (holds) held.emplace(std::move(group));
    return {};
}

Result<void> Store::State::commit_staged() {
    if (!staged) return {};
    return without_exceptions([&]() -> Result<void> {
        Group group = std::move(*staged);
        staged.reset();
        return commit(group);
    });
}

void Store::State::settle() {
    if (Result<void> done = commit_staged(); !done) staged_error = std::move(done.error());
}

std::shared_ptr<const Snapshot> Store::snapshot() const {
    return state_->snapshot;
}
void Store::define_resource(std::string_view name, std::optional<values::ResourceKind> kind, bool stays) {
    state_->resources.add(name, kind, stays);
}
void Store::forget_resource(std::string_view name) {
    state_->resources.remove(name);
}
void Store::define_queue(std::string_view name) {
    if (!state_->queues) state_->queues.emplace();
    state_->queues->emplace(name);
}
void Store::forget_queue(std::string_view name) {
    if (state_->queues) state_->queues->erase(std::string(name));
}
void Store::set_zone(rrule::Zone zone) {
    state_->zone = std::move(zone);
    state_->windows.clear();
    state_->make_windows();
}

Result<void> Store::check_job_sort_formula(std::string_view text) const {
    return check_formula("job_sort_formula", text, state_->resources);
}
Result<void> Store::check_resource_unused(std::string_view name) const {
    if (state_->resources.stays(name)) return {};
    state_->settle();
    return check_unnamed(Draft(state_->snapshot), NameKind::resource, name);
}
Database& Store::database() {
    state_->settle();
    return *state_->database;
}

void Store::set_patience(std::uint64_t work) {
    state_->patience = work;
}

struct Store::Seed {
    std::string path;
    rrule::Zone zone;
    ResourceNames resources;
    QueueNames queues;
    std::shared_ptr<const Snapshot> snapshot;
    bool provisions = false;
    bool keeps_execution_types = false;
    ServerAbilities abilities;
};

std::shared_ptr<const Store::Seed> Store::seed() {
    state_->settle();
    return std::make_shared<const Seed>(Seed{state_->database->path(), state_->zone, state_->resources,
                                             state_->queues, state_->snapshot, state_->provisions,
                                             state_->keeps_execution_types, state_->abilities});
}

Result<Store> Store::prepare(const Seed& seed, const std::atomic<bool>& end) {
    Result<std::unique_ptr<Database>> database = Database::open_again(seed.path);
    if (!database) return tl::unexpected(database.error());
    if (Result<void> done = (*database)->guard(); !done) return tl::unexpected(done.error());
    Store store(std::unique_ptr<State>(
        new State{std::move(*database), seed.zone, seed.resources, seed.queues, seed.snapshot}));
    store.state_->holds = true;
    store.state_->end = &end;
    store.state_->provisions = seed.provisions;
    store.state_->keeps_execution_types = seed.keeps_execution_types;
    store.state_->abilities = seed.abilities;
    store.state_->database->end_when(end);
    return store;
}

Result<void> Store::take_over(Store& prepared) {
    State& from = *prepared.state_;
    if (!from.held) return {};
    if (Result<void> done = from.held->transaction.commit_quickly(); !done) return done;
    state_->database->follow(*from.database);
    state_->snapshot = from.snapshot;
    return {};
}

Result<Reply> Store::execute(const Command& command, const Identity& identity, std::chrono::sys_seconds now) {
    Result<Reply> reply = apply({{command}}, identity, now);
    if (reply) return reply;
    Error error = reply.error();
    error.command = -1;
    return tl::unexpected(std::move(error));
}

Result<Reply> Store::apply(const ChangeSet& changes, const Identity& identity, std::chrono::sys_seconds now) {
    const auto numbered = [&](Error error, std::size_t index) {
        error.command = static_cast<int>(index);
        if (changes.commands.size() > 1) {
            error.message = fmt::format("command {} ({}): {}", index + 1, to_text(changes.commands[index]),
                                        error.message);
        }
        return tl::unexpected(std::move(error));
    };
    for (std::size_t i = 0; i < changes.commands.size(); ++i) {
        if (Result<void> allowed = authorize(changes.commands[i], identity); !allowed)
            return numbered(allowed.error(), i);
    }
    state_->settle();
    Result<Group> group = state_->begin();
    if (!group) return tl::unexpected(group.error());
    const std::uint64_t first = group->revision + 1;
    std::vector<std::string> warnings;
    std::vector<std::string>* const warn = changes.unknown_names == UnknownNames::warn ? &warnings : nullptr;
    for (std::size_t i = 0; i < changes.commands.size(); ++i) {
        const Result<bool> done =
            state_->execute(*group, changes.commands[i], {first, warn, &warnings}, identity, now);
        if (!done) return numbered(done.error(), i);
    }
    const bool changed = group->revision != state_->snapshot->revision();
    if (Result<void> done = write_changes(*state_->database, group->draft.changes()); !done)
        return tl::unexpected(done.error());
    if (Result<void> done = state_->commit(*group); !done) return tl::unexpected(done.error());
    return Reply{changed, state_->snapshot->revision(), std::move(warnings), state_->snapshot};
}

Result<Reply> Store::stage(const Command& command, const Identity& identity, std::chrono::sys_seconds now) {
    State& state = *state_;
    if (state.staged_error) return tl::unexpected(*state.staged_error);
    if (Result<void> allowed = authorize(command, identity); !allowed) return tl::unexpected(allowed.error());
    if (!state.staged) {
        Result<Group> begun = state.begin();
        if (!begun) return tl::unexpected(begun.error());
        state.staged.emplace(std::move(*begun));
    }
    Group& group = *state.staged;
    const std::uint64_t before = group.revision;
    std::vector<std::string> warnings;
    Result<bool> changed = without_exceptions([&]() -> Result<bool> {
        group.draft.mark();
        Result<bool> done = state.execute(group, command, {before + 1, nullptr, &warnings}, identity, now);
        if (!done || !*done) return done;
        if (Result<void> written = write_changes(*state.database, group.draft.changes_since_mark()); !written)
            return tl::unexpected(written.error());
        return done;
    });
    if (changed) return Reply{*changed, group.revision, std::move(warnings), state.snapshot};
    if (changed.error().code == Code::system || group.revision != before) {
        // drop all staged commands: this one may have written something before it failed, and SQLite may have
        // ended the transaction. Move the error, as a copy may find no memory: commit() has to report it.
        state.staged_error = std::move(changed.error());
        state.staged.reset();
        return tl::unexpected(*state.staged_error);
    }
    group.draft.revert_to_mark();
    return tl::unexpected(std::move(changed.error()));
}

bool Store::staged() const {
    return state_->staged.has_value() || state_->staged_error.has_value();
}

void Store::settle() const {
    state_->settle();
}

Result<void> Store::commit() {
    if (state_->staged_error) {
        Error error = std::move(*state_->staged_error);
        state_->staged_error.reset();
        return tl::unexpected(std::move(error));
    }
    return state_->commit_staged();
}

Result<Reply> Store::rewrite(const Rewrite& rewrite, const Identity& identity, std::chrono::sys_seconds now) {
    State& state = *state_;
    state.settle();
    Result<Group> group = state.begin();
    if (!group) return tl::unexpected(group.error());
    Reply reply{false, group->revision, {}, state.snapshot};
    const CheckContext context{state.zone,
                               state.resources,
                               now,
                               &state.queues,
                               nullptr,
                               state.windows,
                               state.patience,
                               state.end,
                               state.provisions,
                               state.root_programs(),
                               state.keeps_execution_types};
    if (Result<void> done = rewrite.work(group->draft, context, reply.warnings); !done)
        return tl::unexpected(done.error());
    const std::vector<ObjectChange> changes = group->draft.changes();
    for (const ObjectChange& change : changes) {
        add_change_warnings(group->draft, change.before.get(), change.after.get(), nullptr, state.abilities,
                            reply.warnings);
    }
    const bool changed = !changes.empty() || !rewrite.host.empty();
    if (rewrite.dry_run || (!changed && !rewrite.beside)) return reply;
    HistoryEntry entry;
    entry.at = now;
    entry.user = identity.user;
    entry.host = identity.host;
    entry.command = rewrite.command;
    entry.change = state.snapshot->revision() + 1;
    for (const ObjectChange& change : changes) {
        entry.revision = ++group->revision;
        entry.type = change.type;
        entry.object = change.name;
        entry.before = to_json(change.before.get());
        entry.after = to_json(change.after.get());
        if (Result<void> done = write_history(*state.database, entry); !done)
            return tl::unexpected(done.error());
    }
    if (Result<void> done = state.write_host_changes(*group, rewrite.host, entry); !done)
        return tl::unexpected(done.error());
    if (Result<void> done = write_changes(*state.database, changes); !done)
        return tl::unexpected(done.error());
    group->beside = rewrite.beside != nullptr;
    if (group->beside)
        if (Result<void> done = rewrite.beside(); !done) return tl::unexpected(done.error());
    if (Result<void> done = state.commit(*group); !done) return tl::unexpected(done.error());
    return Reply{changed, group->revision, std::move(reply.warnings), state.snapshot};
}

Result<std::vector<HistoryEntry>> Store::history(const HistoryQuery& query) const {
    state_->settle();
    return read_history(*state_->database, query);
}

Result<std::optional<std::string>> Store::meta(std::string_view key) const {
    state_->settle();
    Statement row = state_->database->statement("SELECT value FROM meta WHERE key = ?");
    row.bind(key);
    const Result<bool> found = row.step();
    if (!found) return tl::unexpected(found.error());
    return *found ? std::optional(row.text(0)) : std::nullopt;
}

Result<void> Store::set_meta(std::string_view key, std::string_view value) {
    state_->settle();
    return state_->database->in_transaction([&]() -> Result<void> {
        return state_->database
            ->statement(
                "INSERT INTO meta (key, value) VALUES (?, ?)"
                " ON CONFLICT DO UPDATE SET value = excluded.value")
            .bind(key)
            .bind(value)
            .run();
    });
}

}  // namespace pbs::objects
