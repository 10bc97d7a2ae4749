// Tests advance reservations: each gets a place or is denied, and during its time no other job runs on its
// place.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_plugin/scheduler/record.h"
#include "tests/cases.h"
#include "tests/scheduler/random_site.h"

namespace pbs::sched::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

struct AdvanceReservation : testing::Test {
    World world;
    void SetUp() override {
        world.policy();
        world.queue({.name = "workq"});
        world.vnode({.name = "n1", .ncpus = 4});
        world.configure();
    }
    int job(std::int64_t ncpus, std::int64_t walltime, const std::string& queue = "workq") {
        return world.job({.queue = queue, .ncpus = ncpus, .walltime = walltime, .queued = at(9)}, at(9));
    }
};

TEST_F(AdvanceReservation, IsConfirmedWhereItsPlacesAreFreeForAllOfItsTime) {
    const int morning = world.reserve({at(10), at(12), "1:ncpus=3"});
    EXPECT_EQ(world.cycle(at(9)).confirmed.at(morning), "(n1:ncpus=3)");
    const int beside = world.reserve({at(11), at(13), "1:ncpus=1"});
    const int too_much = world.reserve({at(11), at(13), "1:ncpus=1"});
    const int behind = world.reserve({at(13), at(14), "1:ncpus=4"});
    const int before = world.reserve({at(9), at(10), "1:ncpus=4"});
    const auto outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.confirmed, Contains(Key(beside)));
    EXPECT_THAT(outcome.denied, ElementsAre(Key(too_much)));
    EXPECT_THAT(outcome.denied.at(too_much), HasSubstr("too little that is free"));
    EXPECT_THAT(outcome.confirmed, Contains(Key(behind))) << "the others have ended by then";
    EXPECT_THAT(outcome.confirmed, Contains(Key(before)));
    const int large = world.reserve({at(20), at(21), "1:ncpus=5"});
    EXPECT_EQ(world.cycle(at(9)).denied.at(large), "the vnodes are too small for it, whatever runs");
    // A reservation has no vnodes of queues.
    world.vnode({.name = "n9", .ncpus = 8, .queue = "workq"});
    const int of_queue = world.reserve({at(20), at(21), "1:ncpus=5"});
    EXPECT_EQ(
        world.cycle(at(9)).denied.at(of_queue),
        "the vnodes that belong to no queue and no other partition are too small for it, whatever runs");
}

// Each reservation has a queue, so the tables would grow with each reservation that there ever was.
TEST_F(AdvanceReservation, ThoseThatAreOverLeaveNoQueuesBehind) {
    constexpr int kReservations = 300;
    for (int i = 0; i < kReservations; ++i) {
        const int one = world.reserve({at(9), at(10), "1:ncpus=2"});
        ASSERT_THAT(world.cycle(at(9)).confirmed, ElementsAre(Key(one)));
        world.begin_reservation(one);
        const int inside = job(2, kHour, World::queue_of_reservation(one));
        const int outside = job(2, kHour);
        ASSERT_THAT(world.cycle(at(9)).started, UnorderedElementsAre(inside, outside));
        world.finish(outside, at(9));
        world.end_reservation(one, at(9));
    }
    int queues = 0;
    world.scheduler.inspect().describe([&](const StateRecord& record) {
        if (std::holds_alternative<QueueState>(record)) ++queues;
    });
    EXPECT_LE(queues, kReservations / 3);
}

TEST_F(AdvanceReservation, CountsWithTheEndsOfRunningJobs) {
    const int running = job(2, 2 * kHour);
    EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(running));
    const int early = world.reserve({at(10), at(12), "1:ncpus=3"});
    const int later = world.reserve({at(11), at(12), "1:ncpus=3"});
    const auto outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.denied, ElementsAre(Key(early)));
    EXPECT_THAT(outcome.confirmed, ElementsAre(Key(later)));
}

TEST_F(AdvanceReservation, DoesNotWaitForJobsThatWait) {
    (void)job(4, 20 * kHour);
    const int now = world.reserve({at(9), at(12), "1:ncpus=4"});
    const auto outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.confirmed, ElementsAre(Key(now)));
    EXPECT_THAT(outcome.started, IsEmpty());
}

TEST_F(AdvanceReservation, NoJobRunsIntoIt) {
    (void)world.reserve({at(12), at(14), "1:ncpus=3"});
    (void)world.cycle(at(9));
    const int too_long = job(2, 4 * kHour);
    const int small = job(1, 9 * kHour);
    const int until_then = job(3, 3 * kHour);
    const auto outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.started, ElementsAre(small, until_then));
    EXPECT_EQ(outcome.comment.at(too_long), "Not Running: Job would conflict with reservation or top job");
    world.finish(until_then, at(11));
    EXPECT_THAT(world.cycle(at(11)).started, IsEmpty());
    world.end_reservation(1, at(11));
    EXPECT_THAT(world.cycle(at(11)).started, ElementsAre(too_long)) << "it was deleted";
}

