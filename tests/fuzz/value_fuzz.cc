// Fuzz target of the parsers of attributes' values. Each must refuse the input with a message, or read a
// value that is written as a text which gives the same value again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "objects/snapshot.h"
#include "objects/value.h"

using namespace pbs::objects;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The first byte chooses the object type, the second the attribute, and the third the operator; the other
    // bytes are the value.
    if (size < 3) return 0;
    const ObjectType type = kConfiguredTypes[data[0] % kConfiguredTypes.size()];
    const Attribute& attribute = attributes(type)[data[1] % attributes(type).size()];
    const Operation operation = static_cast<Operation>(data[2] % 4);
    const std::string_view text(reinterpret_cast<const char*>(data) + 3, size - 3);

    const Result<Value> value = parse_value(attribute, text);
    if (!value) {
        if (value.error().message.empty()) std::abort();
    } else {
        const Result<Value> again = parse_value(attribute, format_value(attribute, *value));
        if (!again || *again != *value) std::abort();
        const Result<std::optional<Value>> doubled = combine(attribute, &*value, operation, text);
        if (!doubled && doubled.error().message.empty()) std::abort();
    }
    if (const Result<std::optional<Value>> fresh = combine(attribute, nullptr, operation, text); !fresh) {
        if (fresh.error().message.empty()) std::abort();
    }
    return 0;
}
