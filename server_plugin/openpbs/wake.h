// Wakes the policy service's thread when a thread of the plugin has finished a piece of work.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace pbs::openpbs {

class Wake {
  public:
    Wake() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
    ~Wake() {
        if (fd_ >= 0) close(fd_);
    }
    Wake(const Wake&) = delete;
    Wake& operator=(const Wake&) = delete;

    int fd() const { return fd_; }
    void call() const {
        const std::uint64_t one = 1;
        (void)!write(fd_, &one, sizeof one);
    }
    void clear() const {
        std::uint64_t count = 0;
        (void)!read(fd_, &count, sizeof count);
    }
    std::atomic<bool> cycle_finished = false;

  private:
    int fd_;
};

}  // namespace pbs::openpbs
