// What parts of all usage the elements of trees of shares have had lately.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tools/web/page.h"

namespace pbs::web {

/// Keeps a sample of each element every ten minutes, for a day. Threads may use it at once.
class Trends {
  public:
    static constexpr std::int64_t kBetween = 600;  // seconds
    static constexpr std::int64_t kKept = 24 * 3600;
    /// Of all trees together; others have no trend.
    static constexpr std::size_t kMostElements = 5000;

    /// Notes what an answer of the page Shares says, and adds the earlier samples to each of its elements:
    /// the member "trend", oldest first.
    void tell(Answer& answer);

  private:
    using Samples = std::deque<std::pair<std::int64_t, double>>;  // instant, part of all usage
    void note(const std::string& key, std::int64_t now, double part);

    std::mutex mutex_;
    std::map<std::string, Samples, std::less<>> samples_;
};

}  // namespace pbs::web
