// Tests tickets, the priority that shares give jobs: the numbers in examples of Grid Engine's functional,
// override and share-tree policies; a comparison with simple implementations; and the order of starts.

#include "server_plugin/scheduler/framework/tickets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "objects/snapshot.h"
#include "objects/value.h"
#include "server_plugin/scheduler/model/fs_group.h"
#include "tests/cases.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr double kAll = 10000;

// A list of jobs, made from the names of their users. A * before a name means that the job runs.
struct Owned {
    Interner strings;
    std::vector<TicketJob> jobs;

    explicit Owned(const std::vector<std::string>& users) {
        for (std::string user : users) {
            const bool runs = user.starts_with('*');
            if (runs) user.erase(0, 1);
            jobs.push_back({.runs = runs, .names = {strings.id(user), 0, 0, 0}});
        }
    }
    OwnerShares shares(const std::vector<OwnerWeight>& weights) const { return {weights, strings}; }
};

const std::vector<OwnerWeight> kAnnAndBob = {{OwnerKind::user, "ann", 100}, {OwnerKind::user, "bob", 60}};

std::vector<double> rounded(std::vector<double> values) {
    for (double& value : values) value = std::round(value * 10000) / 10000;
    return values;
}

std::vector<double> functional(const Owned& owned, bool divide, std::span<const double> so_far = {},
                               std::size_t most = 200) {
    return rounded(
        functional_tickets(owned.jobs, owned.shares(kAnnAndBob), {kAll, {1}, divide, most}, so_far));
}

TEST(FunctionalTickets, AreThoseOfGridEngine) {
    const Owned waiting({"ann", "ann", "bob", "bob"});
    EXPECT_THAT(functional(waiting, true), ElementsAre(10000, 3125, 3750, 1875));
    EXPECT_THAT(functional(waiting, false), ElementsAre(10000, 5000, 2307.6923, 1875));
    const Owned running({"*ann", "*ann", "*ann", "ann", "ann", "bob", "bob"});
    EXPECT_THAT(functional(running, true),
                ElementsAre(3333.3333, 3333.3333, 3333.3333, 1562.5, 1250, 3750, 1875));
}

// If the owners of two jobs have equal shares, the earlier job gets more tickets. Jobs of owners without
// shares get none.
TEST(FunctionalTickets, OfEqualJobsTheEarlierOneHasMoreTickets) {
    const Owned owned({"carol", "bob", "ann", "ann"});
    EXPECT_THAT(
        rounded(functional_tickets(
            owned.jobs, owned.shares({{OwnerKind::user, "PBS_GENERIC", 5}, {OwnerKind::user, "carol", 0}}),
            {kAll, {1}}, {})),
        ElementsAre(0, 10000, 5000, 2500));
}

TEST(FunctionalTickets, OfJobsThatTheGameDoesNotReachAreThoseOfTheNext) {
    const Owned owned({"ann", "ann", "ann", "bob", "bob"});
    // The rounds end when ann's and bob's first jobs have got tickets. The other jobs get what the second
    // round would have given them: ann's 100/2 of 100.001, and bob's 60 of 100.001.
    EXPECT_THAT(functional(owned, true, {}, 2), ElementsAre(10000, 4999.95, 4999.95, 3750, 5999.94));
}

// A user whose jobs all have different shares can't make the computation of tickets long: it ends early, and
// the jobs that it hasn't reached get what they would get in the next round.
TEST(FunctionalTickets, OfVeryManyKindsOfJobsEndEarly) {
    constexpr std::size_t kKinds = 50'000;
    Owned owned(std::vector<std::string>(kKinds, "ann"));
    for (std::size_t i = 0; i < kKinds; ++i) owned.jobs[i].job_shares = static_cast<double>(1 + i);
    const auto given =
        functional_tickets(owned.jobs, owned.shares({}), {kAll, {0, 0, 0, 0, 1}, true, 100000}, {});
    EXPECT_EQ(given.back(), kAll) << "the job with the most shares wins first";
    EXPECT_GT(std::ranges::min(given), 0);
    // if the computation had all rounds, each job would get its shares divided by the sum of its and all
    // larger shares
    const double last = 1 / (kKinds * (kKinds + 1) / 2.0) * kAll;
    EXPECT_GT(given.front(), 1.5 * last);
}

