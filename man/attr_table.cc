// pbs_attr_table TYPE: prints the attribute table of an object type as the items of an mdoc list, so that the
// manual pages are made from the tables with which the server and qmgr work. TYPE is an object type, for the
// attributes that pbspolicy adds to PBS, or pbs_TYPE, for the attributes of PBS itself.
//
//   .Bl -tag -width Ds
//   <output of pbs_attr_table policy>
//   .El

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/host_attributes.h"
#include "objects/schema.h"
#include "objects/unsupported.h"
#include "values/object_types.h"

namespace {

using pbs::objects::Attribute;

// Returns a text as a line of its own for roff: escapes all characters with a meaning there.
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

// Returns an argument of a macro, in quotes, so that roff doesn't take it for a macro.
std::string argument(std::string_view text) {
    std::string result = "\"";
    for (char c : plain_text(text)) {
        if (c == '"') result += '"';
        result += c;
    }
    return result + '"';
}

// Prints a paragraph in lines of at most 78 characters. A sentence begins on a line of its own, as mdoc
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

void print_item(pbs::objects::ObjectType object, const Attribute& attribute) {
    const std::string type(pbs::objects::type_text(attribute.type));
    fmt::print(".It Cm {} Pq {}\n", argument(attribute.name),
               argument(fmt::format("{}; {}", type, about_default(attribute))));
    print_text(fmt::format("{}.", attribute.help));
    print_text(fmt::format("Value: {}.", pbs::objects::expected_text(attribute)));
    print_text(pbs::objects::unsupported_remark(object, attribute.name));
    if (!attribute.alias.empty()) fmt::print("Also accepted as\n.Cm {} .\n", argument(attribute.alias));
    if ((attribute.flags & pbs::objects::origin) != 0) fmt::print("An option of the Origin scheduler.\n");
    if ((attribute.flags & pbs::objects::operator_sets) != 0) fmt::print("Operators may set it too.\n");
    fmt::print(".Dl {}\n", plain_text(attribute.example));
}

using pbs::cmds::HostAttribute;

std::string about_type(const HostAttribute& attribute) {
    std::string type(pbs::cmds::type_text(attribute.type));
    if (!attribute.writable()) return type;
    if (attribute.default_value.empty()) return type + "; not set by default";
    return fmt::format("{}; default {}", type, attribute.default_value);
}

void print_item(pbs::cmds::ObjectType object, const HostAttribute& attribute) {
    fmt::print(".It Cm {} Pq {}\n", argument(attribute.name), argument(about_type(attribute)));
    print_text(fmt::format("{}.", attribute.help));
    if (!attribute.words.empty()) print_text(fmt::format("Value: {}.", fmt::join(attribute.words, ", ")));
    fmt::print("{}.\n", pbs::cmds::setter_text(attribute));
    print_text(
        pbs::objects::unsupported_remark(static_cast<pbs::objects::ObjectType>(object), attribute.name));
    if (attribute.has(pbs::ifl::openpbs_only)) fmt::print("An attribute of OpenPBS only.\n");
}

// Returns the object type of a word such as "pbs_queue"; nullopt: it is another word.
std::optional<pbs::cmds::ObjectType> pbs_type(std::string_view word) {
    constexpr std::string_view kPrefix = "pbs_";
    if (!word.starts_with(kPrefix)) return std::nullopt;
    const auto type = pbs::cmds::object_type_from_word(word.substr(kPrefix.size()));
    return type && pbs::cmds::host_attributes(*type).empty() ? std::nullopt : type;
}

}  // namespace

int main(int argc, char** argv) {
    if (const auto type = argc == 2 ? pbs_type(argv[1]) : std::nullopt) {
        for (const HostAttribute& attribute : pbs::cmds::host_attributes(*type)) print_item(*type, attribute);
        return 0;
    }
    const auto type = argc == 2 ? pbs::objects::type_from_word(argv[1]) : std::nullopt;
    if (!type) {
        std::vector<std::string_view> types;
        for (const auto one : pbs::values::kConfiguredTypes) types.push_back(pbs::values::type_name(one));
        fmt::print(stderr,
                   "usage: pbs_attr_table {}\n"
                   "       pbs_attr_table pbs_server|pbs_queue|pbs_node|pbs_sched|pbs_resource\n",
                   fmt::join(types, "|"));
        return 2;
    }
    for (const Attribute& attribute : pbs::objects::attributes(*type)) {
        // Skip attributes that the bundled server itself keeps: they are in the table pbs_TYPE.
        const HostAttribute* host =
            pbs::cmds::find_host_attribute(static_cast<pbs::cmds::ObjectType>(*type), attribute.name);
        if (host == nullptr || host->has(pbs::ifl::of_plugin)) print_item(*type, attribute);
    }
    return 0;
}
