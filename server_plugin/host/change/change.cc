#include "server_plugin/host/change/change.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <type_traits>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/change/batch.h"
#include "server_plugin/host/change/commit_group.h"
#include "server_plugin/host/change/reconcile.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/state/accrual.h"
#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/host/store/store.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {

namespace {

// A trait that tells Change how to handle one kind of objects. kType is one of enum pbs_object_type. values()
// returns an object's configuration; Kind<Reservation> has none.
template <typename Object>
struct Kind;

template <>
struct Kind<Queue> {
    static constexpr int kType = PBS_OBJ_QUEUE;
    static Result<void> save(Store& store, const Queue& queue, const State& state) {
        return store.save(queue, state.queue(queue.name));
    }
    static void erase(State& state, uint64_t, const std::string& name) { state.erase_queue(name); }
    static void tell(Plugin& plugin, const Queue& queue, const State& state) {
        plugin.queue_changed(queue, state);
    }
    static void tell_gone(Plugin& plugin, uint64_t handle, const std::string&) {
        plugin.queue_removed(handle);
    }
    static ConfigValues values(const Queue& queue, const std::string&) { return config_values(queue); }
};

template <>
struct Kind<Node> {
    static constexpr int kType = PBS_OBJ_NODE;
    static Result<void> save(Store& store, const Node& node, const State& state) {
        return store.save(node, state.node(node.name));
    }
    static void erase(State& state, uint64_t, const std::string& name) { state.erase_node(name); }
    static void tell(Plugin& plugin, const Node& node, const State& state) {
        plugin.node_changed(node, state);
    }
    static void tell_gone(Plugin& plugin, uint64_t handle, const std::string&) {
        plugin.vnode_removed(handle);
    }
    static ConfigValues values(const Node& node, const std::string&) { return config_values(node); }
};

template <>
struct Kind<Sched> {
    static constexpr int kType = PBS_OBJ_SCHED;
    static Result<void> save(Store& store, const Sched& sched, const State&) { return store.save(sched); }
    static void erase(State& state, uint64_t, const std::string& name) { state.erase_sched(name); }
    static void tell(Plugin& plugin, const Sched& sched, const State& state) {
        plugin.sched_changed(sched, state);
    }
    static void tell_gone(Plugin& plugin, uint64_t, const std::string& name) { plugin.sched_removed(name); }
    static ConfigValues values(const Sched& sched, const std::string& home) {
        return config_values(sched, home);
    }
};

template <>
struct Kind<Reservation> {
    static constexpr int kType = PBS_OBJ_RESV;
    static Result<void> save(Store& store, const Reservation& reservation, const State&) {
        return store.save(reservation);
    }
    static void erase(State& state, uint64_t handle, const std::string&) { state.erase_reservation(handle); }
    static void tell(Plugin& plugin, const Reservation& reservation, const State& state) {
        plugin.reservation_changed(reservation, state);
    }
    static void tell_gone(Plugin& plugin, uint64_t handle, const std::string&) {
        plugin.reservation_removed(handle);
    }
};

template <typename Map>
using KindOf = Kind<typename std::decay_t<Map>::mapped_type>;

}  // namespace

Job& Change::job(const Job& current) {
    const auto [at, added] = jobs_.try_emplace(current.handle, current);
    if (auto comment = added ? comments_.extract(current.handle) : decltype(comments_)::node_type()) {
        set_comment(at->second, comment.mapped().text());
        at->second.mtime = now_;
    }
    return at->second;
}

