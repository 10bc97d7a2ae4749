// Tests quotas: the first matching rule, a counter for each value in braces, windows, several vnodes,
// reservations; and random rules, compared with a simple implementation.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <set>

#include "tests/cases.h"
#include "tests/scheduler/quotas.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

struct Quotas : testing::Test {
    World world;
    int minute = 0;
    void SetUp() override {
        Settings& s = world.policy();
        s.by_queue = false;
        world.configuration.scheds["default"] = {.all_time = "p1"};
        world.queue({.name = "long"});
        world.queue({.name = "short"});
        world.vnode({.name = "n1", .ncpus = 64});
        world.vnode({.name = "n2", .ncpus = 64});
        world.scheduler.set_comment_interval(Seconds(0));
    }
    void use(const QuotaOptions& options) {
        world.policy().quotas = {quota(options)};
        world.configure();
    }
    int job(const std::string& queue, const std::string& owner, std::int64_t cpus,
            std::int64_t walltime = kHour) {
        return world.job({.queue = queue, .owner = owner, .ncpus = cpus, .walltime = walltime});
    }
    // Runs a cycle. Returns "starts" if the job starts, otherwise its comment, or "waits" if it gets none.
    std::string answer(int number) {
        const Outcome outcome = world.cycle(at(0, ++minute));
        if (std::ranges::find(outcome.started, number) != outcome.started.end()) return "starts";
        const auto found = outcome.comment.find(number);
        return found == outcome.comment.end() ? "waits" : found->second;
    }
};

// The example of a quota in pbs_quota(7B).
const QuotaOptions kThreeRules{.rules = {{"vip", "users={ann} to ncpus=8"},
                                         {"guests", "users={*} queues={long} to ncpus=4"},
                                         {"rest", "users={*} to ncpus=6"}}};

TEST_F(Quotas, CountAJobAtTheFirstRuleThatMatchesIt) {
    use(kThreeRules);
    EXPECT_EQ(answer(job("long", "bob", 3)), "starts");
    EXPECT_EQ(answer(job("short", "bob", 6)), "starts");
    const int two = job("long", "bob", 2);
    EXPECT_EQ(answer(two), "Not Running: Quota q1 (guests): ncpus (R: 2 U: 3 L: 4)");
    EXPECT_EQ(answer(job("long", "bob", 1)), "starts");
    EXPECT_EQ(answer(job("short", "bob", 1)), "Not Running: Quota q1 (rest): ncpus (R: 1 U: 6 L: 6)");
    EXPECT_EQ(answer(job("long", "carl", 4)), "starts");
    EXPECT_EQ(answer(job("short", "ann", 8)), "starts");
    EXPECT_EQ(answer(job("long", "ann", 1)), "Not Running: Quota q1 (vip): ncpus (R: 1 U: 8 L: 8)");
}

// The sum of the requests is more than a number of 64 bits holds.
TEST_F(Quotas, CountSumsOfAnySize) {
    constexpr std::uint32_t kLic = 40;
    constexpr int kJobs = 25;
    world.scheduler.resource_defined({kLic, ResourceKind::integer, "lic", true});
    const auto started = [&] { return world.cycle(at(0, ++minute)).started.size(); };
    for (const char* rule :
         {"users={*} to lic=9200000000000000000", "users={*} vnodes=n* to lic=9200000000000000000"}) {
        SCOPED_TRACE(rule);
        use({.rules = {{"r", rule}}});
        std::vector<int> all;
        for (int i = 0; i < kJobs; ++i)
            all.push_back(world.job({.queue = "long", .select = "1:ncpus=1:lic=1000000000000000000"}));
        EXPECT_EQ(started(), 9U);
        EXPECT_EQ(started(), 0U);
        world.policy().quotas.clear();
        world.configure();
        EXPECT_EQ(started(), 16U) << "without a quota";
        use({.rules = {{"r", rule}}});
        const int next = world.job({.queue = "long", .select = "1:ncpus=1:lic=1"});
        EXPECT_THAT(answer(next), HasSubstr("Quota q1 (r): lic (R: 1 U: 9223372036854775807 L: "));
        for (const int job : all) world.finish(job, at(0, minute));
        EXPECT_EQ(answer(next), "starts");
        world.finish(next, at(0, minute));
    }
}

TEST_F(Quotas, WithoutBracesAllShareOneCounter) {
    use({.rules = {{"vip", "users={ann} to ncpus=8"}, {"rest", "users=* to ncpus=6"}}});
    EXPECT_EQ(answer(job("short", "bob", 4)), "starts");
    EXPECT_EQ(answer(job("long", "carl", 3)), "Not Running: Quota q1 (rest): ncpus (R: 3 U: 4 L: 6)");
    EXPECT_EQ(answer(job("long", "carl", 2)), "starts");
    EXPECT_EQ(answer(job("long", "ann", 8)), "starts");
}

TEST_F(Quotas, AreAskedInTheirOrder) {
    QuotaOptions options = kThreeRules;
    options.rule_order = "rest,vip,guests";
    use(options);
    EXPECT_EQ(answer(job("long", "bob", 3)), "starts");
    EXPECT_EQ(answer(job("short", "bob", 3)), "starts");
    EXPECT_EQ(answer(job("long", "bob", 1)), "Not Running: Quota q1 (rest): ncpus (R: 1 U: 6 L: 6)");
}

