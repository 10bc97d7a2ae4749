// Shares the PBS server's answers among clients: however many clients ask, the server is asked once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tools/web/page.h"
#include "values/mutex.h"

namespace pbs::web {

/// An answer in the form in which clients get it.
struct SharedAnswer {
    int status = 200;
    std::string body;      // JSON
    std::string packed{};  // `body` in gzip; empty: packing isn't worth it
    std::int64_t time = 0;
    std::uint64_t revision = 0;  ///< changes with each new answer
    std::chrono::steady_clock::time_point good_until{};
};

/// Keeps the PBS server's latest answer for each page and its parameters, and shares it among clients.
/// Several threads may use it at once.
class Feed {
  public:
    using Clock = std::function<std::chrono::steady_clock::time_point()>;
    /// Asks the PBS server for a page.
    using Ask = std::function<Answer(const Page&, const Query&)>;

    explicit Feed(Ask ask, Clock clock = std::chrono::steady_clock::now)
        : ask_(std::move(ask)), clock_(std::move(clock)) {}

    /// Returns the page's answer: the last one if it is fresh, or else a new one. Clients that want an answer
    /// for which the server is being asked wait for it. A slow answer stays fresh longer, so that each
    /// address keeps the PBS server busy for at most a twentieth of the time.
    std::shared_ptr<const SharedAnswer> get(const Page& page, const Query& query);

    /// The most addresses, with their parameters, whose answers are kept.
    static constexpr std::size_t kMost = 64;

  private:
    struct Entry {
        std::shared_ptr<const SharedAnswer> told{};
        std::size_t hash = 0;  // hash of the answer without its time
        bool asking = false;
        std::uint64_t used = 0;  // value of a counter at the last use: larger is later
    };
    std::shared_ptr<const SharedAnswer> keep(const std::string& key, SharedAnswer told, std::size_t hash)
        PBS_REQUIRES(mutex_);
    void make_room() PBS_REQUIRES(mutex_);

    const Ask ask_;
    const Clock clock_;
    values::Mutex mutex_;
    std::condition_variable_any answered_;
    std::map<std::string, Entry> entries_ PBS_GUARDED_BY(mutex_);
    std::uint64_t uses_ PBS_GUARDED_BY(mutex_) = 0;
    std::uint64_t revisions_ PBS_GUARDED_BY(mutex_) = 0;
};

}  // namespace pbs::web