void Change::comment(const Job& current, std::string_view text) {
    const bool whole =
        jobs_.contains(current.handle) || current.is_subjob() ||
        (counts_eligible_time(server_.state.server) && !is_accrual_settled(current, server_.state, now_));
    if (!whole) {
        comments_.insert_or_assign(current.handle, SharedText(text));
        return;
    }
    Job& changed = job(current);
    set_comment(changed, text);
    changed.mtime = now_;
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
Job& Change::put(Job job) {
    const uint64_t handle = job.handle;
    comments_.erase(handle);
    return jobs_.insert_or_assign(handle, std::move(job)).first->second;
}

void Change::remove(const Job& job) {
    const uint64_t handle = job.handle;
    comments_.erase(handle);
    counted_.forget(handle);
    removed_jobs_.insert_or_assign(
        handle, RemovedJob{job.sequence, job.told_as(), job.is_subjob() ? std::optional(job) : std::nullopt});
    jobs_.erase(handle);
}
Change::~Change() {
    Dependencies& links = server_.state.dependencies;
    while (!links_.empty()) {
        const auto [link, made] = links_.back();
        links_.pop_back();
        made ? links.remove(link) : links.add(link);
    }
}

void Change::link(uint64_t job, LinkKind kind, uint64_t other) {
    link({server_.state.dependencies.new_id(), job, kind, other});
}
void Change::link(const Link& link) {
    server_.state.dependencies.add(link);
    links_.emplace_back(link, true);
}
void Change::unlink(const Link& link) {
    server_.state.dependencies.remove(link);
    links_.emplace_back(link, false);
}

const Job* Change::current(uint64_t sequence) const {
    const Job* job = server_.state.job_of_sequence(sequence);
    if (job == nullptr || removed_jobs_.contains(job->handle)) return nullptr;
    const auto changed = jobs_.find(job->handle);
    return changed == jobs_.end() ? job : &changed->second;
}

Result<void> Change::write_objects() {
    Store& store = server_.parts.store;
    Result<void> done;
    if (resource_) done = store.save(*resource_);
    if (done && next_sequence_) done = store.save_next_sequence(*next_sequence_);
    if (done && received_) done = store.save_received(received_->first, received_->second, now_);
    if (done && server_attributes_) done = store.save_server(*server_attributes_);
    for_kinds([&](const auto& kind) {
        for (const auto& [handle, object] : kind.there)
            if (done) done = KindOf<decltype(kind.there)>::save(store, object, server_.state);
    });
    for (auto& [handle, job] : jobs_)
        if (done) done = store.save(job, server_.state.job(handle) == nullptr);
    for (const auto& [handle, comment] : comments_)
        if (const Job* job = server_.state.job(handle); done && job != nullptr)
            done = store.save_comment(job->sequence, comment.text(), now_);
    for (auto& [handle, script] : scripts_)
        if (done && jobs_.contains(handle)) done = store.save_script(jobs_.at(handle), script);
    for (const auto& [link, made] : links_)
        if (done) done = made ? store.save(link) : store.remove(link);
    return done;
}

Result<void> Change::write_removals() {
    Store& store = server_.parts.store;
    Result<void> done;
    if (removed_resource_) done = store.remove_resource(*removed_resource_);
    for (auto& [handle, job] : removed_jobs_)
        if (done) done = store.remove_job(job.sequence);
    for_kinds([&](const auto& kind) {
        for (const auto& [handle, name] : kind.gone)
            if (done) done = store.remove(KindOf<decltype(kind.there)>::kType, name);
    });
    return done;
}

Result<void> Change::write() {
    if (auto done = write_objects(); !done) return done;
    return write_removals();
}

void Change::note(ChangedSince& changed) const {
    const auto& nodes = std::get<Objects<Node>>(objects_);
    for (const auto& [handle, node] : nodes.there) changed.nodes.insert(handle);
    for (const auto& [handle, name] : nodes.gone) changed.nodes.insert(handle);
    for (const auto& [handle, job] : removed_jobs_) changed.jobs.insert(job.told);
    // `jobs` takes the handles of reservations, too: a decision about a reservation has its handle in the
    // field for the job's.
    const auto& reservations = std::get<Objects<Reservation>>(objects_);
    for (const auto& [handle, reservation] : reservations.there) changed.jobs.insert(handle);
    for (const auto& [handle, id] : reservations.gone) changed.jobs.insert(handle);
    for (const auto& [handle, comment] : comments_)
        if (const Job* job = server_.state.job(handle)) changed.jobs.insert(job->told_as());
    for (const auto& [handle, job] : jobs_) {
        changed.jobs.insert(job.told_as());
        const Job* before = server_.state.job(handle);
        if (!job.running() || (before != nullptr && before->running())) continue;
        for (const Place& place : job.places) changed.nodes.insert(place.node);
    }
}

void Change::put_in_place() noexcept {
    // Its copies of jobs would keep State::put() from having the jobs' texts share memory with those of
    // others.
    counted_.clear();
    if (server_.changed && server_.batch == nullptr) note(*server_.changed);
    State& state = server_.state;
    if (resource_ || removed_resource_ || server_attributes_) state.setup_changed();
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
    for_kinds([&](const auto& kind) {
        for (const auto& [handle, object] : kind.there) state.put(object);
    });
    for (auto& [handle, job] : jobs_) state.put(std::move(job));
    for (const auto& [handle, comment] : comments_) state.set_comment(handle, comment.text(), now_);
    for (auto& [handle, job] : removed_jobs_) state.erase_job(handle);
    for_kinds([&](const auto& kind) {
        for (const auto& [handle, name] : kind.gone) KindOf<decltype(kind.there)>::erase(state, handle, name);
    });
}

void Change::tell_plugin() noexcept {
    Plugin* plugin = server_.parts.plugin;
    if (plugin == nullptr) return;
    const State& state = server_.state;
    if (resource_)
        if (const Resource* resource = state.resources.find(resource_->name))
            plugin->resource_defined(*resource);
    if (removed_resource_) {
        plugin->resource_removed(*removed_resource_);
        // The built-in resource whose place the removed definition had may have come back.
        if (const Resource* resource = state.resources.find(*removed_resource_))
            plugin->resource_defined(*resource);
    }
    if (server_attributes_) plugin->server_changed(state);
    for_kinds([&](const auto& kind) {
        for (const auto& [handle, object] : kind.there)
            KindOf<decltype(kind.there)>::tell(*plugin, object, state);
    });
    for (auto& [handle, moved_from] : jobs_) {
        const Job* job = state.job(handle);
        if (job != nullptr) plugin->tell(now_, *job, state);
    }
    for (const auto& [handle, comment] : comments_)
        if (const Job* job = state.job(handle)) plugin->tell(now_, *job, state);
    for (auto& [handle, job] : removed_jobs_) plugin->job_removed(now_, job.told);
    for_kinds([&](const auto& kind) {
        for (const auto& [handle, name] : kind.gone)
            KindOf<decltype(kind.there)>::tell_gone(*plugin, handle, name);
    });
}

std::vector<ConfigChange> Change::configuration() const {
    const State& state = server_.state;
    const std::string& home = server_.options.home;
    std::map<ConfigName, std::optional<ConfigValues>> after;
    if (server_attributes_) after[{PBS_OBJ_SERVER, {}}] = config_values(*server_attributes_);
    if (resource_) after[{PBS_OBJ_RESOURCE, resource_->name}] = config_values(*resource_);
    for_kinds([&](const auto& kind) {
        using K = KindOf<decltype(kind.there)>;
        if constexpr (K::kType != PBS_OBJ_RESV) {
            for (const auto& [handle, object] : kind.there)
                after[{K::kType, name_of(object)}] = K::values(object, home);
            for (const auto& [handle, name] : kind.gone) after[{K::kType, name}].reset();
        }
    });
    if (removed_resource_) after[{PBS_OBJ_RESOURCE, *removed_resource_}].reset();
    std::vector<ConfigChange> changes;
    for (auto& [object, values] : after) {
        auto before = config_values(state, home, object);
        if (before != values) changes.push_back({object, std::move(before), std::move(values)});
    }
    return changes;
}

Result<void> Change::join(Batch& batch) {
    if (!jobs_.empty() || !comments_.empty() || !removed_jobs_.empty() || !links_.empty() || next_sequence_ ||
        !of<Reservation>().empty())
        return fail(PBSE_INTERNAL, "jobs and reservations can't be changed in a batch");
    std::set<ConfigName>& touched = batch.touched_;
    if (resource_) touched.insert({PBS_OBJ_RESOURCE, resource_->name});
    if (removed_resource_) touched.insert({PBS_OBJ_RESOURCE, *removed_resource_});
    if (server_attributes_) touched.insert({PBS_OBJ_SERVER, {}});
    for_kinds([&](const auto& kind) {
        constexpr int kType = KindOf<decltype(kind.there)>::kType;
        for (const auto& [handle, object] : kind.there) touched.insert({kType, name_of(object)});
        for (const auto& [handle, name] : kind.gone) touched.insert({kType, name});
    });
    put_in_place();
    for (auto& action : actions_) batch.actions_.push_back(std::move(action));
    return {};
}

// Updates each array after the changes of its subjobs.
void Change::follow_arrays() {
    std::map<uint64_t, std::vector<SubjobStep>> steps;
    for (const auto& [handle, job] : jobs_)
        if (job.is_subjob()) steps[job.array].push_back({server_.state.job(handle), &job, false});
    for (const auto& [handle, job] : removed_jobs_)
        if (job.subjob) steps[job.subjob->array].push_back({server_.state.job(handle), &*job.subjob, true});
    for (const auto& [array, those] : steps) server_.parts.follow_subjobs(*this, array, those);
}

// Settles which type of time (accrue_type) the changed jobs accrue, if the server counts eligible time. If
// this change sets eligible_time_enable, notes this instant as eligible_since.
void Change::settle_accruals() {
    const bool counts = counts_eligible_time(server_.state.server);
    if (server_attributes_ && counts_eligible_time(*server_attributes_) && !counts) {
        static const AttributeDef& since = *server_table().find("eligible_since");
        server_attributes_->set(since, {}, fmt::format("{}", now_));
    }
    if (!counts) return;
    for (auto& [handle, job] : jobs_) settle_accrual(job, server_.state, now_);
}

bool Change::only_adds_jobs() const {
    bool only_jobs = removed_jobs_.empty() && comments_.empty() && links_.empty();
    for_kinds([&](const auto& kind) { only_jobs = only_jobs && kind.empty(); });
    if (!only_jobs || server_attributes_ || resource_ || removed_resource_ || received_ || !lasts_)
        return false;
    return !jobs_.empty() && std::ranges::all_of(jobs_, [&](const auto& one) {
        return scripts_.contains(one.first) && server_.state.job(one.first) == nullptr;
    });
}

Result<void> Change::join(CommitGroup& group) {
    CommitGroup::Member member{now_, {}, std::move(actions_), trigger_, std::exchange(next_sequence_, {})};
    for (const auto& [handle, job] : jobs_) member.jobs.push_back(handle);
    if (auto done = group.write([this] { return write(); }); !done) return done;
    group.add(std::move(member));
    put_in_place();
    return {};
}

Result<void> Change::commit(const std::function<Result<void>()>& before) {
    settle_accruals();
    if (server_.batch != nullptr) return join(*server_.batch);
    follow_arrays();
    CommitGroup& group = server_.commit_group;
    if (group.takes() && !before && only_adds_jobs()) return join(group);
    // Commit the group of submissions first. The network, which holds the group's replies, gets the outcome
    // when it calls CommitGroup::commit().
    if (group.uncommitted())
        if (auto done = group.commit(); !done) return done;
    Store& store = server_.parts.store;
    Result<void> done;
    bool told = false;
    // Catch exceptions: an open transaction would keep all later ones from beginning.
    try {
        done = store.begin(lasts_ ? Store::Durable::now : Store::Durable::later);
        if (done) done = write();
        if (done && before) {
            done = before();
            told = done.has_value();
        }
        const auto began = std::chrono::steady_clock::now();
        if (done) done = store.commit();
        if (done) server_.counters.committed(std::chrono::steady_clock::now() - began);
    } catch (const std::exception& error) {
        done = fail(PBSE_SYSTEM, error.what());
    }
    if (!done) {
        store.rollback();
        if (told) reconcile_after_failure(server_);
        return done;
    }
    links_.clear();
    put_in_place();
    tell_plugin();
    for (const auto& action : actions_) guarded(server_.parts.log, "after a change", action);
    if (trigger_ != 0) server_.want_cycle(trigger_);
    return {};
}

}  // namespace pbs::host
