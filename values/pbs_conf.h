// pbs.conf, the settings of a host's PBS: lines NAME=value.
#pragma once

#include <map>
#include <string>

namespace pbs::values {

// Returns the path of the file: `named`, the value of PBS_CONF_FILE in the environment, or /etc/pbs.conf if
// that is empty.
std::string pbs_conf_path(std::string named);

// Reads the lines; the last line of a name counts. White space around names and values is dropped, and then
// the quotes around a value; '#' begins a comment line. A file that can't be read is empty.
std::map<std::string, std::string> read_pbs_conf(const std::string& path);

}  // namespace pbs::values
