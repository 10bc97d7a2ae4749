#include "objects/quota_rule.h"

#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

QuotaRule rule(const std::string& text) {
    auto parsed = parse_quota_rule("r: " + text);
    EXPECT_TRUE(parsed) << text << ": " << parsed.error();
    return parsed ? *std::move(parsed) : QuotaRule{};
}

TEST(QuotaRules, AreReadAndWritten) {
    for (const char* text :
         {"to jobs=1", "users={*} to ncpus=4", "users={*,!root} queues=a,b to ncpus=4,mem=2gb",
          "groups=@x projects=!* vnodes={rack:b*} shapes=!multi to walltime=10:00:00",
          "vnodes={*} to ncpus=(max(ncpus, 2) * 2),jobs=(ncpus)",
          "vnodes=n1 shapes=array to mem=(mem // 2)"}) {
        EXPECT_EQ(rule(text).text(), text);
        EXPECT_EQ(rule(rule(text).text()), rule(text));
    }
    EXPECT_EQ(rule("  queues=q   users={u1}  to  ncpus = 4 , mem=2gb").text(),
              "users={u1} queues=q to ncpus=4,mem=2gb");
    EXPECT_EQ(quota_rule_name("guests: to jobs=1"), "guests");
}

TEST(QuotaRules, MatchByPatternsAndExclusions) {
    const auto has = [](const std::string& list, const std::string& name) {
        const QuotaRule made = rule("users=" + list + " to jobs=1");
        return made.filter(QuotaSubject::users)->has([&](const std::string& pattern) {
            return matches_pattern(pattern, name);
        });
    };
    EXPECT_TRUE(has("a*,!ab", "ac"));
    EXPECT_FALSE(has("a*,!ab", "ab"));
    EXPECT_FALSE(has("a*,!ab", "b"));
    EXPECT_TRUE(has("!ab", "b"));
    EXPECT_TRUE(has("u[1-3]", "u2"));
    EXPECT_FALSE(has("u?", "u"));
}

TEST(QuotaRules, KnowWhatTheyCover) {
    const auto covers = [](const char* one, const char* other) { return rule(one).covers(rule(other)); };
    EXPECT_TRUE(covers("to jobs=1", "users={a} queues=q to jobs=2"));
    EXPECT_TRUE(covers("users={*} to jobs=1", "users=a to jobs=2"));
    EXPECT_TRUE(covers("users=a,b to jobs=1", "users=b queues=q to jobs=2"));
    EXPECT_FALSE(covers("users=a to jobs=1", "users=a,b to jobs=2"));
    EXPECT_FALSE(covers("users=a to jobs=1", "queues=q to jobs=2"));
    EXPECT_FALSE(covers("queues=q to jobs=1", "users=a to jobs=2"));
    EXPECT_FALSE(covers("users=*,!a to jobs=1", "users=b to jobs=2"));
    EXPECT_FALSE(covers("projects={*} to jobs=1", "users=b to jobs=2")) << "jobs without a project";
}

class QuotaObjects : public StoreTest {
  protected:
    Command with_rule(const std::string& name, const std::string& text, CommandKind kind = CommandKind::set) {
        Command command{kind, ObjectType::quota, "q1"};
        command.changes.push_back({"rule", text, Operation::set, name});
        return command;
    }
    Result<Reply> give(const Command& command) {
        return store_->apply({{command}}, Identity{"admin", "host", manager_privilege},
                             std::chrono::sys_seconds{});
    }
    std::vector<std::string> rules() {
        const auto list = store_->snapshot()->find(ObjectType::quota, "q1")->list("rule");
        return {list.begin(), list.end()};
    }
};

