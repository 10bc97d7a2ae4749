// Tests Scheduler::place(), which finds a place for one job that an operator wants to start (qrun).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct PlaceTest : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        s.help_starving_jobs = false;
        world.queue({.name = "work"});
        world.configure();
    }
    // Makes four vnodes of two CPUs, on two hosts. A job uses a CPU of v1.
    void two_hosts() {
        for (const auto& [name, host_name] :
             {std::pair("v0", "ha"), {"v1", "ha"}, {"v2", "hb"}, {"v3", "hb"}})
            world.vnode({.name = name, .ncpus = 2, .mem = 2 * kGb, .host = host_name});
        world.run(job({.ncpus = 1}), "work", "v1", at(0));
    }
    int job(JobOptions options) {
        options.queue = options.queue == "submit" ? "work" : options.queue;
        return world.job(options);
    }
    Outcome place(int number, bool apply = false, Instant now = at(1), bool preempts = false) {
        return world.take(world.scheduler.place(now, JobHandle(static_cast<std::uint64_t>(number)), preempts),
                          now, apply);
    }
    // Returns the place that a job gets, or the reason why it gets none.
    std::string answer(const JobOptions& options) {
        const int number = job(options);
        const Outcome outcome = place(number);
        world.finish(number, at(1));
        const bool placed = outcome.exec_vnode.contains(number);
        EXPECT_EQ(outcome.started.size(), placed ? 1u : 0u);
        return placed ? outcome.exec_vnode.at(number) : outcome.comment.at(number);
    }
};

// OpenPBS 23.06 gives these answers to qrun, with its own scheduler and the vnodes of two_hosts().
TEST_F(PlaceTest, IsWhereOpenPbsPlacesTheJob) {
    struct Case {
        const char* select;
        const char* place;
        const char* answer;
    };
    constexpr const char* kNone = "Not Running: No available resources on nodes";
    const Case cases[] = {
        {"1:ncpus=1", "", "(v0:ncpus=1)"},
        {"1:ncpus=1", "free:excl", "(v0:ncpus=1)"},
        {"2:ncpus=2", "", "(v0:ncpus=2)+(v2:ncpus=2)"},
        {"2:ncpus=2", "pack", "(v2:ncpus=2)+(v3:ncpus=2)"},
        {"2:ncpus=2", "scatter", "(v0:ncpus=2)+(v2:ncpus=2)"},
        {"2:ncpus=2", "vscatter", "(v0:ncpus=2)+(v2:ncpus=2)"},
        {"2:ncpus=2", "pack:excl", "(v2:ncpus=2)+(v3:ncpus=2)"},
        {"1:ncpus=3", "", "(v0:ncpus=2+v1:ncpus=1)"},
        {"1:ncpus=3", "scatter", "(v0:ncpus=2+v1:ncpus=1)"},
        {"1:ncpus=3", "excl", "(v2:ncpus=2+v3:ncpus=1)"},
        {"1:ncpus=4", "", "(v2:ncpus=2+v3:ncpus=2)"},
        {"3:ncpus=1", "", "(v0:ncpus=1)+(v0:ncpus=1)+(v1:ncpus=1)"},
        {"3:ncpus=1", "pack", "(v0:ncpus=1)+(v0:ncpus=1)+(v1:ncpus=1)"},
        {"3:ncpus=1", "scatter", kNone},
        {"3:ncpus=1", "vscatter", "(v0:ncpus=1)+(v1:ncpus=1)+(v2:ncpus=1)"},
        {"3:ncpus=1", "excl", "(v0:ncpus=1)+(v0:ncpus=1)+(v2:ncpus=1)"},
        {"3:ncpus=1", "pack:excl", "(v2:ncpus=1)+(v2:ncpus=1)+(v3:ncpus=1)"},
        {"2:ncpus=1+1:ncpus=2:mem=1gb", "", "(v0:ncpus=1)+(v0:ncpus=1)+(v2:ncpus=2:mem=1024mb)"},
        {"1:ncpus=3:mem=3gb", "", "(v0:ncpus=2:mem=2048mb+v1:ncpus=1:mem=1024mb)"},
        {"1:ncpus=1:host=hb", "", "(v2:ncpus=1)"},
        {"1:ncpus=2:host=hb+1:ncpus=1:host=ha", "", "(v2:ncpus=2)+(v0:ncpus=1)"},
        {"4:ncpus=2", "", "Not Running: Insufficient amount of resource: ncpus (R: 8 A: 7 T: 8)"},
        {"4:ncpus=2", "scatter", "Not Running: Insufficient amount of resource: ncpus (R: 8 A: 7 T: 8)"},
        {"5:ncpus=2", "", "Can Never Run: Insufficient amount of resource: ncpus (R: 10 A: 8 T: 8)"},
        {"9:ncpus=1", "", "Can Never Run: Insufficient amount of resource: ncpus (R: 9 A: 8 T: 8)"},
    };
    two_hosts();
    for (const Case& c : cases)
        EXPECT_EQ(answer({.select = c.select, .place = c.place}), c.answer)
            << "select=" << c.select << " place=" << c.place;
}

