// The smallest plugin that a server can load, for tests of the server alone. It starts queued jobs in the
// order of their arrival, each on the first vnode with enough free CPUs. The subjobs of an array that start
// together get the first vnode even if they don't fit. A job of 99 CPUs gets a comment, a larger job is
// rejected. The plugin stores nothing and owns no attribute.
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/plugin/pbs_plugin.h"

namespace {

struct Vnode {
    int64_t ncpus = 0;
    bool free = false;
};

struct Waiting {
    uint64_t queue = 0;
    int64_t ncpus = 1;
    uint32_t together = 0;
    int64_t running_ncpus = 0;  // CPUs that the job holds; 0: it isn't running
    uint64_t vnode = 0;
    bool queued = false;
};

struct Fifo {
    uint32_t ncpus = std::numeric_limits<uint32_t>::max();
    std::map<uint64_t, Vnode> vnodes;
    std::map<uint64_t, uint32_t> queues;  // flags by handle
    std::map<uint64_t, Waiting> jobs;
    std::vector<pbs_decision> decisions;
    std::vector<pbs_place> places;
    std::vector<pbs_amount> amounts;
    pbs_cycle_result result{};  // the result of the cycle that start_cycle() has begun
    bool cycle_runs = false;    // true from start_cycle() to finish_cycle()
    pbs_decision placed{};      // the decision of place_job(); `place` and `place_amount` belong to it
    pbs_place place{};
    pbs_amount place_amount{};
    uint64_t explains = 0;  // the ticket of a request for an explanation, until it is abandoned; 0: none
};

Fifo& fifo(void* self) {
    return *static_cast<Fifo*>(self);
}

std::string_view view(pbs_str text) {
    return {text.ptr, text.len};
}

int64_t amount(const pbs_amount* list, size_t count, uint32_t id, int64_t otherwise) {
    for (size_t i = 0; i < count; ++i)
        if (list[i].resource == id) return list[i].number;
    return otherwise;
}

void resource_defined(void* self, const pbs_resource_record* record) {
    if (view(record->name) == "ncpus") fifo(self).ncpus = record->id;
}
void vnode_changed(void* self, const pbs_vnode_record* record) {
    Fifo& f = fifo(self);
    f.vnodes[record->vnode] = {
        amount(record->resources_available, record->resources_available_count, f.ncpus, 0),
        record->state == 0};
}
void queue_changed(void* self, const pbs_queue_record* record) {
    fifo(self).queues[record->queue] = record->flags;
}
void job_changed(void* self, int64_t, const pbs_job_record* record) {
    Fifo& f = fifo(self);
    Waiting& job = f.jobs[record->job];
    job = {};
    job.queue = record->queue;
    job.queued = record->state == 'Q';
    job.together = record->together;
    job.ncpus = amount(record->requested, record->requested_count, f.ncpus, 1);
    if (record->place_count == 0) return;
    job.vnode = record->places[0].vnode;
    job.running_ncpus = amount(record->places[0].amounts, record->places[0].amount_count, f.ncpus, 0);
}

int64_t used(const Fifo& f, uint64_t vnode) {
    int64_t sum = 0;
    for (const auto& [handle, job] : f.jobs)
        if (job.vnode == vnode) sum += job.running_ncpus;
    return sum;
}

int32_t cycle(void* self, const pbs_cycle_request*, pbs_cycle_result* result) {
    Fifo& f = fifo(self);
    f.decisions.clear();
    size_t most = f.jobs.size();
    for (const auto& [handle, job] : f.jobs) most += job.together;
    f.places.assign(most, {});
    f.amounts.assign(most, {});
    std::map<uint64_t, int64_t> left;
    for (const auto& [handle, vnode] : f.vnodes)
        if (vnode.free) left[handle] = vnode.ncpus - used(f, handle);
    size_t started = 0;
    constexpr uint32_t kWanted = PBS_QUEUE_EXECUTION | PBS_QUEUE_STARTED;
    for (const auto& [handle, job] : f.jobs) {
        if (!job.queued || (f.queues[job.queue] & kWanted) != kWanted) continue;
        if (job.ncpus >= 99) {
            pbs_decision decision{};
            decision.size = sizeof decision;
            decision.kind = job.ncpus == 99 ? PBS_DECIDE_COMMENT : PBS_DECIDE_REJECT;
            decision.job = handle;
            decision.text = {"Too large", 9};
            f.decisions.push_back(decision);
            continue;
        }
        uint32_t together = job.together;
        for (auto& [vnode, ncpus] : left) {
            if (ncpus < job.ncpus && together == 0) continue;
            do {
                ncpus -= job.ncpus;
                const size_t n = started++;
                f.amounts[n] = {f.ncpus, 0, job.ncpus, {nullptr, 0}};
                f.places[n] = {vnode, &f.amounts[n], 1};
                pbs_decision decision{};
                decision.size = sizeof decision;
                decision.kind = PBS_DECIDE_RUN;
                decision.job = handle;
                decision.text = {"Started in order", 16};
                decision.places = &f.places[n];
                decision.place_count = 1;
                decision.together = together;
                f.decisions.push_back(decision);
            } while (together > 0 && --together > 0);
            break;
        }
    }
    result->decisions = f.decisions.data();
    result->decision_count = f.decisions.size();
    result->jobs_considered = static_cast<int64_t>(f.jobs.size());
    return 0;
}

// Places the job on the first vnode with enough free CPUs. The queue doesn't matter.
int32_t place_job(void* self, const pbs_place_request* request, pbs_cycle_result* result) {
    Fifo& f = fifo(self);
    if (f.cycle_runs) return 15208;
    const auto found = f.jobs.find(request->job);
    if (found == f.jobs.end()) return 15001;
    const Waiting& job = found->second;
    f.placed = {};
    f.placed.size = sizeof f.placed;
    f.placed.kind = PBS_DECIDE_COMMENT;
    f.placed.job = request->job;
    f.placed.text = {"Not Running: Full", 17};
    for (const auto& [handle, vnode] : f.vnodes) {
        if (!vnode.free || vnode.ncpus - used(f, handle) < job.ncpus) continue;
        f.place_amount = {f.ncpus, 0, job.ncpus, {nullptr, 0}};
        f.place = {handle, &f.place_amount, 1};
        f.placed.kind = PBS_DECIDE_RUN;
        f.placed.text = {nullptr, 0};
        f.placed.places = &f.place;
        f.placed.place_count = 1;
        break;
    }
    result->decisions = &f.placed;
    result->decision_count = 1;
    return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int32_t pbs_policy_plugin_init(const pbs_host* host,
                                                                                 pbs_plugin* plugin,
                                                                                 char* error,
                                                                                 size_t error_size) {
    if (host->abi_version != PBS_PLUGIN_ABI_VERSION) {
        (void)std::snprintf(error, error_size, "the server has interface version %u", host->abi_version);
        return 15010;
    }
    *plugin = {};
    plugin->size = sizeof *plugin;
    plugin->abi_version = PBS_PLUGIN_ABI_VERSION;
    plugin->self = new Fifo;
    plugin->name = {"fifo", 4};
    plugin->version = {"test", 4};
    plugin->start = [](void*, int64_t, char*, size_t) { return int32_t{0}; };
    plugin->stop = [](void* self, int64_t) { delete static_cast<Fifo*>(self); };
    plugin->owns_attribute = [](void*, int32_t, pbs_str) { return int32_t{0}; };
    plugin->manager = [](void*, const pbs_manager_request* request, pbs_reply*) {
        return request->object_type >= PBS_OBJ_POLICY ? int32_t{15029} : int32_t{0};
    };
    plugin->status = [](void* self, const pbs_status_request* request, pbs_reply*) {
        if (request->object_type != PBS_OBJ_EXPLANATION) return int32_t{15212};
        fifo(self).explains = request->ticket;
        return int32_t{15208};
    };
    plugin->abandon = [](void* self, uint64_t ticket) {
        if (fifo(self).explains == ticket) fifo(self).explains = 0;
    };
    plugin->status_attrs = [](void*, int64_t, int32_t, pbs_str, pbs_reply*) {};
    plugin->resource_defined = resource_defined;
    plugin->server_changed = [](void*, const pbs_server_record*) {};
    plugin->sched_changed = [](void*, const pbs_sched_record*) {};
    plugin->sched_removed = [](void*, pbs_str) {};
    plugin->queue_changed = queue_changed;
    plugin->queue_removed = [](void* self, uint64_t queue) { fifo(self).queues.erase(queue); };
    plugin->vnode_changed = vnode_changed;
    plugin->vnode_removed = [](void* self, uint64_t vnode) { fifo(self).vnodes.erase(vnode); };
    plugin->job_changed = job_changed;
    plugin->job_removed = [](void* self, int64_t, uint64_t job) { fifo(self).jobs.erase(job); };
    plugin->next_deadline = [](void*, int64_t) { return std::numeric_limits<int64_t>::max(); };
    plugin->tick = [](void*, int64_t) { return uint32_t{0}; };
    plugin->wanted = [](void*, pbs_str) { return uint32_t{0}; };
    // Each cycle goes on until the host calls finish_cycle(), like a cycle that runs in a thread.
    plugin->start_cycle = [](void* self, const pbs_cycle_request* request, int32_t* running) {
        if (fifo(self).explains != 0) return int32_t{15208};
        *running = 1;
        fifo(self).cycle_runs = true;
        fifo(self).result.size = sizeof(pbs_cycle_result);
        return cycle(self, request, &fifo(self).result);
    };
    plugin->finish_cycle = [](void* self, int64_t, pbs_cycle_result* result) {
        *result = fifo(self).result;
        fifo(self).cycle_runs = false;
        return int32_t{0};
    };
    plugin->forget_decisions = [](void* self) { fifo(self).decisions = {}; };
    plugin->place_job = place_job;
    plugin->test_start = [](void*, const pbs_start_request*, pbs_cycle_result*, pbs_reply*) {
        return int32_t{15029};
    };
    plugin->resource_removed = [](void*, pbs_str) {};
    plugin->commit = [](void*, int64_t, char*, size_t) { return int32_t{0}; };
    plugin->not_acted_on = [](void*, int64_t, int32_t, pbs_str, pbs_str, const pbs_attr*, size_t,
                              pbs_reply*) {};
    plugin->busy = [](void*) { return int32_t{0}; };
    plugin->scheduled_by = [](void*, int64_t, pbs_str) { return int32_t{PBS_BY_PLUGIN}; };
    plugin->peer_queues = [](void*, int64_t, pbs_str, pbs_reply*) {};
    plugin->reservation_changed = [](void*, const pbs_reservation_record*) {};
    plugin->reservation_removed = [](void*, uint64_t) {};
    plugin->last_change = [](void*) { return int64_t{0}; };
    return 0;
}
