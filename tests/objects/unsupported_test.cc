// Checks which settings give a warning when they are set, because they have no effect.
#include "objects/unsupported.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "objects/formula.h"
#include "objects/restore.h"
#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class UnsupportedTest : public StoreTest {};

TEST_F(UnsupportedTest, EveryRowIsOfAnAttribute) {
    for (const Unsupported& row : unsupported_table()) {
        const bool needs_word = row.asks == Asks::element || row.asks == Asks::host ||
                                row.asks == Asks::without || row.asks == Asks::of ||
                                row.asks == Asks::element_without;
        EXPECT_EQ(needs_word, !row.word.empty()) << row.attribute;
        if (row.attribute.empty()) continue;
        const bool of_queue = row.type == ObjectType::queue;
        const Attribute* attribute = find_attribute(row.type, row.attribute);
        ASSERT_EQ(attribute == nullptr, of_queue) << row.attribute << ": the server has it";
        if (!of_queue) {
            EXPECT_EQ(attribute->name, row.attribute) << "an alias";
        }
        if (row.asks != Asks::without && row.asks != Asks::element_without) continue;
        const std::string_view conditions = row.asks == Asks::without ? row.word : row.why;
        for (std::string_view condition : unsupported_conditions(conditions)) {
            if (const auto in = condition.find(" in "); in != std::string_view::npos)
                condition.remove_prefix(in + 4);
            EXPECT_NE(find_attribute(of_queue ? ObjectType::policy : row.type,
                                     condition.substr(0, condition.find('='))),
                      nullptr)
                << row.word;
        }
    }
}

TEST_F(UnsupportedTest, DefaultsAreActedOn) {
    EXPECT_THAT(run("c p p1").warnings, IsEmpty());
    EXPECT_THAT(run("s p p1 preemption=True").warnings, IsEmpty());
    EXPECT_THAT(run("c p p3 algorithm=origin").warnings, IsEmpty());
}

TEST_F(UnsupportedTest, PreemptionIsActedOn) {
    EXPECT_THAT(
        run("s p default_policy preempt_prio='express_queue, normal_jobs, starving_jobs+queue_softlimits'")
            .warnings,
        IsEmpty());
    EXPECT_THAT(run("s p default_policy preemption=False, preempt_order=D").warnings,
                testing::Contains("policy default_policy: preempt_order has no effect without preemption"));
}

TEST_F(UnsupportedTest, IsToldEachTimeItIsSet) {
    const char* line =
        "policy default_policy: server_host has no effect: the scheduler is part of the server";
    EXPECT_THAT(run("s p default_policy server_host=fermi").warnings, ElementsAre(line));
    EXPECT_THAT(run("s p default_policy Server_Host=fermi").warnings, ElementsAre(line));
    EXPECT_THAT(run("s p default_policy comment=x").warnings, IsEmpty());
}

TEST_F(UnsupportedTest, OptionsOfTheOtherAlgorithmAreTold) {
    run("c p p1");
    EXPECT_THAT(run("s p p1 max_jobs=3").warnings,
                ElementsAre("policy p1: max_jobs has no effect: it belongs to algorithm origin"));
    EXPECT_THAT(run("s p p1 max_jobs=0, strict_ordering=True").warnings, IsEmpty());
    EXPECT_THAT(run("s p p1 algorithm=origin").warnings,
                ElementsAre("policy p1: strict_ordering has no effect: it belongs to algorithm standard"));
    EXPECT_THAT(run("s p p1 max_jobs=3, strict_ordering=False").warnings, IsEmpty());
}

// Sets every attribute of a policy to a value that should have an effect. So each attribute finds all others
// on which its effect depends.
void set_everything(Object& policy) {
    const std::map<std::string_view, std::string_view> others = {{"sort_by_past_usage", "True"},
                                                                 {"backfill_prime", "True"},
                                                                 {"prime_exempt_anytime_queues", "True"},
                                                                 {"fairshare_group", "f1"},
                                                                 {"avoid_fragmentation", "True"}};
    for (const Attribute& attribute : attributes(policy.type())) {
        std::string_view value = attribute.example.substr(attribute.example.find('=') + 1);
        if (const auto other = others.find(attribute.name); other != others.end()) value = other->second;
        if (value.starts_with('"')) value = value.substr(1, value.size() - 2);
        policy.assign(attribute, parse_value(attribute, value).value());
    }
}

