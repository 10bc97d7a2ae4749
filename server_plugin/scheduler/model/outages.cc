#include "server_plugin/scheduler/model/outages.h"

#include <algorithm>

namespace pbs::sched {

std::vector<Outage> merge_outages(std::span<const Outage> host, std::span<const Outage> system) {
    std::vector<Outage> merged(system.begin(), system.end());
    for (Outage& outage : merged) outage.of_system = true;
    for (const Outage& own : host) {
        Outage rest = own;
        for (const Outage& other : system) {  // in order of their starts
            if (other.end <= rest.start || other.start >= rest.end) continue;
            if (other.start > rest.start) merged.push_back({rest.start, other.start, rest.description});
            rest.start = std::max(rest.start, std::min(rest.end, other.end));
        }
        if (rest.start < rest.end) merged.push_back(rest);
    }
    std::ranges::stable_sort(merged, {}, &Outage::start);
    return merged;
}

std::optional<rrule::Interval> outage_at_or_after(std::span<const Outage> outages, Instant t) {
    std::optional<rrule::Interval> found;
    for (const Outage& outage : outages) {  // in order of their starts
        if (found && outage.start <= found->end) found->end = std::max(found->end, outage.end);
        if (found && outage.start > found->end && found->end > t) break;
        if (!found || found->end <= t) found = rrule::Interval{outage.start, outage.end};
    }
    if (found && found->end <= t) return std::nullopt;
    return found;
}

std::optional<Instant> next_outage_change(std::span<const Outage> outages, Instant t) {
    std::optional<Instant> next;
    for (const Outage& outage : outages)
        for (const Instant change : {outage.start, outage.end})
            if (change > t && (!next || change < *next)) next = change;
    return next;
}

bool Outages::set(std::string_view command, std::string_view name, std::vector<Outage> outages) {
    Report& known = known_[key(command, name)];
    const bool changed = known.awaited || known.outages != outages;
    known = {false, std::move(outages)};
    return changed;
}

bool Outages::await(std::string_view command, std::string_view name) {
    Report& known = known_[key(command, name)];
    if (known.outages || known.awaited) return false;
    return known.awaited = true;
}

bool Outages::settle(std::string_view command, std::string_view name) {
    return std::exchange(known_[key(command, name)].awaited, false);
}

std::span<const Outage> Outages::of(std::string_view command, std::string_view name) const {
    const auto found = known_.find(key(command, name));
    if (found == known_.end() || !found->second.outages) return {};
    return *found->second.outages;
}

bool Outages::awaited(std::string_view command, std::string_view name) const {
    const auto found = known_.find(key(command, name));
    return found != known_.end() && found->second.awaited;
}

}  // namespace pbs::sched
