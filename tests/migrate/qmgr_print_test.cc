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
    EXPECT_THAT(texts(file.mistakes), IsEmpty());
    return file;
}

std::vector<std::string> problems(const std::string& text) {
    return texts(parse_qmgr_print(text, "print").mistakes);
}

std::vector<std::string> queues(const std::string& text) {
    std::vector<std::string> out;
    for (const PrintedQueue& queue : parsed(text).queues)
        out.push_back(queue.name + (queue.route ? " route" : "") +
                      (queue.execution_type.empty() ? "" : " " + queue.execution_type));
    return out;
}

// A sample of the output of qmgr's print.
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
    ASSERT_NE(file.setting("backfill_depth"), nullptr);
    EXPECT_EQ(file.setting("backfill_depth")->value, "3");
    ASSERT_NE(file.setting("job_sort_formula"), nullptr);
    EXPECT_EQ(file.setting("job_sort_formula")->value, "ncpus * walltime, 5 # not a comment");
}

TEST(QmgrPrint, LinesOfAnyKind) {
    EXPECT_THAT(queues("c q a queue_type=r, enabled=True\r\ns q b queue_type = execution_prime\n\n\tc q c"),
                ElementsAre("a route", "b execution_prime", "c"));
    EXPECT_THAT(queues("create queue \\\n  a\nset queue a execution_type = execution_dedicated # now\n"),
                ElementsAre("a execution_dedicated"));
    EXPECT_EQ(parsed("s s backfill_depth=1,job_sort_formula='x'\nset server backfill_depth = 2\n")
                  .setting("backfill_depth")
                  ->value,
              "2");
    EXPECT_THAT(queues("create node n1\nset node n1 state = free\nactive server\nset hook h type = site\n"),
                IsEmpty());
    EXPECT_EQ(
        parsed("set server backfill_depth = 4, job_sort_formula = \"a\"\n").setting("job_sort_formula")->line,
        1);
}

TEST(QmgrPrint, AllMistakesAreReportedAndTheRestIsRead) {
    const std::string text =
        "frobnicate queue a\ncreate queue 'a\nset queue a queue_type\nset server backfill_depth = many\n"
        "set server comment = \"open\ncreate queue\ncreate resource 1x\ncreate\ncreate queue b\n";
    EXPECT_THAT(problems(text),
                ElementsAre(HasSubstr("print:1:1: Illegal operation: frobnicate in 'frobnicate queue a'"),
                            HasSubstr("print:2:14: Syntax error: ''a' is not a name"),
                            HasSubstr("print:3:23: Syntax error: expected =, += or -= after 'queue_type'"),
                            HasSubstr("print:4: backfill_depth: bad value 'many': expected a whole number"),
                            HasSubstr("print:5:22: Syntax error: "),
                            HasSubstr("print:6:13: Syntax error: expected the name of the object to create"),
                            HasSubstr("print:7:17: Syntax error: '1x' is not a name"),
                            HasSubstr("print:8:1: No object type given")));
    const QmgrPrint file = parse_qmgr_print(text, "print");
    ASSERT_EQ(file.queues.size(), 1U);
    EXPECT_EQ(file.queues[0].name, "b");
}

// Values for policies are checked when they are read. A directive with a value that no policy accepts is left
// out, and the other directives are migrated.
TEST(QmgrPrint, ValuesThatNoPolicyTakesAreLeftOut) {
    for (const std::string setting :
         {"server backfill_depth = -1", "sched job_sort_formula_threshold = high", "sched log_events = some",
          "sched preempt_order = Q", "sched preempt_prio = best_jobs", "sched preempt_queue_prio = 1x",
          "sched preempt_sort = oldest"}) {
        SCOPED_TRACE(setting);
        const QmgrPrint file =
            parse_qmgr_print("set " + setting + "\nset sched default comment = x\n", "print");
        EXPECT_EQ(file.mistakes.size(), 1U);
        EXPECT_TRUE(file.settings.empty());
        EXPECT_TRUE(convert({.qmgr_print = file}, {}, nullptr).has_value());
    }
}

// Returns the commands for the server in a print, each as "line directive".
std::vector<std::string> directives(const std::string& text) {
    std::vector<std::string> out;
    for (const PrintedCommand& printed : parsed(text).commands)
        out.push_back(std::to_string(printed.line) + " " + objects::to_text(printed.command));
    return out;
}