// Lists the attributes that have an effect under both algorithms, and those that have one only under a single
// algorithm. Every other attribute gives a warning, even if all attributes on which it depends are set.
TEST_F(UnsupportedTest, WhatActsWithEachAlgorithm) {
    const std::vector<std::string_view> with_both = {
        "dedicated_queues", "comment",          "algorithm",          "log_event",
        "schedule_log",     "prime_time_start", "prime_time_end",     "provision_policy",
        "estimate_depth",   "quotas",           "schedule_log_detail"};
    const std::vector<std::string_view> with_standard = {"job_sort_formula_threshold",
                                                         "weighted_priority",
                                                         "weight_job_priority",
                                                         "weight_urgency",
                                                         "urgency_of_resources",
                                                         "urgency_size",
                                                         "weight_waiting_time",
                                                         "weight_deadline",
                                                         "deadline_users",
                                                         "weight_tickets",
                                                         "tickets_functional",
                                                         "functional_shares",
                                                         "functional_weights",
                                                         "share_functional_shares",
                                                         "max_functional_jobs",
                                                         "tickets_share",
                                                         "override_tickets",
                                                         "share_override_tickets",
                                                         "ticket_order",
                                                         "reprioritize",
                                                         "peer_queue",
                                                         "exclude_resources",
                                                         "server_dyn_res",
                                                         "server_dyn_res_alarm",
                                                         "node_sort_key",
                                                         "node_sort_key_of_place",
                                                         "reserved_resources",
                                                         "max_range_chunks",
                                                         "range_sets",
                                                         "chunk_order",
                                                         "preferences",
                                                         "immediate",
                                                         "max_run_subjobs",
                                                         "do_not_span_psets",
                                                         "only_explicit_psets",
                                                         "load_balancing",
                                                         "load_formula",
                                                         "job_load_adjustments",
                                                         "load_adjustment_decay_time",
                                                         "load_thresholds",
                                                         "fairshare",
                                                         "fairshare_group",
                                                         "preemption",
                                                         "preempt_prio",
                                                         "preempt_queue_prio",
                                                         "preempt_order",
                                                         "preempt_sort",
                                                         "sched_preempt_enforce_resumption",
                                                         "peer_queue",
                                                         "round_robin",
                                                         "by_queue",
                                                         "strict_ordering",
                                                         "help_starving_jobs",
                                                         "max_starve",
                                                         "job_sort_formula",
                                                         "backfill_depth",
                                                         "default_duration",
                                                         "duration_offset",
                                                         "job_sort_key",
                                                         "time_window_spill",
                                                         "backfill_prime",
                                                         "round_robin_all",
                                                         "prime_exempt_anytime_queues"};
    const std::vector<std::string_view> with_origin = {"past_usage_charge",
                                                       "ssinode_cpus",
                                                       "ssinode_mem",
                                                       "submit_queue",
                                                       "batch_queues",
                                                       "special_queue",
                                                       "external_queues",
                                                       "sched_host",
                                                       "enforce_prime_time",
                                                       "prime_time_wallt_limit",
                                                       "prime_time_small_node_limit",
                                                       "prime_time_small_wallt_limit",
                                                       "small_job_max",
                                                       "wallt_limit_small_job",
                                                       "wallt_limit_large_job",
                                                       "enforce_dedicated_time",
                                                       "dedicated_time_command",
                                                       "dedicated_time_cache_secs",
                                                       "system_name",
                                                       "max_dedicated_jobs",
                                                       "nonprime_drain_sys",
                                                       "np_drain_backtime",
                                                       "np_drain_idletime",
                                                       "max_jobs",
                                                       "min_jobs",
                                                       "max_user_run_jobs",
                                                       "target_load_pct",
                                                       "target_load_variance",
                                                       "high_systime",
                                                       "enforce_allocation",
                                                       "sched_acct_dir",
                                                       "sort_by_past_usage",
                                                       "decay_factor",
                                                       "oa_decay_factor",
                                                       "max_queued_time",
                                                       "interactive_long_wait",
                                                       "small_queued_time",
                                                       "sorted_job_dumpfile",
                                                       "manage_hpm_counters",
                                                       "hpm_ctl",
                                                       "revoke_hpm_counters",
                                                       "sched_restart_action",
                                                       "avoid_fragmentation",
                                                       "test_only",
                                                       "fake_machine_mult"};
    const auto has = [](const std::vector<std::string_view>& list, std::string_view name) {
        return std::ranges::find(list, name) != list.end();
    };
    for (const char* algorithm : {"standard", "origin"}) {
        Object policy(ObjectType::policy, "p1");
        set_everything(policy);
        const Attribute& word = *find_attribute(ObjectType::policy, "algorithm");
        policy.assign(word, parse_value(word, algorithm).value());
        const Attribute& keys = *find_attribute(ObjectType::policy, "node_sort_key");
        policy.assign(keys, parse_value(keys, "load_formula LOW").value());  // uses load_formula
        const auto found = unsupported_settings(policy);
        const auto& own = algorithm == std::string_view("origin") ? with_origin : with_standard;
        for (const Attribute& attribute : attributes(ObjectType::policy)) {
            const auto whole = [&](const UnsupportedSetting& setting) {
                return setting.attribute == attribute.name &&
                       setting.text.starts_with(fmt::format("policy p1: {} has no effect", attribute.name));
            };
            const bool acts = has(with_both, attribute.name) || has(own, attribute.name);
            EXPECT_EQ(std::ranges::none_of(found, whole), acts) << algorithm << ": " << attribute.name;
        }
    }
}

