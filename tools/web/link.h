// A connection to a PBS server that outlives those who ask over it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"

namespace pbs::web {

/// Requests go through take(), which notices what fails.
class Link {
  public:
    /// `server` is empty for the default one.
    explicit Link(std::string server) : server_(std::move(server)) {}

    /// Makes the connection if there is none. False: the server can't be reached.
    bool open();
    /// Forgets the connection if the server ended it, as it does when it is started anew. True: it did.
    bool was_lost();
    int handle() const { return connection_->handle(); }

    /// The reply of a request: `made` is what the C API returned for it, on this connection.
    cmds::StatusList take(batch_status* made);
    /// Why the last request failed: the server's text, and the PBS error number; 0 if it didn't.
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
