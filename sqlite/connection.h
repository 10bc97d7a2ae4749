// SQLite for all who keep a database or look at one: connections that close themselves, statements that are
// prepared once, errors as values.
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
    // Makes the statement ready for its next use.
    ~Statement();

    Statement& bind(std::string_view text);
    Statement& bind(std::int64_t number);
    Statement& bind(int number) { return bind(std::int64_t{number}); }
    Statement& bind(double number);
    Statement& bind_blob(std::string_view bytes);
    // The next value goes to this position. False: the statement has no such position.
    bool go_to(int position);

    // Goes on to the first row, or to the next one. False: there are no more, or it failed (see ok()).
    bool next();
    // Has all gone well so far? If not, the connection says what was wrong.
    bool ok() const;

    // The value of a column of this row. Texts and blobs are valid until next().
    std::string_view text(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;

  private:
    friend class Connection;
    explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
    void note(int code);

    sqlite3_stmt* statement_;  // null: it couldn't be prepared
    int at_ = 1;               // where the next value goes
    int code_ = 0;             // of the last step, or of what went wrong before it
};

// Why something failed: SQLite's text, printable, and what it is about.
struct Failure {
    enum class About { busy, damage, full_disk, other };
    About about = About::other;
    std::string text;
};

class Connection {
  public:
    // write: a database that is kept by somebody, whose log this connection leaves as it is (sqlite/guard.h);
    // alone: nobody else has it open, so that SQLite puts its log into it in the end; create: the same, and
    // it is made if there is none.
    enum class Open { read, write, alone, create };
    // Opens the file. Errors: SQLite's text, without the path.
    static Result<Connection> open(const std::string& path, Open how);
    // The same for one that is to be kept by a guard: SQLite makes no checkpoint by itself, nor when it is
    // closed.
    void leave_checkpoints();
    // How long a statement waits for another connection that has the database. At first it doesn't.
    void wait_for_others(std::chrono::milliseconds time);
    // Once another thread sets this, statements end with an error.
    void end_when(const std::atomic<bool>& end);

    // The statement of this text, which is prepared when it is first asked for. What is wrong with it is said
    // when it is run.
    Statement statement(std::string_view sql);
    // Runs statements without parameters. Errors: SQLite's text.
    Result<void> run(const std::string& sql);
    // The first column of the first row. Errors: SQLite's text, or that there is no row.
    Result<std::int64_t> integer(std::string_view sql);
    // Is the content whole? PRAGMA integrity_check, or the quicker quick_check, which doesn't compare indexes
    // with tables. Errors: what they found first.
    Result<void> check(bool quick);
    // Copies all of the database into another one, `pages` at a time. Errors: SQLite's text.
    Result<void> copy_to(Connection& other, int pages);
    // Writes what a transaction has changed so far to the log. Nothing: it did. The connection doesn't keep
    // this failure.
    std::optional<Failure> flush();

    // What went wrong last, and its text alone.
    Failure failure() const;
    std::string error() const { return failure().text; }

    bool in_transaction() const;
    std::int64_t last_row_id() const;
    // Rows that were changed since it was opened.
    std::int64_t changes() const;
    // Is what was opened another file than what the path names now?
    bool was_moved() const;

    // For what only one place asks of SQLite.
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

// Text of SQLite's about a file that may hold anything: what isn't printable ASCII as \x1b, and no longer
// than 200 characters.
std::string printable(std::string_view text);

}  // namespace pbs::sqlite
