// Divides work among several cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace pbs::sched {

// Calls f(i) for each i below `count`. Uses several threads if there are cores and enough work; `jobs` is the
// number of jobs of all calls together. No call may use data that another one writes. If a call throws, the
// exception is thrown here after all threads have ended.
template <class F>
void share_out(std::size_t jobs, std::size_t count, const F& f) {
    constexpr std::size_t kWorthAThread = 20'000;
    constexpr std::size_t kMostThreads = 8;
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < count; i = next++) f(i);
    };
    const std::size_t threads = std::min(
        {kMostThreads, count, jobs / kWorthAThread, std::size_t{std::thread::hardware_concurrency()}});
    std::vector<std::future<void>> others;
    try {
        for (std::size_t i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, work));
    } catch (const std::system_error&) {  // no more threads can be made: the others do all the work
    }
    work();
    for (std::future<void>& other : others) other.get();
}

}  // namespace pbs::sched
