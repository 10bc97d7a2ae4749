// The hours of a queue, by its time_windows, and their effect on its running jobs when they end (at_close).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rrule/window_set.h"
#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

enum class AtClose : std::uint8_t { run, suspend, requeue };

class QueueHours {
  public:
    // One of the queue's windows. The windows of a queue don't overlap.
    struct Window {
        std::string name;
        AtClose at_close = AtClose::run;
        rrule::WindowSet open;
    };
    // `open`: the union of the windows.
    QueueHours(rrule::WindowSet open, std::vector<Window> windows);

    const rrule::WindowSet& open() const { return open_; }
    // Returns whether any window suspends or requeues jobs when it closes.
    bool acts() const { return acts_; }
    // The window that is open at this instant; null: none is. O(windows).
    const Window* window_at(Instant t) const;

    // The end of the hours: the instant at which no window was open any more, and the window that closed
    // then.
    struct Closing {
        Instant at;
        const Window* window;
        // Returns whether this closing stops a job that began at `began`. It doesn't stop a job that an
        // operator has started since. A job that was started just before the closing may begin up to kStart
        // later.
        bool stops(Instant began) const { return began < at + kStart; }
    };
    static constexpr Seconds kStart{10};
    // Returns the closing since which the queue is closed, if it stops a job that began at `since`. nullopt:
    // the queue is open, or closed before the job began.
    std::optional<Closing> closed_since(Instant since, Instant now) const;

    // The course of a job: it ends at `end`. Before, it stands still from `stops` to `resumes`, and perhaps
    // again later.
    struct Course {
        Instant end;
        Instant stops = Instant::max();  // max(): it doesn't stand still
        Instant resumes = Instant::max();
    };
    // The course of a job that runs at `from`, and has `left` to run: it is suspended at each end of the
    // hours whose window has at_close `suspend`, until the hours begin again. A job that runs while the queue
    // is closed goes on. After kMostClosings, or if the hours don't begin again, it is expected to run to its
    // end. `requeued`: it ends at the first end of the hours whose window has at_close `requeue`.
    Course course(Instant from, Seconds left, bool requeued = false) const;
    static constexpr int kMostClosings = 100;

  private:
    rrule::WindowSet open_;
    std::vector<Window> windows_;
    bool acts_ = false;
};

}  // namespace pbs::sched
