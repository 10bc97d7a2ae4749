#include "tools/simulate/variant.h"

#include <gmock/gmock.h>

#include "tests/simulate/support.h"

namespace pbs::simulate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Site site() {
    Site made = site_of(1, 2);
    made.name = "site.json";
    made.document =
        R"({"format": 1, "policy": {"default_policy": {}, "day": {"by_queue": "False"}, "night": {}},
            "sched": {"default": {"policy": ["day"]}}, "time_window": {}, "fs_group": {}, "queue": {},
            "server": {}})";
    return made;
}

TEST(Variant, IsWhatTheConfigurationAssigns) {
    const auto variant = variant_of_policies(site(), {});
    ASSERT_TRUE(variant) << variant.error();
    EXPECT_EQ(variant->title, "day");
    EXPECT_EQ(variant->snapshot->policy_slots("default").all_time, "day");
    EXPECT_FALSE(variant->snapshot->policy("day")->boolean("by_queue"));
    EXPECT_TRUE(variant->machine.queues.contains("workq"));
}

TEST(Variant, IsPoliciesByName) {
    EXPECT_TRUE(*names_policies(site(), "day,np:night"));
    EXPECT_FALSE(*names_policies(site(), "day,np:dawn"));
    const auto variant = variant_of_policies(site(), "day,np:night");
    ASSERT_TRUE(variant) << variant.error();
    EXPECT_EQ(variant->title, "day,np:night");
    EXPECT_EQ(variant->snapshot->policy_slots("default").non_prime, "night");
}

TEST(Variant, DirectivesChangePoliciesAndTheMachine) {
    const auto variant =
        variant_of_changes(site(), {"c.qmgr",
                                    "# a remark\ncreate policy p strict_ordering=True\n"
                                    "set policy p backfill_depth=0; set queue workq max_running = 5\n"
                                    "create queue long queue_type=execution,started=True\n"
                                    "set node n1 resources_available.ncpus=64\n"
                                    "unset queue workq started\n"
                                    "create resource gpus type=long,flag=hn\n"
                                    "set server default_queue=long\n"});
    ASSERT_TRUE(variant) << variant.error();
    EXPECT_EQ(variant->title, "c.qmgr");
    EXPECT_EQ(variant->snapshot->policy_slots("default").all_time, "p") << "the only one that is named";
    EXPECT_THAT(variant->notes, ElementsAre(HasSubstr("policy p is in force")));
    EXPECT_EQ(variant->machine.queues.at("workq").at("max_running"), "5");
    EXPECT_FALSE(variant->machine.queues.at("workq").contains("started"));
    EXPECT_EQ(variant->machine.queues.at("long").at("queue_type"), "execution");
    EXPECT_EQ(variant->machine.nodes.at("n1").at("resources_available.ncpus"), "64");
    EXPECT_EQ(variant->machine.resources.at("gpus").at("type"), "long");
    EXPECT_EQ(variant->machine.server.at("default_queue"), "long");
}

// With the bundled server, execution_type belongs to the server's own part of a queue; with OpenPBS, to the
// plugin's.
TEST(Variant, HasTheExecutionTypeOfQueuesOfEitherServer) {
    for (const char* changes :
         {"set queue workq Execution_Type = execution_prime\n",
          R"({"format": 1, "queue": {"workq": {"execution_type": "execution_prime"}}})"}) {
        const auto variant = variant_of_changes(site(), {"c", changes});
        ASSERT_TRUE(variant) << variant.error();
        EXPECT_EQ(variant->machine.queues.at("workq").at("execution_type"), "execution_prime") << changes;
    }
}

TEST(Variant, SaysWhenJobsWouldBeCheckpointedRatherThanSuspended) {
    const std::string changes =
        "create queue urgent queue_type=execution, started=True, Priority=160\n"
        "set policy day preempt_queue_prio=160\n";
    const auto says = [&](const std::string& more) {
        const auto variant = variant_of_changes(site(), {"c.qmgr", changes + more});
        if (!variant) return variant.error();
        return variant->notes.empty() ? std::string("nothing") : variant->notes.front();
    };
    EXPECT_THAT(
        says("set policy day preempt_order='SCR 50 CR'\n"),
        HasSubstr("policy day: preempt_order has C: jobs can be checkpointed only with --checkpoint"));
    EXPECT_EQ(says("set policy day preempt_order='SCR 50 R'\n"), "nothing");
    EXPECT_EQ(says("set policy day preempt_order=CR, preempt_queue_prio=161\n"), "nothing");
    EXPECT_THAT(says("set policy day preempt_order=CR, preemption=False\n"),
                testing::Not(HasSubstr("--check")));
}

TEST(Variant, WhatTheChangesAssignIsInForce) {
    const auto variant = variant_of_changes(
        site(), {"c.qmgr", "set policy day round_robin=True\nset sched default policy='night'\n"});
    ASSERT_TRUE(variant) << variant.error();
    EXPECT_EQ(variant->snapshot->policy_slots("default").all_time, "night");
    EXPECT_THAT(variant->notes, testing::IsEmpty());
}

TEST(Variant, AChangeOfAPolicyThatIsAssignedLeavesItWhereItIs) {
    Site made = site();
    made.document.replace(made.document.find("[\"day\"]"), 7, "[\"day\", \"np:night\"]");
    const auto variant = variant_of_changes(made, {"c.qmgr", "set policy night round_robin=True\n"});
    ASSERT_TRUE(variant) << variant.error();
    EXPECT_EQ(variant->snapshot->policy_slots("default").all_time, "day");
    EXPECT_EQ(variant->snapshot->policy_slots("default").non_prime, "night");
    EXPECT_THAT(variant->notes, testing::IsEmpty());
}