TEST_F(AdvanceReservation, ItsJobsRunInItAndOthersBesideIt) {
    const int one = world.reserve({at(10), at(12), "1:ncpus=3"});
    const std::string queue = World::queue_of_reservation(one);
    (void)world.cycle(at(9));
    const int inside = job(2, kHour, queue);
    const int more = job(2, kHour, queue);
    EXPECT_THAT(world.cycle(at(9)).comment.at(inside), HasSubstr("Queue not started"));
    world.begin_reservation(one);
    const int other = job(2, kHour);
    const int beside = job(1, kHour);
    auto outcome = world.cycle(at(10));
    EXPECT_THAT(outcome.started, ::testing::UnorderedElementsAre(inside, beside));
    EXPECT_THAT(outcome.comment, Contains(Key(other)));
    EXPECT_THAT(outcome.comment, Contains(Key(more))) << "1 of 3 CPUs is left of the reservation";
    world.finish(inside, at(10, 30));
    EXPECT_THAT(world.cycle(at(10, 30)).started, ElementsAre(more))
        << "not the one that is in no reservation";
    world.end_reservation(one, at(12));
    EXPECT_THAT(world.cycle(at(12)).started, ElementsAre(other));
}

// When a job of a reservation ends, the next cycle considers the reservation's next job. That job starts on
// the reservation's amounts even if it lasts into the time of a place that is kept for a waiting job.
struct FollowsInReservation : AdvanceReservation, testing::WithParamInterface<const char*> {};

TEST_P(FollowsInReservation, AfterTheEndOfAnotherJob) {
    world.origin({"batch"}).max_queued_time = Seconds(kHour);
    world.configure();
    const auto cycle = [&](Instant now, CycleTrigger trigger) {
        return world.cycle(now, true, "default", trigger).started;
    };
    const int one = world.reserve({at(10), at(14), "1:ncpus=2"});
    (void)world.cycle(at(9));
    world.begin_reservation(one);
    const std::string queue = World::queue_of_reservation(one);
    const int other = job(1, 5 * kHour, "submit");
    const int first = job(2, kHour, queue);
    EXPECT_THAT(cycle(at(10), CycleTrigger::job_new), ::testing::UnorderedElementsAre(other, first));
    const int waits = job(4, kHour, "submit");
    const int second =
        world.job({.queue = queue, .walltime = 20 * kHour, .select = GetParam(), .queued = at(9)}, at(9));
    EXPECT_THAT(cycle(at(10, 15), CycleTrigger::job_new), IsEmpty());
    world.finish(first, at(10, 15, 20));
    EXPECT_THAT(cycle(at(10, 15, 20), CycleTrigger::job_ended), ElementsAre(second));
    EXPECT_FALSE(world.running(waits));
}

INSTANTIATE_TEST_SUITE_P(Chunks, FollowsInReservation, testing::Values("1:ncpus=2", "2:ncpus=1"),
                         [](const auto& one) { return one.param[0] == '1' ? "One" : "Two"; });

TEST_F(AdvanceReservation, AJobOfItStaysOnItsVnodes) {
    world.vnode({.name = "n2", .ncpus = 4});
    const int one = world.reserve({at(10), at(12), "1:ncpus=3"});
    (void)world.cycle(at(9));
    world.begin_reservation(one);
    const int large = job(4, kHour, World::queue_of_reservation(one));
    const int fits = job(3, kHour, World::queue_of_reservation(one));
    const auto outcome = world.cycle(at(10));
    EXPECT_THAT(outcome.started, ElementsAre(fits));
    EXPECT_EQ(outcome.exec_vnode.at(fits), "(n1:ncpus=3)");
    EXPECT_THAT(outcome.comment, Contains(Key(large)));
}

TEST_F(AdvanceReservation, AnExclusiveOneHasItsVnodesForItself) {
    const int one = world.reserve({at(10), at(12), "1:ncpus=1", "excl"});
    (void)world.cycle(at(9));
    const int other = job(1, 2 * kHour);
    EXPECT_THAT(world.cycle(at(9)).started, IsEmpty());
    world.begin_reservation(one);
    const int inside = job(1, kHour, World::queue_of_reservation(one));
    EXPECT_THAT(world.cycle(at(10)).started, ElementsAre(inside));
    world.end_reservation(one, at(12));
    EXPECT_THAT(world.cycle(at(12)).started, ElementsAre(other));
}

TEST_F(AdvanceReservation, IsWhollyInDedicatedTimeOrNotAtAll) {
    world.configuration.dedicated = world.window("FREQ=DAILY", 13, 15);
    world.configure();
    const int before = world.reserve({at(12), at(13)});
    const int into = world.reserve({at(12), at(13, 0, 1)});
    const int inside = world.reserve({at(13), at(15)});
    const int out_of = world.reserve({at(14), at(15, 0, 1)});
    const int over = world.reserve({at(12), at(16)});
    const int behind = world.reserve({at(15), at(16)});
    const auto outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.confirmed, ElementsAre(Key(before), Key(inside), Key(behind)));
    EXPECT_THAT(outcome.denied, ElementsAre(Key(into), Key(out_of), Key(over)));
    EXPECT_THAT(outcome.denied.at(into), HasSubstr("dedicated time"));
}

// A running job holds its place until the end of its walltime, not of its soft walltime.
TEST_F(AdvanceReservation, CountsWithWalltimesAndNotWithSoftOnes) {
    const int running = world.job(
        {.queue = "workq", .ncpus = 2, .walltime = 2 * kHour, .soft_walltime = kHour / 2, .queued = at(9)},
        at(9));
    EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(running));
    const int early = world.reserve({at(10), at(11), "1:ncpus=3"});
    const int later = world.reserve({at(11), at(12), "1:ncpus=3"});
    const auto outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.denied, ElementsAre(Key(early)));
    EXPECT_THAT(outcome.confirmed, ElementsAre(Key(later)));
    // For waiting jobs, too, the walltime counts and not the soft walltime: neither of these two jobs starts,
    // as it could run into the reservation.
    (void)world.job(
        {.queue = "workq", .ncpus = 2, .walltime = 3 * kHour, .soft_walltime = kHour / 2, .queued = at(9)},
        at(9));
    EXPECT_THAT(world.cycle(at(9)).started, IsEmpty());
    (void)world.job({.queue = "workq", .ncpus = 2, .walltime = -1, .soft_walltime = 60, .queued = at(9)},
                    at(9));
    EXPECT_THAT(world.cycle(at(9)).started, IsEmpty());
    const int short_one = job(2, 2 * kHour);
    EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(short_one));
}

