// Tests the resources that a cycle considers: exclude_resources, the server's amounts that programs print
// (server_dyn_res), and values that no vnode has.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "server_plugin/scheduler/record.h"
#include "tests/scheduler/quotas.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Pair;

constexpr const char* kLicences = "hpm !/opt/site/licences";

struct ResourcesCount : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        world.queue({.name = "work"});
        world.vnode({.name = "n1", .ncpus = 8, .mem = 8 * kGb, .gpus = 2, .arch = "x86", .bigmem = 0});
        s.help_starving_jobs = false;
        world.configure();
    }
    int job(JobOptions options) {
        options.queue = "work";
        return world.job(options);
    }
    std::string answer(JobOptions options) {
        const int number = job(std::move(options));
        Outcome outcome = world.cycle(at(1), false);
        world.finish(number, at(1));
        return outcome.started.empty() ? outcome.comment[number] : outcome.exec_vnode[number];
    }
    void leave_aside(std::vector<std::string> names) {
        s.exclude_resources = std::move(names);
        world.configure();
    }
    void give_server(const std::vector<Amount>& amounts) {
        ServerRecord server;
        server.resources_available = amounts;
        world.server(server);
    }
};

TEST_F(ResourcesCount, OnVnodesUnlessTheyAreLeftAside) {
    const JobOptions mem{.select = "1:ncpus=1:mem=9gb"};
    const JobOptions arch{.select = "1:ncpus=1:arch=arm"};
    const JobOptions bigmem{.select = "1:ncpus=1:bigmem=true"};
    EXPECT_EQ(answer(mem), "Can Never Run: Insufficient amount of resource: mem (R: 9gb A: 8gb T: 8gb)");
    EXPECT_EQ(answer(arch), "Can Never Run: Insufficient amount of resource: arch (arm != x86)");
    EXPECT_EQ(answer(bigmem), "Can Never Run: Insufficient amount of resource: bigmem (True != False)");
    leave_aside({"mem", "arch", "bigmem"});
    for (const JobOptions& options : {mem, arch, bigmem}) EXPECT_EQ(answer(options), "(n1:ncpus=1)");
    EXPECT_EQ(answer({.select = "1:ncpus=9"}),
              "Can Never Run: Insufficient amount of resource: ncpus (R: 9 A: 8 T: 8)");
}

TEST_F(ResourcesCount, HostsAndVnodesAlways) {
    leave_aside({"host", "mem"});
    EXPECT_EQ(answer({.select = "1:ncpus=1:host=n7"}),
              "Can Never Run: Insufficient amount of resource: host (n7 != n1)");
}

TEST_F(ResourcesCount, WhatIsLeftAsideIsNotTakenEither) {
    leave_aside({"mem"});
    EXPECT_EQ(answer({.select = "2:ncpus=2:mem=3gb"}), "(n1:ncpus=2)+(n1:ncpus=2)");
    // a job that requests an ignored resource starts, too
    const int first = job({.ncpus = 8, .mem = kGb});
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(first));
    const int large = job({.ncpus = 1, .mem = 50 * kGb});
    EXPECT_THAT(world.cycle(at(2), true, "default", CycleTrigger::job_new).started, IsEmpty());
    world.finish(first, at(3));
    EXPECT_THAT(world.cycle(at(3), true, "default", CycleTrigger::job_ended).started, ElementsAre(large));
}

TEST_F(ResourcesCount, OfTheServerAndTheQueueUnlessTheyAreLeftAside) {
    give_server({{gpus, 4, {}}, {arch, 0, "x86,arm"}, {bigmem, 0, {}}});
    world.queue({.name = "work", .available_ncpus = 4});
    EXPECT_EQ(answer({.ncpus = 5}),
              "Can Never Run: Insufficient amount of queue resource: ncpus (R: 5 A: 4 T: 4)");
    EXPECT_EQ(answer({.select = "1:ngpus=5"}),
              "Can Never Run: Insufficient amount of server resource: ngpus (R: 5 A: 4 T: 4)");
    leave_aside({"ncpus", "ngpus"});
    EXPECT_EQ(answer({.ncpus = 99, .gpus = 99}), "(n1)");
}

TEST_F(ResourcesCount, LimitsOnEntitiesCountWhatIsLeftAside) {
    world.queue({.name = "work", .limits = {{.resource = ncpus, .most = 4}}});
    leave_aside({"ncpus"});
    EXPECT_EQ(answer({.ncpus = 5}),
              "Not Running: would exceed overall limit on resource ncpus in queue work");
}

