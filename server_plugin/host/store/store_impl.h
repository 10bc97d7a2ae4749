// The private class of Store, for its three source files: store.cc writes, store_load.cc reads all data at
// the server's start, and store_aside.cc stores the objects of large changes in another table first.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/store/job_rows.h"
#include "server_plugin/host/store/store.h"
#include "server_plugin/host/store/stored_attributes.h"
#include "sqlite/connection.h"
#include "sqlite/guard.h"

namespace pbs::host {

using Query = sqlite::Statement;

class Store::Impl {
  public:
    Impl(std::string path_of_file, sqlite::Connection connection)
        : path(std::move(path_of_file)), db(std::move(connection)) {}

    tl::unexpected<Error> failed(std::string_view what) const {
        return fail(PBSE_SYSTEM, fmt::format("{}: {}: {}", path, what, db.error()));
    }

    Result<void> execute(const std::string& sql) {
        if (!db.run(sql)) return failed("can not execute");
        return {};
    }

    template <typename Bind>
    Result<void> run(const char* sql, Bind&& bind) {
        Query query = db.statement(sql);
        bind(query);
        query.next();
        if (!query.ok()) return failed("can not write");
        return {};
    }

    Result<void> begin_writing();
    Result<void> read_attribute_numbers();
    Result<void> number_attributes();
    Result<void> save_object(int type, uint64_t id, std::string_view name, int64_t state, int64_t changed,
                             const Attributes& attributes, const Attributes* before = nullptr);
    Result<void> remove_object(int type, std::string_view name);
    Result<void> load_resources(State& state);
    Result<void> load_objects(State& state);
    Result<void> load_jobs(State& state);
    bool make_job(const JobRow& row, SharedTexts& texts, Job& job) const;
    Result<void> load_links(State& state);
    Result<Attributes> load_attributes(int64_t object, const AttributeTable& table);
    Result<void> put_aside(int type, std::string_view name, uint64_t id, int64_t state, int64_t changed,
                           const std::string* attributes);
    // Moves at most `most` rows that were set aside to their places. Returns false if none is left.
    Result<bool> catch_up(int64_t most);
    Result<void> move_from_aside(int type, std::string_view name, int64_t id, int64_t state, int64_t changed,
                                 const std::optional<std::string>& attributes);
    // Moves all rows that were set aside to their places. Call it before anything else is written.
    Result<void> be_up_to_date() {
        for (bool more = behind; more;) {
            auto done = catch_up(1000);
            if (!done) return tl::unexpected(done.error());
            more = *done;
        }
        return {};
    }

    Result<int64_t> comment_id(std::string_view text);
    Result<void> forget_unused_comments();

    // The ids of recent comments, by their texts. Comments of a transaction that was rolled back aren't
    // included.
    std::unordered_map<std::string, int64_t> comment_ids;
    int64_t comments_looked_at = 0;  // forget_unused_comments() has checked the comments up to this id

    AttributeNumbers numbers;

    bool behind = false;      // rows that count are still set aside; be_up_to_date() moves them
    bool was_behind = false;  // `behind` when the transaction began
    bool holding = false;     // the rows that are set aside count after this transaction's commit
    std::string path;
    sqlite::Connection db;
    Check check;                           // called before anything is written
    bool writing = false;                  // begin_writing() has succeeded
    std::unique_ptr<sqlite::Guard> guard;  // none for ":memory:"
};

}  // namespace pbs::host
