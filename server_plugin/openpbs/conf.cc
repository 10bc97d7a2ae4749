#include "server_plugin/openpbs/conf.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "ifl/settings.h"
#include "values/this_host.h"

namespace pbs::openpbs {

std::string pbs_home() {
    const ifl::Environment environment = ifl::process_environment();
    if (std::string home = environment("PBS_HOME"); !home.empty()) return home;
    return ifl::conf_value(environment, "PBS_HOME").value_or("/var/spool/pbs");
}

// The host is compared with PBS_SECONDARY, because PBS_SERVER names the primary, also on the secondary's
// host.
bool is_secondary() {
    const auto settings = ifl::load_settings(ifl::process_environment());
    return settings && values::is_this_host(settings->secondary);
}

// While OpenPBS's scheduler runs, it holds a lock on a file. On the host of a secondary server the file has
// the second name.
bool pbs_sched_runs(const std::string& sched_priv) {
    for (const char* name : {"/sched.lock", "/sched.lock.secondary"}) {
        const int fd = open((sched_priv + name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0) continue;
        struct flock lock {};
        lock.l_type = F_WRLCK;
        lock.l_whence = SEEK_SET;
        const bool held = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
        close(fd);
        if (held) return true;
    }
    return false;
}

bool is_scheduler() {
    return ifl::conf_value(ifl::process_environment(), "PBS_POLICY_SCHEDULER").value_or("") == "1";
}

std::string service_file(const std::string& home, std::string_view which) {
    return fmt::format("{}/server_priv/policyd.{}{}", home, is_secondary() ? "secondary." : "", which);
}

}  // namespace pbs::openpbs
