// Tests the texts that a failed random test prints: the calls that made its site, and the difference between
// two cycles.

#include "tests/scheduler/journal.h"

#include <gtest/gtest.h>

#include "tests/scheduler/quotas.h"

namespace pbs::sched::test {
namespace {

TEST(Journal, CanBePasted) {
    World world;
    world.keep_journal();
    world.queue({.name = "q", .max_running = 2, .acl_users = {"u1", "u2"}});
    world.vnode({.name = "n", .ncpus = 8});
    Settings& s = world.policy();
    s.by_queue = false;
    s.max_starve = Seconds(60);
    s.job_sort_key = {{"ncpus", true}};
    world.configure();
    const int job = world.job({.queue = "q", .select = "2:ncpus=1", .queued = at(1)}, at(2, 3, 4));
    world.cycle(at(2, 3, 5), true, "default", CycleTrigger::job_new);
    world.finish(job, at(26));
    const std::string text = world.journal();
    EXPECT_TRUE(
        text.starts_with("world.queue({.name = \"q\", .max_running = 2, .acl_users = {\"u1\", \"u2\"}});\n"
                         "world.vnode({.name = \"n\", .ncpus = 8});\n"
                         "{\nSettings& s = world.policy(\"p1\");\n"))
        << text;
    EXPECT_NE(text.find("s.by_queue = false;\n"), std::string::npos) << text;
    EXPECT_NE(text.find("s.max_starve = Seconds(60);\n"), std::string::npos) << text;
    EXPECT_NE(text.find("s.job_sort_key = {{\"ncpus\", true, SortAmount(0)}};\n"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with(
        "}\nworld.configure();\n"
        "world.job({.queue = \"q\", .select = \"2:ncpus=1\", .queued = at(1, 0, 0)}, at(2, 3, 4));  // 1\n"
        "world.cycle(at(2, 3, 5), true, \"default\", CycleTrigger(1));\n"
        "world.finish(1, at(26, 0, 0));\n"))
        << text;
}

TEST(Journal, HasWindowsTreesQuotasLimitsAndReservations) {
    World world;
    world.keep_journal();
    world.prime_time(8, 17);
    world.configuration.dedicated = world.window("FREQ=DAILY", 13, 15);
    world.configuration.fs_groups["tree"] = {
        .name = "tree", .elements = {{"u1", "root", 40}}, .usage_formula = "ncpus"};
    world.policy().quotas.push_back(quota({.rules = {{"r", "users={*} to jobs=2"}},
                                           .windows = world.window("FREQ=DAILY", 7, 9),
                                           .spill = false}));
    world.configure();
    world.queue({.name = "q"});
    world.hours("q", world.window("FREQ=DAILY", 7, 20, false, {"12/25"}));
    const std::vector<Amount> available{{ncpus, 10, {}}};
    world.server({.max_running = 3, .resources_available = available});
    const int reservation = world.reserve({.start = at(5), .end = at(6), .select = "1:ncpus=2"});
    world.begin_reservation(reservation);
    world.end_reservation(reservation, at(6));
    EXPECT_EQ(
        world.journal(),
        "const auto w0 = world.window(\"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR\", 8, 17);\n"
        "const auto w1 = world.window(\"FREQ=DAILY\", 13, 15);\n"
        "const auto w2 = world.window(\"FREQ=DAILY\", 7, 9);\n"
        "world.configuration.prime = w0;\n"
        "world.configuration.dedicated = w1;\n"
        "world.configuration.fs_groups[\"tree\"] = {.name = \"tree\", .elements = {{\"u1\", \"root\", 40}}, "
        ".usage_formula = \"ncpus\"};\n"
        "{\nSettings& s = world.policy(\"p1\");\n"
        "s.quotas.push_back(quota({.rules = {{\"r\", \"users={*} to jobs=2\"}}, .windows = w2, .spill = "
        "false}));\n}\n"
        "world.configure();\n"
        "world.queue({.name = \"q\"});\n"
        "const auto w3 = world.window(\"FREQ=DAILY\", 7, 20, false, {\"12/25\"});\n"
        "world.hours(\"q\", w3, AtClose(0));\n"
        "{\nconst std::vector<Amount> available{{0u, 10, \"\"}};\n"
        "world.server({.max_running = 3, .max_user_run = -1, .max_group_run = -1, "
        ".resources_available = available});\n}\n"
        "world.reserve({.start = at(5, 0, 0), .end = at(6, 0, 0), .select = \"1:ncpus=2\"});  // 1\n"
        "world.begin_reservation(1);\n"
        "world.end_reservation(1, at(6, 0, 0));\n");
}

TEST(FirstDifference, IsInWords) {
    Outcome a;
    Outcome b;
    const auto difference = [&](unsigned parts) {
        return first_difference(a, "by events", b, "over all", parts);
    };
    EXPECT_EQ(difference(part::starts | part::queues | part::vnodes | part::rejections), "");
    a.started = {3, 7};
    b.started = {3};
    EXPECT_EQ(difference(part::starts), "1 start before: job 7 starts next by events, no job over all");
    EXPECT_EQ(difference(part::rejections), "") << "starts aren't compared";
    b.started = a.started;
    a.queue = {{3, "q0"}, {7, "q1"}};
    b.queue = {{3, "q0"}, {7, "q2"}};
    EXPECT_EQ(difference(part::starts | part::queues), "the queue of job 7: q1 by events, q2 over all");
    b.queue = a.queue;
    a.vnodes = {{3, {"n1", "n2"}}};
    EXPECT_EQ(difference(part::starts | part::queues | part::vnodes),
              "the vnodes of job 3: n1+n2 by events, nothing over all");
    a.vnodes.clear();
    b.preempted = {{4, {7, "SR"}}};
    EXPECT_EQ(difference(part::preemptions),
              "the preemption of job 4: nothing by events, job 7 by SR over all");
}

}  // namespace
}  // namespace pbs::sched::test
