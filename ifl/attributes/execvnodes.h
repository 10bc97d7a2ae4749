// Reads and writes the value of reserve_execvnodes: the vnodes of each occurrence of a standing reservation.
// "5#(n1:ncpus=2){0-2,4}(n2:ncpus=2){3}" is the number of occurrences, then each exec_vnode with the
// occurrences, counted from 0, that have it. A scheduler confirms a standing reservation with such a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pbs::ifl {

std::string execvnodes_text(const std::vector<std::string>& exec_vnodes);
// The exec_vnodes of the occurrences: as many as the text says, at most `most`. An occurrence that the text
// leaves out or gives wrongly has an empty one.
std::vector<std::string> exec_vnodes_in(std::string_view text, std::size_t most);

}  // namespace pbs::ifl
