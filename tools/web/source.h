// Asks a PBS server for the pages, through the C API.
#pragma once

#include <optional>
#include <string>

#include "tools/web/link.h"
#include "tools/web/page.h"
#include "values/mutex.h"

namespace pbs::web {

/// A source of pages, with one connection. Concurrent requests wait for each other.
class Source {
  public:
    /// An empty `server` is the default one.
    explicit Source(std::string server) : link_(std::move(server)) {}

    /// Returns the present metrics. If the server can't be reached, pbs_up in them is 0.
    std::string metrics();
    /// Asks for a page.
    Answer ask(const Page& page, const Query& query);

  private:
    /// Calls `ask` with a connection, and once more over a new one if the server had closed the old one.
    /// Returns why the server couldn't be reached; nullopt: it could.
    template <class Ask>
    std::optional<std::string> reach(Ask ask);

    values::Mutex mutex_;
    Link link_ PBS_GUARDED_BY(mutex_);
};

}  // namespace pbs::web
