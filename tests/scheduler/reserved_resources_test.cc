// Tests the policy attribute reserved_resources: a vnode or queue with such a resource takes only jobs that
// request it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

// Vnode n9, the first one that a cycle tries, has GPUs; n1 has none.
struct ReservedResources : testing::Test {
    World world;
    void SetUp() override {
        world.policy().reserved_resources = {"ngpus", "arch", "bigmem", "unknown"};
        world.queue({.name = "work"});
        world.vnode({.name = "n9", .ncpus = 4, .gpus = 4});
        world.vnode({.name = "n1", .ncpus = 4, .gpus = 0});
        world.configure();
    }
    std::map<int, std::vector<std::string>> places() { return world.cycle(at(9)).vnodes; }
};

TEST_F(ReservedResources, AJobThatAsksForNoneGoesElsewhere) {
    const int plain = world.job({.queue = "work", .ncpus = 1});
    const int gpu = world.job({.queue = "work", .ncpus = 1, .gpus = 1});
    const int of_chunks = world.job({.queue = "work", .select = "1:ncpus=1:ngpus=1+1:ncpus=2"});
    EXPECT_THAT(places(), ElementsAre(Pair(plain, ElementsAre("n1")), Pair(gpu, ElementsAre("n9")),
                                      Pair(of_chunks, ElementsAre("n9", "n9"))))
        << "a job that asks for it may have other chunks there, too";
}

TEST_F(ReservedResources, AJobThatAsksForNothingOfItAsksForNone) {
    const int none = world.job({.queue = "work", .ncpus = 1, .gpus = 0});
    EXPECT_THAT(places(), ElementsAre(Pair(none, ElementsAre("n1"))));
}

TEST_F(ReservedResources, AreTextsAndBooleansToo) {
    world.vnode({.name = "n9", .arch = "vector"});
    world.vnode({.name = "n1", .bigmem = 1});
    world.vnode({.name = "n2", .bigmem = 0});
    const int plain = world.job({.queue = "work", .ncpus = 1});
    const int vector = world.job({.queue = "work", .select = "1:ncpus=1:arch=vector"});
    const int big = world.job({.queue = "work", .select = "1:ncpus=1:bigmem=True"});
    EXPECT_THAT(places(), ElementsAre(Pair(plain, ElementsAre("n2")), Pair(vector, ElementsAre("n9")),
                                      Pair(big, ElementsAre("n1"))));
}

TEST_F(ReservedResources, TheReasonSaysSo) {
    world.vnode({.name = "n1", .free = false});
    const int job = world.job({.queue = "work", .ncpus = 1});
    const Outcome outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_THAT(outcome.comment.at(job), HasSubstr("reserved for jobs that request a resource of theirs"));
    world.vnode({.name = "n1"});
    EXPECT_THAT(world.cycle(at(9, 1)).started, ElementsAre(job));
}

// Vnodes that the job can't have don't count in the amounts of its comment.
TEST_F(ReservedResources, AmountsInCommentsAreOfTheOtherVnodes) {
    const int gpu = world.job({.queue = "work", .ncpus = 3, .gpus = 1});
    EXPECT_THAT(places(), ElementsAre(Pair(gpu, ElementsAre("n9"))));
    const int large = world.job({.queue = "work", .select = "6:ncpus=1"});
    const int small = world.job({.queue = "work", .select = "3:ncpus=1"});
    const int waits = world.job({.queue = "work", .select = "3:ncpus=1"});
    const int of_gpus = world.job({.queue = "work", .select = "1:ncpus=1:ngpus=1+7:ncpus=1"});
    const Outcome outcome = world.cycle(at(9, 1));
    EXPECT_THAT(outcome.started, ElementsAre(small));
    EXPECT_EQ(outcome.comment.at(large),
              "Can Never Run: Insufficient amount of resource: ncpus (R: 6 A: 4 T: 4)");
    EXPECT_EQ(outcome.comment.at(waits),
              "Not Running: Insufficient amount of resource: ncpus (R: 3 A: 1 T: 4)");
    EXPECT_EQ(outcome.comment.at(of_gpus),
              "Not Running: Insufficient amount of resource: ncpus (R: 8 A: 2 T: 8)");
}

TEST_F(ReservedResources, AChunkThatOnlySuchAVnodeCouldHoldCanNeverRun) {
    world.vnode({.name = "n8", .ncpus = 8, .gpus = 4});
    world.vnode({.name = "n2", .ncpus = 4, .gpus = 0});
    world.configure();
    const int gpu = world.job({.queue = "work", .ncpus = 5, .gpus = 1});
    EXPECT_THAT(places(), ElementsAre(Pair(gpu, ElementsAre("n8"))));
    const int job = world.job({.queue = "work", .select = "1:ncpus=8"});
    EXPECT_EQ(world.cycle(at(9, 1)).comment.at(job),
              "Can Never Run: Insufficient amount of resource: ncpus (R: 8 A: 4 T: 4)");
}

TEST_F(ReservedResources, AQueueThatHasOneTakesOnlyJobsThatAskForIt) {
    world.queue({.name = "gpu", .available_gpus = 2});
    const int plain = world.job({.queue = "gpu", .ncpus = 1});
    const int gpu = world.job({.queue = "gpu", .ncpus = 1, .gpus = 1});
    const Outcome outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.started, ElementsAre(gpu));
    EXPECT_THAT(outcome.comment.at(plain), HasSubstr("Queue gpu is reserved for jobs that request ngpus"));
}

TEST_F(ReservedResources, AdvanceReservationsKeepToThem) {
    const int plain = world.reserve({.start = at(10), .end = at(11), .select = "2:ncpus=3"});
    const int gpu = world.reserve({.start = at(10), .end = at(11), .select = "1:ncpus=3:ngpus=1+1:ncpus=3"});
    const Outcome outcome = world.cycle(at(9));
    EXPECT_TRUE(outcome.denied.contains(plain));
    EXPECT_TRUE(outcome.confirmed.contains(gpu));
}

TEST_F(ReservedResources, DoNotConcernRunningJobs) {
    world.policy().reserved_resources = {};
    world.configure();
    const int job = world.job({.queue = "work", .ncpus = 4});
    EXPECT_THAT(places(), ElementsAre(Pair(job, ElementsAre("n9"))));
    world.policy().reserved_resources = {"ngpus"};
    world.configure();
    EXPECT_THAT(world.cycle(at(9, 1)).started, IsEmpty());
    EXPECT_TRUE(world.running(job));
}

}  // namespace
}  // namespace pbs::sched::test
