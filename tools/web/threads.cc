#include "tools/web/threads.h"

#include <utility>

namespace pbs::web {

void Threads::enqueue(std::function<void()> work) {
    const values::Lock lock(mutex_);
    work_.push_back(std::move(work));
    if (idle_ < work_.size() && threads_.size() < most_) threads_.emplace_back([this] { run(); });
    wake_.notify_one();
}

void Threads::shutdown() {
    std::vector<std::thread> threads;
    {
        const values::Lock lock(mutex_);
        over_ = true;
        wake_.notify_all();
        threads.swap(threads_);
    }
    for (std::thread& thread : threads) thread.join();
}

void Threads::run() {
    values::Lock lock(mutex_);
    for (;;) {
        ++idle_;
        while (!over_ && work_.empty()) lock.wait(wake_);
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
