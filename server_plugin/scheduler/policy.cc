#include "server_plugin/scheduler/policy.h"

#include "server_plugin/scheduler/framework/profile.h"

namespace pbs::sched {
std::optional<Instant> next_date(const Settings& s, Instant t) {
    std::optional<Instant> next;
    for (const Since& option : {s.enforce_prime_time, s.enforce_dedicated_time, s.nonprime_drain_sys,
                                s.sort_by_past_usage, s.enforce_allocation, s.manage_hpm_counters,
                                s.revoke_hpm_counters, s.avoid_fragmentation, s.test_only})
        if (option.from && *option.from > t && (!next || *option.from < *next)) next = option.from;
    return next;
}

Result<Policy> compile(const Settings& settings) {
    Policy policy{.settings = settings, .prime = PrimePeriods(settings.prime)};
    const Profile& profile = profile_of(settings);
    policy.settings.profile = &profile;
    profile.keep_own(policy.settings);
    if (!policy.settings.job_sort_formula.empty()) {
        auto formula = Formula::compile(policy.settings.job_sort_formula);
        if (!formula)
            return tl::unexpected(Error{"policy " + settings.name + ": " + formula.error().message});
        policy.formula = *std::move(formula);
    }
    return policy;
}

}  // namespace pbs::sched
