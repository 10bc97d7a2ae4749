#include "server_plugin/scheduler/framework/sched_config.h"

namespace pbs::sched {
namespace {

// Compiles a policy from an object of a sched_config file; nullopt if the object is null.
Result<std::optional<Policy>> compile_object(const objects::Object* object,
                                             const SchedConfigs::Context& context) {
    if (object == nullptr) return std::nullopt;
    Settings settings = read_policy(*object, context.configuration, context.zone);
    settings.from_sched_config = true;
    if (settings.job_sort_formula.empty() && !settings.weighted_priority)
        settings.job_sort_formula = context.server_formula;
    auto policy = compile(settings);
    if (!policy) return tl::unexpected(policy.error());
    return *std::move(policy);
}

}  // namespace

Result<SchedConfigs::Compiled> SchedConfigs::compiled(SchedConfigObjects objects, const Context& context) {
    Compiled out;
    out.objects = std::move(objects);
    auto all_time = compile_object(out.objects.all_time.get(), context);
    if (!all_time) return tl::unexpected(all_time.error());
    auto prime = compile_object(out.objects.prime.get(), context);
    if (!prime) return tl::unexpected(prime.error());
    auto non_prime = compile_object(out.objects.non_prime.get(), context);
    if (!non_prime) return tl::unexpected(non_prime.error());
    out.all_time = *std::move(all_time);
    out.prime = *std::move(prime);
    out.non_prime = *std::move(non_prime);
    return out;
}

Result<void> SchedConfigs::set(std::string_view sched, SchedConfigObjects objects, const Context& context) {
    auto made = compiled(std::move(objects), context);
    if (!made) return tl::unexpected(made.error());
    by_sched_.insert_or_assign(std::string(sched), *std::move(made));
    return {};
}

Result<void> SchedConfigs::renew(const Context& context) {
    std::map<std::string, Compiled, std::less<>> renewed;
    for (const auto& [sched, old] : by_sched_) {
        auto made = compiled(old.objects, context);
        if (!made) return tl::unexpected(made.error());
        renewed.emplace(sched, *std::move(made));
    }
    by_sched_ = std::move(renewed);
    return {};
}

void SchedConfigs::clear(std::string_view sched) {
    if (const auto found = by_sched_.find(sched); found != by_sched_.end()) by_sched_.erase(found);
}

Assigned SchedConfigs::assigned(std::string_view sched) {
    const auto found = by_sched_.find(sched);
    if (found == by_sched_.end()) return {};
    const auto get = [](std::optional<Policy>& policy) { return policy ? &*policy : nullptr; };
    return {get(found->second.all_time), get(found->second.prime), get(found->second.non_prime)};
}

std::map<std::string, SchedConfigObjects> SchedConfigs::all() const {
    std::map<std::string, SchedConfigObjects> files;
    for (const auto& [sched, compiled] : by_sched_) files.emplace(sched, compiled.objects);
    return files;
}

}  // namespace pbs::sched
