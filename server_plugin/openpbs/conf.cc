#include "server_plugin/openpbs/conf.h"

#include "ifl/settings.h"

namespace pbs::openpbs {

std::string pbs_home() {
    const ifl::Environment environment = ifl::process_environment();
    if (std::string home = environment("PBS_HOME"); !home.empty()) return home;
    return ifl::conf_value(environment, "PBS_HOME").value_or("/var/spool/pbs");
}

std::string service_socket(const std::string& home) {
    return home + "/server_priv/policyd.sock";
}

}  // namespace pbs::openpbs