// If nobody has shares in a class, waiting jobs lose the tickets of the class's weight. Running jobs still
// get all tickets together.
TEST(FunctionalTickets, ComeFromAllClasses) {
    Owned owned({"*ann", "ann"});
    for (TicketJob& job : owned.jobs) job.job_shares = 3;
    const std::vector<OwnerWeight> shares = {{OwnerKind::user, "ann", 100}};
    const FunctionalRules rules{kAll, {0.25, 0.25, 0, 0, 0.5}};
    EXPECT_THAT(rounded(functional_tickets(owned.jobs, owned.shares(shares), rules, {})),
                ElementsAre(10000, 0.25 * kAll / 2 + 0.5 * kAll / 2));
}

TEST(OverrideTickets, AreThoseOfGridEngine) {
    const std::vector<OwnerWeight> tickets = {{OwnerKind::user, "ann", 900}, {OwnerKind::user, "bob", 400}};
    Owned owned({"*ann", "ann", "ann", "bob"});
    EXPECT_THAT(override_tickets(owned.jobs, owned.shares(tickets), true, {}),
                ElementsAre(900, 450, 300, 400));
    EXPECT_THAT(override_tickets(owned.jobs, owned.shares(tickets), false, {}),
                ElementsAre(900, 900, 900, 400));
    owned.jobs[2].own_override = 1000;
    EXPECT_THAT(override_tickets(owned.jobs, owned.shares(tickets), true, {}),
                ElementsAre(900, 300, 1450, 400));
}

// Override tickets put bob's first job before his second. The functional tickets, which are given after them,
// keep this order. If the override tickets are reversed, so is the order.
TEST(TicketKinds, BuildOnTheTicketsSoFar) {
    const Owned owned({"ann", "ann", "bob", "bob"});
    const auto first = override_tickets(owned.jobs, owned.shares({{OwnerKind::user, "bob", 900}}), true, {});
    EXPECT_THAT(first, ElementsAre(0, 0, 900, 450));
    EXPECT_THAT(functional(owned, true, first), ElementsAre(10000, 3125, 3750, 1875));
    const std::vector<double> reversed = {0, 0, 450, 900};
    EXPECT_THAT(functional(owned, true, reversed), ElementsAre(10000, 3125, 1875, 3750));
}

// By functional tickets, the fourth job goes before the third among jobs that are alike; they don't help it
// against those of other owners.
TEST(TicketKinds, OverrideTicketsGoFirstToTheJobWithMostTicketsSoFar) {
    const Owned owned({"ann", "ann", "bob", "bob"});
    const std::vector<OwnerWeight> tickets = {{OwnerKind::user, "ann", 1000}, {OwnerKind::user, "bob", 900}};
    const std::vector<double> so_far = {0, 0, 131, 239};
    EXPECT_THAT(override_tickets(owned.jobs, owned.shares(tickets), true, so_far),
                ElementsAre(1000, 500, 450, 900));
}

