#include "ifl/cmds/qmgr_grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "ifl/cmds/host_attributes.h"

namespace pbs::cmds {
namespace {

using testing::ElementsAre;

// A directive on one line: "set policy p1,p2@srv | by_queue = False | a.r += 5".
std::string written(const Directive& directive) {
    std::string text;
    for (const CommandWord& word : command_words()) {
        if (word.command == directive.command) {
            text = word.word;
            break;
        }
    }
    text += fmt::format(" {} ", type_word(directive.type).word);
    for (const ObjectName& name : directive.names) {
        text += name.name + (name.server ? "@" + *name.server : "") + ",";
    }
    for (const Assignment& attribute : directive.attributes) {
        const char* op = attribute.op == Operator::set         ? "="
                         : attribute.op == Operator::increment ? "+="
                         : attribute.op == Operator::decrement ? "-="
                                                               : "unset";
        text += fmt::format("|{}{}{}{}<{}>", attribute.name, attribute.resource.empty() ? "" : ".",
                            attribute.resource, op, attribute.value);
    }
    return text;
}

std::string parsed(std::string_view text) {
    const auto directive = parse_directive(text, is_attribute);
    if (!directive) {
        return fmt::format("{}@{}#{}", directive.error().message,
                           directive.error().offset ? std::to_string(*directive.error().offset) : "",
                           directive.error().status);
    }
    return written(*directive);
}

struct Case {
    const char* text;
    const char* expected;
};

class GoodDirectives : public testing::TestWithParam<Case> {};

TEST_P(GoodDirectives, AreUnderstood) {
    EXPECT_EQ(parsed(GetParam().text), GetParam().expected) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Commands, GoodDirectives,
    testing::Values(Case{"s p p1 by_queue=False, strict_ordering=True",
                         "set policy p1,|by_queue=<False>|strict_ordering=<True>"},
                    Case{"c policy p1", "create policy p1,"}, Case{"c t t1", "create time_windows t1,"},
                    Case{"create time_window t1", "create time_windows t1,"},
                    Case{"c f f1", "create fs_groups f1,"}, Case{"d p p1", "delete policy p1,"},
                    Case{"p s", "print server "}, Case{"l q", "list queues "}, Case{"l sc", "list sched "},
                    Case{"p r", "print resources "}, Case{"p n @default", "print nodes @,"},
                    Case{"p n @active", "print nodes ,"},
                    Case{"l q q1@,",
                         "qmgr: Syntax error: expected the name of one "
                         "server after '@'@6#3"},
                    Case{"a q q1,q2@srv:1501", "active queues q1,q2@srv:1501,"},
                    Case{"active node", "active nodes "},
                    Case{"create queue q1,q2,q3 queue_type=e,enabled = True",
                         "create queues q1,q2,q3,|queue_type=<e>|enabled=<True>"},
                    Case{"create node 7seas", "create nodes 7seas,"}, Case{"l policies", "list policy "},
                    Case{"list time_windows t1", "list time_windows t1,"}));

INSTANTIATE_TEST_SUITE_P(
    NamesAndAttributes, GoodDirectives,
    testing::Values(Case{"set server scheduling=True", "set server |scheduling=<True>"},
                    Case{"set server scheduling = True", "set server |scheduling=<True>"},
                    Case{"set server s1 scheduling = True", "set server s1,|scheduling=<True>"},
                    Case{"set queue @s3 enabled=t", "set queues @s3,|enabled=<t>"},
                    Case{"unset server max_running", "unset server |max_runningunset<>"},
                    Case{"unset queue q1 enabled, started", "unset queues q1,|enabledunset<>|startedunset<>"},
                    Case{"unset server resources_max.ncpus,comment",
                         "unset server |resources_max.ncpusunset<>|commentunset<>"},
                    Case{"u p p1 comment", "unset policy p1,|commentunset<>"},
                    Case{"u p comment", "unset policy |commentunset<>"},
                    Case{"l s state_count", "list server |state_count=<>"},
                    Case{"list node n1 resources_available.ncpus",
                         "list nodes n1,|resources_available.ncpus=<>"},
                    Case{"set server foo=1", "set server |foo=<1>"},
                    Case{"list sched policy", "list sched |policy=<>"}));

INSTANTIATE_TEST_SUITE_P(
    Values, GoodDirectives,
    testing::Values(
        Case{"set sched S policy=p:p1,np:p2", "set sched S,|policy=<p:p1,np:p2>"},
        Case{"set sched S policy = p:p1, np:p2, comment=x", "set sched S,|policy=<p:p1,np:p2>|comment=<x>"},
        Case{"s sched sched1 policy+='p:p1'", "set sched sched1,|policy+=<p:p1>"},
        Case{"s t t1 rrule=\"RRULE:FREQ=WEEKLY;BYDAY=MO,TU\",start_time=0600",
             "set time_windows t1,|rrule=<RRULE:FREQ=WEEKLY;BYDAY=MO,TU>|start_time=<0600>"},
        Case{"s t t1 rrule=FREQ=WEEKLY;BYDAY=MO,TU", "set time_windows t1,|rrule=<FREQ=WEEKLY;BYDAY=MO,TU>"},
        Case{"s p p1 node_sort_key=\"sort_priority HIGH, ncpus HIGH\"",
             "set policy p1,|node_sort_key=<sort_priority HIGH, ncpus HIGH>"},
        Case{"set fs_group f1 tree_element = [ group01:root = 30 ]",
             "set fs_groups f1,|tree_element=<[ group01:root = 30 ]>"},
        Case{"set fs_group f1 tree_element += [a:root=1],[b:root=2], decay_factor = .8",
             "set fs_groups f1,|tree_element+=<[a:root=1],[b:root=2]>|decay_factor=<.8>"},
        Case{"set server max_run=[u:PBS_GENERIC=2], max_queued = [o:PBS_ALL=5]",
             "set server |max_run=<[u:PBS_GENERIC=2]>|max_queued=<[o:PBS_ALL=5]>"},
        Case{"set server comment='it''s'", "set server |comment=<its>"},
        Case{"set server comment=\"it's \"", "set server |comment=<it's >"},
        Case{"set server comment=\"\"", "set server |comment=<>"},
        Case{"set server comment=a'b c'd", "set server |comment=<ab cd>"},
        Case{"set server comment='a\"b'\"'\"'c'", "set server |comment=<a\"b'c>"},
        Case{"set server comment=[x", "set server |comment=<[x>"},
        Case{"set server managers = root@a,+b@c", "set server |managers=<root@a,+b@c>"},
        Case{"set server managers -= root@a", "set server |managers-=<root@a>"},
        Case{"set queue q1@s3 resources_max.mem += 5mb", "set queues q1@s3,|resources_max.mem+=<5mb>"},
        Case{"create resource r1,r2 type=long,flag=nh", "create resources r1,r2,|type=<long>|flag=<nh>"},
        Case{"s p p1 usage_formula=a-=b", "set policy p1,|usage_formula=<a-=b>"}));

class BadDirectives : public testing::TestWithParam<Case> {};

TEST_P(BadDirectives, AreRefusedAtThePlace) {
    EXPECT_EQ(parsed(GetParam().text), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadDirectives,
    testing::Values(
        Case{"frob server", "qmgr: Illegal operation: frob\nTry 'help' if you are having trouble.@#1"},
        Case{"import hook h", "qmgr: import: hooks are not supported here; OpenPBS's own qmgr has them@#1"},
        Case{"set", "qmgr: No object type given@#2"},
        Case{"set host h a=1", "qmgr: Illegal object type: host.@#2"},
        Case{"list hook", "qmgr: hook: hooks are not supported here; OpenPBS's own qmgr has them@#2"},
        Case{"list pbshook", "qmgr: pbshook: hooks are not supported here; OpenPBS's own qmgr has them@#2"},
        Case{"create policy", "qmgr: Syntax error: expected the name of the object to create@13#3"},
        Case{"create policy 1p", "qmgr: Syntax error: '1p' is not a name@14#3"},
        Case{"list queue a,,b", "qmgr: Syntax error: '' is not a name@13#3"},
        Case{"list queue a@b@c", "qmgr: Syntax error: expected the name of one server after '@'@12#3"},
        Case{"set server", "qmgr: Syntax error: expected an attribute@10#4"},
        Case{"set policy p1", "qmgr: Syntax error: expected an attribute@13#4"},
        Case{"set server comment=", "qmgr: Syntax error: expected a value for 'comment'@19#4"},
        Case{"set server s1 comment", "qmgr: Syntax error: expected =, += or -= after 'comment'@21#4"},
        Case{"set server comment=\"abc", "qmgr: Syntax error: no closing quote@19#4"},
        Case{"set server comment=a b",
             "qmgr: Syntax error: expected a comma (quote a value that has blanks)@21#4"},
        Case{"set server a=1,", "qmgr: Syntax error: nothing follows the comma@14#4"},
        Case{"unset queue q1 enabled=1", "qmgr: Syntax error: 'enabled' takes no value here@22#4"},
        Case{"set server resources_max.=1",
             "qmgr: Syntax error: expected the name of a resource after '.'@25#4"},
        Case{"active queue q1 enabled=1", "qmgr: Syntax error: 'enabled' takes no value here@23#4"},
        Case{"delete queue q1 enabled", "qmgr: Syntax error: delete takes no attributes@15#4"},
        Case{"set server comment=\x01", "qmgr: Syntax error: control character@19#4"}));

TEST(ParseDirective, HelpKeepsItsTopic) {
    const auto directive = parse_directive("help  set ", is_attribute);
    ASSERT_TRUE(directive);
    EXPECT_EQ(directive->command, Command::help);
    EXPECT_EQ(directive->topic, "set");
}

TEST(Abbreviations, TakeTheFirstInTheOrderOfPbs) {
    EXPECT_EQ(command_from_word("s"), Command::set);
    EXPECT_EQ(command_from_word("p"), Command::print);
    EXPECT_EQ(command_from_word("h"), Command::help);
    EXPECT_EQ(command_from_word("hi"), Command::history);
    EXPECT_EQ(command_from_word("e"), Command::quit);
    EXPECT_EQ(command_from_word("setx"), std::nullopt);
    EXPECT_EQ(command_from_word(""), std::nullopt);
    EXPECT_EQ(object_type_from_word("s"), ObjectType::server);
    EXPECT_EQ(object_type_from_word("sc"), ObjectType::sched);
    EXPECT_EQ(object_type_from_word("p"), ObjectType::policy);
    EXPECT_EQ(object_type_from_word("t"), ObjectType::time_window);
    EXPECT_EQ(object_type_from_word("f"), ObjectType::fs_group);
    EXPECT_EQ(object_type_from_word("r"), ObjectType::resource);
}

std::vector<std::string> read_all(std::initializer_list<std::string_view> lines) {
    DirectiveReader reader;
    std::vector<std::string> directives;
    for (const std::string_view line : lines) {
        reader.add_line(line);
        while (auto directive = reader.next()) {
            directives.push_back(*directive);
        }
    }
    reader.end_of_input();
    while (auto directive = reader.next()) {
        directives.push_back(*directive);
    }
    return directives;
}

TEST(DirectiveReader, PartsLinesAtSemicolons) {
    EXPECT_THAT(read_all({"create queue a; set queue a enabled=True;;  quit ;"}),
                ElementsAre("create queue a", "set queue a enabled=True", "quit"));
}

TEST(DirectiveReader, LeavesSemicolonsOfValuesAlone) {
    EXPECT_THAT(read_all({"s t t1 rrule=\"RRULE:FREQ=WEEKLY;BYDAY=MO,TU\"; l t"}),
                ElementsAre("s t t1 rrule=\"RRULE:FREQ=WEEKLY;BYDAY=MO,TU\"", "l t"));
    EXPECT_THAT(read_all({"s t t1 rrule=FREQ=WEEKLY;BYDAY=MO,TU;l t"}),
                ElementsAre("s t t1 rrule=FREQ=WEEKLY;BYDAY=MO,TU", "l t"));
    EXPECT_THAT(read_all({"set server comment='a; list server'"}),
                ElementsAre("set server comment='a; list server'"));
}

TEST(DirectiveReader, JoinsLinesThatEndWithABackslash) {
    EXPECT_THAT(
        read_all({"set queue a \\", "# a comment between", "  enabled=True, \\", "started=True", "l q"}),
        ElementsAre("set queue a    enabled=True,  started=True", "l q"));
    EXPECT_THAT(read_all({"list server \\"}), ElementsAre("list server"));
}

TEST(DirectiveReader, TakesCommentsOut) {
    EXPECT_THAT(read_all({"# nothing", "   # nothing", "", "l s # the server; l q", "s s comment=a#b",
                          "s s comment=\"a # b\""}),
                ElementsAre("l s", "s s comment=a#b", "s s comment=\"a # b\""));
}

TEST(DirectiveReader, TakesLinesOfDos) {
    EXPECT_THAT(read_all({"l s\r", "l q \\\r", "q1\r"}), ElementsAre("l s", "l q  q1"));
}

TEST(DirectiveReader, SaysWhenALineGoesOn) {
    DirectiveReader reader;
    reader.add_line("l s \\");
    EXPECT_TRUE(reader.continues());
    EXPECT_FALSE(reader.next());
    reader.add_line("scheduling");
    EXPECT_FALSE(reader.continues());
    EXPECT_EQ(reader.next(), "l s  scheduling");
    EXPECT_FALSE(reader.next());
}

}  // namespace
}  // namespace pbs::cmds
