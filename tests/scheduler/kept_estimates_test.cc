// Tests the estimates that are found by the free amounts of vnodes over time, and kept from one cycle to the
// next: they are those that look-ahead after look-ahead finds.

#include "server_plugin/scheduler/future/kept_estimates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cases.h"
#include "tests/scheduler/quotas.h"
#include "tests/scheduler/random_site.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr std::int64_t kDepth = 40;

struct Work {
    std::int64_t look_aheads = 0;
    std::int64_t searches = 0;
    void add(const Outcome& outcome) {
        look_aheads += outcome.look_aheads;
        searches += outcome.searches_ahead;
    }
};

// Gives a site estimates, and in most cases vnodes that are hosts of their own and jobs that wait for vnodes
// alone.
void estimate(Site& site, int seed) {
    std::mt19937 random(static_cast<unsigned>(seed) * 37 + 11);
    const auto chance = [&](int percent) { return std::uniform_int_distribution(1, 100)(random) <= percent; };
    Settings& s = site.world.policy();
    s.estimate_depth = kDepth;
    s.round_robin = false;
    if (chance(70)) s.backfill_prime = false;
    if (chance(70)) site.world.configuration.dedicated = {};
    if (chance(80)) site.of_host = 1;
    if (chance(40)) s.strict_ordering = true;
    if (chance(40)) s.backfill_depth = 0;
    if (chance(80)) {  // no limits
        site.world.server({});
        for (const std::string& queue : site.submit) site.world.queue({.name = queue});
    }
    for (std::size_t i = 0; i < site.vnodes.size(); ++i) site.world.vnode(site.vnode(static_cast<int>(i)));
    site.world.scheduler.set_tell_estimates(true);
}

// A quota that limits nothing, and whose counters are of vnodes: each estimate needs a look-ahead.
void look_at_all(Site& site, int) {
    site.world.policy().quotas = {quota({.rules = {{"all", "users={*} vnodes={*} to ncpus=100000"}}})};
}

// Lets random events happen to two copies of random sites, of which only the first keeps estimates. After
// each event the estimates have to be the same. Returns the work of both.
std::pair<Work, Work> compare(int sites, const std::function<void(Site&, int)>& set_up,
                              const std::function<void(Site&, int)>& set_up_other) {
    std::pair<Work, Work> work;
    for (const int seed : first_seeds(pbs::test::cases(sites))) {
        SCOPED_TRACE(seed);
        Site kept(static_cast<unsigned>(seed), Algorithm::standard);
        Site anew(static_cast<unsigned>(seed), Algorithm::standard);
        anew.world.scheduler.set_by_events(false);
        for (Site* site : {&kept, &anew}) {
            estimate(*site, seed);
            set_up(*site, seed);
        }
        set_up_other(anew, seed);
        for (Site* site : {&kept, &anew}) site->world.configure();
        Events events{std::mt19937(static_cast<unsigned>(seed)), at(6), {}, {}};
        if (seed % 2 == 0) events.arrivals = 60;
        for (int step = 0; step < 80; ++step) {
            SCOPED_TRACE(step);
            (void)events.next(kept, anew);
            const auto a = kept.world.cycle(events.now);
            const auto b = anew.world.cycle(events.now);
            expect_same(kept, without_last_reasons(a), "with kept estimates", without_last_reasons(b), "anew",
                        part::starts | part::queues | part::vnodes | part::chunks);
            EXPECT_EQ(a.expected, b.expected) << "The site is " << kept.label << "\n" << kept.world.journal();
            if (testing::Test::HasFailure()) return work;
            work.first.add(a);
            work.second.add(b);
            std::erase_if(events.jobs, [&](int job) { return a.rejected.contains(job); });
            events.add_started(a);
            events.pass_time();
        }
    }
    return work;
}

void no_change(Site&, int) {}

TEST(KeptEstimates, AreThoseThatAreMadeAnew) {
    const auto [kept, anew] = compare(120, no_change, no_change);
    EXPECT_LT(kept.searches * 8, anew.searches * 7);
}

TEST(KeptEstimates, AreThoseThatLookAheadsFind) {
    const auto [kept, anew] = compare(120, no_change, look_at_all);
    EXPECT_LT(kept.look_aheads * 4, anew.look_aheads * 3);
}

TEST(KeptEstimates, AreThoseThatLookAheadsFindInTheOrderOfShares) {
    const auto [kept, anew] = compare(
        60,
        [](Site& site, int seed) { share_out_by_tree(site, Seconds(seed % 2 == 0 ? kHour : 24 * kHour)); },
        look_at_all);
    EXPECT_LT(kept.look_aheads, anew.look_aheads);
}

TEST(KeptEstimates, AreThoseThatLookAheadsFindBesideExclusiveJobs) {
    const auto [kept, anew] = compare(
        60,
        [](Site& site, int seed) {
            site.differ_in_sharing = seed % 3 == 0;
            site.without_walltime = 20;
            site.world.policy().default_duration = Seconds((1 + seed % 5) * kHour / 2);
        },
        look_at_all);
    EXPECT_LT(kept.look_aheads, anew.look_aheads);
}

}  // namespace
}  // namespace pbs::sched::test
