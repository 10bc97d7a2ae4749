// Tells browsers that watch a page when there is news, by server-sent events.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

#include "tools/web/feed.h"

namespace pbs::web {

/// A watcher only holds the last revision that it was told of: the browser gets the news from the page's JSON
/// address. A browser that doesn't read is dropped by the time limit for writing.
class Watchers {
  public:
    explicit Watchers(Feed& feed) : feed_(feed) {}

    /// Most watchers at once.
    static constexpr std::size_t kMost = 200;
    /// Sends events until the client is gone or stop() is called.
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
