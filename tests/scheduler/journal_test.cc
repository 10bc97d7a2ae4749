// Tests the texts that a failed random test prints: the calls that made its site, and the difference between
// two cycles.

#include "tests/scheduler/journal.h"

#include <gtest/gtest.h>

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
