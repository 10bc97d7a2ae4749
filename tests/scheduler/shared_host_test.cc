// Tests chunks that are divided among several vnodes of a host.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Vn {
    const char* name;
    const char* host;
    int ncpus;
    int gigabytes = 1;
};

struct SharedHosts : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        s.help_starving_jobs = false;
        world.queue({.name = "work"});
        world.configure();
    }
    void vnodes(const std::vector<Vn>& list) {
        for (const Vn& v : list)
            world.vnode({.name = v.name, .ncpus = v.ncpus, .mem = v.gigabytes * kGb, .host = v.host});
    }
    int job(const std::string& select, const std::string& place = "", std::int64_t walltime = kHour) {
        return world.job({.queue = "work", .walltime = walltime, .select = select, .place = place});
    }
    // Returns the exec_vnode of a job that starts at once; "" if it doesn't start.
    std::string start(const std::string& select, const std::string& place = "") {
        const int number = job(select, place);
        return world.cycle(at(1)).exec_vnode[number];
    }
};

// A vnode whose CPUs are all in use takes no other job, as in OpenPBS.
TEST_F(SharedHosts, AVnodeWithoutAFreeProcessorGivesOtherJobsNothing) {
    vnodes({{"a0", "ha", 2, 4}, {"a1", "ha", 2, 4}});
    const int first = job("1:ncpus=2:mem=1gb");
    const int large = job("1:ncpus=2:mem=6gb");
    const int small = job("1:ncpus=1:mem=3gb");
    const int none = job("1:ncpus=0:mem=1gb");
    const Outcome outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(first, small, none));
    EXPECT_EQ(outcome.exec_vnode.at(small), "(a1:ncpus=1:mem=3072mb)");
    world.finish(first, at(2));
    EXPECT_THAT(world.cycle(at(2)).started, IsEmpty()) << large;
    world.finish(small, at(3));
    EXPECT_THAT(world.cycle(at(3)).started, ElementsAre(large));
}

TEST_F(SharedHosts, AVnodeThatHasNoProcessorsTakesSeveralJobs) {
    vnodes({{"a0", "ha", 0, 4}});
    const int first = job("1:ncpus=0:mem=1gb");
    const int second = job("1:ncpus=0:mem=1gb");
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(first, second));
}

TEST_F(SharedHosts, AJobMayHaveMoreOfAVnodeWhoseProcessorsItHas) {
    vnodes({{"a0", "ha", 2, 4}});
    EXPECT_EQ(start("1:ncpus=2:mem=1gb+1:ncpus=0:mem=2gb"),
              "(a0:ncpus=2:mem=1024mb)+(a0:ncpus=0:mem=2048mb)");
}

