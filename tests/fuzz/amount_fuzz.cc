// Fuzz target of the functions that read amounts. Each must refuse the input, or read an amount that is
// written as a text which gives the same amount again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "values/amount.h"

using namespace pbs::values;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto integer = parse_integer(text);
        integer && parse_integer(std::to_string(*integer)) != integer)
        std::abort();
    if (const auto seconds = parse_duration(text))
        if (*seconds < 0 || parse_duration(duration_text(*seconds)) != seconds) std::abort();
    if (const auto written = parse_size(text)) {
        const auto again = parse_size(written->text());
        if (!again || again->bytes() != written->bytes() || again->text() != written->text()) std::abort();
        if (parse_bytes(size_text(written->bytes())) != written->bytes()) std::abort();
        if (parse_bytes(kilobytes_text(written->bytes())).value_or(-1) < written->bytes()) std::abort();
    }
    if (const auto truth = parse_boolean(text); truth && parse_boolean(boolean_text(*truth)) != truth)
        std::abort();
    (void)parse_real(text);
    (void)parse_millionths(text);
    return 0;
}
