#include "ifl/cmds/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::cmds {
namespace {

using testing::ElementsAre;

std::string letters_of(const CommandLine& line) {
    std::string text;
    for (const Option& option : line.options) {
        text += option.letter;
        text += option.value.empty() ? "" : "=" + option.value;
        text += ' ';
    }
    return text;
}

TEST(ParseOptions, TakesLettersTogetherAndOperandsAnywhere) {
    const auto line = parse_options("afu:", {"-af", "12", "-ubob", "-u", "eve", "-", "13"});
    ASSERT_TRUE(line);
    EXPECT_EQ(letters_of(*line), "a f u=bob u=eve ");
    EXPECT_THAT(line->operands, ElementsAre("12", "-", "13"));
    EXPECT_FALSE(line->dashes);
}

TEST(ParseOptions, AValueTakesTheRestOfTheArgument) {
    EXPECT_EQ(letters_of(parse_options("af:", {"-afa"}).value()), "a f=a ");
    EXPECT_EQ(letters_of(parse_options("f:", {"-f", "--"}).value()), "f=-- ");
}

TEST(ParseOptions, KeepsWhatStandsBehindDashes) {
    const auto line = parse_options("a", {"x", "--", "-a", "y"});
    ASSERT_TRUE(line);
    EXPECT_TRUE(line->dashes);
    EXPECT_THAT(line->after_dashes, ElementsAre("-a", "y"));
    EXPECT_THAT(line->all_operands(), ElementsAre("x", "-a", "y"));
}

TEST(ParseOptions, RefusesTheUnknownWithStatus2) {
    EXPECT_EQ(parse_options("a", {"-b"}).error().message, "unknown option -b");
    EXPECT_EQ(parse_options("a:", {"-:"}).error().message, "unknown option -:");
    EXPECT_EQ(parse_options("a", {"--all"}).error().message, "unknown option --all");
    EXPECT_EQ(parse_options("a:", {"-a"}).error().message, "option -a needs a value");
    EXPECT_EQ(parse_options("a:", {"-a"}).error().status, 2);
}

}  // namespace
}  // namespace pbs::cmds