TEST_F(AdvanceReservation, BeginsAsSoonAsThereAreItsPlaces) {
    EXPECT_THAT(world.cycle(at(9)).started, IsEmpty());
    const int running = job(3, 2 * kHour);
    EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(running));
    (void)world.reserve({at(12), at(13), "1:ncpus=4"});
    // For a reservation `soonest`, the scheduler takes the duration from `start` and `end`, and chooses the
    // start.
    const int now = world.reserve({.start = at(20), .end = at(21), .select = "1:ncpus=1", .soonest = true});
    const int after_job =
        world.reserve({.start = at(20), .end = at(21), .select = "1:ncpus=4", .soonest = true});
    const int after_others =
        world.reserve({.start = at(20), .end = at(21), .select = "1:ncpus=4", .soonest = true});
    const int never = world.reserve({.start = at(20), .end = at(21), .select = "1:ncpus=5", .soonest = true});
    const auto outcome = world.cycle(at(9));
    EXPECT_EQ(outcome.begins.at(now), at(9));
    EXPECT_EQ(outcome.begins.at(after_job), at(11));
    EXPECT_EQ(outcome.begins.at(after_others), at(13));
    EXPECT_THAT(outcome.denied, ElementsAre(Key(never)));
    // Reservations that are requested later don't get the places of the confirmed reservations.
    const int beside = world.reserve({at(11), at(12), "1:ncpus=1"});
    const int behind = world.reserve({at(14), at(15), "1:ncpus=4"});
    const auto later = world.cycle(at(9));
    EXPECT_THAT(later.denied, ElementsAre(Key(beside)));
    EXPECT_THAT(later.confirmed, ElementsAre(Key(behind)));
}

TEST_F(AdvanceReservation, TakesNoVnodeThatIsDown) {
    world.vnode({.name = "n1", .ncpus = 4, .free = false});
    const int one = world.reserve({at(12), at(13)});
    EXPECT_THAT(world.cycle(at(9)).denied, ElementsAre(Key(one)));
}

// Reservations are spread over vnodes as jobs are: by per_host, by chunk_order of its own or of the policy,
// and on vnodes that it prefers.
TEST_F(AdvanceReservation, IsSpreadAsItAsks) {
    world.vnode({.name = "n2", .ncpus = 4, .bigmem = 1});
    const auto place = [&](ReservationOptions options) {
        options.start = at(12);
        options.end = at(13);
        const int one = world.reserve(options);
        Outcome outcome = world.cycle(at(9));
        std::string text = outcome.denied.contains(one) ? outcome.denied.at(one) : outcome.confirmed.at(one);
        world.end_reservation(one, at(9));
        return text;
    };
    EXPECT_EQ(place({.select = "2:ncpus=1"}), "(n1:ncpus=1)+(n1:ncpus=1)");
    EXPECT_EQ(place({.select = "2:ncpus=1", .per_host = 1}), "(n1:ncpus=1)+(n2:ncpus=1)");
    EXPECT_THAT(place({.select = "3:ncpus=1", .per_host = 1}), HasSubstr("too small"));
    EXPECT_THAT(place({.select = "4:ncpus=1", .per_host = 3}), HasSubstr("4 chunks, 3 on each host"));
    EXPECT_EQ(place({.select = "2:ncpus=1", .chunk_order = "round_robin"}), "(n1:ncpus=1)+(n2:ncpus=1)");
    EXPECT_EQ(place({.select = "2:ncpus=1", .prefer = "bigmem=True"}), "(n2:ncpus=1)+(n2:ncpus=1)");
    world.policy().chunk_order = ChunkOrder::round_robin;
    world.policy().preferences = false;
    world.configure();
    EXPECT_EQ(place({.select = "2:ncpus=1", .prefer = "bigmem=True"}), "(n1:ncpus=1)+(n2:ncpus=1)");
    EXPECT_EQ(place({.select = "2:ncpus=1", .chunk_order = "fill"}), "(n1:ncpus=1)+(n1:ncpus=1)");
}

TEST_F(AdvanceReservation, HasNoRangeOfChunks) {
    const int one =
        world.reserve({.start = at(12), .end = at(13), .select = "1:ncpus=1", .select_range = "1-4"});
    EXPECT_THAT(world.cycle(at(9)).denied.at(one), HasSubstr("it can't have a select_range"));
}

// A vnode that serves one queue is for that queue's users, whom a reservation's queue doesn't know.
TEST_F(AdvanceReservation, TakesNoVnodeThatServesAQueue) {
    world.vnode({.name = "n2", .ncpus = 4, .queue = "workq"});
    const int both = world.reserve({at(12), at(13), "2:ncpus=4"});
    const int one = world.reserve({at(12), at(13), "1:ncpus=4"});
    const auto outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.denied, ElementsAre(Key(both)));
    EXPECT_EQ(outcome.confirmed.at(one), "(n1:ncpus=4)");
}

