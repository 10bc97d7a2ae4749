// Finds places for jobs on vnodes.

#include "server_plugin/scheduler/placement/vnodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "server_plugin/scheduler/placement/chunk_count.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Placing : testing::Test {
    World world;
    void SetUp() override {
        world.policy().help_starving_jobs = false;
        world.queue({.name = "work"});
    }
    Outcome cycle() {
        world.configure();
        return world.cycle(at(1));
    }
    std::vector<std::string> place(const JobOptions& options) {
        JobOptions o = options;
        o.queue = "work";
        const int job = world.job(o);
        auto outcome = cycle();
        return outcome.vnodes[job];
    }
};

TEST_F(Placing, FirstFitInTheOrderOfPriorityThenOfMaking) {
    world.vnode({.name = "a", .ncpus = 2});
    world.vnode({.name = "b", .ncpus = 4});
    world.vnode({.name = "c", .ncpus = 4, .priority = 5});
    EXPECT_THAT(place({.ncpus = 1}), ElementsAre("c"));
    EXPECT_THAT(place({.ncpus = 4}), ElementsAre("b"));
    EXPECT_THAT(place({.ncpus = 3}), ElementsAre("c"));
    EXPECT_THAT(place({.ncpus = 1}), ElementsAre("a"));
}

TEST_F(Placing, AllResourcesHaveToFitOnOneVnode) {
    world.vnode({.name = "a", .ncpus = 8, .mem = kGb});
    world.vnode({.name = "b", .ncpus = 1, .mem = 8 * kGb});
    world.vnode({.name = "c", .ncpus = 4, .mem = 4 * kGb});
    EXPECT_THAT(place({.ncpus = 2, .mem = 2 * kGb}), ElementsAre("c"));
    EXPECT_THAT(place({.ncpus = 8, .mem = 8 * kGb}), IsEmpty()) << "without chunks a job gets one vnode";
}

// A resource isn't limited if no vnode has it, even if a vnode had it before.
TEST_F(Placing, AResourceThatTheLastVnodeLosesIsNotLimited) {
    world.vnode({.name = "a", .ncpus = 16, .gpus = 1});
    world.vnode({.name = "b", .gpus = 1});
    EXPECT_THAT(place({.ncpus = 1, .gpus = 2}), IsEmpty());
    world.vnode({.name = "a", .ncpus = 16});
    EXPECT_THAT(place({.ncpus = 1, .gpus = 2}), IsEmpty());
    world.vnode({.name = "b"});
    EXPECT_THAT(place({.ncpus = 1, .gpus = 2}), testing::SizeIs(1));
    world.vnode({.name = "b", .gpus = 1});
    EXPECT_THAT(place({.ncpus = 1, .gpus = 2}), IsEmpty());
    world.scheduler.vnode_removed(world.vnode_handle("b"));
    EXPECT_THAT(place({.ncpus = 1, .gpus = 2}), testing::SizeIs(1));
}

TEST_F(Placing, select_ChunksAreSpreadOverVnodes) {
    world.vnodes(3, {.name = "n", .ncpus = 4});
    EXPECT_THAT(place({.select = "5:ncpus=2"}), ElementsAre("n", "n", "n1", "n1", "n2"));
    EXPECT_THAT(place({.select = "ncpus=2"}), ElementsAre("n2"));
    EXPECT_THAT(place({.select = "ncpus=1"}), IsEmpty());
}

TEST_F(Placing, select_ChunksOfSeveralKinds) {
    world.vnode({.name = "a", .ncpus = 4});
    world.vnode({.name = "g", .ncpus = 4, .gpus = 2});
    EXPECT_THAT(place({.select = "1:ncpus=3+2:ncpus=1:ngpus=1"}), ElementsAre("a", "g", "g"));
    EXPECT_THAT(place({.select = "ncpus=2+ncpus=1"}), ElementsAre("g", "a"));
    EXPECT_THAT(place({.select = "ncpus=1"}), IsEmpty());
}

