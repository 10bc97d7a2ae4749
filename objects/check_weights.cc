// Checks lists of names with numbers: weights, and thresholds of loads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "objects/check.h"
#include "values/number.h"

namespace pbs::objects {
namespace {

// Refuses two weights for one name.
Result<void> check_one_for_each(const Attribute& attribute, const StringList& weights) {
    std::set<std::string_view> seen;
    for (const std::string_view weight : weights) {
        const std::string_view name = weight.substr(0, weight.rfind('='));
        if (!seen.insert(name).second)
            return fail(Code::bad_value, fmt::format("{}: bad value '{}': expected one number for each name",
                                                     attribute.name, weight));
    }
    return {};
}

// Refuses weights that aren't whole numbers, except those that the value has already: earlier releases
// allowed them.
Result<void> check_whole_weights(const Attribute& attribute, const Value* before, const StringList& weights) {
    const StringList* known = before == nullptr ? nullptr : std::get_if<StringList>(before);
    for (const std::string& weight : weights) {
        const std::size_t column = weight.rfind('=') + 1;
        const std::string number = weight.substr(column);
        const double value = values::parse_real(number).value_or(0);
        if (value == std::floor(value) ||
            (known != nullptr && std::ranges::find(*known, weight) != known->end()))
            continue;
        return fail(Code::bad_value,
                    fmt::format("{}: bad value '{}': column {}: found '{}', expected a whole number",
                                attribute.name, weight, column + 1, number));
    }
    return {};
}

}  // namespace

Result<void> check_weights(const Attribute& attribute, const Value* before, const StringList& weights) {
    if (attribute.syntax == Syntax::resource_weights)
        if (Result<void> whole = check_whole_weights(attribute, before, weights); !whole) return whole;
    return check_one_for_each(attribute, weights);
}

Result<void> check_load_thresholds(const Attribute& attribute, const StringList& thresholds) {
    constexpr std::size_t kMost = 64;
    if (thresholds.size() > kMost)
        return fail(Code::bad_value, fmt::format("{}: bad value of {} elements: expected at most {}",
                                                 attribute.name, thresholds.size(), kMost));
    std::set<std::string_view> seen;
    for (const std::string_view threshold : thresholds)
        if (!seen.insert(threshold).second)
            return fail(Code::bad_value, fmt::format("{}: bad value '{}': expected each threshold once",
                                                     attribute.name, threshold));
    return {};
}

}  // namespace pbs::objects
