#include "server_plugin/scheduler/policy.h"

namespace pbs::sched {
namespace {

Link up(std::string_view name) {
    return {&comparator(name), 0, false};
}
Link down(std::string_view name) {
    return {&comparator(name), 0, true};
}

}  // namespace

std::optional<Instant> next_date(const Settings& s, Instant t) {
    std::optional<Instant> next;
    for (const Since& option : {s.enforce_prime_time, s.enforce_dedicated_time, s.nonprime_drain_sys,
                                s.sort_by_past_usage, s.enforce_allocation, s.manage_hpm_counters,
                                s.revoke_hpm_counters, s.avoid_fragmentation, s.test_only})
        if (option.from && *option.from > t && (!next || *option.from < *next)) next = option.from;
    return next;
}

Result<Policy> compile(const Settings& settings) {
    Policy policy{settings, {}, {}, SIZE_MAX, PrimePeriods(settings.prime), {}};
    if (!settings.job_sort_formula.empty()) {
        auto formula = Formula::compile(settings.job_sort_formula);
        if (!formula)
            return tl::unexpected(Error{"policy " + settings.name + ": " + formula.error().message});
        policy.formula = *std::move(formula);
    }
    return policy;
}

const Chain& origin_chain(JobClass job_class, bool prime_order) {
    static const Chain running = {up("run_end"), up("sequence")};
    static const Chain waiting = {up("small_queued"), down("nodes"), up("eligible"), up("sequence")};
    static const Chain special = {down("nodes"), up("sequence")};
    static const Chain prime = {up("walltime"), down("nodes"), up("eligible"), up("sequence")};
    static const Chain non_prime = {down("nodes"), up("walltime"), up("eligible"), up("sequence")};
    static const Chain in_order = {up("queued"), up("sequence")};
    switch (job_class) {
        case JobClass::running:
            return running;
        case JobClass::waiting:
            return waiting;
        case JobClass::special:
            return special;
        case JobClass::normal:
            return prime_order ? prime : non_prime;
        case JobClass::dedicated:
        case JobClass::rest:
            break;
    }
    return in_order;
}

Chain standard_chain(const Settings& settings, const Resources& resources) {
    Chain chain;
    if (settings.help_starving_jobs) chain.push_back(up("starving"));
    if (settings.by_queue && !settings.round_robin) chain.push_back(up("queue"));
    if (!settings.job_sort_formula.empty()) chain.push_back(up("formula"));
    for (const SortKey& key : settings.job_sort_key) {
        if (key.name == "job_priority" || key.name == "sort_priority") {
            chain.push_back({&comparator("job_priority"), 0, key.high_first});
        } else if (key.name == "walltime") {
            chain.push_back({&comparator("asked_walltime"), 0, key.high_first});
        } else if (const auto id = resources.id(key.name); id != no_resource) {
            chain.push_back({&comparator("resource"), id, key.high_first});
        }
    }
    chain.push_back(up("queued"));
    chain.push_back(up("sequence"));
    return chain;
}

Chain lane_chain(const Chain& standard) {
    Chain chain = standard;
    std::erase_if(chain, [](const Link& link) {
        return link.comparator == &comparator("starving") || link.comparator == &comparator("queue");
    });
    return chain;
}

}  // namespace pbs::sched
