// Tests the records of the schedule log: a job's amounts, vnodes and times.
#include "server_plugin/scheduler/log/schedule_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

std::string second(Instant t) {
    return std::to_string(t.time_since_epoch().count());
}

struct ScheduleLog : testing::Test {
    World world;
    void SetUp() override {
        Settings& s = world.policy();
        s.schedule_log = "schedule";
        s.strict_ordering = true;
        world.queue({.name = "work"});
        world.vnode({.name = "n1", .ncpus = 4});
        world.vnode({.name = "n2", .ncpus = 4});
        world.configure();
    }
    std::vector<std::string> cycle(Instant now) {
        const Decisions decided = world.scheduler.cycle(now, "default", CycleTrigger::timer);
        if (!decided.schedule) return {};
        EXPECT_EQ(decided.schedule->path, "schedule");
        return lines(decided.schedule->text);
    }
    std::vector<std::string> ended() {
        std::vector<std::string> out;
        for (const ScheduleRecords& records : world.scheduler.take_schedule()) {
            EXPECT_EQ(records.sched, "default");
            EXPECT_EQ(records.file.path, "schedule");
            for (const std::string& line : lines(records.file.text)) out.push_back(line);
        }
        return out;
    }
};

TEST_F(ScheduleLog, AStartIsRecordedForTheQueueAndEachVnode) {
    world.job({.queue = "work", .walltime = 2 * kHour, .select = "2:ncpus=3:mem=1gb"});
    const std::string head =
        second(at(1)) + ";1.server;1;STARTING;" + second(at(1)) + ";" + second(at(3)) + ";";
    EXPECT_THAT(cycle(at(1)),
                ElementsAre(head + "Q;work;jobs;1", head + "Q;work;ncpus;6", head + "Q;work;mem;2147483648",
                            head + "H;n1;ncpus;3", head + "H;n1;mem;1073741824", head + "H;n2;ncpus;3",
                            head + "H;n2;mem;1073741824"));
}

TEST_F(ScheduleLog, WhatTheServerHasALimitOfIsRecordedForTheServer) {
    const Amount limit{ncpus, 100, {}};
    ServerRecord record;
    record.name = record.host_name = "head";
    record.resources_available = {&limit, 1};
    world.server(record);
    world.job({.queue = "work", .ncpus = 2, .mem = kGb});
    const auto records = cycle(at(1));
    ASSERT_FALSE(records.empty());
    EXPECT_THAT(records.back(), testing::EndsWith(";G;head;ncpus;2"));
    EXPECT_EQ(std::ranges::count_if(records, [](auto& line) { return line.find(";G;") != line.npos; }), 1);
}

TEST_F(ScheduleLog, AnEndHasWhatTheJobHeldAndWhenItRan) {
    const int job = world.job({.queue = "work", .ncpus = 3, .walltime = 2 * kHour});
    world.run(job, "work", "n2", at(1));
    EXPECT_THAT(ended(), IsEmpty());
    world.finish(job, at(2));
    const std::string head =
        second(at(2)) + ";1.server;1;ENDING;" + second(at(1)) + ";" + second(at(2)) + ";";
    EXPECT_THAT(ended(), ElementsAre(head + "Q;work;jobs;1", head + "Q;work;ncpus;3", head + "H;n2;ncpus;3"));
    EXPECT_THAT(ended(), IsEmpty()) << "taken once";
}

TEST_F(ScheduleLog, AJobThatIsPutBackIntoItsQueueEndsToo) {
    const int job = world.job({.queue = "work", .ncpus = 3});
    world.run(job, "work", "n1", at(1));
    world.change(job, {.queue = "work", .ncpus = 3}, at(1, 5));
    EXPECT_EQ(ended().size(), 3U);
}

TEST_F(ScheduleLog, AReservationIsRecordedInEachCycleThatMakesIt) {
    const int running = world.job({.queue = "work", .ncpus = 3, .walltime = 4 * kHour});
    world.run(running, "work", "n1", at(0));
    const int other = world.job({.queue = "work", .ncpus = 3, .walltime = 6 * kHour});
    world.run(other, "work", "n2", at(0));
    world.job({.queue = "work", .ncpus = 4, .walltime = kHour});
    const std::string state = ";3.server;1;RESERVING;" + second(at(4)) + ";" + second(at(5)) + ";";
    for (const int minutes : {0, 10}) {
        const std::string head = second(at(1, minutes)) + state;
        EXPECT_THAT(cycle(at(1, minutes)),
                    ElementsAre(head + "Q;work;jobs;1", head + "Q;work;ncpus;4", head + "H;n1;ncpus;4"));
    }
}

