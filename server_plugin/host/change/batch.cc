#include "server_plugin/host/change/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/change/reconcile.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/store/store.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/find.h"

namespace pbs::host {
namespace {

bool has_live_jobs(const State& state, uint64_t queue) {
    return std::ranges::any_of(state.queue_jobs(queue),
                               [&](uint64_t job) { return !state.job(job)->history(); });
}

bool is_used_by_jobs(const State& state, const std::string& resource) {
    return std::ranges::any_of(state.jobs(), [&](const auto& job) {
        return std::ranges::any_of(job.second.attributes.values(), [&](const AttributeValue& value) {
            return same_name(value.resource(), resource);
        });
    });
}

}  // namespace

Batch::Batch(Server& server) : server_(server), tables_(server.state.tables()) {
    server_.open_batch = this;
}

Batch::~Batch() {
    server_.open_batch = nullptr;
    tell_rest();
    if (committed_) return;
    for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo)
        guarded(server_.parts.log, "taking back a change", *undo);
    if (diverged_) reconcile_after_failure(server_);
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
    for (; next_ != touched_.end() && std::ssize(objects) < kAtOnce; ++next_) objects.push_back(*next_);
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
    const auto done = store.in_transaction([&] {
        Result<void> written;
        if (first) written = store.clear_aside();
        for (const ConfigName& object : objects) {
            if (!written) break;
            compare(object);
            run([&] { written = store.put_aside(object, server_.state); });
        }
        return written;
    });
    if (!done) return tl::unexpected(done.error());
    return next_ != touched_.end();
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
            const Node* is = values::find_in(tables_.nodes, object.name);
            if (is == nullptr || is->handle != was->handle ||
                is->attributes.text("partition") != was->attributes.text("partition"))
                return busy(object, "a running job");
        } else if (object.type == PBS_OBJ_RESOURCE) {
            const Resource* was = state.resources.find(object.name);
            const Resource* is = tables_.resources.find(object.name);
            const bool same = was != nullptr && is != nullptr && same_definition(*was, *is);
            if (was != nullptr && !same && is_used_by_jobs(state, was->name))
                return busy(object, "a job that asks for it");
        }
    }
    return {};
}

// Lists the reports to the plugin about the touched objects. Call it after the batch's tables and the state's
// were exchanged: tables_ then has the old objects, and the state has the new ones.
void Batch::begin_telling() {
    to_tell_.clear();
    told_ = 0;
    if (server_.parts.plugin == nullptr) return;
    for (const ConfigName& object : touched_) to_tell_.emplace_back(Tell::gone, &object);
    constexpr std::array kTypes = {PBS_OBJ_RESOURCE, PBS_OBJ_SERVER, PBS_OBJ_QUEUE, PBS_OBJ_SCHED,
                                   PBS_OBJ_NODE};
    for (const int type : kTypes)
        for (auto at = touched_.lower_bound({type, {}}); at != touched_.end() && at->type == type; ++at)
            to_tell_.emplace_back(Tell::is, &*at);
    for (const ConfigName& object : touched_) to_tell_.emplace_back(Tell::gone_resource, &object);
}

// Reports some objects to the plugin. Returns false when all are reported.
bool Batch::tell_some() {
    const size_t end = std::min(to_tell_.size(), told_ + kToldAtOnce);
    for (; told_ < end; ++told_) tell_one(to_tell_[told_].first, *to_tell_[told_].second);
    return told_ < to_tell_.size();
}

void Batch::tell_one(Tell what, const ConfigName& object) const {
    switch (what) {
        case Tell::gone:
            return tell_gone(object);
        case Tell::is:
            return tell_what_is(object);
        case Tell::gone_resource:
            if (object.type == PBS_OBJ_RESOURCE && tables_.resources.find(object.name) != nullptr &&
                server_.state.resources.find(object.name) == nullptr)
                server_.parts.plugin->resource_removed(object.name);
            return;
    }
}