TEST_F(Quotas, CountJobsAndTextsAndWhatIsNotAskedFor) {
    use({.rules = {{"shape", "shapes=multi to jobs=1"},
                   {"all", "users={@staff} to ncpus=2,walltime=2:00:00"}}});
    const int multi = world.job({.queue = "long", .select = "2:ncpus=1"});
    EXPECT_EQ(answer(multi), "starts");
    const int second = world.job({.queue = "long", .owner = "bob", .select = "2:ncpus=1"});
    EXPECT_EQ(answer(second), "Not Running: Quota q1 (shape): jobs (R: 1 U: 1 L: 1)");
    EXPECT_EQ(answer(job("long", "bob", 2)), "starts");
    const int unasked = world.job({.queue = "long", .owner = "bob", .walltime = kMinute});
    EXPECT_EQ(answer(unasked), "Not Running: Quota q1 (all): ncpus (R: 1 U: 2 L: 2)");
    EXPECT_THAT(answer(job("long", "carl", 3)), HasSubstr("Can Never Run: Quota q1 (all): ncpus"));
    EXPECT_THAT(answer(job("long", "dan", 1, 3 * kHour)), HasSubstr("Quota q1 (all): walltime"));
}

// The limit of four CPUs is in force from 8:00 to 18:00. A job of six CPUs still starts at 7:00.
TEST_F(Quotas, AQuotaWithAWindowHoldsInsideIt) {
    use({.rules = {{"all", "users={*} to ncpus=4"}}, .windows = world.window("FREQ=DAILY", 8, 18)});
    minute = 7 * 60;
    EXPECT_EQ(answer(job("long", "bob", 6, 2 * kHour)), "starts");
    minute = 8 * 60;
    EXPECT_EQ(answer(job("long", "bob", 1)), "Not Running: Quota q1 (all): ncpus (R: 1 U: 6 L: 4)");
}
TEST_F(Quotas, WithoutSpillHoldForJobsThatReachIntoAWindow) {
    use({.rules = {{"all", "users={*} to ncpus=4"}},
         .windows = world.window("FREQ=DAILY", 8, 18),
         .spill = false});
    minute = 7 * 60;
    EXPECT_EQ(answer(job("long", "bob", 6, kHour / 2)), "starts");
    const int reaches_in = job("long", "bob", 6, 2 * kHour);
    EXPECT_EQ(answer(reaches_in), "Not Running: Quota q1 (all): ncpus (R: 6 U: 0 L: 4)");
    minute = 18 * 60;
    EXPECT_EQ(answer(reaches_in), "starts");
}

// The limit of four CPUs is in force from 8:00, and bob's job of four CPUs runs until 9:00. So at 7:00,
// another job of bob may start only if it ends by 8:00.
TEST_F(Quotas, WithoutSpillCountJobsThatStillRunThen) {
    use({.rules = {{"all", "users={*} to ncpus=4"}},
         .windows = world.window("FREQ=DAILY", 8, 18),
         .spill = false});
    minute = 6 * 60;
    EXPECT_EQ(answer(job("long", "bob", 4, 3 * kHour)), "starts");
    EXPECT_EQ(answer(job("long", "bob", 4, kHour)), "starts");
    minute = 7 * 60;
    EXPECT_EQ(answer(job("long", "bob", 1, 2 * kHour)),
              "Not Running: Quota q1 (all): ncpus (R: 1 U: 4 L: 4)");
    EXPECT_EQ(answer(job("long", "carl", 4, 2 * kHour)), "starts");
}

// bob's job asks for no walltime, and is planned for an hour, again and again. The limit holds from 8:00.
TEST_F(Quotas, CountTheNewEndOfAJobThatGoesOn) {
    Settings& s = world.policy();
    s.default_duration = Seconds(kHour);
    use({.rules = {{"all", "users={*} to ncpus=4"}},
         .windows = world.window("FREQ=DAILY", 8, 18),
         .spill = false});
    minute = 6 * 60;
    EXPECT_EQ(answer(job("long", "bob", 4, -1)), "starts");
    EXPECT_EQ(answer(job("long", "ann", 1, kHour)), "starts") << "the other cycles don't configure";
    minute = 7 * 60 - 2;
    const int second = job("long", "bob", 1, 2 * kHour);
    EXPECT_EQ(answer(second), "starts") << "the first ends at 7:01";
    world.finish(second, at(6, 59));
    minute = 7 * 60 + 1;
    EXPECT_EQ(answer(job("long", "bob", 1, 2 * kHour)), "Not Running: Quota q1 (all): ncpus (R: 1 U: 4 L: 4)")
        << "now it ends at 8:01";
}

// An operator moves, alters, suspends and resumes running jobs: they count as they are then.
TEST_F(Quotas, CountRunningJobsAsTheyAreNow) {
    use({.rules = {{"long", "queues=long to ncpus=4"}, {"bob", "users=bob to jobs=1"}}});
    const int one = job("long", "bob", 3);
    EXPECT_EQ(answer(one), "starts");
    const int two = job("long", "carl", 2);
    EXPECT_EQ(answer(two), "Not Running: Quota q1 (long): ncpus (R: 2 U: 3 L: 4)");
    world.finish(one, at(0, minute));
    EXPECT_EQ(answer(two), "starts");
    EXPECT_EQ(answer(job("short", "bob", 1)), "starts");
    EXPECT_EQ(answer(job("short", "bob", 1)), "Not Running: Quota q1 (bob): jobs (R: 1 U: 1 L: 1)");
    world.queue({.name = "third"});
    EXPECT_EQ(answer(job("third", "bob", 1)), "Not Running: Quota q1 (bob): jobs (R: 1 U: 1 L: 1)");
    EXPECT_EQ(answer(job("long", "dan", 3)), "Not Running: Quota q1 (long): ncpus (R: 3 U: 2 L: 4)");
}

