// Tests fairshare in cycles: jobs are ordered by their entities' shares and usage.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "server_plugin/scheduler/model/fair_shares.h"
#include "tests/cases.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct FairShareOrder : testing::Test {
    World world;
    Settings& s = world.policy();
    FsGroup& tree = world.configuration.fs_groups["tree"];
    void SetUp() override {
        world.queue({.name = "work"});
        s.help_starving_jobs = false;
        s.fairshare = true;
        s.fairshare_group = "tree";
        tree = {.name = "tree",
                .elements = {{"ann", "root", 10}, {"bob", "root", 10}},
                .usage_formula = "ncpus*walltime"};
    }
    int job(const std::string& owner, int ncpus = 1, std::int64_t walltime = kHour) {
        return world.job({.queue = "work", .owner = owner, .ncpus = ncpus, .walltime = walltime});
    }
    Outcome cycle(Instant now = at(1)) {
        world.configure();
        return world.cycle(now);
    }
    void usage(const std::vector<UsageRow>& rows, Instant last_decay = at(0)) {
        world.configure();
        world.scheduler.load_shares("fs_group:tree", rows, {}, last_decay);
    }
};

TEST_F(FairShareOrder, WhoHasUsedLessGoesFirst) {
    world.vnode({.name = "n", .ncpus = 2});
    usage({{"", "ann", 1000}, {"", "bob", 10}});
    const int a = job("ann");
    const int b = job("bob");
    EXPECT_THAT(cycle().started, ElementsAre(b, a));
}

TEST_F(FairShareOrder, WhatIsStartedCountsAtOnce) {
    world.vnode({.name = "n", .ncpus = 9});
    const int a1 = job("ann");
    const int a2 = job("ann");
    const int a3 = job("ann");
    const int b1 = job("bob", 2);
    const int b2 = job("bob", 2);
    // ann and bob begin with usage 1, and ann's job came first. It makes her usage 3601, so bob's job starts
    // next. That makes his usage 7201, so two more of ann's jobs start, until hers is 7201, too.
    EXPECT_THAT(cycle().started, ElementsAre(a1, b1, a2, a3, b2));
}

TEST_F(FairShareOrder, SharesWeigh) {
    tree.elements[0].shares = 30;
    world.vnode({.name = "n", .ncpus = 8});
    std::vector<int> ann;
    std::vector<int> bob;
    for (int i = 0; i < 8; ++i) {
        ann.push_back(job("ann"));
        bob.push_back(job("bob"));
    }
    EXPECT_THAT(cycle().started, ElementsAre(ann[0], bob[0], ann[1], ann[2], ann[3], bob[1], ann[4], ann[5]));
}

TEST_F(FairShareOrder, GroupsAreComparedBeforeTheirMembers) {
    tree.elements = {{"physics", "root", 50},
                     {"chemistry", "root", 50},
                     {"ann", "physics", 1},
                     {"bob", "physics", 1},
                     {"cat", "chemistry", 1}};
    world.vnode({.name = "n", .ncpus = 3});
    usage({{"", "ann", 100}, {"", "cat", 60}});
    const int a = job("ann");
    const int b = job("bob");  // bob has used nothing, but his group more than cat's group
    const int c = job("cat");
    EXPECT_THAT(cycle().started, ElementsAre(c, b, a));
}

TEST_F(FairShareOrder, WithinAnEntityTheOrderIsThatOfTheOtherKeys) {
    s.job_sort_key = {{"ncpus", true}};
    world.vnode({.name = "n", .ncpus = 8});
    const int small = job("ann", 1);
    const int large = job("ann", 4);
    const int other = job("bob", 2);
    EXPECT_THAT(cycle().started, ElementsAre(large, other, small));
}

TEST_F(FairShareOrder, TheFormulaGoesBeforeShares) {
    s.job_sort_formula = "ncpus";
    world.vnode({.name = "n", .ncpus = 8});
    usage({{"", "ann", 1000}});
    const int b = job("bob", 1);
    const int a = job("ann", 2);
    const int c = job("bob", 2);
    EXPECT_THAT(cycle().started, ElementsAre(c, a, b));
}

