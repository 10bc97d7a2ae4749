#include "objects/formula.h"

#include <gmock/gmock.h>

#include <cmath>

namespace pbs::objects {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<void> check(std::string_view text) {
    static const ResourceNames resources;
    return check_formula("job_sort_formula", text, resources);
}

// Returns the formula's value for a=6, b=4, c=0; nullopt if it has none. The formula gets these values in the
// order in which it lists its names.
std::optional<double> value(std::string_view text) {
    auto formula = Formula::compile(text);
    if (!formula) {
        ADD_FAILURE() << text << ": " << formula.error().text;
        return {};
    }
    std::vector<double> values;
    for (const auto& [name, at] : formula->names()) values.push_back(name == "a" ? 6 : name == "b" ? 4 : 0);
    return formula->value(values);
}

TEST(Formula, AcceptsExpressionsOverResourcesAndTerms) {
    for (const char* text :
         {"ncpus*walltime", "1", "-ncpus + 2.5e3*(eligible_time/60)", "max(ncpus, mem)",
          "sqrt(queue_priority)", "ncpus > 4 ? 1 : 0", "ncpus == 1", "ncpus >= 2 && mem != 0", "1/0",
          "ceil(ncpus / 4) ** 2 if walltime > 3600 else ncpus % 4"}) {
        EXPECT_TRUE(check(text)) << text;
    }
}

TEST(Formula, ErrorsTellThePosition) {
    EXPECT_THAT(check("ncpus*speed").error().message,
                HasSubstr("'ncpus*speed': at position 7: unknown name 'speed'"));
    EXPECT_THAT(check("ncpus = 3").error().message, HasSubstr("at position 7: a formula can't assign"));
    EXPECT_THAT(check("ncpus*").error().message, HasSubstr("at position 7: the formula ends too early"));
    EXPECT_THAT(check("2*(ncpus").error().message, HasSubstr("a parenthesis isn't closed, expected )"));
    EXPECT_THAT(check("1 < ncpus < 3").error().message,
                HasSubstr("at position 11: comparisons can't be chained, expected 'and' between them"));
    EXPECT_THAT(check("2 * sinus(1)").error().message,
                HasSubstr("at position 5: unknown function 'sinus'; expected abs, ceil, "));
    EXPECT_THAT(check("1 + ceil()").error().message,
                HasSubstr("at position 5: 0 arguments for ceil, expected 1"));
    EXPECT_THAT(check("log(1,2,3)").error().message, HasSubstr("3 arguments for log, expected 1 or 2"));
    EXPECT_THAT(check("min(1)").error().message, HasSubstr("1 arguments for min, expected 2 or more"));
    EXPECT_THAT(check("1e999").error().message, HasSubstr("at position 1: the number 1e999 is too large"));
    EXPECT_THAT(check("1 if ncpus").error().message, HasSubstr("expected else and a value behind it"));
    for (const char* text :
         {"",          "(",           "ncpus)", "ncpus ncpus", "ncpus,mem", "1 +* 2",    "\"text\"",
          "ncpus[1]",  "ncpus+=1",    "@",      "2 ncpus",     "ceil",      "ceil(1",    "max(1,,2)",
          "1 if 2",    "if 1 else 2", "not",    "1 ? 2",       "*1",        "1 < 2 < 3", "(1 < 2 > 3)",
          "lambda: 1", "ncpus.real",  "1..2",   "0x10"}) {
        EXPECT_FALSE(check(text)) << text;
    }
    EXPECT_THAT(check(std::string(100'000, '(')).error().message, HasSubstr("expected at most 100 levels"));
    EXPECT_THAT(check(std::string(100'000, '-')).error().message, HasSubstr("expected at most 100 levels"));
}

// The expected values are those that python3 gives.
TEST(Formula, MeansWhatPythonMeans) {
    const std::pair<const char*, double> cases[] = {
        {"2 + 3 * 4", 14},
        {"(2 + 3) * 4", 20},
        {"10 - 4 - 3", 3},
        {"2 ** 3 ** 2", 512},
        {"-2 ** 2", -4},
        {"2 ** -1", 0.5},
        {"a ** 0.5 ** 2", std::pow(6, 0.25)},
        {"7 / 2", 3.5},
        {"7 // 2", 3},
        {"-7 // 2", -4},
        {"7 % 3", 1},
        {"-7 % 3", 2},
        {"7 % -3", -2},
        {"-7.5 % 2", 0.5},
        {"a ^ b", 2},
        {"a ^ b + 1", 3},
        {"a & b | 1", 5},
        {"a | b ^ b & 1", 6},
        {"1 if a > b else 2", 1},
        {"1 if a < b else 2", 2},
        {"1 if c else 2 if b else 3", 2},
        {"(1 if c else 2) if b else 3", 2},
        {"10 + 1 if c else 2", 2},
        {"a or b if c or b else 9", 6},
        {"a > b ? 1 : 2", 1},
        {"c ? 1 : b ? 2 : 3", 2},
        {"c or b", 4},
        {"a or b", 6},
        {"a and b", 4},
        {"c and a / c", 0},
        {"c && 1 || a", 6},
        {"not c", 1},
        {"not a == b", 1},
        {"not not a", 1},
        {"!c + 1", 2},
        {"a == 6 and b != 6", 1},
        {"True + True", 2},
        {"ceil(a / b)", 2},
        {"floor(-1.5)", -2},
        {"fabs(-1.5) + abs(-1)", 2.5},
        {"round(2.5) + round(3.5)", 6},
        {"round(2.25, 1)", 2.2},
        {"int(-1.9)", -1},
        {"log(8, 2)", 3},
        {"log10(1000)", 3},
        {"max(a, b, 9) - min(a, b, 9)", 5},
        {"pow(2, 10)", 1024},
        {"fmod(-7, 3)", -1},
        {".5e1", 5},
        {"b if a else a / c", 4},
    };
    for (const auto& [text, expected] : cases) {
        const auto found = value(text);
        ASSERT_TRUE(found) << text;
        EXPECT_DOUBLE_EQ(*found, expected) << text;
    }
}

TEST(Formula, WhatCannotBeComputedHasNoValue) {
    for (const char* text :
         {"a / c", "a // c", "a % c", "c ** -1", "(-8) ** 0.5", "sqrt(-1)", "log(c)", "log(2, 1)", "1.5 ^ 1",
          "a | 0.5", "1e308 * 10", "2 ** 1e6", "1 + (a / c) * 0", "not a / c"})
        EXPECT_EQ(value(text), std::nullopt) << text;
}

TEST(Formula, AreSumsIfTheyAddUpWholeMultiplesOfNames) {
    struct Case {
        const char* text;
        std::vector<double> factors;  // empty: the formula isn't a sum
        std::vector<double> most;
    };
    const Case cases[] = {{"7", {7}, {7}},
                          {"ncpus", {1, 0}, {1, 0}},
                          {"3*ncpus - 2*mem + 5", {3, -2, 5}, {3, 2, 5}},
                          {"-(ncpus - 60*mem)*2", {-2, 120, 0}, {2, 120, 0}},
                          {"ncpus - ncpus + 2*(3 - 1)", {0, 4}, {2, 8}},
                          {"(ncpus + 1)*(2 + 3)", {5, 5}, {5, 5}},
                          {"1000000*1000000*ncpus", {1e12, 0}, {1e12, 0}},
                          {"1000000*1000000*1000000*ncpus", {}, {}},
                          {"0.5*ncpus", {}, {}},
                          {"ncpus/2", {}, {}},
                          {"ncpus*mem", {}, {}},
                          {"ncpus*0*mem", {0, 0, 0}, {0, 0, 0}},
                          {"1 if ncpus else 2", {}, {}},
                          {"ncpus > 1", {}, {}},
                          {"abs(ncpus)", {}, {}}};
    for (const Case& one : cases) {
        const auto formula = Formula::compile(one.text);
        ASSERT_TRUE(formula) << one.text;
        const auto sum = formula->as_sum();
        ASSERT_EQ(sum.has_value(), !one.factors.empty()) << one.text;
        if (!sum) continue;
        EXPECT_EQ(sum->factors, one.factors) << one.text;
        EXPECT_EQ(sum->most, one.most) << one.text;
    }
}

TEST(Formula, NamesAreTold) {
    const auto formula = Formula::compile("a + ceil(b * a) + a_1");
    ASSERT_TRUE(formula);
    std::vector<std::string> names;
    for (const auto& [name, at] : formula->names()) names.push_back(name);
    EXPECT_THAT(names, ElementsAre("a", "b", "a_1"));
}

TEST(FormulaChecks, LongFormulasAreRefused) {
    std::string sum = "1";
    for (int i = 0; i < 499; ++i) sum += "+1";
    EXPECT_TRUE(check_formula("job_sort_formula", sum, ResourceNames{}));
    const auto longer = check_formula("job_sort_formula", sum + "+1", ResourceNames{});
    ASSERT_FALSE(longer);
    EXPECT_EQ(longer.error().message,
              "job_sort_formula: the formula has 1001 names, numbers, operators and calls; at most 1000 are "
              "allowed");
}

}  // namespace
}  // namespace pbs::objects
