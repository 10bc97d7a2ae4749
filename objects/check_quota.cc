// Checks of quotas as a whole, and of their time_windows.

#include <fmt/format.h>

#include <algorithm>

#include "objects/check.h"
#include "objects/draft.h"
#include "objects/quota_rule.h"

namespace pbs::objects {

Result<void> check_quota(const Object& quota) {
    constexpr std::size_t kMostRules = 1000;
    const std::span<const std::string> rules = quota.list("rule");
    if (rules.size() > kMostRules)
        return fail(Code::bad_value,
                    fmt::format("rule: {} rules, expected at most {}", rules.size(), kMostRules));
    for (const std::string& name : quota.list("rule_order")) {
        if (std::ranges::find(rules, name, quota_rule_name) != rules.end()) continue;
        return fail(Code::bad_value,
                    fmt::format("rule_order: bad value '{}': the quota has no such rule", name));
    }
    return {};
}

namespace {

// Refuses time_windows of another type than standard, whose times are prime time or dedicated time. Those
// that a quota of an earlier release has stay.
Result<void> check_windows_of(const Draft& draft, const Object* before, const Object& quota) {
    const std::span<const std::string> known =
        before != nullptr ? before->list("time_window") : std::span<const std::string>();
    for (const std::string& name : quota.list("time_window")) {
        if (std::ranges::find(known, name) != known.end()) continue;
        const ObjectPtr window = draft.find(ObjectType::time_window, name);
        if (window && window->text("type") != "standard")
            return fail(Code::bad_value,
                        fmt::format("time_window: bad value '{}': the time_window is of type "
                                    "{}, expected one of type standard",
                                    name, window->text("type")));
    }
    return {};
}

// Refuses to make a time_window one of another type than standard while a quota names it.
Result<void> check_window_type(const Draft& draft, const Object* before, const Object& window) {
    if (window.text("type") == "standard") return {};
    if (before != nullptr && before->text("type") == window.text("type")) return {};
    std::vector<std::string> users;
    draft.for_each(ObjectType::quota, [&](const Object& quota) {
        const std::span<const std::string> names = quota.list("time_window");
        if (std::ranges::find(names, window.name()) != names.end())
            users.push_back(object_title(ObjectType::quota, quota.name()));
    });
    if (users.empty()) return {};
    std::ranges::sort(users);
    return fail(Code::bad_value,
                fmt::format("type: bad value '{}': {} has this time_window, expected standard",
                            window.text("type"), users.front()));
}

}  // namespace

Result<void> check_quota_windows(const Draft& draft, const Object* before, const Object& object) {
    if (object.type() == ObjectType::quota) return check_windows_of(draft, before, object);
    if (object.type() == ObjectType::time_window) return check_window_type(draft, before, object);
    return {};
}

}  // namespace pbs::objects
