#include "objects/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "values/text.h"

namespace pbs::objects {
namespace {

// Terms of job_sort_formula. The last kShareTerms of them are about fairshare.
constexpr std::string_view kJobSortTerms[] = {
    "eligible_time",   "queue_priority",       "job_priority",     "accrue_type",  "urgency",
    "urgency_norm",    "priority_norm",        "tickets",          "tickets_norm", "fairshare_perc",
    "fair_share_perc", "fairshare_tree_usage", "fairshare_factor",
};
constexpr std::size_t kShareTerms = 4;
constexpr std::string_view kUsageTerms[] = {"fs_factor"};
constexpr std::string_view kLoadTerms[] = {"load_avg", "np_load_avg"};

// The functions of formulas. A result that can't be computed is NaN.
using Args = std::span<const double>;

double rounded(Args a) {
    const double unit = std::pow(10, a.size() > 1 ? std::trunc(a[1]) : 0);
    return std::nearbyint(a[0] * unit) / unit;  // halves go to the even neighbour
}

double logarithm(Args a) {
    if (a[0] <= 0 || (a.size() > 1 && (a[1] <= 0 || a[1] == 1))) return NAN;
    return a.size() > 1 ? std::log(a[0]) / std::log(a[1]) : std::log(a[0]);
}

double power(double base, double exponent) {
    return base == 0 && exponent < 0 ? NAN : std::pow(base, exponent);
}

struct Function {
    std::string_view name;
    std::uint32_t least;  // the fewest and the most arguments
    std::uint32_t most;
    double (*of)(Args);
};
constexpr std::uint32_t kAny = UINT32_MAX;
constexpr Function kFunctions[] = {
    {"abs", 1, 1, [](Args a) { return std::fabs(a[0]); }},
    {"ceil", 1, 1, [](Args a) { return std::ceil(a[0]); }},
    {"exp", 1, 1, [](Args a) { return std::exp(a[0]); }},
    {"fabs", 1, 1, [](Args a) { return std::fabs(a[0]); }},
    {"float", 1, 1, [](Args a) { return a[0]; }},
    {"floor", 1, 1, [](Args a) { return std::floor(a[0]); }},
    {"fmod", 2, 2, [](Args a) { return std::fmod(a[0], a[1]); }},
    {"int", 1, 1, [](Args a) { return std::trunc(a[0]); }},
    {"log", 1, 2, logarithm},
    {"log10", 1, 1, [](Args a) { return a[0] > 0 ? std::log10(a[0]) : NAN; }},
    {"log2", 1, 1, [](Args a) { return a[0] > 0 ? std::log2(a[0]) : NAN; }},
    {"max", 2, kAny, [](Args a) { return *std::ranges::max_element(a); }},
    {"min", 2, kAny, [](Args a) { return *std::ranges::min_element(a); }},
    {"pow", 2, 2, [](Args a) { return power(a[0], a[1]); }},
    {"round", 1, 2, rounded},
    {"sqrt", 1, 1, [](Args a) { return std::sqrt(a[0]); }},
    {"trunc", 1, 1, [](Args a) { return std::trunc(a[0]); }},
};

bool in_names(char c) {
    return values::is_letter(c) || values::is_digit(c) || c == '_';
}

tl::unexpected<Error> bad_formula(std::string_view what, std::string_view text, std::size_t at,
                                  std::string_view problem) {
    return fail(Code::bad_value,
                fmt::format("{}: bad formula '{}': at position {}: {}", what, text, at + 1, problem));
}

// The remainder as Python's % computes it: with the sign of the divisor.
double modulo(double a, double b) {
    if (b == 0) return NAN;
    const double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

constexpr double kMostWhole = 9007199254740992;  // up to this number every whole one is a double

template <class Combine>
double bits(double a, double b, Combine combine) {
    if (std::trunc(a) != a || std::trunc(b) != b || std::fabs(a) > kMostWhole || std::fabs(b) > kMostWhole)
        return NAN;
    return static_cast<double>(combine(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
}

}  // namespace

enum class Formula::Op : std::uint8_t {
    // Steps that push a value on the stack.
    name,
    number,
    // Steps that pop two values and push the result.
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    unequal,
    bit_or,
    bit_xor,
    bit_and,
    add,
    subtract,
    multiply,
    divide,
    divide_down,
    modulo,
    power,
    // Steps that replace the top of the stack.
    negate,
    no,
    // A step that pops as many arguments as Step::count says, and pushes the function's result.
    call,
    // Steps that jump over as many steps as Step::argument says. jump: always. jump_if_not: pops the top of
    // the stack, and jumps if it is 0. jump_keeping_false, jump_keeping_true: jumps if the top is 0, or isn't
    // 0, and keeps the top; if it doesn't jump, it pops the top.
    jump,
    jump_if_not,
    jump_keeping_false,
    jump_keeping_true,
};

// Compiles a formula by recursive descent: a level of precedence is a function or a row of kBinary.
class FormulaCompiler {
  public:
    using Op = Formula::Op;
    explicit FormulaCompiler(std::string_view text) : text_(text) {}

    tl::expected<Formula, FormulaProblem> compile() {
        next();
        conditional();
        if (problem_.text.empty() && kind_ != Kind::end)
            fail(token_ == "," ? "expected one expression, not several" : unexpected());
        if (!problem_.text.empty()) return tl::unexpected(std::move(problem_));
        return std::move(made_);
    }

  private:
    enum class Kind : std::uint8_t { end, number, name, sign };
    struct Binary {
        std::string_view sign;
        unsigned level;  // the level of precedence: a larger one binds tighter
        Op op;
    };
    static constexpr unsigned kComparison = 1;
    static constexpr Binary kBinary[] = {
        {"<", kComparison, Op::less},
        {"<=", kComparison, Op::less_equal},
        {">", kComparison, Op::greater},
        {">=", kComparison, Op::greater_equal},
        {"==", kComparison, Op::equal},
        {"!=", kComparison, Op::unequal},
        {"|", 2, Op::bit_or},
        {"^", 3, Op::bit_xor},
        {"&", 4, Op::bit_and},
        {"+", 5, Op::add},
        {"-", 5, Op::subtract},
        {"*", 6, Op::multiply},
        {"/", 6, Op::divide},
        {"//", 6, Op::divide_down},
        {"%", 6, Op::modulo},
    };
    static constexpr unsigned kTightest = 6;
    static constexpr unsigned kDeepest = 100;  // limits recursion: a formula must not overflow the stack

    void fail(std::string text) {
        if (problem_.text.empty()) problem_ = {at_, std::move(text)};
        kind_ = Kind::end;
    }

    std::string unexpected() const {
        if (kind_ == Kind::end)
            return "the formula ends too early, expected a resource, a number or a parenthesis";
        if (token_ == "=") return "a formula can't assign, expected == for a comparison";
        return fmt::format("unexpected '{}'; expected an arithmetic expression", token_);
    }

    void next() {
        if (!problem_.text.empty()) return;
        while (end_ < text_.size() && (values::is_space(text_[end_]) || text_[end_] == '\n')) ++end_;
        at_ = end_;
        kind_ = Kind::end;
        token_ = {};
        if (at_ == text_.size()) return;
        const char c = text_[at_];
        if (values::is_digit(c) || (c == '.' && at_ + 1 < text_.size() && values::is_digit(text_[at_ + 1])))
            return number();
        if (values::is_letter(c) || c == '_') {
            while (end_ < text_.size() && in_names(text_[end_])) ++end_;
            kind_ = Kind::name;
        } else {
            static constexpr std::string_view kTwo[] = {"<=", ">=", "==", "!=", "**", "//", "&&", "||"};
            end_ += std::ranges::find(kTwo, text_.substr(at_, 2)) != std::end(kTwo) ? 2 : 1;
            kind_ = Kind::sign;
        }
        token_ = text_.substr(at_, end_ - at_);
    }

    void number() {
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number_);
        end_ = static_cast<std::size_t>(end - text_.data());
        token_ = text_.substr(at_, end_ - at_);
        if (error != std::errc()) return fail(fmt::format("the number {} is too large", token_));
        kind_ = Kind::number;
    }

    bool is(std::string_view token) const { return kind_ != Kind::number && token_ == token; }
    bool take(std::string_view token) {
        if (kind_ == Kind::end || !is(token)) return false;
        next();
        return true;
    }
    bool need(std::string_view token, std::string_view problem) {
        if (take(token)) return true;
        fail(kind_ == Kind::end ? std::string(problem) : unexpected());
        return false;
    }

    void add(Op op, std::uint32_t argument = 0, std::uint32_t count = 0) {
        made_.steps_.push_back({op, argument, count});
    }
    std::size_t here() const { return made_.steps_.size(); }
    // Adds a jump, and returns its index. land() sets its distance later.
    std::size_t add_jump(Op op) {
        add(op);
        return here() - 1;
    }
    void land(std::size_t jump) {
        made_.steps_[jump].argument = static_cast<std::uint32_t>(here() - jump - 1);
    }

    void conditional() {
        if (++depth_ > kDeepest) return fail(fmt::format("expected at most {} levels", kDeepest));
        const std::size_t first = here();
        disjunction();
        if (take("?")) {
            const std::size_t otherwise = add_jump(Op::jump_if_not);
            conditional();
            const std::size_t done = add_jump(Op::jump);
            land(otherwise);
            if (need(":", "expected : and a value behind it")) conditional();
            land(done);
        } else if (take("if")) {
            // The value has been read before the condition, but it has to be computed after it: move the
            // steps of the condition before those of the value. Jumps are relative, so they stay right.
            const std::size_t condition = here();
            disjunction();
            const std::size_t otherwise = add_jump(Op::jump_if_not);
            auto& steps = made_.steps_;
            const auto at = [&](std::size_t i) { return steps.begin() + static_cast<std::ptrdiff_t>(i); };
            std::rotate(at(first), at(condition), steps.end());
            const std::size_t done = add_jump(Op::jump);
            land(first + (otherwise - condition));
            if (need("else", "expected else and a value behind it")) conditional();
            land(done);
        }
        --depth_;
    }

    void disjunction() {
        conjunction();
        std::vector<std::size_t> jumps;
        while (take("or") || take("||")) {
            jumps.push_back(add_jump(Op::jump_keeping_true));
            conjunction();
        }
        for (const std::size_t jump : jumps) land(jump);
    }

    void conjunction() {
        negation();
        std::vector<std::size_t> jumps;
        while (take("and") || take("&&")) {
            jumps.push_back(add_jump(Op::jump_keeping_false));
            negation();
        }
        for (const std::size_t jump : jumps) land(jump);
    }

    void negation() {
        unsigned count = 0;
        while (take("not")) ++count;
        binary(kComparison);
        for (; count > 0; --count) add(Op::no);
    }

    const Binary* sign_of(unsigned level) const {
        if (kind_ != Kind::sign) return nullptr;
        const auto found = std::ranges::find_if(
            kBinary, [&](const Binary& b) { return b.level == level && b.sign == token_; });
        return found == std::end(kBinary) ? nullptr : found;
    }

    void binary(unsigned level) {
        const auto tighter = [&] { level == kTightest ? unary() : binary(level + 1); };
        tighter();
        bool compared = false;
        while (const Binary* found = sign_of(level)) {
            if (compared) return fail("comparisons can't be chained, expected 'and' between them");
            compared = level == kComparison;
            next();
            tighter();
            add(found->op);
        }
    }

    void unary() {
        if (++depth_ > kDeepest) return fail(fmt::format("expected at most {} levels", kDeepest));
        if (take("-")) {
            unary();
            add(Op::negate);
        } else if (take("!")) {
            unary();
            add(Op::no);
        } else if (take("+")) {
            unary();
        } else {
            value();
            if (take("**")) {
                unary();
                add(Op::power);
            }
        }
        --depth_;
    }

    void value() {
        if (kind_ == Kind::number) {
            add(Op::number, static_cast<std::uint32_t>(made_.numbers_.size()));
            made_.numbers_.push_back(number_);
            return next();
        }
        if (take("(")) {
            conditional();
            need(")", "a parenthesis isn't closed, expected )");
            return;
        }
        static constexpr std::string_view kWords[] = {"if", "else", "or", "and", "not"};
        if (kind_ != Kind::name || std::ranges::find(kWords, token_) != std::end(kWords))
            return fail(unexpected());
        const std::string_view name = token_;
        const std::size_t at = at_;
        next();
        if (is("(")) return call(name, at);
        if (name == "True" || name == "False") {
            add(Op::number, static_cast<std::uint32_t>(made_.numbers_.size()));
            made_.numbers_.push_back(name == "True" ? 1 : 0);
            return;
        }
        auto& names = made_.names_;
        const auto known = std::ranges::find(names, name, &Formula::Name::name);
        add(Op::name, static_cast<std::uint32_t>(known - names.begin()));
        if (known == names.end()) names.push_back({std::string(name), at});
    }

    void call(std::string_view name, std::size_t at) {
        const auto function = std::ranges::find(kFunctions, name, &Function::name);
        if (function == std::end(kFunctions)) {
            at_ = at;
            return fail(fmt::format("unknown function '{}'; expected {}", name, formula_functions()));
        }
        next();
        std::uint32_t count = 0;
        if (!is(")")) {
            do {
                conditional();
                ++count;
            } while (take(","));
        }
        if (!need(")", "a parenthesis isn't closed, expected )")) return;
        if (count < function->least || count > function->most) {
            at_ = at;
            return fail(fmt::format("{} arguments for {}, expected {}{}", count, name, function->least,
                                    function->most == kAny             ? " or more"
                                    : function->most > function->least ? fmt::format(" or {}", function->most)
                                                                       : ""));
        }
        add(Op::call, static_cast<std::uint32_t>(function - std::begin(kFunctions)), count);
    }

    std::string_view text_;
    std::size_t at_ = 0;  // where the current token begins
    std::size_t end_ = 0;
    Kind kind_ = Kind::end;
    std::string_view token_;
    double number_ = 0;
    unsigned depth_ = 0;
    FormulaProblem problem_;
    Formula made_;
};

tl::expected<Formula, FormulaProblem> Formula::compile(std::string_view text) {
    return FormulaCompiler(text).compile();
}

std::optional<double> Formula::value(std::span<const double> values) {
    stack_.clear();
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const Step& step = steps_[i];
        const auto pop = [&] {
            const double top = stack_.back();
            stack_.pop_back();
            return top;
        };
        switch (step.op) {
            case Op::name:
                stack_.push_back(values[step.argument]);
                continue;
            case Op::number:
                stack_.push_back(numbers_[step.argument]);
                continue;
            case Op::jump:
                i += step.argument;
                continue;
            case Op::jump_if_not:
                if (pop() == 0) i += step.argument;
                continue;
            case Op::jump_keeping_false:
            case Op::jump_keeping_true:
                if ((stack_.back() != 0) == (step.op == Op::jump_keeping_true))
                    i += step.argument;
                else
                    pop();
                continue;
            case Op::negate:
                stack_.back() = -stack_.back();
                continue;
            case Op::no:
                stack_.back() = stack_.back() == 0 ? 1 : 0;
                continue;
            case Op::call: {
                const std::size_t first = stack_.size() - step.count;
                const double made = kFunctions[step.argument].of(std::span(stack_).subspan(first));
                stack_.resize(first);
                stack_.push_back(made);
                break;
            }
            default: {
                const double b = pop();
                double& a = stack_.back();
                a = combine(step.op, a, b);
            }
        }
        if (std::isnan(stack_.back())) return std::nullopt;
    }
    return std::isfinite(stack_.back()) ? std::optional(stack_.back()) : std::nullopt;
}

std::optional<Formula::Sum> Formula::as_sum() const {
    std::vector<Sum> stack;
    const std::size_t constant = names_.size();
    const auto is_constant = [&](const Sum& sum) {
        return std::ranges::all_of(std::span(sum.most).first(constant), [](double f) { return f == 0; });
    };
    for (const Step& step : steps_) {
        switch (step.op) {
            case Op::name:
            case Op::number: {
                const bool is_name = step.op == Op::name;
                const double factor = is_name ? 1 : numbers_[step.argument];
                if (factor != std::floor(factor)) return std::nullopt;
                Sum& sum = stack.emplace_back(
                    Sum{std::vector<double>(constant + 1), std::vector<double>(constant + 1)});
                sum.factors[is_name ? step.argument : constant] = factor;
                sum.most[is_name ? step.argument : constant] = std::abs(factor);
                continue;
            }
            case Op::negate:
                for (double& factor : stack.back().factors) factor = -factor;
                continue;
            case Op::add:
            case Op::subtract:
            case Op::multiply:
                break;
            default:
                return std::nullopt;
        }
        Sum b = std::move(stack.back());
        stack.pop_back();
        Sum& a = stack.back();
        if (step.op == Op::multiply) {
            if (is_constant(a)) std::swap(a, b);
            if (!is_constant(b)) return std::nullopt;
            for (double& factor : a.factors) factor *= b.factors.back();
            for (double& most : a.most) most *= b.most.back();
            continue;
        }
        for (std::size_t i = 0; i <= constant; ++i) {
            a.factors[i] += step.op == Op::add ? b.factors[i] : -b.factors[i];
            a.most[i] += b.most[i];
        }
    }
    // Factors that are as large as this may be rounded.
    constexpr double kMost = 1LL << 52;
    const Sum& sum = stack.back();
    if (std::ranges::any_of(sum.most, [](double most) { return !(most < kMost); })) return std::nullopt;
    return sum;
}

double Formula::combine(Op op, double a, double b) {
    switch (op) {
        case Op::less:
            return a < b ? 1 : 0;
        case Op::less_equal:
            return a <= b ? 1 : 0;
        case Op::greater:
            return a > b ? 1 : 0;
        case Op::greater_equal:
            return a >= b ? 1 : 0;
        case Op::equal:
            return a == b ? 1 : 0;
        case Op::unequal:
            return a != b ? 1 : 0;
        case Op::bit_or:
            return bits(a, b, [](auto x, auto y) { return x | y; });
        case Op::bit_xor:
            return bits(a, b, [](auto x, auto y) { return x ^ y; });
        case Op::bit_and:
            return bits(a, b, [](auto x, auto y) { return x & y; });
        case Op::add:
            return a + b;
        case Op::subtract:
            return a - b;
        case Op::multiply:
            return a * b;
        case Op::divide:
            return b == 0 ? NAN : a / b;
        case Op::divide_down:
            return b == 0 ? NAN : std::round((a - modulo(a, b)) / b);
        case Op::modulo:
            return modulo(a, b);
        case Op::power:
            return power(a, b);
        default:
            return NAN;
    }
}

std::string formula_functions() {
    std::string names;
    for (const Function& function : kFunctions)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", function.name);
    return names;
}

bool formula_names(std::string_view text, std::string_view name) {
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        if ((at == 0 || !in_names(text[at - 1])) && (end == text.size() || !in_names(text[end]))) return true;
    }
    return false;
}

std::span<const std::string_view> share_terms() {
    return std::span<const std::string_view>(kJobSortTerms).last(kShareTerms);
}
std::span<const std::string_view> load_terms() {
    return kLoadTerms;
}

std::string too_long(const Formula& formula) {
    if (formula.operations() <= kMostOperations) return {};
    return fmt::format("the formula has {} names, numbers, operators and calls; at most {} are allowed",
                       formula.operations(), kMostOperations);
}

Result<void> check_formula(std::string_view attribute, std::string_view text, const ResourceNames& resources,
                           std::vector<std::string>* unknown) {
    const auto formula = Formula::compile(text);
    if (!formula) return bad_formula(attribute, text, formula.error().at, formula.error().text);
    if (const std::string remark = too_long(*formula); !remark.empty())
        return fail(Code::bad_value, fmt::format("{}: {}", attribute, remark));
    const bool of_load = attribute == "load_formula";
    std::span<const std::string_view> terms = kJobSortTerms;
    if (of_load) terms = kLoadTerms;
    if (attribute == "usage_formula") terms = kUsageTerms;
    for (const auto& [name, at] : formula->names()) {
        if (resources.contains(name) || std::ranges::find(terms, name) != terms.end()) continue;
        if (of_load && name.starts_with(kPerCpu) && resources.contains(name.substr(kPerCpu.size()))) continue;
        if (unknown == nullptr)
            return bad_formula(
                attribute, text, at,
                fmt::format("unknown name '{}'; expected a resource or a term of formulas", name));
        unknown->push_back(name);
    }
    return {};
}

}  // namespace pbs::objects