TEST_F(ResourcesCount, APolicyOfAnotherTimeLeavesOthersAside) {
    Settings& nights = world.policy("nights");
    nights = s;
    nights.exclude_resources = {"mem"};
    world.configuration.prime = world.window("FREQ=DAILY", 8, 18);
    world.configuration.scheds["default"] = {.all_time = "p1", .prime = "p1", .non_prime = "nights"};
    world.configure();
    const int large = job({.ncpus = 1, .mem = 9 * kGb});
    EXPECT_THAT(world.cycle(at(17)).started, IsEmpty());
    EXPECT_THAT(world.cycle(at(19)).started, ElementsAre(large));
}

TEST_F(ResourcesCount, WhatOnlyVnodesHaveAndNoVnodeHasIsLacking) {
    EXPECT_EQ(answer({.select = "1:ncpus=1:hpm=1"}), "(n1:ncpus=1)") << "it may be the server's";
    world.scheduler.resource_defined({gpus, ResourceKind::integer, "ngpus", true, true});
    world.scheduler.resource_defined({arch, ResourceKind::string, "arch", false, true});
    world.vnode({.name = "n1", .ncpus = 8, .mem = 8 * kGb});
    EXPECT_EQ(answer({.select = "1:ncpus=1:ngpus=1"}),
              "Can Never Run: Insufficient amount of resource: ngpus (R: 1 A: 0 T: 0)");
    EXPECT_EQ(answer({.select = "1:ncpus=1:arch=x86"}),
              "Can Never Run: Insufficient amount of resource: arch (x86 != )");
    EXPECT_EQ(answer({.select = "1:ncpus=1:ngpus=0:bigmem=false"}), "(n1:ncpus=1)");
    leave_aside({"ngpus"});
    EXPECT_EQ(answer({.select = "1:ncpus=1:ngpus=1"}), "(n1:ncpus=1)");
}

// ---- A resource that is deleted and made again: with another id, or with another type under its own id.

struct ResourcesMadeAgain : ResourcesCount {
    void make(std::uint32_t id, ResourceKind kind, bool consumable = false) {
        world.scheduler.resource_defined({id, kind, "pz", consumable, true});
    }
    void remake(std::uint32_t id, ResourceKind kind, bool consumable = false) {
        (void)answer({.ncpus = 1});  // a cycle that reads the resource as it is
        world.scheduler.resource_removed("pz");
        (void)answer({.ncpus = 1});
        make(id, kind, consumable);
        world.vnode({.name = "n1", .ncpus = 8, .mem = 8 * kGb, .more = {{id, 5}}});
    }
};

TEST_F(ResourcesMadeAgain, AreThoseThatJobsAskFor) {
    make(40, ResourceKind::boolean);
    remake(50, ResourceKind::integer, true);
    EXPECT_EQ(answer({.select = "1:ncpus=1:pz=5"}), "(n1:ncpus=1)");
    EXPECT_EQ(answer({.select = "1:ncpus=1:pz=6"}),
              "Can Never Run: Insufficient amount of resource: pz (R: 6 A: 5 T: 5)");
    remake(50, ResourceKind::integer, false);
    EXPECT_EQ(answer({.select = "1:ncpus=1:pz=5"}), "(n1:ncpus=1)") << "nobody consumes it now";
}

TEST_F(ResourcesMadeAgain, AreThoseOfFormulasKeysAndQuotas) {
    for (const std::uint32_t id : {50U, 40U}) {
        SCOPED_TRACE(id);
        World own;
        own.queue({.name = "work"});
        Settings& settings = own.policy();
        settings.by_queue = settings.help_starving_jobs = false;
        settings.job_sort_formula = "pz";
        settings.quotas = {quota({.rules = {{"r", "vnodes={*} to ncpus=(pz*2)"}}})};
        own.vnode({.name = "n1", .ncpus = 64});
        own.configure();
        own.scheduler.resource_defined({40, ResourceKind::string, "pz", false, true});
        EXPECT_THAT(own.cycle(at(1)).started, IsEmpty());
        own.scheduler.resource_removed("pz");
        const int first = own.job({.queue = "work", .select = "1:ncpus=4"});
        EXPECT_THAT(own.cycle(at(1, 1)).started, ElementsAre(first)) << "no vnode has pz";
        own.scheduler.resource_defined({id, ResourceKind::integer, "pz", true, true});
        own.vnode({.name = "n1", .ncpus = 64, .more = {{id, 4}}});
        const int small = own.job({.queue = "work", .select = "1:ncpus=1:pz=1"});
        const int large = own.job({.queue = "work", .select = "1:ncpus=3:pz=2"});
        EXPECT_THAT(own.cycle(at(1, 2)).started, ElementsAre(large, small)) << "by the formula";
        const int third = own.job({.queue = "work", .select = "1:ncpus=1"});
        EXPECT_THAT(own.cycle(at(1, 3)).started, IsEmpty()) << "8 CPUs run, pz is 4";
        EXPECT_THAT(own.cycle(at(1, 4)).comment, testing::Not(Contains(Pair(third, ""))));
    }
}

