#include "migrate/sched_policies.h"

#include <fmt/format.h>

#include "migrate/convert.h"
#include "migrate/migrate.h"
#include "objects/store.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

SchedConfig file(const std::string& text) {
    return parse_sched_config(text, "sched_config");
}

SchedPolicies policies(const std::string& text, const Surroundings& server = {}) {
    auto made = to_policies(file(text), server, "group");
    EXPECT_TRUE(made) << testing::PrintToString(texts(made.error()));
    return made.value_or(SchedPolicies{});
}

std::vector<std::string> lines(const std::vector<SchedValue>& values) {
    std::vector<std::string> out;
    out.reserve(values.size());
    for (const SchedValue& value : values) out.push_back(value.attribute + " = " + value.value);
    return out;
}

std::vector<std::string> all_time(const std::string& text, const Surroundings& server = {}) {
    const SchedPolicies made = policies(text, server);
    EXPECT_FALSE(made.by_time());
    return lines(made.all_time);
}

TEST(SchedPolicies, WithoutAFileWhatTheOldSchedulersDid) {
    EXPECT_THAT(all_time(""),
                ElementsAre("by_queue = False", "help_starving_jobs = False", "preemption = False"));
    EXPECT_THAT(policies("").fs_group, IsEmpty());
    EXPECT_THAT(policies("").notes, IsEmpty());
}

TEST(SchedPolicies, RenamedOptions) {
    EXPECT_THAT(all_time("preemptive_sched: True\nprime_spill: 1:00:00\nlog_filter: 3328\nstrict_fifo: True\n"
                         "backfill: False\n"),
                AllOf(Contains("preemption = True"), Contains("time_window_spill = 01:00:00"),
                      Contains("log_event = 4863"), Contains("strict_ordering = True"),
                      Contains("backfill_depth = 0")));
}

TEST(SchedPolicies, ResourcesBecomeTheirComplement) {
    EXPECT_THAT(all_time("resources: \"ncpus, mem, arch, host, vnode, aoe, eoe\"\n"),
                Contains("exclude_resources = hpm,mpiprocs,naccelerators,nodect,ssinodes,vmem"));
    EXPECT_THAT(all_time("resources: \"ncpus, mem, vmem\"\nresources: \"hpm, lic, ssinodes\"\n",
                         {{}, {"lic", "scratch"}}),
                Contains("exclude_resources = mpiprocs,naccelerators,nodect,scratch"));
    EXPECT_THAT(all_time("resources: \"hpm,mem,mpiprocs,naccelerators,ncpus,nodect,ssinodes,vmem\"\n"),
                Not(Contains(HasSubstr("exclude_resources"))));
    EXPECT_THAT(all_time("by_queue: True\n"), Not(Contains(HasSubstr("exclude_resources"))))
        << "without the option every resource was checked";
}

TEST(SchedPolicies, ResourcesThatNobodyKnowsAreTold) {
    const std::string text =
        "resources: \"ncpus, netwins, aoe, lic\" prime\nresources: \"color,netwins\" non_prime\n";
    EXPECT_THAT(
        policies(text).notes,
        ElementsAre(
            "sched_config:1: resources: 'netwins' is not a known resource; the name counts once it is",
            HasSubstr("sched_config:1: resources: 'lic' is not a known resource"),
            HasSubstr("sched_config:2: resources: 'color' is not a known resource")));
    EXPECT_THAT(policies(text, {.consumables = {"lic"}, .others = {"color", "netwins"}}).notes, IsEmpty());
    EXPECT_THAT(policies(text).checked, ElementsAre("color", "lic", "netwins"));
}

// A server reports all its resources, including the built-in ones. The result is the same as that of a dry
// run, which knows no server.
TEST(SchedPolicies, AFreshServersOwnResourcesMakeNoDifference) {
    const std::string text = "resources: \"ncpus, mem\"\n";
    EXPECT_EQ(all_time(text), all_time(text, {.consumables = {"hpm", "mem", "mpiprocs", "naccelerators",
                                                              "ncpus", "nodect", "ssinodes", "vmem"},
                                              .others = {"place", "select"}}));
}

