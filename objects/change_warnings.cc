#include "objects/change_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "objects/commands.h"
#include "objects/draft.h"
#include "objects/quota_rule.h"
#include "objects/snapshot.h"

namespace pbs::objects {
namespace {

// Adds a line for each setting without effect that the command names, or that had an effect before.
void add_unsupported(const Object* before, const Object* after, const Command* command,
                     std::vector<std::string>& lines) {
    std::vector<std::string_view> named;
    if (command != nullptr && command->kind != CommandKind::unset)
        for (const AttributeChange& change : command->changes)
            if (const Attribute* attribute = find_attribute(command->type, change.name))
                named.push_back(attribute->name);
    for (std::string& line : unsupported_by_change(before, after, named))
        if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
}

// Adds a warning for each setting of a policy that has no effect because the server lacks an ability, if the
// setting has changed or had an effect before.
// If a scheduler gets another all-time policy, adds a warning about that policy's algorithm, if the server
// lacks that.
void add_by_server(const Draft& draft, const Object* before, const Object* after, ServerAbilities abilities,
                   std::vector<std::string>& lines) {
    if (after == nullptr) return;
    if (after->type() == ObjectType::sched) {
        const std::string given = slots_from_list(after->list("policy")).all_time;
        if (before != nullptr && slots_from_list(before->list("policy")).all_time == given) return;
        const ObjectPtr policy = draft.find(ObjectType::policy, given);
        if (policy == nullptr) return;
        for (UnsupportedSetting& setting : unsupported_by_server(*policy, abilities))
            if (setting.attribute == "algorithm") lines.push_back(std::move(setting.text));
        return;
    }
    if (after->type() != ObjectType::policy) return;
    const std::vector<UnsupportedSetting> earlier =
        before == nullptr ? std::vector<UnsupportedSetting>() : unsupported_by_server(*before, abilities);
    for (UnsupportedSetting& setting : unsupported_by_server(*after, abilities)) {
        const Attribute& attribute = *find_attribute(ObjectType::policy, setting.attribute);
        const Value* old = before == nullptr ? nullptr : before->set_value(attribute);
        if (old == nullptr || *old != *after->set_value(attribute) ||
            std::ranges::find(earlier, setting.text, &UnsupportedSetting::text) == earlier.end())
            lines.push_back(std::move(setting.text));
    }
}

// Adds a warning for each of prime_time_start and prime_time_end that the command sets, if there are
// time_windows of type prime, which overrule these attributes.
void add_overruled_hours(const Draft& draft, const Object* policy, const Command& command,
                         std::vector<std::string>& lines) {
    if (policy == nullptr || command.type != ObjectType::policy || command.kind == CommandKind::unset) return;
    for (const AttributeChange& change : command.changes) {
        const Attribute* attribute = find_attribute(command.type, change.name);
        if (!attribute || (attribute->name != "prime_time_start" && attribute->name != "prime_time_end"))
            continue;
        std::string windows;
        draft.for_each(ObjectType::time_window, [&](const Object& window) {
            if (window.text("type") == "prime")
                windows += fmt::format("{}{}", windows.empty() ? "" : ", ", window.name());
        });
        if (!windows.empty() && policy->is_set(attribute->name))
            lines.push_back(
                fmt::format("{}: {} has no effect: the time_windows of type prime say when prime "
                            "time is ({})",
                            object_title(policy->type(), policy->name()), attribute->name, windows));
    }
}

// Two orders of a policy's jobs, of which the first goes before the other.
struct OrderBehind {
    std::string_view first;
    std::string_view behind;
    std::string_view jobs;  // the jobs whose order is left to `behind`
};
constexpr std::string_view kOfOneEntity = "one entity, or of entities that stand equal";
constexpr std::array kOrdersBehind{
    OrderBehind{"fairshare", "weighted_priority", kOfOneEntity},
    OrderBehind{"fairshare", "tickets_share", kOfOneEntity},
    OrderBehind{"round_robin", "weighted_priority", "one queue"},
    OrderBehind{"by_queue", "weighted_priority", "one queue"},
};

bool orders_jobs(const Object& policy, std::string_view name) {
    if (name == "tickets_share") return policy.is_set(name) && policy.integer(name) > 0;
    // With both, by_queue has no effect.
    return policy.boolean(name) && (name != "by_queue" || !policy.boolean("round_robin"));
}

bool has_both(const Object& policy, const OrderBehind& order) {
    return orders_jobs(policy, order.first) && orders_jobs(policy, order.behind);
}

std::string text_of(const Object& policy, const OrderBehind& order) {
    return fmt::format("{}: {} goes first: {} orders only the jobs of {}",
                       object_title(policy.type(), policy.name()), order.first, order.behind, order.jobs);
}

// Adds a note on an order of jobs by tickets or a weighted priority behind another order, if the change
// brings both together or names one of them.
void add_orders_behind(const Object* before, const Object* after, const Command* command,
                       std::vector<std::string>& lines) {
    if (after == nullptr || after->type() != ObjectType::policy || after->text("algorithm") == "origin")
        return;
    const auto named = [&](std::string_view name) {
        return command != nullptr && command->kind != CommandKind::unset &&
               std::ranges::any_of(command->changes, [&](const AttributeChange& change) {
                   const Attribute* attribute = find_attribute(command->type, change.name);
                   return attribute != nullptr && attribute->name == name;
               });
    };
    for (const OrderBehind& order : kOrdersBehind) {
        if (!has_both(*after, order)) continue;
        if (before != nullptr && has_both(*before, order) && !named(order.behind) && !named(order.first))
            continue;
        lines.push_back(text_of(*after, order));
    }
}

// Adds a note on tickets_functional without functional_shares, if the change brings that about or names
// tickets_functional.
void add_tickets_without_shares(const Object* before, const Object* after, const Command* command,
                                std::vector<std::string>& lines) {
    const auto lacks_shares = [](const Object& policy) {
        return policy.is_set("tickets_functional") && policy.integer("tickets_functional") > 0 &&
               !policy.is_set("functional_shares");
    };
    if (after == nullptr || after->type() != ObjectType::policy || after->text("algorithm") == "origin" ||
        !lacks_shares(*after))
        return;
    const bool named = command != nullptr && command->kind != CommandKind::unset &&
                       std::ranges::any_of(command->changes, [](const AttributeChange& change) {
                           const Attribute* attribute = find_attribute(ObjectType::policy, change.name);
                           return attribute != nullptr && attribute->name == "tickets_functional";
                       });
    if (before != nullptr && lacks_shares(*before) && !named) return;
    lines.push_back(
        fmt::format("{}: tickets_functional gives tickets only to jobs that ask for job_shares: set "
                    "functional_shares to give some to users, groups, projects or queues",
                    object_title(after->type(), after->name())));
}

// Adds a warning for each new rule of a quota that is never reached because of an earlier rule. There are at
// most ten warnings.
void add_unreached_rules(const Object* before, const Object* after, std::vector<std::string>& lines) {
    if (after == nullptr || after->type() != ObjectType::quota || (before != nullptr && *before == *after))
        return;
    constexpr std::size_t kMostLines = 10;
    const std::vector<QuotaRule> rules = quota_rules(*after);
    const std::vector<QuotaRule> old = before != nullptr ? quota_rules(*before) : std::vector<QuotaRule>{};
    const bool in_new_order =
        before == nullptr || !std::ranges::equal(before->list("rule_order"), after->list("rule_order"));
    std::size_t told = 0;
    for (auto rule = rules.begin(); rule != rules.end() && told < kMostLines; ++rule) {
        if (!in_new_order && std::ranges::find(old, *rule) != old.end()) continue;
        const auto earlier =
            std::find_if(rules.begin(), rule, [&](const QuotaRule& other) { return other.covers(*rule); });
        if (earlier == rule) continue;
        ++told;
        lines.push_back(fmt::format("{}: rule.{} is never reached: rule.{} before it matches all of its jobs",
                                    object_title(after->type(), after->name()), rule->name, earlier->name));
    }
}

// Returns whether the policy acts by algorithm standard, the only one that looks at at_close. Without a
// program that could schedule, external is standard.
bool looks_at_close(const Object& policy, ServerAbilities abilities) {
    const std::string_view algorithm = policy.text("algorithm");
    return algorithm == "standard" ||
           (algorithm == "external" && scheduler_by(policy, abilities) == PbsSched::none);
}

// Returns whether some scheduler may have such a policy. If no scheduler has a policy, the standard algorithm
// schedules. Among schedulers with policies, one without any isn't known here.
bool windows_stop_jobs(const Draft& draft, ServerAbilities abilities) {
    bool any_policy = false;
    bool stop = false;
    draft.for_each(ObjectType::sched, [&](const Object& sched) {
        const PolicySlots slots = slots_from_list(sched.list("policy"));
        for (const std::string& name : slots.names()) {
            any_policy = true;
            const ObjectPtr policy = draft.find(ObjectType::policy, name);
            stop = stop || policy == nullptr || looks_at_close(*policy, abilities);
        }
    });
    return stop || !any_policy;
}

// Adds a line for each time_window whose at_close has lost its effect by this change of a policy or a
// scheduler, up to ten lines; and for a changed time_window whose at_close has none.
void add_closings_without_effect(const Draft& draft, const Object* before, const Object* after,
                                 ServerAbilities abilities, std::vector<std::string>& lines) {
    if (before != nullptr && after != nullptr && *before == *after) return;
    constexpr std::size_t kMostLines = 10;
    std::size_t told = 0;
    const auto add = [&](const Object& window) {
        if (window.text("at_close") == "run" || window.text("type") != "standard" || ++told > kMostLines)
            return;
        lines.push_back(
            fmt::format("{}: at_close has no effect: no scheduler has a policy of algorithm standard",
                        object_title(window.type(), window.name())));
    };
    if (after == nullptr) {
        const bool lost = before != nullptr && before->type() == ObjectType::sched;
        if (lost && !windows_stop_jobs(draft, abilities)) draft.for_each(ObjectType::time_window, add);
        return;
    }
    if (after->type() == ObjectType::time_window) {
        const bool changed = before == nullptr || before->text("at_close") != after->text("at_close") ||
                             before->text("type") != after->text("type");
        if (changed && after->text("at_close") != "run" && !windows_stop_jobs(draft, abilities)) add(*after);
        return;
    }
    const bool may_take_effect_away =
        after->type() == ObjectType::policy
            ? !looks_at_close(*after, abilities) &&
                  (before == nullptr || before->text("algorithm") != after->text("algorithm"))
            : after->type() == ObjectType::sched &&
                  (before == nullptr || !std::ranges::equal(before->list("policy"), after->list("policy")));
    if (may_take_effect_away && !windows_stop_jobs(draft, abilities))
        draft.for_each(ObjectType::time_window, add);
}

}  // namespace

std::vector<std::string> orders_behind(const Object& policy) {
    std::vector<std::string> out;
    for (const OrderBehind& order : kOrdersBehind)
        if (has_both(policy, order)) out.push_back(text_of(policy, order));
    return out;
}

void add_change_warnings(const Draft& draft, const Object* before, const Object* after,
                         const Command* command, ServerAbilities abilities, std::vector<std::string>& lines) {
    add_unsupported(before, after, command, lines);
    add_by_server(draft, before, after, abilities, lines);
    if (command != nullptr) add_overruled_hours(draft, after, *command, lines);
    add_orders_behind(before, after, command, lines);
    add_tickets_without_shares(before, after, command, lines);
    add_unreached_rules(before, after, lines);
    add_closings_without_effect(draft, before, after, abilities, lines);
}

}  // namespace pbs::objects
