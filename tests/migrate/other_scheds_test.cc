// Converts the files of another scheduler than `default`. Its objects get names that begin with the
// scheduler's.
#include "migrate/other_scheds.h"

#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using objects::CommandKind;
using objects::ObjectType;
using testing::HasSubstr;
using testing::Not;

TEST(OtherScheds, HaveObjectsOfTheirName) {
    Legacy files;
    files.sched_config =
        parse_sched_config("by_queue: False prime\nby_queue: True non_prime\n", "sched_config");
    files.resource_group = parse_resource_group("default_users 10 root 5\n", "resource_group");
    const auto made = convert(files, {}, nullptr);
    ASSERT_TRUE(made);
    const Conversion other = of_sched(*made, "s2");
    EXPECT_EQ(other.changes.commands.front().kind, CommandKind::create);
    EXPECT_EQ(other.changes.commands.front().object, "s2_policy");
    const std::string text = to_qmgr(other);
    EXPECT_THAT(text, HasSubstr("create policy s2_policy_prime"));
    EXPECT_THAT(text,
                HasSubstr("set sched s2 policy = \"s2_policy,p:s2_policy_prime,np:s2_policy_non_prime\""));
    EXPECT_THAT(text, HasSubstr("set policy s2_policy fairshare_group = s2_fs_group"));
    // `default_users` isn't renamed, as it only begins like a renamed object.
    EXPECT_THAT(text, HasSubstr("default_users"));
    EXPECT_THAT(text, Not(HasSubstr("default_policy")));
    EXPECT_TRUE(other.ledger.lines.empty());
}

TEST(OtherScheds, GetTheirPolicyWhereTheFileHasOne) {
    Legacy files;
    files.sched_config = parse_sched_config("by_queue: False\n", "sched_config");
    const Conversion other = of_sched(*convert(files, {}, nullptr), "s2");
    const objects::Command& last = other.changes.commands.back();
    EXPECT_EQ(last.type, ObjectType::sched);
    EXPECT_EQ(last.object, "s2");
    EXPECT_EQ(last.changes.front().value, "s2_policy");
}

}  // namespace
}  // namespace pbs::migrate::test