// The option "resources:" also concerns resources that aren't consumable: pbs_sched ignored those that the
// option doesn't name.
TEST(SchedPolicies, ResourcesThatArentConsumableAreNamedToo) {
    const Surroundings server{{}, {"lic"}, {"color", "gpu"}};
    EXPECT_THAT(
        all_time(
            "resources: \"ncpus, mem, vmem, hpm, ssinodes, naccelerators, mpiprocs, nodect, lic, color\"\n",
            server),
        Contains("exclude_resources = gpu"));
    // boolean resources of vnodes aren't excluded, as OpenPBS always considers them
    const Surroundings booleans{.others = {"big", "color"}, .vnode_booleans = {"big"}};
    EXPECT_THAT(all_time("resources: \"ncpus, mem, vmem, hpm, ssinodes, naccelerators, mpiprocs, nodect\"\n",
                         booleans),
                Contains("exclude_resources = color"));
    EXPECT_THAT(policies("resources: \"ncpus, color, arch\"\nresources: switch\n").checked,
                ElementsAre("color", "switch"));
}

TEST(SchedPolicies, DedicatedPrefixBecomesTheQueues) {
    const Surroundings server{{"workq", "dedtime", "ded2", "p_fast"}, {}};
    EXPECT_THAT(all_time("dedicated_prefix: ded\n", server), Contains("dedicated_queues = ded2,dedtime"));
    EXPECT_THAT(policies("dedicated_prefix: ded\n", server).notes, IsEmpty());
    EXPECT_THAT(all_time("dedicated_prefix: x\n", server), Not(Contains(HasSubstr("dedicated_queues"))));
    EXPECT_THAT(policies("dedicated_prefix: x\n", server).notes,
                ElementsAre(HasSubstr("sched_config:1: dedicated_prefix: no queue's name begins with x")));
    EXPECT_THAT(all_time("dedicated_prefix: \"\"\n", server), Not(Contains(HasSubstr("dedicated_queues"))));
}

TEST(SchedPolicies, PrefixesOfPrimeTimeNameTheirQueues) {
    const Surroundings server{{"workq", "p_fast", "np_slow"}, {}};
    EXPECT_THAT(policies("primetime_prefix: p_\nnonprimetime_prefix: np_\n", server).notes,
                ElementsAre(HasSubstr("execution_type is execution_prime instead, for p_fast"),
                            HasSubstr("execution_type is execution_non_prime instead, for np_slow")));
}

TEST(SchedPolicies, OrdersOfJobs) {
    EXPECT_THAT(all_time("job_sort_key: \"ncpus HIGH\"\njob_sort_key: \"mem LOW\"\n"),
                Contains("job_sort_key = ncpus HIGH,mem LOW"));
    EXPECT_THAT(all_time("sort_by: shortest_job_first\n"), Contains("job_sort_key = cput LOW"));
    EXPECT_THAT(all_time("sort_by: no_sort\n"), Not(Contains(HasSubstr("job_sort_key"))));
    EXPECT_THAT(all_time("key: high_priority_first\nsort_by: multi_sort\nkey: short_walltime_first\n"),
                Contains("job_sort_key = job_priority HIGH,walltime LOW"));
    EXPECT_THAT(all_time("key: high_priority_first\nsort_by: longest_job_first\n"),
                Contains("job_sort_key = cput HIGH"));
    EXPECT_THAT(all_time("sort_nodes: True\n"), Contains("node_sort_key = sort_priority HIGH"));
}

TEST(SchedPolicies, round_robin_OfTorqueTakesAllQueues) {
    const std::string torque = "sort_by: shortest_job_first\tALL\n";
    EXPECT_THAT(all_time(torque + "round_robin: True\tall\n"),
                AllOf(Contains("round_robin = True"), Contains("round_robin_all = True")));
    EXPECT_THAT(all_time("round_robin: True\nignore_queue: slow\n"), Contains("round_robin_all = True"));
    EXPECT_THAT(all_time(torque + "round_robin: False\n"), Not(Contains(HasSubstr("round_robin_all"))));
    EXPECT_THAT(all_time("round_robin: True\njob_sort_key: \"ncpus HIGH\"\n"),
                Not(Contains(HasSubstr("round_robin_all"))));
    const auto by_time = policies(torque + "round_robin: True prime\nround_robin: False non_prime\n");
    EXPECT_THAT(lines(by_time.prime), Contains("round_robin_all = True"));
    EXPECT_THAT(lines(by_time.non_prime), Not(Contains(HasSubstr("round_robin_all"))));
}

