#include "server_plugin/host/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/guard.h"
#include "server_plugin/host/log.h"
#include "server_plugin/host/plugin.h"
#include "server_plugin/host/reconcile.h"
#include "server_plugin/host/store.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

template <typename Map>
auto* lookup(const Map& map, const std::string& name) {
    const auto at = map.find(name);
    return at == map.end() ? nullptr : &at->second;
}

bool has_live_jobs(const State& state, uint64_t queue) {
    return std::ranges::any_of(state.queue_jobs(queue),
                               [&](uint64_t job) { return !state.job(job)->history(); });
}

bool is_used_by_jobs(const State& state, const std::string& resource) {
    return std::ranges::any_of(state.jobs(), [&](const auto& job) {
        return std::ranges::any_of(job.second.attributes.values(), [&](const AttributeValue& value) {
            return same_name(value.resource, resource);
        });
    });
}

}  // namespace

Batch::Batch(Server& server) : server_(server), tables_(server.state.tables()) {
    server_.open_batch = this;
}

Batch::~Batch() {
    server_.open_batch = nullptr;
    if (committed_) return;
    for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo)
        guarded(server_.parts.log, "taking back a change", *undo);
    if (!diverged_ || server_.parts.plugin == nullptr) return;
    if (auto done = reconcile_history(server_); !done)
        server_.parts.log.error("history",
                                fmt::format("it has a change that the server has not; to be put right "
                                            "at the next start: {}",
                                            done.error().message));
}

void Batch::run(const std::function<void()>& work) {
    struct Exchange {
        Batch& batch;
        explicit Exchange(Batch& given) : batch(given) {
            batch.server_.state.exchange(batch.tables_);
            batch.server_.batch = &batch;
        }
        ~Exchange() {
            batch.server_.batch = nullptr;
            batch.server_.state.exchange(batch.tables_);
        }
        Exchange(const Exchange&) = delete;
        Exchange& operator=(const Exchange&) = delete;
    } const exchange(*this);
    work();
}

std::vector<ConfigName> Batch::some() {
    if (!std::exchange(begun_, true)) next_ = touched_.begin();
    std::vector<ConfigName> objects;
    for (; next_ != touched_.end() && std::ssize(objects) < at_once; ++next_) objects.push_back(*next_);
    return objects;
}

void Batch::compare(const ConfigName& object) {
    const std::string& home = server_.options.home;
    auto before = config_values(server_.state, home, object);
    std::optional<ConfigValues> after;
    run([&] { after = config_values(server_.state, home, object); });
    if (before != after) changes_.push_back({object, std::move(before), std::move(after)});
}

bool Batch::compare_some() {
    for (const ConfigName& object : some()) compare(object);
    return next_ != touched_.end();
}

Result<bool> Batch::write_some() {
    if (touched_.empty()) return false;
    Store& store = server_.parts.store;
    const bool first = !begun_;
    const std::vector<ConfigName> objects = some();
    auto done = store.begin();
    if (!done) return tl::unexpected(done.error());
    if (first) done = store.clear_aside();
    for (const ConfigName& object : objects) {
        if (!done) break;
        compare(object);
        run([&] { done = store.put_aside(object, server_.state); });
    }
    if (done) done = store.commit();
    if (done) return next_ != touched_.end();
    store.rollback();
    return tl::unexpected(done.error());
}

Result<void> Batch::write() {
    for (;;) {
        const auto more = write_some();
        if (!more) return tl::unexpected(more.error());
        if (!*more) return {};
    }
}

Result<void> Batch::check() const {
    const State& state = server_.state;
    const auto busy = [](const ConfigName& object, std::string_view what) {
        return fail(PBSE_OBJBUSY,
                    fmt::format("{}: {} has come meanwhile, nothing has changed", title(object), what));
    };
    for (const ConfigName& object : touched_) {
        if (object.type == PBS_OBJ_QUEUE) {
            const Queue* was = state.queue(object.name);
            if (was != nullptr && !tables_.queue_names.contains(was->handle) &&
                has_live_jobs(state, was->handle))
                return busy(object, "a job");
        } else if (object.type == PBS_OBJ_NODE) {
            const Node* was = state.node(object.name);
            if (was == nullptr || state.node_usage(was->handle).jobs.empty()) continue;
            const Node* is = lookup(tables_.nodes, object.name);
            if (is == nullptr || is->handle != was->handle ||
                is->attributes.text("partition") != was->attributes.text("partition"))
                return busy(object, "a running job");
        } else if (object.type == PBS_OBJ_RESOURCE) {
            const Resource* was = state.resources.find(object.name);
            if (was != nullptr && is_used_by_jobs(state, was->name))
                return busy(object, "a job that asks for it");
        }
    }
    return {};
}