TEST(Variant, DocumentsChangeToo) {
    const auto variant =
        variant_of_changes(site(), {"c.json",
                                    R"({"format": 1, "policy": {"p": {"strict_ordering": "True"}},
                     "host": {"queue": {"workq": {"max_running": "3"}}}})"});
    ASSERT_TRUE(variant) << variant.error();
    EXPECT_EQ(variant->snapshot->policy_slots("default").all_time, "p");
    EXPECT_NE(variant->snapshot->policy("night"), nullptr) << "what isn't named stays";
    EXPECT_EQ(variant->machine.queues.at("workq").at("max_running"), "3");
    EXPECT_EQ(variant->machine.queues.at("workq").at("started"), "True");
}

struct Wrong {
    const char* text;
    const char* message;
};
class VariantWrong : public testing::TestWithParam<Wrong> {};

TEST_P(VariantWrong, IsRefusedWithItsLine) {
    const auto variant = variant_of_changes(site(), {"c", GetParam().text});
    ASSERT_FALSE(variant);
    EXPECT_THAT(variant.error(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, VariantWrong,
    testing::Values(Wrong{"\nset policy day nonsense=1\n", "c: line 2: 'set policy day nonsense=1': "},
                    Wrong{"set policy day by_queue=maybe\n", "by_queue"},
                    Wrong{"set queue gone max_running=1\n", "there is none of this name"},
                    Wrong{"create queue workq\n", "there is one of this name already"},
                    Wrong{"delete node n7\n", "there is none of this name"},
                    Wrong{"set queue workq max_runing=1\n", "max_runing"},
                    Wrong{"set queue workq max_running += 1\n", "only = is understood"},
                    Wrong{"list policy\n", "expected create, delete, set or unset"},
                    Wrong{"set policy by_queue=True\n", "no name, expected the name of a policy"},
                    Wrong{"frobnicate\n", "c: line 1: 'frobnicate'"},
                    Wrong{"{\"format\": 2}", "c: format: found 2"}, Wrong{"{", "c: line 1, column 2"}));

TEST(Variant, AConfigurationWithoutQueuesGetsThoseThatItNames) {
    Site bare;
    add_nodes(bare.machine, 1, 2, 0);
    auto variant =
        variant_of_changes(bare, {"c",
                                  "create policy o\nset policy o algorithm=origin,submit_queue=submit\n"
                                  "set policy o batch_queues=\"small,large@host\"\n"});
    ASSERT_TRUE(variant) << variant.error();
    add_named_queues(*variant->snapshot, {"", "extra"}, variant->machine);
    std::vector<std::string> names;
    for (const auto& [name, values] : variant->machine.queues) names.push_back(name);
    EXPECT_THAT(names, ElementsAre("extra", "large", "small", "submit"));
    EXPECT_EQ(variant->machine.server.at("default_queue"), "submit");
    auto plain = variant_of_policies(bare, {});
    add_named_queues(*plain->snapshot, {}, plain->machine);
    EXPECT_EQ(plain->machine.server.at("default_queue"), "workq");
}

// A site without queues gets those that the trace or the policy names, or workq, enabled and started. A
// change that sets a limit on one of them doesn't alter that, nor which other queues are made.
TEST(Variant, ALimitOnAQueueThatIsOnlyNamedLeavesItStarted) {
    Site bare;
    add_nodes(bare.machine, 1, 2, 0);
    const auto queues = [&](std::vector<std::string> of_trace, const std::string& changes) {
        bare.trace_queues = std::move(of_trace);
        auto variant = variant_of_changes(bare, {"c", changes});
        if (!variant) return Objects{{variant.error(), {}}};
        add_named_queues(*variant->snapshot, bare.trace_queues, variant->machine);
        return variant->machine.queues;
    };
    const auto has = [](const char* key, const char* value) {
        return testing::AllOf(testing::Contains(Pair("started", "True")),
                              testing::Contains(Pair("enabled", "True")),
                              testing::Contains(Pair(key, value)));
    };
    EXPECT_THAT(queues({""}, "set queue workq max_running=1\n"),
                ElementsAre(Pair("workq", has("max_running", "1"))));
    EXPECT_THAT(queues({"long", "short"}, "set queue long max_running=1\n"),
                ElementsAre(Pair("long", has("max_running", "1")), Pair("short", testing::_)));
    EXPECT_THAT(queues({"long"}, R"({"format":1,"host":{"queue":{"long":{"max_running":"2"}}}})"),
                ElementsAre(Pair("long", has("max_running", "2"))));
    EXPECT_THAT(queues({""},
                       "create policy o\nset policy o algorithm=origin,submit_queue=in,batch_queues=b0\n"
                       "set queue b0 max_running=3\n"),
                ElementsAre(Pair("b0", has("max_running", "3")), Pair("in", testing::_)));
    EXPECT_THAT(queues({"long"}, "set queue long started=False\n"),
                ElementsAre(Pair("long", testing::Contains(Pair("started", "False")))));
    EXPECT_THAT(queues({"long"}, "set queue lnog max_running=1\n").begin()->first,
                HasSubstr("there is none of this name"));
    // A queue that the changes create is as qmgr makes it, and a note says so.
    const auto created = variant_of_changes(bare, {"c", "create queue extra\n"});
    ASSERT_TRUE(created) << created.error();
    EXPECT_THAT(created->notes, ElementsAre(HasSubstr("queue extra is created without started=True")));
    const auto started = variant_of_changes(bare, {"c", "create queue extra started=True\n"});
    EXPECT_TRUE(started->notes.empty());
}

}  // namespace
}  // namespace pbs::simulate::test
