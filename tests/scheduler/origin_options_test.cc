// Every option in the two documents of the Origin scheduler is an attribute of policies. Either a test that
// is named after it shows that it works, or `unsupported_settings` reports it. Options without a test file of
// their own have their tests here.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include "objects/schema.h"
#include "objects/snapshot.h"
#include "objects/unsupported.h"
#include "objects/windows.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using objects::ObjectType;

// The options in both documents. An option that they spell differently is in both lists.
constexpr std::string_view kGuide[] = {"SUBMIT_QUEUE",
                                       "BATCH_QUEUES",
                                       "SPECIAL_QUEUE",
                                       "DEDICATED_QUEUES",
                                       "EXTERNAL_QUEUES",
                                       "PRIME_TIME_WALLT_LIMIT",
                                       "PRIME_TIME_START",
                                       "PRIME_TIME_END",
                                       "ENFORCE_PRIME_TIME",
                                       "SMALL_JOB_MAX",
                                       "WALLT_LIMIT_SMALL_JOB",
                                       "WALLT_LIMIT_LARGE_JOB",
                                       "PRIME_TIME_SMALL_NODE_LIMIT",
                                       "PRIME_TIME_SMALL_WALLT_LIMIT",
                                       "ENFORCE_DEDICATED_TIME",
                                       "DEDICATED_TIME_COMMAND",
                                       "DEDICATED_TIME_CACHE_SECS",
                                       "SYSTEM_NAME",
                                       "NONPRIME_DRAIN_SYS",
                                       "NP_DRAIN_BACKTIME",
                                       "NP_DRAIN_IDLETIME",
                                       "MAX_JOBS",
                                       "MIN_JOBS",
                                       "TARGET_LOAD_PCT",
                                       "TARGET_LOAD_VARIANCE",
                                       "ENFORCE_ALLOCATION",
                                       "SCHED_ACCT_DIR",
                                       "SORT_BY_PAST_USAGE",
                                       "DECAY_FACTOR",
                                       "OA_DECAY_FACTOR",
                                       "MAX_QUEUED_TIME",
                                       "INTERACTIVE_LONG_WAIT",
                                       "SORTED_JOB_DUMPFILE",
                                       "MANAGE_HPM_COUNTERS",
                                       "REVOKE_HPM_COUNTERS",
                                       "SCHED_RESTART_ACTION",
                                       "SMALL_QUEUED_TIME",
                                       "AVOID_FRAGMENTATION",
                                       "TEST_ONLY",
                                       "FAKE_MACHINE_MULT",
                                       "MAX_DEDICATED_JOBS",
                                       "WALLT_SMALL_LIMIT",
                                       "WALLT_LARGE_LIMIT",
                                       "NON_PRIME_DRAIN_SYS"};
constexpr std::string_view kOverview[] = {"AVOID_FRAGMENTATION",
                                          "BACKGROUND_QUEUE_NAME",
                                          "CHALLENGE_QUEUE_NAME",
                                          "BATCH_QUEUES",
                                          "DECAY_FACTOR",
                                          "DEDICATED_QUEUE",
                                          "DEDICATED_TIME_CACHE_SECS",
                                          "DEDICATED_TIME_COMMAND",
                                          "ENFORCE_ALLOCATION",
                                          "ENFORCE_DEDICATED_TIME",
                                          "ENFORCE_PRIME_TIME",
                                          "FAKE_MACHINE_MULT",
                                          "HIGH_SYSTIME",
                                          "INTERACTIVE_LONG_WAIT",
                                          "MAX_DEDICATED_JOBS",
                                          "MAX_JOBS",
                                          "MAX_QUEUED_TIME",
                                          "MAX_USER_RUN_JOBS",
                                          "MIN_JOBS",
                                          "NONPRIME_DRAIN_SYS",
                                          "OA_DECAY_FACTOR",
                                          "PRIME_TIME_END",
                                          "PRIME_TIME_SMALL_NODE_LIMIT",
                                          "PRIME_TIME_SMALL_WALLT_LIMIT",
                                          "PRIME_TIME_START",
                                          "PRIME_TIME_WALLT_LIMIT",
                                          "SCHED_ACCT_DIR",
                                          "SCHED_HOST",
                                          "SCHED_RESTART_ACTION",
                                          "SERVER_HOST",
                                          "SMALL_JOB_MAX",
                                          "SMALL_QUEUED_TIME",
                                          "SORT_BY_PAST_USAGE",
                                          "SORTED_JOB_FILE",
                                          "SPECIAL_QUEUE",
                                          "SUBMIT_QUEUE",
                                          "SYSTEM_NAME",
                                          "TARGET_LOAD_PCT",
                                          "TARGET_LOAD_VARIANCE",
                                          "TEST_ONLY",
                                          "WALLT_LIMIT_LARGE_JOB",
                                          "WALLT_LIMIT_SMALL_JOB"};

