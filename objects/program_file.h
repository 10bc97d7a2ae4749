// Checks of programs that a manager tells the server to run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace pbs::objects {

// Checks that nobody else can change what the server runs. The file must exist, be a regular file that this
// process may execute, and it and every directory above it (symbolic links followed) must be safe, as OpenPBS
// requires of the programs of server_dyn_res:
//  - the owner is the system's (a user id of at most 10) or the user of this process,
//  - the file is not writable by its group or by others,
//  - a directory is writable by its group only if that is the system's (a group id of at most 9), and by
//    others only if it is sticky.
// The error says what is wrong, with the path that is wrong.
tl::expected<void, std::string> check_program_file(const std::string& path);

// Checks a program that is to run with root's rights, as OpenPBS's scheduler checks it: like
// check_program_file(), but each directory must also have a group of the system's, whether the group may
// write there or not.
tl::expected<void, std::string> check_roots_program(const std::string& path);

// The path, without symbolic links, of a regular file that nobody but root (or the user of this process) may
// change. Read the file by this path: its other names may soon lead elsewhere.
tl::expected<std::string, std::string> roots_file(const std::string& path);

// A program with its arguments, as a manager writes them. Words are separated by blanks, and quotation marks
// of either kind keep blanks in a word; no shell is involved.
struct ProgramCall {
    std::string path;
    std::vector<std::string> arguments{};
};
ProgramCall program_call(std::string_view command);

// Checks that a manager who isn't root may choose the arguments of this program. An interpreter does whatever
// its arguments say, and many system programs are interpreters. So only a script may have arguments, and only
// one outside the system's own program directories. Includes check_program_file().
tl::expected<void, std::string> check_program_call(const ProgramCall& call);

}  // namespace pbs::objects