TEST_F(UnsupportedTest, ADefaultThatIsSetIsToldWhereItDoesNotAct) {
    run("c p o1 algorithm=origin");
    EXPECT_THAT(run("s p o1 by_queue=True").warnings,
                ElementsAre("policy o1: by_queue has no effect: it belongs to algorithm standard"));
    EXPECT_THAT(run("s p o1 backfill_depth=0").warnings, SizeIs(1)) << "no backfilling is asked for";
    EXPECT_THAT(run("s p default_policy sort_by_past_usage=True").warnings, SizeIs(1));
    EXPECT_THAT(run("s p default_policy sort_by_past_usage=False, prime_time_wallt_limit=0, high_systime=0, "
                    "sched_restart_action=none")
                    .warnings,
                IsEmpty());
}

TEST_F(UnsupportedTest, WhatIsSwitchedOffIsMissing) {
    const char* spill = "policy p1: time_window_spill has no effect without backfill_prime";
    run("c p p1");
    EXPECT_THAT(run("s p p1 time_window_spill=1:00:00").warnings, ElementsAre(spill));
    EXPECT_THAT(run("s p p1 time_window_spill=1:00:00, backfill_prime=False").warnings, ElementsAre(spill));
    EXPECT_THAT(run("s p p1 time_window_spill=1:00:00, backfill_prime=True").warnings, IsEmpty());
    EXPECT_THAT(run("s p p1 max_starve=1:00:00").warnings, IsEmpty()) << "help_starving_jobs by default";
    EXPECT_THAT(run("s p p1 max_starve=1:00:00, backfill_depth=2, help_starving_jobs=False").warnings,
                ElementsAre("policy p1: max_starve has no effect without help_starving_jobs",
                            "policy p1: backfill_depth has no effect without strict_ordering or "
                            "help_starving_jobs"));
    EXPECT_THAT(run("s p p1 backfill_depth=2, strict_ordering=True").warnings, IsEmpty());
    EXPECT_THAT(run("s p p1 oa_decay_factor=1").warnings,
                ElementsAre("policy p1: oa_decay_factor has no effect: it belongs to algorithm origin"))
        << "and not what else it needs";
    run("c p o1 algorithm=origin");
    EXPECT_THAT(run("s p o1 min_jobs=2").warnings,
                ElementsAre("policy o1: min_jobs has no effect without target_load_pct or "
                            "target_load_variance"))
        << "the load is looked at if one of them is set";
    EXPECT_THAT(run("s p o1 min_jobs=2, target_load_pct=90").warnings, IsEmpty());
    EXPECT_THAT(run("s p o1 nonprime_drain_sys=True, enforce_prime_time=01/01/2030").warnings, IsEmpty());
}