TEST(SchedPolicies, FairshareBecomesAGroup) {
    const SchedPolicies made = policies(
        "fair_share: True\nhalf_life: 12:00:00\nfairshare_usage_res: ncpus*walltime\n"
        "fairshare_entity: egroup\nunknown_shares: 10\nfairshare_enforce_no_shares: False\n");
    EXPECT_THAT(lines(made.fs_group),
                ElementsAre("unknown_shares = 10", "usage_formula = ncpus*walltime", "entity = egroup",
                            "decay_time = 12:00:00", "enforce_no_shares = False"));
    const auto values = lines(made.all_time);
    const auto group = std::ranges::find(values, "fairshare_group = group");
    ASSERT_NE(group, values.end());
    EXPECT_EQ(*(group + 1), "fairshare = True") << "the group comes first";
    EXPECT_THAT(lines(policies("fair_share: True\n").fs_group),
                ElementsAre("unknown_shares = 0", "enforce_no_shares = True"))
        << "the old scheduler's defaults";
    EXPECT_THAT(policies("fair_share: False\n").fs_group, IsEmpty());
}

TEST(SchedPolicies, ColumnsBecomeTwoPolicies) {
    const SchedPolicies made = policies(
        "by_queue: True prime\nby_queue: False non_prime\nround_robin: False all\n"
        "job_sort_key: \"ncpus HIGH\" prime\njob_sort_key: \"mem LOW\"\n");
    ASSERT_TRUE(made.by_time());
    EXPECT_THAT(lines(made.prime), AllOf(Contains("by_queue = True"), Contains("round_robin = False"),
                                         Contains("job_sort_key = ncpus HIGH,mem LOW")));
    EXPECT_THAT(lines(made.non_prime),
                AllOf(Contains("by_queue = False"), Contains("job_sort_key = mem LOW")));
    EXPECT_EQ(lines(made.all_time), lines(made.prime)) << "without holidays all time was prime time";
}

TEST(SchedPolicies, EqualColumnsAreOnePolicy) {
    EXPECT_THAT(all_time("by_queue: True prime\nby_queue: True non_prime\n"), Contains("by_queue = True"));
    EXPECT_THAT(all_time("by_queue: False non_prime\n"), Contains("by_queue = False"))
        << "the default of the other column is the same";
}

TEST(SchedPolicies, EveryRemovedOptionSaysWhatToUseInstead) {
    for (const SchedOption& option : sched_options()) {
        if (option.target != SchedTarget::removed) continue;
        for (const char* value : {"True", "4", "pack"}) {
            const std::string line = fmt::format("{}: {}\n", option.name, value);
            if (!parse_sched_config(line, "f").mistakes.empty()) continue;
            EXPECT_THAT(policies(line).notes,
                        Contains(HasSubstr(
                            fmt::format("sched_config:1: {}: is removed: {}", option.name, option.instead))));
        }
    }
}

TEST(SchedPolicies, TheObjectHasTheValues) {
    const auto object = policy_object("sched_config", policies("strict_ordering: True\n").all_time);
    EXPECT_EQ(object.name(), "sched_config");
    EXPECT_TRUE(object.boolean("strict_ordering"));
    EXPECT_FALSE(object.boolean("by_queue"));
    EXPECT_FALSE(object.boolean("preemption"));
}

// ---- The qmgr commands to which a sched_config is converted.

std::string commands(const std::string& text, const Surroundings& server = {}) {
    const auto conversion = convert({.sched_config = file(text)}, server, nullptr);
    EXPECT_TRUE(conversion);
    return to_qmgr(*conversion);
}

TEST(ConvertSchedConfig, AllTime) {
    EXPECT_EQ(commands("by_queue: True\nmom_resources: foo\n"),
              "set policy default_policy by_queue = True\n"
              "set policy default_policy help_starving_jobs = False\n"
              "set policy default_policy preemption = False\n");
}

