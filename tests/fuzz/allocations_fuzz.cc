// Any bytes given as the allocations of an Origin system are refused with messages, or converted.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_allocations(text, "/acct/allocations");
    if (!file) {
        if (file.error().empty()) std::abort();
        for (const auto& problem : file.error())
            if (problem.message.empty() || pbs::migrate::to_text(problem).size() > 2000) std::abort();
        return 0;
    }
    if (!pbs::migrate::convert({.allocations = *file}, {}, nullptr)) std::abort();
    return 0;
}
