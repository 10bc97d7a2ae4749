// A mutex of which clang knows what it guards (-Wthread-safety): an access without it doesn't compile. Other
// compilers take the annotations for nothing.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define PBS_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define PBS_THREAD_ATTRIBUTE(attribute)
#endif
// A member so marked is read and written only while the mutex is locked.
#define PBS_GUARDED_BY(mutex) PBS_THREAD_ATTRIBUTE(guarded_by(mutex))

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

    // Within the scope, for what is done without it.
    void unlock() PBS_THREAD_ATTRIBUTE(release_capability()) { lock_.unlock(); }
    void lock() PBS_THREAD_ATTRIBUTE(acquire_capability()) { lock_.lock(); }
    // Until another thread notifies; it may be for nothing, so the caller looks again.
    void wait(std::condition_variable_any& changed) { changed.wait(lock_); }

  private:
    std::unique_lock<Mutex> lock_;
};

}  // namespace pbs::values
