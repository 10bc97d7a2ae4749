// Wraps SQLite for programs that keep a database or read one: connections close themselves, statements are
// prepared once, and errors are values.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sqlite/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace pbs::sqlite {

// A prepared statement in use. Values are bound one after the other, or at positions, which count from 1;
// columns count from 0. Valid until the connection's next statement() of the same text.
class Statement {
  public:
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;
    // Resets the statement for its next use.
    ~Statement();

    Statement& bind(std::string_view text);
    Statement& bind(std::int64_t number);
    Statement& bind(int number) { return bind(std::int64_t{number}); }
    Statement& bind(double number);
    Statement& bind_blob(std::string_view bytes);
    // Sets the position of the next value. False: the statement has no such position.
    bool go_to(int position);

    // Moves to the first row, or to the next one. False: there are no more rows, or an error occurred (see
    // ok()).
    bool next();
    // Returns whether there has been no error so far. If there was one, the connection has its text.
    bool ok() const;

    // The value of a column of this row. Texts and blobs are valid until next().
    std::string_view text(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;

  private:
    friend class Connection;
    explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
    template <typename Bind>
    Statement& bind_by(Bind&& bind);

    sqlite3_stmt* statement_;  // null: the statement couldn't be prepared
    int at_ = 1;               // position of the next value
    int code_ = 0;             // SQLite's result of the last step, or the error before it
};

// The reason for a failure: its kind, and SQLite's text with unprintable characters replaced.
struct Failure {
    enum class About { busy, damage, full_disk, other };
    About about = About::other;
    std::string text;

    // The predicate of a sentence about the file, before the text. "is damaged" is said of damage only: a
    // file that can't be read may be whole.
    std::string_view verdict() const { return about == About::damage ? "is damaged" : "can not be read"; }
};

class Connection {
  public:
    // The purpose for which a database is opened. read: for reading only. write: for a database that another
    // part of the program keeps; this connection doesn't copy the log into the database (sqlite/guard.h).
    // alone: nobody else has the database open, so SQLite copies the log into it when the connection is
    // closed. create: as alone, and a missing database is made.
    enum class Open { read, write, alone, create };
    // Opens the file. Errors: SQLite's text, without the path.
    static Result<Connection> open(const std::string& path, Open how);
    // Prepares a connection for use by a Guard (sqlite/guard.h): SQLite makes no checkpoint by itself, not
    // even when the connection is closed.
    void leave_checkpoints();
    // Sets how long a statement waits for another connection that has locked the database; 0 at first.
    void wait_for_others(std::chrono::milliseconds time);
    // Makes statements fail once another thread sets `end`.
    void end_when(const std::atomic<bool>& end);

    // The statement of this text, prepared on first use. Errors in it are reported when it is run.
    Statement statement(std::string_view sql);
    // Runs statements without parameters. Errors: SQLite's text.
    Result<void> run(const std::string& sql);
    // Ends the transaction without its changes. Ignores errors: without a transaction there is nothing to do.
    // Takes no memory but SQLite's, so that destructors may call it.
    void roll_back() noexcept;
    // The first column of the first row. Errors: SQLite's text, or that there is no row.
    Result<std::int64_t> integer(std::string_view sql);
    // Checks the content by PRAGMA integrity_check, or by the quicker quick_check, which doesn't compare
    // indexes with tables. Errors: the first damage found, or that a page can't be read.
    tl::expected<void, Failure> check(bool quick);
    // Copies the whole database into another one, `pages` at a time. Errors: SQLite's text.
    Result<void> copy_to(Connection& other, int pages);
    // Writes the changes that the transaction has made so far to the log. nullopt: done. failure() doesn't
    // know of a failure that flush() returns.
    std::optional<Failure> flush();

    // Returns the failure for damage that SQLite reports. SQLite also speaks of damage if the system couldn't
    // read the file: the failure is then of another kind.
    Failure damage(std::string_view text) const;
    // The last failure.
    Failure failure() const;
    // The text of failure().
    std::string error() const { return failure().text; }

    bool in_transaction() const;
    std::int64_t last_row_id() const;
    // The number of rows changed since the connection was opened.
    std::int64_t changes() const;
    // Returns whether the file was moved, removed or replaced: its path names another file by this time, or
    // none.
    bool was_moved() const;

    // The handle, for calls of SQLite that only one place needs.
    sqlite3* get() const { return handle_.get(); }

  private:
    struct Close {
        void operator()(sqlite3* handle) const;
    };
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    explicit Connection(sqlite3* handle) : handle_(handle) {}

    std::unique_ptr<sqlite3, Close> handle_;
    std::map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>, std::less<>> statements_;
};

// SQLite's text about a file, which may contain anything, in printable ASCII: other bytes as \x1b, at most
// 200 characters.
std::string printable(std::string_view text);

}  // namespace pbs::sqlite
