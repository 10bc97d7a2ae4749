#include "server_plugin/host/change.h"

#include <fmt/format.h>

#include <exception>

#include "ifl/pbs_error.h"
#include "server_plugin/host/guard.h"
#include "server_plugin/host/log.h"
#include "server_plugin/host/plugin.h"
#include "server_plugin/host/reconcile.h"
#include "server_plugin/host/store.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {

Job& Change::job(const Job& current) {
    return jobs_.try_emplace(current.handle, current).first->second;
}
Queue& Change::queue(const Queue& current) {
    return queues_.try_emplace(current.handle, current).first->second;
}
Node& Change::node(const Node& current) {
    return nodes_.try_emplace(current.handle, current).first->second;
}
Sched& Change::sched(const Sched& current) {
    return scheds_.try_emplace(current.name, current).first->second;
}

Attributes& Change::server_attributes() {
    if (!server_attributes_) server_attributes_ = server_.state.server;
    return *server_attributes_;
}

Job& Change::add(Job job, std::string script) {
    const uint64_t handle = job.handle;
    scripts_[handle] = std::move(script);
    return jobs_.insert_or_assign(handle, std::move(job)).first->second;
}
Queue& Change::add(Queue queue) {
    const uint64_t handle = queue.handle;
    return queues_.insert_or_assign(handle, std::move(queue)).first->second;
}
Node& Change::add(Node node) {
    const uint64_t handle = node.handle;
    return nodes_.insert_or_assign(handle, std::move(node)).first->second;
}
Sched& Change::add(Sched sched) {
    const std::string name = sched.name;
    return scheds_.insert_or_assign(name, std::move(sched)).first->second;
}

void Change::remove(const Job& job) {
    removed_jobs_[job.handle] = job.sequence;
    jobs_.erase(job.handle);
}
void Change::remove(const Queue& queue) {
    removed_queues_[queue.handle] = queue.name;
}
void Change::remove(const Node& node) {
    removed_nodes_[node.handle] = node.name;
}
void Change::remove(const Sched& sched) {
    removed_scheds_.insert(sched.name);
}

Result<void> Change::write_objects() {
    Store& store = server_.parts.store;
    Result<void> done;
    if (resource_) done = store.save(*resource_);
    if (done && next_sequence_) done = store.save_next_sequence(*next_sequence_);
    if (done && server_attributes_) done = store.save_server(*server_attributes_);
    for (auto& [handle, queue] : queues_)
        if (done) done = store.save(queue, server_.state.queue(queue.name));
    for (auto& [handle, node] : nodes_)
        if (done) done = store.save(node, server_.state.node(node.name));
    for (auto& [name, sched] : scheds_)
        if (done) done = store.save(sched);
    for (auto& [handle, job] : jobs_)
        if (done) done = store.save(job);
    for (auto& [handle, script] : scripts_)
        if (done && jobs_.contains(handle)) done = store.save_script(jobs_.at(handle), script);
    return done;
}

Result<void> Change::write_removals() {
    Store& store = server_.parts.store;
    Result<void> done;
    if (removed_resource_) done = store.remove_resource(*removed_resource_);
    for (auto& [handle, sequence] : removed_jobs_)
        if (done) done = store.remove_job(sequence);
    for (auto& [handle, name] : removed_queues_)
        if (done) done = store.remove_queue(name);
    for (auto& [handle, name] : removed_nodes_)
        if (done) done = store.remove_node(name);
    for (const std::string& name : removed_scheds_)
        if (done) done = store.remove_sched(name);
    return done;
}

Result<void> Change::write() {
    if (auto done = write_objects(); !done) return done;
    return write_removals();
}

void Change::note(ChangedSince& changed) const {
    for (const auto& [handle, node] : nodes_) changed.nodes.insert(handle);
    for (const auto& [handle, name] : removed_nodes_) changed.nodes.insert(handle);
    for (const auto& [handle, sequence] : removed_jobs_) changed.jobs.insert(handle);
    for (const auto& [handle, job] : jobs_) {
        changed.jobs.insert(handle);
        const Job* before = server_.state.job(handle);
        if (!job.running() || (before != nullptr && before->running())) continue;
        for (const Place& place : job.places) changed.nodes.insert(place.node);
    }
}

void Change::put_in_place() {
    if (server_.changed) note(*server_.changed);
    State& state = server_.state;
    if (resource_) {
        const auto& r = *resource_;
        if (state.resources.find(r.name) == nullptr) {
            (void)state.resources.add(r.name, r.type_text(), r.flag_text());
        } else {
            (void)state.resources.change(r);
        }
    }
    if (removed_resource_) (void)state.resources.remove(*removed_resource_);
    if (next_sequence_) state.next_sequence = *next_sequence_;
    if (server_attributes_) state.server = *server_attributes_;
    for (auto& [handle, queue] : queues_) state.put(queue);
    for (auto& [handle, node] : nodes_) state.put(node);
    for (auto& [name, sched] : scheds_) state.put(sched);
    for (auto& [handle, job] : jobs_) state.put(std::move(job));
    for (auto& [handle, sequence] : removed_jobs_) state.erase_job(handle);
    for (auto& [handle, name] : removed_queues_) state.erase_queue(name);
    for (auto& [handle, name] : removed_nodes_) state.erase_node(name);
    for (const std::string& name : removed_scheds_) state.erase_sched(name);
}

