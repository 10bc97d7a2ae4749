#include "tools/simulate/report.h"

#include <algorithm>
#include <functional>

namespace pbs::simulate {
namespace {

// The tickets and the CPU time of a job, or the sums over several jobs.
struct Sums {
    TicketsOfRun tickets;
    double cpu_seconds = 0;

    void add(const Sums& other) {
        tickets.by_override += other.tickets.by_override;
        tickets.functional += other.tickets.functional;
        tickets.share += other.tickets.share;
        tickets.running += other.tickets.running;
        cpu_seconds += other.cpu_seconds;
    }
};

double part(double some, double all) {
    return all > 0 ? some / all : 0;
}

// Makes the parts of entities that have tickets or CPU time, those with the most tickets first.
std::vector<TicketPart> parts_of(const Names& names, const std::vector<Sums>& sums, const Sums& all) {
    std::vector<TicketPart> parts;
    for (std::uint32_t i = 0; i < sums.size(); ++i) {
        const Sums& one = sums[i];
        if (names[i].empty() || (one.tickets.sum() <= 0 && one.cpu_seconds <= 0)) continue;
        parts.push_back({names[i], part(one.tickets.sum(), all.tickets.sum()),
                         part(one.tickets.running, all.tickets.running),
                         part(one.tickets.by_override, all.tickets.by_override),
                         part(one.tickets.functional, all.tickets.functional),
                         part(one.tickets.share, all.tickets.share), part(one.cpu_seconds, all.cpu_seconds)});
    }
    std::ranges::sort(parts, {}, [](const TicketPart& one) { return std::pair(-one.tickets, one.name); });
    return parts;
}

}  // namespace

TicketReport make_ticket_report(const Trace& trace, const Schedule& run) {
    TicketReport report;
    Sums all;
    std::vector<Sums> users(trace.users.size());
    std::vector<Sums> groups(trace.groups.size());
    std::vector<Sums> projects(trace.projects.size());
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        Sums job;
        if (!run.tickets.empty()) job.tickets = run.tickets[i];
        run.for_each_run(i, [&](Instant from, Instant until, std::int64_t cpus) {
            job.cpu_seconds += static_cast<double>((until - from).count()) * static_cast<double>(cpus);
        });
        const TraceJob& of = trace.jobs[i];
        for (Sums* const sums : {&all, &users[of.user], &groups[of.group], &projects[of.project]})
            sums->add(job);
    }
    report.given = all.tickets.sum() > 0;
    report.by_override = all.tickets.by_override > 0;
    report.functional = all.tickets.functional > 0;
    report.share = all.tickets.share > 0;
    report.users = parts_of(trace.users, users, all);
    report.groups = parts_of(trace.groups, groups, all);
    report.projects = parts_of(trace.projects, projects, all);
    return report;
}

}  // namespace pbs::simulate