TEST_F(Quotas, AJobGoesToAVnodeWhoseQuotaHasRoom) {
    world.vnode({.name = "n1", .ncpus = 8});
    world.vnode({.name = "n2", .ncpus = 2});
    use({.rules = {{"n1", "users={*} vnodes={n1} to ncpus=4"}}});
    EXPECT_EQ(answer(world.job({.queue = "long", .owner = "bob", .select = "1:ncpus=3:host=n1"})), "starts");
    const int both = world.job({.queue = "long", .owner = "bob", .select = "2:ncpus=2", .place = "scatter"});
    EXPECT_EQ(answer(both), "Not Running: Quota q1 (n1): ncpus (R: 2 U: 3 L: 4)");
    world.vnode({.name = "n3", .ncpus = 2});
    EXPECT_EQ(answer(both), "starts");
}

TEST_F(Quotas, EachHostOfAQuotaHasACounter) {
    world.vnode({.name = "n1", .ncpus = 8, .host_resource = "h1"});
    world.vnode({.name = "n2", .ncpus = 8, .host_resource = "h2"});
    use({.rules = {{"each", "vnodes={host:*} to ncpus=3,jobs=2"}}});
    const Outcome outcome = [&] {
        for (int i = 0; i < 8; ++i) job("long", "bob", 1);
        return world.cycle(at(1));
    }();
    EXPECT_EQ(outcome.started.size(), 4U);  // two jobs on each host
}

TEST_F(Quotas, RulesOfShapesCountArraysAndInteractiveJobs) {
    use({.rules = {{"arrays", "users={*} shapes=array to jobs=2"},
                   {"seen", "shapes=interactive to ncpus=3"},
                   {"rest", "shapes={*} to jobs=1"}}});
    const auto add = [&](JobOptions options) {
        options.queue = "long";
        return world.job(options);
    };
    EXPECT_EQ(answer(add({.subjob = 1})), "starts");
    EXPECT_EQ(answer(add({.subjob = 2})), "starts");
    const int third = add({.subjob = 3});
    EXPECT_EQ(answer(third), "Not Running: Quota q1 (arrays): jobs (R: 1 U: 2 L: 2)");
    EXPECT_EQ(answer(add({.owner = "bob", .subjob = 1})), "starts");
    EXPECT_EQ(answer(add({.select = "2:ncpus=1", .interactive = true})), "starts");
    EXPECT_EQ(answer(add({.owner = "bob", .select = "1:ncpus=2", .interactive = true})),
              "Not Running: Quota q1 (seen): ncpus (R: 2 U: 2 L: 3)");
    EXPECT_EQ(answer(add({.select = "2:ncpus=1"})), "starts");
    EXPECT_EQ(answer(add({.select = "2:ncpus=1"})), "Not Running: Quota q1 (rest): jobs (R: 1 U: 1 L: 1)");
    EXPECT_EQ(answer(add({.select = "1:ncpus=1"})), "starts");
    std::vector<std::string> counters;
    for (const QuotaUse& use : world.scheduler.inspect().quotas(at(1), "default"))
        for (const auto& [of, value] : use.of)
            if (of == "shapes") counters.push_back(value);
    EXPECT_THAT(counters, UnorderedElementsAre("multi", "single"));
    // without a rule about shapes, one counter counts jobs of all shapes
    use({.rules = {{"all", "users={*} to jobs=9"}}});
    EXPECT_EQ(answer(third), "starts");
}

// A limit that is a formula is computed for each counter, from the resources of all vnodes that the counter
// covers.
TEST_F(Quotas, ByFormulasFollowTheVnodes) {
    for (const char* vnode : {"n1", "n2"})
        world.vnode({.name = vnode, .ncpus = 64, .host = "h", .gpus = 4, .host_resource = "h"});
    use({.rules = {{"each", "vnodes={*} to ncpus=(ngpus*2)"}}});
    EXPECT_EQ(answer(world.job({.queue = "long", .select = "1:ncpus=8"})), "starts");
    EXPECT_EQ(answer(world.job({.queue = "long", .select = "1:ncpus=8"})), "starts");
    const int more = world.job({.queue = "long", .select = "1:ncpus=2"});
    EXPECT_EQ(answer(more), "Not Running: Quota q1 (each): ncpus (R: 2 U: 8 L: 8)");
    world.vnode({.name = "n2", .ncpus = 64, .host = "h", .gpus = 5, .host_resource = "h"});
    EXPECT_EQ(answer(more), "starts");
    use({.rules = {{"each", "vnodes={host:*} to ncpus=(ngpus*2),jobs=(ncpus // 32)"}}});
    EXPECT_EQ(answer(world.job({.queue = "long", .select = "1:ncpus=1"})),
              "Not Running: Quota q1 (each): ncpus (R: 1 U: 18 L: 18)");
    use({.rules = {{"one", "vnodes=n1 to ncpus=(ngpus / (ngpus - 4)),mem=(nothing)"}}});
    EXPECT_EQ(answer(world.job({.queue = "long", .select = "1:ncpus=1"})), "starts") << "no such limit";
}

// The end of a preempted job makes room only in counters that count this job.
TEST_F(Quotas, HaveRoomMadeByPreemption) {
    Settings& s = world.policy();
    s.preemption = true;
    s.preempt_order.steps = {{100, "R"}};
    world.queue({.name = "express", .priority = 200});
    use({.rules = {{"each", "users={*} to ncpus=4"}}});
    const int others = job("long", "ann", 2, 10 * kHour);
    const int own = job("long", "bob", 3, 10 * kHour);
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(others, own));
    const int urgent = job("express", "bob", 2);
    const Outcome outcome = world.cycle(at(2));
    EXPECT_THAT(outcome.preempted, ElementsAre(Pair(own, Pair(urgent, "R"))));
    EXPECT_THAT(outcome.started, ElementsAre(urgent));
}

