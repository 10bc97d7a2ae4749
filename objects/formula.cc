#include "objects/formula.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <string>

#include "objects/text.h"

namespace pbs::objects {
namespace {

constexpr std::string_view kJobSortTerms[] = {
    "eligible_time",   "queue_priority", "job_priority",         "fairshare_perc",
    "fair_share_perc", "accrue_type",    "fairshare_tree_usage", "fairshare_factor",
};
constexpr std::string_view kUsageTerms[] = {"fs_factor"};

// muParser's assignment would change a variable from inside a formula.
std::size_t assignment(std::string_view text) {
    for (std::size_t i = text.find('='); i != std::string_view::npos; i = text.find('=', i + 1)) {
        if (i + 1 < text.size() && text[i + 1] == '=') {
            ++i;
        } else if (i == 0 || std::string_view("<>!").find(text[i - 1]) == std::string_view::npos) {
            return i;
        }
    }
    return std::string_view::npos;
}

tl::unexpected<Error> bad_formula(std::string_view what, std::string_view text, std::size_t position,
                                  std::string_view problem) {
    return fail(Code::bad_value,
                fmt::format("{}: bad formula '{}': at position {}: {}", what, text, position + 1, problem));
}

std::string problem_text(const mu::ParserError& error) {
    switch (error.GetCode()) {
        case mu::ecUNASSIGNABLE_TOKEN:
            return fmt::format("unknown name '{}'; expected a resource or a term of formulas",
                               error.GetToken());
        case mu::ecUNEXPECTED_EOF:
            return "the formula ends too early, expected a resource, a number or a parenthesis";
        case mu::ecMISSING_PARENS:
            return "a parenthesis isn't closed, expected )";
        default:
            return fmt::format("{}; expected an arithmetic expression", error.GetMsg());
    }
}

// Names that nobody knows, when that is no error.
struct Unknown {
    std::vector<std::string>* names;
    double value = 1;
};

double* define_unknown(const char* name, void* others) {
    auto& unknown = *static_cast<Unknown*>(others);
    unknown.names->emplace_back(name);
    return &unknown.value;
}

bool in_names(char c) {
    return is_letter(c) || is_digit(c) || c == '_';
}

}  // namespace

bool formula_names(std::string_view text, std::string_view name) {
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        if ((at == 0 || !in_names(text[at - 1])) && (end == text.size() || !in_names(text[end]))) return true;
    }
    return false;
}

std::span<const std::string_view> job_sort_terms() {
    return kJobSortTerms;
}
std::span<const std::string_view> usage_terms() {
    return kUsageTerms;
}

Result<void> check_formula(std::string_view what, std::string_view text, const ResourceNames& resources,
                           std::span<const std::string_view> terms, std::vector<std::string>* unknown) {
    if (const std::size_t at = assignment(text); at != std::string_view::npos) {
        return bad_formula(what, text, at, "a formula can't assign, expected == for a comparison");
    }
    try {
        Unknown others{unknown};
        double& value = others.value;
        mu::Parser parser;
        if (unknown) parser.SetVarFactory(define_unknown, &others);
        for (const std::string& name : resources.all()) {
            // muParser reads '-' as minus, as PBS's formulas do; such a resource can't be named in one.
            if (name.find('-') == std::string::npos) parser.DefineVar(name, &value);
        }
        for (std::string_view term : terms) parser.DefineVar(std::string(term), &value);
        parser.SetExpr(std::string(text));
        int results = 0;
        parser.Eval(results);
        if (results != 1)
            return bad_formula(what, text, text.find(','), "expected one expression, not several");
    } catch (const mu::ParserError& error) {
        const int position = error.GetPos();
        const std::size_t at = position < 0 ? text.size() : static_cast<std::size_t>(position);
        return bad_formula(what, text, at, problem_text(error));
    }
    return {};
}

}  // namespace pbs::objects