// Returns a policy with these values. It isn't stored, so they may name queues that don't exist.
Object policy_of(std::string name,
                 std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
    Object policy(ObjectType::policy, std::move(name));
    for (const auto& [attribute_name, text] : values) {
        const Attribute& attribute = *find_attribute(ObjectType::policy, attribute_name);
        policy.assign(attribute, parse_value(attribute, text).value());
    }
    return policy;
}

TEST_F(UnsupportedTest, AHostThatNoJobRunsOnForIt) {
    EXPECT_THAT(unsupported_lines(policy_of("p1", {{"dedicated_queues", "a,b@h2"}})),
                ElementsAre("policy p1: the host of b@h2 in dedicated_queues has no effect: the queue itself "
                            "names the vnodes that its jobs may use"));
    EXPECT_THAT(unsupported_lines(policy_of("o1", {{"algorithm", "origin"},
                                                   {"dedicated_queues", "b@h2"},
                                                   {"batch_queues", "c@h2"},
                                                   {"submit_queue", "submit@h2"}})),
                ElementsAre("policy o1: the host of submit@h2 in submit_queue has no effect: no job runs in "
                            "it"));
}

TEST_F(UnsupportedTest, AWindowOfATypeWithoutARule) {
    EXPECT_THAT(run("c t office").warnings, IsEmpty());
    EXPECT_THAT(run("s t office type=prime").warnings,
                ElementsAre("time_window office: type has no effect without rrule"));
    EXPECT_THAT(run("s t office rrule=FREQ=DAILY").warnings, IsEmpty());
    EXPECT_THAT(run("s t office type=dedicated").warnings, IsEmpty());
    EXPECT_THAT(run("u t office rrule").warnings, SizeIs(1));
}

TEST_F(UnsupportedTest, WhatAQueueHasByThePolicyInForce) {
    const auto told = [](const Object& policy, std::vector<QueueValue> values) {
        return unsupported_in_queue(policy, "q1", values);
    };
    const std::vector<QueueValue> both = {{"priority", "5"}, {"backfill_depth", "0"}};
    EXPECT_THAT(
        told(policy_of("o1", {{"algorithm", "origin"}}), both),
        ElementsAre("queue q1: Priority has no effect with policy o1: it belongs to algorithm standard",
                    "queue q1: backfill_depth has no effect with policy o1: it belongs to algorithm "
                    "standard"));
    EXPECT_THAT(told(policy_of("o1", {{"algorithm", "origin"}}), {{"Priority", "0"}, {"max_running", "5"}}),
                IsEmpty());
    EXPECT_THAT(told(policy_of("p1", {}), both), IsEmpty());
    EXPECT_THAT(told(policy_of("p1", {{"by_queue", "False"}, {"help_starving_jobs", "False"}}), both),
                ElementsAre("queue q1: Priority has no effect with policy p1 without by_queue or "
                            "round_robin or queue_priority in job_sort_formula",
                            "queue q1: backfill_depth has no effect with policy p1 without "
                            "strict_ordering or help_starving_jobs"));
    EXPECT_THAT(told(policy_of("p1", {{"by_queue", "False"}, {"round_robin", "True"}}), both), IsEmpty());
    EXPECT_THAT(
        told(policy_of("p1", {{"by_queue", "False"}, {"job_sort_formula", "ncpus*queue_priority"}}), both),
        IsEmpty());
    EXPECT_THAT(told(policy_of("p1", {{"by_queue", "False"}, {"job_sort_formula", "ncpus"}}), both),
                SizeIs(1));
}

TEST_F(UnsupportedTest, SharesAreActedOn) {
    EXPECT_THAT(run("c f f1").warnings, IsEmpty());
    EXPECT_THAT(run("s f f1 decay_time=06:00:00").warnings, IsEmpty());
    EXPECT_THAT(run("s p default_policy fairshare_group=f1, fairshare=True").warnings, IsEmpty());
    EXPECT_THAT(run("s p default_policy job_sort_formula='ncpus+fairshare_perc'").warnings, IsEmpty());
    run("c p o1 algorithm=origin");
    EXPECT_THAT(run("s p o1 fairshare_group=f1").warnings,
                ElementsAre("policy o1: fairshare_group has no effect: it belongs to algorithm standard"));
}

