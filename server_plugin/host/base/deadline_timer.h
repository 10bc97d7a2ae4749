// The class DeadlineTimer: a timer for an instant of the system's clock. (libuv's uv_timer_t measures spans
// of time.)
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "server_plugin/host/base/error.h"

struct uv_loop_s;

namespace pbs::host {

// Calls a function at an instant of the system's clock, even if the clock was set forward past it or the
// machine slept through it. Also calls it at once whenever the clock is set, in either direction, so that the
// caller can compute the next instant anew.
class DeadlineTimer {
  public:
    // Makes a timer without an instant. The loop calls `look` when the instant that set() gave is due, and
    // when the clock is set; either way the instant is removed, so `look` has to set the next one. Errors:
    // the kernel gave no timer.
    static Result<std::unique_ptr<DeadlineTimer>> open(uv_loop_s* loop, std::function<void()> look);
    // REQUIRES: close() was called, and the loop has run since.
    ~DeadlineTimer();
    DeadlineTimer(const DeadlineTimer&) = delete;
    DeadlineTimer& operator=(const DeadlineTimer&) = delete;

    // Sets the next instant in place of the last one. An instant in the past is due at once. nullopt: there
    // is no next instant, but `look` is still called when the clock is set.
    void set(std::optional<std::chrono::sys_seconds> instant);

    void close();

  private:
    struct Impl;
    explicit DeadlineTimer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace pbs::host
