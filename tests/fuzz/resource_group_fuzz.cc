// Fuzz target: parse_resource_group() must read any input as PBS's file resource_group, report its mistakes,
// and give data that can be converted, except if the input is very long.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_resource_group(text, "/sched_priv/resource_group");
    for (const auto& mistake : file.mistakes)
        if (mistake.message.empty() || mistake.then.empty() || pbs::migrate::note_of(mistake).size() > 2000)
            std::abort();
    // only a file with very many elements is refused, as an attribute's value would become too long
    const auto conversion = pbs::migrate::convert({.resource_group = file}, {}, nullptr);
    if (!conversion && size < 300) std::abort();
    return 0;
}
