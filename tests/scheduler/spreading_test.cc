// Tests chunk_order, per_host, range_sets and prefer: the vnodes on which a job's chunks are placed.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "server_plugin/scheduler/model/preferences.h"
#include "tests/cases.h"
#include "tests/scheduler/quotas.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns the vnodes of a job with the number of chunks on each, such as "A2 B2".
std::string summary(const std::vector<std::string>& vnodes) {
    std::string text;
    for (std::size_t i = 0; i < vnodes.size();) {
        const auto end = std::find_if(vnodes.begin() + static_cast<std::ptrdiff_t>(i), vnodes.end(),
                                      [&](const std::string& name) { return name != vnodes[i]; });
        const auto count = static_cast<std::size_t>(end - vnodes.begin()) - i;
        text += fmt::format("{}{}{}", text.empty() ? "" : " ", vnodes[i], count);
        i += count;
    }
    return text;
}

struct SpreadChunks : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        s.help_starving_jobs = false;
        world.queue({.name = "work"});
        for (const auto& [name, cpus] : {std::pair("A", 4), {"B", 2}, {"C", 3}})
            world.vnode({.name = name, .ncpus = cpus});
        world.configure();
    }
    int job(JobOptions options) {
        options.queue = "work";
        return world.job(options);
    }
    // Returns the summary() of the vnodes on which a job starts when no other job runs; its comment if it
    // doesn't start.
    std::string place(const JobOptions& options) {
        const int number = job(options);
        const Outcome outcome = world.cycle(at(9));
        world.finish(number, at(9));
        return outcome.started.empty() ? outcome.comment.at(number) : summary(outcome.vnodes.at(number));
    }
};

// The vnodes A, B and C have 4, 2 and 3 free CPUs. Chunks are spread as by allocation rules of Grid Engine.
TEST_F(SpreadChunks, AreThoseOfAllocationRules) {
    const char* six = "6:ncpus=1";
    EXPECT_EQ(place({.select = six}), "A4 B2");
    EXPECT_EQ(place({.select = six, .chunk_order = "round_robin"}), "A2 B2 C2");
    EXPECT_EQ(place({.select = six, .per_host = 2}), "A2 B2 C2");
    EXPECT_EQ(place({.select = six, .per_host = 3}), "A3 C3");
    EXPECT_EQ(place({.select = six, .per_host = 1}), "Can Never Run: Not enough total nodes available");
    EXPECT_THAT(place({.select = six, .per_host = 4}),
                HasSubstr("Can Never Run: 6 chunks, 4 on each host, can't be scheduled here"));
    EXPECT_EQ(place({.select = "1:ncpus=1", .select_range = "1-12", .per_host = 3}), "A3 C3");
    EXPECT_EQ(place({.select = "8:ncpus=1", .chunk_order = "round_robin"}), "A3 B2 C3");
    EXPECT_EQ(place({.select = "9:ncpus=1", .chunk_order = "round_robin"}), "A4 B2 C3");
}

TEST_F(SpreadChunks, ByThePolicyUnlessTheJobSaysOtherwise) {
    s.chunk_order = ChunkOrder::round_robin;
    world.configure();
    EXPECT_EQ(place({.select = "4:ncpus=1"}), "A2 B1 C1");
    EXPECT_EQ(place({.select = "4:ncpus=1", .chunk_order = "fill"}), "A4");
    EXPECT_EQ(place({.select = "3:ncpus=1", .place = "pack"}), "A3");
    EXPECT_EQ(place({.select = "2:ncpus=1+2:ncpus=1"}), "A1 B1 A1 B1");
}

TEST_F(SpreadChunks, WordsThatCanNotBeActedOnAreTold) {
    EXPECT_THAT(
        place({.select = "2:ncpus=1", .chunk_order = "spiral"}),
        HasSubstr("Can Never Run: chunk_order=spiral can't be scheduled here: expected fill or round_robin"));
    EXPECT_THAT(place({.select = "2:ncpus=1", .place = "scatter", .chunk_order = "round_robin"}),
                HasSubstr("chunk_order=round_robin with another place than free"));
    EXPECT_THAT(place({.select = "2:ncpus=1", .place = "pack", .per_host = 1}),
                HasSubstr("per_host=1 with another place than free"));
    EXPECT_THAT(place({.select = "2:ncpus=1", .per_host = 0}),
                HasSubstr("per_host=0 can't be scheduled here: expected 1 or more"));
    EXPECT_THAT(place({.select = "2:ncpus=1", .place = "pack", .per_host = 0}),
                HasSubstr("Can Never Run: per_host=0 can't"));
    EXPECT_THAT(place({.select = "2:ncpus=1", .place = "pack", .chunk_order = "spiral"}),
                HasSubstr("Can Never Run: chunk_order=spiral can't"));
    EXPECT_THAT(place({.select = "2:ncpus=1+1:ncpus=1", .per_host = 1}),
                HasSubstr("per_host=1 with several kinds of chunks"));
    EXPECT_THAT(place({.select = "1:ncpus=1", .select_range = "1-4", .per_host = 5}),
                HasSubstr("Can Never Run: "));
}

