#include "server_plugin/openpbs/conf.h"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <array>

#include "ifl/settings.h"

namespace pbs::openpbs {

std::string pbs_home() {
    const ifl::Environment environment = ifl::process_environment();
    if (std::string home = environment("PBS_HOME"); !home.empty()) return home;
    return ifl::conf_value(environment, "PBS_HOME").value_or("/var/spool/pbs");
}

// PBS_SERVER is the primary there.
bool is_secondary() {
    const auto label = [](const std::string& name) { return name.substr(0, name.find('.')); };
    const auto settings = ifl::load_settings(ifl::process_environment());
    std::array<char, 256> host{};
    return settings && !settings->secondary.empty() && gethostname(host.data(), host.size() - 1) == 0 &&
           strcasecmp(label(settings->secondary).c_str(), label(host.data()).c_str()) == 0;
}

bool is_scheduler() {
    return ifl::conf_value(ifl::process_environment(), "PBS_POLICY_SCHEDULER").value_or("") == "1";
}

std::string service_file(const std::string& home, std::string_view which) {
    return fmt::format("{}/server_priv/policyd.{}{}", home, is_secondary() ? "secondary." : "", which);
}

}  // namespace pbs::openpbs
