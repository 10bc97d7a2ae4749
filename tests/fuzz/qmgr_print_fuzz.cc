// Any text given as what qmgr printed is refused with messages, or converted.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_qmgr_print(text, "print");
    if (!file) {
        if (file.error().empty()) std::abort();
        for (const auto& problem : file.error())
            if (problem.message.empty() || pbs::migrate::to_text(problem).size() > 2000) std::abort();
        return 0;
    }
    // A formula may be of a form that no attribute has; else what the parser takes is converted.
    const auto conversion = pbs::migrate::convert({.qmgr_print = *file}, {}, nullptr);
    if (!conversion && !file->job_sort_formula) std::abort();
    if (conversion && pbs::migrate::queue_types_from_text(pbs::migrate::to_text(conversion->queue_types)) !=
                          conversion->queue_types)
        std::abort();
    return 0;
}