TEST_F(QuotaObjects, RefuseLimitsThatAreNone) {
    run("c quota q1");
    store_->define_resource("ncpus", values::ResourceKind::integer);
    store_->define_resource("mem", values::ResourceKind::size);
    store_->define_resource("arch", values::ResourceKind::string);
    const auto refused = [&](const std::string& text) {
        const auto done = give(with_rule("a", text));
        return done ? std::string() : done.error().message;
    };
    EXPECT_THAT(refused("users={*} to ncpus=four"),
                HasSubstr("column 14: found 'ncpus=four', expected a whole number"));
    EXPECT_THAT(refused("to jobs=1,mem=4 gb"), HasSubstr("column 11: found 'mem=4 gb'"));
    EXPECT_THAT(refused("to jobs=1,mem=4xb"), HasSubstr("column 11: found 'mem=4xb', expected a size"));
    EXPECT_THAT(refused("to jobs=1,nothing=4"), HasSubstr("column 11: 'nothing' is not a resource"));
    EXPECT_THAT(refused("vnodes={*} to ncpus=(ncpus *)"), HasSubstr("column 29: "));
    EXPECT_THAT(refused("vnodes={*} to ncpus=(nothing * 2)"), HasSubstr("column 15: 'nothing' is not"));
    EXPECT_THAT(refused("vnodes={*} to arch=(ncpus)"),
                HasSubstr("column 15: found 'arch=(ncpus)', expected a text"));
    for (const char* vnodes : {"", "vnodes=* ", "vnodes=n1,n2 ", "vnodes=rack:b1 "})
        EXPECT_THAT(refused(std::string(vnodes) + "to ncpus=(ncpus * 2)"),
                    HasSubstr("a formula needs vnodes in braces, or one vnode"));
    EXPECT_THAT(rules(), IsEmpty());
    EXPECT_EQ(refused("vnodes={*} to ncpus=(ncpus * 2),mem=4gb"), "");
}

TEST_F(QuotaObjects, RefuseVeryLongRules) {
    run("c quota q1");
    const std::string longest = "users=" + std::string(65536 - 16, 'u') + " to jobs=1";
    EXPECT_TRUE(give(with_rule("a", longest)));
    const auto refused = give(with_rule("b", longest + "1"));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                HasSubstr("the value is 65537 characters long; at most 65536 are allowed"));
}

TEST_F(QuotaObjects, RefuseControlCharacters) {
    using namespace std::string_literals;
    run("c quota q1");
    for (const std::string& text : {"users=x\0y to jobs=3"s, "users=x\x01y to jobs=3"s,
                                    "users=x to jobs=3\x7f"s, "vnodes=n1 to jobs=(1\n+\x1b 1)"s}) {
        const auto done = give(with_rule("a", text));
        EXPECT_FALSE(done) << text;
    }
    const auto refused = give(with_rule("a", "users=x\0y to jobs=3"s));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                HasSubstr("rule.a: the character in column 8 is a control character, expected none"));
    EXPECT_TRUE(give(with_rule("a", "users=x\n to\tjobs=3")));
    EXPECT_THAT(rules(), ElementsAre("a: users=x to jobs=3"));
}

TEST_F(QuotaObjects, KeepARuleAtItsPlace) {
    run("c quota q1");
    ASSERT_TRUE(give(with_rule("a", "users={*} to ncpus=4")));
    ASSERT_TRUE(give(with_rule("b", "to jobs=9")));
    ASSERT_TRUE(give(with_rule("a", "users={*} to ncpus=5")));
    EXPECT_THAT(rules(), ElementsAre("a: users={*} to ncpus=5", "b: to jobs=9"));
    ASSERT_TRUE(give(with_rule("a", "", CommandKind::unset)));
    EXPECT_THAT(rules(), ElementsAre("b: to jobs=9"));
    ASSERT_TRUE(give(with_rule("b", "", CommandKind::unset)));
    EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(QuotaObjects, RefuseAnotherOperator) {
    run("c quota q1");
    Command command = with_rule("a", "to jobs=1");
    command.changes[0].operation = Operation::increment;
    const auto refused = give(command);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("rule.a: += and -= aren't possible"));
    command.changes[0] = {"spill", "True", Operation::set, "a"};
    EXPECT_THAT(give(command).error().message, HasSubstr("spill is one value, expected no '.a'"));
}

TEST(QuotaRules, TellWhatMatchesNothing) {
    EXPECT_EQ(rule("users=a,[!a]*,[^a],[]x],@staff vnodes=rack:b* shapes=m* to jobs=1").futile_element(), "");
    EXPECT_EQ(rule("users=a,[a to jobs=1").futile_element(),
              "column 9: '[a' matches nothing: expected ] behind [");
    EXPECT_EQ(rule("users=a,!@ to jobs=1").futile_element(),
              "column 10: '@' matches nothing: expected the name of a group behind it");
    EXPECT_EQ(rule("vnodes={host:} to jobs=1").futile_element(),
              "column 9: 'host:' matches nothing: expected RESOURCE:VALUE");
    EXPECT_EQ(rule("vnodes=:n7 to jobs=1").futile_element(),
              "column 8: ':n7' matches nothing: expected RESOURCE:VALUE");
    EXPECT_EQ(rule("shapes=f* to jobs=1").futile_element(),
              "column 8: 'f*' matches none of array, interactive, multi, single");
    EXPECT_TRUE(matches_pattern("[!a]*", "bob"));
    EXPECT_FALSE(matches_pattern("[!a]*", "ann"));
    EXPECT_FALSE(parse_quota_rule("r: users=b!a to jobs=1"));
}