// One chunk can't be spread. A server gives a job without select place=pack, and the site's defaults of the
// resources.
TEST_F(SpreadChunks, DoNotConcernAJobOfOneChunk) {
    EXPECT_EQ(place({.ncpus = 2, .place = "pack", .chunk_order = "round_robin"}), "A1");
    EXPECT_EQ(place({.ncpus = 2, .place = "pack", .per_host = 2}), "A1");
    EXPECT_EQ(place({.select = "1:ncpus=2", .place = "scatter", .chunk_order = "round_robin"}), "A1");
    EXPECT_EQ(place({.select = "1:ncpus=2", .per_host = 2}), "A1");
    EXPECT_THAT(place({.ncpus = 2, .place = "pack", .chunk_order = "spiral"}),
                HasSubstr("chunk_order=spiral"));
    EXPECT_THAT(place({.ncpus = 2, .per_host = 0}), HasSubstr("per_host=0"));
}

// per_host and the rounds of round_robin treat the vnodes of a host as one, even if they give a chunk in
// pieces.
TEST_F(SpreadChunks, OnHostsOfSeveralVnodes) {
    World other;
    (void)other.policy();
    other.queue({.name = "work"});
    for (const auto& [name, host_name] : {std::pair("a0", "a"), {"a1", "a"}, {"b0", "b"}, {"b1", "b"}})
        other.vnode({.name = name, .ncpus = 3, .host = host_name});
    other.configure();
    const auto placed = [&](const JobOptions& options) {
        const int number = other.job(options);
        const Outcome outcome = other.cycle(at(9));
        other.finish(number, at(9));
        return outcome.started.empty() ? "none" : outcome.exec_vnode.at(number);
    };
    EXPECT_EQ(placed({.queue = "work", .select = "6:ncpus=2", .per_host = 3}),
              "(a0:ncpus=2)+(a1:ncpus=2)+(a0:ncpus=1+a1:ncpus=1)+(b0:ncpus=2)+(b1:ncpus=2)+(b0:ncpus=1+b1:"
              "ncpus=1)");
    EXPECT_EQ(placed({.queue = "work", .select = "4:ncpus=2", .chunk_order = "round_robin"}),
              "(a0:ncpus=2)+(a1:ncpus=2)+(b0:ncpus=2)+(b1:ncpus=2)");
    EXPECT_EQ(placed({.queue = "work", .select = "5:ncpus=2", .chunk_order = "round_robin"}),
              "(a0:ncpus=2)+(a1:ncpus=2)+(b0:ncpus=2)+(b1:ncpus=2)+(a0:ncpus=1+a1:ncpus=1)");
    EXPECT_EQ(placed({.queue = "work", .select = "8:ncpus=2", .per_host = 4}), "none");
}

TEST_F(SpreadChunks, QuotasOfVnodesCountForEachRound) {
    s.quotas.push_back(quota({.rules = {{"few", "vnodes=A,B to ncpus=3"}}}));
    world.configure();
    EXPECT_EQ(place({.select = "6:ncpus=1", .chunk_order = "round_robin"}), "A2 B1 C3");
}

// Also if chunks aren't divided, round_robin goes on with other vnodes when a quota refuses one.
TEST_F(SpreadChunks, RoundsGoOnBeyondVnodesThatQuotasRefuse) {
    world.scheduler.set_divide_chunks(false);
    s.quotas.push_back(quota({.rules = {{"few", "vnodes=A,B to ncpus=1"}}}));
    world.configure();
    EXPECT_EQ(place({.select = "2:ncpus=1", .chunk_order = "round_robin"}), "A1 C1");
    EXPECT_EQ(place({.select = "4:ncpus=1", .chunk_order = "round_robin"}), "A1 C3");
    EXPECT_EQ(place({.select = "3:ncpus=1", .per_host = 3}), "C3");
}