TEST(ConvertSchedConfig, PrimeAndNonPrimeTime) {
    EXPECT_EQ(commands("strict_ordering: True prime\nfair_share: True non_prime\n"),
              "create fs_group default_fs_group\n"
              "set fs_group default_fs_group unknown_shares = 0\n"
              "set fs_group default_fs_group enforce_no_shares = True\n"
              "set policy default_policy by_queue = False\n"
              "set policy default_policy strict_ordering = True\n"
              "set policy default_policy help_starving_jobs = False\n"
              "set policy default_policy fairshare_group = default_fs_group\n"
              "set policy default_policy preemption = False\n"
              "create policy default_policy_prime\n"
              "set policy default_policy_prime by_queue = False\n"
              "set policy default_policy_prime strict_ordering = True\n"
              "set policy default_policy_prime help_starving_jobs = False\n"
              "set policy default_policy_prime fairshare_group = default_fs_group\n"
              "set policy default_policy_prime preemption = False\n"
              "create policy default_policy_non_prime\n"
              "set policy default_policy_non_prime by_queue = False\n"
              "set policy default_policy_non_prime help_starving_jobs = False\n"
              "set policy default_policy_non_prime fairshare_group = default_fs_group\n"
              "set policy default_policy_non_prime fairshare = True\n"
              "set policy default_policy_non_prime preemption = False\n"
              "set sched default policy = "
              "\"default_policy,p:default_policy_prime,np:default_policy_non_prime\"\n");
}

TEST(ConvertSchedConfig, TheReportHasSourcesAndNotes) {
    const auto conversion =
        convert({.sched_config = file("by_queue: True\nmom_resources: foo\n")}, {}, nullptr);
    const std::string text = to_text(conversion->report);
    EXPECT_THAT(text, HasSubstr("sched_config:1 by_queue -> policy default_policy by_queue = True\n"));
    EXPECT_THAT(text,
                HasSubstr("sched_config preemptive_sched (not set) -> policy default_policy preemption = "
                          "False\n"));
    EXPECT_THAT(text, HasSubstr("note: sched_config:2: mom_resources: is removed: "));
}

// Returns a sched_config with every option, including options that OpenPBS has removed.
std::string everything() {
    std::string text =
        "round_robin: True prime\nby_queue: True\nstrict_ordering: True non_prime\nhelp_starving_jobs: True\n"
        "max_starve: 48:00:00\njob_sort_key: \"ncpus HIGH\" prime\njob_sort_key: \"fair_share_perc LOW\"\n"
        "backfill_prime: True\nprime_exempt_anytime_queues: True\nprime_spill: 2:00:00 non_prime\n"
        "dedicated_prefix: ded\nresources: \"ncpus, mem\"\nnode_sort_key: \"ncpus HIGH unused\"\n"
        "node_sort_key: \"mem LOW\"\nload_balancing: True\nprovision_policy: avoid_provision\n"
        "server_dyn_res: \"mem !/bin/get_mem\"\nfair_share: True\nunknown_shares: 5\n"
        "fairshare_usage_res: \"ncpus*walltime\"\nfairshare_entity: egroup:euser\n"
        "fairshare_decay_time: 6:00:00\nfairshare_decay_factor: 0.8\nfairshare_enforce_no_shares: True\n"
        "preemptive_sched: True\npreempt_queue_prio: 190\npreempt_prio: \"express_queue, normal_jobs\"\n"
        "preempt_order: \"SCR 70 SC 30\"\npreempt_sort: min_time_since_start\nbackfill: False non_prime\n"
        "peer_queue: \"workq workq@svr1\"\nlog_filter: 256\ncpus_per_ssinode: 4\nmem_per_ssinode: 1gb\n";
    for (const SchedOption& option : sched_options())
        if (option.target == SchedTarget::removed)
            text += fmt::format("{}: {}\n", option.name,
                                option.argument == SchedArgument::distribution ? "pack" : "1");
    return text;
}