TEST_F(Quotas, AreExplainedByTheirCounters) {
    use({.rules = {{"guests", "users={*} queues={long} to ncpus=4"}, {"all", "queues=short to jobs=1"}}});
    const auto gate = [&](int number, const std::string& filter) {
        const auto found = world.scheduler.inspect().explain(at(1), std::to_string(number) + ".server");
        if (!found) return std::string("unknown");
        for (const QueueAnswers& answers : found->queues)
            for (const FilterAnswer& answer : answers.filters)
                if (answer.filter == filter) return answer.why;
        return std::string("no such gate");
    };
    EXPECT_EQ(answer(job("long", "bob", 1)), "starts");
    EXPECT_EQ(answer(job("long", "bob", 2)), "starts");
    const int third = job("long", "bob", 2);
    EXPECT_THAT(answer(third), HasSubstr("guests"));
    EXPECT_EQ(
        gate(third, "quota"),
        "Not Running: Quota q1 (guests): ncpus (R: 2 U: 3 L: 4) (counter users=bob queues=long, used by "
        "1.server (1), 2.server (2))");
    const auto facts = [&](int number) {
        std::string all;
        const auto found = world.scheduler.inspect().explain(at(1), std::to_string(number) + ".server");
        for (const QueueAnswers& answers : found->queues)
            for (const FilterAnswer& answer : answers.filters)
                for (const AnswerFact& fact : answer.facts)
                    all +=
                        std::string(answer.filter) + " " + std::string(fact.name) + "=" + fact.value + "; ";
        return all;
    };
    EXPECT_EQ(facts(third),
              "quota quota=q1; quota rule=guests; quota of=users=bob; quota of=queues=long; "
              "quota resource=ncpus; quota asked=2; quota used=3; quota limit=4; ");
    EXPECT_EQ(answer(job("short", "bob", 1)), "starts");
    EXPECT_EQ(
        gate(job("short", "carl", 1), "quota"),
        "Not Running: Quota q1 (all): jobs (R: 1 U: 1 L: 1) (counter one for all, used by 1 running job)");
    use({.rules = {{"n", "vnodes={*} to ncpus=4"}}});
    const int on_n1 = job("short", "carl", 3);
    EXPECT_EQ(gate(on_n1, "hosts"), "");
    EXPECT_THAT(gate(on_n1, "quota"), HasSubstr("(counter vnodes=n1, used by 3 running jobs)"));
    EXPECT_EQ(facts(on_n1),
              "quota quota=q1; quota rule=n; quota of=vnodes=n1; quota resource=ncpus; quota asked=3; "
              "quota used=4; quota limit=4; ");
}

// Limits on what nobody uses up have no use: a text and a boolean have to be equal.
TEST_F(Quotas, BoundWhatARequestSaysByTextsAndBooleans) {
    world.vnode({.name = "n1", .ncpus = 64, .arch = "foo", .bigmem = 1});
    use({.rules = {{"a", "to arch=linux,bigmem=False,walltime=1:00:00"}}});
    const int text = world.job({.queue = "long", .ncpus = 1, .arch = "foo"});
    EXPECT_EQ(answer(text), "Can Never Run: Quota q1 (a): arch (foo != linux)");
    const int boolean = world.job({.queue = "long", .ncpus = 1, .bigmem = 1});
    EXPECT_EQ(answer(boolean), "Can Never Run: Quota q1 (a): bigmem (True != False)");
    EXPECT_EQ(answer(job("long", "bob", 1, 2 * kHour)),
              "Can Never Run: Quota q1 (a): walltime (R: 02:00:00 L: 01:00:00)");
    const auto facts = [&](int number) {
        std::string all;
        const auto found = world.scheduler.inspect().explain(at(1), std::to_string(number) + ".server");
        for (const FilterAnswer& gate : found->queues.at(0).filters)
            for (const AnswerFact& fact : gate.facts) all += fmt::format("{}={} ", fact.name, fact.value);
        return all;
    };
    EXPECT_EQ(facts(text), "quota=q1 rule=a resource=arch asked=foo limit=linux ");
    EXPECT_EQ(facts(boolean), "quota=q1 rule=a resource=bigmem asked=True limit=False ");
    use({.rules = {{"a", "to bigmem=True"}}});
    EXPECT_EQ(answer(boolean), "starts");
    EXPECT_EQ(answer(job("long", "bob", 1)), "starts") << "what isn't asked for isn't looked at";
    EXPECT_EQ(answer(world.job({.queue = "long", .ncpus = 1, .bigmem = 0})),
              "Can Never Run: Quota q1 (a): bigmem (False != True)");
}

// The limit of four CPUs is in force from 8:00 to 18:00.
TEST_F(Quotas, TellFromWhenALimitHolds) {
    use({.rules = {{"all", "users={*} to ncpus=4"}},
         .windows = world.window("FREQ=DAILY", 8, 18),
         .spill = false});
    const int waits = job("long", "bob", 6, 2 * kHour);
    const auto explained = [&](int hour) {
        return world.scheduler.inspect().explain(at(hour), std::to_string(waits) + ".server")->queues.at(0);
    };
    const auto quota_gate = [](const QueueAnswers& queue) {
        return *std::ranges::find(queue.filters, std::string_view("quota"), &FilterAnswer::filter);
    };
    const QueueAnswers early = explained(7);
    EXPECT_EQ(
        quota_gate(early).why,
        "Not Running: Quota q1 (all): ncpus (R: 6 U: 0 L: 4) (counter users=bob, used by 0 running jobs; "
        "holds from " +
            ctime_text(at(8), rrule::Zone::utc()) + ")");
    EXPECT_EQ(quota_gate(early).facts.back().name, "holds_from");
    EXPECT_EQ(quota_gate(early).facts.back().value, std::to_string(at(8).time_since_epoch().count()));
    EXPECT_EQ(early.earliest_start, at(18));
    ASSERT_EQ(early.awaited.size(), 1U);
    EXPECT_EQ(early.awaited[0].what, "quota q1 doesn't hold");
    EXPECT_EQ(early.awaited[0].until, at(18));
    const auto layer = [](const QueueAnswers& queue) {
        const auto found = std::ranges::find(queue.layers, "quota q1", &Layer::name);
        return found == queue.layers.end()
                   ? std::string("none")
                   : fmt::format("{} of {} {}", found->free, found->total, found->narrowest);
    };
    EXPECT_EQ(layer(early), "4 of 4 true") << "it holds before the job would end";
    EXPECT_THAT(quota_gate(explained(9)).why, Not(HasSubstr("holds from")));
    EXPECT_EQ(layer(explained(9)), "4 of 4 true");
}