// OpenPBS 23.06 gives jobs these places, with its own scheduler and the same vnodes.
TEST(SharedHostsOfOpenPbs, AreUsedTheSameWay) {
    struct Case {
        std::vector<Vn> vnodes;
        const char* select;
        const char* place;
        const char* exec_vnode;
    };
    const Case cases[] = {
        // the vnodes of a host give a chunk as much as they have, one after the other
        {{{"a0", "ha", 2}, {"a1", "ha", 2}}, "1:ncpus=4", "", "(a0:ncpus=2+a1:ncpus=2)"},
        {{{"a0", "ha", 3}, {"a1", "ha", 2}, {"a2", "ha", 2}},
         "2:ncpus=3",
         "",
         "(a0:ncpus=3)+(a1:ncpus=2+a2:ncpus=1)"},
        {{{"a0", "ha", 2}, {"a1", "ha", 2}, {"a2", "ha", 2}},
         "2:ncpus=3",
         "",
         "(a0:ncpus=2+a1:ncpus=1)+(a1:ncpus=1+a2:ncpus=2)"},
        // a vnode with room for the whole chunk comes first among the vnodes of its host, but not before an
        // earlier host
        {{{"a0", "ha", 2}, {"a1", "ha", 2}, {"a2", "ha", 4}}, "1:ncpus=4", "", "(a2:ncpus=4)"},
        {{{"a0", "ha", 2}, {"a1", "ha", 2}, {"b0", "hb", 4}}, "1:ncpus=4", "", "(a0:ncpus=2+a1:ncpus=2)"},
        {{{"a0", "ha", 2}, {"a1", "ha", 2}, {"b0", "hb", 4}}, "1:ncpus=4", "pack", "(a0:ncpus=2+a1:ncpus=2)"},
        {{{"a0", "ha", 4}, {"b0", "hb", 2}, {"b1", "hb", 2}}, "1:ncpus=4", "", "(a0:ncpus=4)"},
        {{{"a0", "ha", 2}, {"a1", "ha", 1}, {"b0", "hb", 2}, {"b1", "hb", 2}},
         "1:ncpus=4",
         "",
         "(b0:ncpus=2+b1:ncpus=2)"},
        // a chunk is never divided among two hosts
        {{{"a0", "ha", 2}, {"b0", "hb", 2}}, "1:ncpus=4", "", ""},
        {{{"a0", "ha", 2}, {"a1", "ha", 2}, {"b0", "hb", 4}}, "1:ncpus=5", "", ""},
        // how much a vnode gives of one resource doesn't depend on the others
        {{{"a0", "ha", 3, 1}, {"a1", "ha", 1, 3}},
         "1:ncpus=4:mem=4gb",
         "",
         "(a0:ncpus=3:mem=1024mb+a1:ncpus=1:mem=3072mb)"},
        {{{"a0", "ha", 4, 1}, {"a1", "ha", 4, 3}},
         "1:ncpus=4:mem=4gb",
         "",
         "(a0:ncpus=4:mem=1024mb+a1:mem=3072mb)"},
        {{{"a0", "ha", 0, 1}, {"a1", "ha", 4, 1}},
         "1:ncpus=4:mem=2gb",
         "",
         "(a0:mem=1024mb+a1:ncpus=4:mem=1024mb)"},
        {{{"a0", "ha", 2, 1}, {"a1", "ha", 2, 1}}, "1:mem=2gb", "", "(a0:mem=1024mb+a1:mem=1024mb)"},
        // jobs with a value of place
        {{{"a0", "ha", 2}, {"a1", "ha", 2}, {"b0", "hb", 1}}, "1:ncpus=4", "vscatter", ""},
        {{{"a0", "ha", 2}, {"a1", "ha", 2}, {"b0", "hb", 2}, {"b1", "hb", 2}},
         "2:ncpus=3",
         "scatter",
         "(a0:ncpus=2+a1:ncpus=1)+(b0:ncpus=2+b1:ncpus=1)"},
        {{{"a0", "ha", 2}, {"a1", "ha", 2}, {"a2", "ha", 2}}, "2:ncpus=3", "scatter", ""},
        {{{"a0", "ha", 2}, {"a1", "ha", 2}, {"b0", "hb", 3}},
         "2:ncpus=3",
         "scatter",
         "(a0:ncpus=2+a1:ncpus=1)+(b0:ncpus=3)"},
        {{{"a0", "ha", 2}, {"a1", "ha", 3}, {"b0", "hb", 6}},
         "2:ncpus=3",
         "pack",
         "(b0:ncpus=3)+(b0:ncpus=3)"},
        {{{"a0", "ha", 1}, {"a1", "ha", 2}, {"b0", "hb", 2}},
         "2:ncpus=1",
         "pack",
         "(a0:ncpus=1)+(a1:ncpus=1)"},
        {{{"a0", "ha", 2}, {"a1", "ha", 2}, {"a2", "ha", 2}},
         "1:ncpus=3",
         "free:excl",
         "(a0:ncpus=2+a1:ncpus=1)"},
        // chunks of several kinds are placed one kind after the other
        {{{"a0", "ha", 2}, {"a1", "ha", 2}, {"b0", "hb", 4}},
         "1:ncpus=3+1:ncpus=2",
         "",
         "(a0:ncpus=2+a1:ncpus=1)+(b0:ncpus=2)"},
        {{{"a0", "ha", 2}, {"a1", "ha", 2}, {"b0", "hb", 4}},
         "1:ncpus=2+1:ncpus=3+1:ncpus=1",
         "",
         "(a0:ncpus=2)+(b0:ncpus=3)+(a1:ncpus=1)"},
        {{{"a0", "ha", 4}, {"a1", "ha", 4}},
         "2:ncpus=3+1:ncpus=2",
         "",
         "(a0:ncpus=3)+(a1:ncpus=3)+(a0:ncpus=1+a1:ncpus=1)"},
        // hosts are filled one after the other, in the order of their first vnodes
        {{{"a0", "ha", 2}, {"b0", "hb", 2}, {"a1", "ha", 2}, {"b1", "hb", 2}},
         "6:ncpus=1",
         "",
         "(a0:ncpus=1)+(a0:ncpus=1)+(a1:ncpus=1)+(a1:ncpus=1)+(b0:ncpus=1)+(b0:ncpus=1)"},
        {{{"a0", "ha", 2}, {"a1", "ha", 1}, {"b0", "hb", 2}, {"b1", "hb", 1}},
         "2:ncpus=3",
         "",
         "(a0:ncpus=2+a1:ncpus=1)+(b0:ncpus=2+b1:ncpus=1)"},
    };
    for (const Case& c : cases) {
        World world;
        world.policy();
        world.queue({.name = "work"});
        world.configure();
        std::string trace = std::string(c.select) + " " + c.place + " on";
        for (const Vn& v : c.vnodes) {
            world.vnode({.name = v.name, .ncpus = v.ncpus, .mem = v.gigabytes * kGb, .host = v.host});
            trace += std::string(" ") + v.name + "=" + std::to_string(v.ncpus);
        }
        SCOPED_TRACE(trace);
        const int job = world.job({.queue = "work", .select = c.select, .place = c.place});
        EXPECT_EQ(world.cycle(at(1)).exec_vnode[job], c.exec_vnode);
    }
}