TEST_F(SpreadChunks, OriginActsOnNone) {
    World origin;
    origin.origin({"batch"});
    origin.vnode({.name = "A", .ncpus = 4});
    origin.configure();
    for (const JobOptions& options : {JobOptions{.select = "3:ncpus=1", .per_host = 2},
                                      JobOptions{.select = "3:ncpus=1", .chunk_order = "spiral"},
                                      JobOptions{.select = "3:ncpus=1", .prefer = "what"}}) {
        const int job = origin.job(options);
        EXPECT_THAT(origin.cycle(at(9)).started, ElementsAre(job));
        origin.finish(job, at(9));
    }
}

// No multiple of so large a per_host is in the range; and ten million chunks, the most that a select may
// have, cause no overflow. Under the sanitizers a tenth of them takes long enough.
TEST_F(SpreadChunks, LargeNumbers) {
    EXPECT_THAT(place({.select = "4:ncpus=1", .select_range = "4-16:2", .per_host = INT64_MAX / 16}),
                HasSubstr("Can Never Run: 4-16:2 chunks, "));
    constexpr std::size_t kChunks = PBS_SANITIZED != 0 ? 1'000'000 : 10'000'000;
    const int many = job({.select = fmt::format("{}:ncpus=0", kChunks), .chunk_order = "round_robin"});
    const Outcome outcome = world.cycle(at(9), false);
    EXPECT_THAT(outcome.started, ElementsAre(many));
    EXPECT_EQ(outcome.vnodes.at(many).size(), kChunks);
}

// Compares two options with a simple implementation: round_robin, in which each vnode gives one chunk per
// round; and per_host, with which each host gives exactly `per_host` chunks.
TEST(SpreadProperty, EqualsThePlainRules) {
    for (unsigned seed = 1; seed <= static_cast<unsigned>(pbs::test::cases(300)); ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
        World world;
        Settings& s = world.policy();
        world.queue({.name = "work"});
        const int hosts = pick(1, 6);
        const int cpus = pick(1, 3);
        std::vector<int> room;
        for (int i = 0; i < hosts; ++i) {
            const int has = pick(0, 12);
            world.vnode({.name = fmt::format("n{}", i), .ncpus = has});
            room.push_back(has / cpus);
        }
        const bool by_host = pick(0, 1) == 0;
        const int per_host = by_host ? pick(1, 4) : -1;
        const int count = by_host ? per_host * pick(1, 4) : pick(1, 15);
        if (!by_host) s.chunk_order = ChunkOrder::round_robin;
        world.configure();
        std::vector<int> given(room.size(), 0);
        int left = count;
        if (by_host) {
            for (std::size_t i = 0; i < room.size() && left > 0; ++i)
                if (room[i] >= per_host) left -= given[i] = per_host;
        } else {
            for (bool any = true; any && left > 0;) {
                any = false;
                for (std::size_t i = 0; i < room.size() && left > 0; ++i)
                    if (given[i] < room[i]) {
                        ++given[i];
                        --left;
                        any = true;
                    }
            }
        }
        std::vector<std::string> expected;
        for (std::size_t i = 0; i < given.size(); ++i)
            expected.insert(expected.end(), static_cast<std::size_t>(given[i]), fmt::format("n{}", i));
        const int job = world.job(
            {.queue = "work", .select = fmt::format("{}:ncpus={}", count, cpus), .per_host = per_host});
        const Outcome outcome = world.cycle(at(9));
        EXPECT_EQ(outcome.started.empty(), left > 0);
        if (left == 0 && !outcome.started.empty()) EXPECT_EQ(outcome.vnodes.at(job), expected);
    }
}

// ---- Placement sets of jobs with a range of chunks.

struct RangeSets : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        world.queue({.name = "work", .node_group_key = "arch"});
        ServerRecord record;
        record.name = record.host_name = "server";
        record.node_group_enable = true;
        world.server(record);
        for (const auto& [name, rack, cpus] : {std::tuple("s1", "small", 2),
                                               {"s2", "small", 2},
                                               {"l1", "large", 4},
                                               {"l2", "large", 4},
                                               {"l3", "large", 4}})
            world.vnode({.name = name, .ncpus = cpus, .arch = rack});
        world.configure();
    }
    std::string place(const std::string& range, const std::string& prefer = "") {
        const int number =
            world.job({.queue = "work", .select = "1:ncpus=1", .select_range = range, .prefer = prefer});
        const Outcome outcome = world.cycle(at(9));
        world.finish(number, at(9));
        return outcome.started.empty() ? "none" : summary(outcome.vnodes.at(number));
    }
};