TEST_F(ResourcesMadeAgain, AreNamedOnceInARecord) {
    make(40, ResourceKind::boolean);
    remake(50, ResourceKind::integer);
    int times = 0;
    world.scheduler.inspect().describe_resources([&](const StateRecord& record) {
        const auto* resource = std::get_if<ResourceRecord>(&record);
        if (resource != nullptr && resource->name == "pz") ++times;
    });
    EXPECT_EQ(times, 1);
}

// ---- Placement sets by place=group= and node_group_key, as in OpenPBS.

struct PlacementSetsHold : testing::Test {
    World world;
    void SetUp() override {
        world.queue({.name = "work"});
        world.policy().help_starving_jobs = false;
        for (const auto& [name, ncpus, rack] : {std::tuple("n1", 4, "a"),
                                                {"n2", 4, "a"},
                                                {"n3", 4, "b"},
                                                {"n4", 4, "b"},
                                                {"n5", 4, "b"},
                                                {"n6", 8, "c"},
                                                {"n7", 2, ""}})
            world.vnode({.name = name, .ncpus = ncpus, .arch = rack});
        world.configure();
    }
    int job(const std::string& select, const std::string& place_ = {}) {
        return world.job({.queue = "work", .select = select, .place = place_});
    }
    // Starts a job, which keeps running. Returns its place, or its comment if it can't start.
    std::string start(const std::string& select, const std::string& place_ = {}) {
        const int number = job(select, place_);
        Outcome outcome = world.cycle(at(1));
        return outcome.started.empty() ? outcome.comment[number] : outcome.exec_vnode[number];
    }
    std::string alone(const std::string& select, const std::string& place_ = {}) {
        const int number = job(select, place_);
        Outcome outcome = world.cycle(at(1));
        world.finish(number, at(1));
        return outcome.started.empty() ? outcome.comment[number] : outcome.exec_vnode[number];
    }
    void keys(const std::string& server, const std::string& queue = {}, bool enable = true) {
        ServerRecord record;
        record.node_group_key = server;
        record.node_group_enable = enable;
        world.server(record);
        world.queue({.name = "work", .node_group_key = queue});
    }
};

constexpr const char* kFourOnB = "(n3:ncpus=4)+(n4:ncpus=4)+(n5:ncpus=4)";

TEST_F(PlacementSetsHold, TheSmallestThatHasRoomIsTaken) {
    EXPECT_EQ(alone("1:ncpus=1", "free:group=arch"), "(n7:ncpus=1)") << "vnodes without a value are a set";
    EXPECT_EQ(alone("2:ncpus=4", "group=arch"), "(n1:ncpus=4)+(n2:ncpus=4)");
    EXPECT_EQ(alone("3:ncpus=4", "scatter:group=arch"), kFourOnB);
    EXPECT_EQ(alone("2:ncpus=1", "scatter:group=arch"), "(n1:ncpus=1)+(n2:ncpus=1)");
    EXPECT_EQ(alone("2:ncpus=2", "pack:group=arch"), "(n1:ncpus=2)+(n1:ncpus=2)");
    EXPECT_EQ(alone("2:ncpus=4", "pack:group=arch"), "(n6:ncpus=4)+(n6:ncpus=4)");
}

TEST_F(PlacementSetsHold, MemoryCountsOnceSomeJobAsksForIt) {
    world.job({.queue = "work", .mem = kGb, .state = 'H'});
    EXPECT_EQ(alone("2:ncpus=4", "group=arch"), "(n6:ncpus=4)+(n6:ncpus=4)");
}

