// Formulas such as job_sort_formula and usage_formula: one expression in Python's syntax, because OpenPBS
// evaluates a job_sort_formula with Python (PBS Reference Guide, "job_sort_formula").
//
//     x if c else y     also c ? x : y
//     or and not        also || && !; `or` and `and` give the operand that decides
//     < <= > >= == !=   1 or 0; they can't be chained
//     | ^ &             bit by bit, of whole numbers: ^ is exclusive or, as in OpenPBS
//     + - * / // %      // rounds down; the result of % has the sign of the divisor
//     -x +x  x ** y     a power binds tighter than the sign before it
//
// and calls of the functions in formula_functions().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "objects/error.h"
#include "objects/resources.h"

namespace pbs::objects {

// A mistake in a formula. `at` is its place in the text, from 0.
struct FormulaProblem {
    std::size_t at = 0;
    std::string text;
};

// A compiled formula, which can be evaluated for different values of its names.
class Formula {
  public:
    // A name in the formula, with the place of its first use.
    struct Name {
        std::string name;
        std::size_t at = 0;
    };
    static tl::expected<Formula, FormulaProblem> compile(std::string_view text);

    // Returns each name once, in the order of first use.
    const std::vector<Name>& names() const { return names_; }
    // The number of operations of which the formula consists: names, numbers, operators and calls.
    std::size_t operations() const { return steps_.size(); }

    // A formula as a sum of its names, each times a whole number: the factors by index in names(), with the
    // constant behind. The absolute value of each intermediate result is at most the sum in which `most`
    // stands for `factors`, with the absolute values of the names.
    struct Sum {
        std::vector<double> factors;
        std::vector<double> most;
    };
    // nullopt: the formula isn't such a sum.
    std::optional<Sum> as_sum() const;

    // Returns the formula's value if names() have these values, in the same order. nullopt: it can't be
    // computed (a division by zero, the root of a negative number, bits of a fraction), or isn't finite.
    // O(length of the text).
    std::optional<double> value(std::span<const double> values);

  private:
    friend class FormulaCompiler;
    enum class Op : std::uint8_t;
    struct Step {
        Op op;
        std::uint32_t argument = 0;  // index of a name, number or function; distance of a jump
        std::uint32_t count = 0;     // number of a function's arguments
    };
    static double combine(Op op, double a, double b);

    std::vector<Name> names_;
    std::vector<double> numbers_;
    std::vector<Step> steps_;
    std::vector<double> stack_;
};

// The most operations of a formula that may be set: formulas are computed for thousands of jobs. too_long()
// returns a remark on a formula with more; empty: it has no more.
inline constexpr std::size_t kMostOperations = 1000;
std::string too_long(const Formula& formula);

// Returns the functions that formulas may call: "abs, ceil, ...".
std::string formula_functions();

// Returns the names other than resources that a load_formula may use. With kPerCpu before it, a name means
// the value for each CPU of the host: np_NAME.
std::span<const std::string_view> load_terms();
inline constexpr std::string_view kPerCpu = "np_";
// Returns those terms of job_sort_formula that are about the fairshare of the job's entity, and need an
// fs_group.
std::span<const std::string_view> share_terms();

// Checks that `text` is a formula for this attribute, over resources and the attribute's terms. The terms of
// job_sort_formula are those of OpenPBS (PBS Reference Guide, "job_sort_formula") and more; usage_formula has
// the term of PP-748's example. The error has the position (from 1) and the text there. If
// `unknown` isn't null, unknown names are added to it and are no error.
Result<void> check_formula(std::string_view attribute, std::string_view text, const ResourceNames& resources,
                           std::vector<std::string>* unknown = nullptr);

// Returns whether the formula uses this name.
bool formula_names(std::string_view text, std::string_view name);

}  // namespace pbs::objects
