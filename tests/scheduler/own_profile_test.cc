// A third profile: first in, first out, by four rules of those that there are.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_plugin/scheduler/framework/profile.h"
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
    static const Chain chain = {up("queued"), up("sequence")};
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

}  // namespace
}  // namespace test
}  // namespace pbs::sched