TEST_F(PlaceTest, AHostThatAJobHasForItselfTakesNoOther) {
    two_hosts();
    EXPECT_EQ(answer({.select = "1:ncpus=1", .place = "exclhost"}), "(v2:ncpus=1)");
    EXPECT_EQ(answer({.select = "2:ncpus=1", .place = "scatter:exclhost"}),
              "Not Running: No available resources on nodes");
    world.run(job({.select = "1:ncpus=1", .place = "exclhost"}), "work", "v2", at(0));
    EXPECT_EQ(answer({.select = "1:ncpus=1"}), "(v0:ncpus=1)");
    EXPECT_EQ(answer({.select = "2:ncpus=2"}),
              "Not Running: Insufficient amount of resource: ncpus (R: 4 A: 3 T: 8)");
}

// In each case, a job runs on a vnode with this `sharing`; `fits` says whether a second job may run beside
// it.
TEST_F(PlaceTest, VnodesSayWhetherJobsShareThem) {
    struct Case {
        Sharing sharing;
        const char* first;  // value of place of the running job
        const char* place;
        bool fits;
    };
    using enum Sharing;
    const Case cases[] = {
        {default_shared, "", "", true},          {default_shared, "", "shared", true},
        {default_shared, "", "excl", false},     {default_shared, "excl", "shared", false},
        {default_excl, "", "", false},           {default_excl, "", "shared", false},
        {default_excl, "shared", "", false},     {default_excl, "shared", "shared", true},
        {default_excl, "shared", "excl", false}, {ignore_excl, "", "", true},
        {ignore_excl, "excl", "excl", true},     {ignore_excl, "exclhost", "exclhost", true},
        {force_excl, "shared", "shared", false}, {force_excl, "", "", false},
        {default_exclhost, "", "", false},       {default_exclhost, "shared", "shared", true},
        {default_exclhost, "shared", "", false}, {force_exclhost, "shared", "shared", false},
    };
    for (const Case& c : cases) {
        World site;
        site.policy();
        site.queue({.name = "work"});
        site.vnode({.name = "v1", .ncpus = 4, .host = "h", .sharing = c.sharing});
        site.configure();
        site.run(site.job({.queue = "work", .ncpus = 1, .place = c.first}), "work", "v1", at(0));
        site.job({.queue = "work", .ncpus = 1, .place = c.place});
        EXPECT_EQ(site.cycle(at(1)).started.size(), c.fits ? 1U : 0U)
            << static_cast<int>(c.sharing) << " " << c.first << ", then " << c.place;
    }
}

TEST_F(PlaceTest, AVnodeThatGivesItsHostTakesItAlong) {
    for (const Sharing sharing : {Sharing::default_exclhost, Sharing::force_exclhost}) {
        World site;
        site.policy();
        site.queue({.name = "work"});
        for (const char* name : {"v1", "v2"})
            site.vnode({.name = name, .ncpus = 4, .host = "h", .sharing = sharing});
        site.configure();
        const int first = site.job({.queue = "work", .ncpus = 1});
        const int next = site.job({.queue = "work", .ncpus = 1});
        EXPECT_EQ(site.cycle(at(1)).started, std::vector{first});
        site.finish(first, at(2));
        EXPECT_EQ(site.cycle(at(2)).started, std::vector{next}) << "the host is free again";
        const int last = site.job({.queue = "work", .ncpus = 1});
        EXPECT_TRUE(site.cycle(at(3)).started.empty());
        for (const char* name : {"v1", "v2"}) site.vnode({.name = name, .ncpus = 4, .host = "h"});
        EXPECT_EQ(site.cycle(at(4)).started, std::vector{last}) << "they are shared now";
    }
}

TEST_F(PlaceTest, WhatIsNotSupportedIsSaid) {
    two_hosts();
    EXPECT_EQ(answer({.select = "1:ncpus=1", .place = "exclusive"}),
              "Can Never Run: place=exclusive can't be scheduled here");
}

