// The list of programs of server_dyn_res that run with root's rights: PBS_HOME/server_priv/root_programs,
// beside the store. An element of server_dyn_res a line, "resource !/path arguments"; lines that begin with
// '#' are remarks. It counts while only root may change it.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace pbs::objects {

using RootPrograms = std::set<std::string, std::less<>>;

// The elements in a text.
RootPrograms root_programs_in(std::string_view text);
// The elements in a file, none if there is no file. The error says why it doesn't count.
tl::expected<RootPrograms, std::string> read_root_programs(const std::string& path);

// An element as policies have it.
std::string dynamic_resource(std::string_view text);

}  // namespace pbs::objects