TEST(ConvertSchedConfig, EveryOptionHoldsInTheStoreAndASecondRunChangesNothing) {
    const Folder folder;
    auto store = objects::Store::open(folder.path("policy.db"), {"UTC", {}}, std::chrono::sys_seconds{});
    ASSERT_TRUE(store) << store.error().message;
    const objects::Identity root{"root", "localhost", objects::manager_privilege};
    EXPECT_FALSE(is_converted(*store->snapshot()));
    const LegacyFiles files{"", "", folder.write("sched_config", everything())};
    const Surroundings server{{"workq", "dedq"}, {"lic"}};
    const auto report = migrate(files, *store, root, {}, server);
    ASSERT_TRUE(report) << testing::PrintToString(texts(report.error()));
    const auto snapshot = store->snapshot();
    EXPECT_TRUE(is_converted(*snapshot));
    EXPECT_EQ(snapshot->policy_slots("default"),
              (objects::PolicySlots{"default_policy", "default_policy_prime", "default_policy_non_prime"}));
    const objects::Object* prime = snapshot->policy("default_policy_prime");
    const objects::Object* non_prime = snapshot->policy("default_policy_non_prime");
    ASSERT_TRUE(prime && non_prime);
    EXPECT_TRUE(prime->boolean("round_robin"));
    EXPECT_FALSE(non_prime->boolean("round_robin"));
    EXPECT_FALSE(prime->boolean("strict_ordering"));
    EXPECT_TRUE(non_prime->boolean("strict_ordering"));
    EXPECT_THAT(prime->list("job_sort_key"), ElementsAre("ncpus HIGH", "fairshare_perc LOW"));
    EXPECT_THAT(non_prime->list("job_sort_key"), ElementsAre("fairshare_perc LOW"));
    EXPECT_EQ(prime->integer("backfill_depth"), 1);
    EXPECT_EQ(non_prime->integer("backfill_depth"), 0);
    EXPECT_EQ(non_prime->seconds("time_window_spill"), std::chrono::hours{2});
    EXPECT_THAT(prime->list("dedicated_queues"), ElementsAre("dedq"));
    EXPECT_THAT(prime->list("exclude_resources"), Contains("lic"));
    EXPECT_EQ(prime->text("preempt_order"), "SCR 70 SC 30");
    EXPECT_EQ(prime->integer("log_event"), 7935);
    EXPECT_EQ(prime->integer("ssinode_cpus"), 4);
    EXPECT_TRUE(prime->boolean("fairshare"));
    const objects::Object* group = snapshot->fs_group(prime->text("fairshare_group"));
    ASSERT_NE(group, nullptr);
    EXPECT_EQ(group->seconds("decay_time"), std::chrono::hours{6});
    EXPECT_DOUBLE_EQ(group->real("decay_factor"), 0.8);
    EXPECT_EQ(group->text("entity"), "egroup:euser");
    EXPECT_EQ(prime->text("provision_policy"), "aggressive_provision");
    EXPECT_THAT(
        report->report.notes,
        Contains(HasSubstr("provision_policy: is left out: this server provisions no vnodes")).Times(1));
    std::size_t removed = 0;
    for (const std::string& note : report->report.notes)
        removed += note.find("is removed") != std::string::npos;
    EXPECT_EQ(removed, static_cast<std::size_t>(
                           std::ranges::count(sched_options(), SchedTarget::removed, &SchedOption::target)));
    const auto second = migrate(files, *store, root, {}, server);
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->report.changed());
    EXPECT_EQ(store->snapshot()->revision(), snapshot->revision());
}

TEST(ConvertSchedConfig, TheFirstStartFindsItUnlessAnOriginFileIsThere) {
    const Folder folder;
    const std::string path = folder.write("sched_priv/sched_config", "by_queue: True\n");
    folder.write("sched_priv/holidays", "weekday 0600 1730\n");
    const LegacyFiles files = find_legacy_files(folder.path("."));
    EXPECT_EQ(files.sched_config, folder.path(".") + "/sched_priv/sched_config");
    EXPECT_EQ(files.config, "");
    EXPECT_EQ(files.holidays, folder.path(".") + "/sched_priv/holidays");
    folder.write("sched_priv/dedicated_time", "");
    EXPECT_EQ(find_legacy_files(folder.path(".")).dedicated_time,
              folder.path(".") + "/sched_priv/dedicated_time");
    folder.write("sched_priv/config", "SUBMIT_QUEUE q\n");
    EXPECT_EQ(find_legacy_files(folder.path(".")).dedicated_time, "");
    EXPECT_EQ(find_legacy_files(folder.path(".")).sched_config, "");
    const Folder other;
    other.write("sched_priv/holidays", "weekday 0600 1730\n");
    EXPECT_TRUE(find_legacy_files(other.path(".")).empty());
}

TEST(ConvertSchedConfig, StrictlyMistakesMigrateNothing) {
    const Folder folder;
    const std::string path = folder.write("sched_config", "by_queue: True\nfoo_bar: 1\nmax_starve: x\n");
    const auto conversion = read_and_convert({"", "", path}, nullptr, {}, {}, {.strict = true});
    ASSERT_FALSE(conversion);
    EXPECT_THAT(texts(conversion.error()),
                ElementsAre(HasSubstr(path + ":2:1: 'foo_bar'"), HasSubstr(path + ":3:13: max_starve")));
}

}  // namespace
}  // namespace pbs::migrate::test