void Change::tell_plugin() {
    Plugin* plugin = server_.parts.plugin;
    if (plugin == nullptr) return;
    const State& state = server_.state;
    if (resource_)
        if (const Resource* resource = state.resources.find(resource_->name))
            plugin->resource_defined(*resource);
    if (removed_resource_) plugin->resource_removed(*removed_resource_);
    if (server_attributes_) plugin->server_changed(state);
    for (auto& [handle, queue] : queues_)
        if (!removed_queues_.contains(handle)) plugin->queue_changed(queue, state);
    for (auto& [handle, node] : nodes_)
        if (!removed_nodes_.contains(handle)) plugin->node_changed(node, state);
    for (auto& [name, sched] : scheds_)
        if (!removed_scheds_.contains(name)) plugin->sched_changed(sched, state);
    for (auto& [handle, moved_from] : jobs_) {
        const Job* job = state.job(handle);
        if (job == nullptr || job->history()) {
            plugin->job_removed(now_, handle);
        } else {
            plugin->job_changed(now_, *job, state);
        }
    }
    for (auto& [handle, sequence] : removed_jobs_) plugin->job_removed(now_, handle);
    for (auto& [handle, name] : removed_queues_) plugin->queue_removed(handle);
    for (auto& [handle, name] : removed_nodes_) plugin->node_removed(handle);
    for (const std::string& name : removed_scheds_) plugin->sched_removed(name);
}

std::vector<ConfigChange> Change::configuration() const {
    const State& state = server_.state;
    const std::string& home = server_.options.home;
    std::map<ConfigName, std::optional<ConfigValues>> after;
    if (server_attributes_) after[{PBS_OBJ_SERVER, {}}] = config_values(*server_attributes_);
    for (const auto& [handle, queue] : queues_) after[{PBS_OBJ_QUEUE, queue.name}] = config_values(queue);
    for (const auto& [handle, node] : nodes_) after[{PBS_OBJ_NODE, node.name}] = config_values(node);
    for (const auto& [name, sched] : scheds_) after[{PBS_OBJ_SCHED, name}] = config_values(sched, home);
    if (resource_) after[{PBS_OBJ_RESOURCE, resource_->name}] = config_values(*resource_);
    for (const auto& [handle, name] : removed_queues_) after[{PBS_OBJ_QUEUE, name}].reset();
    for (const auto& [handle, name] : removed_nodes_) after[{PBS_OBJ_NODE, name}].reset();
    for (const std::string& name : removed_scheds_) after[{PBS_OBJ_SCHED, name}].reset();
    if (removed_resource_) after[{PBS_OBJ_RESOURCE, *removed_resource_}].reset();
    std::vector<ConfigChange> changes;
    for (auto& [object, values] : after) {
        auto before = config_values(state, home, object);
        if (before != values) changes.push_back({object, std::move(before), std::move(values)});
    }
    return changes;
}

namespace {

// Queues and nodes are known by handles, of which more hangs than of their names.
void put_back(Server& server, const Queue& queue) {
    State& state = server.state;
    const bool was_gone = state.queue(queue.handle) == nullptr;
    state.put(queue);
    // Finished jobs may be all that a queue had when it went.
    if (was_gone)
        for (const uint64_t handle : std::set<uint64_t>(state.finished_jobs()))
            if (const Job* job = state.job(handle); job->queue == queue.handle) state.put(Job(*job));
    if (server.parts.plugin != nullptr) server.parts.plugin->queue_changed(queue, state);
}
void put_back(Server& server, const Node& node) {
    server.state.put(node);
    if (server.parts.plugin != nullptr) server.parts.plugin->node_changed(node, server.state);
}
void put_back(Server& server, const Sched& sched) {
    server.state.put(sched);
    if (server.parts.plugin != nullptr) server.parts.plugin->sched_changed(sched, server.state);
}
void put_back(Server& server, const Resource& resource) {
    ResourceTable& resources = server.state.resources;
    if (resources.find(resource.name) != nullptr) {
        (void)resources.change(resource);
    } else {
        (void)resources.add(resource.name, resource.type_text(), resource.flag_text());
    }
    if (server.parts.plugin != nullptr) server.parts.plugin->resource_defined(*resources.find(resource.name));
}

void take_away(Server& server, const Queue& queue) {
    server.state.erase_queue(queue.name);
    if (server.parts.plugin != nullptr) server.parts.plugin->queue_removed(queue.handle);
}
void take_away(Server& server, const Node& node) {
    server.state.erase_node(node.name);
    if (server.parts.plugin != nullptr) server.parts.plugin->node_removed(node.handle);
}
void take_away(Server& server, const Sched& sched) {
    server.state.erase_sched(sched.name);
    if (server.parts.plugin != nullptr) server.parts.plugin->sched_removed(sched.name);
}
void take_away(Server& server, const Resource& resource) {
    (void)server.state.resources.remove(resource.name);
    if (server.parts.plugin != nullptr) server.parts.plugin->resource_removed(resource.name);
}

// Undoes a change of an object, which was `before` (null: it is new).
template <class Object>
std::function<void()> undoing(Server& server, const Object* before, const Object& now) {
    if (before != nullptr) return [&server, was = *before] { put_back(server, was); };
    return [&server, is = now] { take_away(server, is); };
}

}  // namespace