TEST_F(FairShareOrder, QueuesGoBeforeSharesWithByQueue) {
    world.queue({.name = "urgent", .priority = 9});
    world.vnode({.name = "n", .ncpus = 8});
    usage({{"", "ann", 1000}});
    const int b = job("bob");
    const int a = world.job({.queue = "urgent", .owner = "ann", .ncpus = 1});
    s.by_queue = true;
    EXPECT_THAT(cycle().started, ElementsAre(a, b));
}

TEST_F(FairShareOrder, WithoutByQueueSharesOfAllQueuesAreCompared) {
    world.queue({.name = "urgent", .priority = 9});
    world.vnode({.name = "n", .ncpus = 8});
    usage({{"", "ann", 1000}});
    const int a = world.job({.queue = "urgent", .owner = "ann", .ncpus = 1});
    const int b = job("bob");
    s.by_queue = false;
    EXPECT_THAT(cycle().started, ElementsAre(b, a));
}

TEST_F(FairShareOrder, QueuesTakeTurnsWithRoundRobin) {
    world.queue({.name = "other"});
    world.vnode({.name = "n", .ncpus = 8});
    s.round_robin = true;
    s.by_queue = false;
    usage({{"", "ann", 100'000}});
    const int a = job("ann");
    const int b1 = job("bob");
    const int b2 = job("bob");
    const int c = world.job({.queue = "other", .owner = "ann", .ncpus = 1});
    const int d = world.job({.queue = "other", .owner = "ann", .ncpus = 1});
    EXPECT_THAT(cycle().started, ElementsAre(b1, c, b2, d, a));
}

TEST_F(FairShareOrder, UsageOfRunningJobsGrowsAndThatOfEndedOnesStays) {
    world.vnode({.name = "n", .ncpus = 2});
    const int running = job("ann", 1, 9 * kHour);
    world.configure();
    world.run(running, "work", "n", at(1));
    const int a = job("ann");
    const int b = job("bob");
    EXPECT_THAT(cycle(at(2)).started, ElementsAre(b));
    world.finish(running, at(3));
    world.finish(b, at(3));
    // ann has used 7,200 seconds, and bob 3,600.
    const int b2 = job("bob");
    EXPECT_THAT(cycle(at(3)).started, ElementsAre(b2, a));
}

TEST_F(FairShareOrder, TheEntityIsWhatTheGroupSays) {
    world.vnode({.name = "n", .ncpus = 4});
    tree.elements = {{"x", "root", 10}, {"y", "root", 10}};
    const std::map<ShareEntity, std::pair<JobOptions, JobOptions>> jobs = {
        {ShareEntity::egroup,
         {{.queue = "work", .group = "x", .ncpus = 1}, {.queue = "work", .group = "y", .ncpus = 1}}},
        {ShareEntity::account,
         {{.queue = "work", .ncpus = 1, .account = "x"}, {.queue = "work", .ncpus = 1, .account = "y"}}},
        {ShareEntity::queue, {{.queue = "x", .ncpus = 1}, {.queue = "y", .ncpus = 1}}},
    };
    world.queue({.name = "x"});
    world.queue({.name = "y"});
    s.by_queue = false;
    for (const auto& [entity, pair] : jobs) {
        tree.entity = entity;
        usage({{"", "x", 100}});
        const int a = world.job(pair.first);
        const int b = world.job(pair.second);
        const Outcome outcome = cycle();
        EXPECT_THAT(outcome.started, ElementsAre(b, a)) << static_cast<int>(entity);
        for (const int job : outcome.started) world.finish(job, at(1));
    }
}

TEST_F(FairShareOrder, WhatAJobHasUsedGoesBeforeWhatItAsksFor) {
    tree.usage_formula = "mem";
    world.vnode({.name = "n", .ncpus = 4, .mem = 8 * kGb});
    JobOptions options{.queue = "work", .owner = "ann", .ncpus = 1, .mem = kGb};
    const int running = world.job(options);
    world.configure();
    world.run(running, "work", "n", at(1));
    const auto usage_of = [&](const std::string& user) {
        world.finish(running, at(2));
        for (const ShareChanges& changes : world.scheduler.take_share_changes())
            for (const UsageRow& row : changes.changes.usage)
                if (row.user == user) return row.usage;
        return 0.0;
    };
    options.used_mem = kGb / 2;
    world.change(running, options, at(1));
    EXPECT_DOUBLE_EQ(usage_of("ann"), 1 + 512 * 1024);
}

TEST_F(FairShareOrder, enforce_no_shares_JobsWithoutAShareNeverStart) {
    tree.enforce_no_shares = s.enforce_no_shares = true;
    tree.unknown_shares = 0;
    world.vnode({.name = "n", .ncpus = 4});
    const int eve = job("eve");
    const int ann = job("ann");
    const Outcome outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(ann));
    EXPECT_EQ(outcome.comment.at(eve), "Can Never Run: Job has zero shares for fairshare");
}

// eve has no share. So her job can't run, as in OpenPBS, and the next job of her queue gets the turn.
TEST_F(FairShareOrder, AJobWithoutAShareHasNoTurnInRoundRobin) {
    tree.enforce_no_shares = s.enforce_no_shares = true;
    tree.unknown_shares = 0;
    s.round_robin = true;
    world.queue({.name = "other"});
    world.vnode({.name = "n", .ncpus = 4});
    const auto submit = [&](const std::string& owner, const std::string& queue) {
        return world.job({.queue = queue, .owner = owner, .ncpus = 1, .walltime = kHour});
    };
    submit("eve", "other");
    const int of_ann = submit("ann", "work");
    const int next_of_ann = submit("ann", "work");
    const int of_bob = submit("bob", "other");
    EXPECT_THAT(cycle().started, ElementsAre(of_ann, of_bob, next_of_ann));
}

TEST_F(FairShareOrder, ATopJobCountsAsIfItRan) {
    s.strict_ordering = true;
    world.vnode({.name = "n", .ncpus = 4});
    const int running = job("cat", 3, kHour);
    world.configure();
    world.run(running, "work", "n", at(1));
    const int top = job("ann", 4, kHour);
    const int a = job("ann", 1, kMinute);
    const int b = job("bob", 1, kMinute);
    EXPECT_THAT(cycle(at(1)).started, ElementsAre(b)) << "ann's second job comes behind bob's";
    (void)top;
    (void)a;
}

TEST_F(FairShareOrder, TermsOfTheFormula) {
    s.fairshare = false;
    world.vnode({.name = "n", .ncpus = 4});
    tree.elements = {{"ann", "root", 10}, {"bob", "root", 30}};
    usage({{"", "ann", 10}, {"", "bob", 300}});
    for (const auto& [formula, bob_first] :
         {std::pair{"fairshare_perc", true}, std::pair{"fair_share_perc", true},
          std::pair{"fairshare_tree_usage", true}, std::pair{"fairshare_factor", false}}) {
        s.job_sort_formula = formula;
        world.configure();
        const int a = job("ann");
        const int b = job("bob");
        const Outcome outcome = cycle();
        EXPECT_THAT(outcome.started, bob_first ? ElementsAre(b, a) : ElementsAre(a, b)) << formula;
        for (const int job : outcome.started) world.finish(job, at(1));
        usage({{"", "ann", 10}, {"", "bob", 300}});
    }
}

TEST_F(FairShareOrder, job_sort_key_fairshare_perc) {
    s.fairshare = false;
    s.job_sort_key = {{"fairshare_perc", true}};
    world.vnode({.name = "n", .ncpus = 4});
    tree.elements = {{"ann", "root", 10}, {"bob", "root", 30}};
    const int a = job("ann");
    const int b = job("bob");
    EXPECT_THAT(cycle().started, ElementsAre(b, a));
}

TEST_F(FairShareOrder, WhenAnotherEntityComesFirstIsFoundWithoutAnEvent) {
    s.strict_ordering = true;
    s.backfill_depth = 0;
    world.vnode({.name = "n", .ncpus = 4});
    const int ann = job("ann", 1, 9 * kHour);
    world.configure();
    world.run(ann, "work", "n", at(1));
    usage({{"", "bob", 600}});
    const int large = job("ann", 4);  // the first job in the order at 1:00, which holds up all others
    const int bob = job("bob", 1);
    world.scheduler.tick(at(1));
    EXPECT_THAT(world.cycle(at(1)).started, IsEmpty());
    Instant now = at(1);
    std::vector<int> started;
    for (int i = 0; i < 60 && started.empty(); ++i) {
        now = world.scheduler.next_deadline(now);
        ASSERT_LT(now, at(2));
        world.scheduler.tick(now);
        started = world.cycle(now).started;
    }
    EXPECT_THAT(started, ElementsAre(bob));
    EXPECT_EQ(now, at(1, 10)) << "ann has used as much by then";
    (void)large;
}

// On random trees, users who always have waiting jobs get their shares of the machine.
TEST_F(FairShareOrder, SaturatedUsersGetTheirShares) {
    for (int seed = 1; seed <= pbs::test::cases(10); ++seed) {
        World site;
        std::mt19937 random(static_cast<unsigned>(seed));
        const auto pick = [&](int a, int b) { return std::uniform_int_distribution(a, b)(random); };
        site.queue({.name = "work"});
        site.vnode({.name = "n", .ncpus = 16});
        Settings& policy = site.policy();
        policy.help_starving_jobs = false;
        policy.fairshare = true;
        policy.fairshare_group = "tree";
        FsGroup& group = site.configuration.fs_groups["tree"];
        group = {.name = "tree", .usage_formula = "ncpus*walltime", .decay_time = Seconds(kHour * 24 * 3650)};
        std::vector<std::string> users;
        const int groups = pick(1, 3);
        for (int g = 0; g < groups; ++g) {
            const std::string name = "g" + std::to_string(g);
            group.elements.push_back({name, "root", pick(10, 40)});
            for (int u = 0; u < pick(1, 3); ++u) {
                users.push_back(name + "u" + std::to_string(u));
                group.elements.push_back({users.back(), name, pick(5, 20)});
            }
        }
        group.unknown_shares = 0;
        site.configure();
        std::map<std::string, double> used;
        std::map<int, std::pair<std::string, Instant>> running;
        std::map<std::string, int> queued;
        Instant now = at(0);
        for (int step = 0; step < 4000; ++step) {
            for (const std::string& user : users)
                for (; queued[user] < 4; ++queued[user])
                    site.job({.queue = "work", .owner = user, .ncpus = 1, .walltime = kHour, .queued = now},
                             now);
            for (const int job : site.cycle(now, true, "default", CycleTrigger::job_new).started) {
                const std::string& owner = site.options(job).owner;
                --queued[owner];
                running[job] = {owner, now + Seconds(pick(10, 60) * kMinute)};
            }
            const auto first =
                std::ranges::min_element(running, {}, [](const auto& job) { return job.second.second; });
            now = first->second.second;
            site.finish(first->first, now);
            used[first->second.first] += 1;  // the jobs of all users are equally long on average
            running.erase(first);
        }
        FairShares drawn(group);
        const double all = 4000;
        for (const std::string& user : users)
            EXPECT_NEAR(used[user] / all, drawn.share(drawn.entity(user)), 0.02)
                << user << " of seed " << seed;
    }
}

// ---- The rows that users see of the tree, and changes by managers.

struct FairShareView : FairShareOrder {
    void SetUp() override {
        FairShareOrder::SetUp();
        tree.elements = {
            {"physics", "root", 40}, {"ann", "physics", 30}, {"bob", "physics", 10}, {"joe", "root", 60}};
    }
    SharesView view(Instant now, std::optional<std::string> user = {}) {
        auto views = world.scheduler.inspect().shares({now, "default", "", std::move(user)});
        EXPECT_EQ(views.size(), 1U);
        return views.empty() ? SharesView() : views.front();
    }
    static std::vector<std::string> names(const SharesView& view) {
        std::vector<std::string> out;
        for (const ShareRow& row : view.rows) out.push_back(row.name);
        return out;
    }
    static const ShareRow& row(const SharesView& view, const std::string& name) {
        static const ShareRow none;
        const auto found = std::ranges::find(view.rows, name, &ShareRow::name);
        EXPECT_NE(found, view.rows.end()) << name;
        return found == view.rows.end() ? none : *found;
    }
};

TEST_F(FairShareView, HasTheTreeAsItIsRead) {
    usage({{"", "ann", 300}, {"", "eve", 100}, {"", "dan", 1}});
    const SharesView all = view(at(1));
    EXPECT_THAT(names(all), ElementsAre("root", "physics", "ann", "bob", "joe", "unknown", "eve"))
        << "unknown comes last, and dan has used nothing";
    EXPECT_EQ(all.sched, "default");
    EXPECT_EQ(all.group.name, "tree");
    EXPECT_EQ(all.last_decay, at(0));
    const ShareRow& ann = row(all, "ann");
    EXPECT_EQ(ann.parent, "physics");
    EXPECT_EQ(ann.shares, 30);
    EXPECT_FALSE(ann.is_group);
    EXPECT_EQ(ann.usage, 300);
    EXPECT_EQ(ann.decayed, 150);
    EXPECT_NEAR(ann.target, 40.0 / 110 * 0.75, 1e-6);
    EXPECT_NEAR(ann.actual, 300 / row(all, "root").usage, 1e-9);
    EXPECT_TRUE(row(all, "physics").is_group);
    EXPECT_EQ(row(all, "physics").place, 0U);
    // joe has the largest share and has used nothing. physics has used more of its share than `unknown` has.
    EXPECT_EQ(row(all, "joe").place, 1U);
    EXPECT_EQ(row(all, "bob").place, 2U);
    EXPECT_EQ(ann.place, 3U);
    EXPECT_EQ(row(all, "eve").place, 4U);
}

TEST_F(FairShareView, AUserSeesHisWayToTheRoot) {
    usage({{"", "ann", 300}, {"", "joe", 100}, {"", "eve", 100}});
    EXPECT_THAT(names(view(at(1), "ann")), ElementsAre("root", "physics", "ann"));
    EXPECT_EQ(row(view(at(1), "ann"), "ann").place, row(view(at(1)), "ann").place);
    EXPECT_THAT(names(view(at(1), "eve")), ElementsAre("root", "unknown", "eve"));
    EXPECT_THAT(names(view(at(1), "stranger")), ElementsAre("root"));
    EXPECT_THAT(names(view(at(1), "physics")), ElementsAre("root")) << "a group is nobody";
    // A user sees their own row, even if they haven't used anything yet.
    job("dan");
    EXPECT_THAT(names(view(at(1), "dan")), ElementsAre("root", "unknown", "dan"));
    EXPECT_THAT(names(view(at(1))), testing::Not(testing::Contains("dan")));
}

TEST_F(FairShareView, AUserSeesTheEntitiesOfHisJobs) {
    tree.entity = ShareEntity::egroup;
    tree.elements = {{"staff", "root", 10}, {"guests", "root", 10}};
    world.configure();
    world.job({.queue = "work", .owner = "ann", .group = "guests"});
    EXPECT_THAT(names(view(at(1), "ann")), ElementsAre("root", "guests"));
    EXPECT_THAT(names(view(at(1), "bob")), ElementsAre("root"));
}

// A policy without fairshare doesn't use its tree. When somebody asks to see the tree, it gets a row for each
// account that has jobs.
TEST_F(FairShareView, AUserSeesManyAccountsInATreeThatNobodyUses) {
    tree.entity = ShareEntity::account;
    world.policy().fairshare = false;
    world.configure();
    constexpr int kAccounts = 200;
    for (int i = 0; i < kAccounts; ++i)
        world.job({.queue = "work", .owner = "ann", .account = "account" + std::to_string(i)});
    EXPECT_EQ(names(view(at(1), "ann")).size(), kAccounts + 2U) << "with the root and unknown";
    EXPECT_EQ(row(view(at(1), "ann"), "account7").jobs, 1U);
    EXPECT_THAT(names(view(at(1), "bob")), ElementsAre("root"));
}

TEST_F(FairShareView, AChangeOfUsageChangesTheOrder) {
    world.vnode({.name = "n", .ncpus = 1});
    usage({{"", "ann", 300}, {"", "bob", 500}});
    const int a = job("ann");
    const int b = job("bob");
    EXPECT_THAT(world.cycle(at(1), false).started, ElementsAre(a));
    ASSERT_TRUE(world.scheduler.change_shares(at(1), "default", "tree", {.usage = {{"bob", 10}}}));
    EXPECT_THAT(world.cycle(at(1), false).started, ElementsAre(b));
    EXPECT_EQ(row(view(at(1)), "physics").usage, 311);
    const auto changes = world.scheduler.take_share_changes();
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].scope, "fs_group:tree");
    EXPECT_EQ(std::ranges::find(changes[0].changes.usage, "bob", &UsageRow::user)->usage, 10);
    ASSERT_TRUE(world.scheduler.change_shares(at(1), "default", "tree", {.decay = true}));
    EXPECT_EQ(row(view(at(1)), "bob").usage, 5);
}