void Batch::tell_gone(const ConfigName& object) const {
    Plugin& plugin = *server_.parts.plugin;
    const State& state = server_.state;
    if (object.type == PBS_OBJ_QUEUE) {
        const Queue* was = values::find_in(tables_.queues, object.name);
        if (was != nullptr && state.queue(was->handle) == nullptr) plugin.queue_removed(was->handle);
    } else if (object.type == PBS_OBJ_NODE) {
        const Node* was = values::find_in(tables_.nodes, object.name);
        if (was != nullptr && state.node(was->handle) == nullptr) plugin.vnode_removed(was->handle);
    } else if (object.type == PBS_OBJ_SCHED) {
        if (tables_.scheds.contains(object.name) && state.sched(object.name) == nullptr)
            plugin.sched_removed(object.name);
    }
}

void Batch::tell_what_is(const ConfigName& object) const {
    Plugin& plugin = *server_.parts.plugin;
    const State& state = server_.state;
    if (object.type == PBS_OBJ_SERVER) plugin.server_changed(state);
    if (object.type == PBS_OBJ_RESOURCE)
        if (const Resource* is = state.resources.find(object.name)) plugin.resource_defined(*is);
    if (object.type == PBS_OBJ_QUEUE)
        if (const Queue* is = state.queue(object.name)) plugin.queue_changed(*is, state);
    if (object.type == PBS_OBJ_SCHED)
        if (const Sched* is = state.sched(object.name)) plugin.sched_changed(*is, state);
    if (object.type == PBS_OBJ_NODE)
        if (const Node* is = state.node(object.name)) plugin.node_changed(*is, state);
}

void Batch::tell_rest() {
    if (!std::exchange(is_telling_, false)) return;
    guarded(server_.parts.log, "telling of a change", [this] {
        while (tell_some()) continue;
    });
    --server_.placing;
    for (const auto& action : actions_) guarded(server_.parts.log, "after a change", action);
}

// Calls `plugins_part`. After an exception the plugin may or may not have committed its changes. So this
// function notes that the two databases may differ: the destructor then calls reconcile_history().
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
    begin_telling();
    while (tell_some()) continue;
}

Result<void> Batch::commit(const std::function<Result<void>()>& plugins_part, ToldToPlugin told) {
    Store& store = server_.parts.store;
    State& state = server_.state;
    if (told == ToldToPlugin::before) exchange_and_tell();
    // The plugin commits while the server's transaction is open, so that a backup of both databases has the
    // change in both or in neither.
    const bool writes = !touched_.empty();
    bool by_plugin = false;  // the plugin has committed its part
    const auto both_parts = [&] {
        Result<void> done;
        if (writes) done = store.let_aside_hold();
        if (done) done = ask(plugins_part);
        by_plugin = done.has_value();
        return done;
    };
    const Result<void> done = writes ? store.in_transaction(both_parts) : both_parts();
    if (!done) {
        diverged_ = diverged_ || by_plugin;
        if (told == ToldToPlugin::before) exchange_and_tell();
        return done;
    }
    committed_ = true;
    if (told == ToldToPlugin::after) state.install(tables_);
    for (const ConfigName& object : touched_) {
        const Queue* queue =
            object.type == PBS_OBJ_QUEUE ? values::find_in(tables_.queues, object.name) : nullptr;
        const Node* node =
            object.type == PBS_OBJ_NODE ? values::find_in(tables_.nodes, object.name) : nullptr;
        if (queue != nullptr && state.queue(queue->handle) == nullptr) state.forget_queue(queue->handle);
        if (node != nullptr && state.node(node->handle) == nullptr) state.forget_node(node->handle);
        if (!server_.changed) continue;
        if (node != nullptr) server_.changed->nodes.insert(node->handle);
        if (const Node* is = object.type == PBS_OBJ_NODE ? state.node(object.name) : nullptr)
            server_.changed->nodes.insert(is->handle);
    }
    if (told == ToldToPlugin::before) {
        for (const auto& action : actions_) guarded(server_.parts.log, "after a change", action);
        return {};
    }
    begin_telling();
    is_telling_ = true;
    ++server_.placing;
    return {};
}

Result<bool> Batch::settle_some() {
    if (is_telling_) {
        if (!tell_some()) tell_rest();
        return true;
    }
    if (touched_.empty()) return false;
    return server_.parts.store.catch_up(kAtOnce);
}

}  // namespace pbs::host
