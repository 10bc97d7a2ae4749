// Tells browsers that watch a page when the page has changed, by server-sent events.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <memory>

#include "tools/web/feed.h"
#include "values/mutex.h"

namespace pbs::web {

/// The browsers that watch pages. An event only names the revision of the page: the browser then gets the
/// page's JSON. A browser that doesn't read its events is dropped by the time limit for writing.
class Watchers {
  public:
    explicit Watchers(Feed& feed) : feed_(feed) {}

    /// The most browsers that can watch at once.
    static constexpr std::size_t kMost = 200;
    /// Sends events until the client is gone or stop() is called.
    void watch(const Page& page, const Query& query, httplib::Response& answer);
    void stop();

  private:
    struct Watch;
    bool tell(Watch& watch, httplib::DataSink& sink);

    Feed& feed_;
    values::Mutex mutex_;
    std::condition_variable_any stopped_;
    std::size_t count_ PBS_GUARDED_BY(mutex_) = 0;
    bool over_ PBS_GUARDED_BY(mutex_) = false;
};

}  // namespace pbs::web