// This job would have to wait in OpenPBS, where a vnode that has no room for a whole chunk gives no pieces to
// later chunks of the same kind.
TEST_F(SharedHosts, WhatWholeChunksLeaveIsGivenInPiecesToOthersOfTheirKind) {
    vnodes({{"a0", "ha", 5}, {"a1", "ha", 4}});
    EXPECT_EQ(start("3:ncpus=3"), "(a0:ncpus=3)+(a1:ncpus=3)+(a0:ncpus=2+a1:ncpus=1)");
}

TEST_F(SharedHosts, pack_WhatWholeChunksLeaveOnTheHostIsGivenInPieces) {
    vnodes({{"a0", "ha", 2}, {"a1", "ha", 2}, {"b0", "hb", 3}, {"b1", "hb", 3}});
    EXPECT_EQ(start("3:ncpus=2", "pack"), "(b0:ncpus=2)+(b1:ncpus=2)+(b0:ncpus=1+b1:ncpus=1)");
}

TEST_F(SharedHosts, AJobWithoutSelectIsOneChunk) {
    vnodes({{"a0", "ha", 2}, {"a1", "ha", 2}});
    const int number = world.job({.queue = "work", .ncpus = 4, .mem = 2 * kGb});
    EXPECT_EQ(world.cycle(at(1)).exec_vnode[number], "(a0:ncpus=2:mem=1024mb+a1:ncpus=2:mem=1024mb)");
}

TEST_F(SharedHosts, VnodesOfHigherPriorityAndTheirHostsGoFirst) {
    vnodes({{"a0", "ha", 2}, {"a1", "ha", 2}, {"b0", "hb", 2}});
    world.vnode({.name = "b1", .ncpus = 2, .host = "hb", .priority = 5});
    EXPECT_EQ(start("1:ncpus=3"), "(b1:ncpus=2+b0:ncpus=1)");
}

