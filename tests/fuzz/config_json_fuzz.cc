// Fuzz target of two parsers. The parser of configuration documents must read the input, or refuse it with a
// message. The parser of objects in rows of the history must refuse it, or read an object that is written
// and read back the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "objects/config_json.h"

using namespace pbs::objects;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto read = from_document(text); !read && read.error().message.empty()) std::abort();
    for (const ObjectType type : kConfiguredTypes) {
        const auto object = from_json(type, "x", text);
        if (!object) {
            if (object.error().message.empty()) std::abort();
        } else if (*object) {
            const auto again = from_json(type, "x", to_json(&**object));
            if (!again || !*again || **again != **object) std::abort();
        }
    }
    return 0;
}
