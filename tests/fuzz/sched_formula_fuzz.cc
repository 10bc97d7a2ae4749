// Fuzz target: parse_sched_formula() must read any input as PBS's file sched_formula, report its mistakes,
// and give data that can be converted.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "migrate/convert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = pbs::migrate::parse_sched_formula(text, "/sched_priv/sched_formula");
    for (const auto& mistake : file.mistakes)
        if (mistake.message.empty() || mistake.then.empty() || pbs::migrate::note_of(mistake).size() > 2000)
            std::abort();
    if (!file.mistakes.empty() && !file.formula.empty()) std::abort();
    if (!pbs::migrate::convert({.sched_formula = file}, {}, nullptr)) std::abort();
    return 0;
}
