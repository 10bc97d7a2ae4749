// Tests a profile that a site adds: jobs start in the order of their submission. It consists of four existing
// rules.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/plugins/comparators.h"
#include "tests/scheduler/further_rules.h"
#include "tests/scheduler/world.h"

namespace pbs::sched {

extern const Filter kHostsFilter;
extern const Filter kMaxRunningFilter;
extern const Decide kCommentsDecide;
extern const Decide kStartsDecide;

namespace {

constexpr std::array<const Filter*, 2> kFifoFilters = {&kMaxRunningFilter, &kHostsFilter};
constexpr std::array<const Decide*, 2> kFifoDecides = {&kStartsDecide, &kCommentsDecide};
const Chain& fifo_chain(const Policy&, JobClass, bool) {
    static const Chain chain = {up(kQueuedOrder), up(kSequenceOrder)};
    return chain;
}
const Profile kFifo{
    .name = "fifo",
    .chain = fifo_chain,
    .lane_chain = fifo_chain,
    .filters = kFifoFilters,
    .decides = kFifoDecides,
    .class_names = {"running", "", "", "queued", "", ""},
    .keep_own = [](Settings& s) { s.help_starving_jobs = s.by_queue = false; },
};

// Number of waiting jobs of each owner.
using JobsOfOwner = std::map<std::uint32_t, std::uint64_t>;

// Orders jobs by their owners' numbers of waiting jobs, in ascending order.
const Comparator kFewest{
    .name = "fewest",
    .bits = 32,
    .number = [](const OrderContext& c, const OrderedJob& job,
                 std::uint32_t) { return c.own->find<JobsOfOwner>()->at(c.jobs.owner[job.job]); },
    .prepare =
        [](const OrderContext& c, std::span<const OrderedJob> jobs, OwnStates& own) {
            auto& count = own.of<JobsOfOwner>();
            for (const OrderedJob& job : jobs) ++count[c.jobs.owner[job.job]];
        }};
const Chain& fewest_chain(const Policy&, JobClass, bool) {
    static const Chain chain = {up(kFewest), up(kQueuedOrder), up(kSequenceOrder)};
    return chain;
}

}  // namespace

namespace test {
namespace {

using testing::ElementsAre;

TEST(OwnProfile, JobsStartInTheOrderInWhichTheyCame) {
    World world;
    world.policy().profile = &kFifo;
    world.queue({.name = "low", .priority = 1});
    world.queue({.name = "high", .priority = 9, .max_running = 1});
    world.vnode({.name = "n", .ncpus = 8});
    world.configure();
    const int large = world.job({.queue = "low", .ncpus = 6, .queued = at(1)});
    const int first = world.job({.queue = "high", .ncpus = 1, .queued = at(2)});
    const int second = world.job({.queue = "high", .ncpus = 1, .queued = at(3)});
    const int late = world.job({.queue = "low", .ncpus = 1, .queued = at(4)});
    const auto outcome = world.cycle(at(5));
    EXPECT_THAT(outcome.started, ElementsAre(large, first, late));
    EXPECT_EQ(outcome.comment.at(second), "Not Running: Queue high job limit has been reached.");
    EXPECT_EQ(world.scheduler.status(at(5), "default").algorithm, "fifo");
    world.finish(first, at(6));
    EXPECT_THAT(world.cycle(at(6), true, "default", CycleTrigger::job_ended).started, ElementsAre(second));
}

TEST(OwnProfile, LanesOfAQueueAreSplitByGroup) {
    constexpr std::array<const Deal*, 1> kDeals = {&kGroupsInTurn};
    Profile in_turn = kFifo;
    in_turn.deals = kDeals;
    World world;
    world.policy().profile = &in_turn;
    world.queue({.name = "q"});
    world.vnode({.name = "n", .ncpus = 4});
    world.configure();
    const int first = world.job({.queue = "q", .group = "g", .ncpus = 1, .queued = at(1)});
    const int second = world.job({.queue = "q", .group = "g", .ncpus = 1, .queued = at(2)});
    const int third = world.job({.queue = "q", .group = "h", .ncpus = 1, .queued = at(3)});
    const int fourth = world.job({.queue = "q", .group = "h", .ncpus = 1, .queued = at(4)});
    EXPECT_THAT(world.cycle(at(5)).started, ElementsAre(first, third, second, fourth));
}

TEST(OwnProfile, AComparatorReadsWhatItPreparesOfAllJobs) {
    Profile fewest = kFifo;
    fewest.chain = fewest.lane_chain = fewest_chain;
    World world;
    world.policy().profile = &fewest;
    world.queue({.name = "q"});
    world.vnode({.name = "n", .ncpus = 1});
    world.configure();
    const int first = world.job({.queue = "q", .owner = "many", .ncpus = 1, .queued = at(1)});
    const int second = world.job({.queue = "q", .owner = "many", .ncpus = 1, .queued = at(2)});
    const int third = world.job({.queue = "q", .owner = "few", .ncpus = 1, .queued = at(3)});
    EXPECT_THAT(world.cycle(at(4)).started, ElementsAre(third));
    // New jobs of an owner change the order of the other waiting jobs, though these haven't changed.
    world.job({.queue = "q", .owner = "few", .ncpus = 1, .queued = at(4)});
    world.job({.queue = "q", .owner = "few", .ncpus = 1, .queued = at(4)});
    world.job({.queue = "q", .owner = "few", .ncpus = 1, .queued = at(4)});
    world.finish(third, at(5));
    EXPECT_THAT(world.cycle(at(5), true, "default", CycleTrigger::job_ended).started, ElementsAre(first));
    EXPECT_FALSE(world.running(second));
}

// A rule whose decisions change at noon, which no refusal names.
const BoundaryRule kNoon{"noon", [](const Tables&, const Settings&, Instant t) -> std::optional<Instant> {
                             if (t < at(12)) return at(12);
                             return std::nullopt;
                         }};

TEST(OwnProfile, ARuleNamesTheInstantAtWhichTimeChangesItsDecisions) {
    constexpr std::array<const BoundaryRule*, 1> kBoundaries = {&kNoon};
    Profile with_noon = kFifo;
    with_noon.boundaries = kBoundaries;
    World world;
    world.policy().profile = &with_noon;
    world.policy().sort_by_past_usage = {};
    world.queue({.name = "q"});
    world.configure();
    (void)world.scheduler.tick(at(9));
    EXPECT_EQ(world.scheduler.next_deadline(at(9)), at(12));
    EXPECT_FALSE(world.scheduler.tick(at(11, 59)).cycle_wanted);
    EXPECT_TRUE(world.scheduler.tick(at(12)).cycle_wanted);
    EXPECT_GT(world.scheduler.next_deadline(at(12)), at(12));
}

}  // namespace
}  // namespace test
}  // namespace pbs::sched