// Computes the functional tickets in a plain way: each round considers all categories (sets of waiting jobs
// with the same owners).
std::vector<double> plainly(const std::vector<TicketJob>& jobs, const std::vector<OwnerWeight>& weights,
                            const Interner& strings, bool divide, std::size_t most,
                            const std::vector<double>& so_far) {
    OwnerShares shares(weights, strings);
    std::vector<OwnerShares::Owners> owners;
    for (const TicketJob& job : jobs) owners.push_back(shares.owners(job.names));
    double sums[2] = {};
    const auto part = [&](std::uint32_t owner, double running) {
        return divide ? shares[owner].shares / running : shares[owner].shares;
    };
    const auto each = [&](std::size_t job, const auto& visit) {
        for (std::size_t k = 0; k < 2; ++k)
            if (owners[job][k] != OwnerShares::kNobody) visit(k, owners[job][k]);
    };
    for (std::size_t i = 0; i < jobs.size(); ++i)
        if (jobs[i].runs) each(i, [&](std::size_t, std::uint32_t owner) { ++shares[owner].running; });
    for (std::size_t i = 0; i < jobs.size(); ++i)
        if (jobs[i].runs)
            each(i,
                 [&](std::size_t k, std::uint32_t owner) { sums[k] += part(owner, shares[owner].running); });
    std::vector<double> tickets(jobs.size());
    const double used = (sums[0] > 0 ? 1 : 0) + (sums[1] > 0 ? 1 : 0);
    for (std::size_t i = 0; i < jobs.size(); ++i)
        if (jobs[i].runs)
            each(i, [&](std::size_t k, std::uint32_t owner) {
                tickets[i] += part(owner, shares[owner].running) * kAll / used / sums[k];
            });
    std::map<OwnerShares::Owners, std::vector<std::size_t>> waiting;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        bool has_shares = false;
        each(i, [&](std::size_t, std::uint32_t) { has_shares = true; });
        if (!jobs[i].runs && has_shares) waiting[owners[i]].push_back(i);
    }
    for (auto& [owner, list] : waiting)
        std::ranges::stable_sort(list, [&](std::size_t a, std::size_t b) { return so_far[a] > so_far[b]; });
    for (std::size_t round = 0; round < most && !waiting.empty(); ++round) {
        std::map<OwnerShares::Owners, double> value;
        for (const auto& [key, list] : waiting)
            each(list.front(), [&, &of = value[key]](std::size_t k, std::uint32_t owner) {
                const double f = part(owner, shares[owner].running + 1);
                of += f * kAll / 2 / (sums[k] + 0.001 + (divide ? 0 : f));
            });
        if (round + 1 == most)
            for (const auto& [key, list] : waiting)
                for (const std::size_t job : list) tickets[job] = value.at(key);
        const auto best = std::ranges::max_element(waiting, [&](const auto& a, const auto& b) {
            const double x = value.at(a.first) + so_far[a.second.front()];
            const double y = value.at(b.first) + so_far[b.second.front()];
            return x != y ? x < y : a.second.front() > b.second.front();
        });
        const std::size_t winner = best->second.front();
        tickets[winner] = 0;
        each(winner, [&](std::size_t k, std::uint32_t owner) {
            const double running = ++shares[owner].running;
            if (!divide || running == 1) sums[k] += part(owner, running);
        });
        each(winner, [&](std::size_t k, std::uint32_t owner) {
            tickets[winner] += part(owner, shares[owner].running) * kAll / 2 / sums[k];
        });
        best->second.erase(best->second.begin());
        if (best->second.empty()) waiting.erase(best);
    }
    return tickets;
}

TEST(FunctionalTickets, OfRandomSitesAreThoseOfAPlainGame) {
    for (int seed = 1; seed <= pbs::test::cases(300); ++seed) {
        std::mt19937 random(static_cast<unsigned>(seed));
        const auto pick = [&](int least, int most) {
            return std::uniform_int_distribution<int>(least, most)(random);
        };
        Interner strings;
        std::vector<OwnerWeight> weights;
        const int users = pick(1, 6);
        for (int i = 0; i < users; ++i)
            weights.push_back({OwnerKind::user, "u" + std::to_string(i), pick(0, 4) * 10.0});
        if (pick(0, 1) == 0) weights.push_back({OwnerKind::group, "PBS_GENERIC", pick(1, 50) * 1.0});
        weights.push_back({OwnerKind::group, "g0", pick(0, 50) * 1.0});
        std::vector<TicketJob> jobs;
        std::vector<double> so_far;
        for (int i = pick(1, 30); i > 0; --i) {
            jobs.push_back({.runs = pick(0, 3) == 0,
                            .names = {strings.id("u" + std::to_string(pick(0, users))),
                                      strings.id("g" + std::to_string(pick(0, 2))), 0, 0}});
            so_far.push_back(pick(0, 3) * 500.0);
        }
        const bool divide = pick(0, 1) == 0;
        const auto most = static_cast<std::size_t>(pick(1, 35));
        const FunctionalRules rules{kAll, {0.5, 0.5}, divide, most};
        ASSERT_EQ(rounded(functional_tickets(jobs, {weights, strings}, rules, so_far)),
                  rounded(plainly(jobs, weights, strings, divide, most, so_far)))
            << "seed " << seed;
    }
}