// The job asks for four CPUs: n1 has five that are free, of which the quota leaves one.
TEST_F(Quotas, OfVnodesAreLayersOfTheirSums) {
    world.vnode({.name = "n1", .ncpus = 8});
    world.vnode({.name = "n2", .ncpus = 2});
    use({.rules = {{"n1", "users={*} vnodes={n1} to ncpus=4"}}});
    EXPECT_EQ(answer(world.job({.queue = "long", .owner = "bob", .select = "1:ncpus=3:host=n1"})), "starts");
    const auto layers = [&](int number) {
        std::vector<std::string> all;
        const auto found = world.scheduler.inspect().explain(at(1), std::to_string(number) + ".server");
        for (const Layer& l : found->queues.at(0).layers)
            all.push_back(
                fmt::format("{}: {} of {}{}", l.name, l.free, l.total, l.narrowest ? ", narrowest" : ""));
        return all;
    };
    const int both = world.job({.queue = "long", .owner = "bob", .select = "2:ncpus=2", .place = "scatter"});
    EXPECT_THAT(answer(both), HasSubstr("Quota q1 (n1)"));
    EXPECT_THAT(layers(both), ElementsAre("vnodes: 7 of 10", "quota q1: 3 of 6, narrowest"));
    const int large = world.job({.queue = "long", .owner = "carl", .select = "1:ncpus=9"});
    EXPECT_THAT(layers(large), ElementsAre("vnodes: 7 of 10", "quota q1: 6 of 6, narrowest"));
    use({.rules = {{"n1", "users={*} vnodes={n1} to ncpus=64"}}});
    EXPECT_THAT(layers(large), ElementsAre("vnodes: 3 of 10, narrowest", "quota q1: 3 of 10"))
        << "the other one starts now";
}

TEST_F(Quotas, TellOfFormulasWithoutAValue) {
    world.vnode({.name = "n1", .ncpus = 4, .gpus = 2});
    world.vnode({.name = "n2", .ncpus = 4});
    use({.rules = {{"each", "vnodes={*} to ncpus=(ngpus*2),jobs=5"}}});
    const auto notes = [&](int number) {
        return world.scheduler.inspect()
            .explain(at(1), std::to_string(number) + ".server")
            ->queues.at(0)
            .notes;
    };
    const int one = job("long", "bob", 1);
    EXPECT_THAT(notes(one),
                ElementsAre("quota q1 (each): ncpus isn't limited: (ngpus*2) isn't known for vnodes=n2"));
    world.vnode({.name = "n2", .ncpus = 4, .gpus = 2});
    EXPECT_THAT(notes(one), IsEmpty());
}

TEST_F(Quotas, ShowJobsWithoutAProjectByTheWordOfRules) {
    use({.rules = {{"all", "projects={!x} to jobs=5"}}});
    for (const char* project : {"", "_pbs_project_default", "alpha"})
        EXPECT_EQ(answer(world.job({.queue = "long", .project = project, .ncpus = 1})), "starts");
    std::vector<std::string> counters;
    for (const QuotaUse& use : world.scheduler.inspect().quotas(at(1), "default"))
        counters.push_back(use.of.at(0).second);
    EXPECT_THAT(std::set<std::string>(counters.begin(), counters.end()), UnorderedElementsAre("!*", "alpha"));
}

// Jobs that run, jobs with an expected start, and jobs that the policy has suspended, by the counters in
// which they count or will.
TEST_F(Quotas, ShowTheJobsOfTheirCounters) {
    const auto shown = [&] {
        std::vector<std::string> lines;
        for (const QuotaUse& use : world.scheduler.inspect().quotas(at(1), "default", true)) {
            std::string line = fmt::format("{} {} of {}:", use.rule, use.resource, use.used);
            for (const auto& [id, amount] : use.jobs) line += fmt::format(" {}={}", id, amount);
            lines.push_back(std::move(line));
        }
        return lines;
    };
    const auto id = [&](int number) { return world.id(number); };
    world.scheduler.set_tell_estimates(true);
    world.policy().estimate_depth = 5;
    use({.rules = {{"long", "users={*} queues={long} to ncpus=4"}, {"rest", "users={*} to ncpus=6,jobs=9"}}});
    const int three = job("long", "bob", 3);
    EXPECT_EQ(answer(three), "starts");
    const int two = job("long", "bob", 2);
    EXPECT_THAT(answer(two), HasSubstr("Quota q1 (long)"));
    const int other = job("short", "bob", 5);
    EXPECT_EQ(answer(other), "starts");
    EXPECT_THAT(shown(), UnorderedElementsAre(fmt::format("long ncpus of 3: {}=3 {}=2", id(three), id(two)),
                                              fmt::format("rest ncpus of 5: {}=5", id(other)),
                                              fmt::format("rest jobs of 1: {}=1", id(other))));
    for (const QuotaUse& use : world.scheduler.inspect().quotas(at(1), "default"))
        EXPECT_THAT(use.jobs, testing::SizeIs(0));
    EXPECT_THAT(world.scheduler.inspect().quotas(at(1), "default", true, "bob"), testing::SizeIs(3));
    EXPECT_THAT(world.scheduler.inspect().quotas(at(1), "default", true, "ann"), IsEmpty());
    // The vnodes on which a job will run aren't known.
    use({.rules = {{"long", "users={*} vnodes=n* to ncpus=4"}}});
    EXPECT_EQ(answer(two), "waits");
    for (const std::string& line : shown()) EXPECT_THAT(line, Not(HasSubstr(id(two) + "=")));
}