TEST_F(UnsupportedTest, TermsOfSharesNeedAnFsGroup) {
    for (const std::string_view term : share_terms())
        EXPECT_THAT(run(fmt::format("s p default_policy job_sort_formula='ncpus+{}*2'", term)).warnings,
                    ElementsAre(fmt::format("policy default_policy: {} in job_sort_formula has no effect "
                                            "without fairshare_group",
                                            term)));
    EXPECT_THAT(run("s p default_policy job_sort_key='ncpus HIGH, fairshare_perc LOW'").warnings,
                ElementsAre("policy default_policy: fairshare_perc in job_sort_key has no effect without "
                            "fairshare_group"));
    EXPECT_THAT(run("s p default_policy preempt_prio='express_queue, normal_jobs+fairshare'").warnings,
                ElementsAre("policy default_policy: fairshare in preempt_prio has no effect without "
                            "fairshare"));
    run("c f f1");
    run("s p default_policy fairshare_group=f1, fairshare=True");
    EXPECT_THAT(run("s p default_policy job_sort_formula='fairshare_factor', preempt_prio="
                    "'express_queue, normal_jobs+fairshare', job_sort_key='fairshare_perc LOW'")
                    .warnings,
                IsEmpty());
}

TEST_F(UnsupportedTest, ElementsTermsAndWhatNeedsAnother) {
    EXPECT_THAT(run("s p default_policy job_sort_key='ncpus HIGH, preempt_priority HIGH'").warnings,
                IsEmpty());
    EXPECT_THAT(run("s p default_policy job_sort_formula_threshold=5").warnings,
                ElementsAre("policy default_policy: job_sort_formula_threshold has no effect without "
                            "job_sort_formula"));
    EXPECT_THAT(run("s p default_policy job_sort_formula='ncpus+accrue_type'").warnings, IsEmpty());
    run("c p o1 algorithm=origin");
    EXPECT_THAT(run("s p o1 sched_host=a").warnings,
                ElementsAre("policy o1: sched_host has no effect without sched_restart_action=restart or "
                            "sched_restart_action=rerun"));
    EXPECT_THAT(run("s p o1 sched_restart_action=resubmit").warnings, IsEmpty());
    EXPECT_THAT(run("s p o1 sched_host=a").warnings, SizeIs(1)) << "they are not started there";
    EXPECT_THAT(run("s p o1 sched_host=a, sched_restart_action=rerun").warnings, IsEmpty());
    EXPECT_THAT(run("u p o1 sched_restart_action").warnings, SizeIs(1)) << "what is left behind";
}

TEST_F(UnsupportedTest, HoursOfPrimeTimeWhileWindowsRule) {
    EXPECT_THAT(run("s p default_policy prime_time_start=0800, prime_time_end=1700").warnings, IsEmpty());
    run("c t office");
    EXPECT_THAT(run("s p default_policy prime_time_end=1800").warnings, IsEmpty()) << "a standard window";
    run("s t office type=prime, rrule='FREQ=DAILY', start_time=0900, end_time=1700");
    EXPECT_THAT(run("s p default_policy prime_time_end=1900, prime_time_start=0700").warnings,
                ElementsAre("policy default_policy: prime_time_end has no effect: the time_windows of type "
                            "prime say when prime time is (office)",
                            "policy default_policy: prime_time_start has no effect: the time_windows of type "
                            "prime say when prime time is (office)"));
    EXPECT_THAT(run("s p default_policy by_queue=False").warnings, IsEmpty());
    run("d t office");
    EXPECT_THAT(run("s p default_policy prime_time_start=0600").warnings, IsEmpty());
    EXPECT_THAT(run("u p default_policy prime_time_end").warnings,
                ElementsAre("policy default_policy: prime_time_start has no effect without prime_time_end"))
        << "what is left behind";
}

TEST_F(UnsupportedTest, AMisspelledAttributeIsGuessed) {
    EXPECT_THAT(refused("s p default_policy strict_odering=True").message,
                HasSubstr("unknown attribute 'strict_odering'; did you mean strict_ordering?"));
    EXPECT_THAT(refused("u p default_policy Prime_Spil").message, HasSubstr("did you mean prime_spill?"));
    EXPECT_THAT(refused("s p default_policy something_else=True").message,
                testing::Not(HasSubstr("did you mean")));
    EXPECT_THAT(refused("c p " + std::string(300, 'x')).message, HasSubstr("at most 64 are allowed"));
    EXPECT_THAT(refused("c p " + std::string(65, 'x')).message, HasSubstr("at most 64 are allowed"));
}