struct Tree {
    FairShares shares;
    Instant now = at(1);
    explicit Tree(FsGroup group) : shares(group) {}
    TicketJob job(const std::string& entity, bool runs = false, double job_shares = 0) {
        return {.runs = runs, .job_shares = job_shares, .leaf = shares.entity(entity)};
    }
    void used(const std::string& entity, double usage) {
        shares.set_usage(shares.entity(entity), FairShares::kLeastUsage + usage, at(0));
    }
    ShareTickets tickets(const std::vector<TicketJob>& jobs) {
        return share_tickets(jobs, shares, now, kAll, {});
    }
};

FsGroup two_groups(double compensation) {
    return {.name = "tree",
            .elements = {{"physics", "root", 60},
                         {"chemistry", "root", 40},
                         {"alice", "physics", 10},
                         {"bob", "physics", 10},
                         {"carol", "chemistry", 10}},
            .compensation_factor = compensation};
}

TEST(ShareTickets, AreThoseOfGridEngine) {
    Tree tree(two_groups(5));
    tree.used("alice", 300);
    tree.used("bob", 100);
    tree.used("carol", 400);
    const auto found = tree.tickets({tree.job("alice"), tree.job("bob"), tree.job("carol")});
    EXPECT_NEAR(found.targets[*tree.shares.find("physics")].part, 0.692308, 1e-6);
    EXPECT_NEAR(found.targets[*tree.shares.find("chemistry")].part, 0.307692, 1e-6);
    EXPECT_NEAR(found.targets[*tree.shares.find("alice")].overall, 0.173077, 1e-6);
    EXPECT_NEAR(found.targets[*tree.shares.find("bob")].overall, 0.519231, 1e-6);
    EXPECT_THAT(rounded(found.tickets), ElementsAre(3461.5385, 6923.0769, 3076.9231));
}

// With a compensation factor, the part of a leaf (a user or project of the tree) is at most this factor times
// its share.
TEST(ShareTickets, AreCutByTheCompensationFactor) {
    for (const auto& [factor, least] : {std::pair{0.0, 0.1}, {1.5, 0.117647}}) {
        Tree tree({.name = "tree",
                   .elements = {{"a", "root", 50}, {"b", "root", 50}},
                   .compensation_factor = factor});
        tree.used("a", 900);
        tree.used("b", 100);
        const auto found = tree.tickets({tree.job("a"), tree.job("b")});
        EXPECT_NEAR(found.targets[*tree.shares.find("a")].part, least, 1e-6) << factor;
        EXPECT_NEAR(found.targets[*tree.shares.find("b")].part, 1 - least, 1e-6) << factor;
    }
}

// dora is in no group. Where such users have no shares, the jobs of physics are numbered as if she had none.
TEST(ShareTickets, DontDependOnUsersWithoutShares) {
    for (const auto& [unknown, alice] : {std::pair{0, kAll / 2}, {10, kAll * 6 / 14}}) {
        FsGroup group = two_groups(0);
        group.unknown_shares = unknown;
        Tree tree(group);
        const auto found =
            tree.tickets({tree.job("bob", true), tree.job("bob"), tree.job("alice"), tree.job("dora")});
        EXPECT_EQ(found.tickets[3] > 0, unknown > 0);
        EXPECT_NEAR(found.tickets[2], alice, 1) << unknown;
    }
}

// Jobs before a waiting job count with their CPUs, whether they run or wait.
TEST(ShareTickets, OfWaitingJobsFallWithTheCpusOfJobsBeforeThem) {
    Tree tree({.name = "tree", .elements = {{"alice", "root", 10}}});
    std::vector<TicketJob> jobs(4, tree.job("alice"));
    jobs[0].cpus = jobs[1].cpus = 2;
    EXPECT_THAT(rounded(tree.tickets(jobs).tickets), ElementsAre(10000, 3333.3333, 2000, 1666.6667));
    jobs[1].runs = true;
    EXPECT_THAT(rounded(tree.tickets(jobs).tickets), ElementsAre(3333.3333, 10000, 2000, 1666.6667));
}