TEST_F(Placing, select_EachChunkIsAPlaceOfItsOwn) {
    world.vnode({.name = "a", .ncpus = 8});
    const int job = world.job({.queue = "work", .select = "3:ncpus=2+1:ncpus=1"});
    cycle();
    std::vector<std::vector<std::int64_t>> amounts;
    for (const auto& [vnode, held] : world.places(job)) {
        amounts.emplace_back();
        for (const auto& amount : held) amounts.back().push_back(amount.number);
    }
    using Amounts = std::vector<std::int64_t>;
    EXPECT_THAT(amounts, ElementsAre(Amounts{2}, Amounts{2}, Amounts{2}, Amounts{1}));
}

TEST_F(Placing, select_AFailedSearchLeavesNothingTaken) {
    world.vnodes(2, {.name = "n", .ncpus = 4});
    EXPECT_THAT(place({.select = "2:ncpus=3+1:ncpus=4"}), IsEmpty());
    EXPECT_THAT(place({.select = "2:ncpus=4"}), ElementsAre("n", "n1"));
}

TEST_F(Placing, place_Scatter) {
    world.vnode({.name = "a", .ncpus = 8, .host = "h1"});
    world.vnode({.name = "b", .ncpus = 8, .host = "h1"});
    world.vnode({.name = "c", .ncpus = 8, .host = "h2"});
    EXPECT_THAT(place({.select = "3:ncpus=1", .place = "scatter"}), IsEmpty());
    EXPECT_THAT(place({.select = "2:ncpus=1", .place = "scatter"}), ElementsAre("a", "c"));
    EXPECT_THAT(place({.select = "3:ncpus=1", .place = "vscatter"}), ElementsAre("a", "b", "c"));
    EXPECT_THAT(place({.select = "1:ncpus=1+1:ncpus=2", .place = "scatter"}), ElementsAre("a", "c"));
}

TEST_F(Placing, place_Pack) {
    world.vnode({.name = "a", .ncpus = 4, .host = "h1"});
    world.vnode({.name = "b", .ncpus = 6, .host = "h2"});
    world.vnode({.name = "c", .ncpus = 6, .host = "h2"});
    EXPECT_THAT(place({.select = "5:ncpus=2", .place = "pack"}), ElementsAre("b", "b", "b", "c", "c"));
    EXPECT_THAT(place({.select = "2:ncpus=2", .place = "pack"}), ElementsAre("a", "a"));
    EXPECT_THAT(place({.select = "2:ncpus=2", .place = "pack"}), IsEmpty());
}

TEST_F(Placing, place_Exclusive) {
    world.vnodes(2, {.name = "n", .ncpus = 4});
    EXPECT_THAT(place({.ncpus = 1}), ElementsAre("n"));
    EXPECT_THAT(place({.select = "ncpus=1", .place = "free:excl"}), ElementsAre("n1"));
    EXPECT_THAT(place({.ncpus = 4}), IsEmpty()) << "n has a job, n1 is taken for one alone";
    EXPECT_THAT(place({.ncpus = 3}), ElementsAre("n"));
}

TEST_F(Placing, AStringOrBooleanOfVnodesHasToMatch) {
    world.vnode({.name = "a", .ncpus = 4, .arch = "linux"});
    world.vnode({.name = "b", .ncpus = 4, .arch = "irix", .bigmem = 1});
    EXPECT_THAT(place({.select = "ncpus=1:arch=irix"}), ElementsAre("b"));
    EXPECT_THAT(place({.select = "ncpus=1:bigmem=true"}), ElementsAre("b"));
    EXPECT_THAT(place({.select = "ncpus=1:bigmem=false"}), ElementsAre("a")) << "unset is False";
    EXPECT_THAT(place({.select = "ncpus=1:arch=hpux"}), IsEmpty());
    EXPECT_THAT(place({.select = "ncpus=1:host=b"}), ElementsAre("b"));
}

TEST_F(Placing, AResourceThatNoVnodeHasIsNotTheVnodesBusiness) {
    world.vnode({.name = "a", .ncpus = 4});
    EXPECT_THAT(place({.ncpus = 1, .gpus = 7}), ElementsAre("a"));
}

