// Programs that the server is told to run.
#pragma once

#include <string>

#include <tl/expected.hpp>

namespace pbs::objects {

// May the server run this file without somebody else deciding what is run? It has to be there, be a regular
// file that this process may execute, and it and every directory above it (symbolic links followed) have to
// be safe, as OpenPBS asks of the programs of server_dyn_res:
//  - the owner is the system's (a user id of at most 10) or the user of this process,
//  - the file is not writable by its group or by others,
//  - a directory is writable by its group only if that is the system's (a group id of at most 9), and by
//    others only if it is sticky.
// The error says what is wrong, with the path it is wrong with.
tl::expected<void, std::string> check_program_file(const std::string& path);

}  // namespace pbs::objects
