// Tests that jobs that accept less walltime than they request (min_walltime in OpenPBS) start with the
// longest possible walltime.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::uint32_t kLeast = bigmem + 1;

struct ShorterWalltime : testing::Test {
    World world;
    void SetUp() override {
        world.policy().help_starving_jobs = false;
        world.queue({.name = "workq"});
        world.vnode({.name = "n1", .ncpus = 4});
        world.scheduler.resource_defined({kLeast, ResourceKind::duration, "min_walltime", false});
        world.configure();
    }
    // Reports a waiting job with a walltime from `least` to `most` to the scheduler.
    void job(std::uint64_t number, std::int64_t cpus, std::int64_t most, std::int64_t least) {
        const std::string id = std::to_string(number) + ".server";
        const Amount asked[] = {{ncpus, cpus, {}}, {walltime, most, {}}, {kLeast, least, {}}};
        JobRecord record;
        record.job = JobHandle(number);
        record.sequence = number;
        record.id = id;
        record.owner = "ann";
        record.group = "staff";
        record.origin_queue = "workq";
        record.queue = QueueHandle(1);
        record.state = 'Q';
        record.ctime = record.qtime = record.etime = at(9);
        record.walltime = Seconds(most);
        record.requested = asked;
        world.scheduler.job_changed(at(9), record);
    }
    // Runs a cycle. Returns the jobs that start, with their walltimes.
    std::map<std::uint64_t, std::int64_t> starts(Instant now) {
        std::map<std::uint64_t, std::int64_t> out;
        const Decisions decisions = world.scheduler.cycle(now, "default", CycleTrigger::timer);
        for (const Decision& decision : decisions.list) {
            if (decision.kind != DecisionKind::run) continue;
            std::int64_t& set = out[static_cast<std::uint64_t>(decision.job)];
            for (const Amount& amount : decision.set_resources)
                if (amount.resource == walltime) set = amount.number;
        }
        return out;
    }
};

TEST_F(ShorterWalltime, IsAllThatItAsksForWhereThatIsFree) {
    job(1001, 4, 10 * kHour, kHour);
    EXPECT_THAT(starts(at(9)), ElementsAre(Pair(1001, 10 * kHour)));
}

TEST_F(ShorterWalltime, EndsAtTheReservationThatItWouldRunInto) {
    world.reserve({at(10), at(11), "1:ncpus=2"});
    world.reserve({at(12), at(13), "1:ncpus=3"});
    world.cycle(at(9));
    job(1001, 2, 10 * kHour, 600);
    EXPECT_THAT(starts(at(9)), ElementsAre(Pair(1001, 3 * kHour))) << "it fits beside the first one";
}

TEST_F(ShorterWalltime, IsNeverLessThanTheLeast) {
    world.reserve({at(10), at(11), "1:ncpus=4"});
    world.cycle(at(9));
    job(1001, 2, 10 * kHour, kHour + 1);
    EXPECT_THAT(starts(at(9)), IsEmpty());
    job(1002, 2, 10 * kHour, kHour);
    EXPECT_THAT(starts(at(9)), ElementsAre(Pair(1002, kHour)));
}

TEST_F(ShorterWalltime, ThatIsGivenCountsForThoseBehindIt) {
    world.reserve({at(10), at(11), "1:ncpus=4"});
    world.cycle(at(9));
    job(1001, 3, 10 * kHour, 600);
    job(1002, 2, 10 * kHour, 600);
    job(1003, 1, 10 * kHour, 600);
    EXPECT_THAT(starts(at(9)), ElementsAre(Pair(1001, kHour), Pair(1003, kHour)));
}

TEST_F(ShorterWalltime, EndsInTimeForWhatIsPlannedAfterIt) {
    world.policy().duration_offset = Seconds(60);
    world.configure();
    world.reserve({at(10), at(11), "1:ncpus=4"});
    world.cycle(at(9));
    job(1001, 2, 10 * kHour, 600);
    EXPECT_THAT(starts(at(9)), ElementsAre(Pair(1001, kHour - 60)));
}

TEST_F(ShorterWalltime, IsNoneOfTheOthers) {
    world.reserve({at(10), at(11), "1:ncpus=4"});
    world.cycle(at(9));
    const int other = world.job({.queue = "workq", .ncpus = 1, .walltime = 2 * kHour}, at(9));
    EXPECT_THAT(starts(at(9)), IsEmpty()) << other;
}

}  // namespace
}  // namespace pbs::sched::test
