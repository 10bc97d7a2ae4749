// Fuzz target: parse_configfile() must refuse any input with messages, or read it as an Origin configuration
// that can be converted.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto config = pbs::migrate::parse_configfile(text, "/sched_priv/config");
    if (!config) {
        if (config.error().empty()) std::abort();
        for (const auto& problem : config.error())
            if (problem.message.empty() || pbs::migrate::to_text(problem).size() > 2000) std::abort();
        return 0;
    }
    // Each value that the parser accepts is valid for its policy attribute.
    const auto conversion = pbs::migrate::convert({.config = *config}, {}, nullptr);
    if (!conversion || conversion->changes.commands.empty()) std::abort();
    return 0;
}