TEST_F(AdvanceReservation, OneThatIsAskedForAgainKeepsWhatItHasUntilTheAnswer) {
    const int one = world.reserve({at(10), at(12), "1:ncpus=4"});
    const int other = world.reserve({at(13), at(14), "1:ncpus=4"});
    (void)world.cycle(at(9));
    world.ask_again(one, {at(10), at(13, 30), "1:ncpus=4"});
    auto outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.denied, ElementsAre(Key(one))) << "the other one is in the way";
    (void)job(4, 90 * kMinute);
    EXPECT_THAT(world.cycle(at(9)).started, IsEmpty()) << "it has kept its first hours";
    world.ask_again(one, {at(11), at(13), "1:ncpus=4"});
    outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.confirmed, ElementsAre(Key(one)));
    EXPECT_THAT(outcome.started, ::testing::SizeIs(1)) << "an hour more is free for it";
    (void)other;
}

// A fixture with a reservation that is confirmed on n2, since a job has n1 until 11:00.
struct AlteredReservation : AdvanceReservation {
    int one = 0;
    void SetUp() override {
        AdvanceReservation::SetUp();
        world.vnode({.name = "n2", .ncpus = 4});
        (void)job(4, 2 * kHour);
        EXPECT_THAT(world.cycle(at(9)).started, ::testing::SizeIs(1));
        one = world.reserve({at(10), at(12), "2:ncpus=2"});
        EXPECT_EQ(world.cycle(at(9)).confirmed.at(one), "(n2:ncpus=2)+(n2:ncpus=2)");
    }
    // Begins the reservation with a job in it, and ends the job on n1.
    void begin() {
        world.begin_reservation(one);
        const int inside = job(2, kHour, World::queue_of_reservation(one));
        EXPECT_EQ(world.cycle(at(10)).exec_vnode.at(inside), "(n2:ncpus=2)");
        world.finish(1, at(10));
    }
};

TEST_F(AlteredReservation, StaysOnItsVnodesIfItCan) {
    world.finish(1, at(9));
    world.ask_again(one, {at(10), at(13), "2:ncpus=2"});
    EXPECT_EQ(world.cycle(at(9)).confirmed.at(one), "(n2:ncpus=2)+(n2:ncpus=2)");
    (void)world.reserve({at(13), at(14), "1:ncpus=4:host=n2"});
    (void)world.cycle(at(9));
    world.ask_again(one, {at(10), at(13, 30), "2:ncpus=2"});
    EXPECT_EQ(world.cycle(at(9)).confirmed.at(one), "(n1:ncpus=2)+(n1:ncpus=2)")
        << "they are taken from 13 on";
}

TEST_F(AlteredReservation, StaysWhereItsJobsRunOrIsDenied) {
    begin();
    world.ask_again(one, {at(10), at(13), "2:ncpus=2"});
    EXPECT_EQ(world.cycle(at(10)).confirmed.at(one), "(n2:ncpus=2)+(n2:ncpus=2)");
    (void)world.reserve({at(13), at(14), "1:ncpus=4:host=n2"});
    (void)world.cycle(at(10));
    world.ask_again(one, {at(10), at(13, 30), "2:ncpus=2"});
    EXPECT_THAT(world.cycle(at(10)).denied.at(one), HasSubstr("jobs run in it"));
}

TEST_F(AlteredReservation, GivesBackWhereNoJobRuns) {
    // The reservation has both vnodes, and a job on each. When its first job has ended, only the second vnode
    // has a job.
    world.finish(1, at(9));
    const int both = world.reserve({at(14), at(16), "2:ncpus=4"});
    EXPECT_EQ(world.cycle(at(9)).confirmed.at(both), "(n1:ncpus=4)+(n2:ncpus=4)");
    world.end_reservation(one, at(12));
    world.begin_reservation(both);
    const std::string queue = World::queue_of_reservation(both);
    const int first = job(4, kHour, queue);
    const int second = job(4, kHour, queue);
    EXPECT_EQ(world.cycle(at(14)).exec_vnode.at(second), "(n2:ncpus=4)");
    world.ask_again(both, {at(14), at(16), "1:ncpus=4"});
    EXPECT_THAT(world.cycle(at(14)).denied.at(both), HasSubstr("jobs run in it"));
    world.finish(first, at(14));
    world.ask_again(both, {at(14), at(16), "1:ncpus=4"});
    EXPECT_EQ(world.cycle(at(14)).confirmed.at(both), "(n2:ncpus=4)");
}

TEST_F(AdvanceReservation, WakesTheSchedulerAtItsStartAndEnd) {
    const int one = world.reserve({at(10), at(12), "1:ncpus=4"});
    (void)world.cycle(at(9));
    (void)world.scheduler.tick(at(9));
    EXPECT_EQ(world.scheduler.next_deadline(at(9)), at(10));
    EXPECT_TRUE(world.scheduler.tick(at(10)).cycle_wanted);
    EXPECT_EQ(world.scheduler.next_deadline(at(10)), at(12));
    (void)one;
}

TEST_F(AdvanceReservation, IsAskedForByHostsThatCarryItOut) {
    const int one = world.reserve({at(10), at(12)});
    world.scheduler.set_answer_reservations(false);
    EXPECT_THAT(world.cycle(at(9)).confirmed, IsEmpty());
    world.scheduler.set_answer_reservations(true);
    EXPECT_THAT(world.cycle(at(9)).confirmed, ElementsAre(Key(one)));
}

