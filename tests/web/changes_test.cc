#include "tools/web/pages/pages.h"

#include <gtest/gtest.h>

#include "tests/web/site_of.h"

namespace pbs::web {
namespace {

TEST(ChangesTest, TheLatestComesFirst) {
    StatusOf rows("4", {{"time", "100"},
                        {"user", "alice"},
                        {"host", "h"},
                        {"command", "create policy x"},
                        {"type", "policy"},
                        {"object", "x"},
                        {"change", "4"}});
    rows.add("5",
             {{"time", "200"}, {"user", "bob"}, {"command", kScript}, {"type", "server"}, {"change", "5"}});
    const Json list = history_rows_json(rows.get());
    ASSERT_EQ(2, list.size());
    EXPECT_EQ(5, list[0]["revision"]);
    EXPECT_EQ("server", list[0]["object"]);
    EXPECT_EQ(kScript, list[0]["command"]);
    EXPECT_EQ("policy x", list[1]["object"]);
}

TEST(ChangesTest, WhatIsDifferent) {
    const auto difference = difference_json(R"({"policy":{"p1":{"by_queue":"True"}}})",
                                            R"({"policy":{"p1":{"by_queue":"False"},"p2":{}}})");
    ASSERT_TRUE(difference) << difference.error();
    const Json& objects = (*difference)["objects"];
    ASSERT_EQ(2, objects.size());
    EXPECT_EQ("policy p1", objects[0]["object"]);
    EXPECT_EQ((Json{{{"name", "by_queue"}, {"before", "True"}, {"after", "False"}}}),
              objects[0]["attributes"]);
    EXPECT_EQ(true, objects[1]["created"]);
    EXPECT_EQ("set policy p1 by_queue = False\ncreate policy p2\n", (*difference)["directives"]);
    EXPECT_FALSE(difference_json("", "{}"));
}

}  // namespace
}  // namespace pbs::web