TEST_F(Placing, AVnodeOfAQueueServesThatQueueOnlyAndIsItsOnlyOne) {
    world.queue({.name = "other"});
    world.vnode({.name = "a", .ncpus = 4, .queue = "other"});
    world.vnode({.name = "b", .ncpus = 4});
    EXPECT_THAT(place({.ncpus = 1}), ElementsAre("b"));
    const int big = world.job({.queue = "other", .ncpus = 4});
    const int more = world.job({.queue = "other", .ncpus = 1});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.vnodes.at(big), ElementsAre("a"));
    EXPECT_FALSE(outcome.vnodes.contains(more));
}

TEST_F(Placing, AnUnreadableRequestIsToldOf) {
    world.vnode({.name = "a"});
    const int job = world.job({.queue = "work", .select = "2:ncpus=x"});
    const int group = world.job({.queue = "work", .select = "ncpus=1", .place = "group=rack"});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_THAT(outcome.comment.at(job), HasSubstr("can't be scheduled here"));
    EXPECT_THAT(outcome.comment.at(group), HasSubstr("can't be scheduled here"));
}

TEST_F(Placing, AmountsThatAreNegativeOrOverflowAreToldOf) {
    world.vnode({.name = "a", .ncpus = 4});
    for (const char* select : {"ncpus=-1", "10000000:mem=9000000000gb", "ncpus=9223372036854775807",
                               "1:ncpus=1000000000000000000+ncpus=1000000000000000000", "0:ncpus=1",
                               "99999999:ncpus=1", "ncpus=9223372036854775808"}) {
        const int job = world.job({.queue = "work", .select = select});
        EXPECT_THAT(cycle().comment[job], HasSubstr("can't be scheduled here")) << select;
    }
    EXPECT_THAT(place({.ncpus = 1, .walltime = INT64_MAX}), ElementsAre("a"));
}

TEST_F(Placing, WhatRunningJobsHoldIsFreeAgainWhenTheyEnd) {
    world.vnode({.name = "a", .ncpus = 4});
    EXPECT_THAT(place({.ncpus = 4}), ElementsAre("a"));
    EXPECT_THAT(place({.ncpus = 1}), IsEmpty());
    world.finish(1, at(2));
    EXPECT_THAT(place({.ncpus = 2}), ElementsAre("a"));
}

TEST_F(Placing, AVnodeThatComesOrGrowsOrGoesCountsAtOnce) {
    world.vnode({.name = "a", .ncpus = 2});
    EXPECT_THAT(place({.ncpus = 2}), ElementsAre("a"));
    world.vnode({.name = "a", .ncpus = 3});
    EXPECT_THAT(place({.ncpus = 1}), ElementsAre("a")) << "job 1 still holds two";
    world.vnode({.name = "b", .ncpus = 2, .gpus = 1});
    EXPECT_THAT(place({.ncpus = 2, .gpus = 1}), ElementsAre("b"));
    world.vnode({.name = "b", .ncpus = 9, .free = false, .gpus = 1});
    EXPECT_THAT(place({.ncpus = 1}), IsEmpty());
}

TEST(VnodesTest, ACorrectedStartChangesOnlyTheLoad) {
    Interner strings;
    Resources resources;
    Vnodes vnodes(strings);
    resources.define({0, ResourceKind::integer, "ncpus", true});
    vnodes.rebuild(resources);
    const Amount four{0, 4, {}};
    VnodeRecord record;
    record.host = record.name = "h";
    record.resources_available = {&four, 1};
    record.load_thousandths = 1000;
    record.max_load_thousandths = 3000;
    record.load_at = at(5);
    for (const std::uint64_t handle : {1U, 2U}) {  // two vnodes of the same host
        record.vnode = VnodeHandle{handle};
        vnodes.change(record, resources);
    }
    const Amount one{0, 1, {}};
    const std::array places{Place{VnodeHandle{1}, {&one, 1}}, Place{VnodeHandle{2}, {&one, 1}},
                            Place{VnodeHandle{1}, {&one, 1}}};
    vnodes.allocate(0, places, Request{}, at(4));
    const std::uint64_t changes = vnodes.changes();
    EXPECT_FALSE(vnodes.is_loaded(0)) << "the job is part of the measured load";
    EXPECT_THAT(vnodes.starts(0, at(4)), IsEmpty());
    vnodes.set_started(0, at(6));
    EXPECT_TRUE(vnodes.is_loaded(0) && vnodes.is_loaded(1));
    const auto starts = vnodes.starts(0, at(4));
    ASSERT_EQ(starts.size(), 1U) << "one job";
    EXPECT_EQ(starts.front().began, at(6));
    EXPECT_EQ(starts.front().cpus, 3);
    vnodes.set_started(0, at(4));
    EXPECT_FALSE(vnodes.is_loaded(0));
    EXPECT_EQ(vnodes.changes(), changes);
    EXPECT_EQ(vnodes.free_amount(0, 0), 2);
    vnodes.set_started(0, at(6));
    vnodes.release(0);
    EXPECT_FALSE(vnodes.is_loaded(0));
    vnodes.set_started(0, at(7));  // the host released job 0, so the report of its start changes nothing
    EXPECT_THAT(vnodes.starts(0, at(4)), IsEmpty());
}

