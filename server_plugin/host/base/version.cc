#include "server_plugin/host/base/version.h"

namespace pbs::host {

std::string_view server_version() {
    return PBSPOLICY_VERSION;
}

}  // namespace pbs::host