TEST_F(FairShareView, AChangeThatIsRefusedChangesNothing) {
    usage({{"", "ann", 300}});
    const auto refusal = [&](const std::string& sched, const std::string& group, const SharesChange& change) {
        const auto done = world.scheduler.change_shares(at(1), sched, group, change);
        return done ? std::string() : done.error().message;
    };
    EXPECT_EQ(refusal("other", "tree", {.decay = true}), "sched other keeps no usage of fs_group tree");
    EXPECT_EQ(refusal("default", "bush", {.decay = true}), "sched default keeps no usage of fs_group bush");
    EXPECT_EQ(refusal("default", "tree", {.usage = {{"ann", 1}, {"nobody", 1}}}),
              "fs_group tree has no entity nobody");
    EXPECT_EQ(
        refusal("default", "tree", {.usage = {{"ann", 1}, {"physics", 1}}}),
        "physics is a group of fs_group tree: expected an entity, from whose usage that of groups follows");
    EXPECT_EQ(row(view(at(1)), "ann").usage, 300);
}

TEST_F(FairShareView, AnExplanationTellsHowTheEntityStands) {
    world.vnode({.name = "n", .ncpus = 1});
    usage({{"", "ann", 300}, {"", "eve", 5000}});
    job("ann");
    job("joe");
    const int b = job("bob");
    const auto told = world.scheduler.explain(at(1), std::to_string(b) + ".server");
    ASSERT_TRUE(told && told->shares);
    EXPECT_EQ(told->shares->entity, "bob");
    EXPECT_EQ(told->shares->group, "tree");
    EXPECT_EQ(told->shares->usage, 1);
    EXPECT_NEAR(told->shares->target, 40.0 / 110 * 0.25, 1e-6);
    EXPECT_EQ(told->shares->place, 2U) << "behind joe";
    EXPECT_EQ(told->shares->entities, 3U) << "eve has no jobs";
    s.fairshare = false;
    world.configure();
    EXPECT_FALSE(world.scheduler.explain(at(1), std::to_string(b) + ".server")->shares);
}

}  // namespace
}  // namespace pbs::sched::test