TEST_F(PlacementSetsHold, OfOneHost) {
    EXPECT_EQ(alone("2:ncpus=2", "group=host"), "(n1:ncpus=2)+(n1:ncpus=2)");
    EXPECT_EQ(alone("2:ncpus=3", "group=host"), "(n6:ncpus=3)+(n6:ncpus=3)");
}

TEST_F(PlacementSetsHold, AJobThatFitsOneWaitsForItAndOneThatFitsNoneSpansThem) {
    EXPECT_EQ(alone("4:ncpus=4", "group=arch"), "(n1:ncpus=4)+(n2:ncpus=4)+(n3:ncpus=4)+(n4:ncpus=4)");
    EXPECT_EQ(alone("9:ncpus=4", "group=arch"),
              "Can Never Run: Insufficient amount of resource: ncpus (R: 36 A: 30 T: 30)");
    const int running = job("3:ncpus=4", "scatter:group=arch");
    ASSERT_THAT(world.cycle(at(1)).started, ElementsAre(running));
    const int waits = job("3:ncpus=3", "scatter:group=arch");
    EXPECT_THAT(world.cycle(at(1)).comment,
                Contains(Pair(waits, "Not Running: Placement set arch=b has too few free resources")));
    world.finish(running, at(2));
    EXPECT_THAT(world.cycle(at(2), true, "default", CycleTrigger::job_ended).started, ElementsAre(waits));
}

TEST_F(PlacementSetsHold, do_not_span_psets_WhatFitsNoneWaits) {
    world.policy().do_not_span_psets = true;
    world.configure();
    EXPECT_EQ(alone("4:ncpus=4", "group=arch"),
              "Can Never Run: can't fit in the largest placement set, and can't span psets");
    EXPECT_EQ(alone("3:ncpus=4", "scatter:group=arch"), kFourOnB);
    EXPECT_EQ(alone("4:ncpus=4"), "(n1:ncpus=4)+(n2:ncpus=4)+(n3:ncpus=4)+(n4:ncpus=4)");
    const int running = job("3:ncpus=4", "scatter:group=arch");
    ASSERT_THAT(world.cycle(at(1)).started, ElementsAre(running));
    EXPECT_EQ(alone("3:ncpus=3", "scatter:group=arch"),
              "Not Running: Placement set arch=b has too few free resources");
}

TEST_F(PlacementSetsHold, only_explicit_psets_VnodesWithoutAValueAreNone) {
    world.policy().only_explicit_psets = true;
    world.configure();
    EXPECT_EQ(alone("1:ncpus=1", "free:group=arch"), "(n1:ncpus=1)");
    for (const char* name : {"n1", "n2", "n3", "n4", "n5", "n6"}) world.vnode({.name = name, .ncpus = 4});
    EXPECT_EQ(alone("1:ncpus=1", "free:group=arch"), "(n1:ncpus=1)") << "there is no set: it may span";
    world.policy().do_not_span_psets = true;
    world.configure();
    EXPECT_EQ(alone("1:ncpus=1", "free:group=arch"),
              "Can Never Run: can't fit in the largest placement set, and can't span psets");
}

TEST_F(PlacementSetsHold, OneAfterTheOtherIsFilled) {
    EXPECT_EQ(start("2:ncpus=4", "group=arch"), "(n1:ncpus=4)+(n2:ncpus=4)");
    EXPECT_EQ(start("2:ncpus=4", "group=arch"), "(n6:ncpus=4)+(n6:ncpus=4)");
    EXPECT_EQ(start("2:ncpus=4", "group=arch"), "(n3:ncpus=4)+(n4:ncpus=4)");
    EXPECT_EQ(start("2:ncpus=4", "group=arch"),
              "Not Running: Insufficient amount of resource: ncpus (R: 8 A: 6 T: 30)");
}

TEST_F(PlacementSetsHold, KeysOfTheServerAndOfQueuesOnceEnabled) {
    world.vnode({.name = "n7", .ncpus = 2, .arch = "d"});
    keys("arch", {}, false);
    EXPECT_EQ(alone("3:ncpus=4"), "(n1:ncpus=4)+(n2:ncpus=4)+(n3:ncpus=4)");
    keys("arch");
    EXPECT_EQ(alone("3:ncpus=4"), kFourOnB);
    EXPECT_EQ(alone("2:ncpus=2", "free:group=host"), "(n1:ncpus=2)+(n1:ncpus=2)")
        << "the job's own comes first";
    keys("arch", "host");
    EXPECT_EQ(alone("2:ncpus=2"), "(n1:ncpus=2)+(n1:ncpus=2)") << "then the queue's";
    keys("host,arch");
    EXPECT_EQ(alone("3:ncpus=4"), kFourOnB) << "sets of several keys are all tried";
}

