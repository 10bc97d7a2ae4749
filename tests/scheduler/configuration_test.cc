// Reads the objects of a store into the scheduler's settings.

#include "server_plugin/scheduler/model/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/store.h"
#include "objects/unsupported.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct FromObjects : testing::Test {
    std::string path = testing::TempDir() + "/configuration_test_" +
                       testing::UnitTest::GetInstance()->current_test_info()->name() + ".db";
    std::optional<objects::Store> store;
    void remove_database() const {
        for (const char* part : {"", "-mark"}) std::remove((path + part).c_str());
    }
    void SetUp() override {
        remove_database();
        auto opened = objects::Store::open(path, {.time_zone = "UTC"}, at(0));
        ASSERT_TRUE(opened.has_value()) << opened.error().message;
        store = *std::move(opened);
    }
    void TearDown() override {
        store.reset();
        remove_database();
    }
    void run(objects::CommandKind kind, objects::ObjectType type, const std::string& name,
             const std::vector<objects::AttributeChange>& changes = {}) {
        const auto reply =
            store->execute({kind, type, name, changes}, {"root", "here", objects::root_privilege}, at(0));
        ASSERT_TRUE(reply.has_value()) << reply.error().message;
    }
    void policy(const std::string& name, const std::vector<objects::AttributeChange>& changes) {
        if (store->snapshot()->policy(name) == nullptr)
            run(objects::CommandKind::create, objects::ObjectType::policy, name);
        run(objects::CommandKind::set, objects::ObjectType::policy, name, changes);
    }
    Settings settings(const std::string& name) {
        run(objects::CommandKind::set, objects::ObjectType::sched, "default", {{"policy", name}});
        rrule::WindowCache cache;
        const auto configuration = read_configuration(*store->snapshot(), rrule::Zone::utc(), cache);
        EXPECT_TRUE(configuration.has_value());
        return configuration->policies.at(name);
    }
};

TEST_F(FromObjects, AFreshStoreHasTheStandardPolicyInForce) {
    rrule::WindowCache cache;
    const auto configuration = read_configuration(*store->snapshot(), rrule::Zone::utc(), cache);
    ASSERT_TRUE(configuration.has_value());
    EXPECT_EQ(configuration->scheds.at("default").all_time, "default_policy");
    const Settings& s = configuration->policies.at("default_policy");
    EXPECT_EQ(s.algorithm, Algorithm::standard);
    EXPECT_TRUE(s.by_queue);
    EXPECT_TRUE(s.help_starving_jobs);
    EXPECT_EQ(s.max_starve, Seconds(24 * kHour));
    EXPECT_EQ(s.backfill_depth, 1);
    EXPECT_THAT(objects::unsupported_lines(*store->snapshot()->policy("default_policy")), testing::IsEmpty());
}

TEST_F(FromObjects, OriginOptionsAreRead) {
    policy("o", {{"algorithm", "origin"},
                 {"submit_queue", "submit"},
                 {"batch_queues", "small@h1,large"},
                 {"special_queue", "special"},
                 {"enforce_prime_time", "11/24/2026@08:00:00"},
                 {"prime_time_wallt_limit", "02:00:00"},
                 {"prime_time_small_node_limit", "8"},
                 {"np_drain_backtime", "00:30:00"},
                 {"target_load_pct", "80%"},
                 {"target_load_variance", "-15%,+10%"},
                 {"past_usage_charge", "flat"},
                 {"decay_factor", "0.5"},
                 {"max_queued_time", "48:00:00"},
                 {"ssinode_mem", "490mb"}});
    const Settings s = settings("o");
    EXPECT_EQ(s.algorithm, Algorithm::origin);
    EXPECT_THAT(s.submit_queue, ElementsAre(QueueSpec{"submit"}));
    EXPECT_THAT(s.batch_queues, ElementsAre(QueueSpec{"small", "h1"}, QueueSpec{"large"}));
    EXPECT_FALSE(s.enforce_prime_time.holds(at(24 + 7, 59, 59)));
    EXPECT_TRUE(s.enforce_prime_time.holds(at(24 + 8)));
    EXPECT_EQ(s.prime_time_wallt_limit, Seconds(7200));
    EXPECT_EQ(s.prime_time_small_node_limit, 8);
    EXPECT_EQ(s.np_drain_backtime, Seconds(1800));
    EXPECT_EQ(s.max_load_percent, 90);
    EXPECT_EQ(s.past_usage_charge, PastUsageCharge::flat);
    EXPECT_EQ(s.decay_factor, 0.5);
    EXPECT_EQ(s.max_queued_time, Seconds(48 * kHour));
    EXPECT_EQ(s.ssinode_cpus, 2);
    EXPECT_EQ(s.ssinode_mem, 490 * kMb);
    EXPECT_TRUE(s.sort_by_past_usage.holds(at(0)));
    EXPECT_TRUE(s.avoid_fragmentation.holds(at(0)));
}

