// Fuzz target of the parser of qmgr's input. It must refuse the input with a message, or read a directive.
// The directive's values, quoted as `print` quotes them, must be read back the same.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/host_attributes.h"
#include "ifl/cmds/qmgr_complete.h"
#include "ifl/cmds/qmgr_grammar.h"
#include "ifl/cmds/text.h"

using namespace pbs::cmds;

namespace {

void check_value(const std::string& value) {
    // `print` replaces control characters other than tabs by blanks. So skip values with such characters.
    const auto is_lost = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t') || byte == 0x7f;
    };
    if (std::any_of(value.begin(), value.end(), is_lost)) return;
    const std::string quoted = quote_value(value);
    const auto again = take_value(quoted, 0);
    if (!again || again->text != value || again->end != quoted.size()) std::abort();
}

void check_directive(std::string_view text) {
    const auto directive = parse_directive(text, is_attribute);
    if (!directive) {
        const SyntaxError& error = directive.error();
        if (error.message.empty() || error.status < 1 || error.status > 4) std::abort();
        if (error.offset && *error.offset > text.size()) std::abort();
        return;
    }
    for (const Assignment& attribute : directive->attributes) {
        if (attribute.name.empty()) std::abort();
        check_value(attribute.value);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    DirectiveReader reader;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        reader.add_line(text.substr(begin, end - begin));
        begin = end + 1;
        while (const auto directive = reader.next()) check_directive(*directive);
    }
    reader.end_of_input();
    while (const auto directive = reader.next()) check_directive(*directive);
    const Completion completion = complete(
        text,
        {[](ObjectType) { return std::vector<std::string>{"workq"}; },
         [](ObjectType, const std::string&, const std::string&) { return std::vector<std::string>{"vip"}; },
         [] { return std::vector<std::string>{"mem"}; }});
    if (completion.begin > text.size()) std::abort();
    return 0;
}