// Tells the plugin of what is now, and was other in `before`: what is gone first, so that a name can come
// again, then what is named before what names it.
void Batch::tell(const State::Tables& before) {
    Plugin* plugin = server_.parts.plugin;
    if (plugin == nullptr) return;
    const State& state = server_.state;
    for (const ConfigName& object : touched_) {
        if (object.type == PBS_OBJ_QUEUE) {
            const Queue* was = lookup(before.queues, object.name);
            if (was != nullptr && state.queue(was->handle) == nullptr) plugin->queue_removed(was->handle);
        } else if (object.type == PBS_OBJ_NODE) {
            const Node* was = lookup(before.nodes, object.name);
            if (was != nullptr && state.node(was->handle) == nullptr) plugin->node_removed(was->handle);
        } else if (object.type == PBS_OBJ_SCHED) {
            if (before.scheds.contains(object.name) && state.sched(object.name) == nullptr)
                plugin->sched_removed(object.name);
        }
    }
    constexpr std::array types = {PBS_OBJ_RESOURCE, PBS_OBJ_SERVER, PBS_OBJ_QUEUE, PBS_OBJ_SCHED,
                                  PBS_OBJ_NODE};
    for (const int type : types)
        for (auto at = touched_.lower_bound({type, {}}); at != touched_.end() && at->type == type; ++at) {
            if (type == PBS_OBJ_SERVER) plugin->server_changed(state);
            if (type == PBS_OBJ_RESOURCE)
                if (const Resource* is = state.resources.find(at->name)) plugin->resource_defined(*is);
            if (type == PBS_OBJ_QUEUE)
                if (const Queue* is = state.queue(at->name)) plugin->queue_changed(*is, state);
            if (type == PBS_OBJ_SCHED)
                if (const Sched* is = state.sched(at->name)) plugin->sched_changed(*is, state);
            if (type == PBS_OBJ_NODE)
                if (const Node* is = state.node(at->name)) plugin->node_changed(*is, state);
        }
    for (const ConfigName& object : touched_)
        if (object.type == PBS_OBJ_RESOURCE && before.resources.find(object.name) != nullptr &&
            state.resources.find(object.name) == nullptr)
            plugin->resource_removed(object.name);
}

// The plugin's part may have been done though its answer never came.
Result<void> Batch::ask(const std::function<Result<void>()>& plugins_part) {
    try {
        return plugins_part();
    } catch (const std::exception& error) {
        diverged_ = true;
        return fail(PBSE_SYSTEM, error.what());
    }
}

void Batch::exchange_and_tell() {
    server_.state.install(tables_);
    tell(tables_);
}

Result<void> Batch::try_out(const std::function<Result<void>()>& plugins_part) {
    exchange_and_tell();
    auto done = ask(plugins_part);
    exchange_and_tell();
    // The plugin may have let go of what it knew of a scheduler.
    server_.want_cycle(PBS_SCH_CONFIGURE);
    return done;
}

Result<void> Batch::commit(const std::function<Result<void>()>& plugins_part, Told told) {
    Store& store = server_.parts.store;
    State& state = server_.state;
    if (told == Told::before) exchange_and_tell();
    // The plugin commits within the server's transaction: whoever copies both databases has it of both or of
    // none.
    const bool writes = !touched_.empty();
    Result<void> done;
    if (writes) done = store.begin();
    if (done && writes) done = store.let_aside_hold();
    if (done) done = ask(plugins_part);
    if (done && writes) {
        done = store.commit();
        diverged_ = !done.has_value();
    }
    if (!done) {
        if (writes) store.rollback();
        if (told == Told::before) exchange_and_tell();
        return done;
    }
    committed_ = true;
    if (told == Told::after) exchange_and_tell();
    for (const ConfigName& object : touched_) {
        const Queue* queue = object.type == PBS_OBJ_QUEUE ? lookup(tables_.queues, object.name) : nullptr;
        const Node* node = object.type == PBS_OBJ_NODE ? lookup(tables_.nodes, object.name) : nullptr;
        if (queue != nullptr && state.queue(queue->handle) == nullptr) state.forget_queue(queue->handle);
        if (node != nullptr && state.node(node->handle) == nullptr) state.forget_node(node->handle);
        if (!server_.changed) continue;
        if (node != nullptr) server_.changed->nodes.insert(node->handle);
        if (const Node* is = object.type == PBS_OBJ_NODE ? state.node(object.name) : nullptr)
            server_.changed->nodes.insert(is->handle);
    }
    for (const auto& action : actions_) guarded(server_.parts.log, "after a change", action);
    return {};
}

Result<bool> Batch::settle_some() {
    if (touched_.empty()) return false;
    return server_.parts.store.catch_up(at_once);
}

}  // namespace pbs::host
