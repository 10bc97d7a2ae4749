// Tests files that are exported from the objects, and the notes of an exporter about objects that its file
// can't express.
#include "migrate/export.h"

#include "migrate/sched_policies.h"
#include "objects/snapshot.h"
#include "objects/store.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using objects::CommandKind;
using objects::ObjectType;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::sys_seconds kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 21}};
const objects::Identity kRoot{"root", "localhost", objects::manager_privilege};

class Export : public testing::Test {
  protected:
    void SetUp() override {
        auto opened = objects::Store::open(home_.path("policy.db"), {"UTC", {}}, kNow);
        ASSERT_TRUE(opened);
        store_.emplace(std::move(*opened));
    }
    void set(ObjectType type, const std::string& object, std::vector<objects::AttributeChange> changes) {
        const bool made = type == ObjectType::server || type == ObjectType::sched ||
                          store_->snapshot()->find(type, object) != nullptr;
        if (!made) {
            ASSERT_TRUE(store_->execute({CommandKind::create, type, object, {}}, kRoot, kNow));
        }
        const auto done = store_->execute({CommandKind::set, type, object, std::move(changes)}, kRoot, kNow);
        ASSERT_TRUE(done) << done.error().message;
    }
    void window(const std::string& name, const std::string& rule, const std::string& start,
                const std::string& end, const std::string& type) {
        set(ObjectType::time_window, name,
            {{"rrule", rule}, {"start_time", start}, {"end_time", end}, {"type", type}});
    }
    Exported write(Exported (*exporter)(const ExportSource&)) const {
        const auto snapshot = store_->snapshot();
        return exporter({*snapshot, rrule::Zone::utc(), kNow});
    }

    Folder home_;
    std::optional<objects::Store> store_;
};

TEST_F(Export, AFreshServer) {
    EXPECT_EQ(write(export_sched_config).text,
              "# Made from the policies of the scheduler\nby_queue: True\nhelp_starving_jobs: True\n"
              "preemptive_sched: True\ndedicated_prefix: -none-\nprimetime_prefix: -none-\n"
              "nonprimetime_prefix: -none-\n");
    EXPECT_EQ(write(export_resource_group).text, "# name\tnumber\tparent\tshares\n");
    EXPECT_EQ(write(export_dedicated_time).text, "# From              to\n");
    EXPECT_THAT(write(export_holidays).text, Not(HasSubstr("YEAR\t")));
    EXPECT_THAT(write(export_configfile).left_out, Contains(HasSubstr("algorithm = standard")));
}

// If an option of the earlier file has no attribute, the exporter keeps its line.
TEST_F(Export, OptionsWithoutAnAttributeStayAsTheyWere) {
    const auto snapshot = store_->snapshot();
    ExportSource source{*snapshot, rrule::Zone::utc(), kNow};
    source.before =
        "# dedicated_prefix: no\nprimetime_prefix_of: no\n  primetime_prefix p_\nby_queue: false\n"
        "sort_queues: true prime\nmom_resources: \"a, b\"\nmom_resources: c\n";
    EXPECT_THAT(export_sched_config(source).text,
                testing::EndsWith("preemptive_sched: True\nprimetime_prefix: p_\nsort_queues: True\tprime\n"
                                  "mom_resources: \"a, b\"\nmom_resources: c\ndedicated_prefix: -none-\n"
                                  "nonprimetime_prefix: -none-\n"));
    // If a prefix is missing, pbs_sched takes it for one that every queue's name has. So the exporter writes
    // a prefix that no queue has. A migration must not report that this prefix matches no queue.
    const SchedConfig fresh = parse_sched_config(write(export_sched_config).text, "sched_config");
    const auto policies = to_policies(fresh, {}, "fs");
    ASSERT_TRUE(policies);
    EXPECT_THAT(policies->notes, testing::IsEmpty());
}

// If the earlier file's prefix still matches the same queues, the exporter keeps it, so that it also applies
// to queues that are created later.
TEST_F(Export, ThePrefixOfDedicatedQueuesStaysWhileItChoosesTheSame) {
    set(ObjectType::policy, "default_policy", {{"dedicated_queues", "ded_a,ded_b"}});
    const auto snapshot = store_->snapshot();
    ExportSource source{*snapshot, rrule::Zone::utc(), kNow};
    source.queues = {"ded_a", "ded_b", "workq"};
    source.before = "dedicated_prefix: ded\n";
    EXPECT_THAT(export_sched_config(source).text, HasSubstr("\ndedicated_prefix: ded\n"));
    source.queues = {"ded_a", "ded_b", "ded", "workq"};
    EXPECT_THAT(export_sched_config(source).text, HasSubstr("\ndedicated_prefix: ded_\n"));
}

