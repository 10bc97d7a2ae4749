// Makes the threads that answer requests, one for each connection, when they are needed.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "values/mutex.h"

namespace pbs::web {

/// A queue of connections for the HTTP library. A browser that watches a page occupies a thread, which sleeps
/// nearly all the time.
class Threads final : public httplib::TaskQueue {
  public:
    /// `most` is the number of threads. If all are busy, connections wait.
    explicit Threads(std::size_t most) : most_(most) {}
    void enqueue(std::function<void()> work) override;
    void shutdown() override;

  private:
    void run();

    const std::size_t most_;
    values::Mutex mutex_;
    std::condition_variable_any wake_;
    std::deque<std::function<void()>> work_ PBS_GUARDED_BY(mutex_);
    std::vector<std::thread> threads_ PBS_GUARDED_BY(mutex_);
    std::size_t idle_ PBS_GUARDED_BY(mutex_) = 0;
    bool over_ PBS_GUARDED_BY(mutex_) = false;
};

}  // namespace pbs::web
