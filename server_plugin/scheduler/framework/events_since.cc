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
    using Kind = UseKey::Kind;
    for (const UseKey& key :
         {UseKey{Kind::queue, queue, 0}, UseKey{Kind::queue_user, queue, whose.owner},
          UseKey{Kind::queue_group, queue, whose.group}, UseKey{Kind::queue_project, queue, whose.project},
          UseKey{Kind::server, 0, 0}, UseKey{Kind::server_user, 0, whose.owner},
          UseKey{Kind::server_group, 0, whose.group}, UseKey{Kind::server_project, 0, whose.project},
          UseKey{Kind::dedicated, 0, 0}})
        if (std::ranges::find(less_of, key) == less_of.end()) less_of.push_back(key);
    freed.insert(freed.end(), vnodes.begin(), vnodes.end());
    if (freed.size() > kMostFreed) all();
}

}  // namespace pbs::sched
