#include "server_plugin/scheduler/log/sorted_jobs.h"

#include <fmt/format.h>

#include <algorithm>

namespace pbs::sched {
namespace {

// Does the job ask for a host, with host= for all of it or in a chunk of its select?
bool asks_for_host(const Tables& tables, JobSlot job) {
    const Request& request = tables.requests[tables.jobs.request[job]];
    const std::uint32_t host = tables.resources.known().host;
    return tables.jobs.run_host[job] != 0 || std::ranges::any_of(request.chunks, [&](const Chunk& chunk) {
               return std::ranges::find(chunk.matches, host, &KeptAmount::resource) != chunk.matches.end();
           });
}

std::string flags_of(const Tables& tables, const OrderedJob& ordered) {
    const JobTable& jobs = tables.jobs;
    std::string flags;
    const auto add = [&](bool holds, std::string_view flag) {
        if (!holds) return;
        if (!flags.empty()) flags += ',';
        flags += flag;
    };
    const auto hpm = tables.resources.id("hpm");
    const auto& amounts = tables.requests[jobs.request[ordered.job]].totals;
    add((jobs.flags[ordered.job] & job_interactive) != 0, "Int");
    add(ordered.job_class == JobClass::special, "High");
    add(ordered.job_class == JobClass::overdue, "Wait");
    add(ordered.job_class == JobClass::dedicated, "Ded");
    add(hpm != kNoResource && number_of(amounts, hpm).value_or(0) != 0, "HPM");
    add(asks_for_host(tables, ordered.job), "Run");
    return flags;
}

}  // namespace

std::string sorted_jobs_text(const Tables& tables, const Settings& settings, Instant now, bool prime_now,
                             std::span<const OrderedJob> ordered) {
    const JobTable& jobs = tables.jobs;
    std::string text =
        fmt::format("{} ({})\nPolicy {}: {}\n", ctime_text(now, tables.zone), now.time_since_epoch().count(),
                    settings.name, prime_now ? "primetime" : "non-primetime");
    text += fmt::format("{:<24} {} {:>6} {:>10} {:<12} {:<12} {:>10} {:>10} {}\n", "Job", "S", "Nodes",
                        "Walltime", "Owner", "Group", "Queued", "Eligible", "Flags");
    const auto since = [&](Instant t) { return format_duration(std::max(Seconds(0), now - t)); };
    for (const OrderedJob& o : ordered) {
        const JobSlot j = o.job;
        text += fmt::format(
            "{:<24} {} {:>6} {:>10} {:<12} {:<12} {:>10} {:>10} {}\n", jobs.id[j], jobs.state[j], o.nodes,
            jobs.walltime[j] < Seconds(0) ? std::string("-") : format_duration(jobs.walltime[j]),
            tables.strings.text(jobs.owner[j]), tables.strings.text(jobs.group[j]), since(jobs.qtime[j]),
            since(jobs.eligible[j]), flags_of(tables, o));
    }
    return text;
}

}  // namespace pbs::sched