// A chunk may be divided among vnodes of a host, even if the quota on each vnode is less than the chunk.
TEST_F(Quotas, AQuotaOfVnodesBoundsThePiecesOfAChunk) {
    for (const char* vnode : {"a1", "a2"}) world.vnode({.name = vnode, .ncpus = 4, .host = "a"});
    world.vnode({.name = "n1", .free = false});
    world.vnode({.name = "n2", .free = false});
    use({.rules = {{"each", "vnodes={*} to ncpus=3"}}});
    const int six = world.job({.queue = "long", .select = "1:ncpus=6"});
    const Outcome outcome = world.cycle(at(0, 1));
    EXPECT_THAT(outcome.exec_vnode, Contains(Pair(six, "(a1:ncpus=3+a2:ncpus=3)")));
    world.finish(six, at(0, 2));
    use({.rules = {{"both", "vnodes=a1,a2 to ncpus=7"}}});
    minute = 2;
    EXPECT_EQ(answer(world.job({.queue = "long", .select = "1:ncpus=8"})),
              "Can Never Run: Quota q1 (both): ncpus (R: 8 U: 0 L: 7)");
    EXPECT_EQ(answer(world.job({.queue = "long", .select = "1:ncpus=5"})), "starts");
    EXPECT_EQ(answer(world.job({.queue = "long", .select = "3:ncpus=1"})),
              "Not Running: Quota q1 (both): ncpus (R: 3 U: 5 L: 7)");
}

// A suspended job is resumed only if the quotas of its vnodes leave enough for it.
TEST_F(Quotas, AQuotaOfVnodesHoldsBackASuspendedJob) {
    Settings& s = world.policy();
    s.preemption = true;
    s.preempt_order.steps = {{100, "S"}};
    world.queue({.name = "express", .priority = 200});
    world.vnode({.name = "n1", .ncpus = 4});
    world.vnode({.name = "n2", .free = false});
    use({.rules = {{"n1", "vnodes=n1 to ncpus=4"}}});
    const int small = world.job({.queue = "long", .ncpus = 3, .walltime = 10 * kHour});
    EXPECT_EQ(answer(small), "starts");
    const int urgent = world.job({.queue = "express", .ncpus = 4, .walltime = kHour});
    const Outcome outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.preempted, Contains(Key(small)));
    EXPECT_THAT(outcome.started, ElementsAre(urgent));
    use({.rules = {{"n1", "vnodes=n1 to ncpus=2"}}});
    world.finish(urgent, at(2));
    const Outcome held = world.cycle(at(2));
    EXPECT_THAT(held.started, IsEmpty());
    EXPECT_THAT(held.comment.at(small), HasSubstr("Quota q1 (n1): ncpus (R: 3 U: 0 L: 2)"));
    use({.rules = {{"n1", "vnodes=n1 to ncpus=3"}}});
    EXPECT_THAT(world.cycle(at(3)).started, ElementsAre(small));
}

TEST_F(Quotas, DoNotHoldBackWhatAnOperatorStarts) {
    for (const char* rule : {"users={*} to ncpus=0", "vnodes=* to ncpus=0"}) {
        use({.rules = {{"none", rule}}});
        const int waits = job("long", "bob", 1);
        EXPECT_NE(answer(waits), "starts") << rule;
        const Outcome placed = world.take(
            world.scheduler.place(at(1), JobHandle(static_cast<std::uint64_t>(waits))), at(1), false);
        EXPECT_THAT(placed.started, ElementsAre(waits)) << rule;
    }
}

TEST_F(Quotas, RulesOfProjectsCountNamedProjectsAndJobsWithoutOne) {
    use({.rules = {{"named", "projects={a*} to jobs=1"}, {"without", "projects=!* to jobs=0"}}});
    const auto of = [&](const std::string& project) {
        return world.job({.queue = "long", .owner = "bob", .project = project, .ncpus = 1});
    };
    EXPECT_EQ(answer(of("alpha")), "starts");
    EXPECT_THAT(answer(of("alpha")), HasSubstr("Quota q1 (named): jobs (R: 1 U: 1 L: 1)"));
    EXPECT_EQ(answer(of("apollo")), "starts");
    EXPECT_EQ(answer(of("beta")), "starts");
    EXPECT_THAT(answer(of("")), HasSubstr("Quota q1 (without): jobs"));
}

// dan's waiting job needs all eight CPUs that the quota allows dan. It is expected to start at 2:00, when
// bob's job ends. So a long job of dan must not start before.
TEST_F(Quotas, AreKeptForAJobWithAReservation) {
    Settings& s = world.policy();
    s.strict_ordering = true;
    s.backfill_depth = 1;
    world.vnode({.name = "n1", .ncpus = 8});
    world.vnode({.name = "n2", .ncpus = 8});
    use({.rules = {{"all", "users={*} to ncpus=8"}}});
    const int in_the_way = job("long", "bob", 8, 2 * kHour);
    const int long_one = job("long", "ann", 4, 9 * kHour);
    ASSERT_THAT(world.cycle(at(0)).started, ElementsAre(in_the_way, long_one));
    const int top = world.job({.queue = "long", .owner = "dan", .ncpus = 8, .walltime = kHour});
    ASSERT_THAT(world.cycle(at(0, 1)).started, IsEmpty());
    const int small = job("long", "dan", 2, 9 * kHour);
    EXPECT_THAT(world.cycle(at(0, 2)).started, IsEmpty());
    world.finish(in_the_way, at(2));
    EXPECT_THAT(world.cycle(at(2)).started, ElementsAre(top));
    EXPECT_FALSE(world.running(small));
}