// A server that doesn't provision vnodes refuses avoid_provision; a server that provisions accepts it.
TEST_F(UnsupportedTest, HowToProvisionIsRefusedWhereNothingIsProvisioned) {
    const auto error = refused("s p default_policy provision_policy=avoid_provision");
    EXPECT_EQ(error.code, Code::bad_value);
    EXPECT_EQ(
        error.message,
        "policy default_policy: provision_policy: bad value 'avoid_provision': this server provisions no "
        "vnodes, expected aggressive_provision");
    EXPECT_THAT(refused("c p p1 provision_policy=avoid_provision").message,
                HasSubstr("provisions no vnodes"));
    EXPECT_THAT(run("s p default_policy provision_policy=aggressive_provision").warnings, IsEmpty());
    EXPECT_THAT(run("u p default_policy provision_policy").warnings, IsEmpty());
    // a policy with algorithm external may have the value, as pbs_sched may provision
    run("c p e1 algorithm=external, provision_policy=avoid_provision");
    // a server that doesn't provision keeps the value if it is already stored
    store_.reset();
    auto other = Store::open(path_, {.provisions = true}, kNow);
    ASSERT_TRUE(other) << other.error().message;
    store_.emplace(std::move(*other));
    EXPECT_THAT(run("s p default_policy provision_policy=avoid_provision").warnings, IsEmpty());
    open();
    EXPECT_THAT(run("s p default_policy comment=x").warnings, IsEmpty());
    run("s p default_policy provision_policy=aggressive_provision");
    refused("s p default_policy provision_policy=avoid_provision");
}

TEST_F(UnsupportedTest, StagedCommandsTellToo) {
    const auto done = store_->stage(parse_command("s p default_policy server_host=fermi"), kManager, kNow);
    ASSERT_TRUE(done);
    EXPECT_THAT(done->warnings, ElementsAre(HasSubstr("server_host has no effect")));
    ASSERT_TRUE(store_->commit());
}

TEST_F(UnsupportedTest, ARollbackTellsWhatItBringsBack) {
    run("s p default_policy server_host=fermi");
    const std::uint64_t revision = store_->snapshot()->revision();
    run("u p default_policy server_host");
    const auto back = restore(*store_, {revision, std::nullopt}, {}, kManager, kNow);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_THAT(back->reply.warnings, Contains(HasSubstr("server_host has no effect")));
}

TEST_F(UnsupportedTest, RemarksForHelpAndManualPages) {
    EXPECT_EQ(unsupported_remark(ObjectType::policy, "server_host"),
              "Has no effect: the scheduler is part of the server.");
    EXPECT_EQ(unsupported_remark(ObjectType::policy, "job_sort_key"),
              "Has an effect only with algorithm standard. fairshare_perc or fair_share_perc has an effect "
              "only with fairshare_group.");
    EXPECT_EQ(unsupported_remark(ObjectType::policy, "hpm_ctl"),
              "Has an effect only with algorithm origin. Has no effect without manage_hpm_counters.");
    EXPECT_EQ(unsupported_remark(ObjectType::policy, "dedicated_queues"),
              "The host of queue@host has no effect with algorithm standard: the queue itself names the "
              "vnodes that its jobs may use.");
    EXPECT_EQ(unsupported_remark(ObjectType::policy, "schedule_log"), "");
    EXPECT_EQ(unsupported_remark(ObjectType::fs_group, "decay_time"), "");
    EXPECT_EQ(unsupported_remark(ObjectType::queue, "backfill_depth"),
              "Has an effect only with a policy of algorithm standard. Has no effect without the policy's "
              "strict_ordering or help_starving_jobs.");
    EXPECT_EQ(unsupported_remark(ObjectType::queue, "max_running"), "");
}

// ---- Attributes that name files which the scheduler writes

