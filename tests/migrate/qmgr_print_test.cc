#include "migrate/qmgr_print.h"

#include "migrate/convert.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

QmgrPrint parsed(const std::string& text) {
    auto file = parse_qmgr_print(text, "print");
    EXPECT_TRUE(file) << testing::PrintToString(texts(file.error()));
    return file.value_or(QmgrPrint{});
}

std::vector<std::string> problems(const std::string& text) {
    const auto file = parse_qmgr_print(text, "print");
    return file ? std::vector<std::string>{} : texts(file.error());
}

std::vector<std::string> queues(const std::string& text) {
    std::vector<std::string> out;
    for (const PrintedQueue& queue : parsed(text).queues)
        out.push_back(queue.name + (queue.route ? " route" : "") +
                      (queue.execution_type.empty() ? "" : " " + queue.execution_type));
    return out;
}

// As qmgr writes it.
const std::string kPrint =
    "#\n# Create resources and set their properties.\n#\n#\n# Create and define resource lic\n#\n"
    "create resource lic\nset resource lic type = long\nset resource lic flag = q\n"
    "create resource color\nset resource color type = string\nset resource color flag = h\n"
    "#\n# Create queues and set their attributes.\n#\n#\n# Create and define queue workq\n#\n"
    "create queue workq\nset queue workq queue_type = Execution\nset queue workq enabled = True\n"
    "create queue p_fast\nset queue p_fast queue_type = Execution\n"
    "create queue np_slow\nset queue np_slow queue_type = Execution\n"
    "create queue ded1\nset queue ded1 queue_type = Execution\n"
    "create queue np_in\nset queue np_in queue_type = Route\n"
    "set queue np_in route_destinations = workq\nset queue np_in route_destinations += np_slow\n"
    "#\n# Set server attributes.\n#\nset server scheduling = True\n"
    "set server managers = root@*,alice@*.example.org\nset server backfill_depth = 3\n"
    "set server job_sort_formula = \"ncpus * walltime, 5 # not a comment\"\n";

TEST(QmgrPrint, WhatQmgrWrites) {
    const QmgrPrint file = parsed(kPrint);
    EXPECT_THAT(queues(kPrint), ElementsAre("workq", "p_fast", "np_slow", "ded1", "np_in route"));
    EXPECT_THAT(file.consumables, ElementsAre("lic"));
    ASSERT_TRUE(file.backfill_depth);
    EXPECT_EQ(file.backfill_depth->value, "3");
    ASSERT_TRUE(file.job_sort_formula);
    EXPECT_EQ(file.job_sort_formula->value, "ncpus * walltime, 5 # not a comment");
}

TEST(QmgrPrint, LinesOfAnyKind) {
    EXPECT_THAT(queues("c q a queue_type=r, enabled=True\r\ns q b queue_type = execution_prime\n\n\tc q c"),
                ElementsAre("a route", "b execution_prime", "c"));
    EXPECT_THAT(queues("create queue \\\n  a\nset queue a execution_type = execution_dedicated # now\n"),
                ElementsAre("a execution_dedicated"));
    EXPECT_EQ(parsed("s s backfill_depth=1,job_sort_formula='x'\nset server backfill_depth = 2\n")
                  .backfill_depth->value,
              "2");
    EXPECT_THAT(queues("create node n1\nset node n1 state = free\nactive server\nset hook h type = site\n"),
                IsEmpty());
    EXPECT_EQ(parsed("set server backfill_depth = 4, job_sort_formula = \"a\"\n").job_sort_formula->line, 1);
}

TEST(QmgrPrint, AllMistakesAreReported) {
    EXPECT_THAT(problems("frobnicate queue a\ncreate queue 'a\nset queue a queue_type\n"
                         "set server backfill_depth = many\nset server comment = \"open\ncreate queue\n"
                         "create resource 1x\ncreate\n"),
                ElementsAre(HasSubstr("print:1:1: 'frobnicate' is no command of qmgr"),
                            HasSubstr("print:2:14: ''a' is no name of a queue"),
                            HasSubstr("print:3:23: queue_type: expected an attribute, = and a value"),
                            HasSubstr("print:4:29: backfill_depth: 'many' is no depth"),
                            HasSubstr("print:5:22: comment: the quote isn't closed"),
                            HasSubstr("print:6:13: queue: expected the name of a queue"),
                            HasSubstr("print:7:17: '1x' is no name of a resource"),
                            HasSubstr("print:8:7: create: expected a type of object")));
}

