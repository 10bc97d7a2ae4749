#include "server_plugin/host/store/store_impl.h"

#include <vector>

#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {

Result<void> Store::Impl::put_aside(int type, std::string_view name, uint64_t id, int64_t state,
                                    int64_t changed, const std::string* attributes) {
    return run("INSERT OR REPLACE INTO object_aside VALUES(?, ?, ?, ?, ?, ?)", [&](Query& query) {
        query.bind(type).bind(name).bind(static_cast<int64_t>(id)).bind(state).bind(changed);
        if (attributes != nullptr) query.bind_blob(*attributes);
    });
}

Result<void> Store::Impl::move_from_aside(int type, std::string_view name, int64_t id, int64_t state,
                                          int64_t changed, const std::optional<std::string>& attributes) {
    if (type == PBS_OBJ_RESOURCE) {
        auto done = run("DELETE FROM resource WHERE name=?", [&](Query& query) { query.bind(name); });
        if (!done || !attributes) return done;
        std::string_view rest = *attributes;
        const auto kind = take_netstring(rest);
        const auto flags = take_netstring(rest);
        return run("INSERT INTO resource(name, type, flags) VALUES(?, ?, ?)",
                   [&](Query& query) { query.bind(name).bind(kind.value_or("")).bind(flags.value_or("")); });
    }
    if (!attributes) return remove_object(type, name);
    // If the object was deleted and made again, the old row has the same name but another id: remove it.
    auto done = run("DELETE FROM object WHERE type=? AND name=? AND id<>?",
                    [&](Query& query) { query.bind(type).bind(name).bind(id); });
    Attributes values;
    const AttributeTable* table = attribute_table(type);
    SharedTexts texts;
    if (table == nullptr || !read_netstrings(*attributes, rows_of(*table), texts, values))
        return fail(PBSE_SYSTEM, fmt::format("{}: the attributes of {} are damaged", path, name));
    if (done) done = save_object(type, static_cast<uint64_t>(id), name, state, changed, values);
    return done;
}

Result<bool> Store::Impl::catch_up(int64_t most) {
    struct Row {
        int type;
        std::string name;
        int64_t id, state, changed;
        std::optional<std::string> attributes;
    };
    std::vector<Row> rows;
    {
        Query query = db.statement(
            "SELECT type, name, id, state, changed, attributes, attributes IS NULL "
            "FROM object_aside ORDER BY type, name LIMIT ?");
        query.bind(most);
        while (query.next())
            rows.push_back(
                {static_cast<int>(query.integer(0)), std::string(query.text(1)), query.integer(2),
                 query.integer(3), query.integer(4),
                 query.integer(6) != 0 ? std::nullopt : std::optional<std::string>(query.text(5))});
        if (!query.ok()) return failed("can not read objects");
    }
    Result<void> done;
    for (const Row& row : rows) {
        if (done) done = move_from_aside(row.type, row.name, row.id, row.state, row.changed, row.attributes);
        if (done)
            done = run("DELETE FROM object_aside WHERE type=? AND name=?",
                       [&](Query& query) { query.bind(row.type).bind(row.name); });
    }
    const bool more = static_cast<int64_t>(rows.size()) == most;
    if (done && !more) done = execute("DELETE FROM counter WHERE name='aside_holds'");
    if (!done) return tl::unexpected(done.error());
    behind = more;
    return more;
}

Result<void> Store::clear_aside() {
    if (auto done = impl_->be_up_to_date(); !done) return done;
    return impl_->execute("DELETE FROM object_aside");
}

Result<void> Store::put_aside(const ConfigName& object, const State& state) {
    switch (object.type) {
        case PBS_OBJ_SERVER: {
            const std::string values = netstrings_of(state.server);
            return impl_->put_aside(object.type, "", 1, 0, 0, &values);
        }
        case PBS_OBJ_QUEUE:
            if (const Queue* queue = state.queue(object.name)) {
                const std::string values = netstrings_of(queue->attributes);
                return impl_->put_aside(object.type, object.name, queue->handle, 0, 0, &values);
            }
            break;
        case PBS_OBJ_NODE:
            if (const Node* node = state.node(object.name)) {
                const std::string values = netstrings_of(node->attributes);
                return impl_->put_aside(object.type, object.name, node->handle, node->state & node_offline,
                                        node->last_state_change, &values);
            }
            break;
        case PBS_OBJ_SCHED:
            if (const Sched* sched = state.sched(object.name)) {
                const std::string values = netstrings_of(sched->attributes);
                return impl_->put_aside(object.type, object.name, sched->handle, 0, 0, &values);
            }
            break;
        default:
            if (const Resource* resource = state.resources.find(object.name);
                resource != nullptr && !resource->built_in) {
                std::string values;
                put_netstring(values, resource->type_text());
                put_netstring(values, resource->flag_text());
                return impl_->put_aside(object.type, resource->name, 0, 0, 0, &values);
            }
            break;
    }
    return impl_->put_aside(object.type, object.name, 0, 0, 0, nullptr);
}

Result<void> Store::let_aside_hold() {
    impl_->holding = true;
    return impl_->run("INSERT OR REPLACE INTO counter(name, value) VALUES('aside_holds', 1)", [](Query&) {});
}

Result<bool> Store::catch_up(int64_t most) {
    bool is_behind = false;
    const auto done = in_transaction([&]() -> Result<void> {
        const auto more = impl_->catch_up(most);
        if (!more) return tl::unexpected(more.error());
        is_behind = *more;
        return {};
    });
    if (!done) return tl::unexpected(done.error());
    return is_behind;
}

bool Store::behind() const {
    return impl_->behind;
}

}  // namespace pbs::host
