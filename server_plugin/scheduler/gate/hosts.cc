// Room on the vnodes that the queue may use; with Origin also the load of hosts (TARGET_LOAD_PCT, MIN_JOBS),
// their system time (HIGH_SYSTIME) and the number of jobs on them (MAX_JOBS). What of the vnodes is reserved
// isn't free for jobs that end later.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

// Why no place was found: asked without one rule after the other.
Reason why(CycleState& state, const Candidate& job, const QueueView& view, PlaceRules rules) {
    const Settings& s = *state.settings;
    const std::uint32_t request = state.jobs->request[job.job];
    if (state.vnodes->pool_vnodes(view.pool).empty()) return {Because::no_hosts, view.slot, view.host};
    if (!state.vnodes->large_enough(view.pool, *job.request, rules.node_size))
        return {Because::hosts_too_small, view.slot, request, view.pool};
    if (!state.reservations.empty()) {
        auto early = rules;
        early.ends = {};
        if (state.vnodes->has_place(view.pool, *job.request, early))
            return {Because::reserved, view.slot, state.reservations.front().job};
    }
    if (rules.max_systime_percent > 0) {
        rules.max_systime_percent = 0;
        if (state.vnodes->has_place(view.pool, *job.request, rules))
            return {Because::hosts_systime, view.slot, 0, s.high_systime};
    }
    if (rules.max_load_percent > 0) {
        rules.max_load_percent = 0;
        if (state.vnodes->has_place(view.pool, *job.request, rules))
            return {Because::hosts_loaded, view.slot, 0, s.max_load_percent};
    }
    if (rules.max_jobs_on_host > 0) {
        rules.max_jobs_on_host = 0;
        if (state.vnodes->has_place(view.pool, *job.request, rules))
            return {Because::hosts_full, view.slot, 0, s.max_jobs};
    }
    return {Because::hosts_busy, view.slot, request, view.pool};
}

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    if (!job.request->unsupported.empty())
        return {Because::request_unsupported, view.slot, state.jobs->request[job.job]};
    const PlaceRules rules = state.place_rules(job);
    if (state.vnodes->find(view.pool, *job.request, rules, state.placement)) return {};
    return state.looking_ahead ? Reason{Because::hosts_busy, view.slot} : why(state, job, view, rules);
}

// With several kinds of chunks less room may do: the first kind goes elsewhere then. Loads are told as no
// event.
Blockers blockers(const CycleState& state, const Candidate& job, const QueueView&, const Reason& reason) {
    if (reason.because == Because::request_unsupported || reason.because == Because::no_hosts)
        return blocker::configuration;
    const Settings& s = *state.settings;
    if (s.max_load_percent > 0 || s.min_jobs > 0 || s.high_systime > 0) return blocker::anything;
    return job.request->chunks.size() > 1 ? blocker::room | blocker::start : blocker::room;
}

}  // namespace

extern const Gate hosts_gate;
const Gate hosts_gate{"hosts",
                      "max_jobs, min_jobs, target_load_pct, target_load_variance, high_systime",
                      waits_for_jobs | looks_for_room | about_room,
                      always,
                      check,
                      blockers};

}  // namespace pbs::sched