void Change::add_undo(std::vector<std::function<void()>>& undo) const {
    Server& server = server_;
    const State& state = server.state;
    if (resource_) undo.push_back(undoing(server, state.resources.find(resource_->name), *resource_));
    if (removed_resource_)
        if (const Resource* was = state.resources.find(*removed_resource_))
            undo.push_back(undoing(server, was, *was));
    if (server_attributes_)
        undo.emplace_back([&server, was = state.server] {
            server.state.server = was;
            if (server.parts.plugin != nullptr) server.parts.plugin->server_changed(server.state);
        });
    for (const auto& [handle, queue] : queues_)
        undo.push_back(undoing(server, state.queue(queue.name), queue));
    for (const auto& [handle, node] : nodes_) undo.push_back(undoing(server, state.node(node.name), node));
    for (const auto& [name, sched] : scheds_) undo.push_back(undoing(server, state.sched(name), sched));
    for (const auto& [handle, name] : removed_queues_)
        if (const Queue* was = state.queue(name)) undo.push_back(undoing(server, was, *was));
    for (const auto& [handle, name] : removed_nodes_)
        if (const Node* was = state.node(name)) undo.push_back(undoing(server, was, *was));
    for (const std::string& name : removed_scheds_)
        if (const Sched* was = state.sched(name)) undo.push_back(undoing(server, was, *was));
}

Result<void> Change::join(Batch& batch) {
    if (!jobs_.empty() || !removed_jobs_.empty() || next_sequence_)
        return fail(PBSE_INTERNAL, "jobs can't be changed in a batch");
    if (auto done = write(); !done) return done;
    add_undo(batch.undo_);
    put_in_place();
    tell_plugin();
    for (auto& action : actions_) batch.actions_.push_back(std::move(action));
    return {};
}

namespace {

// The plugin has committed what the server could not.
void reconcile(Server& server) {
    if (server.parts.plugin == nullptr) return;
    if (auto done = reconcile_history(server); !done)
        server.parts.log.error("history",
                               fmt::format("it has a change that the server has not; to be put right "
                                           "at the next start: {}",
                                           done.error().message));
}

}  // namespace

Result<void> Batch::begin() {
    if (auto done = server_.parts.store.begin(); !done) return done;
    begun_ = true;
    server_.batch = this;
    return {};
}

Result<void> Batch::commit(const std::function<Result<void>()>& before) {
    if (auto done = before(); !done) return done;
    if (auto done = server_.parts.store.commit(); !done) {
        diverged_ = true;
        return done;
    }
    begun_ = false;
    server_.batch = nullptr;
    for (const auto& action : actions_) guarded(server_.parts.log, "after a change", action);
    return {};
}

void Batch::take_back() {
    server_.parts.store.rollback();
    for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo)
        guarded(server_.parts.log, "taking back a change", *undo);
    // The plugin may have let go of what it knew of a scheduler.
    if (!undo_.empty()) server_.want_cycle(PBS_SCH_CONFIGURE);
}

Batch::~Batch() {
    if (!begun_) return;
    server_.batch = nullptr;
    take_back();
    if (diverged_) reconcile(server_);
}

Result<void> Change::commit(const std::function<Result<void>()>& before) {
    if (server_.batch != nullptr) return join(*server_.batch);
    Store& store = server_.parts.store;
    Result<void> done;
    bool told = false;
    // A transaction must not stay open, or no other could begin.
    try {
        done = store.begin();
        if (done) done = write();
        if (done && before) {
            done = before();
            told = done.has_value();
        }
        if (done) done = store.commit();
    } catch (const std::exception& error) {
        done = fail(PBSE_SYSTEM, error.what());
    }
    if (!done) {
        store.rollback();
        if (told) reconcile(server_);
        return done;
    }
    put_in_place();
    tell_plugin();
    for (const auto& action : actions_) guarded(server_.parts.log, "after a change", action);
    if (trigger_ != 0) server_.want_cycle(trigger_);
    return {};
}

}  // namespace pbs::host
