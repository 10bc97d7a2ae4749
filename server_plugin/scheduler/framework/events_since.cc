#include "server_plugin/scheduler/framework/events_since.h"

#include <algorithm>

namespace pbs::sched {

void EventsSince::forget() {
    everything = lost = started = started_alone = told = false;
    changed.clear();
    freed.clear();
    less_of.clear();
}

void EventsSince::all() {
    ++times_all;
    everything = true;
    freed.clear();
    less_of.clear();
}

void EventsSince::settings_changed() {
    all();
    ++times_settings;
    lost = true;
    changed.clear();
}

void EventsSince::job_changed(JobSlot job) {
    if (lost) return;
    changed.push_back(job);
    if (changed.size() > kMostChanged) settings_changed();
}

void EventsSince::job_ended(QueueSlot queue, const Entities& whose, std::span<const VnodeSlot> vnodes) {
    if (everything) return;
    const auto add = [&](const UseKey& key) {
        if (std::ranges::find(less_of, key) == less_of.end()) less_of.push_back(key);
    };
    for (const EntityKind kind : kEntityKinds) {
        add({UseScope::queue, kind, queue, whose.of(kind)});
        add({UseScope::server, kind, 0, whose.of(kind)});
    }
    if (whose.array != 0) add({UseScope::server, EntityKind::array, 0, whose.array});
    add({UseScope::dedicated});
    freed.insert(freed.end(), vnodes.begin(), vnodes.end());
    if (freed.size() > kMostFreed) all();
}

void OpenLimits::add(const UseKey& key, std::uint32_t now) {
    OfEntity& of = of_[place(key.entity, key.of)];
    of.last = now;
    std::vector<Open>& list = of.list;
    const auto known = std::ranges::find(list, key, &Open::key);
    if (known == list.end())
        list.push_back({key, now});
    else
        known->since = now;
}

void OpenLimits::remove(const UseKey& key) {
    visit(key.entity, key.of, [&](const Open& open) { return open.key != key; });
}

}  // namespace pbs::sched
