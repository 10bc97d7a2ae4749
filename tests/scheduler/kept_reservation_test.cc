// Tests the place on vnodes that a cycle keeps for a waiting job. Later cycles reuse it, and move it when
// something changes.

#include "server_plugin/scheduler/future/kept_reservation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/quotas.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

// A site with two vnodes of 8 CPUs, on which jobs run until 12:00 and 14:00, and a job that waits for a whole
// vnode.
struct Drained : testing::Test {
    World world;
    Instant now = at(9);
    int first = 0;
    int second = 0;
    int waiting = 0;

    void SetUp() override {
        Settings& s = world.origin({"batch"});
        world.queue({.name = "batch", .nodes = 12});
        s.max_queued_time = Seconds(kHour);
        s.schedule_log = "schedule";
        world.vnode({.name = "n1", .ncpus = 8});
        world.vnode({.name = "n2", .ncpus = 8});
        world.configure();
        first = holder("n1", 4);
        second = holder("n2", 6);
        waiting = world.job({.owner = "w", .ncpus = 8, .walltime = kHour, .queued = at(6)}, now);
        (void)cycle();
        (void)add(1, 10 * kMinute);
        (void)cycle();
    }
    int holder(const std::string& vnode, int hours) {
        const int job = world.job({.ncpus = 2, .walltime = hours * kHour, .queued = at(8)}, at(8));
        world.run(job, "batch", vnode, at(8));
        return job;
    }
    int add(int ncpus, std::int64_t walltime) {
        return world.job({.owner = "u", .ncpus = ncpus, .walltime = walltime, .queued = now}, now);
    }
    Outcome cycle(CycleTrigger trigger = CycleTrigger::job_new) {
        return world.cycle(now, true, "default", trigger);
    }
    // Returns the place that is kept for the waiting job, as "VNODE at MINUTE OF THE DAY", from the cycle's
    // records.
    static std::string reserved(const Outcome& outcome) {
        std::string found;
        for (std::size_t at = 0; at < outcome.schedule.size();) {
            const auto end = outcome.schedule.find('\n', at);
            const std::string line = outcome.schedule.substr(at, end - at);
            at = end + 1;
            if (line.find(";RESERVING;") == std::string::npos || line.find(";H;") == std::string::npos)
                continue;
            std::vector<std::string> fields;
            for (std::size_t from = 0; from != std::string::npos;) {
                const auto semicolon = line.find(';', from);
                fields.push_back(line.substr(from, semicolon - from));
                from = semicolon == std::string::npos ? semicolon : semicolon + 1;
            }
            if (fields.at(8) != "ncpus") continue;
            const Instant start{Seconds(std::stoll(fields.at(4)))};
            found += fields.at(7) + " at " +
                     std::to_string((start - std::chrono::floor<std::chrono::days>(start)) / Seconds(60));
        }
        return found;
    }
};

TEST_F(Drained, TheVnodeThatIsFreeFirstIsReserved) {
    (void)add(1, kHour);
    EXPECT_EQ(reserved(cycle()), "n1 at 720");
}

TEST_F(Drained, WhatEndsWithoutGivingRoomLeavesItAsItIs) {
    const int small = add(1, 2 * kHour);
    ASSERT_THAT(cycle().started, testing::ElementsAre(small));
    now += Seconds(kMinute);
    world.finish(small, now);
    EXPECT_EQ(reserved(cycle(CycleTrigger::job_ended)), "n1 at 720");
}

TEST_F(Drained, AVnodeThatIsFreeBeforeTimeLetsTheJobStart) {
    world.finish(second, now);
    EXPECT_THAT(cycle(CycleTrigger::job_ended).started, testing::Contains(waiting));
}

TEST_F(Drained, AJobThatEndsSoonerMovesItToAnotherVnode) {
    // When the second job has ended, n2 will be free at 11:00, an hour before n1.
    const int third = world.job({.ncpus = 1, .walltime = 3 * kHour, .queued = at(8)}, at(8));
    world.run(third, "batch", "n2", at(8));
    (void)add(1, kHour);
    EXPECT_EQ(reserved(cycle()), "n1 at 720");
    world.finish(second, now);
    EXPECT_EQ(reserved(cycle(CycleTrigger::job_ended)), "n2 at 660");
}

TEST_F(Drained, AJobThatAManagerRunsOnTheVnodeMovesIt) {
    const int other = add(1, 8 * kHour);
    world.run(other, "batch", "n1", now);
    (void)add(1, kHour);
    EXPECT_EQ(reserved(cycle()), "n2 at 840");
}

// The user's job on n1 has ended when the waiting job starts, so the quota then leaves four CPUs for another
// job of the user, with a reservation that is kept from an earlier cycle as with a new one.
TEST_F(Drained, BesideAQuotaOthersGetAsMuchAsWillBeLeft) {
    World other;
    Settings& s = other.origin({"batch"});
    s.max_queued_time = Seconds(kHour);
    s.schedule_log = "schedule";
    s.quotas = {quota({.rules = {{"all", "users={*} to ncpus=12"}}})};
    other.queue({.name = "batch"});
    other.vnode({.name = "n1", .ncpus = 8});
    other.vnode({.name = "n2", .ncpus = 8});
    other.configure();
    const auto run = [&](const std::string& owner, const std::string& vnode, int hours) {
        const int job =
            other.job({.owner = owner, .ncpus = 2, .walltime = hours * kHour, .queued = at(8)}, at(8));
        other.run(job, "batch", vnode, at(8));
    };
    run("w", "n1", 4);
    run("x", "n2", 6);
    (void)other.job({.owner = "w", .ncpus = 8, .walltime = kHour, .queued = at(6)}, now);
    const auto cycle = [&] { return other.cycle(now, true, "default", CycleTrigger::job_new); };
    EXPECT_EQ(reserved(cycle()), "n1 at 720");
    const int too_much = other.job({.owner = "w", .ncpus = 5, .walltime = 5 * kHour, .queued = now}, now);
    const int enough = other.job({.owner = "w", .ncpus = 4, .walltime = 5 * kHour, .queued = now}, now);
    const Outcome outcome = cycle();
    EXPECT_EQ(reserved(outcome), "n1 at 720");
    EXPECT_THAT(outcome.started, testing::ElementsAre(enough)) << too_much;
}

