#include "text/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace pbs::text {
namespace {

TEST(Json, EveryTextThereAndBack) {
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    for (const std::string& text : {std::string(), std::string("a b~"), std::string("\"\\\n\x7f"),
                                    std::string("Grüße"), std::string("caf\xe9"), bytes})
        EXPECT_EQ(from_json(nlohmann::json::parse(to_json(text))), text) << to_json(text);
    EXPECT_EQ(to_json("a b~"), "\"a b~\"");
    EXPECT_EQ(to_json("\"\\\n"), R"("\"\\\n")");
    EXPECT_EQ(to_json("caf\xe9"), R"({"hex":"636166e9"})");
}

TEST(Json, AnythingElseIsNoText) {
    for (const char* json : {"5", "null", "[]", "{}", R"({"hex":5})", R"({"hex":"e"})", R"({"hex":"xx"})",
                             R"({"hex":"e9","more":""})"})
        EXPECT_EQ(from_json(nlohmann::json::parse(json)), std::nullopt) << json;
}

}  // namespace
}  // namespace pbs::text