// A reservation's queue needn't be one of the queues in the Origin policy.
TEST(AdvanceReservationOfOrigin, ItsJobsStartInItsQueue) {
    World world;
    world.queue({.name = "batch"});
    world.origin({"batch"});
    world.vnode({.name = "n1", .ncpus = 4});
    world.configure();
    const int one = world.reserve({at(10), at(12), "1:ncpus=3"});
    EXPECT_THAT(world.cycle(at(9)).confirmed, ElementsAre(Key(one)));
    world.begin_reservation(one);
    const int inside = world.job({.queue = "R1", .ncpus = 3, .walltime = kHour}, at(10));
    const int other = world.job({.queue = "submit", .ncpus = 2, .walltime = kHour}, at(10));
    const auto outcome = world.cycle(at(10));
    EXPECT_THAT(outcome.started, ElementsAre(inside));
    EXPECT_EQ(outcome.queue.at(inside), "R1");
    EXPECT_THAT(outcome.comment, Contains(Key(other)));
}

TEST_F(AdvanceReservation, ReplacesWhatItLosesAndStaysWhereItsJobsRun) {
    for (const char* name : {"n1", "n2", "n3", "n4"}) world.vnode({.name = name, .ncpus = 1});
    const int before = job(1, 2 * kHour);
    ASSERT_THAT(world.cycle(at(9)).started, ElementsAre(before));
    const ReservationOptions o{at(10), at(12), "2:ncpus=1"};
    const int one = world.reserve(o);
    EXPECT_EQ(world.cycle(at(9)).confirmed.at(one), "(n2:ncpus=1)+(n3:ncpus=1)");
    world.begin_reservation(one);
    const int inside = job(1, kHour, World::queue_of_reservation(one));
    EXPECT_EQ(world.cycle(at(10)).exec_vnode.at(inside), "(n2:ncpus=1)");
    world.finish(before, at(10));
    world.vnode({.name = "n3", .ncpus = 1, .free = false});
    world.ask_again(one, o);
    EXPECT_EQ(world.cycle(at(10)).confirmed.at(one), "(n1:ncpus=1)+(n2:ncpus=1)");
    world.vnode({.name = "n2", .ncpus = 1, .free = false});
    world.ask_again(one, o);
    EXPECT_THAT(world.cycle(at(10)).denied.at(one), HasSubstr("jobs run in it"))
        << "the job's own vnode is lost";
}

TEST_F(AdvanceReservation, ReplacesWhatItLosesInThePlacementSetThatItAsksFor) {
    world.vnode({.name = "n1", .ncpus = 1, .free = false});
    for (const char* name : {"a1", "a2", "a3", "a4"})
        world.vnode({.name = name, .ncpus = 1, .arch = name[1] == '4' ? "b" : "a"});
    world.vnode({.name = "b1", .ncpus = 1, .arch = "b"});
    const ReservationOptions o{at(10), at(12), "2:ncpus=1", "scatter:group=arch"};
    const int one = world.reserve(o);
    ASSERT_EQ(world.cycle(at(9)).confirmed.at(one), "(a4:ncpus=1)+(b1:ncpus=1)");
    const ReservationOptions p{at(10), at(12), "2:ncpus=1:arch=a", "scatter:group=arch"};
    const int two = world.reserve(p);
    ASSERT_EQ(world.cycle(at(9)).confirmed.at(two), "(a1:ncpus=1)+(a2:ncpus=1)");
    for (const int number : {one, two}) {
        world.begin_reservation(number);
        (void)job(1, kHour, World::queue_of_reservation(number));
    }
    ASSERT_EQ(world.cycle(at(10)).started.size(), 2);
    for (const char* name : {"a2", "b1"})
        world.vnode({.name = name, .ncpus = 1, .free = false, .arch = name[0] == 'a' ? "a" : "b"});
    world.ask_again(one, o);
    world.ask_again(two, p);
    const auto outcome = world.cycle(at(10));
    EXPECT_EQ(outcome.confirmed.at(two), "(a1:ncpus=1)+(a3:ncpus=1)");
    EXPECT_THAT(outcome.denied, ElementsAre(Key(one))) << "a3 was of another set, though it was free";
}

TEST_F(AdvanceReservation, ReplacesNothingByAnotherPlacementSet) {
    world.vnode({.name = "n1", .ncpus = 1, .free = false});
    for (const char* name : {"a1", "a2", "b1", "b2", "a3", "a4"})
        world.vnode({.name = name, .ncpus = 1, .arch = std::string(1, *name)});
    const int before = world.job({.queue = "workq", .walltime = kHour, .select = "2:ncpus=1:arch=b"}, at(9));
    ASSERT_THAT(world.cycle(at(9)).started, ElementsAre(before));
    const ReservationOptions o{at(9), at(12), "2:ncpus=1", "scatter:group=arch"};
    const int one = world.reserve(o);
    ASSERT_EQ(world.cycle(at(9)).confirmed.at(one), "(a1:ncpus=1)+(a2:ncpus=1)");
    world.begin_reservation(one);
    (void)job(1, kHour, World::queue_of_reservation(one));
    ASSERT_EQ(world.cycle(at(9)).started.size(), 1);
    // The vnodes of set b, which is smaller, are free at 10:00. Still, the replacement vnode is of set a.
    world.finish(before, at(10));
    world.vnode({.name = "a2", .ncpus = 1, .free = false, .arch = "a"});
    world.ask_again(one, o);
    EXPECT_EQ(world.cycle(at(10)).confirmed.at(one), "(a1:ncpus=1)+(a3:ncpus=1)");
}

