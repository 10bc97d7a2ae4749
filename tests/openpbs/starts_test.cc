// Runs the same jobs on the same vnodes with the same settings at two servers: an OpenPBS server with its own
// scheduler, and a bundled server. At both, the same jobs start, in the same order and on the same vnodes.
//
// PBSPOLICY_SITES="SEED COUNT" chooses the random sites; by default there are a few.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "tests/openpbs/two_servers.h"

namespace pbs::e2e {
namespace {

class OpenpbsStarts : public OpenpbsTest {};

TEST_F(OpenpbsStarts, OpenpbsStartsTheSameJobsOnRandomSites) {
    std::uint64_t first = 502;
    int count = 3;
    if (const char* wanted = std::getenv("PBSPOLICY_SITES")) std::istringstream(wanted) >> first >> count;
    for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
        SCOPED_TRACE(fmt::format("PBSPOLICY_SITES=\"{} 1\"", seed));
        const RandomSite random = random_site(seed);
        TwoServers box(random);
        int starts = 0;
        for (std::size_t i = 0; i < random.cycles.size(); ++i) {
            box.submit(random.cycles[i]);
            const StartsSeen theirs = box.cycle(kTheirs);
            const StartsSeen ours = box.cycle(kOurs);
            starts += static_cast<int>(theirs.started.size());
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
            box.end_some(theirs, seed + i);
        }
        fmt::print("seed {}: {} starts\n", seed, starts);
    }
}

}  // namespace
}  // namespace pbs::e2e
