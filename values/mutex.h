// A mutex with annotations for clang (-Wthread-safety): access to a guarded member doesn't compile where the
// mutex isn't locked. Other compilers ignore the annotations.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define PBS_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define PBS_THREAD_ATTRIBUTE(attribute)
#endif
// Marks a member that is read and written only while the mutex is locked.
#define PBS_GUARDED_BY(mutex) PBS_THREAD_ATTRIBUTE(guarded_by(mutex))
// Marks a function that is called only while the mutex is locked.
#define PBS_REQUIRES(mutex) PBS_THREAD_ATTRIBUTE(requires_capability(mutex))

namespace pbs::values {

class PBS_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
  public:
    void lock() PBS_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
    void unlock() PBS_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

  private:
    std::mutex mutex_;
};

// Locks a mutex for a scope.
class PBS_THREAD_ATTRIBUTE(scoped_lockable) Lock {
  public:
    explicit Lock(Mutex& mutex) PBS_THREAD_ATTRIBUTE(acquire_capability(mutex)) : lock_(mutex) {}
    ~Lock() PBS_THREAD_ATTRIBUTE(release_capability()) = default;
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    // Releases the mutex within the scope; lock() takes it again.
    void unlock() PBS_THREAD_ATTRIBUTE(release_capability()) { lock_.unlock(); }
    void lock() PBS_THREAD_ATTRIBUTE(acquire_capability()) { lock_.lock(); }
    // Waits until another thread notifies `changed`. May return without a notification, so the caller checks
    // its condition again.
    void wait(std::condition_variable_any& changed) { changed.wait(lock_); }
    // Waits like wait(), but at most until an instant. False: the instant has come.
    bool wait_until(std::condition_variable_any& changed, std::chrono::steady_clock::time_point end) {
        return changed.wait_until(lock_, end) == std::cv_status::no_timeout;
    }

  private:
    std::unique_lock<Mutex> lock_;
};

}  // namespace pbs::values