// n1 has room at 10:00, when the queue's limit still refuses the job. When the limit no longer does, at
// 12:00, an advance reservation has the room until 13:30.
TEST_F(Drained, ALimitThatIsLessFullLetsTheJobStartBeforeAReservation) {
    World other;
    other.origin({"batch"}).max_queued_time = Seconds(kHour);
    other.policy().schedule_log = "schedule";
    other.queue({.name = "batch", .available_ncpus = 5});
    other.vnode({.name = "n1", .ncpus = 8});
    other.vnode({.name = "n2", .ncpus = 2});
    other.configure();
    const auto run = [&](const std::string& vnode, int hours) {
        const int job = other.job({.ncpus = 1, .walltime = hours * kHour, .queued = at(8)}, at(8));
        other.run(job, "batch", vnode, at(8));
        return job;
    };
    const int longer = run("n2", 4);
    (void)run("n1", 2);
    (void)run("n1", 6);
    (void)other.reserve({.start = at(11) + Seconds(30 * kMinute),
                         .end = at(13) + Seconds(30 * kMinute),
                         .select = "1:ncpus=6"});
    (void)other.job({.owner = "w", .ncpus = 4, .walltime = kHour, .queued = at(6)}, now);
    const auto cycle = [&](CycleTrigger trigger) { return other.cycle(now, true, "default", trigger); };
    const Outcome before = cycle(CycleTrigger::job_new);
    EXPECT_EQ(reserved(before), "n1 at 810") << before.schedule;
    other.finish(longer, now);
    const Outcome after = cycle(CycleTrigger::job_ended);
    EXPECT_EQ(reserved(after), "n1 at 600") << after.schedule;
}

TEST_F(Drained, LessRoomCanLetAJobOfSeveralKindsOfChunksStartSooner) {
    World other;
    other.origin({"batch"}).max_queued_time = Seconds(kHour);
    other.policy().schedule_log = "schedule";
    other.vnode({.name = "a", .ncpus = 8, .mem = 8 * kGb});
    other.vnode({.name = "b", .ncpus = 4, .mem = 8 * kGb});
    other.vnode({.name = "c", .ncpus = 8, .mem = 8 * kGb});
    other.configure();
    const auto run = [&](const std::string& vnode, int ncpus, std::int64_t memory, int hours) {
        const int job =
            other.job({.ncpus = ncpus, .mem = memory, .walltime = hours * kHour, .queued = now}, now);
        other.run(job, "batch", vnode, now);
    };
    run("a", 1, 0, 2);
    run("c", 8, 0, 5);
    JobOptions two{.owner = "w", .walltime = kHour, .select = "1:ncpus=1:mem=4gb+1:ncpus=8", .queued = at(6)};
    (void)other.job(two, now);
    const auto start = [&] {
        (void)other.job({.ncpus = 64, .queued = now}, now);
        const std::string schedule = other.cycle(now, true, "default", CycleTrigger::job_new).schedule;
        const auto record = schedule.find(";RESERVING;") + 11;
        return Instant{Seconds(std::stoll(schedule.substr(record)))};
    };
    EXPECT_EQ(start(), at(14)) << "the first kind goes to the first vnode, which leaves too little of it";
    EXPECT_EQ(start(), at(14));
    run("a", 0, 8 * kGb, 3);
    EXPECT_EQ(start(), at(11)) << "now it goes to the second one";
}

TEST_F(Drained, AJobThatRunsOverItsWalltimeMovesItOn) {
    now = at(12) + Seconds(90);
    (void)add(1, kMinute);
    EXPECT_EQ(reserved(cycle()), "n1 at 722") << "it ends within a minute, as far as is known";
    now += Seconds(kMinute);
    (void)add(1, kMinute);
    EXPECT_EQ(reserved(cycle()), "n1 at 723");
}

TEST_F(Drained, WhatEndsAfterTheStartLeavesMoreToOthers) {
    // At 12:00, when the waiting job starts with four nodes, seven of the queue's twelve nodes are in use.
    std::vector<int> running;
    for (int i = 0; i < 6; ++i) {
        const int job = add(0, 5 * kHour);
        world.run(job, "batch", "n2", now);
        running.push_back(job);
    }
    const int first_long = add(1, 6 * kHour);
    auto outcome = cycle();
    EXPECT_THAT(outcome.started, testing::ElementsAre(first_long)) << "on n2";
    const int second_long = add(1, 6 * kHour);
    EXPECT_THAT(cycle().started, testing::IsEmpty()) << "the last nodes are the waiting job's";
    world.finish(running.front(), now);
    outcome = cycle(CycleTrigger::job_ended);
    EXPECT_THAT(outcome.started, testing::ElementsAre(second_long));
}

}  // namespace
}  // namespace pbs::sched::test
