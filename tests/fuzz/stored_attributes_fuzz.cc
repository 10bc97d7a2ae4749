// Fuzz target of a job's attributes in the database, in both of the forms in which they are stored. Their
// reader must refuse the input, or read values that are written and read back the same.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server_plugin/host/store/stored_attributes.h"

using namespace pbs::host;

namespace {

void check(bool holds) {
    if (!holds) std::abort();
}

// Returns the numbers by which the database names attributes. Some are those of attributes that this version
// doesn't know, as a newer version would store.
AttributeNumbers numbers_with_gaps() {
    AttributeNumbers numbers;
    std::size_t number = 0;
    for (const AttributeDef& row : job_table().rows()) {
        numbers.add(&row, ++number);
        if (number % 3 == 2) numbers.add(nullptr, ++number);
    }
    return numbers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const AttributeNumbers numbers = numbers_with_gaps();
    static const AttributeRows rows = rows_of(job_table());
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    SharedTexts texts;
    Attributes attributes;
    const bool whole = input.starts_with('\1') ? numbers.read(input, texts, attributes)
                                               : read_netstrings(input, rows, texts, attributes);
    if (!whole) return 0;
    Attributes again;
    check(numbers.read(numbers.write(attributes, nullptr), texts, again));
    check(again == attributes);
    Attributes as_netstrings;
    check(read_netstrings(netstrings_of(attributes), rows, texts, as_netstrings));
    check(as_netstrings == attributes);
    return 0;
}
