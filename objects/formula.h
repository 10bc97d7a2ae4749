// The language of job_sort_formula and usage_formula: one expression, as Python has them, for that is what
// OpenPBS gives a job_sort_formula to (PBS Reference Guide, "job_sort_formula").
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

// What is wrong with a formula, and where: the place in the text, from 0.
struct FormulaProblem {
    std::size_t at = 0;
    std::string text;
};

// A formula, compiled.
class Formula {
  public:
    // A name that it reads, and where it stands first.
    struct Name {
        std::string name;
        std::size_t at = 0;
    };
    static tl::expected<Formula, FormulaProblem> compile(std::string_view text);

    // Each name once, in the order in which they stand.
    const std::vector<Name>& names() const { return names_; }
    // With values for names(), in that order. Nothing if it can't be computed (a division by zero, the root
    // of a negative number, bits of a fraction), or isn't finite. O(length of the text).
    std::optional<double> value(std::span<const double> values);

  private:
    friend class FormulaCompiler;
    enum class Op : std::uint8_t;
    struct Step {
        Op op;
        std::uint32_t argument = 0;  // of a name, a number or a function its place; of a jump how far
        std::uint32_t count = 0;     // of a function's arguments
    };
    static double combine(Op op, double a, double b);

    std::vector<Name> names_;
    std::vector<double> numbers_;
    std::vector<Step> steps_;
    std::vector<double> stack_;
};

// "abs, ceil, ...": the functions that formulas may call.
std::string formula_functions();

// Names beside those of resources that a job_sort_formula may use (OpenPBS's, PBS Reference Guide
// "job_sort_formula") and that a usage_formula may (PP-748's example).
std::span<const std::string_view> job_sort_terms();
std::span<const std::string_view> usage_terms();
// Those of job_sort_terms() that are about the shares of the job's entity, and count with an fs_group only.
std::span<const std::string_view> share_terms();

// Is `text` a formula over these names? The error tells the position (from 1) and what stands there. With
// `unknown`, names that are neither are no error: they are added to it.
Result<void> check_formula(std::string_view what, std::string_view text, const ResourceNames& resources,
                           std::span<const std::string_view> terms,
                           std::vector<std::string>* unknown = nullptr);

// Does the formula have this name in it?
bool formula_names(std::string_view text, std::string_view name);

}  // namespace pbs::objects