// Returns the options that have tests in this program. An option is the test's name up to its first
// lower-case letter.
std::set<std::string> tested() {
    std::set<std::string> options;
    const std::regex name("([A-Z][A-Z_]*[A-Z])(?:_[A-Z][a-z]\\w*|_An?[A-Z]\\w*)?(?:/.*)?");
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const std::string test = suite.GetTestInfo(j)->name();
            if (std::smatch option; std::regex_match(test, option, name)) options.insert(option[1]);
        }
    }
    return options;
}

const objects::Attribute* attribute_of(std::string_view option) {
    std::string name(option);
    for (char& c : name)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return objects::find_attribute(ObjectType::policy, name);
}

// Returns whether the policy reports that the attribute has no effect, whatever else is set.
bool is_told(const objects::Attribute& attribute) {
    objects::Object policy(ObjectType::policy, "p1");
    const std::string example(attribute.example);
    std::string value = example.substr(example.find('=') + 1);
    std::erase(value, '"');
    policy.assign(*objects::find_attribute(ObjectType::policy, "algorithm"), std::string("origin"));
    policy.assign(attribute, objects::parse_value(attribute, value).value());
    const auto lines = objects::unsupported_lines(policy);
    return std::ranges::any_of(lines, [&](const std::string& line) {
        return line.find(fmt::format("{} has no effect:", attribute.name)) != std::string::npos;
    });
}

class OriginOptions : public testing::TestWithParam<std::string_view> {};

TEST_P(OriginOptions, IsAnAttributeThatIsTestedOrToldOf) {
    static const auto with_tests = tested();
    const auto* attribute = attribute_of(GetParam());
    ASSERT_NE(attribute, nullptr) << GetParam() << " is no attribute of policies";
    std::string name(attribute->name);
    for (char& c : name)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    EXPECT_NE(with_tests.contains(name), is_told(*attribute))
        << GetParam()
        << (is_told(*attribute) ? " is tested and told of as without effect" : " has no test of its name");
}

std::string option_name(const testing::TestParamInfo<std::string_view>& info) {
    return std::string(info.param);
}

INSTANTIATE_TEST_SUITE_P(Guide, OriginOptions, testing::ValuesIn(kGuide), option_name);
INSTANTIATE_TEST_SUITE_P(Overview, OriginOptions, testing::ValuesIn(kOverview), option_name);

TEST(OriginOptionLists, NoOtherAttributeIsOneOfOrigin) {
    std::set<std::string_view> named;
    for (const auto option : kGuide) named.insert(attribute_of(option)->name);
    for (const auto option : kOverview) named.insert(attribute_of(option)->name);
    for (const objects::Attribute& attribute : objects::attributes(ObjectType::policy)) {
        if ((attribute.flags & objects::origin) == 0 || attribute.name == "hpm_ctl") continue;
        EXPECT_TRUE(named.contains(attribute.name)) << attribute.name;
    }
}

// ---- Options without a test file of their own.

struct Option : testing::Test {
    World world;
    Settings& s = world.origin();
    void SetUp() override { world.vnodes(1, {.name = "n", .ncpus = 64, .mem = 64 * kGb}); }
    Outcome cycle(Instant now = at(9), bool apply = false) {
        world.configure();
        return world.cycle(now, apply);
    }
};

TEST_F(Option, PRIME_TIME_SMALL_WALLT_LIMIT_TakesThePlaceOfTheLimitForSmallJobs) {
    s.enforce_prime_time = {true};
    world.prime_time(8, 17);
    s.prime_time_wallt_limit = Seconds(2 * kHour);
    s.prime_time_small_node_limit = 8;
    s.prime_time_small_wallt_limit = Seconds(kHour);
    const int small = world.job({.nodes = 8, .walltime = kHour + 1});
    const int fine = world.job({.nodes = 8, .walltime = kHour});
    const int large = world.job({.nodes = 9, .walltime = 2 * kHour});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(fine, large));
    EXPECT_EQ(outcome.comment.at(small), "Exceeds primetime walltime limit (01:00:00)");
}