TEST_F(RangeSets, TheSmallestOrTheOneThatGivesMost) {
    EXPECT_EQ(place("2-16"), "s12 s22") << "the first set with room for 2, and the most there";
    EXPECT_EQ(place("6-16"), "l14 l24 l34");
    s.range_sets = "largest";
    world.configure();
    EXPECT_EQ(place("2-16"), "l14 l24 l34");
    EXPECT_EQ(place("1-4"), "s12 s22") << "of equal numbers the smaller set";
    EXPECT_EQ(place("1-4", "host=l?"), "l14") << "or the preferred one";
}

TEST_F(RangeSets, AJobThatNoSetCanHoldPerHostSpansThem) {
    const int job = world.job({.queue = "work", .select = "8:ncpus=1", .per_host = 4});
    EXPECT_EQ(summary(world.cycle(at(9)).vnodes.at(job)), "l14 l24");
    world.finish(job, at(9));
    const int pairs = world.job({.queue = "work", .select = "10:ncpus=1", .per_host = 2});
    EXPECT_EQ(summary(world.cycle(at(9)).vnodes.at(pairs)), "s12 s22 l12 l22 l32");
}

// ---- Preferences for vnodes (prefer).

TEST(Preferences, AreRead) {
    Resources resources;
    resources.define({1, ResourceKind::size, "mem", true});
    resources.define({2, ResourceKind::string_array, "model", false});
    resources.define({3, ResourceKind::boolean, "gpu", false});
    const auto read = [&](const char* text) { return parse_preferences(text, resources); };
    const auto three = read("mem>=64gb+model=a1*+gpu=True").value();
    ASSERT_EQ(three.size(), 3U);
    EXPECT_TRUE(three[0].is_met(std::int64_t{64} << 30));
    EXPECT_FALSE(three[0].is_met((std::int64_t{64} << 30) - 1));
    EXPECT_TRUE(three[1].is_met("v100,a100"));
    EXPECT_FALSE(three[1].is_met("v100"));
    EXPECT_TRUE(three[2].is_met(1));
    EXPECT_TRUE(read("model!=v?00").value()[0].is_met("a100"));
    EXPECT_FALSE(read("model!=v?00").value()[0].is_met("a100,v100"));
    EXPECT_EQ(read("nobody=1").value()[0].resource, kNoResource);
    for (const auto& [op, less, same, more] : {std::tuple("<", 1, 0, 0),
                                               {"<=", 1, 1, 0},
                                               {"=", 0, 1, 0},
                                               {">=", 0, 1, 1},
                                               {">", 0, 0, 1},
                                               {"!=", 1, 0, 1}}) {
        const Preference one = read(fmt::format("mem{}5b", op).c_str()).value()[0];
        EXPECT_EQ(one.is_met(4), less != 0) << op;
        EXPECT_EQ(one.is_met(5), same != 0) << op;
        EXPECT_EQ(one.is_met(6), more != 0) << op;
    }
    for (const char* bad : {"", "mem", "mem>=", "=5", "mem>=x", "model<a", "gpu>True", "mem=5b+", "+mem=5b",
                            "mem!5b", "gpu=maybe"})
        EXPECT_FALSE(read(bad)) << bad;
    std::string many = "mem=1b";
    for (int i = 1; i < 20; ++i) many += "+mem=1b";
    EXPECT_TRUE(read(many.c_str()));
    EXPECT_FALSE(read((many + "+mem=1b").c_str()));
}