TEST(QmgrPrint, DirectivesForTheServer) {
    EXPECT_THAT(
        directives("create resource lic type=long, flag=q\ncreate queue q1 queue_type=e\n"
                   "set queue q1 acl_users = \"+alice@*,-bob\"\nset queue q1 resources_max.ncpus = 4\n"
                   "set server managers += root@*\nset node n1 resources_available.mem = 1gb\n"
                   "unset server default_queue\ndelete queue q1\n"),
        ElementsAre("1 create resource lic", "1 set resource lic type = long", "1 set resource lic flag = q",
                    "2 create queue q1", "2 set queue q1 queue_type = e",
                    "3 set queue q1 acl_users = \"+alice@*,-bob\"", "4 set queue q1 resources_max.ncpus = 4",
                    "5 set server managers += root@*", "6 set node n1 resources_available.mem = 1gb",
                    "7 unset server default_queue", "8 delete queue q1"));
    EXPECT_THAT(
        directives("create queue a,b\nactive queue a,b\nset queue enabled = True\n"
                   "set queue @default started = True; set sched scheduling = False\ncreate sched default\n"),
        ElementsAre("1 create queue a", "1 create queue b", "3 set queue a enabled = True",
                    "3 set queue b enabled = True", "4 set queue a started = True",
                    "4 set queue b started = True", "4 set sched default scheduling = False"));
    EXPECT_THAT(directives("create queue p queue_type = execution_prime\nset queue p execution_type = "
                           "execution_prime\n"),
                ElementsAre("1 create queue p", "1 set queue p queue_type = Execution"))
        << "its time is that of the migration";
}

TEST(QmgrPrint, ElementsOfAListAreOneValue) {
    EXPECT_THAT(
        directives("set server managers = root@*\nset queue q acl_users = a\nset server managers += b@h\n"
                   "set queue q acl_users += -b\nset server operators += c@h\n"),
        ElementsAre("1 set server managers = \"root@*,b@h\"", "2 set queue q acl_users = \"a,-b\"",
                    "5 set server operators += c@h"));
}

// OpenPBS prints each limit of an attribute as its own directive, with "=". The migration joins them to one
// value.
TEST(QmgrPrint, LimitsOnEntitiesAreOneValue) {
    EXPECT_THAT(
        directives("set server max_run = [o:PBS_ALL=40]\nset server max_run = [u:bob=1]\n"
                   "set server max_run_res.ncpus = [g:a=5]\nset server max_run_res.mem = [u:bob=3gb]\n"
                   "set server max_run_res.ncpus += [p:x=7]\nset queue q max_queued = [o:PBS_ALL=9]\n"
                   "set queue q max_user_run_soft = 5\n"),
        ElementsAre("1 set server max_run = \"[o:PBS_ALL=40],[u:bob=1]\"",
                    "3 set server max_run_res.ncpus = \"[g:a=5],[p:x=7]\"",
                    "4 set server max_run_res.mem = [u:bob=3gb]", "6 set queue q max_queued = [o:PBS_ALL=9]",
                    "7 set queue q max_user_run_soft = 5"));
}

// If people have written the lines, a later limit on the same entity replaces the earlier one, as in qmgr.
TEST(QmgrPrint, ALaterLimitOnAnEntityTakesThePlaceOfTheEarlierOne) {
    EXPECT_THAT(
        directives(
            "set server max_queued = [u:ann=1]\nset server max_queued = [u:bob=2]\n"
            "set server max_queued = [u:ann=3]\n"
            "set queue q max_run = \"[u:ann=1],[u:bob=2]\"\nset queue q max_run = \"[g:a=1],[g:b=2]\"\n"
            "set queue q max_run_res.mem = [u:ann=1gb]\nset queue q max_run_res.mem = [u:ann=2gb]\n"
            "set queue q max_queued = [u:ann=1]\nset queue q max_queued += [u:bob=2]\n"
            "set queue q max_queued += \"[u:ann=5],[o:PBS_ALL=9]\"\n"),
        ElementsAre("1 set server max_queued = [u:ann=3]", "4 set queue q max_run = \"[g:a=1],[g:b=2]\"",
                    "6 set queue q max_run_res.mem = [u:ann=2gb]",
                    "8 set queue q max_queued = \"[u:ann=5],[u:bob=2],[o:PBS_ALL=9]\""));
}

