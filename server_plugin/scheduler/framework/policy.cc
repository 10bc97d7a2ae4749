#include "server_plugin/scheduler/framework/policy.h"

#include <type_traits>

#include "server_plugin/scheduler/framework/profile.h"

namespace pbs::sched {
std::optional<Instant> next_date(const Settings& s, Instant t) {
    std::optional<Instant> next;
    for_each_setting(s, [&]<class T>(objects::PolicyAttribute, const T& option) {
        if constexpr (std::is_same_v<T, Since>)
            if (option.from && *option.from > t && (!next || *option.from < *next)) next = option.from;
    });
    return next;
}

Result<Policy> compile(const Settings& settings) {
    Policy policy{.settings = settings, .prime = PrimePeriods(settings.prime)};
    Settings& own = policy.settings;
    own.profile = &profile_of(settings);
    if (own.profile->keep_own != nullptr) own.profile->keep_own(own);
    if (settings.job_sort_formula.empty()) return policy;
    auto formula = Formula::compile(settings.job_sort_formula);
    if (!formula) return tl::unexpected(Error{"policy " + settings.name + ": " + formula.error().message});
    if (!own.job_sort_formula.empty()) policy.formula = *std::move(formula);
    return policy;
}

}  // namespace pbs::sched
