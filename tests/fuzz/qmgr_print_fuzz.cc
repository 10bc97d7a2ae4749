// Fuzz target: parse_qmgr_print() must read any input as the output of qmgr's `print`, report its mistakes,
// and give data that can be converted.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_qmgr_print(text, "print");
    for (const auto& mistake : file.mistakes)
        if (mistake.message.empty() || mistake.then.empty() || pbs::migrate::note_of(mistake).size() > 2000)
            std::abort();
    for (const auto& printed : file.commands)
        if (printed.command.changes.size() > 1 || printed.line < 1) std::abort();
    const auto conversion = pbs::migrate::convert({.qmgr_print = file}, {}, nullptr);
    if (!conversion || pbs::migrate::queue_types_from_text(pbs::migrate::to_text(conversion->queue_types)) !=
                           conversion->queue_types)
        std::abort();
    return 0;
}