TEST(VnodesTest, ASearchAheadInOnePoolChangesNothingInAnother) {
    Interner strings;
    Resources resources;
    Requests requests;
    Vnodes vnodes(strings);
    resources.define({0, ResourceKind::integer, "ncpus", true});
    resources.define({1, ResourceKind::string, "select", false});
    resources.define({2, ResourceKind::string, "place", false});
    vnodes.rebuild(resources);
    const Amount four{0, 4, {}};
    for (const char* name : {"n1", "n2"}) {
        VnodeRecord record;
        record.vnode = VnodeHandle{name[1] == '1' ? 1U : 2U};
        record.name = name;
        record.host = "h";
        record.resources_available = {&four, 1};
        vnodes.change(record, resources);
    }
    const PoolId all = vnodes.pool({}, 0, 0);
    const PoolId of_host = vnodes.pool({}, strings.id("h"), 0);
    ASSERT_NE(all, of_host);
    const Amount one{0, 1, {}};
    const Place place{VnodeHandle{1}, {&one, 1}};
    constexpr JobSlot kRunning = 0;
    vnodes.allocate(kRunning, {&place, 1}, Request{});

    const auto request = [&](std::string_view select, std::string_view how) -> const Request& {
        const std::array amounts{Amount{1, 0, select}, Amount{2, 0, how}};
        return requests[requests.acquire(amounts, resources)];
    };
    // look ahead to a time at which n1 is empty, as its job has ended
    Vnodes::Shares shares;
    vnodes.shares_held(kRunning, shares);
    vnodes.look_ahead(shares, 1);
    vnodes.settle(all);
    ASSERT_TRUE(vnodes.has_place(all, request("ncpus=2+ncpus=4", "free"), {}));
    vnodes.look_ahead(shares, -1);
    vnodes.settle(all);

    Placement alone;
    ASSERT_TRUE(vnodes.find(of_host, request("ncpus=1", "free:excl"), {}, alone));
    EXPECT_EQ(vnodes[alone.parts.at(0).vnode].handle, VnodeHandle{2}) << "n1 has a job now";
}

TEST(VnodesTest, AShortageIsOfWhatVnodesHaveNow) {
    Interner strings;
    Resources resources;
    Requests requests;
    Vnodes vnodes(strings);
    resources.define({0, ResourceKind::integer, "ncpus", true});
    vnodes.rebuild(resources);
    const auto tell = [&](std::int64_t ncpus) {
        const Amount amount{0, ncpus, {}};
        VnodeRecord record;
        record.vnode = VnodeHandle{1};
        record.name = record.host = "n";
        record.resources_available = {&amount, 1};
        vnodes.change(record, resources);
    };
    const Amount eight{0, 8, {}};
    const Request& request = requests[requests.acquire({&eight, 1}, resources)];
    tell(2);
    const PoolId pool = vnodes.pool({}, 0, 0);
    EXPECT_EQ(vnodes.shortage(pool, request, {}).total, 2);
    tell(4);
    ASSERT_EQ(vnodes.pool({}, 0, 0), pool) << "the same vnodes";
    EXPECT_EQ(vnodes.shortage(pool, request, {}).total, 4);
}

