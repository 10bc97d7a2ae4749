#include "ifl/cmds/qmgr_grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "ifl/cmds/host_attributes.h"

namespace pbs::cmds {
namespace {

using testing::ElementsAre;

// Returns a parsed directive as one line, such as "set policy p1,p2@srv,|by_queue=<False>|a.r+=<5>".
std::string written(const Directive& directive) {
    std::string text;
    for (const CommandWord& word : command_words()) {
        if (word.command == directive.command) {
            text = word.word;
            break;
        }
    }
    text += fmt::format(" {} ", values::type_name(directive.type));
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

struct GrammarCase {
    const char* text;
    const char* expected;
};

class GoodDirectives : public testing::TestWithParam<GrammarCase> {};

TEST_P(GoodDirectives, AreUnderstood) {
    EXPECT_EQ(parsed(GetParam().text), GetParam().expected) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Commands, GoodDirectives,
    testing::Values(GrammarCase{"s p p1 by_queue=False, strict_ordering=True",
                                "set policy p1,|by_queue=<False>|strict_ordering=<True>"},
                    GrammarCase{"c policy p1", "create policy p1,"},
                    GrammarCase{"c t t1", "create time_window t1,"},
                    GrammarCase{"create time_window t1", "create time_window t1,"},
                    GrammarCase{"c f f1", "create fs_group f1,"}, GrammarCase{"d p p1", "delete policy p1,"},
                    GrammarCase{"p s", "print server "}, GrammarCase{"l q", "list queue "},
                    GrammarCase{"l sc", "list sched "}, GrammarCase{"p r", "print resource "},
                    GrammarCase{"p n @default", "print node @,"}, GrammarCase{"p n @active", "print node ,"},
                    GrammarCase{"l q q1@,",
                                "qmgr: Syntax error: expected the name of one "
                                "server after '@'@6#3"},
                    GrammarCase{"a q q1,q2@srv:1501", "active queue q1,q2@srv:1501,"},
                    GrammarCase{"active node", "active node "},
                    GrammarCase{"create queue q1,q2,q3 queue_type=e,enabled = True",
                                "create queue q1,q2,q3,|queue_type=<e>|enabled=<True>"},
                    GrammarCase{"create node 7seas", "create node 7seas,"},
                    GrammarCase{"l policies", "list policy "},
                    GrammarCase{"list time_windows t1", "list time_window t1,"}));

INSTANTIATE_TEST_SUITE_P(
    NamesAndAttributes, GoodDirectives,
    testing::Values(
        GrammarCase{"set server scheduling=True", "set server |scheduling=<True>"},
        GrammarCase{"set server scheduling = True", "set server |scheduling=<True>"},
        GrammarCase{"set server s1 scheduling = True", "set server s1,|scheduling=<True>"},
        GrammarCase{"set queue @s3 enabled=t", "set queue @s3,|enabled=<t>"},
        GrammarCase{"unset server max_running", "unset server |max_runningunset<>"},
        GrammarCase{"unset queue q1 enabled, started", "unset queue q1,|enabledunset<>|startedunset<>"},
        GrammarCase{"unset server resources_max.ncpus,comment",
                    "unset server |resources_max.ncpusunset<>|commentunset<>"},
        GrammarCase{"u p p1 comment", "unset policy p1,|commentunset<>"},
        GrammarCase{"u p comment", "unset policy |commentunset<>"},
        GrammarCase{"l s state_count", "list server |state_count=<>"},
        GrammarCase{"list node n1 resources_available.ncpus", "list node n1,|resources_available.ncpus=<>"},
        GrammarCase{"set server foo=1", "set server |foo=<1>"},
        GrammarCase{"list sched policy", "list sched |policy=<>"}));

INSTANTIATE_TEST_SUITE_P(
    Values, GoodDirectives,
    testing::Values(
        GrammarCase{"set sched S policy=p:p1,np:p2", "set sched S,|policy=<p:p1,np:p2>"},
        GrammarCase{"set sched S policy = p:p1, np:p2, comment=x",
                    "set sched S,|policy=<p:p1,np:p2>|comment=<x>"},
        GrammarCase{"s sched sched1 policy+='p:p1'", "set sched sched1,|policy+=<p:p1>"},
        GrammarCase{"s t t1 rrule=\"RRULE:FREQ=WEEKLY;BYDAY=MO,TU\",start_time=0600",
                    "set time_window t1,|rrule=<RRULE:FREQ=WEEKLY;BYDAY=MO,TU>|start_time=<0600>"},
        GrammarCase{"s t t1 rrule=FREQ=WEEKLY;BYDAY=MO,TU",
                    "set time_window t1,|rrule=<FREQ=WEEKLY;BYDAY=MO,TU>"},
        GrammarCase{"s p p1 node_sort_key=\"sort_priority HIGH, ncpus HIGH\"",
                    "set policy p1,|node_sort_key=<sort_priority HIGH, ncpus HIGH>"},
        GrammarCase{"set fs_group f1 tree_element = [ group01:root = 30 ]",
                    "set fs_group f1,|tree_element=<[ group01:root = 30 ]>"},
        GrammarCase{"set fs_group f1 tree_element += [a:root=1],[b:root=2], decay_factor = .8",
                    "set fs_group f1,|tree_element+=<[a:root=1],[b:root=2]>|decay_factor=<.8>"},
        GrammarCase{"set server max_run=[u:PBS_GENERIC=2], max_queued = [o:PBS_ALL=5]",
                    "set server |max_run=<[u:PBS_GENERIC=2]>|max_queued=<[o:PBS_ALL=5]>"},
        GrammarCase{"set server comment='it''s'", "set server |comment=<its>"},
        GrammarCase{"set server comment=\"it's \"", "set server |comment=<it's >"},
        GrammarCase{"set server comment=\"\"", "set server |comment=<>"},
        GrammarCase{"set server comment=a'b c'd", "set server |comment=<ab cd>"},
        GrammarCase{"set server comment='a\"b'\"'\"'c'", "set server |comment=<a\"b'c>"},
        GrammarCase{"set server comment=[x", "set server |comment=<[x>"},
        GrammarCase{"set server managers = root@a,+b@c", "set server |managers=<root@a,+b@c>"},
        GrammarCase{"set server managers -= root@a", "set server |managers-=<root@a>"},
        GrammarCase{"set queue q1@s3 resources_max.mem += 5mb", "set queue q1@s3,|resources_max.mem+=<5mb>"},
        GrammarCase{"create resource r1,r2 type=long,flag=nh",
                    "create resource r1,r2,|type=<long>|flag=<nh>"},
        GrammarCase{"s p p1 usage_formula=a-=b", "set policy p1,|usage_formula=<a-=b>"}));

class BadDirectives : public testing::TestWithParam<GrammarCase> {};

TEST_P(BadDirectives, AreRefusedAtThePlace) {
    EXPECT_EQ(parsed(GetParam().text), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadDirectives,
    testing::Values(
        GrammarCase{"frob server", "qmgr: Illegal operation: frob\nTry 'help' if you are having trouble.@#1"},
        GrammarCase{"import hook h",
                    "qmgr: import: hooks are not supported here; OpenPBS's own qmgr has them@#1"},
        GrammarCase{"set", "qmgr: No object type given@#2"},
        GrammarCase{"set host h a=1", "qmgr: Illegal object type: host.@#2"},
        GrammarCase{"list hook", "qmgr: hook: hooks are not supported here; OpenPBS's own qmgr has them@#2"},
        GrammarCase{"list pbshook",
                    "qmgr: pbshook: hooks are not supported here; OpenPBS's own qmgr has them@#2"},
        GrammarCase{"create policy", "qmgr: Syntax error: expected the name of the object to create@13#3"},
        GrammarCase{"create policy 1p", "qmgr: Syntax error: '1p' is not a name@14#3"},
        GrammarCase{"list queue a,,b", "qmgr: Syntax error: '' is not a name@13#3"},
        GrammarCase{"list queue a@b@c", "qmgr: Syntax error: expected the name of one server after '@'@12#3"},
        GrammarCase{"set server", "qmgr: Syntax error: expected an attribute@10#4"},
        GrammarCase{"set policy p1", "qmgr: Syntax error: expected an attribute@13#4"},
        GrammarCase{"set server comment=", "qmgr: Syntax error: expected a value for 'comment'@19#4"},
        GrammarCase{"set server s1 comment", "qmgr: Syntax error: expected =, += or -= after 'comment'@21#4"},
        GrammarCase{"set server comment=\"abc", "qmgr: Syntax error: no closing quote@19#4"},
        GrammarCase{"set server comment=a b",
                    "qmgr: Syntax error: expected a comma (quote a value that has blanks)@21#4"},
        GrammarCase{"set server a=1,", "qmgr: Syntax error: nothing follows the comma@14#4"},
        GrammarCase{"set queue q a=,,b=1", "qmgr: Syntax error: nothing stands between the commas@15#4"},
        GrammarCase{"set node n2 = 2", "qmgr: Syntax error: expected the name of an attribute@12#4"},
        GrammarCase{"unset queue q1 enabled=1", "qmgr: Syntax error: 'enabled' takes no value here@22#4"},
        GrammarCase{"set server resources_max.=1",
                    "qmgr: Syntax error: expected the name of a resource after '.'@25#4"},
        GrammarCase{"active queue q1 enabled=1", "qmgr: Syntax error: 'enabled' takes no value here@23#4"},
        GrammarCase{"delete queue q1 enabled", "qmgr: Syntax error: delete takes no attributes@15#4"},
        GrammarCase{"set server comment=\x01", "qmgr: Syntax error: control character@19#4"}));

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
