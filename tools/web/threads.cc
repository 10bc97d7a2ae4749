#include "tools/web/threads.h"

#include <utility>

namespace pbs::web {

void Threads::enqueue(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    if (idle_ < work_.size() && threads_.size() < most_) threads_.emplace_back([this] { run(); });
    wake_.notify_one();
}

void Threads::shutdown() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
        wake_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
}

void Threads::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++idle_;
        wake_.wait(lock, [this] { return over_ || !work_.empty(); });
        --idle_;
        if (work_.empty()) return;
        const std::function<void()> work = std::move(work_.front());
        work_.pop_front();
        lock.unlock();
        work();
        lock.lock();
    }
}

}  // namespace pbs::web
