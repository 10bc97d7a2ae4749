// Tests two classes by which a cycle keeps answers that hold for similar jobs: PlaceMap, a hash map; and
// Standings, which gives users one number if filters of owners and groups refuse them alike.

#include "server_plugin/scheduler/framework/categories.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace pbs::sched {
namespace {

TEST(PlaceMap, KeepsWhatIsSetByKey) {
    std::mt19937_64 random(1);
    PlaceMap map;
    std::unordered_map<std::uint64_t, std::uint32_t> expected;
    for (std::uint32_t i = 1; i <= 20'000; ++i) {
        // make keys that differ in few high halves, and in consecutive low halves
        const std::uint64_t key = (random() % 7 + 1) << 32 | random() % 5'000;
        std::uint32_t& place = map[key];
        ASSERT_EQ(place, expected[key]);
        if (place == 0) place = expected[key] = i;
    }
    map.clear();
    EXPECT_EQ(map[std::uint64_t{1} << 32], 0U);
}

TEST(PlaceMap, IsEmptyAfterEachOfManyClears) {
    std::mt19937_64 random(2);
    PlaceMap map;
    for (const std::uint32_t keys : {3U, 8U, 9U, 200U, 2U, 8U, 1U, 0U, 5U, 300U, 7U}) {
        std::unordered_map<std::uint64_t, std::uint32_t> expected;
        for (std::uint32_t i = 1; i <= keys; ++i) {
            const std::uint64_t key = random() % 300 + 1;
            map[key] = expected[key] = i;
        }
        for (std::uint64_t key = 1; key <= 300; ++key) ASSERT_EQ(map.get(key), expected[key]) << keys;
        map.clear();
        for (std::uint64_t key = 1; key <= 300; ++key) ASSERT_EQ(map.get(key), 0U) << keys;
    }
}

TEST(Standings, UsersWhoAreRefusedTheSameShareANumber) {
    Standings standings;
    Standing refused{{}, {{3, {{ReasonCode::queue_run_user, 1, 0, 5}}}, {}}, 0, 0};
    standings.change(standings.user(0), {{}, {{}, {}}, 0, 0});
    standings.change(standings.user(1), refused);
    standings.change(standings.user(2), refused);
    refused.owner = 7;
    standings.change(standings.user(3), refused);
    EXPECT_EQ(standings.user(0).standing, 0U) << "nothing is refused";
    EXPECT_NE(standings.user(1).standing, 0U);
    EXPECT_EQ(standings.user(1).standing, standings.user(2).standing);
    EXPECT_NE(standings.user(1).standing, standings.user(3).standing) << "a user who is told apart";
    EXPECT_EQ(standings[standings.user(3).standing], refused);
}

TEST(Standings, AUserWhoIsRefusedNothingAnyMoreIsAsAnyOther) {
    Standings standings;
    const Standing refused{{1, {{ReasonCode::over_allocation}}}, {{}}, 0, 0};
    standings.change(standings.user(0), refused);
    EXPECT_NE(standings.user(0).standing, 0U);
    standings.change(standings.user(0), {{}, {{}}, 0, 0});
    EXPECT_EQ(standings.user(0).standing, 0U);
}

}  // namespace
}  // namespace pbs::sched
