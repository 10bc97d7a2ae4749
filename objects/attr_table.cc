// pbs_attr_table TYPE: prints the attribute table of an object type as the items of an mdoc list, so that the
// manual pages come from the table that the server works with.
//
//   .Bl -tag -width Ds
//   <output of pbs_attr_table policy>
//   .El

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "objects/schema.h"

namespace {

using pbs::objects::Attribute;

// Text for a line of its own: no character has a meaning to roff.
std::string plain_text(std::string_view text) {
    std::string result;
    if (text.starts_with('.') || text.starts_with('\'')) result += "\\&";
    for (char c : text) {
        if (c == '\\') {
            result += "\\e";
        } else if (c == '`' || c == '\'') {
            result += c == '`' ? "\\(ga" : "\\(aq";
        } else {
            result += c;
        }
    }
    return result;
}

// One argument of a macro, in quotes, so that it is never taken for a macro itself.
std::string argument(std::string_view text) {
    std::string result = "\"";
    for (char c : plain_text(text)) {
        if (c == '"') result += '"';
        result += c;
    }
    return result + '"';
}

// Prints a paragraph in lines of at most 78 characters; a sentence begins on a line of its own, as mdoc
// wants.
void print_text(std::string_view text) {
    if (const std::size_t stop = text.find(". "); stop != std::string_view::npos) {
        print_text(text.substr(0, stop + 1));
        return print_text(text.substr(stop + 2));
    }
    while (!text.empty()) {
        std::size_t end = text.size();
        if (end > 78) {
            end = text.rfind(' ', 78);
            if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
        }
        fmt::print("{}\n", plain_text(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

std::string about_default(const Attribute& attribute) {
    if (attribute.default_value.empty()) return "not set by default";
    return fmt::format("default {}", attribute.default_value);
}

void print_item(const Attribute& attribute) {
    const std::string type(pbs::objects::type_text(attribute.type));
    fmt::print(".It Cm {} Pq {}\n", argument(attribute.name),
               argument(fmt::format("{}; {}", type, about_default(attribute))));
    print_text(fmt::format("{}.", attribute.help));
    print_text(fmt::format("Value: {}.", pbs::objects::expected_text(attribute)));
    if (!attribute.alias.empty()) fmt::print("Also accepted as\n.Cm {} .\n", argument(attribute.alias));
    if ((attribute.flags & pbs::objects::origin) != 0) fmt::print("An option of the Origin scheduler.\n");
    if ((attribute.flags & pbs::objects::operator_sets) != 0) fmt::print("Operators may set it too.\n");
    fmt::print(".Dl {}\n", plain_text(attribute.example));
}

}  // namespace

int main(int argc, char** argv) {
    const auto type = argc == 2 ? pbs::objects::type_from_word(argv[1]) : std::nullopt;
    if (!type) {
        fmt::print(stderr, "usage: pbs_attr_table policy|time_window|fs_group|server|queue|sched\n");
        return 2;
    }
    for (const Attribute& attribute : pbs::objects::attributes(*type)) print_item(attribute);
    return 0;
}