TEST_F(PlacementSetsHold, OfflineVnodesMakeASetSmaller) {
    world.vnode({.name = "n4", .ncpus = 4, .free = false, .arch = "b"});
    EXPECT_EQ(alone("3:ncpus=4", "group=arch"), "(n1:ncpus=4)+(n2:ncpus=4)+(n3:ncpus=4)");
}

TEST_F(PlacementSetsHold, AreFoundAheadOfTime) {
    world.policy().strict_ordering = true;
    world.policy().backfill_depth = 1;
    world.configure();
    world.scheduler.set_tell_estimates(true);
    const int running = job("3:ncpus=4", "scatter:group=arch");
    ASSERT_THAT(world.cycle(at(1)).started, ElementsAre(running));
    const int waits = job("3:ncpus=3", "scatter:group=arch");
    Outcome outcome = world.cycle(at(1));
    EXPECT_EQ(outcome.expected[waits], at(1) + Seconds(600));
    EXPECT_THAT(outcome.vnodes[waits], ElementsAre("n3", "n4", "n5"));
}

// ---- Amounts that programs print (server_dyn_res).

struct ToldAmountsCount : ResourcesCount {
    void SetUp() override {
        ResourcesCount::SetUp();
        s.server_dyn_res = {kLicences};
        world.configure();
    }
    void consumable(bool is) { world.scheduler.resource_defined({hpm, ResourceKind::integer, "hpm", is}); }
    bool tell(const std::string& amount) { return world.scheduler.set_told(kLicences, amount); }
    Outcome after(CycleTrigger trigger, int minute) {
        return world.cycle(at(1, minute), true, "default", trigger);
    }
};

TEST_F(ToldAmountsCount, JobsTakeThemInACycleAndTheNextAmountIsAnew) {
    consumable(false);
    EXPECT_TRUE(tell("4"));
    const int first = job({.ncpus = 1, .hpm = 3});
    const int second = job({.ncpus = 1, .hpm = 3});
    const int never = job({.ncpus = 1, .hpm = 9});
    const int small = job({.ncpus = 1, .hpm = 1});
    const Outcome outcome = after(CycleTrigger::timer, 1);
    EXPECT_THAT(outcome.started, ElementsAre(first, small));
    EXPECT_THAT(
        outcome.comment,
        Contains(Pair(second, "Not Running: Insufficient amount of server resource: hpm (R: 3 A: 1 T: 4)")));
    EXPECT_THAT(
        outcome.comment,
        Contains(Pair(never, "Can Never Run: Insufficient amount of server resource: hpm (R: 9 A: 4 T: 4)")));
    // neither the next cycle nor the end of a job gives the used licences back
    EXPECT_THAT(after(CycleTrigger::timer, 2).started, IsEmpty());
    world.finish(first, at(1, 3));
    EXPECT_EQ(after(CycleTrigger::job_ended, 3).considered, 0) << "it waits for what the program tells";
    EXPECT_TRUE(tell("4")) << "of which nothing is taken";
    EXPECT_THAT(after(CycleTrigger::job_ended, 4).started, ElementsAre(second));
    EXPECT_TRUE(tell("2"));
    EXPECT_FALSE(tell("2")) << "the same as before, and nobody took of it";
    EXPECT_TRUE(tell("9"));
    EXPECT_THAT(after(CycleTrigger::job_new, 5).started, ElementsAre(never));
}

TEST_F(ToldAmountsCount, OfAConsumableResourceRunningJobsCountBeside) {
    consumable(true);
    tell("4");
    const int first = job({.ncpus = 1, .hpm = 3});
    const int second = job({.ncpus = 1, .hpm = 3});
    EXPECT_THAT(after(CycleTrigger::timer, 1).started, ElementsAre(first));
    EXPECT_FALSE(tell("4"));
    EXPECT_THAT(after(CycleTrigger::timer, 2).started, IsEmpty());
    world.finish(first, at(1, 3));
    EXPECT_THAT(after(CycleTrigger::job_ended, 3).started, ElementsAre(second));
}

