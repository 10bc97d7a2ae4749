#include "migrate/sched_formula.h"

#include "migrate/convert.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(SchedFormula, AsPbsWritesIt) {
    const SchedFormula file = parse_sched_formula(
        "### PBS INTERNAL FILE DO NOT MODIFY ###\nncpus*walltime +\t5\r\n * job_priority\n", "f");
    EXPECT_EQ(file.formula, "ncpus*walltime + 5 * job_priority");
    EXPECT_EQ(file.line, 2);
    EXPECT_TRUE(file.mistakes.empty());
    EXPECT_EQ(parse_sched_formula("", "f").formula, "");
    EXPECT_EQ(parse_sched_formula("# nothing\n", "f").formula, "");
}

TEST(SchedFormula, BytesThatCantBePrinted) {
    const SchedFormula file = parse_sched_formula("#\nncpus*caf\xc3\xa9\n", "f");
    EXPECT_EQ(file.formula, "");
    ASSERT_EQ(file.mistakes.size(), 1U);
    EXPECT_THAT(note_of(file.mistakes[0]), AllOf(HasSubstr("f:2: the byte 0xc3 stands in 'ncpus*caf?\?'"),
                                                 HasSubstr("; the formula is left out")));
}

TEST(SchedFormula, BecomesThatOfThePoliciesUnlessQmgrPrintedOne) {
    const SchedConfig by_time = parse_sched_config("by_queue: True prime\nby_queue: False non_prime\n", "sc");
    const SchedFormula file = parse_sched_formula("#\nncpus\n", "sched_formula");
    const auto alone = convert({.sched_config = by_time, .sched_formula = file}, {}, nullptr);
    ASSERT_TRUE(alone);
    EXPECT_THAT(to_qmgr(*alone),
                AllOf(HasSubstr("set policy default_policy job_sort_formula = ncpus\n"),
                      HasSubstr("set policy default_policy_prime job_sort_formula = ncpus\n"),
                      HasSubstr("set policy default_policy_non_prime job_sort_formula = ncpus\n")));
    EXPECT_THAT(to_text(alone->report),
                HasSubstr("sched_formula:2 -> policy default_policy job_sort_formula = ncpus\n"));
    const QmgrPrint print = parse_qmgr_print("set server job_sort_formula = mem\n", "print");
    const auto both =
        convert({.sched_config = by_time, .sched_formula = file, .qmgr_print = print}, {}, nullptr);
    ASSERT_TRUE(both);
    EXPECT_THAT(to_qmgr(*both), AllOf(HasSubstr("job_sort_formula = mem\n"), Not(HasSubstr("= ncpus"))));
}

TEST(SchedFormula, NamesThatNobodyKnowsAreNotedOnce) {
    const SchedConfig by_time = parse_sched_config("by_queue: True prime\nby_queue: False non_prime\n", "sc");
    const auto conversion =
        convert({.sched_config = by_time, .sched_formula = parse_sched_formula("ncpus*foo + lic\n", "f")},
                {{}, {"lic"}}, nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_THAT(
        conversion->report.notes,
        testing::Contains("f:1: job_sort_formula: 'foo' is not a known resource, and counts as 0 until "
                          "it is")
            .Times(1));
    EXPECT_THAT(to_text(conversion->report), Not(HasSubstr("'lic'")));
}

}  // namespace
}  // namespace pbs::migrate::test
