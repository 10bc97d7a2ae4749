#include "objects/usage_store.h"

#include "objects/database.h"

namespace pbs::objects {
namespace {

Result<std::vector<Usage>> load_usage(Database& database, std::string_view scope) {
    Statement rows = database.statement(
        R"(SELECT user, "group", amount FROM usage WHERE scope = ? ORDER BY user, "group")");
    rows.bind(scope);
    std::vector<Usage> usage;
    Result<bool> row = rows.step();
    for (; row && *row; row = rows.step()) usage.push_back({rows.text(0), rows.text(1), rows.real(2)});
    if (!row) return tl::unexpected(row.error());
    return usage;
}

Result<std::vector<Charge>> load_charges(Database& database, std::string_view scope) {
    Statement rows =
        database.statement(R"(SELECT job, user, "group", amount FROM charge WHERE scope = ? ORDER BY job)");
    rows.bind(scope);
    std::vector<Charge> charges;
    Result<bool> row = rows.step();
    for (; row && *row; row = rows.step())
        charges.push_back({rows.text(0), rows.text(1), rows.text(2), rows.real(3)});
    if (!row) return tl::unexpected(row.error());
    return charges;
}

Result<void> decay(Database& database, std::string_view scope, const UsageBatch& batch) {
    const Result<void> done = database.statement("UPDATE usage SET amount = amount * ? + ? WHERE scope = ?")
                                  .bind(batch.decayed_by)
                                  .bind(batch.decay_adds)
                                  .bind(scope)
                                  .run();
    if (!done) return done;
    return database.statement("DELETE FROM usage WHERE scope = ? AND amount <= ?")
        .bind(scope)
        .bind(batch.least)
        .run();
}

Result<void> write_usage(Database& database, std::string_view scope, const Usage& usage) {
    if (usage.amount == 0) {
        return database.statement(R"(DELETE FROM usage WHERE scope = ? AND user = ? AND "group" = ?)")
            .bind(scope)
            .bind(usage.user)
            .bind(usage.group)
            .run();
    }
    return database
        .statement(R"(INSERT INTO usage (scope, user, "group", amount) VALUES (?, ?, ?, ?))"
                   " ON CONFLICT DO UPDATE SET amount = excluded.amount")
        .bind(scope)
        .bind(usage.user)
        .bind(usage.group)
        .bind(usage.amount)
        .run();
}

Result<void> write_charge(Database& database, std::string_view scope, const Charge& charge, bool replace) {
    return database
        .statement(
            std::string(R"(INSERT INTO charge (scope, job, user, "group", amount) VALUES (?, ?, ?, ?, ?))") +
            (replace ? " ON CONFLICT DO UPDATE SET amount = excluded.amount" : " ON CONFLICT DO NOTHING"))
        .bind(scope)
        .bind(charge.job)
        .bind(charge.user)
        .bind(charge.group)
        .bind(charge.amount)
        .run();
}

Result<void> write_all(Database& database, std::string_view scope, const UsageBatch& batch) {
    if (batch.replace_usage) {
        Result<void> done = database.statement("DELETE FROM usage WHERE scope = ?").bind(scope).run();
        if (!done) return done;
    }
    if (batch.decayed_by != 1) {
        if (Result<void> done = decay(database, scope, batch); !done) return done;
    }
    for (const Usage& usage : batch.usage) {
        if (Result<void> done = write_usage(database, scope, usage); !done) return done;
    }
    for (const Charge& charge : batch.charged) {
        if (Result<void> done = write_charge(database, scope, charge, batch.replace_charges); !done)
            return done;
    }
    for (const std::string& job : batch.released) {
        Result<void> done =
            database.statement("DELETE FROM charge WHERE scope = ? AND job = ?").bind(scope).bind(job).run();
        if (!done) return done;
    }
    if (!batch.last_decay) return {};
    return database
        .statement("INSERT INTO decay (scope, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at")
        .bind(scope)
        .bind(std::int64_t{batch.last_decay->time_since_epoch().count()})
        .run();
}

}  // namespace

Result<UsageState> UsageStore::load(std::string_view scope) const {
    Database& database = store_->database();
    UsageState state;
    Result<std::vector<Usage>> usage = load_usage(database, scope);
    if (!usage) return tl::unexpected(usage.error());
    Result<std::vector<Charge>> charges = load_charges(database, scope);
    if (!charges) return tl::unexpected(charges.error());
    state.usage = std::move(*usage);
    state.charges = std::move(*charges);
    Statement row = database.statement("SELECT at FROM decay WHERE scope = ?");
    row.bind(scope);
    const Result<bool> found = row.step();
    if (!found) return tl::unexpected(found.error());
    if (*found) state.last_decay = std::chrono::sys_seconds(std::chrono::seconds(row.integer(0)));
    return state;
}

Result<bool> usage_is_empty(Database& database, std::string_view scope) {
    Statement row = database.statement("SELECT 1 FROM usage WHERE scope = ? LIMIT 1");
    row.bind(scope);
    const Result<bool> found = row.step();
    if (!found) return tl::unexpected(found.error());
    return !*found;
}

Result<void> write_usage_within(Database& database, std::string_view scope, const UsageBatch& batch) {
    return write_all(database, scope, batch);
}

Result<void> UsageStore::write(const UsageBatches& batches) {
    Database& database = store_->database();
    Result<Transaction> transaction = Transaction::begin(database);
    if (!transaction) return tl::unexpected(transaction.error());
    for (const auto& [scope, batch] : batches) {
        if (Result<void> done = write_all(database, scope, batch); !done) return done;
    }
    return transaction->commit();
}

}  // namespace pbs::objects