struct PreferredVnodes : testing::Test {
    World world;
    Settings& s = world.policy();
    static constexpr const char* kWish = "bigmem=True+mem>=64gb";
    void SetUp() override {
        s.help_starving_jobs = false;
        world.queue({.name = "work"});
        world.vnode({.name = "A", .ncpus = 2, .mem = 8 * kGb});
        world.vnode({.name = "B", .ncpus = 2, .mem = 64 * kGb});
        world.vnode({.name = "C", .ncpus = 2, .mem = 64 * kGb, .bigmem = 1});
        world.configure();
        world.scheduler.set_tell_estimates(true);
    }
    std::string place(JobOptions options) {
        options.queue = "work";
        const int number = world.job(options);
        const Outcome outcome = world.cycle(at(9));
        world.finish(number, at(9));
        return outcome.started.empty() ? outcome.comment.at(number) : summary(outcome.vnodes.at(number));
    }
    void fill(const char* vnode, Instant until) {
        const int job = world.job({.queue = "work", .ncpus = 2, .walltime = (until - at(8)).count()});
        world.run(job, "work", vnode, at(8));
    }
};

TEST_F(PreferredVnodes, GoBeforeTheOrderOfVnodes) {
    EXPECT_EQ(place({.ncpus = 1}), "A1");
    EXPECT_EQ(place({.ncpus = 1, .prefer = kWish}), "C1");
    EXPECT_EQ(place({.ncpus = 1, .prefer = "host=B"}), "B1");
    EXPECT_EQ(place({.ncpus = 1, .prefer = "host!=A"}), "B1");
    EXPECT_EQ(place({.ncpus = 1, .prefer = "host=nowhere"}), "A1") << "all miss it";
    EXPECT_EQ(place({.select = "3:ncpus=1", .prefer = kWish}), "C2 B1");
    EXPECT_EQ(place({.select = "2:ncpus=1", .place = "scatter", .prefer = kWish}), "C1 B1");
    EXPECT_EQ(place({.select = "2:ncpus=1", .place = "pack", .prefer = kWish}), "C2");
    EXPECT_EQ(place({.select = "3:ncpus=1", .chunk_order = "round_robin", .prefer = kWish}), "C1 B1 A1");
    EXPECT_EQ(place({.select = "4:ncpus=1", .per_host = 2, .prefer = kWish}), "C2 B2");
    EXPECT_THAT(
        place({.ncpus = 1, .prefer = "mem>=lots"}),
        HasSubstr(
            "Can Never Run: prefer=mem>=lots can't be scheduled here: expected at most 20 with + between"));
    // Comments stay short, whatever users write.
    const std::string beginning = "mem>=lots" + std::string(91, '+');
    EXPECT_THAT(place({.ncpus = 1, .prefer = beginning + std::string(20000, '-') + std::string(100, '+')}),
                HasSubstr("Can Never Run: prefer=" + beginning + " ... " + std::string(100, '+')));
    s.preferences = false;
    world.configure();
    EXPECT_EQ(place({.ncpus = 1, .prefer = kWish}), "A1");
}

TEST_F(PreferredVnodes, AnExplanationNamesThoseThatMissIt) {
    const int job = world.job({.queue = "work", .select = "5:ncpus=1", .prefer = kWish});
    const auto told = world.scheduler.explain(at(9), world.id(job)).value();
    ASSERT_EQ(told.missed.size(), 2U);
    EXPECT_EQ(told.missed[0].preference, "bigmem=True");
    EXPECT_EQ(told.missed[0].vnodes, "A, B");
    EXPECT_EQ(told.missed[1].preference, "mem>=64gb");
    EXPECT_EQ(told.missed[1].vnodes, "A");
    world.finish(job, at(9));
    const int takes = world.job({.queue = "work", .ncpus = 1, .mem = kGb, .prefer = kWish});
    EXPECT_TRUE(world.scheduler.explain(at(9), world.id(takes)).value().missed.empty())
        << "C had enough when it was placed";
}