// A reservation needs three of the four CPUs from `start` on.
TEST(VnodesTest, AReservationBindsJobsThatEndLater) {
    Interner strings;
    Resources resources;
    Requests requests;
    Vnodes vnodes(strings);
    resources.define({0, ResourceKind::integer, "ncpus", true});
    vnodes.rebuild(resources);
    const Amount four{0, 4, {}};
    VnodeRecord record;
    record.vnode = VnodeHandle{1};
    record.name = record.host = "n";
    record.resources_available = {&four, 1};
    vnodes.change(record, resources);
    const PoolId pool = vnodes.pool({}, 0, 0);
    const auto asks = [&](std::int64_t ncpus) {
        const Amount amount{0, ncpus, {}};
        return requests.acquire({&amount, 1}, resources);
    };
    const std::uint32_t one = asks(1);
    const std::uint32_t two = asks(2);
    const std::uint32_t three = asks(3);
    const Instant start{std::chrono::seconds(1000)};
    const auto fits = [&](std::uint32_t request, Instant ends) {
        PlaceRules rules;
        rules.ends = ends;
        return vnodes.has_place(pool, requests[request], rules);
    };
    const Instant later = start + std::chrono::seconds(1);
    Placement placement;
    ASSERT_TRUE(vnodes.find(pool, requests[three], {}, placement));
    vnodes.reserve(0, {start, Instant::max()}, placement, requests[three], {});
    EXPECT_THAT(vnodes.reserved(), ElementsAre(0));
    EXPECT_TRUE(fits(three, start));
    EXPECT_TRUE(fits(one, later));
    EXPECT_FALSE(fits(two, later));

    vnodes.suspend(0, true);
    EXPECT_TRUE(fits(two, later));
    vnodes.suspend(0, false);

    Placement other;
    ASSERT_TRUE(vnodes.find(pool, requests[one], {}, other));
    PlaceRules ends;
    ends.ends = start;
    vnodes.use_reserved(other, requests[one], ends);
    EXPECT_TRUE(fits(one, later)) << "a job that is over by then uses nothing up";
    ends.ends = later;
    vnodes.use_reserved(other, requests[one], ends);
    EXPECT_FALSE(fits(one, later));

    vnodes.clear_reservations();
    EXPECT_TRUE(fits(three, later));
}

// Two vnodes of four CPUs, and the start of a reservation.
struct TwoVnodes : testing::Test {
    Interner strings;
    Resources resources;
    Requests requests;
    Vnodes vnodes{strings};
    PoolId pool = 0;
    const Instant start{std::chrono::seconds(1000)};
    const Instant later{std::chrono::seconds(2000)};

    void SetUp() override {
        resources.define({0, ResourceKind::integer, "ncpus", true});
        resources.define({1, ResourceKind::string, "select", false});
        vnodes.rebuild(resources);
        for (std::uint64_t i = 1; i <= 2; ++i) {
            const Amount four{0, 4, {}};
            const std::string name = "n" + std::to_string(i);
            VnodeRecord record;
            record.vnode = VnodeHandle{i};
            record.name = record.host = name;
            record.resources_available = {&four, 1};
            vnodes.change(record, resources);
        }
        pool = vnodes.pool({}, 0, 0);
    }
    Request asks(const char* select) {
        const Amount amount{1, 0, select};
        return requests[requests.acquire({&amount, 1}, resources)];
    }
    Placement place(const Request& request) {
        Placement placement;
        EXPECT_TRUE(vnodes.find(pool, request, {}, placement));
        return placement;
    }
    bool fits(const Request& request, Instant ends) {
        PlaceRules rules;
        rules.ends = ends;
        return vnodes.has_place(pool, request, rules);
    }
};