TEST_F(SharedHosts, resources_available_host_SaysWhichVnodesAreOfOneHost) {
    world.vnode({.name = "a0", .ncpus = 2, .host = "h", .host_resource = "left"});
    world.vnode({.name = "b0", .ncpus = 2, .host = "h", .host_resource = "right"});
    EXPECT_EQ(start("1:ncpus=4"), "");
    world.vnode({.name = "b0", .ncpus = 2, .host = "h", .host_resource = "left"});
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(1));
}

TEST_F(SharedHosts, EachVnodeOfAChunkHasWhatMustBeEqual) {
    world.vnode({.name = "a0", .ncpus = 2, .host = "ha"});
    world.vnode({.name = "a1", .ncpus = 2, .host = "ha", .bigmem = 1});
    world.vnode({.name = "a2", .ncpus = 2, .host = "ha", .bigmem = 1});
    EXPECT_EQ(start("1:ncpus=5:bigmem=true"), "");
    EXPECT_EQ(start("1:ncpus=4:bigmem=true"), "(a1:ncpus=2+a2:ncpus=2)");
}

TEST_F(SharedHosts, AClosedVnodeGivesNoPiece) {
    vnodes({{"a0", "ha", 2}, {"a1", "ha", 2}});
    world.vnode({.name = "a2", .ncpus = 4, .host = "ha", .free = false});
    EXPECT_EQ(start("1:ncpus=4"), "(a0:ncpus=2+a1:ncpus=2)");
}

TEST_F(SharedHosts, excl_NoVnodeOfAChunkHasAnotherJob) {
    vnodes({{"a0", "ha", 2}, {"a1", "ha", 2}, {"a2", "ha", 2}});
    EXPECT_EQ(start("1:ncpus=1"), "(a0:ncpus=1)");
    EXPECT_EQ(start("1:ncpus=3", "free:excl"), "(a1:ncpus=2+a2:ncpus=1)");
    EXPECT_EQ(start("1:ncpus=2"), "") << "the CPU of a2 that is over is the other job's";
    EXPECT_EQ(start("1:ncpus=1"), "(a0:ncpus=1)");
}

TEST_F(SharedHosts, PiecesAreFreeAgainWhenTheJobEnds) {
    vnodes({{"a0", "ha", 2}, {"a1", "ha", 2}});
    EXPECT_EQ(start("1:ncpus=3"), "(a0:ncpus=2+a1:ncpus=1)");
    EXPECT_EQ(start("1:ncpus=2"), "");
    EXPECT_EQ(start("1:ncpus=1"), "(a1:ncpus=1)");
    world.finish(1, at(1));
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(2));
}

TEST_F(SharedHosts, AResourceThatNoVnodeHasIsOfTheFirstPiece) {
    vnodes({{"a0", "ha", 2}, {"a1", "ha", 2}});
    const int number = job("1:ncpus=4:ngpus=3");
    world.cycle(at(1));
    std::vector<std::vector<std::uint32_t>> resources;
    for (const auto& [vnode, held] : world.places(number)) {
        resources.emplace_back();
        for (const auto& amount : held) resources.back().push_back(amount.resource);
    }
    using Ids = std::vector<std::uint32_t>;
    EXPECT_THAT(resources, ElementsAre(Ids{ncpus, gpus}, Ids{ncpus}));
}

TEST_F(SharedHosts, AHostWithoutLimitsHasRoomForAll) {
    const std::int64_t endless = INT64_MAX;
    world.vnode({.name = "a0", .ncpus = endless, .mem = endless, .host = "ha"});
    world.vnode({.name = "a1", .ncpus = endless, .mem = endless, .host = "ha"});
    EXPECT_EQ(start("1:ncpus=1000000000"), "(a0:ncpus=1000000000)");
}

// ---- Divided chunks in kept places, in cycles after events, and in comments.

