#include "ifl/cmds/config_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ifl/cmds/datetime.h"

namespace pbs::cmds {
namespace {

std::vector<HistoryRow> rows() {
    return {{12, 12, 1795262400, "mary", "front", "set policy p1 by_queue = False", "policy", "p1", "{}",
             R"({"by_queue":"False"})"},
            {13, 13, 1795262401, "root", "h", "rollback to revision 11", "server", "", "null", "null"}};
}

TEST(HistoryText, IsOneLineARow) {
    EXPECT_EQ(history_text(rows()), fmt::format("    12  {}  mary@front  set policy p1 by_queue = False\n"
                                                "    13  {}  root@h  rollback to revision 11: server\n",
                                                instant_text(1795262400), instant_text(1795262401)));
}

TEST(HistoryText, BothPartsOfARequestAreOneLine) {
    std::vector<HistoryRow> both(2, rows().front());
    both[1].revision = 13;
    both[0].change = both[1].change = 12;
    EXPECT_EQ(history_text(both), fmt::format("    13  {}  mary@front  set policy p1 by_queue = False\n",
                                              instant_text(1795262400)));
    both[1].change = 13;
    EXPECT_EQ(std::ranges::count(history_text(both), '\n'), 2);
}

TEST(HistoryText, HidesNoControlCharacters) {
    auto all = rows();
    all.front().command = "set policy p1 comment = \x1b[2J";
    EXPECT_THAT(history_text(all), testing::HasSubstr("^[[2J"));
}

TEST(HistoryJson, HasValuesAsJson) {
    const auto json = nlohmann::json::parse(history_json(rows()));
    ASSERT_EQ(json.size(), 2U);
    EXPECT_EQ(json[0]["revision"], 12);
    EXPECT_EQ(json[0]["after"]["by_queue"], "False");
    EXPECT_TRUE(json[1]["before"].is_null());
    EXPECT_EQ(history_json({}), "[]\n");
}

TEST(HistoryRows, ComeFromTheServersReply) {
    attrl user{nullptr, const_cast<char*>("user"), nullptr, const_cast<char*>("mary"), SET};
    attrl time{&user, const_cast<char*>("time"), nullptr, const_cast<char*>("7"), SET};
    batch_status status{nullptr, const_cast<char*>("3"), &time, nullptr};
    const auto found = history_rows(&status);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].revision, 3);
    EXPECT_EQ(found[0].time, 7);
    EXPECT_EQ(found[0].user, "mary");
    EXPECT_TRUE(history_rows(nullptr).empty());
}

}  // namespace
}  // namespace pbs::cmds