TEST_F(PlaceTest, StatesOrderAndLimitsDoNotMatter) {
    two_hosts();
    world.queue({.name = "stopped", .started = false});
    world.queue({.name = "full", .max_running = 0, .max_user_run = 0, .acl_users = {"-ann"}});
    world.queue({.name = "nights", .execution_type = ExecutionType::non_prime});
    world.queue({.name = "closed"});
    world.hours("closed", world.window("FREQ=DAILY", 6, 9));
    world.configuration.dedicated = world.window("FREQ=DAILY", 0, 6);
    world.prime_time(0, 23);
    s.strict_ordering = true;
    world.configure();
    const int top = job({.ncpus = 8});
    for (const char* queue : {"stopped", "full", "nights", "closed", "work"}) {
        const int waits = job({.queue = queue, .ncpus = 1});
        EXPECT_THAT(world.cycle(at(1), false).started, IsEmpty()) << queue;
        const Outcome outcome = place(waits);
        EXPECT_THAT(outcome.started, ElementsAre(waits)) << queue;
        EXPECT_EQ(outcome.queue.at(waits), queue);
        world.finish(waits, at(1));
    }
    for (const char state : {'H', 'W'}) EXPECT_EQ(answer({.ncpus = 1, .state = state}), "(v0:ncpus=1)");
    world.scheduler.sched_changed({"default", false, {}, {}});
    EXPECT_EQ(answer({.ncpus = 1}), "(v0:ncpus=1)") << "scheduling is off";
    EXPECT_THAT(place(top).comment.at(top), HasSubstr("R: 8 A: "));
}

TEST_F(PlaceTest, OthersArePreemptedForItWhateverTheirLevel) {
    world.queue({.name = "express", .priority = 200});
    world.vnode({.name = "v0", .ncpus = 4});
    const int first = job({.queue = "express", .ncpus = 2});
    const int last = job({.queue = "express", .ncpus = 2});
    world.run(first, "express", "v0", at(0));
    world.run(last, "express", "v0", at(0, 30));
    const int asked = job({.ncpus = 2});
    EXPECT_THAT(place(asked).comment.at(asked), HasSubstr("Not enough free nodes")) << "the host can't";
    s.preemption = false;
    world.configure();
    EXPECT_THAT(place(asked, false, at(1), true).comment.at(asked), HasSubstr("Not enough free nodes"));
    s.preemption = true;
    world.configure();
    for (int i = 0; i < 2; ++i) {
        const Outcome outcome = place(asked, false, at(1), true);
        EXPECT_THAT(outcome.started, ElementsAre(asked));
        EXPECT_THAT(outcome.preempted, ElementsAre(testing::Key(last))) << "and all is as before";
    }
    const int too_large = job({.ncpus = 5});
    EXPECT_THAT(place(too_large, false, at(1), true).comment.at(too_large), HasSubstr("Can Never Run"));
}

TEST_F(PlaceTest, ResourcesOfTheQueueAndTheServerDo) {
    two_hosts();
    world.queue({.name = "two", .max_running = 1, .available_ncpus = 2});
    world.run(job({.queue = "two", .ncpus = 2}), "two", "v2", at(0));
    EXPECT_EQ(answer({.queue = "two", .ncpus = 1}),
              "Not Running: Insufficient amount of queue resource: ncpus (R: 1 A: 0 T: 2)");
    const std::array available = {Amount{ncpus, 4, {}}};
    ServerRecord record;
    record.resources_available = available;
    world.server(record);
    EXPECT_EQ(answer({.ncpus = 2}),
              "Not Running: Insufficient amount of server resource: ncpus (R: 2 A: 1 T: 4)");
    EXPECT_EQ(answer({.ncpus = 1}), "(v0:ncpus=1)");
}

TEST_F(PlaceTest, AQueueBoundToVnodesHasThoseAndNoOthers) {
    world.queue({.name = "bound"});
    world.vnodes(2, {.name = "a", .ncpus = 2});
    world.vnodes(2, {.name = "b", .ncpus = 2, .queue = "bound"});
    EXPECT_EQ(answer({.queue = "bound", .select = "1:ncpus=1"}), "(b:ncpus=1)");
    EXPECT_EQ(answer({.select = "1:ncpus=1"}), "(a:ncpus=1)");
    for (const char* queue : {"bound", "work"})
        EXPECT_EQ(answer({.queue = queue, .select = "3:ncpus=2"}),
                  "Can Never Run: Insufficient amount of resource: ncpus (R: 6 A: 4 T: 4)");
}