// Only nodes with jobs get tickets. A leaf's running jobs divide its tickets by their job_shares, in whole
// tickets.
TEST(ShareTickets, RunningJobsHaveAPartOfTheTicketsOfTheirLeaf) {
    Tree tree(two_groups(0));
    const auto found = tree.tickets(
        {tree.job("alice", true, 1), tree.job("alice", true, 2), tree.job("bob", true), tree.job("bob")});
    EXPECT_THAT(found.tickets, ElementsAre(1666, 3333, 5000, testing::Gt(0)));
    EXPECT_THAT(found.with_waiting, ElementsAre(1666, 3333, 2500, 0));
}

TEST(ShareTickets, HalveInTheHalfLife) {
    objects::Object object(objects::ObjectType::fs_group, "tree");
    const auto set = [&](const char* name, const char* text) {
        const objects::Attribute& attribute = *objects::find_attribute(objects::ObjectType::fs_group, name);
        object.assign(attribute, objects::parse_value(attribute, text).value());
    };
    set("tree_element", "alice:root=10");
    set("half_life", "168:00:00");
    set("compensation_factor", "3");
    const FsGroup group = read_fs_group(object);
    EXPECT_EQ(group.compensation_factor, 3);
    Tree tree(group);
    tree.shares.load({}, {}, at(0));
    tree.used("alice", 1000000);
    tree.shares.decay(at(24));
    EXPECT_NEAR(tree.shares.usage(*tree.shares.find("alice"), at(24)), 1 + 905720.6, 1);
    tree.shares.decay(at(168));
    EXPECT_NEAR(tree.shares.usage(*tree.shares.find("alice"), at(168)), 1 + 499988.1, 1);
}

// ---- Tickets in the cycles of a scheduler.

struct TicketCycles : testing::Test {
    World world;
    void SetUp() override {
        Settings& s = world.policy();
        s.by_queue = s.help_starving_jobs = false;
        s.weighted_priority = true;
        s.weight_job_priority = s.weight_urgency = 0;
        s.weight_tickets = 1;
        s.tickets_functional = 10000;
        s.functional_weights = {{"user", 1}};
        s.functional_shares = kAnnAndBob;
        world.configuration.scheds["default"] = {.all_time = "p1"};
        world.queue({.name = "q"});
        world.vnode({.name = "n1", .ncpus = 1});
        world.configure();
    }
    int job(const std::string& owner, const std::string& group = "staff") {
        return world.job({.queue = "q", .owner = owner, .group = group, .ncpus = 1});
    }
    std::string shown(int number) {
        const auto found = world.scheduler.inspect().explain(at(1), std::to_string(number) + ".server");
        if (found)
            for (const OrderKey& key : found->keys)
                if (key.name == "weighted_priority") return key.value;
        return "none";
    }
    // Runs cycles, in each of which one job can start. Returns the jobs in the order of their starts.
    std::vector<int> all_in_turn(int hour = 1) {
        std::vector<int> order;
        for (;; ++hour) {
            const auto started = world.cycle(at(hour)).started;
            if (started.empty()) return order;
            order.insert(order.end(), started.begin(), started.end());
            for (const int one : started) world.finish(one, at(hour, 30));
        }
    }
};

TEST_F(TicketCycles, StartJobsInTheirOrder) {
    const int ann1 = job("ann");
    const int ann2 = job("ann");
    const int bob1 = job("bob");
    const int bob2 = job("bob");
    EXPECT_THAT(
        shown(bob1),
        HasSubstr("+ 1 * 0.375 (tickets 3750 of at most 10000: override 0, functional 3750 (user bob: 60 "
                  "over 0 running and 2 waiting jobs), share 0)"));
    EXPECT_THAT(shown(ann1), HasSubstr("+ 1 * 1 (tickets 10000"));
    world.vnode({.name = "n1", .ncpus = 4});
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(ann1, bob1, ann2, bob2));
}