TEST_F(UnsupportedTest, AnOutputFileIsANameAlone) {
    for (const char* attribute : {"schedule_log", "sorted_job_dumpfile", "sorted_job_file"}) {
        const std::string set = fmt::format("s p default_policy {}=", attribute);
        for (const char* bad : {"/tmp/x", "../x", "a/b", ".", "..", ".hidden", "-x", "decay_usage"})
            EXPECT_EQ(refused(set + bad).code, Code::bad_value) << attribute << " = " << bad;
        EXPECT_TRUE(try_run(set + "jobs.1_a-b")) << attribute;
        run(fmt::format("u p default_policy {}", attribute));
    }
    EXPECT_EQ(
        refused("s p default_policy schedule_log=/tmp/x").message,
        "policy default_policy: schedule_log: bad value '/tmp/x' is not the name of a file alone: it is "
        "written in the folder output below sched_priv and nowhere else, expected at most 64 letters, "
        "digits, '-', '_' and '.', a letter or digit first");
    run("s p default_policy schedule_log=jobs");
    EXPECT_THAT(refused("s p default_policy sorted_job_dumpfile=jobs").message,
                HasSubstr("it is the file of schedule_log"));
}

// An earlier version allowed this value. A store that contains it keeps it, and gives a warning.
TEST_F(UnsupportedTest, AnOutputFileElsewhereThatIsStoredStaysAndIsTold) {
    Object policy(ObjectType::policy, "p1");
    const Attribute& attribute = *find_attribute(ObjectType::policy, "schedule_log");
    policy.assign(attribute, parse_value(attribute, "/etc/passwd").value());
    EXPECT_THAT(unsupported_lines(policy),
                Contains(HasSubstr("schedule_log has no effect: '/etc/passwd' is not the name of a file")));
}

// Algorithm external has an effect only on a server that uses pbs_sched.
TEST(Unsupported, AlgorithmExternalIsForAServerWithPbsSched) {
    Object policy(ObjectType::policy, "p1");
    const auto set = [&](std::string_view name, std::string_view value) {
        const Attribute& attribute = *find_attribute(ObjectType::policy, name);
        policy.assign(attribute, parse_value(attribute, value).value());
    };
    set("algorithm", "external");
    set("by_queue", "True");
    set("max_user_run_jobs", "3");
    EXPECT_THAT(
        unsupported_lines(policy),
        testing::ElementsAre("policy p1: max_user_run_jobs has no effect: it belongs to algorithm origin"));
    const auto by_server = [&](PbsSched pbs_sched) {
        std::vector<std::string> lines;
        for (UnsupportedSetting& setting : unsupported_by_server(policy, {.pbs_sched = pbs_sched})) {
            EXPECT_THAT(setting.attribute, testing::AnyOf("algorithm", "external_program"));
            lines.push_back(std::move(setting.text));
        }
        return lines;
    };
    EXPECT_THAT(
        by_server(PbsSched::none),
        testing::ElementsAre("policy p1: algorithm external has no effect: pbs_sched doesn't schedule "
                             "here, and jobs are scheduled as with standard"));
    EXPECT_THAT(by_server(PbsSched::runs), testing::IsEmpty());
    EXPECT_THAT(by_server(PbsSched::program), testing::IsEmpty());
    EXPECT_THAT(by_server(PbsSched::replaced),
                testing::ElementsAre(HasSubstr("no job starts until pbs_sched runs")));
    set("external_program", "ifl");
    for (const PbsSched other : {PbsSched::none, PbsSched::program, PbsSched::replaced})
        EXPECT_THAT(by_server(other), testing::IsEmpty());
    EXPECT_THAT(by_server(PbsSched::runs), testing::ElementsAre(HasSubstr("pbs_policy_install --scheduler")));
    set("external_program", "pbs_sched");
    EXPECT_THAT(
        by_server(PbsSched::program),
        testing::ElementsAre("policy p1: external_program has no effect: pbs_sched never schedules for "
                             "this server"));
    set("algorithm", "standard");
    EXPECT_THAT(by_server(PbsSched::replaced), testing::IsEmpty());
}

