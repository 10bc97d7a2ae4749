#include "server_plugin/scheduler/model/queue_hours.h"

#include <algorithm>
#include <utility>

namespace pbs::sched {

QueueHours::QueueHours(rrule::WindowSet open, std::vector<Window> windows)
    : open_(std::move(open)),
      windows_(std::move(windows)),
      acts_(std::ranges::any_of(windows_, [](const Window& w) { return w.at_close != AtClose::run; })) {}

const QueueHours::Window* QueueHours::window_at(Instant t) const {
    const auto found = std::ranges::find_if(windows_, [t](const Window& w) { return w.open.contains(t); });
    return found == windows_.end() ? nullptr : &*found;
}

std::optional<QueueHours::Closing> QueueHours::closed_since(Instant since, Instant now) const {
    if (open_.contains(now)) return std::nullopt;
    const auto spans = open_.intervals(since - kStart, now);
    if (spans.empty()) return std::nullopt;
    const Instant at = spans.back().end;
    return Closing{at, window_at(at - Seconds(1))};
}

QueueHours::Course QueueHours::course(Instant from, Seconds left, bool requeued) const {
    Course course{};
    Instant at = from;
    for (int closings = 0; acts_ && closings < kMostClosings;) {
        const auto change = open_.next_change(at);
        if (!change || at + left <= *change) break;
        left -= *change - at;
        at = *change;
        if (open_.contains(at)) continue;
        ++closings;
        const Window* closed = window_at(at - Seconds(1));
        const AtClose at_close = closed == nullptr ? AtClose::run : closed->at_close;
        if (at_close == AtClose::requeue && requeued) left = Seconds(0);
        if (left == Seconds(0)) break;
        if (at_close != AtClose::suspend) continue;
        const auto opens = open_.next_change(at);
        if (!opens) break;
        if (course.stops == Instant::max()) course = {{}, at, *opens};
        at = *opens;
    }
    course.end = at + left;
    return course;
}

}  // namespace pbs::sched
