// The value of reserve_execvnodes, which says of each occurrence of a standing reservation which vnodes it
// has: "5#(n1:ncpus=2){0-2,4}(n2:ncpus=2){3}" is how many they are, and each exec_vnode with the places in
// that list, from 0, that have it. A scheduler confirms a standing reservation with such a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pbs::ifl {

std::string execvnodes_text(const std::vector<std::string>& exec_vnodes);
// As many as it says, at most `most`; what it leaves out, or says wrongly, is empty.
std::vector<std::string> exec_vnodes_in(std::string_view text, std::size_t most);

}  // namespace pbs::ifl