// Also for a job that starts later, that runs, or whose start is tested.
TEST_F(PreferredVnodes, AnExplanationNamesThoseThatMissItAtOtherStarts) {
    for (const char* vnode : {"B", "C"}) fill(vnode, at(12));
    fill("A", at(10));
    const int waits = world.job({.queue = "work", .ncpus = 1, .walltime = kHour, .prefer = "mem>=64gb"});
    (void)world.cycle(at(9));
    const auto missed = [&](const Explanation& told) {
        std::string all;
        for (const auto& one : told.missed) all += one.preference + " not on " + one.vnodes + "; ";
        return all;
    };
    const auto told = world.scheduler.explain(at(9), world.id(waits)).value();
    EXPECT_EQ(told.queues.at(0).earliest_start, at(10));
    EXPECT_EQ(missed(told), "mem>=64gb not on A; ");
    const int runs = world.job({.queue = "work", .ncpus = 1, .prefer = "bigmem=True+mem>=8gb"});
    world.run(runs, "work", "A", at(9));
    EXPECT_EQ(missed(world.scheduler.explain(at(9), world.id(runs)).value()), "bigmem=True not on A; ");
    s.preferences = false;
    world.configure();
    EXPECT_EQ(missed(world.scheduler.explain(at(9), world.id(runs)).value()), "");
    EXPECT_EQ(missed(world.scheduler.explain(at(9), world.id(waits)).value()), "");
    s.preferences = true;
    world.configure();
    world.vnode({.name = "D", .ncpus = 2, .mem = 8 * kGb});
    const Amount one{ncpus, 1, {}};
    const Place place{world.vnode_handle("D"), {&one, 1}};
    Explanation tested;
    (void)world.scheduler.test_start(at(9), JobHandle(static_cast<std::uint64_t>(waits)), {&place, 1},
                                     &tested);
    EXPECT_EQ(tested.outcome, JobOutcome::starts) << tested.reason;
    EXPECT_EQ(missed(tested), "mem>=64gb not on D; ");
}

// A preference for an amount is compared with the amount that is unused on the vnode.
TEST_F(PreferredVnodes, ThatAreFullMissAmounts) {
    const int job = world.job({.queue = "work", .ncpus = 1, .mem = kGb});
    world.run(job, "work", "C", at(8));
    EXPECT_EQ(place({.ncpus = 1, .prefer = "mem>=64gb"}), "B1");
    fill("B", at(12));
    EXPECT_EQ(place({.ncpus = 1, .prefer = "mem>=64gb"}), "A1") << "A and C miss it; A is first";
}

// Preferences never delay a start, neither in the same cycle nor at a kept place.
TEST_F(PreferredVnodes, OnlyChooseAmongEqualStarts) {
    s.strict_ordering = true;
    s.backfill_depth = 1;
    world.configure();
    fill("A", at(10));
    fill("B", at(11));
    fill("C", at(10, 30));
    const int top = world.job({.queue = "work", .ncpus = 2, .walltime = kHour, .prefer = kWish});
    const Outcome outcome = world.cycle(at(9));
    EXPECT_EQ(outcome.expected.at(top), at(10));
    EXPECT_THAT(outcome.vnodes.at(top), ElementsAre("A"));
}

// A preference is a resource that a job's vnodes should have. Summed over a job's chunks, the number of
// preferences that their vnodes miss is as small as possible. The chunks have one CPU, the vnodes are random.
TEST(PreferenceProperty, TheSumOfMissedIsTheLeast) {
    for (unsigned seed = 1; seed <= static_cast<unsigned>(pbs::test::cases(300)); ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
        World world;
        world.paste_on_failure();
        (void)world.policy();
        world.queue({.name = "work"});
        std::vector<int> room;
        std::vector<int> missed;
        for (int i = 0; i < pick(1, 6); ++i) {
            const int cpus = pick(0, 4);
            const int big = pick(0, 1);
            const bool intel = pick(0, 1) == 0;
            world.vnode({.name = fmt::format("n{}", i),
                         .ncpus = cpus,
                         .arch = intel ? "intel" : "arm",
                         .bigmem = big});
            room.push_back(cpus);
            missed.push_back((big == 0 ? 1 : 0) + (intel ? 0 : 1));
        }
        world.configure();
        const int count = pick(1, 8);
        const int job = world.job(
            {.queue = "work", .select = fmt::format("{}:ncpus=1", count), .prefer = "bigmem=True+arch=i*"});
        const Outcome outcome = world.cycle(at(9));
        const int all = std::accumulate(room.begin(), room.end(), 0);
        ASSERT_EQ(outcome.started.empty(), all < count);
        if (outcome.started.empty()) continue;
        int least = 0;
        int left = count;
        for (int m = 0; m <= 2; ++m)
            for (std::size_t i = 0; i < room.size(); ++i)
                if (missed[i] == m) {
                    const int given = std::min(left, room[i]);
                    least += given * m;
                    left -= given;
                }
        int sum = 0;
        for (const std::string& vnode : outcome.vnodes.at(job))
            sum += missed[static_cast<std::size_t>(std::stoi(vnode.substr(1)))];
        EXPECT_EQ(sum, least);
    }
}

}  // namespace
}  // namespace pbs::sched::test
