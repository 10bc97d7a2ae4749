#include "server_plugin/scheduler/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "server_plugin/scheduler/cycle_parts.h"
#include "server_plugin/scheduler/plugins/sort/past_usage.h"

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
    everything_ = in_.keep_pending_jobs && sched::goes_by_events(s_, in_.now);
    if (everything_) {
        consider_pending();
        start_non_prime_early();
        refuse_unserved();
    } else {
        make_list();
        dump_sorted_jobs(out);
        consider_list();
    }
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

void Cycle::make_list() {
    collect_jobs();
    for (const JobClass job_class : queued_classes) order_class(job_class, state_.prime_now);
}

void Cycle::consider_list() {
    restart_found();
    for (const auto& jobs : classes_) consider_all(jobs);
    start_non_prime_early();
    refuse_unserved();
}

void Cycle::take_back() {
    for (const Started& started : started_) {
        state_.vnodes->give_back(started.placement, t_.requests[t_.jobs.request[started.job]], vnode_share());
        if (counts_matter_)
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

HostOutages host_outages(const Tables& tables, const Settings& s, std::string_view host) {
    if (host.empty()) host = tables.server_host;
    const Outages& known = tables.outages;
    const std::string& command = s.dedicated_time_command;
    HostOutages result;
    result.awaited = known.awaited(command, host);
    if (s.system_name.empty()) {
        const auto own = known.of(command, host);
        result.list.assign(own.begin(), own.end());
        return result;
    }
    result.list = merge_outages(known.of(command, host), known.of(command, s.system_name));
    result.awaited = result.awaited || known.awaited(command, s.system_name);
    return result;
}

std::vector<std::string> outage_hosts(const Tables& tables, const Settings& s) {
    std::vector<std::string> hosts;
    for (const auto* specs : {&s.batch_queues, &s.dedicated_queues, &s.external_queues}) {
        for (const QueueSpec& spec : *specs) {
            const std::string& host = spec.host.empty() ? tables.server_host : spec.host;
            if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
        }
    }
    return hosts;
}

std::optional<double> start_charge(const Tables& tables, const Settings& settings, Instant now, JobSlot job) {
    if (!settings.sort_by_past_usage.holds(now)) return std::nullopt;
    return past_usage_charge(settings.past_usage_charge, job_nodes(tables, settings, job),
                             tables.jobs.expected_walltime(job));
}

std::int64_t job_nodes(const Tables& tables, const NodeSize& size, JobSlot job) {
    const Request& request = tables.requests[tables.jobs.request[job]];
    // A running job has the nodes that it was started with: the limits of the queue that it was moved to may
    // have become CPUs and memory that it asks for now (resources_max, as defaults).
    const bool has_its_nodes = is_running(tables.jobs.state[job]) || (request.ncpus < 0 && request.mem < 0);
    if (has_its_nodes && request.ssinodes > 0) return request.ssinodes;
    return size.nodes(request.ncpus, request.mem);
}

std::int64_t job_nodes(const Tables& tables, const Settings& settings, JobSlot job) {
    return job_nodes(tables, NodeSize{settings.ssinode_cpus, settings.ssinode_mem}, job);
}

Chunks Tables::chunks_by(const Settings& settings) const {
    return divides_chunks && settings.profile->divides_chunks ? Chunks::divided : Chunks::whole;
}

std::uint32_t Tables::user(std::uint32_t group, std::uint32_t owner) {
    std::uint32_t& known = users[(std::uint64_t{group} << 32 | owner) + 1];
    if (known == 0) known = strings.id(fmt::format("{}:{}", strings.text(group), strings.text(owner))) + 1;
    return known - 1;
}

void Tables::count_running(JobSlot job, int sign) {
    Queue& queue = queues[jobs.queue[job]];
    counts.count(jobs.queue[job], jobs.owner[job], jobs.group[job], sign);
    running += sign;
    queue.nodes_in_use += sign * job_nodes(*this, counted_size, job);
    if (in_use.size() < resources.size()) in_use.resize(resources.size());
    if (queue.in_use.size() < resources.size()) queue.in_use.resize(resources.size());
    for (const KeptAmount& amount : requests[jobs.request[job]].totals) {
        if (amount.resource >= in_use.size()) continue;
        in_use[amount.resource] += sign * amount.number;
        queue.in_use[amount.resource] += sign * amount.number;
    }
}

void Tables::recount() {
    counts = {};
    running = 0;
    in_use.clear();
    for (QueueSlot q = 0; q < queues.size(); ++q) {
        queues[q].nodes_in_use = 0;
        queues[q].in_use.clear();
    }
    for (QueueSlot q = 0; q < queues.size(); ++q)
        for (const JobSlot job : queues[q].running) count_running(job, 1);
}

void Tables::count_nodes_by(const NodeSize& size) {
    if (size == counted_size) return;
    counted_size = size;
    for (QueueSlot q = 0; q < queues.size(); ++q) {
        queues[q].nodes_in_use = 0;
        for (const JobSlot job : queues[q].running) queues[q].nodes_in_use += job_nodes(*this, size, job);
    }
}

double node_hours(std::int64_t nodes, Seconds walltime) {
    return static_cast<double>(nodes) * static_cast<double>(walltime.count()) / 3600;
}

std::optional<double> allocation_charge(const Tables& tables, const Settings& settings, Instant now,
                                        JobSlot job) {
    if (!settings.enforce_allocation.holds(now) || settings.sched_acct_dir.empty()) return std::nullopt;
    return node_hours(job_nodes(tables, settings, job), tables.jobs.expected_walltime(job));
}

}  // namespace pbs::sched
