// The list of gates, in the order of the tests before a job starts.

#include <array>

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {

extern const Gate queue_maximum_gate;
extern const Gate user_acl_gate;
extern const Gate dedicated_time_gate;
extern const Gate execution_type_gate;
extern const Gate queue_window_gate;
extern const Gate prime_limit_gate;
extern const Gate nonprime_drain_gate;
extern const Gate prime_boundary_gate;
extern const Gate queue_started_gate;
extern const Gate max_running_gate;
extern const Gate queue_nodes_gate;
extern const Gate queue_resources_gate;
extern const Gate server_max_running_gate;
extern const Gate server_user_limits_gate;
extern const Gate server_resources_gate;
extern const Gate hosts_gate;
extern const Gate reservations_gate;
extern const Gate user_limits_gate;
extern const Gate max_user_run_jobs_gate;
extern const Gate max_dedicated_jobs_gate;
extern const Gate fragments_gate;
extern const Gate hpm_counters_gate;

std::span<const Gate* const> all_gates() {
    static constexpr std::array<const Gate*, 22> gates = {
        &queue_maximum_gate,       // fits the queue's limits at all
        &user_acl_gate,            // may its owner use the queue
        &dedicated_time_gate,      // ENFORCE_DEDICATED_TIME
        &execution_type_gate,      // execution_type of the queue
        &queue_window_gate,        // time_window of the queue
        &prime_limit_gate,         // PRIME_TIME_WALLT_LIMIT
        &nonprime_drain_gate,      // NONPRIME_DRAIN_SYS
        &prime_boundary_gate,      // backfill_prime
        &queue_started_gate,       //
        &max_running_gate,         //
        &queue_nodes_gate,         // nodes of the queue
        &queue_resources_gate,     // resources_available of the queue
        &server_max_running_gate,  // max_running of the server
        &server_user_limits_gate,  // max_user_run, max_group_run of the server
        &server_resources_gate,    // resources_available of the server
        &hosts_gate,               // room on vnodes, load, MAX_JOBS
        &reservations_gate,        // drained for a waiting job, or reserved for a top job
        &user_limits_gate,         // max_user_run, max_group_run of the queue
        &max_user_run_jobs_gate,   // MAX_USER_RUN_JOBS
        &max_dedicated_jobs_gate,  // MAX_DEDICATED_JOBS
        &fragments_gate,           // AVOID_FRAGMENTATION
        &hpm_counters_gate,        // MANAGE_HPM_COUNTERS
    };
    return gates;
}

Blockers blockers_of(const Gate& gate, CycleState& state, const Candidate& job, const QueueView& queue,
                     const Reason& reason) {
    if (gate.blockers != nullptr) return gate.blockers(state, job, queue, reason);
    if (gate.until == nullptr) return blocker::anything;
    const Instant at = gate.until(state, job, queue, reason);
    if (at != Instant::max()) state.instants->insert(at);
    return blocker::time(at);
}

std::vector<const Gate*> gates_of(const Settings& settings, Instant now) {
    std::vector<const Gate*> wanted;
    renew_gates(settings, now, wanted);
    return wanted;
}

bool renew_gates(const Settings& settings, Instant now, std::vector<const Gate*>& gates) {
    bool changed = false;
    std::size_t count = 0;
    for (const Gate* gate : all_gates()) {
        if (!gate->wanted(settings, now)) continue;
        if (count == gates.size() || gates[count] != gate) {
            gates.resize(count);
            gates.push_back(gate);
            changed = true;
        }
        ++count;
    }
    changed = changed || gates.size() != count;
    gates.resize(count);
    return changed;
}

extern const JobGate allocation_gate;
extern const JobGate small_job_max_gate;

std::span<const JobGate* const> all_job_gates() {
    static constexpr std::array<const JobGate*, 2> gates = {
        &allocation_gate,     // ENFORCE_ALLOCATION
        &small_job_max_gate,  // SMALL_JOB_MAX
    };
    return gates;
}

std::vector<const JobGate*> job_gates_of(const Settings& settings, Instant now) {
    std::vector<const JobGate*> wanted;
    for (const JobGate* gate : all_job_gates())
        if (gate->wanted(settings, now)) wanted.push_back(gate);
    return wanted;
}

}  // namespace pbs::sched