TEST(Unsupported, RunningJobsAreWeighedByServersWithControlGroupsAlone) {
    Object policy(ObjectType::policy, "p1");
    const auto set = [&](const char* name, const char* value) {
        const Attribute& attribute = *find_attribute(ObjectType::policy, name);
        policy.assign(attribute, parse_value(attribute, value).value());
    };
    const auto lines = [&](ServerAbilities abilities) {
        std::vector<std::string> all;
        for (UnsupportedSetting& setting : unsupported_by_server(policy, abilities))
            all.push_back(std::move(setting.text));
        return all;
    };
    set("weighted_priority", "True");
    EXPECT_THAT(lines({.weighs = false}), testing::IsEmpty());
    set("reprioritize", "False");
    EXPECT_THAT(lines({.weighs = false}), testing::IsEmpty());
    set("reprioritize", "True");
    EXPECT_THAT(lines({}), testing::IsEmpty());
    EXPECT_THAT(lines({.weighs = false}),
                testing::ElementsAre("policy p1: reprioritize has no effect: jobs of this server have no "
                                     "control groups with a cpu.weight; its log says why"));
    EXPECT_THAT(lines({.has_log = false, .weighs = false}),
                testing::ElementsAre("policy p1: reprioritize has no effect: in an OpenPBS server nothing "
                                     "weighs the processes of running jobs"));
}

// No cycle runs for a program of the site, so no program of server_dyn_res does either. pbs_sched runs them.
TEST(Unsupported, DynamicResourcesAreNotForProgramsThatSchedule) {
    Object policy(ObjectType::policy, "p1");
    const auto set = [&](std::string_view name, std::string_view value) {
        const Attribute& attribute = *find_attribute(ObjectType::policy, name);
        policy.assign(attribute, parse_value(attribute, value).value());
    };
    const auto told = [&](PbsSched pbs_sched) {
        std::vector<std::string> lines;
        for (UnsupportedSetting& setting : unsupported_by_server(policy, {.pbs_sched = pbs_sched}))
            if (setting.attribute == "server_dyn_res") lines.push_back(std::move(setting.text));
        return lines;
    };
    set("algorithm", "external");
    EXPECT_THAT(told(PbsSched::program), testing::IsEmpty());
    set("server_dyn_res", "mem !/bin/get_mem");
    EXPECT_THAT(told(PbsSched::program),
                testing::ElementsAre("policy p1: server_dyn_res has no effect: its programs run for cycles, "
                                     "and a program of the site schedules"));
    for (const PbsSched other : {PbsSched::none, PbsSched::runs, PbsSched::replaced})
        EXPECT_THAT(told(other), testing::IsEmpty());
    set("algorithm", "standard");
    EXPECT_THAT(told(PbsSched::program), testing::IsEmpty());
}

// A program of the site orders jobs by itself; filters are asked by starts with check=True.
TEST(Unsupported, TheOrderOfJobsIsNotForProgramsThatSchedule) {
    Object policy(ObjectType::policy, "p1");
    const auto set = [&](std::string_view name, std::string_view value) {
        const Attribute& attribute = *find_attribute(ObjectType::policy, name);
        policy.assign(attribute, parse_value(attribute, value).value());
    };
    const auto told = [&](PbsSched pbs_sched) {
        std::vector<std::string_view> names;
        for (const UnsupportedSetting& setting : unsupported_by_server(policy, {.pbs_sched = pbs_sched}))
            if (setting.text.ends_with("a program of the site orders and starts jobs"))
                names.push_back(setting.attribute);
        return names;
    };
    set("algorithm", "external");
    set("weighted_priority", "True");
    set("weight_urgency", "1");
    set("tickets_functional", "100");
    set("functional_shares", "[u:ann=3]");
    set("job_sort_key", "ncpus HIGH");
    set("quotas", "q1");
    set("load_thresholds", "np_load_avg >= 1.75");
    set("fairshare", "False");
    EXPECT_THAT(told(PbsSched::program),
                testing::UnorderedElementsAre("weighted_priority", "weight_urgency", "tickets_functional",
                                              "functional_shares", "job_sort_key"));
    EXPECT_THAT(told(PbsSched::none), testing::IsEmpty());
    set("job_sort_formula", "ncpus");
    EXPECT_THAT(told(PbsSched::program), testing::Contains("job_sort_formula"));
    set("job_sort_formula_threshold", "3");
    EXPECT_THAT(told(PbsSched::program), testing::Not(testing::Contains("job_sort_formula")));
}

}  // namespace
}  // namespace pbs::objects
