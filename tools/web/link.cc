#include "tools/web/link.h"

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"

namespace pbs::web {

bool Link::open() {
    error_ = PBSE_NONE;
    if (connection_) return true;
    auto opened = cmds::Connection::open(server_);
    if (!opened) {
        why_ = cmds::failure_text(-1);
        return false;
    }
    connection_.emplace(std::move(*opened));
    return true;
}

bool Link::was_lost() {
    if (!lost_) return false;
    lost_ = false;
    connection_.reset();
    return true;
}

cmds::StatusList Link::take(batch_status* made) {
    // A NULL without an error is an empty list.
    error_ = made == nullptr ? pbs_errno : PBSE_NONE;
    why_ = error_ == PBSE_NONE ? "" : cmds::failure_text(connection_->handle());
    if (error_ == PBSE_PROTOCOL) lost_ = true;
    return cmds::StatusList(made);
}

}  // namespace pbs::web