TEST_F(AdvanceReservation, StaysInOnePlacementSetOfTheServerIfItFitsOne) {
    world.vnode({.name = "n1", .ncpus = 4, .arch = "a"});
    world.vnode({.name = "n2", .ncpus = 4, .arch = "a"});
    world.vnode({.name = "n3", .ncpus = 4, .arch = "b"});
    ServerRecord server;
    server.node_group_key = "arch";
    server.node_group_enable = true;
    world.server(server);
    const int one = world.reserve({at(10), at(12), "1:ncpus=4:arch=a"});
    EXPECT_EQ(world.cycle(at(9)).confirmed.at(one), "(n1:ncpus=4)");
    const int beside = world.reserve({at(11), at(13), "2:ncpus=4"});
    const int in_no_set = world.reserve({at(12), at(13), "3:ncpus=4"});
    const auto outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.denied, ElementsAre(Key(beside))) << "n2 and n3 are of two sets";
    EXPECT_EQ(outcome.confirmed.at(in_no_set), "(n1:ncpus=4)+(n2:ncpus=4)+(n3:ncpus=4)");
}

// ---- Standing reservations.

struct StandingReservation : AdvanceReservation {
    // Returns a reservation from 12:00 to 14:00 on this number of days.
    static ReservationOptions noon(int days, const std::string& select) {
        ReservationOptions o{at(12), at(14), select};
        for (int day = 1; day < days; ++day)
            o.later.emplace_back(at(12) + Seconds(day * 24 * kHour), at(14) + Seconds(day * 24 * kHour));
        return o;
    }
    static Instant on_day(int day, int hour) { return at(hour) + Seconds(day * 24 * kHour); }
};

TEST_F(StandingReservation, IsConfirmedWithPlacesForEachOfItsTimes) {
    world.vnode({.name = "n2", .ncpus = 4});
    (void)world.reserve({on_day(1, 13), on_day(1, 15), "1:ncpus=3"});
    (void)world.cycle(at(9));
    const int standing = world.reserve(noon(3, "1:ncpus=3"));
    EXPECT_EQ(world.cycle(at(9)).confirmed.at(standing), "(n1:ncpus=3);(n2:ncpus=3);(n1:ncpus=3)");
    // Later reservations don't get its places at any of its times.
    const int second = world.reserve({on_day(2, 9), on_day(2, 13), "2:ncpus=4"});
    const int beside = world.reserve({on_day(2, 9), on_day(2, 13), "1:ncpus=4+1:ncpus=1"});
    const auto outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.denied, ElementsAre(Key(second)));
    EXPECT_EQ(outcome.confirmed.at(beside), "(n2:ncpus=4)+(n1:ncpus=1)");
}

TEST_F(StandingReservation, IsDeniedIfOneOfItsTimesCannotBeHad) {
    (void)world.reserve({on_day(2, 13), on_day(2, 15), "1:ncpus=2"});
    (void)world.cycle(at(9));
    const int standing = world.reserve(noon(5, "1:ncpus=3"));
    const auto outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.denied, ElementsAre(Key(standing)));
    EXPECT_THAT(outcome.denied.at(standing),
                HasSubstr("too little that is free for all of its time (occurrence 3 of the 5 that are"));
    const int two = world.reserve(noon(2, "1:ncpus=3"));
    EXPECT_THAT(world.cycle(at(9)).confirmed, ElementsAre(Key(two)));
}

TEST_F(StandingReservation, CountsWithTheEndsOfRunningJobs) {
    const int running = job(4, 26 * kHour);  // runs until 11:00 on the next day
    EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(running));
    ReservationOptions o = noon(3, "1:ncpus=4");
    std::tie(o.start, o.end) = o.later[0];
    o.later.erase(o.later.begin());
    const int later = world.reserve(o);
    EXPECT_THAT(world.cycle(at(9)).confirmed, ElementsAre(Key(later)));
    const int next = job(4, 24 * kHour);
    world.finish(running, at(10));
    EXPECT_THAT(world.cycle(at(10)).started, ElementsAre(next)) << "it ends before the first time";
    world.finish(next, at(11));
    (void)job(4, 30 * kHour);
    EXPECT_THAT(world.cycle(at(11)).started, IsEmpty());
}

TEST_F(StandingReservation, NoJobRunsIntoAnyOfItsTimes) {
    (void)world.reserve(noon(3, "1:ncpus=3"));
    (void)world.cycle(at(9));
    const int until_noon = job(3, 3 * kHour);
    const int long_and_small = job(1, 100 * kHour);
    EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(until_noon, long_and_small));
    world.finish(until_noon, at(12));
    world.finish(long_and_small, at(12));
    // The first occurrence ends at 14:00; the second begins 22 hours later.
    const int too_long = job(2, 23 * kHour);
    const int fits = job(2, 22 * kHour);
    EXPECT_THAT(world.cycle(at(14)).started, ElementsAre(fits));
    EXPECT_FALSE(world.running(too_long));
}