TEST_F(Option, WALLT_LIMIT_SMALL_JOB_IsForJobsOfAtMostSmallJobMaxNodes) {
    s.small_job_max = 16;
    s.wallt_limit_small_job = Seconds(4 * kHour);
    const int over = world.job({.nodes = 16, .walltime = 4 * kHour + 1});
    const int fine = world.job({.nodes = 17, .walltime = 4 * kHour + 1});
    const auto outcome = cycle();
    EXPECT_TRUE(outcome.rejected.contains(over));
    EXPECT_THAT(outcome.started, ElementsAre(fine));
}

TEST_F(Option, WALLT_LIMIT_LARGE_JOB_IsForJobsOfMoreNodes) {
    s.small_job_max = 16;
    s.wallt_limit_large_job = Seconds(8 * kHour);
    const int over = world.job({.nodes = 17, .walltime = 8 * kHour + 1});
    const int fine = world.job({.nodes = 16, .walltime = 8 * kHour + 1});
    const auto outcome = cycle();
    EXPECT_TRUE(outcome.rejected.contains(over));
    EXPECT_THAT(outcome.started, ElementsAre(fine));
}

TEST_F(Option, INTERACTIVE_LONG_WAIT_AnOutstandingJobRunsAcrossTheEndOfPrimeTime) {
    s.enforce_prime_time = {true};
    s.nonprime_drain_sys = {true};
    s.interactive_long_wait = Seconds(30 * kMinute);
    world.prime_time(8, 17);
    const int batch = world.job({.nodes = 1, .walltime = kHour, .queued = at(14)});
    const int interactive = world.job({.nodes = 1, .walltime = kHour, .interactive = true, .queued = at(15)});
    EXPECT_THAT(cycle(at(16, 30)).started, IsEmpty()) << "an hour and a half isn't over yet";
    const auto outcome = cycle(at(16, 31));
    EXPECT_EQ(outcome.started.front(), interactive);
    // With the interactive job, the queue will be busy at the end of prime time, so a cycle doesn't drain it
    // for that any more.
    EXPECT_THAT(outcome.started, ElementsAre(interactive, batch));
}

TEST_F(Option, SORTED_JOB_DUMPFILE_HasTheFlagsOfWaitingDedicatedAndHpmJobs) {
    s.sorted_job_dumpfile = "sortedjobs";
    s.max_queued_time = Seconds(kHour);
    world.queue({.name = "ded"});
    s.dedicated_queues = {{"ded"}};
    world.job({.nodes = 1, .queued = at(9), .hpm = 1});
    world.job({.queue = "ded", .nodes = 1, .queued = at(9)});
    world.job({.nodes = 1, .queued = at(0), .hpm = 1});
    s.enforce_prime_time = {true};
    world.prime_time(8, 17);
    const auto text = cycle(at(9)).sorted_jobs;
    EXPECT_THAT(text, testing::HasSubstr("Policy p1: primetime\n"));
    const auto flags = [&](const std::string& id) {
        const auto from = text.find("\n" + id) + 1;
        const auto line = text.substr(from, text.find('\n', from) - from);
        return line.substr(line.rfind(' ') + 1);
    };
    EXPECT_EQ(flags("1.server"), "HPM");
    EXPECT_EQ(flags("2.server"), "Ded");
    EXPECT_EQ(flags("3.server"), "Wait,HPM");
    EXPECT_LT(text.find("3.server"), text.find("1.server")) << "in the order in which they would run";
    EXPECT_LT(text.find("1.server"), text.find("2.server"));
}

// ---- BATCH_QUEUES with hosts, and resources_available.host of vnodes.

struct HostsOfVnodes : testing::Test {
    World world;
    Settings& s = world.origin({"batch"});
    void SetUp() override {
        world.vnode({.name = "v1", .ncpus = 4, .host_resource = "left"});
        world.vnode({.name = "v2", .ncpus = 4, .host_resource = "left"});
        world.vnode({.name = "v3", .ncpus = 4, .host = "there", .host_resource = "right"});
    }
    Outcome cycle() {
        world.configure();
        return world.cycle(at(1));
    }
};

TEST_F(HostsOfVnodes, AQueueAtAHostHasItsVnodes) {
    s.batch_queues = {{"batch", "right"}};
    const int job = world.job({.ncpus = 2});
    EXPECT_THAT(cycle().vnodes.at(job), testing::ElementsAre("v3"));
}

TEST_F(HostsOfVnodes, AreWhatJobsAskFor) {
    const int job = world.job({.ncpus = -1, .select = "1:ncpus=2:host=right"});
    const int no_more = world.job({.ncpus = -1, .select = "1:ncpus=2:host=there"});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.vnodes.at(job), testing::ElementsAre("v3"));
    EXPECT_TRUE(outcome.comment.contains(no_more));
}

