#include "ifl/cmds/json_value.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "tests/cases.h"

namespace pbs::cmds {
namespace {

TEST(JsonValue, IsANumberWhereThatTellsAllOfTheText) {
    for (const char* number :
         {"0", "5", "-3", "1.5", "-0.5", "0.25", "100", "1795428000", "123456789012345"}) {
        EXPECT_TRUE(json_value(number).is_number()) << number;
        EXPECT_EQ(json_value(number).dump(), number);
    }
}

TEST(JsonValue, IsTheTextOtherwise) {
    for (const char* text : {"",
                             "005",
                             "00",
                             "1e5",
                             "1E5",
                             "0x10",
                             "inf",
                             "nan",
                             "-0",
                             "-0.0",
                             "1.50",
                             "1.0",
                             ".5",
                             "5.",
                             "+5",
                             " 5",
                             "5 ",
                             "-",
                             "--1",
                             "1.2.3",
                             "10mb",
                             "01:00:00",
                             "true",
                             "null",
                             "[]",
                             "{}",
                             "\"x\"",
                             "1234567890123456",
                             "12345678901234567890",
                             "0.1234567890123456"})
        EXPECT_EQ(json_value(text), text);
}

// A text becomes a JSON number only if the number, printed again, gives the same text.
TEST(JsonValue, NothingIsLost) {
    std::mt19937 random(7);
    constexpr std::string_view kCharacters = "00112345.-e+x ";
    int numbers = 0;
    for (int i = 0; i < test::cases(20000); ++i) {
        std::string text(random() % 8, ' ');
        for (char& c : text) c = kCharacters[random() % kCharacters.size()];
        const auto value = json_value(text);
        if (value.is_string()) {
            ASSERT_EQ(value, text);
        } else {
            ++numbers;
            std::string digits = std::to_string(value.get<double>());
            if (digits.find('.') != std::string::npos) digits.erase(digits.find_last_not_of('0') + 1);
            if (digits.ends_with('.')) digits.pop_back();
            ASSERT_EQ(digits, text);
        }
    }
    EXPECT_GT(numbers, 0);
}

}  // namespace
}  // namespace pbs::cmds
