// Fuzz target: parse_entity_limits() must refuse any input with a position within the text, or read limits
// that are written and read back the same.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ifl/attributes/entity_limits.h"

using namespace pbs::ifl;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const auto limits = parse_entity_limits(input);
    if (!limits) {
        if (limits.error().at > input.size() || limits.error().expected.empty()) std::abort();
        return 0;
    }
    const auto again = parse_entity_limits(entity_limits_text(*limits));
    if (limits->empty() || !again || *again != *limits) std::abort();
    return 0;
}