// The view for people has the tickets that the order goes by. Jobs in route queues have no part in them.
TEST_F(TicketCycles, AreShownAsTheyCount) {
    world.queue({.name = "r", .execution = false});
    for (int i = 0; i < 3; ++i) world.job({.queue = "r", .owner = "bob", .ncpus = 1});
    const int ann = job("ann");
    job("ann");
    const int bob = job("bob");
    const SharesAsked asked{at(1), "default", {}, {}};
    const TicketsView view = world.scheduler.inspect().tickets(asked);
    EXPECT_TRUE(view.gives_tickets);
    ASSERT_EQ(view.rows.size(), 3U);
    EXPECT_EQ(view.rows[0].job, std::to_string(ann) + ".server");
    EXPECT_DOUBLE_EQ(view.rows[0].sum(), 10000);
    EXPECT_DOUBLE_EQ(view.rows[0].normalised, 1);
    EXPECT_EQ(view.rows[1].job, std::to_string(bob) + ".server");
    const auto found = world.scheduler.inspect().explain(at(1), view.rows[1].job);
    EXPECT_DOUBLE_EQ(view.rows[1].sum(), found->priority_terms[2].value);
    EXPECT_DOUBLE_EQ(view.rows[1].normalised, found->priority_terms[2].normalised);
    EXPECT_EQ(world.scheduler.inspect().tickets({at(1), "default", {}, "bob"}).rows.size(), 1U);
    world.policy().weighted_priority = false;
    world.configure();
    EXPECT_FALSE(world.scheduler.inspect().tickets(asked).gives_tickets) << "no order goes by them";
}

TEST_F(TicketCycles, GoByOverrideTickets) {
    world.policy().override_tickets = {{OwnerKind::group, "rescue", 20000}};
    world.configure();
    const int ann = job("ann");
    const int rescue = job("carol", "rescue");
    EXPECT_THAT(shown(rescue),
                HasSubstr("override 20000 (group rescue: 20000 over 0 running and 1 waiting jobs)"));
    EXPECT_THAT(all_in_turn(), ElementsAre(rescue, ann));
}

// The sums of an example of Grid Engine: override tickets are given first, and functional tickets after them.
TEST_F(TicketCycles, OfAllKindsAreAddedUp) {
    world.policy().override_tickets = {{OwnerKind::user, "bob", 900}};
    world.configure();
    std::map<std::string, double> expected;
    for (const auto& [owner, sum] :
         {std::pair("ann", 10000.0), {"ann", 3125.0}, {"bob", 4650.0}, {"bob", 2325.0}})
        expected[std::to_string(job(owner)) + ".server"] = sum;
    const TicketsView view = world.scheduler.inspect().tickets({at(1), "default", {}, {}});
    ASSERT_EQ(view.rows.size(), expected.size());
    for (const auto& row : view.rows) EXPECT_NEAR(row.sum(), expected.at(row.job), 0.05) << row.job;
}

TEST_F(TicketCycles, GoByTheShareTree) {
    Settings& s = world.policy();
    s.tickets_functional = 0;
    s.tickets_share = 10000;
    s.fairshare_group = "tree";
    world.configuration.fs_groups["tree"] = two_groups(5);
    world.configure();
    const int alice = world.job({.queue = "q", .owner = "alice", .ncpus = 1});
    const int carol = world.job({.queue = "q", .owner = "carol", .ncpus = 1});
    EXPECT_THAT(shown(carol), HasSubstr("of all for 0 running and 1 waiting jobs"));
    EXPECT_TRUE(world.scheduler.change_shares(at(0), "default", "tree", {.usage = {{"alice", 1000}}}));
    EXPECT_THAT(all_in_turn(), ElementsAre(carol, alice));
}

TEST_F(TicketCycles, AJobCountsInTheShareTreeWithItsCpus) {
    Settings& s = world.policy();
    s.tickets_functional = 0;
    s.tickets_share = 10000;
    s.fairshare_group = "tree";
    world.configuration.fs_groups["tree"] = two_groups(0);
    world.configure();
    const auto tickets = [&](int number) {
        const auto found = world.scheduler.inspect().explain(at(0), std::to_string(number) + ".server");
        return found->priority_terms.empty() ? -1 : found->priority_terms.back().value;
    };
    world.job({.queue = "q", .owner = "alice", .select = "2:ncpus=2", .select_range = "2-5"});
    const int second = world.job({.queue = "q", .owner = "alice", .ncpus = 3});
    EXPECT_DOUBLE_EQ(tickets(second), 10000.0 / 5);
    EXPECT_DOUBLE_EQ(tickets(world.job({.queue = "q", .owner = "alice", .ncpus = 1})), 10000.0 / 8);
}

