#include "server_plugin/record/change_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::record {
namespace {

using Kind = sched::ObjectRef::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::uint64_t> ids(const std::optional<ChangeLog::Some>& some) {
    std::vector<std::uint64_t> all;
    for (const ChangeLog::Changed& one : some.value().objects) all.push_back(one.object.id);
    return all;
}

TEST(ChangeLog, HasEachObjectOnceAtItsFirstChange) {
    ChangeLog log(1000);
    EXPECT_THAT(ids(log.after(1000, 10)), IsEmpty());
    for (const std::uint64_t job : {7U, 8U, 7U, 9U}) log.note(Kind::job, job);
    log.note(Kind::queue, 7);
    EXPECT_EQ(log.version(), 1005);
    EXPECT_THAT(ids(log.after(1000, 10)), ElementsAre(7, 8, 9, 7));
    EXPECT_THAT(ids(log.after(1002, 10)), ElementsAre(7, 9, 7));
    EXPECT_EQ(log.after(1002, 10)->objects[1].first, 1004);
    EXPECT_THAT(ids(log.after(1005, 10)), IsEmpty());
}

TEST(ChangeLog, GivesSomeAtATimeAndSaysHowFarTheyGo) {
    ChangeLog log(0);
    for (std::uint64_t job = 1; job <= 5; ++job) log.note(Kind::job, job);
    EXPECT_THAT(ids(log.after(1, 2)), ElementsAre(2, 3));
    EXPECT_EQ(log.after(1, 2)->version, 3);
    EXPECT_EQ(log.after(3, 100)->version, 5);
}

TEST(ChangeLog, ForgetsTheOldest) {
    ChangeLog log(500);
    for (std::size_t i = 0; i < ChangeLog::kMost; ++i) log.note(Kind::job, i);
    EXPECT_TRUE(log.after(500, 1));
    log.note(Kind::job, 1);
    EXPECT_FALSE(log.after(500, 1));
    EXPECT_TRUE(log.after(501, 1));
    EXPECT_EQ(ids(log.after(501, 1)), std::vector<std::uint64_t>{1});
}

TEST(ChangeLog, KnowsTheNamesOfTheObjectsThatHaveOne) {
    ChangeLog log(0);
    const auto objects = [&log](std::int64_t version) {
        const auto some = log.after(version, 10);
        std::vector<std::string> texts;
        for (const ChangeLog::Changed& one : some.value().objects)
            texts.push_back(one.object.name + std::to_string(one.object.id));
        return texts;
    };
    log.note({Kind::sched, 0, "default"});
    log.note(Kind::job, 7);
    log.note({Kind::configured, 3, "p1"});
    log.note({Kind::configured, 3, "p2"});
    log.note({Kind::sched, 0, "default"});
    EXPECT_THAT(objects(0), ElementsAre("default0", "7", "p13", "p23"));
    EXPECT_THAT(objects(1), ElementsAre("7", "p13", "p23", "default0"));
    for (std::size_t i = 3; i < ChangeLog::kMost; ++i) log.note(Kind::job, 7);
    EXPECT_THAT(objects(2), ElementsAre("p13", "p23", "default0", "7"));
}

TEST(ChangeLog, KnowsNoVersionsOfOtherLives) {
    ChangeLog log(500);
    log.note({Kind::sched, 0, "default"});
    EXPECT_FALSE(log.after(499, 1)) << "of an earlier one";
    EXPECT_FALSE(log.after(502, 1)) << "nobody has said it yet";
    EXPECT_EQ(log.after(500, 1)->objects[0].object.name, "default");
}

}  // namespace
}  // namespace pbs::record
