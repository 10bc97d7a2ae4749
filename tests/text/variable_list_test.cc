#include "text/variable_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/cases.h"

namespace pbs::text {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Returns a random value. Characters with a special meaning in a list are frequent, so that they often stand
// side by side.
std::string random_value(std::mt19937& random) {
    constexpr std::string_view kSpecial = "\\\\\\,,'\"= \n;\t\r\v\f%(){}\x01\x7f\xc3\xa4\xff";
    std::string value(random() % 12, ' ');
    for (char& c : value)
        c = random() % 2 == 0 ? kSpecial[random() % kSpecial.size()] : static_cast<char>(1 + random() % 255);
    return value;
}

TEST(VariableListCodec, WritesABackslashBeforeFourCharacters) {
    EXPECT_EQ(variable_list({{"A", "it's"}, {"B", "x,\"y\"\\z"}, {"C", ""}, {"D", "1=2;3\n4"}}),
              "A=it\\'s,B=x\\,\\\"y\\\"\\\\z,C=,D=1=2;3\n4");
    EXPECT_EQ(variable_list({}), "");
}

// In the lists that OpenPBS's qsub sends, backslashes precede some characters: in values of PBS_O_* only
// commas, in values of other variables each special character.
TEST(VariableListCodec, ReadsWhatOpenPbsWrites) {
    EXPECT_THAT(parse_variables("PBS_O_WORKDIR=/a\\,b/it's/c\\d,X=\\'\\\"\\,\\\\"),
                ElementsAre(Pair("PBS_O_WORKDIR", "/a,b/it's/c\\d"), Pair("X", "'\",\\")));
}

TEST(VariableListCodec, ReadsListsOfOtherPrograms) {
    EXPECT_THAT(parse_variables("A=1, B=2,\n C,,=x,D=y\\"),
                ElementsAre(Pair("A", "1"), Pair("B", "2"), Pair("C", ""), Pair("", "x"), Pair("D", "y\\")));
    EXPECT_THAT(parse_variables(""), IsEmpty());
    EXPECT_THAT(parse_variables(" , "), IsEmpty());
}

TEST(VariableListCodec, EveryByteButNulComesBack) {
    std::vector<Variable> variables;
    for (int byte = 1; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        variables.emplace_back("V" + std::to_string(byte), std::string(1, c));
        variables.emplace_back("W" + std::to_string(byte), std::string("a") + c + c + "," + c + "\\" + c);
    }
    const std::string list = variable_list(variables);
    EXPECT_EQ(parse_variables(list), variables);
    for (const auto& [name, value] : variables) EXPECT_EQ(find_variable(list, name), value) << name;
}

TEST(VariableListCodec, RandomValuesComeBack) {
    std::mt19937 random(5);
    for (int i = 0; i < test::cases(5000); ++i) {
        std::vector<Variable> variables;
        for (int count = 1 + static_cast<int>(random() % 4); count > 0; --count)
            variables.emplace_back("N" + std::to_string(count), random_value(random));
        const std::string list = variable_list(variables);
        ASSERT_EQ(parse_variables(list), variables) << list;
        ASSERT_EQ(variable_list(parse_variables(list)), list);
        for (const auto& [name, value] : variables) ASSERT_EQ(find_variable(list, name), value) << list;
    }
}

// Reads variables from random texts, writes them as a list, and reads the list: the variables are the same.
TEST(VariableListCodec, AnyTextIsReadTheSameAgain) {
    std::mt19937 random(6);
    for (int i = 0; i < test::cases(5000); ++i) {
        const std::string list = random_value(random) + random_value(random);
        const auto variables = parse_variables(list);
        ASSERT_EQ(parse_variables(variable_list(variables)), variables) << list;
    }
}

TEST(FindVariable, IsNotDeceivedByValues) {
    EXPECT_EQ(find_variable("A=x\\,PBS_O_QUEUE=forged,PBS_O_QUEUE=workq", "PBS_O_QUEUE"), "workq");
    EXPECT_EQ(find_variable("A=x\\\\,Q=1", "Q"), "1");
    EXPECT_EQ(find_variable("A=Q=2 Q=3,XQ=4,\n Q=5", "Q"), "5");
    EXPECT_EQ(find_variable("Q=,Q=2", "Q"), "");
    EXPECT_EQ(find_variable("Q", "Q"), std::nullopt);
    EXPECT_EQ(find_variable("", "Q"), std::nullopt);
}

}  // namespace
}  // namespace pbs::text