TEST_F(Export, HoursThatAWeekOfTheFileDoesNotHave) {
    set(ObjectType::server, "", {{"non_work_days", "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH"}});
    window("a", "FREQ=WEEKLY;BYDAY=MO", "06:00:00", "08:00:00", "prime");
    window("b", "FREQ=WEEKLY;BYDAY=MO", "10:00:00", "12:00:30", "prime");
    window("c", "FREQ=MONTHLY;BYMONTHDAY=1", "10:00:00", "12:00:00", "prime");
    const Exported file = write(export_holidays);
    EXPECT_THAT(file.text, AllOf(HasSubstr("YEAR\t2026\n"), HasSubstr("monday\t0600\t0800\n"),
                                 HasSubstr("tuesday\tnone\tall\n"), HasSubstr("330\tNov 26\n")));
    EXPECT_THAT(
        file.left_out,
        AllOf(Contains(HasSubstr("time_window b: the file has whole minutes only")),
              Contains(HasSubstr("time_window c: rrule = FREQ=MONTHLY;BYMONTHDAY=1: the file has days")),
              Contains(
                  HasSubstr("prime time on monday: the file can have one period a day: it has the one from")),
              Contains(HasSubstr("time_window a: applies_on_holidays = True")),
              Contains(HasSubstr("4TH: the file has its days of 2026"))));
}

TEST_F(Export, DedicatedTimesThatGoOn) {
    window("weekly", "FREQ=WEEKLY;BYDAY=SU", "06:00:00", "08:00:00", "dedicated");
    window("once", "RDATE;VALUE=DATE:20300102,20200102", "06:00:00", "05:00:00", "dedicated");
    const Exported file = write(export_dedicated_time);
    EXPECT_THAT(file.text, AllOf(HasSubstr("11/22/2026 06:00 11/22/2026 08:00\n"),
                                 HasSubstr("01/02/2030 06:00 01/03/2030 05:00\n"), Not(HasSubstr("2020"))));
    EXPECT_THAT(file.left_out,
                ElementsAre(HasSubstr("time_window weekly: the file has dates only: it has those up to")));
}

TEST_F(Export, PoliciesThatTheFilesDoNotHave) {
    set(ObjectType::policy, "night",
        {{"backfill_depth", "5"},
         {"log_event", "9000"},
         {"max_starve", "1:00:00"},
         {"server_dyn_res_alarm", "60"}});
    set(ObjectType::policy, "default_policy",
        {{"job_sort_formula", "ncpus"}, {"max_jobs", "3"}, {"server_dyn_res_alarm", "30"}});
    set(ObjectType::sched, "default", {{"policy", "default_policy,np:night"}});
    const Exported file = write(export_sched_config);
    EXPECT_THAT(file.text, AllOf(HasSubstr("backfill: True\tnon_prime\n"), Not(HasSubstr("\tprime\n"))));
    EXPECT_THAT(
        file.left_out,
        AllOf(
            Contains(HasSubstr("policy night backfill_depth = 5: the file has True and False only: set "
                               "server backfill_depth = 5")),
            Contains(HasSubstr("policy night log_event = ")),
            Contains(HasSubstr("policy night max_starve = 01:00:00: max_starve is the same at all times")),
            Contains(HasSubstr(
                "policy default_policy job_sort_formula = ncpus: with PBS it is an attribute of the server")),
            Contains(HasSubstr("policy default_policy max_jobs = 3: the file has no such option")),
            Contains(HasSubstr("policy night server_dyn_res_alarm = 60: the file has no such option")),
            Not(Contains(HasSubstr("server_dyn_res_alarm = 30")))));
    set(ObjectType::policy, "default_policy", {{"algorithm", "origin"}, {"ssinode_cpus", "4"}});
    window("early", "FREQ=DAILY", "06:00:00", "08:00:00", "prime");
    const Exported origin = write(export_configfile);
    EXPECT_THAT(origin.text, AllOf(HasSubstr("MAX_JOBS\t3\n"), Not(HasSubstr("PRIME_TIME"))));
    EXPECT_THAT(
        origin.left_out,
        AllOf(Contains(HasSubstr("sched default policy night: the file has one policy for all times")),
              Contains(HasSubstr("ssinode_cpus = 4: the file has no such option")),
              Contains(HasSubstr("time_window early: prime time in the file has one start and one end"))));
}

TEST_F(Export, TreesComeParentsFirst) {
    set(ObjectType::fs_group, "g", {{"tree_element", "alice:grp=5,grp:root=10,unknown:root=1,x:unknown=2"}});
    set(ObjectType::fs_group, "other", {{"unknown_shares", "1"}});
    set(ObjectType::policy, "default_policy", {{"fairshare_group", "g"}, {"fairshare", "True"}});
    const Exported file = write(export_resource_group);
    EXPECT_EQ(file.text, "# name\tnumber\tparent\tshares\ngrp\t10\troot\t10\nalice\t11\tgrp\t5\n");
    EXPECT_THAT(file.left_out, ElementsAre(HasSubstr("fs_group other: the file can have one tree only"),
                                           HasSubstr("unknown:root=1"), HasSubstr("x:unknown=2")));
}

}  // namespace
}  // namespace pbs::migrate::test
