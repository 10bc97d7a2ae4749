// Runs the same jobs on the same vnodes with the same settings at two servers: an OpenPBS server with its own
// scheduler, and a bundled server. At both, the same jobs start, in the same order and on the same vnodes.
//
// PBSPOLICY_SITES="SEED COUNT" chooses the random sites; by default there are a few.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

#include "tests/openpbs/two_servers.h"

namespace pbs::e2e {
namespace {

class OpenpbsStarts : public OpenpbsTest {};

using Cycles = std::map<std::string, std::size_t>;  // the cycles in which jobs have started, by name

// Returns the jobs that ran before the cycle and no longer run after it, with the cycles that had started
// them.
std::multimap<std::size_t, std::string> stopped(const StartsSeen& before, const StartsSeen& after,
                                                const Cycles& cycles) {
    std::multimap<std::size_t, std::string> out;
    for (const auto& [job, state] : before.states) {
        const auto now = after.states.find(job);
        const bool runs = now != after.states.end() && now->second.starts_with("R ");
        if (const auto cycle = cycles.find(job); state.starts_with("R ") && !runs && cycle != cycles.end())
            out.emplace(cycle->second, job);
    }
    return out;
}

// Returns whether two servers have preempted equally many of the jobs that a cycle had started, but not the
// same ones: the order of jobs that have started in the same second isn't the same (docs/migration.md).
bool have_other_victims(const std::multimap<std::size_t, std::string>& a,
                        const std::multimap<std::size_t, std::string>& b) {
    const auto same_cycle = [](const auto& one, const auto& other) { return one.first == other.first; };
    return a != b && std::ranges::equal(a, b, same_cycle);
}

TEST_F(OpenpbsStarts, OpenpbsStartsTheSameJobsOnRandomSites) {
    std::uint64_t first = 502;
    int count = 3;
    if (const char* wanted = std::getenv("PBSPOLICY_SITES")) std::istringstream(wanted) >> first >> count;
    for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
        SCOPED_TRACE(fmt::format("PBSPOLICY_SITES=\"{} 1\"", seed));
        const RandomSite random = random_site(seed);
        TwoServers box(random);
        int starts = 0;
        StartsSeen before;
        Cycles cycles;
        for (std::size_t i = 0; i < random.cycles.size(); ++i) {
            box.submit(random.cycles[i]);
            const StartsSeen theirs = box.cycle(kTheirs);
            const StartsSeen ours = box.cycle(kOurs);
            starts += static_cast<int>(theirs.started.size());
            if (random.preempts &&
                have_other_victims(stopped(before, theirs, cycles), stopped(before, ours, cycles))) {
                fmt::print("seed {}: cycle {} has preempted other jobs of the same second\n", seed, i + 1);
                break;
            }
            EXPECT_TRUE(ours == theirs)
                << random.text() << "in cycle " << i + 1 << " OpenPBS\n"
                << theirs.text() << "and the bundled server\n"
                << ours.text() << box.comments(kTheirs) << box.comments(kOurs) << box.report();
            if (!(ours == theirs)) break;
            // Jobs that started later are preempted first. A job's start time is when its mom has answered.
            if (random.preempts &&
                !(box.started_at_once(kTheirs, theirs) && box.started_at_once(kOurs, ours))) {
                fmt::print("seed {}: the starts of cycle {} took several seconds: not compared further\n",
                           seed, i + 1);
                break;
            }
            for (const std::string& job : theirs.started) cycles[job] = i;
            before = theirs;
            box.end_some(theirs, seed + i);
        }
        fmt::print("seed {}: {} starts\n", seed, starts);
    }
}

}  // namespace
}  // namespace pbs::e2e