TEST_F(PlaceTest, AJobNamesItsHost) {
    world.vnodes(2, {.name = "n", .ncpus = 2});
    EXPECT_EQ(answer({.ncpus = 1, .run_host = "n1"}), "(n1:ncpus=1)");
    world.vnode({.name = "n1", .ncpus = 2, .free = false});
    EXPECT_THAT(answer({.ncpus = 1, .run_host = "n1"}), HasSubstr("Not Running"));
}

TEST_F(PlaceTest, NoSchedulerNoPolicyAndNoSuchJob) {
    two_hosts();
    world.queue({.name = "alone", .partition = "nobodys"});
    EXPECT_EQ(answer({.queue = "alone", .ncpus = 1}), "There are no vnodes for queue alone");
    world.vnode({.name = "p", .ncpus = 2, .partition = "nobodys"});
    EXPECT_EQ(answer({.queue = "alone", .ncpus = 1}), "(p:ncpus=1)");
    world.configuration.scheds.clear();
    world.configure();
    EXPECT_THAT(world.cycle(at(1)).started, IsEmpty());
    EXPECT_EQ(answer({.select = "1:ncpus=3"}), "(v0:ncpus=2+v1:ncpus=1)");
    EXPECT_THAT(place(999).started, IsEmpty());
    EXPECT_THAT(place(999).comment, IsEmpty());
}

TEST_F(PlaceTest, OriginsLimitsOnHostsDoNotMatterEither) {
    Settings& o = world.origin({"batch"});
    world.vnode({.name = "n1", .ncpus = 8, .load = 9000, .systime = 900});
    o.max_jobs = 1;
    o.max_load_percent = 50;
    o.high_systime = 10;
    o.test_only = Since{true};
    o.fake_machine_mult = 2;
    world.configure();
    world.run(world.job({.ncpus = 2}), "batch", "n1", at(0));
    const int waits = world.job({.ncpus = 4});
    EXPECT_THAT(world.cycle(at(1)).started, IsEmpty());
    const Outcome outcome = place(waits, true);
    EXPECT_THAT(outcome.started, ElementsAre(waits));
    EXPECT_EQ(outcome.queue.at(waits), "submit") << "it stays where it is";
    EXPECT_EQ(outcome.ssinodes.at(waits), 2);
    const int large = world.job({.ncpus = 4});
    EXPECT_THAT(place(large).comment.at(large), HasSubstr("ncpus (R: 4 A: 2 T: 8)")) << "of the real machine";
}

TEST_F(PlaceTest, LeavesNothingBehind) {
    two_hosts();
    const int first = job({.ncpus = 2});
    const int second = job({.select = "2:ncpus=2", .place = "scatter"});
    EXPECT_EQ(place(first).exec_vnode, place(first).exec_vnode);
    EXPECT_THAT(place(second).started, ElementsAre(second));
    const Outcome cycle = world.cycle(at(1), true, "default", CycleTrigger::job_new);
    EXPECT_THAT(cycle.started, ElementsAre(first)) << "v1 and hb have room for two more, not on two hosts";
    EXPECT_THAT(world.cycle(at(2), true, "default", CycleTrigger::job_ended).started, IsEmpty());
}

TEST_F(PlaceTest, ACycleSaysAgainWhyTheJobWaits) {
    two_hosts();
    world.queue({.name = "stopped", .started = false});
    const int waits = job({.queue = "stopped", .ncpus = 8});
    EXPECT_THAT(world.cycle(at(1)).comment.at(waits), HasSubstr("not started"));
    EXPECT_THAT(place(waits, true).comment.at(waits), HasSubstr("Insufficient amount"));
    EXPECT_THAT(world.cycle(at(1, 1)).comment, IsEmpty()) << "not at once";
    EXPECT_THAT(world.cycle(at(1, 6)).comment.at(waits), HasSubstr("not started"));
}

TEST_F(PlaceTest, WaitsForACycleInItsThread) {
    two_hosts();
    world.scheduler.set_long_cycle(0);
    const int waits = job({.ncpus = 1});
    Decisions decided;
    ASSERT_TRUE(world.scheduler.start_cycle(
        at(1), "default", CycleTrigger::timer, [&](Decisions d) { decided = std::move(d); }, [] {}));
    EXPECT_THAT(place(waits).started, ElementsAre(waits));
    EXPECT_FALSE(world.scheduler.at_work());
    (void)world.scheduler.finish_work();
    EXPECT_EQ(decided.list.size(), 1u);
}

}  // namespace
}  // namespace pbs::sched::test
