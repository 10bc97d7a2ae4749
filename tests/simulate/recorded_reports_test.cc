// Compares reports on random traces with recorded ones (recorded_reports.txt, tests/record.h).

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "tests/cases.h"
#include "tests/record.h"
#include "tests/simulate/support.h"

namespace pbs::simulate::test {
namespace {

Trace trace_of_random(Random& random) {
    std::vector<Job> jobs;
    std::int64_t submit = 0;
    const int gap = random.pick(60, 600);
    for (int i = 0; i < 100; ++i) {
        submit += random.pick(0, gap);
        const std::int64_t walltime = random.pick(1, 60) * 300;
        jobs.push_back({submit, random.pick(1, random.chance(10) ? 64 : 16),
                        random.chance(10) ? walltime * 2 : walltime * random.pick(1, 10) / 10,
                        random.chance(5) ? -1 : walltime, "u" + std::to_string(random.pick(1, 6))});
    }
    return trace_of(jobs);
}

std::string origin_policy(Random& random) {
    std::string text =
        "create queue b0 queue_type=execution, started=True, enabled=True\n"
        "create queue b1 queue_type=execution, started=True, enabled=True\n"
        "create policy o\n"
        "set policy o algorithm=origin, submit_queue=submit, batch_queues=\"b0,b1\"\n";
    const auto maybe = [&](int percent, const std::string& directive) {
        if (random.chance(percent)) text += "set " + directive + "\n";
    };
    maybe(50, fmt::format("queue b0 max_running={}", random.pick(1, 8)));
    maybe(50, fmt::format("queue b1 resources_max.walltime={:02}:00:00", random.pick(2, 6)));
    maybe(30, fmt::format("queue b0 max_user_run={}", random.pick(1, 3)));
    maybe(60, "policy o sort_by_past_usage=True");
    maybe(60, fmt::format("policy o max_queued_time={:02}:00:00", random.pick(1, 12)));
    maybe(50, "policy o enforce_prime_time=True, prime_time_start=08:00:00, prime_time_end=17:00:00");
    maybe(30, fmt::format("policy o prime_time_wallt_limit={:02}:00:00", random.pick(1, 4)));
    maybe(20, "policy o avoid_fragmentation=True");
    maybe(20, "policy o nonprime_drain_sys=True");
    maybe(20, fmt::format("policy o max_user_run_jobs={}", random.pick(1, 4)));
    return text;
}

std::string standard_policy(Random& random) {
    std::string text =
        "create queue low queue_type=execution, started=True, enabled=True, priority=1\n"
        "create policy s\n";
    const auto maybe = [&](int percent, const std::string& directive) {
        if (random.chance(percent)) text += "set " + directive + "\n";
    };
    maybe(50, "policy s strict_ordering=True");
    maybe(50, fmt::format("policy s backfill_depth={}", random.pick(0, 4)));
    maybe(40, "policy s help_starving_jobs=True, max_starve=03:00:00");
    maybe(30, "policy s job_sort_key='ncpus HIGH'");
    maybe(20, "policy s job_sort_formula='ncpus*10+walltime/3600'");
    maybe(30, "policy s by_queue=False");
    maybe(20, "policy s round_robin=True");
    maybe(30, fmt::format("queue workq max_running={}", random.pick(2, 12)));
    maybe(30, fmt::format("queue workq max_user_run={}", random.pick(1, 4)));
    maybe(30, fmt::format("queue workq resources_max.walltime={:02}:00:00", random.pick(2, 6)));
    return text;
}

TEST(RecordedReports, AreReportedAgain) {
    pbs::test::Record record("simulate/recorded_reports.txt");
    constexpr int kTraces = 30;
    const int count = record.writes() ? kTraces : std::min(kTraces, pbs::test::cases(kTraces));
    for (int seed = 1; seed <= count; ++seed) {
        Random random{std::mt19937(static_cast<unsigned>(seed))};
        const Trace trace = trace_of_random(random);
        Site site = site_of(random.pick(1, 8), 16);
        add_queue(site.machine, "submit");
        const std::string policies[] = {origin_policy(random), standard_policy(random)};
        std::string reports[2];
        for (int i = 0; i < 2; ++i) {
            site.machine.server["default_queue"] = i == 0 ? "submit" : "workq";
            const Schedule run = run_of(trace, site, policies[i]);
            reports[i] = policies[i] +
                         to_json(make_heading(trace, site.zone), {make_report("policy", trace, run, 20)});
        }
        EXPECT_TRUE(record.has(fmt::format("trace-{:02}", seed), reports[0], reports[1])) << seed;
    }
}

}  // namespace
}  // namespace pbs::simulate::test