// ---- Random rules, compared with a simple implementation.

struct PlainRule {
    std::vector<std::string> users;  // users of the rule; empty: all
    bool each_user = false;
    std::vector<std::string> queues;
    bool each_queue = false;
    std::int64_t most = 0;

    std::string text() const {
        const auto list = [](const char* name, const std::vector<std::string>& of, bool each) {
            if (of.empty() && !each) return std::string();
            std::string all = of.empty() ? "*" : of.front();
            for (std::size_t i = 1; i < of.size(); ++i) all += "," + of[i];
            return std::string(name) + "=" + (each ? "{" + all + "}" : all) + " ";
        };
        return list("users", users, each_user) + list("queues", queues, each_queue) +
               "to ncpus=" + std::to_string(most);
    }
    bool matches(const std::string& user, const std::string& queue) const {
        const auto in = [](const std::vector<std::string>& of, const std::string& name) {
            return of.empty() || std::ranges::find(of, name) != of.end();
        };
        return in(users, user) && in(queues, queue);
    }
};

struct PlainJob {
    int number;
    std::string user, queue;
    std::int64_t cpus;
    bool runs = false;
};

// Returns the counter of a job: the number of the first matching rule, and the job's user and queue if the
// rule counts each of them apart. The number is -1 if no rule matches.
std::pair<int, std::string> counter_of(const std::vector<PlainRule>& rules, const PlainJob& job) {
    for (std::size_t i = 0; i < rules.size(); ++i)
        if (rules[i].matches(job.user, job.queue))
            return {static_cast<int>(i),
                    (rules[i].each_user ? job.user : "") + "/" + (rules[i].each_queue ? job.queue : "")};
    return {-1, ""};
}

TEST(QuotaRules, DecideAsAPlainSearchForTheFirstMatch) {
    const int sites = pbs::test::cases(60);
    for (int seed = 1; seed <= sites; ++seed) {
        std::mt19937 random(static_cast<unsigned>(seed));
        const auto pick = [&](int least, int most) {
            return std::uniform_int_distribution<int>(least, most)(random);
        };
        World world;
        world.paste_on_failure();
        world.policy().by_queue = false;
        world.configuration.scheds["default"] = {.all_time = "p1"};
        for (const char* queue : {"qa", "qb", "qc"}) world.queue({.name = queue});
        world.vnode({.name = "n", .ncpus = 4096, .mem = 64 * kGb});
        std::vector<PlainRule> rules(static_cast<std::size_t>(pick(1, 5)));
        QuotaOptions options;
        for (std::size_t i = 0; i < rules.size(); ++i) {
            PlainRule& rule = rules[i];
            for (const char* user : {"u1", "u2", "u3", "u4"})
                if (pick(0, 2) == 0) rule.users.emplace_back(user);
            for (const char* queue : {"qa", "qb", "qc"})
                if (pick(0, 2) == 0) rule.queues.emplace_back(queue);
            rule.each_user = pick(0, 1) == 0;
            rule.each_queue = pick(0, 2) == 0;
            rule.most = pick(0, 12);
            options.rules.emplace_back("r" + std::to_string(i), rule.text());
        }
        world.policy().quotas = {quota(options)};
        world.configure();
        std::vector<PlainJob> jobs;
        std::map<std::pair<int, std::string>, std::int64_t> used;
        for (int cycle = 1; cycle <= 12; ++cycle) {
            for (int i = pick(0, 5); i > 0; --i) {
                PlainJob job{0, "u" + std::to_string(pick(1, 4)), std::string("q") + "abc"[pick(0, 2)],
                             pick(1, 5)};
                job.number = world.job({.queue = job.queue,
                                        .owner = job.user,
                                        .ncpus = job.cpus,
                                        .walltime = 100 * kHour,
                                        .queued = at(0, cycle)});
                jobs.push_back(job);
            }
            for (PlainJob& job : jobs) {
                if (!job.runs || pick(0, 3) != 0) continue;
                world.finish(job.number, at(0, cycle));
                used[counter_of(rules, job)] -= job.cpus;
                job = jobs.back();
                jobs.pop_back();
                break;
            }
            std::vector<int> expected;
            std::ranges::sort(jobs, {}, &PlainJob::number);
            for (PlainJob& job : jobs) {
                if (job.runs) continue;
                const auto counter = counter_of(rules, job);
                if (counter.first >= 0 &&
                    used[counter] + job.cpus > rules[static_cast<std::size_t>(counter.first)].most)
                    continue;
                used[counter] += job.cpus;
                job.runs = true;
                expected.push_back(job.number);
            }
            const bool all = pick(0, 1) == 0;
            const auto outcome = world.cycle(at(0, cycle), true, "default",
                                             all ? CycleTrigger::timer : CycleTrigger::job_ended);
            std::vector<int> started = outcome.started;
            std::ranges::sort(started);
            ASSERT_EQ(started, expected) << "seed " << seed << ", cycle " << cycle << "\n"
                                         << testing::PrintToString(options.rules);
        }
    }
}