TEST_F(TwoVnodes, ChunksAreCountedAsVnodesChange) {
    const Request request = asks("3:ncpus=2");
    const Request whole = asks("1:ncpus=4");
    ChunkCount count(vnodes, pool, request, {}, start);
    EXPECT_TRUE(count.may_fit());
    Vnodes::Shares shares;
    vnodes.shares_of(place(whole), whole, {}, shares);
    vnodes.look_ahead(shares, -1);
    EXPECT_TRUE(count.may_fit()) << "it isn't told yet";
    count.take_up(vnodes.not_settled(), start);
    EXPECT_FALSE(count.may_fit()) << "n2 has room for two";
    vnodes.look_ahead(shares, 1);
    count.take_up(vnodes.not_settled(), start);
    EXPECT_TRUE(count.may_fit());
    vnodes.settle(pool);
}

TEST_F(TwoVnodes, ChunksAreCountedBesideReservations) {
    const Request request = asks("3:ncpus=2");
    const Request three = asks("1:ncpus=3");
    vnodes.reserve(0, {start, later}, place(three), three, {});
    EXPECT_TRUE(ChunkCount(vnodes, pool, request, {}, start).may_fit());
    ChunkCount count(vnodes, pool, request, {}, later);
    EXPECT_FALSE(count.may_fit());
    vnodes.suspend(0, true);  // the reservation has begun
    const VnodeSlot first = vnodes.find(VnodeHandle{1});
    count.take_up({&first, 1}, later);
    EXPECT_TRUE(count.may_fit());
}

TEST_F(TwoVnodes, ChunksOfTheFirstKindsAreCounted) {
    std::string select;
    for (std::size_t kind = 1; kind < ChunkCount::kMostKinds; ++kind)
        select += kind % 2 == 0 ? "1:ncpus=1+" : "1:ncpus=2+";
    const auto may_fit = [&](const char* last) {
        const Request request = asks((select + last).c_str());
        return ChunkCount(vnodes, pool, request, {}, start).may_fit();
    };
    EXPECT_FALSE(may_fit("3:ncpus=3"));
    EXPECT_TRUE(may_fit("1:ncpus=3+3:ncpus=4"));
}

// A reservation that is made in the present state of the vnodes counts the amounts that are free at its
// start: earlier reservations have begun or ended by then.
TEST_F(TwoVnodes, AReservationForLaterIsMadeBesideEarlierOnes) {
    const Request three = asks("1:ncpus=3");
    const Request two = asks("1:ncpus=2");
    const Request one = asks("1:ncpus=1");
    const Instant between{std::chrono::seconds(1500)};
    const Instant end{std::chrono::seconds(3000)};
    const std::vector<JobSlot> none;
    const Placement on_first = place(three);
    vnodes.reserve(0, {start, later}, on_first, three, {}, none);
    const Placement of_one = place(one);
    vnodes.reserve(1, {between, end}, of_one, one, {}, none);
    const auto fits_on_first = [&](const Request& request, Instant ends) {
        PlaceRules rules;
        rules.ends = ends;
        return vnodes.has_room(pool, request, rules, of_one);
    };
    EXPECT_TRUE(fits_on_first(one, between)) << "it ends before the second begins";
    EXPECT_FALSE(fits_on_first(one, end)) << "the two use all CPUs of n1";
    vnodes.suspend(0, true);
    EXPECT_FALSE(fits_on_first(one, end)) << "the second leaves what the first leaves";
    vnodes.clear_reservations();
    vnodes.reserve(0, {start, between}, on_first, three, {}, none);
    vnodes.reserve(1, {between, end}, of_one, one, {}, none);
    vnodes.suspend(0, true);
    EXPECT_TRUE(fits_on_first(one, end)) << "the first has ended when the second begins";
    EXPECT_TRUE(fits(two, end));
}

TEST(NodeSizeTest, TheLargerOfCpusAndMemoryRoundedUp) {
    const NodeSize size{2, 512 * kMb};
    EXPECT_EQ(size.nodes(1, -1), 1);
    EXPECT_EQ(size.nodes(3, -1), 2);
    EXPECT_EQ(size.nodes(2, 512 * kMb + 1), 2);
    EXPECT_EQ(size.nodes(-1, -1), 1);
    EXPECT_EQ(size.nodes(128, 31360 * kMb), 64);
}

}  // namespace
}  // namespace pbs::sched::test