TEST_F(FromObjects, PrimeTimeStartAndEndCountWhereThereIsNoPrimeWindow) {
    policy("o", {{"algorithm", "origin"}, {"prime_time_start", "08:00:00"}, {"prime_time_end", "17:00:00"}});
    run(objects::CommandKind::set, objects::ObjectType::server, "", {{"non_work_days", "11/24"}});
    const Settings s = settings("o");
    EXPECT_TRUE(s.prime.contains(at(9)));
    EXPECT_FALSE(s.prime.contains(at(24 + 9))) << "a holiday";
    EXPECT_FALSE(s.prime.contains(at(5 * 24 + 9))) << "Saturday";
}

TEST_F(FromObjects, AWholeCycleFromObjects) {
    World world;
    policy("o", {{"algorithm", "origin"},
                 {"submit_queue", "submit"},
                 {"batch_queues", "batch"},
                 {"enforce_prime_time", "True"},
                 {"prime_time_wallt_limit", "02:00:00"}});
    run(objects::CommandKind::create, objects::ObjectType::time_window, "prime");
    run(objects::CommandKind::set, objects::ObjectType::time_window, "prime",
        {{"rrule", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
         {"start_time", "0800"},
         {"end_time", "17:00:00"},
         {"type", "prime"}});
    run(objects::CommandKind::set, objects::ObjectType::sched, "default", {{"policy", "o"}});
    ASSERT_TRUE(world.scheduler.set_configuration(store->snapshot()).has_value());
    world.queue({.name = "submit"});
    world.queue({.name = "batch"});
    world.vnode({.name = "n", .ncpus = 8});
    const int job = world.job({.nodes = 2, .walltime = 3 * kHour});
    EXPECT_EQ(world.cycle(at(9)).comment.at(job), "Exceeds primetime walltime limit (02:00:00)");
    EXPECT_TRUE(world.scheduler.status(at(9), "default").prime_time);
    EXPECT_EQ(world.scheduler.status(at(9), "default").next_change, at(17));
    EXPECT_THAT(world.cycle(at(17)).started, ElementsAre(job));
}

TEST_F(FromObjects, unsupported_settings_NamesPolicyAttributeAndWhy) {
    policy("p2", {{"log_event", "4607"}, {"exclude_resources", "vmem"}, {"server_host", "fermi"}});
    const auto lines = objects::unsupported_lines(*store->snapshot()->policy("p2"));
    EXPECT_THAT(lines, Not(Contains(HasSubstr("exclude_resources"))));
    EXPECT_THAT(lines, Contains(StartsWith("policy p2: server_host has no effect")));
    EXPECT_THAT(lines, Not(Contains(HasSubstr("log_event"))));
}

TEST_F(FromObjects, unsupported_settings_FakeMachineMultNeedsTestOnly) {
    policy("p2", {{"algorithm", "origin"}, {"fake_machine_mult", "32"}});
    EXPECT_THAT(objects::unsupported_lines(*store->snapshot()->policy("p2")),
                Contains("policy p2: fake_machine_mult has no effect without test_only"));
    policy("p2", {{"test_only", "True"}});
    EXPECT_THAT(objects::unsupported_lines(*store->snapshot()->policy("p2")),
                Not(Contains(HasSubstr("fake_machine_mult"))));
}

}  // namespace
}  // namespace pbs::sched::test
