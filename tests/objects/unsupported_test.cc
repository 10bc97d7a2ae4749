// What is accepted and not acted on is told where it is set.
#include "objects/unsupported.h"

#include <gmock/gmock.h>

#include "objects/restore.h"
#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kDefault =
    "policy p1: preemption, True by default, is not acted on: no job is preempted";

class UnsupportedTest : public StoreTest {};

TEST_F(UnsupportedTest, EveryRowIsOfAnAttribute) {
    for (const Unsupported& row : unsupported_table()) {
        const bool needs_word = row.asks == Asks::element || row.asks == Asks::term ||
                                row.asks == Asks::without || row.asks == Asks::of;
        EXPECT_EQ(needs_word, !row.word.empty()) << row.attribute;
        if (row.attribute.empty()) continue;
        const Attribute* attribute = find_attribute(row.type, row.attribute);
        ASSERT_NE(attribute, nullptr) << row.attribute;
        EXPECT_EQ(attribute->name, row.attribute) << "an alias";
        if (row.asks == Asks::without) {
            EXPECT_NE(find_attribute(row.type, row.word), nullptr) << row.word;
        }
    }
}

TEST_F(UnsupportedTest, ADefaultThatAsksForSomethingIsToldWhenAPolicyIsMadeAndNotAtEverySet) {
    EXPECT_THAT(run("c p p1").warnings, ElementsAre(kDefault));
    EXPECT_THAT(run("s p p1 by_queue=False").warnings, IsEmpty());
    EXPECT_THAT(run("s p p1 preemption=False").warnings, IsEmpty());
    EXPECT_THAT(run("u p p1 preemption").warnings, ElementsAre(kDefault)) << "it holds again";
    EXPECT_THAT(run("c p p2 preemption=False").warnings, IsEmpty());
    EXPECT_THAT(run("c p p3 algorithm=origin").warnings, IsEmpty()) << "Origin has no preemption";
}

TEST_F(UnsupportedTest, IsToldEachTimeItIsSet) {
    run("c f f1");
    const char* line = "policy default_policy: fairshare is not acted on: jobs are not ordered by shares";
    EXPECT_THAT(run("s p default_policy fairshare_group=f1, fairshare=True").warnings, ElementsAre(line));
    EXPECT_THAT(run("s p default_policy FairShare=True").warnings, ElementsAre(line));
    EXPECT_THAT(run("s p default_policy comment=x").warnings, IsEmpty());
    EXPECT_THAT(run("s p default_policy fairshare=False").warnings, IsEmpty());
}

TEST_F(UnsupportedTest, OptionsOfTheOtherAlgorithmAreTold) {
    run("c p p1 preemption=False");
    EXPECT_THAT(run("s p p1 max_jobs=3").warnings,
                ElementsAre("policy p1: max_jobs is not acted on: it is of algorithm origin"));
    EXPECT_THAT(run("s p p1 max_jobs=0, strict_ordering=True").warnings, IsEmpty());
    EXPECT_THAT(run("s p p1 algorithm=origin").warnings,
                ElementsAre("policy p1: strict_ordering is not acted on: it is of algorithm standard"));
    EXPECT_THAT(run("s p p1 max_jobs=3, strict_ordering=False").warnings, IsEmpty());
}

TEST_F(UnsupportedTest, AGroupSaysSoAsAWhole) {
    const char* line = "fs_group f1 is not acted on: jobs are not ordered by shares";
    EXPECT_THAT(run("c f f1").warnings, ElementsAre(line));
    EXPECT_THAT(run("s f f1 decay_time=06:00:00").warnings, IsEmpty());
}

