// Where the pages come from: a PBS server, asked through the C API.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "ifl/cmds/client.h"

namespace pbs::web {

/// One connection, kept; those who ask at once wait for each other.
class Source {
  public:
    /// `server` is empty for the default one.
    explicit Source(std::string server) : server_(std::move(server)) {}

    /// The metrics of this moment; of a server that can't be reached, that it is down.
    std::string metrics();

  private:
    std::optional<std::string> ask_metrics();

    const std::string server_;
    std::mutex mutex_;
    std::optional<cmds::Connection> connection_;
};

}  // namespace pbs::web
