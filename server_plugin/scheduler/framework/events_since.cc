#include "server_plugin/scheduler/framework/events_since.h"

#include <algorithm>

namespace pbs::sched {

void EventsSince::forget() {
    everything = lost = started = false;
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
    lost = true;
    changed.clear();
}

void EventsSince::job_changed(JobSlot job) {
    if (lost) return;
    changed.push_back(job);
    if (changed.size() > kMostChanged) settings_changed();
}

void EventsSince::job_ended(QueueSlot queue, std::uint32_t owner, std::uint32_t group,
                            std::span<const VnodeSlot> vnodes) {
    if (everything) return;
    using Kind = UseKey::Kind;
    for (const UseKey& key : {UseKey{Kind::queue, queue, 0}, UseKey{Kind::queue_user, queue, owner},
                              UseKey{Kind::queue_group, queue, group}, UseKey{Kind::server, 0, 0},
                              UseKey{Kind::server_user, 0, owner}, UseKey{Kind::server_group, 0, group},
                              UseKey{Kind::dedicated, 0, 0}})
        if (std::ranges::find(less_of, key) == less_of.end()) less_of.push_back(key);
    freed.insert(freed.end(), vnodes.begin(), vnodes.end());
    if (freed.size() > kMostFreed) all();
}

}  // namespace pbs::sched
