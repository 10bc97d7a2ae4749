#include "server_plugin/host/base/deadline_timer.h"

#include <fmt/format.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/posix.h"

namespace pbs::host {

namespace {

// The instant for a timer that has none: it never comes. The kernel's timer is always set, because an unset
// timer doesn't report that the clock was set.
constexpr std::chrono::sys_seconds kNever{std::chrono::seconds(253402300799)};  // 9999-12-31T23:59:59Z

}  // namespace

struct DeadlineTimer::Impl {
    Fd fd;
    uv_poll_t poll{};
    std::function<void()> look;
    std::chrono::sys_seconds instant = kNever;
    bool open = false;

    void arm() {
        // Use at least 1, because an instant of 0 would switch the timer off.
        const auto seconds = std::max<std::int64_t>(1, instant.time_since_epoch().count());
        const itimerspec when{{0, 0}, {static_cast<time_t>(seconds), 0}};
        // With CANCEL_ON_SET, setting the timer fails with ECANCELED if the clock was set since the last
        // read. Ignore that failure, because the timer is set nevertheless.
        (void)timerfd_settime(fd.get(), TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, nullptr);
    }
    void ready() {
        std::uint64_t times = 0;
        const auto got = ::read(fd.get(), &times, sizeof times);
        if (got < 0 && errno != ECANCELED) return;
        instant = kNever;
        arm();
        look();
    }
};

DeadlineTimer::DeadlineTimer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DeadlineTimer::~DeadlineTimer() = default;

Result<std::unique_ptr<DeadlineTimer>> DeadlineTimer::open(uv_loop_s* loop, std::function<void()> look) {
    auto impl = std::make_unique<Impl>();
    impl->look = std::move(look);
    impl->fd = Fd(timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!impl->fd) return fail(PBSE_SYSTEM, fmt::format("no timer: {}", system_text(errno)));
    if (const int code = uv_poll_init(loop, &impl->poll, impl->fd.get()); code != 0)
        return fail(PBSE_SYSTEM, fmt::format("no timer: {}", uv_strerror(code)));
    impl->poll.data = impl.get();
    impl->open = true;
    impl->arm();
    uv_poll_start(&impl->poll, UV_READABLE,
                  [](uv_poll_t* handle, int, int) { static_cast<Impl*>(handle->data)->ready(); });
    return std::unique_ptr<DeadlineTimer>(new DeadlineTimer(std::move(impl)));
}

void DeadlineTimer::set(std::optional<std::chrono::sys_seconds> instant) {
    const auto wanted = std::min(instant.value_or(kNever), kNever);
    if (!impl_->open || wanted == impl_->instant) return;
    impl_->instant = wanted;
    impl_->arm();
}

void DeadlineTimer::close() {
    if (std::exchange(impl_->open, false)) uv_close(reinterpret_cast<uv_handle_t*>(&impl_->poll), nullptr);
}

}  // namespace pbs::host
