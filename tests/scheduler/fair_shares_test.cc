// Tests the fair-share tree without a scheduler: shares, usage of running jobs, decay, and storage.

#include "server_plugin/scheduler/model/fair_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>

namespace pbs::sched {
namespace {

constexpr Instant kStart{std::chrono::sys_days{std::chrono::year{2026} / 11 / 23}};
constexpr Instant at(std::int64_t seconds) {
    return kStart + Seconds(seconds);
}

FsGroup group() {
    return {.name = "g",
            .elements = {{"bob", "physics", 10},
                         {"physics", "root", 40},
                         {"ann", "physics", 30},
                         {"joe", "root", 50}},
            .unknown_shares = 10,
            .decay_time = Seconds(3600)};
}

FsGroup halving_group() {
    FsGroup halving = group();
    halving.half_life = Seconds(7 * 24 * 3600);
    halving.decay_time = Seconds(60);
    halving.decay_factor = 1 - 60 * std::numbers::ln2 / (7 * 24 * 3600);
    return halving;
}

std::vector<double> ratios(const FairShares& shares, FairShares::Node node, Instant now) {
    std::vector<double> out(shares.depth());
    shares.ratios(node, now, out);
    return out;
}

TEST(FairShares, APartOfTheMachineIsTheProductOfThePartsOnTheWay) {
    FairShares shares(group());
    EXPECT_FLOAT_EQ(shares.share(shares.entity("ann")), 0.4F * 0.75F);
    EXPECT_FLOAT_EQ(shares.share(shares.entity("bob")), 0.4F * 0.25F);
    EXPECT_FLOAT_EQ(shares.share(shares.entity("joe")), 0.5F);
    EXPECT_FLOAT_EQ(shares.share(*shares.find("unknown")), 0.1F);
    // Entities that aren't in the tree divide the share of `unknown` among them.
    const auto eve = shares.entity("eve");
    EXPECT_FLOAT_EQ(shares.share(eve), 0.1F);
    EXPECT_FLOAT_EQ(shares.share(shares.entity("dan")), 0.05F);
    EXPECT_FLOAT_EQ(shares.share(eve), 0.05F);
    EXPECT_EQ(shares.entity("eve"), eve);
}

TEST(FairShares, NobodyHasAPartWithoutShares) {
    FsGroup none = group();
    none.unknown_shares = 0;
    none.elements[0].shares = 0;
    FairShares shares(none);
    EXPECT_EQ(shares.share(shares.entity("eve")), 0);
    EXPECT_EQ(shares.share(shares.entity("bob")), 0);
    EXPECT_EQ(ratios(shares, shares.entity("bob"), kStart)[1], std::numeric_limits<double>::infinity());
    EXPECT_EQ(shares.factor(shares.entity("bob"), kStart), 0);
}

TEST(FairShares, UsageOfARunningJobGrowsAndCountsForItsGroups) {
    FairShares shares(group());
    const auto ann = shares.entity("ann");
    const auto physics = shares.entity("physics");
    shares.job_runs({7, "7.svr"}, ann, {100, 4}, at(0));
    EXPECT_DOUBLE_EQ(shares.usage(ann, at(0)), 101);
    EXPECT_DOUBLE_EQ(shares.usage(ann, at(50)), 301);
    EXPECT_DOUBLE_EQ(shares.usage(physics, at(50)), 301);
    EXPECT_DOUBLE_EQ(shares.usage(FairShares::kRoot, at(50)), 301);
    EXPECT_DOUBLE_EQ(shares.usage(shares.entity("bob"), at(50)), 1);
    // The running job gets another rate of usage; later it ends.
    shares.job_runs({7, "7.svr"}, ann, {100, 8}, at(0));
    EXPECT_DOUBLE_EQ(shares.usage(ann, at(50)), 501);
    shares.job_ended({7, "7.svr"}, 700);
    EXPECT_DOUBLE_EQ(shares.usage(ann, at(50)), 701);
    EXPECT_DOUBLE_EQ(shares.usage(physics, at(9000)), 701);
    shares.job_ended({7, "7.svr"}, 700);
    EXPECT_DOUBLE_EQ(shares.usage(ann, at(50)), 701);
}

TEST(FairShares, WhatIsExpectedCountsForRatiosUntilTheCycleIsOver) {
    FairShares shares(group());
    const auto ann = shares.entity("ann");
    const double before = ratios(shares, ann, kStart)[0];
    shares.expect(ann, 39);
    EXPECT_NEAR(ratios(shares, ann, kStart)[0], 40 / 0.4F, 1e-3);
    EXPECT_NEAR(ratios(shares, ann, kStart)[1], 40 / (0.4F * 0.75F), 1e-3);
    EXPECT_DOUBLE_EQ(shares.usage(ann, kStart), 1);
    shares.forget_expected();
    EXPECT_DOUBLE_EQ(ratios(shares, ann, kStart)[0], before);
}

TEST(FairShares, DecayHalvesAndIsCaughtUpPeriodByPeriod) {
    FairShares often(group());
    FairShares late(group());
    for (FairShares* shares : {&often, &late}) {
        EXPECT_TRUE(shares->decay(at(0))) << "counting begins";
        shares->job_runs({1, "1.svr"}, shares->entity("joe"), {0, 2}, at(0));
    }
    for (int i = 1; i <= 200; ++i) often.decay(at(i * 1800));
    EXPECT_FALSE(often.decay(at(360'001)));
    EXPECT_TRUE(late.decay(at(360'000)));
    EXPECT_EQ(often.last_decay(), late.last_decay());
    EXPECT_EQ(often.next_decay(at(360'000)), at(363'600));
    const auto joe = often.entity("joe");
    EXPECT_NEAR(often.usage(joe, at(360'100)), late.usage(joe, at(360'100)), 1e-6);
    // Each hour the job adds 7,200 to the usage; then the usage is halved. So the usage approaches 7,200.
    EXPECT_NEAR(late.usage(joe, at(360'000)), 7200, 1);
}

TEST(FairShares, ADecayNowLeavesWhatIsForetoldOfIt) {
    FairShares shares(group());
    shares.load({{UsageRow{"", "joe", 300}}}, {}, at(0));
    const auto joe = shares.entity("joe");
    shares.job_runs({1, "1.svr"}, joe, {0, 2}, at(0));
    EXPECT_DOUBLE_EQ(shares.after_decay(joe, at(50)), 200);
    EXPECT_DOUBLE_EQ(shares.after_decay(shares.entity("ann"), at(50)), 1);
    shares.decay_now(at(50));
    EXPECT_DOUBLE_EQ(shares.usage(joe, at(50)), 200);
    EXPECT_EQ(shares.next_decay(at(50)), at(3650));
}

// A manager's slip, such as 1e18, must leave nothing behind when it is corrected.
TEST(FairShares, AUsageThatIsSetIsThatAlsoAfterAHugeOne) {
    for (const double huge : {1e13, 1e18, 1e30, 1e200}) {
        FairShares shares(group());
        const auto ann = shares.entity("ann");
        const auto bob = shares.entity("bob");
        const auto eve = shares.entity("eve");
        const auto physics = *shares.find("physics");
        shares.set_usage(bob, 200.5, at(0));
        shares.set_usage(eve, 50, at(0));
        shares.set_usage(ann, 301, at(0));
        const double of_physics = shares.usage(physics, at(0));
        const double of_all = shares.usage(FairShares::kRoot, at(0));
        shares.set_usage(ann, huge, at(0));
        EXPECT_EQ(shares.usage(ann, at(0)), huge);
        shares.set_usage(ann, 301, at(0));
        EXPECT_EQ(shares.usage(ann, at(0)), 301);
        EXPECT_EQ(shares.usage(bob, at(0)), 200.5);
        EXPECT_DOUBLE_EQ(shares.usage(physics, at(0)), of_physics) << huge;
        EXPECT_DOUBLE_EQ(shares.usage(FairShares::kRoot, at(0)), of_all) << huge;
        // eve is in no group: a trim removes her usage, and leaves that of the others.
        shares.set_usage(eve, huge, at(0));
        shares.trim(at(0));
        EXPECT_EQ(shares.usage(eve, at(0)), FairShares::kLeastUsage);
        EXPECT_DOUBLE_EQ(shares.usage(FairShares::kRoot, at(0)), of_all - 49) << huge;
    }
}

TEST(FairShares, LongUsageDoesNotDecay) {
    FairShares shares(group());
    shares.load({{UsageRow{"", "joe", 300}, UsageRow{"", "eve", 50}}}, {}, at(0));
    shares.load_long_usage({});
    const auto joe = shares.entity("joe");
    const auto bob = shares.entity("bob");
    EXPECT_DOUBLE_EQ(shares.long_usage(joe, at(0)), 300) << "it begins with what is left";
    EXPECT_DOUBLE_EQ(shares.long_usage(FairShares::kRoot, at(0)), 350);
    shares.job_runs({1, "1.svr"}, joe, {0, 2}, at(0));
    shares.job_runs({2, "2.svr"}, bob, {5, 0}, at(0));
    EXPECT_DOUBLE_EQ(shares.long_usage(joe, at(50)), 400);
    shares.decay_now(at(50));
    EXPECT_DOUBLE_EQ(shares.usage(joe, at(50)), 200);
    EXPECT_DOUBLE_EQ(shares.long_usage(joe, at(50)), 400);
    EXPECT_DOUBLE_EQ(shares.long_usage(joe, at(60)), 420);
    shares.set_usage(bob, 9000, at(60));
    EXPECT_DOUBLE_EQ(shares.long_usage(bob, at(60)), 5) << "nobody used what a manager sets";
    EXPECT_DOUBLE_EQ(shares.long_usage(*shares.find("physics"), at(60)), 5);
    EXPECT_DOUBLE_EQ(shares.view(joe, at(60)).long_usage, 420);
    const UsageChanges changes = shares.take_changes();
    EXPECT_EQ(std::ranges::find(changes.long_usage, "joe", &UsageRow::user)->usage, 420);
    EXPECT_EQ(std::ranges::find(changes.long_usage, "physics", &UsageRow::user), changes.long_usage.end());

    // Another tree has the same long usage of entities, and so has one that is loaded.
    FsGroup other = group();
    other.elements.pop_back();
    shares.set_group(other);
    EXPECT_DOUBLE_EQ(shares.long_usage(shares.entity("joe"), at(60)), 420);
    EXPECT_DOUBLE_EQ(shares.long_usage(*shares.find("unknown"), at(60)), 470);
    FairShares loaded(group());
    loaded.load(changes.usage, {}, at(60));
    loaded.load_long_usage(changes.long_usage);
    EXPECT_DOUBLE_EQ(loaded.long_usage(loaded.entity("joe"), at(60)), 420);
    EXPECT_DOUBLE_EQ(loaded.long_usage(loaded.entity("bob"), at(60)), 5);
    EXPECT_TRUE(loaded.take_changes().empty());
    shares.trim(at(60));
    EXPECT_DOUBLE_EQ(shares.long_usage(shares.entity("joe"), at(60)), 0) << "it is in no group any more";
    EXPECT_DOUBLE_EQ(shares.long_usage(FairShares::kRoot, at(60)), 5);
}

// The stored long usage of an entity makes no node: only entities with usage or jobs divide the share of
// `unknown` among them.
TEST(FairShares, LongUsageGivesNobodyAPlace) {
    FairShares shares(group());
    shares.load({{UsageRow{"", "dan", 20}}}, {}, at(0));
    shares.load_long_usage({{UsageRow{"", "dan", 50}, UsageRow{"", "eve", 300}, UsageRow{"", "joe", 7}}});
    const auto unknown = FairShares::kUnknown;
    EXPECT_FALSE(shares.find("eve"));
    EXPECT_EQ(shares.size(), 7U) << "root, unknown, the four elements and dan";
    EXPECT_FLOAT_EQ(shares.share(*shares.find("dan")), 0.1F);
    EXPECT_DOUBLE_EQ(shares.long_usage(unknown, at(0)), 350);
    EXPECT_DOUBLE_EQ(shares.long_usage(FairShares::kRoot, at(0)), 357);
    EXPECT_FALSE(shares.has_changes());

    // Another tree has the amounts, and as few nodes.
    FsGroup other = group();
    other.elements.pop_back();
    ASSERT_TRUE(shares.set_group(other));
    EXPECT_FALSE(shares.find("eve"));
    EXPECT_FALSE(shares.find("joe")) << "without usage";
    EXPECT_DOUBLE_EQ(shares.long_usage(unknown, at(0)), 357);
    const UsageChanges changes = shares.take_changes();
    EXPECT_EQ(std::ranges::find(changes.long_usage, "joe", &UsageRow::user)->usage, 7);

    // When eve has a job, her amount is hers; the sums have it already.
    const auto eve = shares.entity("eve");
    EXPECT_DOUBLE_EQ(shares.long_usage(eve, at(0)), 300);
    EXPECT_DOUBLE_EQ(shares.long_usage(unknown, at(0)), 357);
    shares.job_runs({1, "1.svr"}, eve, {5, 0}, at(0));
    shares.job_ended({1, "1.svr"}, 5);
    EXPECT_DOUBLE_EQ(shares.long_usage(eve, at(0)), 305);
    EXPECT_DOUBLE_EQ(shares.long_usage(FairShares::kRoot, at(0)), 362);

    // A trim forgets joe, who has no node, like those who have.
    (void)shares.take_changes();
    shares.trim(at(0));
    EXPECT_DOUBLE_EQ(shares.long_usage(unknown, at(0)), 0);
    EXPECT_DOUBLE_EQ(shares.long_usage(FairShares::kRoot, at(0)), 0);
    const UsageChanges trimmed = shares.take_changes();
    for (const char* name : {"dan", "eve", "joe"}) {
        const auto row = std::ranges::find(trimmed.long_usage, name, &UsageRow::user);
        ASSERT_NE(row, trimmed.long_usage.end()) << name;
        EXPECT_EQ(row->usage, 0) << name;
    }
    EXPECT_DOUBLE_EQ(shares.long_usage(shares.entity("joe"), at(0)), 0);
}

TEST(FairShares, ATrimIsWrittenWhereOnlyLongUsageIsLeft) {
    FairShares shares(group());
    shares.load({}, {}, at(0));
    shares.load_long_usage({{UsageRow{"", "eve", 300}}});
    shares.trim(at(0));
    EXPECT_TRUE(shares.has_changes());
    EXPECT_FALSE(shares.take_changes().empty());
    EXPECT_FALSE(shares.has_changes());
}

// A tree without eve's node is set before her trim is written.
TEST(FairShares, ATrimIsWrittenAlsoWhenTheTreeChanges) {
    FairShares shares(group());
    shares.load({{UsageRow{"", "eve", 20}}}, {}, at(0));
    shares.load_long_usage({{UsageRow{"", "eve", 300}}});
    shares.trim(at(0));
    FsGroup other = group();
    other.unknown_shares = 3;
    ASSERT_TRUE(shares.set_group(other));
    const UsageChanges changes = shares.take_changes();
    for (const auto* rows : {&changes.usage, &changes.long_usage}) {
        const auto row = std::ranges::find(*rows, "eve", &UsageRow::user);
        ASSERT_NE(row, rows->end());
        EXPECT_EQ(row->usage, 0);
    }
}

// A tree may change before the stored usage is loaded, as while a cycle is at work.
TEST(FairShares, AChangeBeforeTheLoadRemovesNoStoredLongUsage) {
    FairShares shares(group());
    FsGroup other = group();
    other.elements.pop_back();
    ASSERT_TRUE(shares.set_group(other));
    shares.load({}, {}, at(0));
    shares.load_long_usage({{UsageRow{"", "joe", 300}}});
    const UsageChanges changes = shares.take_changes();
    EXPECT_EQ(std::ranges::find(changes.long_usage, "joe", &UsageRow::user), changes.long_usage.end());
    EXPECT_DOUBLE_EQ(shares.long_usage(FairShares::kUnknown, at(0)), 300);
}

TEST(FairShares, LongUsageOfAnEntityThatIsAGroupNowIsForgotten) {
    FairShares shares(group());
    shares.load({}, {}, at(0));
    shares.load_long_usage({{UsageRow{"", "physics", 300}}});
    EXPECT_DOUBLE_EQ(shares.long_usage(FairShares::kRoot, at(0)), 0);
    const UsageChanges changes = shares.take_changes();
    ASSERT_EQ(changes.long_usage.size(), 1U);
    EXPECT_EQ(changes.long_usage[0].user, "physics");
    EXPECT_EQ(changes.long_usage[0].usage, 0);
}

// Names that users choose, such as those of accounts, don't make rows without end.
TEST(FairShares, TheLeastLongUsageOfManyEntitiesIsJoined) {
    FairShares shares(group());
    shares.load({}, {}, at(0));
    constexpr std::size_t kAll = FairShares::kMostLeft + 2;
    std::map<std::string, double> stored;
    double sum = 0;
    for (std::size_t i = 1; i <= kAll; ++i) {
        stored["a" + std::to_string(i)] = static_cast<double>(i);
        sum += static_cast<double>(i);
    }
    const auto load = [&](FairShares& tree) {
        std::vector<UsageRow> rows;
        rows.reserve(stored.size());
        for (const auto& [name, used] : stored) rows.push_back({"", name, used});
        tree.load_long_usage(rows);
    };
    const auto save = [&](FairShares& tree) {
        for (const UsageRow& row : tree.take_changes().long_usage) {
            if (row.usage == 0)
                stored.erase(row.user);
            else
                stored[row.user] = row.usage;
        }
    };
    load(shares);
    save(shares);
    EXPECT_EQ(stored.size(), FairShares::kMostLeft + 1);
    EXPECT_EQ(stored.at("unknown"), 1 + 2);
    EXPECT_FALSE(stored.contains("a2"));
    EXPECT_DOUBLE_EQ(shares.long_usage(FairShares::kUnknown, at(0)), sum);

    // The next start reads the joined row, and adds another entity to it.
    stored["b"] = 0.5;
    FairShares next(group());
    next.load({}, {}, at(0));
    load(next);
    save(next);
    EXPECT_EQ(stored.size(), FairShares::kMostLeft + 1);
    EXPECT_EQ(stored.at("unknown"), 3.5);
    EXPECT_DOUBLE_EQ(next.long_usage(FairShares::kUnknown, at(0)), sum + 0.5);
    EXPECT_DOUBLE_EQ(next.long_usage(next.entity("b"), at(0)), 0) << "it is in no row of its own any more";
    EXPECT_DOUBLE_EQ(next.long_usage(next.entity("a3"), at(0)), 3);
    EXPECT_DOUBLE_EQ(next.long_usage(FairShares::kRoot, at(0)), sum + 0.5);
    EXPECT_FALSE(next.has_changes());
    next.trim(at(0));
    save(next);
    EXPECT_TRUE(stored.empty());
}

TEST(FairShares, TrimForgetsWhoIsInNoGroup) {
    FairShares shares(group());
    const std::vector<UsageRow> rows{{"", "joe", 300}, {"", "eve", 50}, {"", "dan", 20}};
    shares.load(rows, {}, at(0));
    const auto eve = shares.entity("eve");
    shares.job_runs({1, "1.svr"}, eve, {0, 2}, at(0));
    const double before = shares.usage(FairShares::kRoot, at(50));
    (void)shares.take_changes();
    shares.trim(at(50));
    EXPECT_DOUBLE_EQ(shares.usage(eve, at(50)), 1);
    EXPECT_DOUBLE_EQ(shares.usage(eve, at(60)), 21) << "what runs goes on counting";
    EXPECT_DOUBLE_EQ(shares.usage(shares.entity("dan"), at(50)), 1);
    EXPECT_DOUBLE_EQ(shares.usage(shares.entity("joe"), at(50)), 300);
    EXPECT_DOUBLE_EQ(shares.usage(FairShares::kRoot, at(50)), before - 149 - 19);
    // take_changes() tells the store to delete the rows of entities that the trim has removed.
    const UsageChanges changes = shares.take_changes();
    for (const char* name : {"eve", "dan"})
        EXPECT_EQ(std::ranges::find(changes.usage, name, &UsageRow::user)->usage, 0) << name;
    EXPECT_EQ(std::ranges::find(changes.usage, "joe", &UsageRow::user), changes.usage.end());
    // When the job ends, its usage up to the trim isn't counted again.
    shares.job_ended({1, "1.svr"}, 200);
    EXPECT_DOUBLE_EQ(shares.usage(eve, at(100)), 101);
}

TEST(FairShares, UsageDoesNotFallBelowOne) {
    FairShares shares(group());
    shares.load({{UsageRow{"", "joe", 3}}}, {}, at(0));
    shares.decay(at(3600));
    EXPECT_DOUBLE_EQ(shares.usage(shares.entity("joe"), at(3600)), 1.5);
    shares.decay(at(7200));
    EXPECT_DOUBLE_EQ(shares.usage(shares.entity("joe"), at(7200)), 1);
}

// With a half_life, the 1 at which usage begins doesn't decay: usage of 100 and of 10 seconds keep their
// ratio.
TEST(FairShares, UsageAboveOneHalvesInTheHalfLife) {
    FairShares shares(halving_group());
    const auto joe = shares.entity("joe");
    shares.load({{UsageRow{"", "joe", 101}, UsageRow{"", "ann", 11}}}, {}, at(0));
    EXPECT_DOUBLE_EQ(shares.after_decay(joe, at(0)), 1 + 100 * halving_group().decay_factor);
    EXPECT_TRUE(shares.decay(at(7 * 24 * 3600)));
    EXPECT_NEAR(shares.usage(joe, at(7 * 24 * 3600)), 1 + 49.9988, 1e-4);
    EXPECT_NEAR(shares.usage(shares.entity("ann"), at(7 * 24 * 3600)), 1 + 4.99988, 1e-5);
    EXPECT_EQ(shares.usage(shares.entity("bob"), at(7 * 24 * 3600)), 1);
    const UsageChanges changes = shares.take_changes();
    EXPECT_NEAR(101 * changes.decay.factor + changes.decay.added, 1 + 49.9988, 1e-4);
    EXPECT_TRUE(changes.usage.empty()) << "one decay of all rows";
}

TEST(FairShares, UsageEndsAtOneAfterManyHalfLives) {
    FairShares shares(halving_group());
    shares.load({{UsageRow{"", "joe", 2}}}, {}, at(0));
    EXPECT_TRUE(shares.decay(at(60 * 7 * 24 * 3600)));
    EXPECT_EQ(shares.usage(shares.entity("joe"), at(60 * 7 * 24 * 3600)), 1);
    const UsageChanges changes = shares.take_changes();
    EXPECT_LE(2 * changes.decay.factor + changes.decay.added, changes.decay.least) << "the row is removed";
}

// Applies the changes of `from` to the stored rows `usage` and `charges`, and loads `to` from these rows.
void copy_stored(FairShares& from, FairShares& to, std::map<std::string, double>& usage,
                 std::map<std::string, double>& charges) {
    UsageChanges changes = from.take_changes();
    for (auto& [name, amount] : usage) amount = amount * changes.decay.factor + changes.decay.added;
    std::erase_if(usage, [&](const auto& row) { return row.second <= changes.decay.least; });
    for (const UsageRow& row : changes.usage) {
        if (row.usage == 0)
            usage.erase(row.user);
        else
            usage[row.user] = row.usage;
    }
    for (const ChargeRow& row : changes.charged) charges[row.job_id] = row.charge;
    for (const std::string& job : changes.charges_gone) charges.erase(job);
    std::vector<UsageRow> rows;
    std::vector<ChargeRow> charged;
    rows.reserve(usage.size());
    charged.reserve(charges.size());
    for (const auto& [name, amount] : usage) rows.push_back({"", name, amount});
    for (const auto& [job, amount] : charges) charged.push_back({job, "", "", amount});
    to.load(rows, charged, from.last_decay());
}

TEST(FairShares, WhatIsStoredIsAllThatThereIs) {
    std::mt19937 random(4);
    const auto pick = [&](int a, int b) { return std::uniform_int_distribution(a, b)(random); };
    const std::array<std::string, 5> users = {"ann", "bob", "joe", "eve", "dan"};
    for (int round = 0; round < 50; ++round) {
        const FsGroup rules = round % 2 == 0 ? group() : halving_group();
        FairShares shares(rules);
        for (const std::string& user : users) shares.entity(user);
        std::map<std::string, double> usage;
        std::map<std::string, double> charges;
        struct Running {
            std::string user;
            FairShares::Use use;
            Instant since;
        };
        std::map<std::uint32_t, Running> running;
        Instant now = at(pick(0, 100));
        shares.decay(now);
        for (std::uint32_t step = 1; step < 60; ++step) {
            now += Seconds(pick(1, 2000));
            shares.decay(now);
            const auto of_any = [&] { return shares.entity(users[static_cast<std::size_t>(pick(0, 4))]); };
            if (pick(0, 9) == 0) shares.set_usage(of_any(), pick(1, 500), now);
            if (pick(0, 19) == 0) shares.trim(now);
            if (pick(0, 1) == 0) {
                const Running job{users[static_cast<std::size_t>(pick(0, 4))],
                                  {static_cast<double>(pick(0, 50)), static_cast<double>(pick(0, 8))},
                                  now};
                shares.job_runs({step, std::to_string(step)}, shares.entity(job.user), job.use, now);
                running[step] = job;
            } else if (!running.empty()) {
                const auto [number, job] = *running.begin();
                const double walltime = static_cast<double>((now - job.since).count());
                shares.job_ended({number, std::to_string(number)}, job.use.base + job.use.rate * walltime);
                running.erase(number);
            }
            FairShares after(rules);
            for (const std::string& user : users) after.entity(user);
            copy_stored(shares, after, usage, charges);
            for (const auto& [number, job] : running)
                after.job_runs({number, std::to_string(number)}, after.entity(job.user), job.use, job.since);
            for (const Instant t : {now, now + Seconds(777)})
                for (const char* name : {"ann", "bob", "joe", "eve", "dan", "physics", "unknown", "root"})
                    ASSERT_NEAR(after.usage(*after.find(name), t), shares.usage(*shares.find(name), t), 1e-6)
                        << name << " after step " << step << " of round " << round;
        }
    }
}

// A deletion would be written after the new charge, and the job would be charged for all its usage again
// after a restart of the server.
TEST(FairShares, AJobThatPausesAfterItWasRequeuedIsStillCharged) {
    FairShares shares(group());
    const FairShares::Job job{1, "1.server"};
    const auto runs_and_pauses = [&](double used) {
        shares.job_runs(job, shares.entity("ann"), {0, 1}, at(0));
        shares.job_paused(job, used);
    };
    runs_and_pauses(10);
    (void)shares.take_changes();
    shares.job_runs(job, shares.entity("ann"), {0, 1}, at(0));
    shares.job_ended(job, 10);
    runs_and_pauses(4);
    const UsageChanges changes = shares.take_changes();
    ASSERT_EQ(changes.charged.size(), 1U);
    EXPECT_DOUBLE_EQ(changes.charged[0].charge, 4);
    EXPECT_TRUE(changes.charges_gone.empty());
    EXPECT_FALSE(shares.has_changes());
}

TEST(FairShares, AnotherTreeKeepsWhatEntitiesHaveUsed) {
    FairShares shares(group());
    shares.load({{UsageRow{"", "ann", 100}, UsageRow{"", "eve", 7}}}, {}, at(0));
    FsGroup other = group();
    EXPECT_FALSE(shares.set_group(other));
    other.elements = {{"chemistry", "root", 10}, {"ann", "chemistry", 5}};
    EXPECT_TRUE(shares.set_group(other));
    EXPECT_DOUBLE_EQ(shares.usage(shares.entity("ann"), at(0)), 100);
    EXPECT_DOUBLE_EQ(shares.usage(shares.entity("chemistry"), at(0)), 101);
    EXPECT_DOUBLE_EQ(shares.usage(shares.entity("eve"), at(0)), 7);
    EXPECT_FALSE(shares.find("physics"));
    // The store forgets the group, which would come back as an entity below `unknown`.
    const UsageChanges changes = shares.take_changes();
    const auto physics = std::ranges::find(changes.usage, "physics", &UsageRow::user);
    ASSERT_NE(physics, changes.usage.end());
    EXPECT_EQ(physics->usage, 0);
}

TEST(FairShares, AnEntityThatBecomesAGroupHasTheUsageOfItsMembers) {
    FairShares shares(group());
    shares.load({{UsageRow{"", "ann", 100}, UsageRow{"", "joe", 50}}}, {}, at(0));
    FsGroup other = group();
    other.elements = {{"ann", "root", 10}, {"joe", "ann", 5}};
    ASSERT_TRUE(shares.set_group(other));
    EXPECT_DOUBLE_EQ(shares.usage(*shares.find("ann"), at(0)), 51);
    EXPECT_DOUBLE_EQ(shares.usage(FairShares::kRoot, at(0)), 51);
}

// An entity's usage as PBS computes it: its part of all usage, plus the excess of its group's part over it,
// multiplied by the entity's share of the group.
TEST(FairShares, TreeUsageAndFactor) {
    FairShares shares(group());
    shares.load({{UsageRow{"", "ann", 99}, UsageRow{"", "joe", 300}}}, {}, at(0));
    const double all = 400;  // each usage begins with 1: ann 99, bob 1, joe 300
    EXPECT_FLOAT_EQ(shares.tree_usage(shares.entity("joe"), at(0)), 300 / all);
    const double physics = 100 / all;
    EXPECT_FLOAT_EQ(shares.tree_usage(shares.entity("bob"), at(0)), 1 / all + (physics - 1 / all) * 0.25);
    EXPECT_FLOAT_EQ(shares.factor(shares.entity("joe"), at(0)), std::pow(2, -(300 / all / 0.5)));
    EXPECT_TRUE(shares.is_over(shares.entity("joe"), at(0)));
    EXPECT_FALSE(shares.is_over(shares.entity("bob"), at(0)));
}

// After any changes by managers, each group's usage is the sum of its entities' usage.
TEST(FairShares, GroupsHaveWhatTheirEntitiesHave) {
    std::mt19937 random(7);
    const auto pick = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
    for (int round = 0; round < 50; ++round) {
        FsGroup group{.name = "g", .decay_time = Seconds(3600), .decay_factor = 0.9};
        for (int i = 0; i < 12; ++i)
            group.elements.push_back({"e" + std::to_string(i),
                                      i < 3 || pick(4) == 0 ? "root" : "e" + std::to_string(pick(3)),
                                      1 + pick(50)});
        FairShares shares(group);
        const auto entity = [&] {
            while (true) {
                const auto node = shares.entity("e" + std::to_string(pick(16)));
                if (!shares.view(node, at(0)).is_group) return node;
            }
        };
        for (int step = 0; step < 100; ++step) {
            const Instant now = at(60 * step);
            switch (pick(5)) {
                case 0:
                    shares.set_usage(entity(), 1 + pick(10'000), now);
                    break;
                case 1:
                    shares.job_runs({static_cast<std::uint32_t>(step), std::to_string(step)}, entity(),
                                    {static_cast<double>(pick(100)), static_cast<double>(pick(5))}, now);
                    break;
                case 2:
                    if (const int job = pick(100); shares.runs_since(static_cast<std::uint32_t>(job)))
                        shares.job_ended({static_cast<std::uint32_t>(job), std::to_string(job)},
                                         pick(10'000));
                    break;
                case 3:
                    if (pick(5) == 0) shares.trim(now);
                    break;
                default:
                    break;
            }
            // subtract 1, with which the usage of each entity begins
            std::vector<double> sums(shares.size());
            for (FairShares::Node node = 1; node < shares.size(); ++node)
                if (!shares.view(node, now).is_group)
                    for (auto above = node; above != FairShares::kRoot;) {
                        above = shares.view(above, now).parent;
                        sums[above] += shares.usage(node, now) - 1;
                    }
            for (FairShares::Node node = 0; node < shares.size(); ++node)
                if (shares.view(node, now).is_group)
                    ASSERT_NEAR(shares.usage(node, now), 1 + sums[node], 1e-6 * (1 + sums[node]))
                        << shares.view(node, now).name << " in round " << round << ", step " << step;
        }
    }
}

}  // namespace
}  // namespace pbs::sched
