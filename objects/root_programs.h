// Reads the list of server_dyn_res programs that run with root's rights: PBS_HOME/server_priv/root_programs,
// beside the store. Each line is an element of server_dyn_res, "resource !/path arguments"; lines that begin
// with '#' are remarks. The list counts only if nobody but root can change it.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace pbs::objects {

using RootPrograms = std::set<std::string, std::less<>>;

// Returns the elements in the list's text.
RootPrograms root_programs_in(std::string_view text);
// Returns the elements in a file; none if there is no file. The error says why the file isn't used.
tl::expected<RootPrograms, std::string> read_root_programs(const std::string& path);

// Returns an element in the form in which policies store it.
std::string dynamic_resource(std::string_view text);

}  // namespace pbs::objects