// A formula may use the parts of the weighted priority by name. A resource with the same name takes
// precedence.
TEST_F(TicketCycles, AreNamesInFormulas) {
    Settings& s = world.policy();
    s.weighted_priority = false;
    s.urgency_of_resources = {{"mem", 1}};
    int hour = 1;
    const auto order = [&](const char* formula) -> std::string {
        s.job_sort_formula = formula;
        world.configure();
        const int ann = job("ann");
        const int bob = world.job({.queue = "q", .owner = "bob", .ncpus = 1, .mem = kGb, .priority = 5});
        const auto started = all_in_turn(hour);
        hour += 3;
        return started == std::vector{ann, bob}   ? "ann bob"
               : started == std::vector{bob, ann} ? "bob ann"
                                                  : "?";
    };
    EXPECT_EQ(order("tickets"), "ann bob");
    EXPECT_EQ(order("-tickets"), "bob ann");
    EXPECT_EQ(order("tickets_norm"), "ann bob");
    EXPECT_EQ(order("-tickets_norm"), "bob ann");
    EXPECT_EQ(order("urgency"), "bob ann");
    EXPECT_EQ(order("-urgency"), "ann bob");
    EXPECT_EQ(order("urgency_norm"), "bob ann");
    EXPECT_EQ(order("-urgency_norm"), "ann bob");
    EXPECT_EQ(order("priority_norm"), "bob ann");
    EXPECT_EQ(order("-priority_norm"), "ann bob");
    constexpr std::uint32_t kTickets = 77;
    world.scheduler.resource_defined({kTickets, ResourceKind::integer, "tickets", false});
    EXPECT_EQ(order("-tickets"), "ann bob") << "nobody asks for the resource";
}

// Users who always have waiting jobs get their shares of the machine, to within two per cent.
TEST_F(TicketCycles, GiveSaturatedUsersTheirShares) {
    constexpr int kCpus = 200;
    const std::vector<std::pair<std::string, double>> users = {
        {"ann", 50}, {"bob", 30}, {"carol", 15}, {"dan", 5}};
    Settings& s = world.policy();
    s.functional_shares.clear();
    for (const auto& [user, shares] : users) s.functional_shares.push_back({OwnerKind::user, user, shares});
    world.configure();
    world.vnode({.name = "n1", .ncpus = kCpus});
    std::mt19937 random(1);
    std::map<std::string, int> ran;
    std::vector<int> running;
    for (const auto& [user, shares] : users)
        for (int i = 0; i < kCpus; ++i) job(user);
    for (int minute = 0; minute < 60; ++minute) {
        const auto started = world.cycle(at(1, minute)).started;
        for (const int one : started) {
            running.push_back(one);
            job(world.options(one).owner);
        }
        if (minute >= 20)
            for (const int one : running) ++ran[world.options(one).owner];
        std::erase_if(running, [&](int one) {
            const bool ends = random() % 10 == 0;
            if (ends) world.finish(one, at(1, minute, 30));
            return ends;
        });
    }
    for (const auto& [user, shares] : users)
        EXPECT_NEAR(ran[user] / (40.0 * kCpus), shares / 100, 0.02) << user;
}

// ---- reprioritize.

struct Weights : TicketCycles {
    Settings& s = world.policy();
    int ann = 0;
    int bob = 0;
    int bobs_second = 0;
    // ann has 100 shares and bob 60: while all three run, ann's job has 6250 tickets for 2 CPUs, and each of
    // bob's 1875 for one. The mean of tickets for each CPU is 2291.67.
    void SetUp() override {
        TicketCycles::SetUp();
        world.scheduler.set_weigh(true);
        s.reprioritize = true;
        s.functional_weights = {{"user", 1}};
        s.share_functional_shares = true;
        world.vnode({.name = "n1", .ncpus = 8});
        world.configure();
        ann = world.job({.queue = "q", .owner = "ann", .ncpus = 2});
        bob = job("bob");
        bobs_second = job("bob");
        EXPECT_THAT(world.cycle(at(1)).weights, IsEmpty()) << "nothing runs yet";
    }
    std::map<int, int> weights(Instant now, CycleTrigger trigger = CycleTrigger::timer) {
        return world.cycle(now, true, "default", trigger).weights;
    }
};

