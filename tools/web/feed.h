// The answers that all clients share: however many ask, the PBS server is asked once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tools/web/page.h"

namespace pbs::web {

/// An answer as it is sent.
struct Told {
    int status = 200;
    std::string body;      // JSON
    std::string packed{};  // the same, packed by gzip; empty: it isn't worth it
    std::int64_t time = 0;
    std::uint64_t revision = 0;  ///< another one for everything new
    std::chrono::steady_clock::time_point good_until{};
};

/// May be used by several threads at once.
class Feed {
  public:
    using Clock = std::function<std::chrono::steady_clock::time_point()>;
    /// Asks the PBS server.
    using Ask = std::function<Answer(const Page&, const Query&)>;

    explicit Feed(Ask ask, Clock clock = std::chrono::steady_clock::now)
        : ask_(std::move(ask)), clock_(std::move(clock)) {}

    /// What the page tells: the last answer as long as it is good, else a new one. Those who want the same
    /// one while it is being asked for wait for it. An answer that took long is good for longer: the server
    /// is busy with this program for a twentieth of the time at most, for each address.
    std::shared_ptr<const Told> get(const Page& page, const Query& query);

    /// Of the addresses with their parameters, so many answers are kept.
    static constexpr std::size_t kMost = 64;

  private:
    struct Entry {
        std::shared_ptr<const Told> told{};
        std::size_t hash = 0;  // of what it tells without the time
        bool asking = false;
        std::uint64_t used = 0;  // the larger, the later
    };
    std::shared_ptr<const Told> keep(const std::string& key, Told told, std::size_t hash);
    void make_room();

    const Ask ask_;
    const Clock clock_;
    std::mutex mutex_;
    std::condition_variable answered_;
    std::map<std::string, Entry> entries_;
    std::uint64_t uses_ = 0;
    std::uint64_t revisions_ = 0;
};

}  // namespace pbs::web