TEST(QuotaRules, ChangeOneByOneAndInTheirOrder) {
    const auto changes = [](const std::vector<std::string>& before, const std::vector<std::string>& after) {
        std::string all;
        const QuotaRuleChanges found = quota_rule_changes(before, after);
        for (const QuotaRuleChange& one : found.rules)
            all += one.name + ": " + one.before.value_or("-") + " > " + one.after.value_or("-") + "; ";
        return all + (found.reordered ? "reordered" : "");
    };
    EXPECT_EQ(changes({"a: to jobs=1", "b: to jobs=2"}, {"a: to jobs=1", "b: to jobs=3", "c: to jobs=4"}),
              "b: to jobs=2 > to jobs=3; c: - > to jobs=4; ");
    EXPECT_EQ(changes({"a: to jobs=1", "b: to jobs=2"}, {"b: to jobs=2"}), "a: to jobs=1 > -; ");
    EXPECT_EQ(changes({"a: to jobs=1", "b: to jobs=2"}, {"b: to jobs=2", "a: to jobs=1"}), "reordered");
    EXPECT_EQ(changes({"a: to jobs=1"}, {"c: to jobs=4", "a: to jobs=1"}), "c: - > to jobs=4; reordered");
    EXPECT_EQ(changes({}, {"a: to jobs=1"}), "a: - > to jobs=1; ");
    EXPECT_EQ(quota_rule_names({"a: to jobs=1", "b: to jobs=2"}), "a,b");
}

TEST_F(QuotaObjects, NameTheRuleAndTheColumnOfAMistake) {
    run("c quota q1");
    const auto refused = [&](const Command& command) {
        const auto done = give(command);
        return done ? std::string() : done.error().message;
    };
    EXPECT_EQ(refused(with_rule("x", "users=a queues=workq,nosuch to jobs=1")),
              "quota q1: rule.x: bad value 'users=a queues=workq,nosuch to jobs=1': column 22: there is no "
              "queue 'nosuch'");
    EXPECT_THAT(refused(with_rule("x", "vnodes={!nosuch:x} to jobs=1")),
                HasSubstr("rule.x: bad value 'vnodes={!nosuch:x} to jobs=1': column 10: 'nosuch' is not a "
                          "resource"));
    EXPECT_THAT(refused(with_rule("x", "users=@ to jobs=1")),
                HasSubstr("rule.x: bad value 'users=@ to jobs=1': "
                          "column 7: '@' matches nothing"));
    EXPECT_EQ(refused(with_rule("nosuch", "", CommandKind::unset)),
              "quota q1: rule.nosuch: there is no rule of this name");
    std::string sum = "1";
    for (int i = 0; i < 500; ++i) sum += "+1";
    EXPECT_THAT(
        refused(with_rule("x", "vnodes={*} to jobs=(" + sum + ")")),
        HasSubstr("column 20: the formula has 1001 names, numbers, operators and calls; at most 1000"));
    EXPECT_EQ(refused(with_rule("x", "vnodes={*} to jobs=(" + sum.substr(2) + ")")), "");
}

TEST_F(QuotaObjects, HaveWindowsOfTypeStandard) {
    run("c t day rrule=FREQ=DAILY, type=prime");
    run("c t office rrule=FREQ=DAILY");
    run("c quota q1");
    EXPECT_EQ(
        this->refused("s quota q1 time_window=day").message,
        "quota q1: time_window: bad value 'day': the time_window is of type prime, expected one of type "
        "standard");
    run("s quota q1 time_window=office");
    EXPECT_EQ(
        this->refused("s t office type=dedicated").message,
        "time_window office: type: bad value 'dedicated': quota q1 has this time_window, expected standard");
    run("u quota q1 time_window");
    run("s t office type=dedicated");
}

}  // namespace
}  // namespace pbs::objects
