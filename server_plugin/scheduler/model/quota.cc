#include "server_plugin/scheduler/model/quota.h"

#include <algorithm>

#include "objects/snapshot.h"

namespace pbs::sched {

Quota::Quota(const objects::Object& object, rrule::WindowSet set)
    : name(object.name()),
      enabled(object.boolean("enabled")),
      spill(object.boolean("spill")),
      exempts_reservations(object.boolean("exempt_reservations")),
      has_windows(!object.list("time_window").empty()),
      windows(std::move(set)),
      rules(objects::quota_rules(object)) {
    for (const objects::QuotaRule& rule : rules)
        if (const auto& vnodes = rule.filter(objects::QuotaSubject::vnodes))
            vnode_patterns += vnodes->among.size() + vnodes->except.size();
}

bool Quota::names(objects::QuotaSubject subject) const {
    return std::ranges::any_of(
        rules, [subject](const objects::QuotaRule& rule) { return rule.filter(subject).has_value(); });
}

std::optional<rrule::Instant> Quota::binds(rrule::Instant begins, rrule::Instant ends) const {
    if (!has_windows || windows.contains(begins)) return begins;
    if (spill) return std::nullopt;
    const auto next = windows.at_or_after(begins);
    return next && next->start < ends ? std::optional(next->start) : std::nullopt;
}

}  // namespace pbs::sched
