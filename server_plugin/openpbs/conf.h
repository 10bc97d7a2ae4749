// The server's settings: pbs.conf, and the environment over it.
#pragma once

#include <string>
#include <string_view>

namespace pbs::openpbs {

// PBS_HOME, /var/spool/pbs if it isn't set.
std::string pbs_home();

// Is this host the secondary of a failover pair?
bool is_secondary();

// Does pbs.conf say that the plugin schedules, instead of pbs_sched (PBS_POLICY_SCHEDULER=1)?
bool is_scheduler();

// Does a pbs_sched of this host hold the lock in its folder? `sched_priv`: the folder of its scheduler
// object.
bool pbs_sched_runs(const std::string& sched_priv);

// Is `name` that of this host, with or without its domain?
bool is_this_host(std::string_view name);

// Path of a file of pbs_policyd in this home. `which`: "sock", the socket of the service, "pid" or "log". The
// hosts of a failover pair share the home, and each has its own files there.
std::string service_file(const std::string& home, std::string_view which);

}  // namespace pbs::openpbs
