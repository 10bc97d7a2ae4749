// A timer for instants of the system's clock; uv_timer_t is for spans of time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "server_plugin/host/base/error.h"

struct uv_loop_s;

namespace pbs::host {

// Calls a function at an instant of the system's clock, also when the clock was set forward over it or the
// machine slept through it, and at once whenever the clock is set, in either direction: whoever waits for an
// instant has to look at the clock again then.
class DeadlineTimer {
  public:
    // `look` is called in the loop, with nothing set: it has to set the next instant itself. Errors: the
    // kernel gave no timer.
    static Result<std::unique_ptr<DeadlineTimer>> open(uv_loop_s* loop, std::function<void()> look);
    // REQUIRES: close() was called, and the loop has run since.
    ~DeadlineTimer();
    DeadlineTimer(const DeadlineTimer&) = delete;
    DeadlineTimer& operator=(const DeadlineTimer&) = delete;

    // Sets the next instant, in place of the last one; an instant that has passed is due now. nullopt: none,
    // but `look` is still called when the clock is set.
    void set(std::optional<std::chrono::sys_seconds> instant);

    void close();

  private:
    struct Impl;
    explicit DeadlineTimer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace pbs::host
