// Checks programs that a manager tells the server to run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace pbs::objects {

// Checks that no other user can change a program that the server runs. The file must be a regular file that
// this process may execute. Symbolic links in the path are followed first. Then the file and every directory
// above it must be safe, as OpenPBS requires of the programs of server_dyn_res:
//  - the owner is the system's (a user id of at most 10) or the user of this process,
//  - the file is not writable by its group or by others,
//  - a directory is writable by its group only if that is the system's (a group id of at most 9), and by
//    others only if it is sticky.
// The error says what is wrong, with the path that is wrong.
tl::expected<void, std::string> check_program_file(const std::string& path);

// Checks a program that is to run with root's rights, as OpenPBS's scheduler does: like check_program_file(),
// but each directory must also belong to a group of the system's, even if the group can't write there.
tl::expected<void, std::string> check_roots_program(const std::string& path);

// Returns the path without symbolic links if it leads to a regular file that nobody but root (or the user of
// this process) can change. Read the file by the returned path: another user could make `path` lead
// elsewhere.
tl::expected<std::string, std::string> roots_file(const std::string& path);

// A program with its arguments, as a manager writes them. Words are separated by blanks. Quotation marks of
// either kind keep blanks in a word. No shell is involved.
struct ProgramCall {
    std::string path;
    std::vector<std::string> arguments{};
};
ProgramCall program_call(std::string_view command);

// Checks that a manager who isn't root may choose the arguments of this program. An interpreter does whatever
// its arguments say, and many system programs are interpreters. So only a script outside the system's own
// program directories may have arguments. Includes check_program_file().
tl::expected<void, std::string> check_program_call(const ProgramCall& call);

}  // namespace pbs::objects
