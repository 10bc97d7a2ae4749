#include "server_plugin/scheduler/state/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace pbs::sched {

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

bool in_outage(const Tables& tables, const Settings& s, Instant t) {
    if (s.dedicated_time_command.empty() || !s.enforce_dedicated_time.holds(t)) return false;
    return std::ranges::any_of(outage_hosts(tables, s), [&](const std::string& host) {
        const auto found = outage_at_or_after(host_outages(tables, s, host).list, t);
        return found && found->start <= t;
    });
}

std::optional<Instant> next_outage_change(const Tables& tables, const Settings& s, Instant t) {
    std::optional<Instant> next;
    if (s.enforce_dedicated_time.from && *s.enforce_dedicated_time.from > t)
        next = s.enforce_dedicated_time.from;
    if (s.dedicated_time_command.empty()) return next;
    for (const std::string& host : outage_hosts(tables, s))
        sooner(next, next_outage_change(host_outages(tables, s, host).list, t));
    return next;
}

std::int64_t job_nodes(const Tables& tables, const NodeSize& size, JobSlot job) {
    const Request& request = tables.requests[tables.jobs.request[job]];
    // A running job still has the nodes with which it was started. If it was moved, resources_max of its
    // present queue may have added CPUs and memory to its request, as defaults.
    const bool has_its_nodes = is_running(tables.jobs.state[job]) || (request.ncpus < 0 && request.mem < 0);
    if (has_its_nodes && request.ssinodes > 0) return request.ssinodes;
    return size.nodes(request.ncpus, request.mem);
}

std::int64_t job_nodes(const Tables& tables, const Settings& settings, JobSlot job) {
    return job_nodes(tables, NodeSize{settings.ssinode_cpus, settings.ssinode_mem}, job);
}

std::uint32_t Tables::user(std::uint32_t group, std::uint32_t owner) {
    std::uint32_t& known = users[(std::uint64_t{group} << 32 | owner) + 1];
    if (known == 0) known = strings.id(fmt::format("{}:{}", strings.text(group), strings.text(owner))) + 1;
    return known - 1;
}

Placement Tables::place_of_suspended(JobSlot job) const {
    Placement placement;
    const auto found = suspended.find(job);
    if (found == suspended.end()) return placement;
    for (const GivenBack& place : found->second) {
        const VnodeSlot vnode = vnodes.find(place.vnode);
        if (vnode == kNoSlot || place.amounts.empty()) continue;
        const auto first = static_cast<std::uint32_t>(placement.amounts.size());
        placement.amounts.insert(placement.amounts.end(), place.amounts.begin(), place.amounts.end());
        placement.parts.push_back(
            {vnode, 0, 1, first, static_cast<std::uint32_t>(place.amounts.size()), false});
    }
    return placement;
}

void Tables::count_use(QueueSlot queue, const CountedJob& job, int sign) {
    counts.count(queue, queues[queue].partition, job, sign);
}

void Tables::count_running(JobSlot job, int sign) {
    Queue& queue = queues[jobs.queue[job]];
    count_use(jobs.queue[job], counted(job), sign);
    running += sign;
    assert(running >= 0);
    queue.nodes_in_use += sign * job_nodes(*this, counted_size, job);
    if (in_use.size() < resources.size()) in_use.resize(resources.size());
    if (queue.in_use.size() < resources.size()) queue.in_use.resize(resources.size());
    for (const KeptAmount& amount : requests[jobs.request[job]].totals) {
        if (amount.resource >= in_use.size()) continue;
        in_use[amount.resource] += values::Sum(amount.number) * sign;
        queue.in_use[amount.resource] += values::Sum(amount.number) * sign;
    }
}

std::optional<Accrual> Tables::accrual(JobSlot job) const {
    if (!server.eligible_since) return std::nullopt;
    const auto known = jobs.accruals.find(job);
    Accrual counted = known == jobs.accruals.end() ? Accrual{} : known->second;
    counted.since = std::max(counted.since, *server.eligible_since);
    return counted;
}

CountedJob Tables::counted(JobSlot job) const {
    return {jobs.entities(job), &requests[jobs.request[job]], jobs.walltime[job]};
}

void Tables::await_start(JobSlot slot, std::optional<std::int64_t> within, bool runs, std::int64_t together) {
    const auto known = impatient.find(slot);
    if (known != impatient.end() && impatient_until.erase({known->second.until, slot}) > 0)
        waiting_together -= known->second.together;
    if (!within || *within < 0) {
        if (known != impatient.end()) impatient.erase(known);
        return;
    }
    Impatient& job = impatient[slot];
    job.within = Seconds(std::min(*within, kUnlimitedWalltime.count()));
    job.until = jobs.eligible[slot] + job.within;
    job.started = job.started || runs;
    job.together = together;
    if (job.started) return;
    impatient_until.emplace(job.until, slot);
    waiting_together += together;
}

bool Tables::tells_projects_apart() const {
    if (projects_in_quotas || server.limits.concern(EntityKind::project)) return true;
    for (QueueSlot q = 0; q < queues.size(); ++q)
        if (queues[q].limits.concern(EntityKind::project)) return true;
    return false;
}

std::vector<bool> Tables::queues_in_use() const {
    std::vector<bool> has(queues.size());
    jobs.for_each([&](JobSlot job) { has[jobs.queue[job]] = true; });
    for (const auto& [number, reservation] : reservations)
        if (const QueueSlot slot = queues.find(reservation.queue); slot != kNoSlot) has[slot] = true;
    return has;
}

void Tables::recount() {
    counts.clear();
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
