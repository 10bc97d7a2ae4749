#include "objects/schema.h"

#include <gmock/gmock.h>

#include <set>

#include "objects/snapshot.h"
#include "objects/value.h"

namespace pbs::objects {
namespace {

TEST(Schema, TablesAreComplete) {
    for (ObjectType type : kConfiguredTypes) {
        std::set<std::string_view> names;
        EXPECT_FALSE(values::find_type(type)->help.empty());
        for (const Attribute& attribute : attributes(type)) {
            EXPECT_TRUE(names.insert(attribute.name).second) << attribute.name;
            EXPECT_TRUE(attribute.alias.empty() || names.insert(attribute.alias).second) << attribute.alias;
            EXPECT_FALSE(attribute.help.empty()) << attribute.name;
            EXPECT_FALSE(attribute.help.ends_with('.')) << attribute.name;
            EXPECT_FALSE(expected_text(attribute).empty()) << attribute.name;
            EXPECT_NE(attribute.example.find(attribute.name) != std::string_view::npos ||
                          (!attribute.alias.empty() &&
                           attribute.example.find(attribute.alias) != std::string_view::npos),
                      false)
                << attribute.name;
            EXPECT_EQ(find_attribute(type, attribute.name), &attribute);
            EXPECT_EQ(&attributes(type)[attribute_index(type, attribute)], &attribute);
            EXPECT_EQ(attribute.type == AttributeType::string_array, attribute.is_list()) << attribute.name;
        }
    }
}

TEST(Schema, DefaultsAreValuesInCanonicalText) {
    for (ObjectType type : kConfiguredTypes) {
        for (const Attribute& attribute : attributes(type)) {
            if (attribute.default_value.empty()) continue;
            const Result<Value> value = parse_value(attribute, attribute.default_value);
            ASSERT_TRUE(value) << attribute.name << ": " << value.error().message;
            EXPECT_EQ(format_value(attribute, *value), attribute.default_value) << attribute.name;
        }
    }
}

// The policy has the options of Origin's sched-config guide, and further options that the scheduler's program
// had.
TEST(Schema, EveryOriginOptionIsAPolicyAttribute) {
    for (const char* name :
         {"avoid_fragmentation", "batch_queues", "decay_factor", "dedicated_queues",
          "dedicated_time_cache_secs", "dedicated_time_command", "enforce_allocation",
          "enforce_dedicated_time", "enforce_prime_time", "external_queues", "fake_machine_mult",
          "interactive_long_wait", "manage_hpm_counters", "max_jobs", "max_queued_time", "min_jobs",
          "nonprime_drain_sys", "np_drain_backtime", "np_drain_idletime", "oa_decay_factor", "prime_time_end",
          "prime_time_small_node_limit", "prime_time_small_wallt_limit", "prime_time_start",
          "prime_time_wallt_limit", "revoke_hpm_counters", "sched_acct_dir", "sched_restart_action",
          "small_job_max", "small_queued_time", "sorted_job_dumpfile", "sort_by_past_usage", "special_queue",
          "submit_queue", "system_name", "target_load_pct", "target_load_variance", "test_only",
          "wallt_limit_large_job", "wallt_limit_small_job", "background_queue_name", "challenge_queue_name",
          "high_systime", "max_dedicated_jobs", "max_user_run_jobs", "sched_host", "server_host",
          // other spellings of options above
          "dedicated_queue", "sorted_job_file", "wallt_small_limit", "wallt_large_limit",
          "non_prime_drain_sys",
          // attributes that only this project has
          "algorithm", "past_usage_charge", "round_robin_all", "schedule_log", "ssinode_cpus",
          "ssinode_mem"}) {
        EXPECT_NE(find_attribute(ObjectType::policy, name), nullptr) << name;
    }
}

TEST(Schema, OriginDefaults) {
    const Object policy(ObjectType::policy, "p");
    EXPECT_EQ(*policy.value("avoid_fragmentation"), Value(BooleanOrDate{true, {}}));
    EXPECT_EQ(*policy.value("sort_by_past_usage"), Value(BooleanOrDate{true, {}}));
    EXPECT_FALSE(policy.has("enforce_prime_time"));
    EXPECT_EQ(policy.real("decay_factor"), 0.75);
    EXPECT_EQ(policy.real("oa_decay_factor"), 0.95);
    EXPECT_EQ(policy.integer("target_load_pct"), 90);
    EXPECT_EQ(policy.variance("target_load_variance"), (Variance{15, 10}));
    EXPECT_EQ(policy.integer("ssinode_cpus"), 2);
    EXPECT_EQ(*policy.value("ssinode_mem"), Value(Size{512 << 20}));
    EXPECT_EQ(policy.text("past_usage_charge"), "node_hours");
    EXPECT_EQ(policy.text("sched_restart_action"), "none");
    EXPECT_FALSE(policy.has("max_queued_time"));
    EXPECT_EQ(policy.seconds("max_queued_time").count(), 0);
}

TEST(Schema, TypesHaveTheAbbreviationsOfQmgr) {
    EXPECT_EQ(type_from_word("p"), ObjectType::policy);
    EXPECT_EQ(type_from_word("policy"), ObjectType::policy);
    EXPECT_EQ(type_from_word("policies"), ObjectType::policy);
    EXPECT_EQ(type_from_word("t"), ObjectType::time_window);
    EXPECT_EQ(type_from_word("time_w"), ObjectType::time_window);
    EXPECT_EQ(type_from_word("f"), ObjectType::fs_group);
    EXPECT_EQ(type_from_word("s"), ObjectType::server);
    EXPECT_EQ(type_from_word("sched"), ObjectType::sched);
    EXPECT_EQ(type_from_word("SC"), ObjectType::sched);
    EXPECT_EQ(type_from_word("q"), ObjectType::queue);
    for (const char* word : {"", "x", "pp", "policys"}) EXPECT_FALSE(type_from_word(word)) << word;
    EXPECT_TRUE(attributes(static_cast<ObjectType>(3)).empty());
}

}  // namespace
}  // namespace pbs::objects
