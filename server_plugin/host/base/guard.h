// Guards callbacks of the event loop against exceptions, for example when memory is used up. If a callback
// throws, only its own work is lost, and the server goes on.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "server_plugin/host/base/log.h"

namespace pbs::host {

// Calls `action`. If it throws, logs that `what` has failed, and returns false.
template <typename Action>
bool guarded(Log& log, std::string_view what, Action&& action) noexcept {
    try {
        action();
        return true;
    } catch (const std::exception& error) {
        try {
            log.error(std::string(what), std::string("failed: ") + error.what());
        } catch (...) {
            return false;  // there is no memory even for a line of the log
        }
    } catch (...) {
        return false;
    }
    return false;
}

}  // namespace pbs::host
