// Compares decisions on random sites with recorded ones (recorded_decisions.txt, tests/record.h). Cycles over
// all jobs are recorded with comments and log, and cycles after single events with their starts.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cases.h"
#include "tests/record.h"
#include "tests/scheduler/random_site.h"

namespace pbs::sched::test {
namespace {

constexpr int kSites = 120;  // number of sites for each algorithm
constexpr int kSteps = 100;

std::int64_t seconds(Instant t) {
    return (t - kMonday).count();
}

// Returns the part of the outcome that is the same in cycles over all jobs and in cycles after events.
std::string starts_of(const Outcome& outcome) {
    std::string text;
    for (const int job : outcome.started)
        text += fmt::format("start {} in {} on {}\n", job, outcome.queue.at(job),
                            fmt::join(outcome.vnodes.at(job), " "));
    for (const auto& [job, why] : outcome.rejected) text += fmt::format("reject {}: {}\n", job, why);
    for (const auto& [job, queue] : outcome.moved) text += fmt::format("move {} to {}\n", job, queue);
    return text + outcome.schedule;
}

std::string all_of(const Outcome& outcome) {
    std::string text = starts_of(outcome);
    for (const auto& [job, words] : outcome.comment) text += fmt::format("comment {}: {}\n", job, words);
    for (const auto& [job, nodes] : outcome.ssinodes) text += fmt::format("nodes {}: {}\n", job, nodes);
    for (const auto& [job, start] : outcome.expected)
        text += fmt::format("expect {} at {}\n", job, start ? std::to_string(seconds(*start)) : "no time");
    for (const std::string& line : outcome.log) text += "log " + line + "\n";
    return text + outcome.sorted_jobs;
}

struct Decided {
    std::string by_all;
    std::string by_events;
};

Decided decided_on(int seed, Algorithm algorithm) {
    Site by_all(static_cast<unsigned>(seed), algorithm);
    Site by_events(static_cast<unsigned>(seed), algorithm);
    by_all.world.scheduler.set_by_events(false);
    by_all.world.scheduler.set_tell_estimates(true);
    Events events{std::mt19937(static_cast<unsigned>(seed)), at(6), {}, {}};
    Decided text;
    for (int step = 0; step < kSteps; ++step) {
        const CycleTrigger trigger = events.next(by_all, by_events);
        const std::string heading = fmt::format("cycle at {}\n", seconds(events.now));
        const Outcome a = by_all.world.cycle(events.now, true, "default", trigger);
        const Outcome b = by_events.world.cycle(events.now, true, "default", trigger);
        text.by_all += heading + all_of(a);
        text.by_events += heading + starts_of(b);
        std::erase_if(events.jobs, [&](int job) { return a.rejected.contains(job); });
        events.pass_time();
    }
    return text;
}

TEST(RecordedDecisions, AreDecidedAgain) {
    pbs::test::Record record("scheduler/recorded_decisions.txt");
    const int count = record.writes() ? kSites : std::min(kSites, pbs::test::cases(kSites));
    for (int seed = 1; seed <= count; ++seed) {
        const Decided origin = decided_on(seed, Algorithm::origin);
        EXPECT_TRUE(record.has(fmt::format("origin-{:03}", seed), origin.by_all, origin.by_events)) << seed;
        const Decided standard = decided_on(seed, Algorithm::standard);
        EXPECT_TRUE(record.has(fmt::format("standard-{:03}", seed), standard.by_all, standard.by_events))
            << seed;
    }
}

}  // namespace
}  // namespace pbs::sched::test
