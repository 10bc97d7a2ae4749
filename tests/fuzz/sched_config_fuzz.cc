// Fuzz target: parse_sched_config() must read any input as a sched_config file, report its mistakes, and
// give data that can be converted, except if the input is very long.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_sched_config(text, "/sched_priv/sched_config");
    for (const auto& mistake : file.mistakes)
        if (mistake.message.empty() || mistake.then.empty() || pbs::migrate::note_of(mistake).size() > 2000)
            std::abort();
    // each value that the parser accepts is valid for its policy attribute, unless many lines make a list too
    // long
    const auto conversion =
        pbs::migrate::convert({.sched_config = file}, {{"dedq", "p_fast"}, {"lic"}}, nullptr);
    if (!conversion && size < 60000) std::abort();
    if (conversion && conversion->changes.commands.empty()) std::abort();
    return 0;
}