TEST_F(ScheduleLog, OriginReckonsInSsinodes) {
    Settings& s = world.origin({"batch"});
    s.schedule_log = "schedule";
    world.configure();
    world.job({.ncpus = 4, .walltime = kHour});
    const auto records = cycle(at(1));
    EXPECT_THAT(records, testing::Contains(testing::EndsWith(";Q;batch;ssinodes;2")));
    EXPECT_THAT(records, testing::Contains(testing::EndsWith(";H;n1;ssinodes;2")));
}

TEST_F(ScheduleLog, TasksAndNamesThatWouldBreakALine) {
    JobRecord record;
    record.job = JobHandle(9);
    record.id = "9[17].a;b\n";
    record.queue = QueueHandle(1);
    record.state = 'R';
    world.scheduler.job_changed(at(1), record);
    world.scheduler.job_removed(at(2), JobHandle(9));
    EXPECT_THAT(ended(),
                ElementsAre(second(at(2)) + ";9[17].a?b?;17;ENDING;0;" + second(at(2)) + ";Q;work;jobs;1"));
}

TEST_F(ScheduleLog, WithoutTheAttributeThereIsNothing) {
    world.policy().schedule_log.clear();
    world.configure();
    const int job = world.job({.queue = "work", .ncpus = 3});
    EXPECT_THAT(cycle(at(1)), IsEmpty());
    world.run(job, "work", "n1", at(1));
    world.finish(job, at(2));
    EXPECT_THAT(ended(), IsEmpty());
}

// With schedule_log_detail=all, the records of a cycle tell the whole use of the vnodes: first all jobs and
// reservations that hold something, then the cycle's starts and kept places.
TEST_F(ScheduleLog, InDetailACycleOverAllJobsHasAllThatHoldSomething) {
    world.policy().schedule_log_detail = "all";
    world.configure();
    const int running = world.job({.queue = "work", .ncpus = 3, .walltime = 2 * kHour});
    world.run(running, "work", "n2", at(0));
    const int stopped = world.job({.queue = "work", .ncpus = 1, .walltime = 5 * kHour});
    world.run(stopped, "work", "n2", at(0));
    world.preempt(stopped, 'S', at(1));
    world.job({.queue = "work", .ncpus = 3, .walltime = kHour});
    const auto head = [](const char* job, const char* state, int from, int until) {
        return fmt::format("{};{}.server;1;{};{};{};", second(at(1)), job, state, second(at(from)),
                           second(at(until)));
    };
    const std::string runs = head("1", "RUNNING", 0, 2);
    const std::string stands = head("2", "SUSPENDED", 0, 5);
    const std::string goes_on = head("2", "STARTING", 1, 5);
    const std::string starts = head("3", "STARTING", 1, 2);
    const Decisions whole = world.scheduler.cycle(at(1), "default", CycleTrigger::timer);
    EXPECT_THAT(lines(whole.schedule.value().text),
                ElementsAre("::::::::", runs + "Q;work;jobs;1", runs + "Q;work;ncpus;3",
                            runs + "H;n2;ncpus;3", stands + "Q;work;jobs;1", goes_on + "Q;work;jobs;1",
                            goes_on + "Q;work;ncpus;1", goes_on + "H;n2;ncpus;1", starts + "Q;work;jobs;1",
                            starts + "Q;work;ncpus;3", starts + "H;n1;ncpus;3"));
    (void)world.take(whole, at(1), true);
    world.job({.queue = "work", .ncpus = 4});
    const Decisions after = world.scheduler.cycle(at(1), "default", CycleTrigger::job_new);
    EXPECT_TRUE(!after.schedule || after.schedule->text.find("::") == std::string::npos)
        << "a cycle after an event has its own records only";
}

TEST_F(ScheduleLog, TestOnlyStartsNothing) {
    Settings& s = world.origin({"batch"});
    s.schedule_log = "schedule";
    s.test_only = {true};
    world.configure();
    world.job({.ncpus = 4});
    EXPECT_THAT(cycle(at(1)), IsEmpty());
}

TEST_F(ScheduleLog, ACycleThatIsOnlyRehearsedAddsNothingForLater) {
    world.job({.queue = "work", .ncpus = 3});
    EXPECT_TRUE(world.scheduler.rehearse(at(1), "default", CycleTrigger::timer).schedule.has_value());
    EXPECT_THAT(ended(), IsEmpty());
}

}  // namespace
}  // namespace pbs::sched::test