TEST_F(StandingReservation, ItsJobsHaveWhatItHasNow) {
    world.vnode({.name = "n2", .ncpus = 4});
    const int standing = world.reserve(noon(3, "1:ncpus=3"));
    (void)world.cycle(at(9));
    world.begin_reservation(standing);
    const int inside = job(3, kHour, World::queue_of_reservation(standing));
    const int more = job(1, kHour, World::queue_of_reservation(standing));
    const auto outcome = world.cycle(at(12));
    EXPECT_THAT(outcome.started, ElementsAre(inside));
    EXPECT_THAT(outcome.comment, Contains(Key(more))) << "its later times give it no more now";
}

TEST_F(StandingReservation, LaterTimesMayAskForOtherThanTheFirst) {
    world.vnode({.name = "n2", .ncpus = 4});
    ReservationOptions o = noon(3, "1:ncpus=2");
    o.later_select = "2:ncpus=3";
    const int standing = world.reserve(o);
    EXPECT_EQ(world.cycle(at(9)).confirmed.at(standing),
              "(n1:ncpus=2);(n1:ncpus=3)+(n2:ncpus=3);(n1:ncpus=3)+(n2:ncpus=3)");
    const int beside_first = world.reserve({at(12), at(14), "1:ncpus=2"});
    const int beside_second = world.reserve({on_day(1, 12), on_day(1, 14), "1:ncpus=2"});
    const auto outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.confirmed, ElementsAre(Key(beside_first)));
    EXPECT_THAT(outcome.denied, ElementsAre(Key(beside_second)));
}

TEST_F(StandingReservation, OneThatIsDegradedIsGivenOthersOnlyWhereItAsks) {
    world.vnode({.name = "n2", .ncpus = 4});
    ReservationOptions o = noon(3, "1:ncpus=3");
    const int standing = world.reserve(o);
    EXPECT_EQ(world.cycle(at(9)).confirmed.at(standing), "(n1:ncpus=3);(n1:ncpus=3);(n1:ncpus=3)");
    world.vnode({.name = "n1", .ncpus = 4, .free = false});
    o.only = {1};
    world.ask_again(standing, o);
    EXPECT_EQ(world.cycle(at(9)).confirmed.at(standing), "(n2:ncpus=3)");
    // The first and the third occurrence are on n1, and the second is on n2.
    world.vnode({.name = "n1", .ncpus = 4});
    const int third = world.reserve({on_day(2, 12), on_day(2, 13), "1:ncpus=4+1:ncpus=1"});
    const int second = world.reserve({on_day(1, 12), on_day(1, 13), "1:ncpus=4+1:ncpus=1"});
    const auto outcome = world.cycle(at(9));
    EXPECT_EQ(outcome.confirmed.at(third), "(n1:ncpus=4)+(n2:ncpus=1)");
    EXPECT_EQ(outcome.confirmed.at(second), "(n2:ncpus=4)+(n1:ncpus=1)");
}

TEST_F(StandingReservation, WakesTheSchedulerAtEachOfItsTimes) {
    (void)world.reserve(noon(2, "1:ncpus=4"));
    (void)world.cycle(at(9));
    (void)world.scheduler.tick(at(9));
    for (const Instant next : {at(12), at(14), on_day(1, 12), on_day(1, 14)}) {
        EXPECT_EQ(world.scheduler.next_deadline(next - Seconds(1)), next);
        EXPECT_TRUE(world.scheduler.tick(next).cycle_wanted);
    }
}

// ---- Reservations and jobs on random sites.

// Returns how many CPUs of a vnode are held, after an instant, by running jobs that aren't in a reservation.
std::int64_t held_by_others(const World& world, const std::vector<int>& jobs, VnodeHandle vnode,
                            Instant after) {
    std::int64_t sum = 0;
    for (const int job : jobs) {
        if (!world.running(job) || world.queue_of(job).starts_with("R")) continue;
        const std::int64_t walltime = world.options(job).walltime;
        // a job without a walltime may have a queue's default, which isn't known here
        if (walltime < 0 || world.started(job) + Seconds(walltime) <= after) continue;
        for (const auto& [held, amounts] : world.places(job))
            for (const HeldAmount& a : amounts)
                if (held == static_cast<std::uint64_t>(vnode) && a.resource == ncpus) sum += a.number;
    }
    return sum;
}

// The vnodes that a reservation holds during one of its occurrences.
struct Held {
    int number;
    Instant start;
    Instant end;
    const World::Reserved::Places* places;
};
std::vector<Held> held_in(const World& world) {
    std::vector<Held> all;
    for (const auto& [number, one] : world.reservations()) {
        if (!one.places.empty()) all.push_back({number, one.held.start, one.held.end, &one.places});
        for (std::size_t i = 0; i < one.later.size(); ++i)
            all.push_back({number, one.held.later[i].first, one.held.later[i].second, &one.later[i]});
    }
    return all;
}

struct RandomReservations {
    Site& a;
    Site& b;
    std::mt19937 random;
    int made = 0;

    int pick(int from, int to) { return std::uniform_int_distribution(from, to)(random); }
    bool chance(int percent) { return pick(1, 100) <= percent; }

