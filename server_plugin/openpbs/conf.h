// Where things of the server are: pbs.conf, and the environment over it.
#ifndef PBSPOLICY_OPENPBS_CONF_H
#define PBSPOLICY_OPENPBS_CONF_H

#include <string>

namespace pbs::openpbs {

// PBS_HOME, /var/spool/pbs if it isn't set.
std::string pbs_home();

// The socket that pbs_policyd of this home answers on.
std::string service_socket(const std::string& home);

}  // namespace pbs::openpbs

#endif
