// Source of the pages: a PBS server, asked through the C API.
#pragma once

#include <mutex>
#include <string>

#include "tools/web/link.h"
#include "tools/web/page.h"

namespace pbs::web {

/// Keeps one connection. Concurrent requests wait for each other.
class Source {
  public:
    /// An empty `server` is the default one.
    explicit Source(std::string server) : link_(std::move(server)) {}

    /// Returns the present metrics. If the server can't be reached, they say that it is down.
    std::string metrics();
    /// Asks for a page.
    Answer ask(const Page& page, const Query& query);

  private:
    /// Calls `ask`, and again over a new connection if the old one was lost. Returns whether the server could
    /// be reached.
    template <class Ask>
    bool reach(Ask ask);

    std::mutex mutex_;
    Link link_;
};

}  // namespace pbs::web