TEST_F(ToldAmountsCount, InPlaceOfWhatIsSet) {
    give_server({{hpm, 1, {}}});
    EXPECT_EQ(answer({.ncpus = 1, .hpm = 3}),
              "Can Never Run: Insufficient amount of server resource: hpm (R: 3 A: 1 T: 1)")
        << "nothing was told yet, as in a simulation";
    tell("3");
    EXPECT_EQ(answer({.ncpus = 1, .hpm = 3}), "(n1:ncpus=1)");
    tell("-5");
    EXPECT_EQ(answer({.ncpus = 1, .hpm = 3}),
              "Can Never Run: Insufficient amount of server resource: hpm (R: 3 A: -5 T: -5)");
    leave_aside({"hpm"});
    EXPECT_EQ(answer({.ncpus = 1, .hpm = 3}), "(n1:ncpus=1)");
}

TEST_F(ToldAmountsCount, AreAskedForOnlyIfSomeJobWantsTheResource) {
    EXPECT_THAT(world.scheduler.questions(at(1), "default", "server_dyn_res"), IsEmpty());
    const int number = job({.ncpus = 1, .hpm = 1});
    EXPECT_THAT(world.scheduler.questions(at(1), "default", "server_dyn_res"),
                ElementsAre(Field(&Question::source, kLicences)));
    world.finish(number, at(1));
    EXPECT_THAT(world.scheduler.questions(at(1), "default", "server_dyn_res"), IsEmpty());
}

TEST_F(ToldAmountsCount, AreInTheStateOfTheSchedulerWithWhatJobsTook) {
    tell("4");
    job({.ncpus = 1, .hpm = 3});
    after(CycleTrigger::timer, 1);
    std::string element;
    ToldAmounts::Report known;
    world.scheduler.inspect().describe([&](const StateRecord& record) {
        const auto* told = std::get_if<ToldState>(&record);
        if (told == nullptr) return;
        element = told->element;
        known = told->known;
    });
    EXPECT_EQ(element, kLicences);
    EXPECT_EQ(known.value, "4");
    EXPECT_EQ(known.taken, 3);
    Scheduler other(rrule::Zone::utc());
    ASSERT_TRUE(other.restore(ToldState{element, known}));
    EXPECT_TRUE(other.set_told(element, "4")) << "nobody has taken any of it now";
    EXPECT_FALSE(other.set_told(element, "4"));
}

// The scheduler reads the output of programs as OpenPBS does, but rejects a size where a number is needed.
TEST(Resources, ReadWhatProgramsTell) {
    Resources resources;
    std::uint32_t id = 0;
    for (const ResourceKind kind : {ResourceKind::integer, ResourceKind::size, ResourceKind::real,
                                    ResourceKind::boolean, ResourceKind::string_array})
        resources.define({id++, kind, "r", true});
    const auto number = [&](std::uint32_t of, std::string_view output) -> std::optional<std::int64_t> {
        const auto told = resources.parse_told(of, output);
        return told ? std::optional(told->number) : std::nullopt;
    };
    for (const char* bad :
         {"", "\n", "garbage", "5 apples", " 7", "5 ", "0x10", "5gb", "1e30", "nan", "inf", "\n7"})
        EXPECT_EQ(number(0, bad), std::nullopt) << bad;
    for (const char* five : {"5", "5\n", "5\r\n", "5.7\n", "+5\n", "5\n7\n"})
        EXPECT_EQ(number(0, five), 5) << five;
    EXPECT_EQ(number(0, "-5"), -5);
    EXPECT_EQ(number(0, std::string(300, '1')), std::nullopt);
    EXPECT_EQ(number(1, "2048"), 2048 * 1024) << "kilobytes, as OpenPBS has it";
    EXPECT_EQ(number(1, "5GB"), 5 * kGb);
    EXPECT_EQ(number(1, "5kw"), 5 * 8 * 1024);
    EXPECT_EQ(number(1, "0.5mb"), 512 * 1024);
    EXPECT_EQ(number(1, "5 gb"), std::nullopt);
    EXPECT_EQ(number(2, "2.5"), 2'500'000);
    EXPECT_EQ(number(3, "True"), 1);
    EXPECT_EQ(number(3, "maybe"), std::nullopt);
    EXPECT_EQ(resources.parse_told(4, "red,blue\n")->text, "red,blue");
    EXPECT_EQ(resources.parse_told(4, " red , blue,green \n")->text, "red,blue,green");
    EXPECT_FALSE(resources.parse_told(9, "5"));
}

}  // namespace
}  // namespace pbs::sched::test