    void next(Instant now, std::vector<int>& jobs) {
        if (chance(20)) {
            const Instant start = now + Seconds(pick(0, 6) * 20 * kMinute);
            ReservationOptions o{start, start + Seconds(pick(1, 9) * 20 * kMinute),
                                 std::to_string(pick(1, 3))};
            o.select += ":ncpus=" + std::to_string(pick(1, 4));
            if (chance(20)) o.place = "scatter";
            if (chance(10)) o.place = "excl";
            for (int times = chance(30) ? pick(1, 4) : 0; times > 0; --times) {
                const Instant last = o.later.empty() ? o.end : o.later.back().second;
                const Instant next = last + Seconds(pick(0, 6) * 20 * kMinute);
                o.later.emplace_back(next, next + Seconds(pick(1, 9) * 20 * kMinute));
            }
            a.world.reserve(o);
            b.world.reserve(o);
        }
        std::vector<int> numbers;
        for (const auto& [number, reserved] : a.world.reservations()) numbers.push_back(number);
        for (const int number : numbers) {
            const World::Reserved reserved = a.world.reservations().at(number);
            const bool over = now >= (reserved.places.empty() ? reserved.options : reserved.held).end;
            if (over || chance(2)) {
                const auto in_it = [&](int job) {
                    return a.world.queue_of(job) == World::queue_of_reservation(number);
                };
                std::erase_if(jobs, in_it);
                a.world.end_reservation(number, now);
                b.world.end_reservation(number, now);
                continue;
            }
            if (!reserved.begun && !reserved.places.empty() && now >= reserved.held.start) {
                a.world.begin_reservation(number);
                b.world.begin_reservation(number);
            }
            if (!reserved.places.empty() && chance(30)) {
                const JobOptions o{.queue = World::queue_of_reservation(number),
                                   .owner = "u" + std::to_string(pick(1, 4)),
                                   .ncpus = pick(1, 4),
                                   .walltime = pick(1, 6) * 20 * kMinute,
                                   .queued = now};
                jobs.push_back(a.world.job(o, now));
                b.world.job(o, now);
            }
        }
    }
};

// At random sites, cycles by events decide the same as cycles over all jobs, and no job runs into a
// reservation.
void try_random_sites(Algorithm algorithm, int sites, int& confirmed, int& denied, int& in_them) {
    for (int seed = 1; seed <= sites; ++seed) {
        SCOPED_TRACE(seed);
        Site by_events(static_cast<unsigned>(seed), algorithm);
        Site by_all(static_cast<unsigned>(seed), algorithm);
        by_all.world.scheduler.set_by_events(false);
        if (seed % 2 == 0) by_events.world.scheduler.set_comment_interval(Seconds::max());
        Events events{std::mt19937(static_cast<unsigned>(seed)), at(6), {}, {}};
        events.arrivals = 45;  // with 45, no manager runs a job on vnodes of reservations
        RandomReservations reservations{by_events, by_all, std::mt19937(static_cast<unsigned>(seed) + 1000)};
        for (int step = 0; step < 100; ++step) {
            SCOPED_TRACE(step);
            const CycleTrigger trigger = events.next(by_events, by_all);
            reservations.next(events.now, events.jobs);
            const auto a = by_events.world.cycle(events.now, true, "default", trigger);
            const auto b = by_all.world.cycle(events.now, true, "default", trigger);
            EXPECT_EQ(a.confirmed, b.confirmed);
            EXPECT_EQ(a.denied, b.denied);
            expect_same(by_events, a, "by events", b, "over all jobs",
                        part::starts | part::chunks | part::rejections);
            std::erase_if(events.jobs, [&](int job) { return a.rejected.contains(job); });
            confirmed += static_cast<int>(a.confirmed.size());
            denied += static_cast<int>(a.denied.size());
            for (const int job : a.started) in_them += by_events.world.queue_of(job).starts_with("R") ? 1 : 0;
            // jobs outside of reservations don't use the CPUs that a reservation has on a vnode
            const World& world = by_events.world;
            for (std::size_t v = 0; v < by_events.vnodes.size(); ++v) {
                const VnodeHandle vnode = world.vnode_handle(by_events.vnodes[v]);
                const auto here = [&](int job) {
                    return !world.queue_of(job).starts_with("R") &&
                           std::ranges::any_of(world.places(job), [&](const auto& place) {
                               return place.first == static_cast<std::uint64_t>(vnode);
                           });
                };
                if (std::ranges::none_of(a.started, here)) continue;
                const std::int64_t total = by_events.vnode(static_cast<int>(v)).ncpus;
                for (const Held& first : held_in(world)) {
                    if (first.end <= events.now) continue;
                    const Instant when = std::max(first.start, events.now);
                    std::int64_t reserved = 0;
                    for (const Held& one : held_in(world)) {
                        if (one.start > when || one.end <= when) continue;
                        for (const auto& [held, amounts] : *one.places)
                            for (const HeldAmount& amount : amounts)
                                if (held == static_cast<std::uint64_t>(vnode) && amount.resource == ncpus)
                                    reserved += amount.number;
                    }
                    EXPECT_LE(held_by_others(world, events.jobs, vnode, when) + reserved,
                              std::max(total, reserved))
                        << by_events.vnodes[v] << " when R" << first.number << " is there";
                }
            }
            if (testing::Test::HasFailure()) return;
            events.pass_time();
            events.now = std::max(events.now, at(6));
        }
    }
}

TEST(AdvanceReservations, NoJobBreaksIntoThemAndEventsTellAllThatMatters) {
    for (const Algorithm algorithm : {Algorithm::standard, Algorithm::origin}) {
        int confirmed = 0;
        int denied = 0;
        int in_them = 0;
        const int sites = pbs::test::cases(25);
        try_random_sites(algorithm, sites, confirmed, denied, in_them);
        if (HasFailure()) return;
        EXPECT_GT(confirmed, sites);
        EXPECT_GT(denied, sites);
        EXPECT_GT(in_them, sites);
    }
}

}  // namespace
}  // namespace pbs::sched::test
