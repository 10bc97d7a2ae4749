// Where the pages come from: a PBS server, asked through the C API.
#pragma once

#include <mutex>
#include <string>

#include "tools/web/link.h"
#include "tools/web/page.h"

namespace pbs::web {

/// One connection, kept; those who ask at once wait for each other.
class Source {
  public:
    /// `server` is empty for the default one.
    explicit Source(std::string server) : link_(std::move(server)) {}

    /// The metrics of this moment; of a server that can't be reached, that it is down.
    std::string metrics();
    /// What a page tells at this moment.
    Answer ask(const Page& page, const Query& query);

  private:
    /// Calls `ask`, and once more over a new connection where the old one turned out to be lost. The result
    /// is whether the server could be reached.
    template <class Ask>
    bool reach(Ask ask);

    std::mutex mutex_;
    Link link_;
};

}  // namespace pbs::web