// On hosts with several vnodes, a chunk may be divided among the vnodes. Still, no counter for vnodes is ever
// over its limit.
TEST(QuotaRules, RulesOfVnodesHoldForDividedChunks) {
    const int sites = pbs::test::cases(60);
    std::size_t divided = 0;
    for (int seed = 1; seed <= sites; ++seed) {
        std::mt19937 random(static_cast<unsigned>(seed));
        const auto pick = [&](int least, int most) {
            return std::uniform_int_distribution<int>(least, most)(random);
        };
        World world;
        world.paste_on_failure();
        world.policy().by_queue = false;
        world.configuration.scheds["default"] = {.all_time = "p1"};
        world.queue({.name = "q"});
        std::map<std::string, std::string> host_of;
        for (int h = 0; h < 3; ++h)
            for (int v = pick(1, 3); v > 0; --v) {
                const std::string host = "h" + std::to_string(h);
                const std::string name = host + "v" + std::to_string(v);
                host_of[name] = host;
                world.vnode({.name = name, .ncpus = pick(1, 5), .host = host, .host_resource = host});
            }
        const int kind = pick(0, 2);  // 0: a counter for each vnode; 1: for each host; 2: for all
        const int most = pick(1, 7);
        world.policy().quotas = {quota({.rules = {{"r", std::string("vnodes=") +
                                                            (kind == 0   ? "{*}"
                                                             : kind == 1 ? "{host:*}"
                                                                         : "*") +
                                                            " to ncpus=" + std::to_string(most)}}})};
        world.configure();
        std::map<int, std::string> running;  // exec_vnode of each running job
        for (int cycle = 1; cycle <= 10; ++cycle) {
            for (int i = pick(1, 4); i > 0; --i) {
                const char* places[] = {"free", "pack", "scatter", "vscatter"};
                world.job({.queue = "q",
                           .walltime = 100 * kHour,
                           .select = std::to_string(pick(1, 3)) + ":ncpus=" + std::to_string(pick(1, 6)),
                           .place = places[pick(0, 3)]});
            }
            if (!running.empty() && pick(0, 1) == 0) {
                world.finish(running.begin()->first, at(0, cycle));
                running.erase(running.begin());
            }
            const Outcome outcome = world.cycle(at(0, cycle));
            for (const int job : outcome.started) running[job] = outcome.exec_vnode.at(job);
            std::map<std::string, int> used;
            for (const auto& [job, places] : running) {
                if (places.find("+") < places.find(")")) ++divided;
                for (std::size_t at = 0; (at = places.find_first_of("h", at)) != places.npos; ++at) {
                    const std::string vnode = places.substr(at, places.find(':', at) - at);
                    const int cpus = std::stoi(places.substr(places.find("ncpus=", at) + 6));
                    used[kind == 0 ? vnode : kind == 1 ? host_of.at(vnode) : "all"] += cpus;
                }
            }
            for (const auto& [counter, cpus] : used)
                ASSERT_LE(cpus, most) << "seed " << seed << ", cycle " << cycle << ", " << counter;
        }
    }
    EXPECT_GT(divided, static_cast<std::size_t>(sites) / 4);
}

// With spill=False, no user is ever over the limit inside a window, even if jobs end before their walltimes.
TEST(QuotaRules, WithoutSpillAreNeverBrokenInsideAWindow) {
    constexpr std::int64_t kMost = 6;
    const int sites = pbs::test::cases(40);
    for (int seed = 1; seed <= sites; ++seed) {
        std::mt19937 random(static_cast<unsigned>(seed));
        const auto pick = [&](int least, int most) {
            return std::uniform_int_distribution<int>(least, most)(random);
        };
        World world;
        Settings& s = world.policy();
        s.by_queue = false;
        s.strict_ordering = pick(0, 1) == 0;
        s.backfill_depth = pick(1, 3);
        world.configuration.scheds["default"] = {.all_time = "p1"};
        world.queue({.name = "q"});
        world.vnodes(4, {.name = "n", .ncpus = 8});
        const std::string vnodes = pick(0, 1) == 0 ? "vnodes=* " : "";
        const auto window = world.window("FREQ=DAILY", 8, 12);
        s.quotas = {quota({.rules = {{"each", "users={*} " + vnodes + "to ncpus=" + std::to_string(kMost)}},
                           .windows = window,
                           .spill = false})};
        world.configure();
        struct Known {
            int number;
            std::string owner;
            std::int64_t cpus;
            Seconds walltime;
            std::optional<Instant> ends;
        };
        std::vector<Known> jobs;
        for (int step = 0; step < 96; ++step) {
            const Instant now = at(0, 30 * step);
            std::erase_if(jobs, [&](const Known& job) {
                if (!job.ends || (*job.ends > now && pick(0, 19) != 0)) return false;
                world.finish(job.number, now);
                return true;
            });
            for (int i = pick(0, 3); i > 0; --i) {
                Known job{
                    0, "u" + std::to_string(pick(1, 3)), pick(1, 5), Seconds(pick(1, 12) * 30 * kMinute), {}};
                job.number = world.job({.queue = "q",
                                        .owner = job.owner,
                                        .ncpus = job.cpus,
                                        .walltime = job.walltime.count(),
                                        .queued = now},
                                       now);
                jobs.push_back(job);
            }
            for (const int started : world.cycle(now).started)
                for (Known& job : jobs)
                    if (job.number == started) job.ends = now + job.walltime;
            if (!window.contains(now)) continue;
            std::map<std::string, std::int64_t> used;
            for (const Known& job : jobs)
                if (job.ends) used[job.owner] += job.cpus;
            for (const auto& [owner, cpus] : used)
                ASSERT_LE(cpus, kMost) << "seed " << seed << ", step " << step << ", " << owner;
        }
    }
}

}  // namespace
}  // namespace pbs::sched::test
