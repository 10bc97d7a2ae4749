// A timer on the system's clock: for instants, where uv_timer_t is for spans.
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
    // `look` is called in the loop, with nothing set: what it wants next it has to set. Errors: the kernel
    // gave no timer.
    static Result<std::unique_ptr<DeadlineTimer>> open(uv_loop_s* loop, std::function<void()> look);
    // close() has to have been called, and the loop to have run since.
    ~DeadlineTimer();
    DeadlineTimer(const DeadlineTimer&) = delete;
    DeadlineTimer& operator=(const DeadlineTimer&) = delete;

    // The next instant, in place of the last one; one that has passed is now. nullopt: none, but setting the
    // clock is still told.
    void set(std::optional<std::chrono::sys_seconds> instant);

    void close();

  private:
    struct Impl;
    explicit DeadlineTimer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace pbs::host