TEST_F(HostsOfVnodes, SORTED_JOB_DUMPFILE_HasTheFlagOfWhoAsksForOne) {
    s.sorted_job_dumpfile = "sortedjobs";
    world.job({.ncpus = -1, .select = "1:ncpus=2:host=right"});
    world.job({.ncpus = -1, .select = "1:ncpus=2"});
    const std::string text = cycle().sorted_jobs;
    const auto line = [&](const std::string& id) {
        const auto from = text.find("\n" + id) + 1;
        return text.substr(from, text.find('\n', from) - from);
    };
    EXPECT_THAT(line("1.server"), testing::EndsWith(" Run"));
    EXPECT_THAT(line("2.server"), testing::EndsWith(" "));
}

TEST_F(HostsOfVnodes, AreWhatScatterIsOver) {
    const int two = world.job({.ncpus = -1, .select = "2:ncpus=1", .place = "scatter"});
    const int three = world.job({.ncpus = -1, .select = "3:ncpus=1", .place = "scatter"});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.vnodes.at(two), testing::ElementsAre("v1", "v3"));
    EXPECT_TRUE(outcome.comment.contains(three)) << "there are two hosts";
}

// Reads the settings from a policy object, which qmgr or a migrated CONFIGFILE has made.
struct OptionFromObject : testing::Test {
    objects::Object policy{ObjectType::policy, "p1"};
    Configuration configuration;
    void set(const std::string& name, const std::string& value) {
        const auto& attribute = *objects::find_attribute(ObjectType::policy, name);
        policy.assign(attribute, objects::parse_value(attribute, value).value());
    }
    Settings settings() {
        const auto zone = rrule::Zone::utc();
        return read_policy(policy, configuration, zone);
    }
};

TEST_F(OptionFromObject, PRIME_TIME_START_AndEndMakePrimeTimeOfWorkDays) {
    set("prime_time_start", "08:00:00");
    set("prime_time_end", "17:00:00");
    const Settings s = settings();
    EXPECT_FALSE(s.prime.contains(at(7, 59, 59)));
    EXPECT_TRUE(s.prime.contains(at(8)));
    EXPECT_FALSE(s.prime.contains(at(5 * 24 + 9))) << "a Saturday";
}

TEST_F(OptionFromObject, PRIME_TIME_END_BeforeTheStartIsOnTheNextDay) {
    set("prime_time_start", "20:00:00");
    set("prime_time_end", "04:00:00");
    const Settings s = settings();
    EXPECT_TRUE(s.prime.contains(at(21)));
    EXPECT_TRUE(s.prime.contains(at(24 + 3)));
    EXPECT_FALSE(s.prime.contains(at(24 + 4)));
}

TEST_F(OptionFromObject, TARGET_LOAD_VARIANCE_WhatIsAboveIsAddedToTheTarget) {
    EXPECT_EQ(settings().max_load_percent, 0) << "neither is set: the load isn't looked at";
    set("target_load_pct", "90%");
    EXPECT_EQ(settings().max_load_percent, 100) << "+10% is the default";
    set("target_load_variance", "-90%,+25%");
    EXPECT_EQ(settings().max_load_percent, 115);
}

TEST_F(OptionFromObject, SCHED_RESTART_ACTION_WordsOfBothDocuments) {
    EXPECT_EQ(settings().sched_restart_action, RestartAction::none);
    for (const auto& [word, action] :
         {std::pair{"none", RestartAction::none}, std::pair{"restart", RestartAction::restart},
          std::pair{"rerun", RestartAction::restart}, std::pair{"resubmit", RestartAction::resubmit}}) {
        set("sched_restart_action", word);
        EXPECT_EQ(settings().sched_restart_action, action) << word;
    }
}

TEST_F(OptionFromObject, DEDICATED_TIME_COMMAND_NeedsEnforceDedicatedTime) {
    set("algorithm", "origin");
    set("dedicated_time_command", "/usr/local/bin/schedule");
    EXPECT_THAT(settings().dedicated_time_command, IsEmpty());
    EXPECT_THAT(
        objects::unsupported_lines(policy),
        testing::Contains("policy p1: dedicated_time_command has no effect without enforce_dedicated_time"));
    set("enforce_dedicated_time", "True");
    EXPECT_EQ(settings().dedicated_time_command, "/usr/local/bin/schedule");
    EXPECT_THAT(objects::unsupported_lines(policy),
                testing::Not(testing::Contains(testing::HasSubstr("dedicated_time_command"))));
}

}  // namespace
}  // namespace pbs::sched::test
