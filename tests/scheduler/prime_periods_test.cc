// Tests that PrimePeriods objects that move to another instant give the same answers as new ones made for
// that instant.

#include "server_plugin/scheduler/model/prime_periods.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/cases.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

TEST(PrimePeriods, MovedOnAreWhatTheyAreFromThere) {
    World world;
    std::mt19937 random(1);
    const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    for (int n = 0; n < pbs::test::cases(40); ++n) {
        SCOPED_TRACE(n);
        const auto prime = world.window(pick(0, 1) == 0 ? "FREQ=DAILY" : "FREQ=WEEKLY;BYDAY=MO,WE,FR",
                                        pick(0, 9), pick(12, 23));
        PrimePeriods moved(prime);
        Instant now = at(pick(0, 23));
        for (int step = 0; step < 200; ++step) {
            // move by seconds, hours or days, and sometimes back
            const int far = pick(0, 3) == 0 ? 200'000 : pick(0, 1) == 0 ? 7200 : 60;
            now += Seconds(pick(1, 20) == 1 ? -pick(0, far) : pick(0, far));
            moved.move_to(now);
            PrimePeriods fresh(prime, now);
            ASSERT_EQ(moved.now_inside(), prime.contains(now));
            ASSERT_EQ(moved.now_inside(), fresh.now_inside());
            ASSERT_EQ(moved.boundary(), fresh.boundary());
            for (int i = 0; i < 5; ++i) {
                const Seconds walltime(pick(0, i == 0 ? 3'000'000 : 100'000));
                const Seconds limit(pick(0, 40'000));
                Seconds most{0};
                for (const auto& period : prime.intervals(now, now + walltime))
                    most = std::max<Seconds>(most, period.end - period.start);
                ASSERT_EQ(moved.most_in_one(walltime), most);
                ASSERT_EQ(moved.end_of_one_above(limit, walltime), fresh.end_of_one_above(limit, walltime));
            }
        }
    }
}

TEST(PrimePeriods, WithoutPrimeTimeThereAreNone) {
    PrimePeriods none;
    none.move_to(at(10));
    EXPECT_FALSE(none.now_inside());
    EXPECT_EQ(none.boundary(), std::nullopt);
    EXPECT_EQ(none.most_in_one(Seconds(100'000)), Seconds(0));
    EXPECT_EQ(none.next_start(at(10)), std::nullopt);
}

}  // namespace
}  // namespace pbs::sched::test