TEST_F(UnsupportedTest, ElementsTermsAndWhatNeedsAnother) {
    EXPECT_THAT(
        run("s p default_policy job_sort_key='ncpus HIGH, preempt_priority HIGH'").warnings,
        ElementsAre("policy default_policy: job_sort_key preempt_priority HIGH is not acted on: no job "
                    "is preempted"));
    EXPECT_THAT(run("s p default_policy job_sort_formula='ncpus+fairshare_perc'").warnings,
                ElementsAre("policy default_policy: fairshare_perc in job_sort_formula counts as 0: jobs are "
                            "not ordered by shares"));
    run("c p o1 algorithm=origin");
    EXPECT_THAT(run("s p o1 sched_host=a").warnings,
                ElementsAre("policy o1: sched_host is not acted on without "
                            "sched_restart_action"));
    EXPECT_THAT(run("s p o1 sched_host=a, sched_restart_action=rerun").warnings, IsEmpty());
    EXPECT_THAT(run("u p o1 sched_restart_action").warnings, SizeIs(1)) << "what is left behind";
}

TEST_F(UnsupportedTest, HoursOfPrimeTimeWhileWindowsRule) {
    EXPECT_THAT(run("s p default_policy prime_time_start=0800, prime_time_end=1700").warnings, IsEmpty());
    run("c t office");
    EXPECT_THAT(run("s p default_policy prime_time_end=1800").warnings, IsEmpty()) << "a standard window";
    run("s t office type=prime, rrule='FREQ=DAILY', start_time=0900, end_time=1700");
    EXPECT_THAT(
        run("s p default_policy prime_time_end=1900, prime_time_start=0700").warnings,
        ElementsAre("policy default_policy: prime_time_end is not acted on: the time_windows of type "
                    "prime say when prime time is (office)",
                    "policy default_policy: prime_time_start is not acted on: the time_windows of type "
                    "prime say when prime time is (office)"));
    EXPECT_THAT(run("s p default_policy by_queue=False").warnings, IsEmpty());
    EXPECT_THAT(run("u p default_policy prime_time_end").warnings, IsEmpty());
    run("d t office");
    EXPECT_THAT(run("s p default_policy prime_time_start=0600").warnings, IsEmpty());
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

TEST_F(UnsupportedTest, StagedCommandsTellToo) {
    const auto done = store_->stage(parse_command("s p default_policy load_balancing=True"), kManager, kNow);
    ASSERT_TRUE(done);
    EXPECT_THAT(done->warnings, ElementsAre(HasSubstr("load_balancing is not acted on")));
    ASSERT_TRUE(store_->commit());
}

TEST_F(UnsupportedTest, ARollbackTellsWhatItBringsBack) {
    run("s p default_policy load_balancing=True");
    const std::uint64_t revision = store_->snapshot()->revision();
    run("s p default_policy load_balancing=False");
    const auto back = restore(*store_, {revision, std::nullopt}, {}, kManager, kNow);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_THAT(back->reply.warnings, Contains(HasSubstr("load_balancing is not acted on")));
}

TEST_F(UnsupportedTest, RemarksForHelpAndManualPages) {
    EXPECT_EQ(unsupported_remark(ObjectType::policy, "fairshare"),
              "Not acted on: jobs are not ordered by shares.");
    EXPECT_EQ(unsupported_remark(ObjectType::policy, "job_sort_key"),
              "Not acted on with fairshare_perc: jobs are not ordered by shares. Not acted on with "
              "preempt_priority: no job is preempted. Acted on with algorithm standard only.");
    EXPECT_EQ(unsupported_remark(ObjectType::policy, "hpm_ctl"), "Not acted on without manage_hpm_counters.");
    EXPECT_EQ(unsupported_remark(ObjectType::policy, "dedicated_queues"), "");
    EXPECT_EQ(unsupported_remark(ObjectType::fs_group, "decay_time"),
              "Not acted on: jobs are not ordered by shares.");
    EXPECT_EQ(unsupported_remark(ObjectType::fs_group, "comment"), "");
}

// ---- Files that the scheduler writes.

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

// As a server of an earlier version left it.
TEST_F(UnsupportedTest, AnOutputFileElsewhereThatIsStoredStaysAndIsTold) {
    Object policy(ObjectType::policy, "p1");
    const Attribute& attribute = *find_attribute(ObjectType::policy, "schedule_log");
    policy.assign(attribute, parse_value(attribute, "/etc/passwd").value());
    EXPECT_THAT(unsupported_lines(policy),
                Contains(HasSubstr("schedule_log is not acted on: '/etc/passwd' is not the name of a file")));
}

}  // namespace
}  // namespace pbs::objects
