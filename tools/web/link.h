// A connection to a PBS server that is kept from request to request.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"

namespace pbs::web {

/// Pass the result of each request to take(), which notices failures.
class Link {
  public:
    /// An empty `server` is the default one.
    explicit Link(std::string server) : server_(std::move(server)) {}

    /// Connects unless connected. False: the server can't be reached.
    bool open();
    /// Drops the connection if the server has closed it, as at a restart. True: the connection was dropped.
    bool was_lost();
    int handle() const { return connection_->handle(); }

    /// Takes a reply: `made` is the C API's result for a request on this connection.
    cmds::StatusList take(batch_status* made);
    /// Text and PBS error number of the last request's failure; 0: success.
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