TEST_F(Weights, AreTicketsForEachCpuInProportionToTheMean) {
    EXPECT_THAT(weights(at(1, 1)), ElementsAre(Pair(ann, 136), Pair(bob, 82), Pair(bobs_second, 82)));
}

TEST_F(Weights, AreToldWhenTheyChangeAndAtMostEveryHalfMinute) {
    const auto first = weights(at(1, 1));
    ASSERT_EQ(first.size(), 3U);
    EXPECT_THAT(weights(at(1, 1, 29)), IsEmpty());
    EXPECT_THAT(weights(at(1, 2)), IsEmpty()) << "they are as before";
    world.finish(bobs_second, at(1, 2, 5));
    EXPECT_THAT(weights(at(1, 2, 10)), IsEmpty()) << "too early";
    EXPECT_THAT(weights(at(1, 3)), ElementsAre(Pair(ann, 91), Pair(bob, 109)))
        << "bob's shares aren't divided any more: 3125 and 3750 tickets for each CPU";
}

TEST_F(Weights, OfASecondRunBeginAnew) {
    ASSERT_EQ(weights(at(1, 1)).size(), 3U);
    world.preempt(bob, 'R', at(1, 2));
    const Outcome again = world.cycle(at(1, 3));
    EXPECT_THAT(again.started, ElementsAre(bob));
    EXPECT_EQ(weights(at(1, 4)).count(bob), 1U) << "the new run has the usual weight";
}

TEST_F(Weights, AreUsualAgainWhenTheyAreSwitchedOff) {
    ASSERT_EQ(weights(at(1, 1)).size(), 3U);
    s.reprioritize = false;
    world.configure();
    EXPECT_THAT(weights(at(1, 1, 5)), ElementsAre(Pair(ann, 100), Pair(bob, 100), Pair(bobs_second, 100)));
    EXPECT_THAT(weights(at(1, 9)), IsEmpty());
}

TEST_F(Weights, OfASuspendedJobAreUsualAgainOnceItGoesOn) {
    ASSERT_EQ(weights(at(1, 1)).size(), 3U);
    world.preempt(bob, 'S', at(1, 1, 10));
    s.reprioritize = false;
    world.configure();
    const Outcome resumed = world.cycle(at(1, 2));
    EXPECT_THAT(resumed.started, ElementsAre(bob));
    EXPECT_EQ(resumed.weights.count(bob), 0U) << "a suspended job can't be weighed";
    EXPECT_THAT(weights(at(1, 3)), ElementsAre(Pair(bob, 100)));
}

TEST_F(Weights, OfAHostThatHasNoneAreNotTold) {
    world.scheduler.set_weigh(false);
    EXPECT_THAT(weights(at(1, 1)), IsEmpty());
    world.scheduler.set_weigh(true);
    s.weighted_priority = false;
    world.configure();
    EXPECT_THAT(weights(at(1, 2)), IsEmpty()) << "no order reads tickets";
    s.weighted_priority = true;
    s.tickets_functional = 0;
    world.configure();
    EXPECT_THAT(weights(at(1, 3)), IsEmpty()) << "nobody gives tickets";
}

// A job without tickets keeps the least weight, and one with far more than others has the largest at most.
TEST_F(Weights, HaveBounds) {
    s.functional_shares = {{OwnerKind::user, "ann", 100}};
    world.configure();
    const auto given = weights(at(1, 1));
    EXPECT_EQ(given.at(ann), 300);
    EXPECT_EQ(given.at(bob), 1);
    s.tickets_functional = 0;
    s.override_tickets = {{OwnerKind::user, "nobody", 1}};
    world.configure();
    EXPECT_THAT(weights(at(1, 2)), ElementsAre(Pair(ann, 100), Pair(bob, 100), Pair(bobs_second, 100)))
        << "no running job has any";
}

}  // namespace
}  // namespace pbs::sched::test
