// Any text given as reserve_execvnodes is a bounded list, and what is written of that is read as the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "server_plugin/host/occurrences.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto list = pbs::host::exec_vnodes_in(std::string(data, data + size));
    if (list.size() > pbs::host::kMostOccurrences) std::abort();
    if (pbs::host::exec_vnodes_in(pbs::host::execvnodes_text(list)) != list) std::abort();
    return 0;
}
