// Fuzz target: read_share_usage() must read any input as the file of usage for pbs_simulate, or refuse it
// with a message of limited length that names the file.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/simulate/usage.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto read = pbs::simulate::read_share_usage(text, "usage.json");
    if (!read && (!read.error().starts_with("usage.json: ") || read.error().size() > 2000)) std::abort();
    if (read)
        for (const auto& tree : *read)
            for (const auto& entity : tree.entities)
                if (tree.sched.empty() || tree.group.empty() || entity.user.empty() || !(entity.usage > 1))
                    std::abort();
    return 0;
}
