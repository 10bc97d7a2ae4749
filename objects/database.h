// The policy database, an SQLite file. Its errors name the file and say what to do. A transaction that isn't
// committed rolls back.
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

// A prepared statement in use (sqlite/connection.h). Its errors are those of Database.
class Statement : public sqlite::Statement {
  public:
    template <class Value>
    Statement& bind(const Value& value) {
        sqlite::Statement::bind(value);
        return *this;
    }
    // Binds the parameter at a position; ignores positions that the statement doesn't have.
    template <class Value>
    Statement& bind_at(int position, const Value& value) {
        return go_to(position) ? bind(value) : *this;
    }

    // Moves to the next row. False: there is none. Errors: system.
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
    // Errors: system; also if data that was committed is gone (sqlite/loss.h).
    static Result<std::unique_ptr<Database>> open(const std::string& path);
    // Opens another connection, for another thread, to a file that this process has opened with open().
    static Result<std::unique_ptr<Database>> open_again(const std::string& path);
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    Statement statement(std::string_view sql);
    // Runs statements without parameters.
    Result<void> run(const std::string& sql);
    std::int64_t last_row_id() const;
    // Begins to number commits in the mark file beside the database (sqlite/guard.h), so that a loss is found
    // later. Call it when all tables exist.
    Result<void> guard();
    // Tells the mark file the revision that the next commit reaches.
    void reached(std::uint64_t revision);
    // Writes the changes of the transaction to the disk, so that the commit takes little time.
    Result<void> flush();
    // Makes statements fail from the moment at which another thread sets `end`.
    void end_when(const std::atomic<bool>& end);
    // Tells this connection that `other`, a connection of this process to the same file, made the last
    // commit.
    void follow(const Database& other);
    // Runs `work` in the transaction that has begun, or else in a transaction of its own.
    Result<void> in_transaction(const std::function<Result<void>()>& work);

    const std::string& path() const { return path_; }
    // Returns SQLite's last error, with the name of the file. `doing` is a verb, such as "use".
    Error error(std::string_view doing) const;
    // Returns the error for a file with wrong content. It describes the damage, and what to do.
    Error damage(std::string_view what) const;

  private:
    friend class Transaction;
    Database(std::string path, sqlite::Connection connection)
        : path_(std::move(path)), connection_(std::move(connection)) {}
    Error error(std::string_view doing, const sqlite::Failure& failure) const;
    std::string path_;
    sqlite::Connection connection_;
    std::unique_ptr<sqlite::Guard> guard_;  // declared after the connection, to be destroyed before it
};

// A transaction that holds the right to write from its beginning. It rolls back unless it is committed.
class Transaction {
  public:
    static Result<Transaction> begin(Database& database);
    // Commits, and returns when the changes are on the disk.
    Result<void> commit();
    // Commits like commit(), but leaves it to the end of the connection to copy a long log into the database.
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