std::string commands(const Legacy& files, const Surroundings& server = {}) {
    const auto conversion = convert(files, server, nullptr);
    EXPECT_TRUE(conversion) << testing::PrintToString(texts(conversion.error()));
    return conversion ? to_qmgr(*conversion) : "";
}

TEST(QmgrPrint, DepthAndFormulaBecomeThePolicys) {
    const std::string text = "set server backfill_depth = 3\nset server job_sort_formula = ncpus\n";
    EXPECT_EQ(commands({.qmgr_print = parsed(text)}),
              "set policy default_policy backfill_depth = 3\n"
              "set policy default_policy job_sort_formula = ncpus\n");
    const SchedConfig by_time =
        *parse_sched_config("by_queue: True prime\nby_queue: False non_prime\n", "sc");
    EXPECT_THAT(commands({.sched_config = by_time, .qmgr_print = parsed(text)}),
                AllOf(HasSubstr("set policy default_policy backfill_depth = 3\n"),
                      HasSubstr("set policy default_policy_prime backfill_depth = 3\n"),
                      HasSubstr("set policy default_policy_non_prime job_sort_formula = ncpus\n")));
    const SchedConfig no_backfill = *parse_sched_config("backfill: False\n", "sc");
    EXPECT_THAT(commands({.sched_config = no_backfill, .qmgr_print = parsed(text)}),
                AllOf(HasSubstr("backfill_depth = 0\n"), Not(HasSubstr("backfill_depth = 3"))));
}

TEST(QueueTypes, OfThePrintByTheUsualPrefixes) {
    EXPECT_THAT(commands({.qmgr_print = parsed(kPrint)}),
                AllOf(HasSubstr("set queue ded1 queue_type = execution_dedicated\n"
                                "set queue np_slow queue_type = execution_non_prime\n"
                                "set queue p_fast queue_type = execution_prime\n"),
                      Not(HasSubstr("np_in")), Not(HasSubstr("workq"))));
}

TEST(QueueTypes, OfTheServerByThePrefixesOfSchedConfig) {
    const SchedConfig file = *parse_sched_config(
        "primetime_prefix: day\nnonprimetime_prefix: night\ndedicated_prefix: \"\"\n", "sched_config");
    const auto conversion =
        convert({.sched_config = file}, {{"day1", "night", "p_other", "ded1"}, {}}, nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_THAT(conversion->queue_types, ElementsAre(QueueType{"day1", "", "execution_prime"},
                                                     QueueType{"night", "", "execution_non_prime"}));
    EXPECT_THAT(
        to_text(conversion->report),
        HasSubstr("sched_config:1 primetime_prefix -> queue day1 execution_type = execution_prime\n"));
}

TEST(QueueTypes, WhatTheOlderServerSaidItselfComesFirst) {
    const auto conversion = convert(
        {.qmgr_print = parsed("create queue p_a queue_type = e, execution_type = execution_dedicated\n")}, {},
        nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_THAT(conversion->queue_types, ElementsAre(QueueType{"p_a", "", "execution_dedicated"}));
}

TEST(QueueTypes, AreKeptAsText) {
    const std::vector<QueueType> types{{"a", "", "execution_prime"}, {"b", "execution_prime", ""}};
    EXPECT_EQ(queue_types_from_text(to_text(types)), types);
    EXPECT_THAT(queue_types_from_text("nonsense\n\na\tb\n"), IsEmpty());
    // What was never done needs no taking back.
    EXPECT_THAT(merged({{"a", "", "execution_prime"}}, {{"a", "execution_prime", ""}}), IsEmpty());
    EXPECT_THAT(merged({{"a", "", "execution_prime"}}, {{"a", "execution_prime", "execution_dedicated"}}),
                ElementsAre(QueueType{"a", "", "execution_dedicated"}));
}

}  // namespace
}  // namespace pbs::migrate::test