TEST_F(SharedHosts, AReservationOfPiecesHoldsOffWhoeverWouldDelayIt) {
    s.strict_ordering = true;
    s.backfill_depth = 1;
    s.schedule_log = "schedule";
    world.configure();
    world.scheduler.set_tell_estimates(true);
    vnodes({{"a0", "ha", 2}, {"a1", "ha", 2}});
    const int first = job("1:ncpus=1", "", 2 * kHour);
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(first));
    const int top = job("1:ncpus=4");
    const int too_long = job("1:ncpus=2", "", 3 * kHour);
    const int in_time = job("1:ncpus=2", "", kHour);
    const auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(in_time));
    EXPECT_EQ(outcome.expected.at(top), at(3));
    EXPECT_EQ(outcome.exec_vnode.at(top), "(a0:ncpus=2+a1:ncpus=2)");
    EXPECT_EQ(outcome.exec_vnode.at(in_time), "(a1:ncpus=2)");
    EXPECT_FALSE(world.running(too_long));
    EXPECT_THAT(outcome.schedule, HasSubstr("RESERVING"));
}

TEST_F(SharedHosts, AfterAnEndAChunkThatFitsTheHostStarts) {
    vnodes({{"a0", "ha", 2}, {"a1", "ha", 2}, {"b0", "hb", 1}});
    const int small = job("1:ncpus=1");
    const int other = job("1:ncpus=3");
    EXPECT_THAT(world.cycle(at(1), true, "default", CycleTrigger::job_new).started,
                ElementsAre(small, other));
    const int waits = job("1:ncpus=4");
    EXPECT_THAT(world.cycle(at(1), true, "default", CycleTrigger::job_new).started, IsEmpty());
    world.finish(small, at(1));
    EXPECT_THAT(world.cycle(at(1), true, "default", CycleTrigger::job_ended).started, IsEmpty());
    world.finish(other, at(1));
    EXPECT_THAT(world.cycle(at(1), true, "default", CycleTrigger::job_ended).started, ElementsAre(waits));
}

TEST_F(SharedHosts, CommentsTellWhatTheLargestHostHas) {
    vnodes({{"a0", "ha", 2}, {"a1", "ha", 2}, {"b0", "hb", 3}});
    const int large = job("1:ncpus=5");
    const int apart = job("1:ncpus=4", "vscatter");
    const auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.comment.at(large),
                HasSubstr("Can Never Run: Insufficient amount of resource: ncpus (R: 5 A: 4 T: 4)"));
    EXPECT_THAT(outcome.comment.at(apart),
                HasSubstr("Can Never Run: Insufficient amount of resource: ncpus (R: 4 A: 3 T: 3)"));
}

// ---- Hosts and algorithms that don't divide chunks.

TEST_F(SharedHosts, AHostThatTakesEachPlaceForAChunkIsGivenWholeOnes) {
    vnodes({{"a0", "ha", 2}, {"a1", "ha", 2}});
    world.scheduler.set_divide_chunks(false);
    const int number = job("1:ncpus=4");
    EXPECT_THAT(world.cycle(at(1)).started, IsEmpty());
    world.scheduler.set_divide_chunks(true);
    EXPECT_THAT(world.cycle(at(1), true, "default", CycleTrigger::job_new).started, ElementsAre(number));
}

TEST(SharedHostsOfOrigin, GiveEachChunkFromOneVnode) {
    World world;
    world.origin();
    world.vnode({.name = "a0", .ncpus = 2, .host = "ha"});
    world.vnode({.name = "a1", .ncpus = 2, .host = "ha"});
    world.configure();
    world.job({.select = "1:ncpus=4"});
    EXPECT_THAT(world.cycle(at(1)).started, IsEmpty());
    const int two = world.job({.select = "2:ncpus=2"});
    EXPECT_EQ(world.cycle(at(1)).exec_vnode[two], "(a0:ncpus=2)+(a1:ncpus=2)");
}

}  // namespace
}  // namespace pbs::sched::test
