// Tests a scheduler without a policy, which uses its sched_config file (PP-748, interfaces 1 and 6).

#include "server_plugin/scheduler/framework/sched_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/snapshot.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Values = std::map<std::string, std::string>;

std::shared_ptr<const objects::Object> file(const std::string& name, const Values& values) {
    auto object = std::make_shared<objects::Object>(objects::ObjectType::policy, name);
    for (const auto& [attribute, text] : values) {
        const objects::Attribute* row = objects::find_attribute(objects::ObjectType::policy, attribute);
        if (row == nullptr) {
            ADD_FAILURE() << "no attribute " << attribute;
            continue;
        }
        const auto value = objects::parse_value(*row, text);
        EXPECT_TRUE(value.has_value()) << attribute << '=' << text;
        if (value) object->assign(*row, *value);
    }
    return object;
}

// A site with a vnode of 8 CPUs, of which a running job has 4 until 04:00.
struct SchedConfigFile : testing::Test {
    World world;
    int running = 0;
    void SetUp() override {
        world.configuration.scheds["default"] = {};
        world.queue({.name = "work"});
        world.vnode({.name = "n", .ncpus = 8, .mem = 64 * kGb});
        running = world.job({.queue = "work", .ncpus = 4, .walltime = 4 * kHour});
        world.run(running, "work", "n", at(0));
        world.configure();
    }
    void read(const Values& all_time) {
        const auto set = world.scheduler.set_sched_config("default", file("sched_config", all_time));
        ASSERT_TRUE(set.has_value()) << set.error().message;
    }
    void server(std::int64_t backfill_depth, std::string_view formula = {}) {
        ServerRecord record;
        record.backfill_depth = backfill_depth;
        record.job_sort_formula = formula;
        world.server(record);
    }
};

TEST_F(SchedConfigFile, WithoutPolicyAndFileNothingIsDecided) {
    world.job({.queue = "work", .ncpus = 1});
    const auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_EQ(world.scheduler.status(at(1), "default").policy, "");
}

TEST_F(SchedConfigFile, IsWorkedByUntilItHasGone) {
    read({{"job_sort_key", "ncpus HIGH"}});
    EXPECT_EQ(world.scheduler.status(at(1), "default").policy, "sched_config");
    const int small = world.job({.queue = "work", .ncpus = 1});
    const int big = world.job({.queue = "work", .ncpus = 2});
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(big, small));
    world.scheduler.clear_sched_config("default");
    world.job({.queue = "work", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(1)).started, IsEmpty());
}

TEST_F(SchedConfigFile, IsIgnoredWhileThereIsAPolicy) {
    read({{"job_sort_key", "ncpus HIGH"}});
    world.policy().help_starving_jobs = false;
    world.configuration.scheds["default"] = {"p1"};
    world.configure();
    EXPECT_EQ(world.scheduler.status(at(1), "default").policy, "p1");
    const int small = world.job({.queue = "work", .ncpus = 1});
    const int big = world.job({.queue = "work", .ncpus = 2});
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(small, big));
}

TEST_F(SchedConfigFile, PrimeAndNonPrimePartsSwitchAtTheBoundary) {
    world.prime_time(8, 17);
    world.configure();
    const auto set =
        world.scheduler.set_sched_config("default", file("sched_config", {}), file("sched_config_prime", {}),
                                         file("sched_config_non_prime", {}));
    ASSERT_TRUE(set.has_value());
    EXPECT_EQ(world.scheduler.status(at(7), "default").policy, "sched_config_non_prime");
    EXPECT_EQ(world.scheduler.status(at(8), "default").policy, "sched_config_prime");
    EXPECT_EQ(world.scheduler.status(at(7), "default").next_policy, "sched_config_prime");
    (void)world.scheduler.tick(at(7));
    EXPECT_EQ(world.scheduler.next_deadline(at(7)), at(8));
    EXPECT_TRUE(world.scheduler.tick(at(8)).policy_switched);
}

TEST_F(SchedConfigFile, TheServersBackfillDepthCounts) {
    read({{"strict_ordering", "True"}, {"help_starving_jobs", "False"}});
    world.job({.queue = "work", .ncpus = 8});
    const int small = world.job({.queue = "work", .ncpus = 1, .walltime = 60});
    server(0);
    EXPECT_THAT(world.cycle(at(1), false).started, IsEmpty());
    server(-1);
    EXPECT_THAT(world.cycle(at(1), false).started, ElementsAre(small));
    server(0);
    world.queue({.name = "work", .backfill_depth = 1});
    EXPECT_THAT(world.cycle(at(1), false).started, ElementsAre(small)) << "the queue's comes first";
}

TEST_F(SchedConfigFile, TheServersBackfillDepthDoesNotCountUnderAPolicy) {
    Settings& s = world.policy();
    s.strict_ordering = true;
    s.help_starving_jobs = false;
    world.configuration.scheds["default"] = {"p1"};
    world.configure();
    world.job({.queue = "work", .ncpus = 8});
    const int small = world.job({.queue = "work", .ncpus = 1, .walltime = 60});
    server(0);
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(small));
}

TEST_F(SchedConfigFile, TheServersFormulaOrdersTheJobs) {
    read({{"by_queue", "False"}});
    const int small = world.job({.queue = "work", .ncpus = 1});
    const int big = world.job({.queue = "work", .ncpus = 2});
    EXPECT_THAT(world.cycle(at(1), false).started, ElementsAre(small, big));
    server(-1, "ncpus");
    EXPECT_THAT(world.cycle(at(1), false).started, ElementsAre(big, small));
    server(-1);
    EXPECT_THAT(world.cycle(at(1), false).started, ElementsAre(small, big));
}

TEST_F(SchedConfigFile, AFormulaOfTheServerThatDoesNotCompileLeavesTheOneBefore) {
    read({});
    server(-1, "ncpus");
    ServerRecord record;
    record.job_sort_formula = "ncpus*(";
    const auto taken = world.scheduler.server_changed(record);
    ASSERT_FALSE(taken.has_value());
    EXPECT_THAT(taken.error().message, HasSubstr("sched_config"));
    const int small = world.job({.queue = "work", .ncpus = 1});
    const int big = world.job({.queue = "work", .ncpus = 2});
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(big, small));
}

TEST_F(SchedConfigFile, GoesWithItsScheduler) {
    read({});
    world.scheduler.sched_removed("default");
    world.scheduler.sched_changed({"default", true, "", "/sched_priv"});
    EXPECT_EQ(world.scheduler.status(at(1), "default").policy, "");
}

}  // namespace
}  // namespace pbs::sched::test
