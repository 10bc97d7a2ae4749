// Fuzz target: exec_vnodes_in() must read any input, as a value of reserve_execvnodes, into a list of
// limited length that is written and read back the same.
#include "ifl/attributes/execvnodes.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kMost = 366;
    const auto list = pbs::ifl::exec_vnodes_in(std::string(data, data + size), kMost);
    if (list.size() > kMost) std::abort();
    if (pbs::ifl::exec_vnodes_in(pbs::ifl::execvnodes_text(list), kMost) != list) std::abort();
    return 0;
}
