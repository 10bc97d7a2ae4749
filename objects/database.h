// The policy database: its errors name it and say what to do, and transactions roll back by themselves.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "objects/error.h"
#include "sqlite/connection.h"
#include "sqlite/guard.h"

namespace pbs::objects {

class Database;

// A prepared statement in use (sqlite/connection.h), whose errors are those of the database.
class Statement : public sqlite::Statement {
  public:
    template <class Value>
    Statement& bind(const Value& value) {
        sqlite::Statement::bind(value);
        return *this;
    }
    // At a position; positions that the statement doesn't have are left out.
    template <class Value>
    Statement& bind_at(int position, const Value& value) {
        return go_to(position) ? bind(value) : *this;
    }

    // The next row: true, false at the end. Errors: system.
    Result<bool> step();
    // Runs a statement that returns no rows.
    Result<void> run();

    std::string text(int column) const { return std::string(sqlite::Statement::text(column)); }

  private:
    friend class Database;
    Statement(Database& database, sqlite::Statement statement)
        : sqlite::Statement(std::move(statement)), database_(&database) {}
    Database* database_;
};

class Database {
  public:
    // Opens or creates the file (mode 0600) with WAL, full synchronous, foreign keys and a busy timeout.
    // Errors: system; also if it has lost what it was told to keep (sqlite/loss.h).
    static Result<std::unique_ptr<Database>> open(const std::string& path);
    // Opens a file that is open in this process already, once more: for another thread.
    static Result<std::unique_ptr<Database>> open_again(const std::string& path);
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    Statement statement(std::string_view sql);
    // Runs statements without parameters.
    Result<void> run(const std::string& sql);
    std::int64_t last_row_id() const;
    // From here on commits are numbered and kept in the mark beside the file (sqlite/guard.h). To be called
    // when all tables are made.
    Result<void> guard();
    // The revision that the next commit reaches.
    void reached(std::uint64_t revision);
    // Brings to the disk what a transaction has written so far, so that little is left for its commit.
    Result<void> flush();
    // Once another thread sets this, statements end with an error.
    void end_when(const std::atomic<bool>& end);
    // Another connection of this process, to the same file, has made the last commit.
    void follow(const Database& other);
    // Runs `work` in a transaction: the one that is under way, or one of its own.
    Result<void> in_transaction(const std::function<Result<void>()>& work);

    const std::string& path() const { return path_; }
    // What SQLite says went wrong last, as an error that names the file.
    Error error(std::string_view doing) const;
    // The error for a file whose content makes no sense: what is wrong and what to do.
    Error damage(std::string_view what) const;

  private:
    friend class Transaction;
    Database(std::string path, sqlite::Connection connection)
        : path_(std::move(path)), connection_(std::move(connection)) {}
    Error error(std::string_view doing, const sqlite::Failure& failure) const;
    std::string path_;
    sqlite::Connection connection_;
    std::unique_ptr<sqlite::Guard> guard_;  // goes before the connection
};

// Begins at once with the right to write; rolls back unless committed.
class Transaction {
  public:
    static Result<Transaction> begin(Database& database);
    // Returns when the changes are on the disk.
    Result<void> commit();
    // The same, and leaves it to the end of the connection to copy a long log into the database.
    Result<void> commit_quickly();

    Transaction(Transaction&& other) noexcept : database_(other.database_) { other.database_ = nullptr; }
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();

  private:
    explicit Transaction(Database& database) : database_(&database) {}
    Result<void> commit(sqlite::Guard::Checkpoint checkpoint);
    Database* database_;
};

}  // namespace pbs::objects
