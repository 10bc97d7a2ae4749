#include "objects/store.h"

#include <fmt/format.h>

#include "objects/config_json.h"
#include "objects/database.h"
#include "objects/draft.h"
#include "objects/execute.h"
#include "objects/history.h"
#include "objects/names_in_use.h"
#include "objects/persist.h"
#include "objects/upgrade.h"
#include "rrule/zone.h"

namespace pbs::objects {

struct Store::State {
    std::unique_ptr<Database> database;
    rrule::Zone zone;
    ResourceNames resources{};
    QueueNames queues{};
    std::shared_ptr<const Snapshot> snapshot{};
    bool created = false;
};

namespace {

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

// What a new store holds: the default policy, assigned to the default scheduler (PP-748, interface 1).
ChangeSet first_objects() {
    return {{{CommandKind::create, ObjectType::policy, std::string(kDefaultPolicy), {}},
             {CommandKind::set, ObjectType::sched, "default", {{"policy", std::string(kDefaultPolicy)}}}}};
}

Result<rrule::Zone> zone_of(const StoreOptions& options) {
    if (options.time_zone.empty()) return rrule::Zone::system();
    rrule::Result<rrule::Zone> zone = rrule::Zone::find(options.time_zone);
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
    for (const std::string& name : options.resources) state.resources.add(name);
    state.queues = options.queues;
    const auto prepare = [&]() -> Result<void> {
        if (Result<void> checked = check_integrity(*state.database); !checked) return checked;
        if (Result<void> done = upgrade(*state.database, current_version()); !done) return done;
        return store.reload();
    };
    if (Result<void> done = prepare(); !done) return tl::unexpected(done.error());
    // A crash between the creation of the tables and this leaves a store without default_policy: make it
    // then.
    if (!state.snapshot->policy(kDefaultPolicy)) {
        state.created = state.snapshot->revision() == 0;
        const Identity self{"pbs_policy", "", root_privilege};
        const Result<Reply> made = store.apply(first_objects(), self, now);
        if (!made) return tl::unexpected(made.error());
    }
    return store;
}

Result<void> Store::reload() {
    Result<std::shared_ptr<const Snapshot>> snapshot = read_configuration(*state_->database);
    if (!snapshot) return tl::unexpected(snapshot.error());
    state_->snapshot = std::move(*snapshot);
    return {};
}

bool Store::created() const {
    return state_->created;
}
std::shared_ptr<const Snapshot> Store::snapshot() const {
    return state_->snapshot;
}
void Store::define_resource(std::string_view name) {
    state_->resources.add(name);
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
Result<void> Store::check_resource_unused(std::string_view name) const {
    return check_unnamed(Draft(state_->snapshot), NameKind::resource, name);
}
Database& Store::database() {
    return *state_->database;
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
    Result<Transaction> transaction = Transaction::begin(*state_->database);
    if (!transaction) return tl::unexpected(transaction.error());
    // Another process (pbs_migrate, or a person with sqlite3) may have changed the file meanwhile.
    const Result<std::uint64_t> stored = last_revision(*state_->database);
    if (!stored) return tl::unexpected(stored.error());
    if (*stored != state_->snapshot->revision()) {
        if (Result<void> done = reload(); !done) return tl::unexpected(done.error());
    }
    std::uint64_t revision = state_->snapshot->revision();
    Draft draft(state_->snapshot);
    std::vector<std::string> warnings;
    const CheckContext context{state_->zone, state_->resources, now, &state_->queues,
                               changes.unknown_names == UnknownNames::warn ? &warnings : nullptr};
    for (std::size_t i = 0; i < changes.commands.size(); ++i) {
        const Command& command = changes.commands[i];
        const std::string name = command.type == ObjectType::server ? std::string{} : command.object;
        const ObjectPtr before = draft.find(command.type, name);
        if (Result<void> done = execute_on(draft, command, context); !done) return numbered(done.error(), i);
        const ObjectPtr after = draft.find(command.type, name);
        if (before && after ? *before == *after : before == after) continue;
        const HistoryEntry entry{++revision,
                                 now,
                                 identity.user,
                                 identity.host,
                                 to_text(command),
                                 command.type,
                                 name,
                                 to_json(before.get()),
                                 to_json(after.get()),
                                 state_->snapshot->revision() + 1};
        if (Result<void> done = write_history(*state_->database, entry); !done)
            return tl::unexpected(done.error());
    }
    Reply reply{revision != state_->snapshot->revision(), revision, std::move(warnings), state_->snapshot};
    if (!reply.changed) return reply;
    if (Result<void> done = write_changes(*state_->database, draft.changes()); !done)
        return tl::unexpected(done.error());
    if (Result<void> done = transaction->commit(); !done) return tl::unexpected(done.error());
    state_->snapshot = reply.snapshot = draft.finish(revision);
    return reply;
}

Result<Reply> Store::rewrite(const Rewrite& rewrite, const Identity& identity, std::chrono::sys_seconds now) {
    State& state = *state_;
    Result<Transaction> transaction = Transaction::begin(*state.database);
    if (!transaction) return tl::unexpected(transaction.error());
    const Result<std::uint64_t> stored = last_revision(*state.database);
    if (!stored) return tl::unexpected(stored.error());
    if (*stored != state.snapshot->revision()) {
        if (Result<void> done = reload(); !done) return tl::unexpected(done.error());
    }
    Reply reply{false, state.snapshot->revision(), {}, state.snapshot};
    Draft draft(state.snapshot);
    const CheckContext context{state.zone, state.resources, now, &state.queues};
    if (Result<void> done = rewrite.work(draft, context, reply.warnings); !done)
        return tl::unexpected(done.error());
    const std::vector<ObjectChange> changes = draft.changes();
    if (rewrite.dry_run || changes.empty()) return reply;
    for (const ObjectChange& change : changes) {
        const HistoryEntry entry{++reply.revision,
                                 now,
                                 identity.user,
                                 identity.host,
                                 rewrite.command,
                                 change.type,
                                 change.name,
                                 to_json(change.before.get()),
                                 to_json(change.after.get()),
                                 state.snapshot->revision() + 1};
        if (Result<void> done = write_history(*state.database, entry); !done)
            return tl::unexpected(done.error());
    }
    if (Result<void> done = write_changes(*state.database, changes); !done)
        return tl::unexpected(done.error());
    if (Result<void> done = transaction->commit(); !done) return tl::unexpected(done.error());
    state.snapshot = reply.snapshot = draft.finish(reply.revision);
    reply.changed = true;
    return reply;
}

Result<std::vector<HistoryEntry>> Store::history(const HistoryQuery& query) const {
    return read_history(*state_->database, query);
}

Result<std::optional<std::string>> Store::meta(std::string_view key) const {
    Statement row = state_->database->statement("SELECT value FROM meta WHERE key = ?");
    row.bind(key);
    const Result<bool> found = row.step();
    if (!found) return tl::unexpected(found.error());
    return *found ? std::optional(row.text(0)) : std::nullopt;
}

Result<void> Store::set_meta(std::string_view key, std::string_view value) {
    return state_->database
        ->statement(
            "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value")
        .bind(key)
        .bind(value)
        .run();
}

}  // namespace pbs::objects
