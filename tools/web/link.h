// Keeps a connection to a PBS server from one request to the next.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"

namespace pbs::web {

/// A connection. Pass the result of each C API call on it to take(), which notices failures.
class Link {
  public:
    /// An empty `server` is the default one.
    explicit Link(std::string server) : server_(std::move(server)) {}

    /// Connects if there is no connection. False: the server can't be reached.
    bool open();
    /// Drops the connection if the server has closed it, as at a restart. Returns whether it has.
    bool was_lost();
    int handle() const { return connection_->handle(); }

    /// Takes a reply: `made` is the C API's result for a request on this connection.
    cmds::StatusList take(batch_status* made);
    /// The text and the PBS error number of the last request's failure; empty and 0 after a success.
    const std::string& why() const { return why_; }
    int error() const { return error_; }

  private:
    const std::string server_;
    std::optional<cmds::Connection> connection_;
    std::string why_;
    int error_ = 0;
    bool lost_ = false;
};

}  // namespace pbs::web
