// The server's settings: from pbs.conf, and from the environment, which takes precedence.
#pragma once

#include <string>
#include <string_view>

namespace pbs::openpbs {

// Returns PBS_HOME. If it isn't set, returns /var/spool/pbs.
std::string pbs_home();

// Returns whether this host is the secondary of a failover pair.
bool is_secondary();

// Returns whether the plugin is to schedule instead of pbs_sched: PBS_POLICY_SCHEDULER=1.
bool is_scheduler();

// Returns whether a pbs_sched of this host holds the lock in `sched_priv`, the folder of a scheduler object.
bool pbs_sched_runs(const std::string& sched_priv);

// Returns the path of a file of pbs_policyd in this home. `which`: "sock", the service's socket; "pid"; or
// "log". The hosts of a failover pair share the home, and each has its own files there.
std::string service_file(const std::string& home, std::string_view which);

}  // namespace pbs::openpbs
