// Keeps the recent usage of the elements of trees of shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "tools/web/page.h"
#include "values/mutex.h"

namespace pbs::web {

/// Keeps a sample of each element's usage every ten minutes, for a day. Several threads may use it at once.
class Trends {
  public:
    static constexpr std::int64_t kBetween = 600;  // in seconds
    static constexpr std::int64_t kKept = 24 * 3600;
    /// The most elements of all trees together. Further elements have no trend.
    static constexpr std::size_t kMostElements = 5000;

    /// Takes samples from an answer of the page Shares, and adds the samples so far to each of its elements
    /// as the member "trend", oldest first.
    void tell(Answer& answer);

  private:
    using Samples = std::deque<std::pair<std::int64_t, double>>;  // instant, part of all usage
    void note(const std::string& key, std::int64_t now, double part) PBS_REQUIRES(mutex_);

    values::Mutex mutex_;
    std::map<std::string, Samples, std::less<>> samples_ PBS_GUARDED_BY(mutex_);
};

}  // namespace pbs::web
