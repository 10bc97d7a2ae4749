// The counters of quotas, as commands and refusals show them.

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/scheduler/state/cycle_state.h"
#include "server_plugin/scheduler/state/quota_book.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

std::uint32_t QuotaBook::resource_of(const CycleState& state, const Bound& bound) {
    return bound.what == kJobs ? kNoResource : real_resource(bound.what, *state.resources);
}

std::string QuotaBook::amount_text(const CycleState& state, const Bound& bound, std::int64_t amount) {
    const std::uint32_t id = resource_of(state, bound);
    return id == kNoResource ? fmt::format("{}", amount) : state.resources->format(id, amount);
}

std::string QuotaBook::last_refusal(CycleState& state) {
    constexpr std::size_t kMostNamed = 10;
    std::string text;
    for (const auto& [subject, value] : values_of(state, refused_key_))
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", subject, value);
    if (text.empty()) text = "one for all";
    const Bound& bound = rule_of(refused_key_).bounds[refused_bound_];
    if (!bound.consumable) return {};
    std::size_t jobs = 0;
    std::string named;
    const Tables& tables = *state.tables;
    for (QueueSlot q = 0; q < tables.queues.size(); ++q)
        for (const JobSlot job : tables.queues[q].running) {
            const auto counted = running_.find(job);
            if (counted == running_.end()) continue;
            for (const Charge& charge : counted->second.charges) {
                if (counters_[charge.counter].key != refused_key_) continue;
                const std::int64_t amount = charge.amounts[refused_bound_];
                if (amount == 0 || ++jobs > kMostNamed) continue;
                named += fmt::format("{}{} ({})", named.empty() ? "" : ", ", tables.jobs.id[job],
                                     amount_text(state, bound, amount));
            }
        }
    const bool own = refused_key_[place_of(objects::QuotaSubject::users)] != 0;
    if (!own || jobs == 0)
        return fmt::format("counter {}, used by {} running {}", text, jobs, jobs == 1 ? "job" : "jobs");
    const std::string more = jobs > kMostNamed ? fmt::format(" and {} more", jobs - kMostNamed) : "";
    return fmt::format("counter {}, used by {}{}", text, named, more);
}

std::vector<AnswerFact> QuotaBook::facts_of_refusal(const CycleState& state, const Reason& reason) const {
    const InQuota& in = quotas_[refused_key_[0]];
    const Rule& rule = in.rules[refused_key_[1]];
    const Bound& bound = rule.bounds[refused_bound_];
    const std::uint32_t id = resource_of(state, bound);
    std::vector<AnswerFact> facts{{"quota", in.quota->name}, {"rule", rule.rule->name}};
    for (const auto& [subject, value] : values_of(state, refused_key_))
        facts.push_back({"of", fmt::format("{}={}", subject, value)});
    facts.push_back({"resource", id == kNoResource ? "jobs" : std::string(state.resources->name(id))});
    const auto value = [&](std::int64_t amount) {
        return bound.text.empty() ? amount_text(state, bound, amount)
                                  : std::string(state.strings->text(static_cast<std::uint32_t>(amount)));
    };
    facts.push_back({"asked", value(reason.a)});
    if (bound.consumable) facts.push_back({"used", value(reason.b)});
    facts.push_back({"limit", value(reason.c)});
    if (refused_from_)
        facts.push_back({"holds_from", fmt::format("{}", refused_from_->time_since_epoch().count())});
    return facts;
}

// Lists the running jobs by the counters in which they count; and jobs that the policy has suspended, or that
// have an expected start, by the counters in which they will count. `user`: only this user's jobs, as no
// others count in counters for the user.
QuotaBook::JobAmounts QuotaBook::amounts_of_jobs(CycleState& state, std::optional<std::string_view> user) {
    const Tables& tables = *state.tables;
    std::map<JobHandle, std::pair<JobSlot, Charges>> jobs;
    const auto is_asked_for = [&](JobSlot job) {
        return !user || tables.strings.text(tables.jobs.owner[job]) == *user;
    };
    for (const auto& [job, counted] : running_)
        if (is_asked_for(job)) jobs.emplace(tables.jobs.handle[job], std::pair(job, counted.charges));
    const auto add_later = [&](JobSlot job) {
        Vnodes::Shares none;
        const JobHandle handle = tables.jobs.handle[job];
        if (is_asked_for(job) && !jobs.contains(handle))
            jobs.emplace(handle, std::pair(job, charges(state, limit_user(state, job, none))));
    };
    for (const auto* list : {&tables.estimates.told, &tables.estimates.told_others})
        for (const auto& [handle, told] : *list)
            if (const JobSlot job = tables.jobs.find(handle); told.start && job != kNoSlot) add_later(job);
    tables.jobs.for_each([&](JobSlot job) {
        if (tables.jobs.is_suspended(job)) add_later(job);
    });
    JobAmounts amounts;
    for (const auto& [handle, job] : jobs)
        for (const Charge& charge : job.second) {
            const std::vector<Bound>& bounds = rule_of(counters_[charge.counter].key).bounds;
            for (std::size_t i = 0; i < bounds.size(); ++i)
                if (charge.amounts[i] != 0)
                    amounts[{charge.counter, i}].push_back(
                        {tables.jobs.id[job.first], amount_text(state, bounds[i], charge.amounts[i])});
        }
    return amounts;
}

std::vector<QuotaUse> QuotaBook::shown(CycleState& state, bool with_jobs,
                                       std::optional<std::string_view> user) {
    std::vector<QuotaUse> out;
    JobAmounts jobs;
    if (with_jobs) jobs = amounts_of_jobs(state, user);
    std::vector<std::pair<Key, std::uint32_t>> sorted(numbers_.begin(), numbers_.end());
    std::ranges::sort(sorted);
    for (const auto& [key, number] : sorted) {
        const std::uint32_t whose = key[place_of(objects::QuotaSubject::users)];
        if (user && (whose == 0 || state.strings->text(whose - 1) != *user)) continue;
        const InQuota& in = quotas_[key[0]];
        const Rule& rule = in.rules[key[1]];
        QuotaUse counter{.quota = in.quota->name,
                         .rule = rule.rule->name,
                         .of = {},
                         .resource = {},
                         .used = {},
                         .limit = {},
                         .enabled = in.quota->enabled,
                         .in_force = false};
        counter.in_force = in.quota->enabled && in.quota->binds(state.now, state.now).has_value();
        counter.of = values_of(state, key);
        for (std::size_t i = 0; i < rule.bounds.size(); ++i) {
            const Bound& bound = rule.bounds[i];
            const auto counted = jobs.find({number, i});
            if (!bound.consumable || (counters_[number].used[i] == 0 && counted == jobs.end())) continue;
            const std::uint32_t id = resource_of(state, bound);
            QuotaUse& use = out.emplace_back(counter);
            use.resource = id == kNoResource ? "jobs" : std::string(state.resources->name(id));
            use.used = amount_text(state, bound, counters_[number].used[i].value());
            const auto limit = limit_of(state, key, i);
            use.limit = limit ? amount_text(state, bound, *limit) : "-";
            use.used_number = counters_[number].used[i].value();
            use.limit_number = limit.value_or(-1);
            if (counted != jobs.end()) use.jobs = std::move(counted->second);
        }
    }
    return out;
}

}  // namespace pbs::sched