TEST(QmgrPrint, EveryDirectiveThatIsNotCarriedOverIsTold) {
    const QmgrPrint file = parsed(
        "set server system_cost = 5\nset node n state = free\nset node n license = l\n"
        "set sched default sched_host = h\nset server unheard_of = 1\ncreate policy p\n"
        "set queue q time_window = w\nset node @default state = free\n"
        "create hook h1\nimport hook h1 application/x-python base64 -\naW1wb3J0IHBicwplID0g\nKQo=\n\n"
        "set pbshook h2 enabled = true\n");
    EXPECT_THAT(
        file.notes,
        ElementsAre(
            "print:1: set server system_cost = 5: isn't carried over: system_cost is an attribute of OpenPBS "
            "only",
            HasSubstr("print:3: set node n license = l: isn't carried over: "),
            "print:4: set sched default sched_host = h: isn't carried over: only the server itself sets "
            "sched_host",
            HasSubstr("print:5: set server unheard_of = 1: isn't carried over: this server has no attribute "
                      "unheard_of"),
            HasSubstr("print:6: create policy p: isn't carried over: pbs_config export and import"),
            HasSubstr("print:7: set queue q time_window = w: isn't carried over: pbs_config"),
            HasSubstr("print:9: create hook h1: isn't carried over: this server has no hooks"),
            HasSubstr("print:10: import hook h1"), HasSubstr("print:14: set pbshook h2")));
    EXPECT_EQ(file.commands.size(), 2U);
}

std::string commands(const Legacy& files, const Surroundings& server = {}) {
    const auto conversion = convert(files, server, nullptr);
    EXPECT_TRUE(conversion) << testing::PrintToString(texts(conversion.error()));
    return conversion ? to_qmgr(*conversion) : "";
}

// Limits on amounts mean the same on this server as on the old one. Limits on texts and booleans give a note
// that says what they do.
TEST(QmgrPrint, LimitsThatAreTextsAreTold) {
    const QmgrPrint print = parse_qmgr_print(
        "create resource st type=string\ncreate resource sa type=string_array\ncreate resource bo "
        "type=boolean\n"
        "create resource lo type=long\ncreate queue q\n"
        "set queue q resources_max.nodes = 4\nset queue q resources_min.nodes = 1\n"
        "set queue q resources_max.software = abc\nset queue q resources_max.st = abc\n"
        "set queue q resources_max.sa = a\nset queue q resources_min.sa = a\n"
        "set queue q resources_max.bo = True\nset queue q resources_min.bo = True\n"
        "set queue q resources_max.ncpus = 4\nset queue q resources_max.lo = 4\n"
        "set queue q resources_default.nodes = 4\nset server resources_max.nodes = 9\n",
        "print");
    EXPECT_THAT(print.notes,
                testing::ElementsAre(
                    testing::HasSubstr(
                        "print:6: set queue q resources_max.nodes = 4: limits no job: resources_max.nodect "
                        "limits how many"),
                    testing::HasSubstr("print:7: set queue q resources_min.nodes = 1: compares as text"),
                    testing::HasSubstr("print:8: set queue q resources_max.software = abc: compares as text"),
                    testing::HasSubstr("print:9: set queue q resources_max.st = abc: compares as text"),
                    testing::HasSubstr("print:10: set queue q resources_max.sa = a: limits no job"),
                    testing::HasSubstr(
                        "print:11: set queue q resources_min.sa = a: refuses jobs that ask for something"),
                    testing::HasSubstr("print:12: set queue q resources_max.bo = True: limits no job"),
                    testing::HasSubstr(
                        "print:13: set queue q resources_min.bo = True: refuses jobs that ask for the other"),
                    testing::HasSubstr("print:17: set server resources_max.nodes = 9: limits no job")));
    EXPECT_EQ(print.commands.size(), 5U + 4U + 12U) << "all of them are carried over";
}

