#include "tools/web/source.h"

#include "ifl/cmds/attr_list.h"
#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "tools/web/metrics.h"

namespace pbs::web {

std::string Source::metrics() {
    const std::lock_guard lock(mutex_);
    // The server closes connections that are idle, and all when it is started anew: a second try has a new
    // one.
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (!connection_) {
            auto opened = cmds::Connection::open(server_);
            if (!opened) break;
            connection_.emplace(std::move(*opened));
        }
        if (auto text = ask_metrics()) return std::move(*text);
        connection_.reset();
    }
    return web::metrics(nullptr, nullptr);
}

std::optional<std::string> Source::ask_metrics() {
    const cmds::StatusList scheds(pbs_statsched(connection_->handle(), nullptr, nullptr));
    if (!scheds) return std::nullopt;
    // A server that doesn't count refuses; it is up all the same.
    const cmds::StatusList counters(pbs_statdiagnosis(connection_->handle(), "counters", nullptr));
    return web::metrics(counters.get(), scheds.get());
}

}  // namespace pbs::web
