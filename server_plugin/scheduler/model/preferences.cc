#include "server_plugin/scheduler/model/preferences.h"

#include <algorithm>

#include "values/text.h"

namespace pbs::sched {
namespace {

constexpr std::size_t kMostPreferences = 20;

using values::Comparison;

std::optional<Preference> parse_one(std::string_view text, const Resources& resources) {
    const auto at = text.find_first_of("!<>=");
    if (at == 0 || at == std::string_view::npos) return std::nullopt;
    std::string_view value = text.substr(at);
    const auto how = values::take_comparison(value);
    if (!how || value.empty()) return std::nullopt;
    Preference preference;
    preference.resource = resources.id(text.substr(0, at));
    preference.how = *how;
    preference.text = text;
    if (preference.resource == kNoResource) return preference;
    const bool compares_only = how == Comparison::equal || how == Comparison::unequal;
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

bool Preference::is_met(std::string_view has) const {
    const auto matches = [&](std::string_view word) {
        return values::matches_wildcards(pattern, values::trim(word));
    };
    const bool any = std::ranges::any_of(values::split(has, ','), matches);
    return any == (how == Comparison::equal);
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
