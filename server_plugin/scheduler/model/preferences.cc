#include "server_plugin/scheduler/model/preferences.h"

#include <algorithm>
#include <array>

#include "values/text.h"

namespace pbs::sched {
namespace {

constexpr std::size_t kMostPreferences = 20;

struct Sign {
    std::string_view text;
    Preference::Op op;
};
using Op = Preference::Op;
// Longer signs come before those that they begin with.
constexpr std::array<Sign, 6> kSigns{{{"!=", Op::unequal},
                                      {"<=", Op::at_most},
                                      {">=", Op::at_least},
                                      {"=", Op::equal},
                                      {"<", Op::less},
                                      {">", Op::more}}};

std::optional<Preference> parse_one(std::string_view text, const Resources& resources) {
    const auto at = text.find_first_of("!<>=");
    if (at == 0 || at == std::string_view::npos) return std::nullopt;
    const auto sign =
        std::ranges::find_if(kSigns, [&](const Sign& s) { return text.substr(at).starts_with(s.text); });
    if (sign == kSigns.end()) return std::nullopt;
    const std::string_view value = text.substr(at + sign->text.size());
    if (value.empty()) return std::nullopt;
    Preference preference;
    preference.resource = resources.id(text.substr(0, at));
    preference.op = sign->op;
    preference.text = text;
    if (preference.resource == kNoResource) return preference;
    const bool compares_only = sign->op == Op::equal || sign->op == Op::unequal;
    if (resources.is_text(preference.resource)) {
        if (!compares_only) return std::nullopt;
        preference.pattern = value;
        return preference;
    }
    const auto amount = resources.parse(preference.resource, value);
    if (!amount || (resources.is_boolean(preference.resource) && !compares_only)) return std::nullopt;
    preference.number = amount->number;
    return preference;
}

}  // namespace

bool Preference::is_met(std::int64_t has) const {
    switch (op) {
        case Op::equal:
            return has == number;
        case Op::unequal:
            return has != number;
        case Op::less:
            return has < number;
        case Op::at_most:
            return has <= number;
        case Op::more:
            return has > number;
        case Op::at_least:
            return has >= number;
    }
    return false;
}

bool Preference::is_met(std::string_view has) const {
    const auto matches = [&](std::string_view word) {
        return values::matches_wildcards(pattern, values::trim(word));
    };
    const bool any = std::ranges::any_of(values::split(has, ','), matches);
    return any == (op == Op::equal);
}

std::optional<std::vector<Preference>> parse_preferences(std::string_view text, const Resources& resources) {
    std::vector<Preference> preferences;
    for (const std::string_view one : values::split(text, '+')) {
        auto preference = parse_one(one, resources);
        if (!preference || preferences.size() == kMostPreferences) return std::nullopt;
        preferences.push_back(std::move(*preference));
    }
    return preferences;
}

}  // namespace pbs::sched
