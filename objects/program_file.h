// Programs that the server is told to run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

// The same of a program that is to run with root's rights, as OpenPBS's scheduler runs them: each directory
// also has a group of the system's, whether it may write there or not.
tl::expected<void, std::string> check_roots_program(const std::string& path);

// The path without symbolic links of a file that nobody but root (or the user of this process) may change. It
// has to be a regular one. Whoever reads it reads it by this path: another name of it may lead elsewhere
// soon.
tl::expected<std::string, std::string> roots_file(const std::string& path);

// A program with its arguments, as a manager writes them. No shell reads them: words are separated by blanks,
// and quotation marks of either kind keep blanks in a word.
struct ProgramCall {
    std::string path;
    std::vector<std::string> arguments{};
};
ProgramCall program_call(std::string_view command);

// May somebody who isn't the system's administrator choose the arguments of this program? What an interpreter
// does is up to its arguments, and many programs of the system are one. So only a script may have arguments,
// one that isn't in a directory of the system's own programs. Checked together with check_program_file().
tl::expected<void, std::string> check_program_call(const ProgramCall& call);

}  // namespace pbs::objects
