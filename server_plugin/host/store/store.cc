#include "server_plugin/host/store/store.h"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/store/schema.h"
#include "server_plugin/host/store/store_impl.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "sqlite/wal.h"

namespace pbs::host {
namespace {

// Makes the file of the database, readable by its owner only, because scripts and environments are private.
// SQLite, which opens the file afterwards, gives the files beside it the same mode.
void make_private(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
}

}  // namespace

Result<void> Store::Impl::read_attribute_numbers() {
    Query query = db.statement("SELECT id, name FROM attribute_name");
    while (query.next()) {
        if (query.integer(0) < 1 || query.integer(0) > static_cast<int64_t>(AttributeNumbers::kLargest))
            return fail(PBSE_SYSTEM, fmt::format("{}: the names of attributes are damaged", path));
        numbers.add(job_table().find(query.text(1)), static_cast<size_t>(query.integer(0)));
    }
    return query.ok() ? Result<void>() : failed("can not read the names of attributes");
}

// Gives numbers to the job attributes that have none in this database yet.
Result<void> Store::Impl::number_attributes() {
    const auto rows = job_table().rows();
    if (std::ranges::all_of(rows, [this](const AttributeDef& row) { return numbers.has(row); })) return {};
    auto done = execute("BEGIN IMMEDIATE");
    for (const AttributeDef& row : rows) {
        if (!done || numbers.has(row)) continue;
        const size_t number = numbers.largest() + 1;
        done = run("INSERT INTO attribute_name(id, name) VALUES(?, ?)",
                   [&](Query& query) { query.bind(static_cast<int64_t>(number)).bind(row.name); });
        numbers.add(&row, number);
    }
    if (done) done = execute("COMMIT");
    if (!done) db.roll_back();
    return done;
}

Result<void> Store::Impl::begin_writing() {
    if (writing) return {};
    if (check)
        if (auto whole = check(); !whole) return whole;
    const bool is_read = numbers.largest() > 0;
    for (const char* pragma :
         {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON"})
        if (auto done = execute(pragma); !done) return done;
    if (auto done = upgrade(db, path, server_schema()); !done) return done;
    if (!is_read)
        if (auto done = read_attribute_numbers(); !done) return done;
    if (auto done = number_attributes(); !done) return done;
    if (path != ":memory:") {
        auto begun = sqlite::Guard::begin(db, path);
        if (!begun) return fail(PBSE_SYSTEM, fmt::format("{}: {}", path, begun.error()));
        guard = std::move(*begun);
    }
    writing = true;
    return {};
}

Result<std::unique_ptr<Store>> Store::open(const std::string& path, Check check) {
    if (path != ":memory:") make_private(path);
    auto connection = sqlite::Connection::open(path, sqlite::Connection::Open::create);
    if (!connection) return fail(PBSE_SYSTEM, fmt::format("{}: can not open: {}", path, connection.error()));
    connection->wait_for_others(std::chrono::seconds(5));
    connection->leave_checkpoints();
    auto impl = std::make_unique<Impl>(path, std::move(*connection));
    impl->check = std::move(check);
    // The tables of an older server have to be upgraded here. An upgrade writes, so the check has to come
    // first. If the tables are up to date, the check and the first write may both come later.
    const bool may_wait = impl->check && impl->db.integer("PRAGMA user_version") == newest_version();
    if (auto done = may_wait ? impl->read_attribute_numbers() : impl->begin_writing(); !done)
        return tl::unexpected(done.error());
    return std::unique_ptr<Store>(new Store(std::move(impl)));
}

int64_t Store::newest_version() {
    return static_cast<int64_t>(server_schema().size());
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;

Result<bool> Store::empty() const {
    Query query = impl_->db.statement("SELECT 1 FROM object WHERE type=0");
    const bool found = query.next();
    if (!query.ok()) return impl_->failed("can not read objects");
    return !found;
}

Result<std::string> Store::keep_server_name(std::string_view name) {
    {
        Query query = impl_->db.statement("SELECT name FROM server_name");
        if (query.next()) return std::string(query.text(0));
        if (!query.ok()) {
            const auto error = impl_->failed("can not read the server's name");
            // The check describes damage better than SQLite does, and says how to go on.
            if (impl_->check)
                if (auto whole = impl_->check(); !whole) return tl::unexpected(whole.error());
            return error;
        }
    }
    const auto done = in_transaction([&] {
        return impl_->run("INSERT INTO server_name(one, name) VALUES(1, ?)",
                          [&](Query& query) { query.bind(name); });
    });
    if (!done) return tl::unexpected(done.error());
    return std::string(name);
}

Result<void> Store::begin(Durable durable) {
    using Guard = sqlite::Guard;
    impl_->was_behind = impl_->behind;  // first, because rollback() follows a failure
    if (auto done = impl_->begin_writing(); !done) return done;
    if (impl_->guard)
        if (const auto ready = impl_->guard->before_transaction(
                durable == Durable::now ? Guard::Durable::now : Guard::Durable::later);
            !ready)
            return fail(PBSE_SYSTEM, ready.error());
    return impl_->execute("BEGIN IMMEDIATE");
}
Result<void> Store::commit() {
    if (!impl_->guard) {
        if (auto done = impl_->execute("COMMIT"); !done) return done;
    } else if (!impl_->guard->commit()) {
        return impl_->failed("can not execute");
    }
    if (std::exchange(impl_->holding, false)) impl_->behind = true;
    return {};
}
void Store::rollback() {
    impl_->holding = false;
    impl_->behind = impl_->was_behind;
    impl_->comment_ids.clear();
    impl_->db.roll_back();
    if (impl_->guard) impl_->guard->rolled_back();
}

Result<void> Store::sync() const {
    if (impl_->path == ":memory:") return {};
    if (auto done = sqlite::sync_wal(impl_->path); !done) return fail(PBSE_SYSTEM, done.error());
    return {};
}

Result<void> Store::set_savepoint() {
    return impl_->run("SAVEPOINT part", [](Query&) {});
}
Result<void> Store::go_to_savepoint() {
    if (!impl_->db.in_transaction()) return impl_->failed("the transaction was rolled back");
    impl_->comment_ids.clear();
    auto done = impl_->run("ROLLBACK TO part", [](Query&) {});
    return done ? release_savepoint() : done;
}
Result<void> Store::release_savepoint() {
    if (!impl_->db.in_transaction()) return impl_->failed("the transaction was rolled back");
    return impl_->run("RELEASE part", [](Query&) {});
}

// Saves an object. `before`: the attributes as they are stored; then only the differences are written. If it
// is null, all attributes are written.
Result<void> Store::Impl::save_object(int type, uint64_t id, std::string_view name, int64_t state,
                                      int64_t changed, const Attributes& attributes,
                                      const Attributes* before) {
    auto done =
        run("INSERT INTO object(id, type, name, state, changed) VALUES(?1, ?2, ?3, ?4, ?5) "
            "ON CONFLICT(type, name) DO UPDATE SET state=?4, changed=?5",
            [&](Query& query) {
                query.bind(static_cast<int64_t>(id)).bind(type).bind(name).bind(state).bind(changed);
            });
    if (!done) return done;
    if (before == nullptr) {
        done =
            run("DELETE FROM object_attribute WHERE object=(SELECT id FROM object WHERE type=? AND name=?)",
                [&](Query& query) { query.bind(type).bind(name); });
    } else {
        for (const AttributeValue& value : before->values())
            if (done && !attributes.has(value.def()->name, value.resource()))
                done =
                    run("DELETE FROM object_attribute WHERE name=?3 AND resource=?4 AND "
                        "object=(SELECT id FROM object WHERE type=?1 AND name=?2)",
                        [&](Query& query) {
                            query.bind(type).bind(name).bind(value.def()->name).bind(value.resource());
                        });
    }
    for (const AttributeValue& value : attributes.values()) {
        if (!done) return done;
        const AttributeValue* stored =
            before == nullptr ? nullptr : before->find(value.def()->name, value.resource());
        if (stored != nullptr && stored->value() == value.value()) continue;
        done =
            run("INSERT OR REPLACE INTO object_attribute(object, name, resource, value) "
                "SELECT id, ?3, ?4, ?5 FROM object WHERE type=?1 AND name=?2",
                [&](Query& query) {
                    query.bind(type)
                        .bind(name)
                        .bind(value.def()->name)
                        .bind(value.resource())
                        .bind(value.value());
                });
    }
    return done;
}

Result<void> Store::Impl::remove_object(int type, std::string_view name) {
    return run("DELETE FROM object WHERE type=? AND name=?",
               [&](Query& query) { query.bind(type).bind(name); });
}

Result<void> Store::save_server(const Attributes& attributes) {
    if (auto done = impl_->be_up_to_date(); !done) return done;
    return impl_->save_object(PBS_OBJ_SERVER, 1, "", 0, 0, attributes);
}
Result<void> Store::save(const Queue& queue, const Queue* before) {
    if (auto done = impl_->be_up_to_date(); !done) return done;
    return impl_->save_object(PBS_OBJ_QUEUE, queue.handle, queue.name, 0, 0, queue.attributes,
                              before == nullptr ? nullptr : &before->attributes);
}
Result<void> Store::save(const Node& node, const Node* before) {
    if (auto done = impl_->be_up_to_date(); !done) return done;
    return impl_->save_object(PBS_OBJ_NODE, node.handle, node.name, node.state & node_offline,
                              node.last_state_change, node.attributes,
                              before == nullptr ? nullptr : &before->attributes);
}
Result<void> Store::save(const Sched& sched) {
    if (auto done = impl_->be_up_to_date(); !done) return done;
    return impl_->save_object(PBS_OBJ_SCHED, sched.handle, sched.name, 0, 0, sched.attributes);
}
Result<void> Store::save(const Reservation& reservation) {
    if (auto done = impl_->be_up_to_date(); !done) return done;
    return impl_->save_object(PBS_OBJ_RESV, reservation.handle, reservation.id, 0, 0, reservation.attributes);
}
Result<void> Store::remove(int type, std::string_view name) {
    if (auto done = impl_->be_up_to_date(); !done) return done;
    return impl_->remove_object(type, name);
}

Result<void> Store::save(const Resource& resource) {
    if (auto done = impl_->be_up_to_date(); !done) return done;
    const std::string flags = resource.flag_text();
    return impl_->run(
        "INSERT OR REPLACE INTO resource(name, type, flags) VALUES(?, ?, ?)",
        [&](Query& query) { query.bind(resource.name).bind(resource.type_text()).bind(flags); });
}
Result<void> Store::remove_resource(std::string_view name) {
    if (auto done = impl_->be_up_to_date(); !done) return done;
    return impl_->run("DELETE FROM resource WHERE name=?", [&](Query& query) { query.bind(name); });
}

// Saves a job. The comment of a queued or held job goes to a table in which jobs share comments, because many
// wait for the same reason. Any other job's comment is saved with its attributes.
Result<void> Store::save(const Job& job, bool is_new) {
    const bool waits = job.state == job_state::kQueued || job.state == job_state::kHeld;
    const AttributeValue* comment = waits ? job.attributes.find("comment") : nullptr;
    const std::string attributes =
        impl_->numbers.write(job.attributes, comment == nullptr ? nullptr : comment->def());
    const char state = job.state;
    // Update the row in place, because replacing it would remove the job's script, too.
    auto done = impl_->run(
        "INSERT INTO job VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17) ON "
        "CONFLICT(sequence) DO "
        "UPDATE SET state=?2, substate=?3, queue=?4, queue_rank=?5, ctime=?6, qtime=?7, etime=?8, stime=?9, "
        "mtime=?10, "
        "obittime=?11, exec_vnode=?12, exec_host=?13, at_end=?14, deleted=?15, defaulted=?16, attributes=?17",
        [&](Query& query) {
            query.bind(static_cast<int64_t>(job.sequence))
                .bind(std::string_view(&state, 1))
                .bind(job.substate);
            query.bind(job.queue_name.text())
                .bind(job.queue_rank)
                .bind(job.ctime)
                .bind(job.qtime)
                .bind(job.etime);
            query.bind(job.stime).bind(job.mtime).bind(job.obittime);
            query.bind(job.exec_vnode.text()).bind(job.exec_host.text());
            query.bind(static_cast<int64_t>(job.at_end)).bind(int64_t{job.deleted});
            query.bind(job.defaulted.text()).bind_blob(attributes);
        });
    if (!done || (is_new && comment == nullptr)) return done;
    return save_comment(job.sequence, comment == nullptr ? "" : comment->value(), job.mtime);
}

Result<void> Store::save_comment(uint64_t sequence, std::string_view comment, int64_t mtime) {
    const auto job = static_cast<int64_t>(sequence);
    if (comment.empty())
        return impl_->run("DELETE FROM job_comment WHERE job=?", [&](Query& query) { query.bind(job); });
    const auto id = impl_->comment_id(comment);
    if (!id) return tl::unexpected(id.error());
    return impl_->run(
        "INSERT INTO job_comment VALUES(?1, ?2, ?3) ON CONFLICT(job) DO UPDATE SET comment=?2, mtime=?3",
        [&](Query& query) { query.bind(job).bind(*id).bind(mtime); });
}

Result<int64_t> Store::Impl::comment_id(std::string_view text) {
    constexpr size_t kMostRemembered = 10'000;
    std::string key(text);
    if (const auto known = comment_ids.find(key); known != comment_ids.end()) return known->second;
    if (comment_ids.size() >= kMostRemembered) comment_ids.clear();
    std::optional<int64_t> id;
    {
        Query query = db.statement("SELECT id FROM comment WHERE text=?");
        query.bind(text);
        if (query.next()) id = query.integer(0);
        if (!query.ok()) return failed("can not read comments");
    }
    if (!id) {
        if (auto done = forget_unused_comments(); !done) return tl::unexpected(done.error());
        auto done = run("INSERT INTO comment(text) VALUES(?)", [&](Query& query) { query.bind(text); });
        if (!done) return tl::unexpected(done.error());
        id = db.last_row_id();
    }
    comment_ids.emplace(std::move(key), *id);
    return *id;
}

// Checks the next few comments after those that were checked last, and removes those that no job has. This is
// called before a new comment is stored, and checks more comments than are added, so unused ones don't pile
// up.
Result<void> Store::Impl::forget_unused_comments() {
    constexpr size_t kLookedAt = 4;
    std::vector<int64_t> ids;
    {
        Query query = db.statement("SELECT id FROM comment WHERE id > ? ORDER BY id LIMIT ?");
        query.bind(comments_looked_at).bind(static_cast<int64_t>(kLookedAt));
        while (query.next()) ids.push_back(query.integer(0));
        if (!query.ok()) return failed("can not read comments");
    }
    comments_looked_at = ids.size() < kLookedAt ? 0 : ids.back();
    for (const int64_t id : ids) {
        {
            Query used = db.statement("SELECT 1 FROM job_comment WHERE comment=? LIMIT 1");
            if (used.bind(id).next()) continue;
            if (!used.ok()) return failed("can not read comments");
        }
        std::erase_if(comment_ids, [&](const auto& known) { return known.second == id; });
        if (auto done = run("DELETE FROM comment WHERE id=?", [&](Query& query) { query.bind(id); }); !done)
            return done;
    }
    return {};
}

Result<void> Store::save_script(const Job& job, std::string_view script) {
    return impl_->run("INSERT OR REPLACE INTO job_script(sequence, script) VALUES(?, ?)", [&](Query& query) {
        query.bind(static_cast<int64_t>(job.sequence)).bind_blob(script);
    });
}

Result<void> Store::remove_job(uint64_t sequence) {
    return impl_->run("DELETE FROM job WHERE sequence=?",
                      [&](Query& query) { query.bind(static_cast<int64_t>(sequence)); });
}

Result<void> Store::save_received(std::string_view id, int64_t hops, int64_t at) {
    return impl_->run("INSERT OR REPLACE INTO received(id, hops, at) VALUES(?, ?, ?)",
                      [&](Query& query) { query.bind(id).bind(hops).bind(at); });
}

Result<std::optional<int64_t>> Store::received(std::string_view id) {
    Query query = impl_->db.statement("SELECT hops FROM received WHERE id=?");
    query.bind(id);
    const auto hops = query.next() ? std::optional(query.integer(0)) : std::nullopt;
    if (!query.ok()) return impl_->failed("can not read received jobs");
    return hops;
}

Result<void> Store::forget_received(int64_t before) {
    return in_transaction(
        [&] {
            return impl_->run("DELETE FROM received WHERE at<?", [&](Query& query) { query.bind(before); });
        },
        Durable::later);
}

Result<void> Store::save(const Link& link) {
    return impl_->run("INSERT INTO depend(id, job, kind, other) VALUES(?, ?, ?, ?)", [&](Query& query) {
        query.bind(static_cast<int64_t>(link.id)).bind(static_cast<int64_t>(link.job));
        query.bind(static_cast<int64_t>(link.kind)).bind(static_cast<int64_t>(link.other));
    });
}

Result<void> Store::remove(const Link& link) {
    return impl_->run("DELETE FROM depend WHERE id=?",
                      [&](Query& query) { query.bind(static_cast<int64_t>(link.id)); });
}

Result<void> Store::save_next_sequence(int64_t next) {
    if (impl_->guard) impl_->guard->reached(next);
    return impl_->run("INSERT OR REPLACE INTO counter(name, value) VALUES('next_sequence', ?)",
                      [&](Query& query) { query.bind(next); });
}

Result<std::string> Store::script(uint64_t sequence) {
    Query query = impl_->db.statement("SELECT script FROM job_script WHERE sequence=?");
    query.bind(static_cast<int64_t>(sequence));
    if (!query.next()) return impl_->failed(fmt::format("no script of job {}", sequence));
    return std::string(query.text(0));
}

}  // namespace pbs::host