TEST(QmgrPrint, DepthAndFormulaBecomeThePolicys) {
    const std::string text = "set server backfill_depth = 3\nset server job_sort_formula = ncpus\n";
    EXPECT_EQ(commands({.qmgr_print = parsed(text)}),
              "set policy default_policy backfill_depth = 3\n"
              "set policy default_policy job_sort_formula = ncpus\n");
    const SchedConfig by_time = parse_sched_config("by_queue: True prime\nby_queue: False non_prime\n", "sc");
    EXPECT_THAT(commands({.sched_config = by_time, .qmgr_print = parsed(text)}),
                AllOf(HasSubstr("set policy default_policy backfill_depth = 3\n"),
                      HasSubstr("set policy default_policy_prime backfill_depth = 3\n"),
                      HasSubstr("set policy default_policy_non_prime job_sort_formula = ncpus\n")));
    const SchedConfig no_backfill = parse_sched_config("backfill: False\n", "sc");
    EXPECT_THAT(commands({.sched_config = no_backfill, .qmgr_print = parsed(text)}),
                AllOf(HasSubstr("backfill_depth = 0\n"), Not(HasSubstr("backfill_depth = 3"))));
}

// In OpenPBS, these attributes belong to schedulers, and earlier they were options of sched_config. In this
// project they belong to policies.
TEST(QmgrPrint, WhatTheSchedulerHadBecomesThePolicys) {
    const QmgrPrint print = parsed(
        "set sched preempt_order = \"SCR 50 SC\"\nset sched default preempt_prio = \"express_queue, "
        "normal_jobs\"\n"
        "set sched default preempt_queue_prio = 200\nset sched default preempt_sort = min_time_since_start\n"
        "set sched default log_events = 1023\nset sched default job_sort_formula = \"ncpus\"\n"
        "set sched default job_sort_formula_threshold = 3.5\nset sched default scheduling = True\n"
        "set sched default do_not_span_psets = True\nset sched default sched_cycle_length = 600\n"
        "set sched default server_dyn_res_alarm = 60\n"
        "create sched second\nset sched second preempt_queue_prio = 7\n");
    EXPECT_EQ(commands({.qmgr_print = print}),
              "set sched default scheduling = True\ncreate sched second\n"
              "set policy default_policy preempt_order = \"SCR 50 SC\"\n"
              "set policy default_policy preempt_prio = \"express_queue, normal_jobs\"\n"
              "set policy default_policy preempt_queue_prio = 200\n"
              "set policy default_policy preempt_sort = min_time_since_start\n"
              "set policy default_policy log_event = 1023\n"
              "set policy default_policy job_sort_formula = ncpus\n"
              "set policy default_policy job_sort_formula_threshold = 3.5\n"
              "set policy default_policy do_not_span_psets = True\n"
              "set policy default_policy server_dyn_res_alarm = 60\n");
    EXPECT_THAT(print.notes,
                ElementsAre(HasSubstr("print:10: set sched default sched_cycle_length = 600: isn't carried"),
                            HasSubstr("print:13: set sched second preempt_queue_prio = 7: isn't carried")));
    const SchedConfig options = parse_sched_config("preempt_queue_prio: 150\npreempt_order: \"S\"\n", "sc");
    EXPECT_THAT(commands({.sched_config = options, .qmgr_print = print}),
                AllOf(HasSubstr("preempt_queue_prio = 200\n"), Not(HasSubstr("= 150"))));
}

TEST(QueueTypes, QueuesOfThePrintGetTypesByTheUsualPrefixes) {
    EXPECT_THAT(commands({.qmgr_print = parsed(kPrint)}),
                AllOf(HasSubstr("set queue ded1 execution_type = execution_dedicated\n"
                                "set queue np_slow execution_type = execution_non_prime\n"
                                "set queue p_fast execution_type = execution_prime\n"),
                      Not(HasSubstr("set queue np_in execution_type")),
                      Not(HasSubstr("set queue workq execution_type"))));
}

TEST(QueueTypes, QueuesOfTheServerGetTypesByThePrefixesOfSchedConfig) {
    const SchedConfig file = parse_sched_config(
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
    // if the first change wasn't made yet, taking it back leaves no change
    EXPECT_THAT(merged({{"a", "", "execution_prime"}}, {{"a", "execution_prime", ""}}), IsEmpty());
    EXPECT_THAT(merged({{"a", "", "execution_prime"}}, {{"a", "execution_prime", "execution_dedicated"}}),
                ElementsAre(QueueType{"a", "", "execution_dedicated"}));
}

}  // namespace
}  // namespace pbs::migrate::test
