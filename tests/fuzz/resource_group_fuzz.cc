// Any text given as the resource_group of PBS is refused with messages, or converted.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_resource_group(text, "/sched_priv/resource_group");
    if (!file) {
        if (file.error().empty()) std::abort();
        for (const auto& problem : file.error())
            if (problem.message.empty() || pbs::migrate::to_text(problem).size() > 2000) std::abort();
        return 0;
    }
    // Very many elements are too long for an attribute; a few are not.
    const auto conversion = pbs::migrate::convert({.resource_group = *file}, {}, nullptr);
    if (!conversion && size < 300) std::abort();
    return 0;
}
