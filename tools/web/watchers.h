// Browsers that watch a page: each is told when there is something new, as server-sent events.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

#include "tools/web/feed.h"

namespace pbs::web {

/// A watcher holds the revision that it was told of, and nothing else: what is new is asked for at the page's
/// JSON address. One that doesn't read is given up by the time limit for writing.
class Watchers {
  public:
    explicit Watchers(Feed& feed) : feed_(feed) {}

    /// At most so many at once.
    static constexpr std::size_t kMost = 200;
    /// Goes on telling until the client is gone, or stop().
    void watch(const Page& page, const Query& query, httplib::Response& answer);
    void stop();

  private:
    struct Watch;
    bool tell(Watch& watch, httplib::DataSink& sink);

    Feed& feed_;
    std::mutex mutex_;
    std::condition_variable stopped_;
    std::size_t count_ = 0;
    bool over_ = false;
};

}  // namespace pbs::web
