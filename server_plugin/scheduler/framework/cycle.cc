#include "server_plugin/scheduler/framework/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "server_plugin/scheduler/framework/cycle_parts.h"
#include "server_plugin/scheduler/pending/past_usage_deal.h"

namespace pbs::sched {

// A cycle over all jobs: order, consider one job after the other, decide. What was started is taken back in
// the end: the host tells what came of it.
Decisions Cycle::run() {
    Decisions out;
    out.memory = std::make_unique<std::pmr::monotonic_buffer_resource>(64 * 1024);
    if (in_.events != nullptr) {
        in_.events->kept.clear();
        in_.events->instants.clear();
    }
    consider_all();
    dump_sorted_jobs(out);
    out.jobs_considered = considered_;
    remember();
    if (in_.events != nullptr) in_.events->last_full = in_.now;
    const bool test_only = s_.test_only.holds(in_.now);
    out.hpm_wanted = state_.hpm_wanted && !test_only;
    if (test_only) {
        say_what_would_be_done(out);
        decide_estimates(out, {});
    } else {
        decide(out);
        log_starts(out);
    }
    take_back();
    return out;
}

void Cycle::consider_all() {
    everything_ = true;
    consider_pending();
    start_non_prime_early();
    refuse_unserved();
}

void Cycle::take_back() {
    for (const Started& started : started_) {
        state_.vnodes->forget(started.placement, t_.requests[t_.jobs.request[started.job]], vnode_share());
        t_.counts.count(started.view->slot, t_.jobs.owner[started.job], t_.jobs.group[started.job], -1);
    }
    state_.vnodes->clear_reservations();
}

namespace {

// The memory of few decisions: the first of it is part of the object, which is small enough for allocators to
// hand the last one out again.
struct FirstBytes {
    alignas(std::max_align_t) std::array<std::byte, 896> bytes;
};
class LittleMemory final : FirstBytes, public std::pmr::monotonic_buffer_resource {
  public:
    LittleMemory() : monotonic_buffer_resource(bytes.data(), bytes.size()) {}
};

}  // namespace

Decisions run_cycle(const CycleInput& input) {
    Decisions out;
    out.memory = std::make_unique<LittleMemory>();
    if (Cycle(input).run_events(out)) return out;
    return Cycle(input).run();
}

bool Cycle::run_events(Decisions& out) {
    if (!goes_by_events()) return false;
    by_events_ = true;
    const bool done = consider_pending();
    if (done) {
        for (const JobSlot job : in_.events->since.changed)
            if (!in_.events->pending.contains(job)) refuse_if_unserved(job);
        out.jobs_considered = considered_;
        out.hpm_wanted = state_.hpm_wanted;
        decide(out);
        log_starts(out);
        remember();
    }
    take_back();
    return done;
}

std::optional<double> start_charge(const Tables& tables, const Settings& settings, Instant now, JobSlot job) {
    if (!settings.sort_by_past_usage.holds(now)) return std::nullopt;
    return past_usage_charge(settings.past_usage_charge, job_nodes(tables, settings, job),
                             tables.jobs.expected_walltime(job));
}

Chunks chunks_by(const Tables& tables, const Settings& settings) {
    return tables.divides_chunks && settings.profile->divides_chunks ? Chunks::divided : Chunks::whole;
}

}  // namespace pbs::sched
