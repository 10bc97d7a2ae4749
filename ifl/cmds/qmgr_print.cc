#include "ifl/cmds/qmgr_print.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ifl/cmds/host_attributes.h"
#include "ifl/cmds/text.h"
#include "objects/schema.h"
#include "values/object_types.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

constexpr std::size_t kLineWidth = 80;
constexpr std::string_view kDefaultSched = "default";
constexpr std::string_view kDefaultPolicy = "default_policy";
constexpr std::string_view kUnknownResource = "|unknown|";
constexpr std::string_view kMomPort = "15002";

// The heading above the directives for a type's objects.
std::string heading(ObjectType type) {
    if (type == ObjectType::server) return "Set server attributes.";
    const bool properties = type == ObjectType::node || type == ObjectType::resource;
    return fmt::format("Create {} and set their {}.", values::find_type(type)->plural,
                       properties ? "properties" : "attributes");
}

std::string_view keyword(ObjectType type) {
    return values::type_name(type);
}

std::string comment_block(std::string_view text) {
    return fmt::format("#\n# {}\n#\n", text);
}

bool is_printable(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
        return c != '\t' && c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f);
    });
}

// Appends a value on lines of at most 80 columns where commas allow; `used` columns are taken on the first
// line.
void append_wrapped(std::string& out, std::string_view value, std::size_t used) {
    // the common case: the value fits
    if (used + value.size() < kLineWidth && is_printable(value)) {
        out += value;
        return;
    }
    bool first = true;
    for (std::string_view part : values::split(value, ',')) {
        if (!first) {
            out += ',';
            ++used;
        }
        if (!first && used + part.size() + 1 > kLineWidth) {
            out += "\n\t";
            used = 8;
            part = values::trim(part);
        }
        out += printable(part);
        used += part.size();
        first = false;
    }
}

// Returns the value to show. A resource's type and flags become words; other values stay as they are.
std::string shown_in_words(ObjectType type, const attrl& attribute) {
    const std::string_view value = view(attribute.value);
    if (type == ObjectType::resource && view(attribute.name) == "type") return resource_type_text(value);
    if (type == ObjectType::resource && view(attribute.name) == "flag") return resource_flag_text(value);
    return std::string(value);
}

// Appends to `text` the line of qmgr's `list` for an attribute. Lists can be long, so a value is copied only
// into `text`, except for resources.
void append_listed(std::string& text, ObjectType type, const attrl& attribute) {
    std::string words;
    std::string_view value = view(attribute.value);
    if (type == ObjectType::resource) {
        words = shown_in_words(type, attribute);
        value = words;
        if (value.empty()) return;
    }
    text += "    ";
    const std::size_t begin = text.size();
    text += view(attribute.name);
    if (const std::string_view resource = view(attribute.resource); !resource.empty()) {
        text += '.';
        text += resource;
    }
    const std::size_t name = text.size() - begin;
    text += " = ";
    append_wrapped(text, value, name + 7);
    text += '\n';
}

// The beginning of a directive, such as `set queue q1 `, to be followed by the attribute and operator.
std::string set_prefix(ObjectType type, std::string_view object) {
    if (type == ObjectType::server || (type == ObjectType::sched && object == kDefaultSched))
        return fmt::format("set {} ", keyword(type));
    return fmt::format("set {} {} ", keyword(type), object);
}

// The arguments of `create node`, "Mom=host,Port=15010", where they don't follow from the name.
std::string node_arguments(const batch_status& node) {
    std::vector<std::string> arguments;
    auto mom = value_of(node.attribs, "Host");
    if (!mom) mom = value_of(node.attribs, "Mom");
    if (mom && *mom != view(node.name)) arguments.push_back("Mom=" + quote_value(*mom));
    const auto port = value_of(node.attribs, "Port");
    if (port && *port != kMomPort) arguments.push_back("Port=" + std::string(*port));
    return arguments.empty() ? "" : fmt::format(" {}", fmt::join(arguments, ","));
}

std::string create_text(ObjectType type, const batch_status& object) {
    const std::string_view name = view(object.name);
    if (type == ObjectType::server) return "";
    std::string text = comment_block(fmt::format("Create and define {} {}", keyword(type), name));
    const bool always_there = (type == ObjectType::sched && name == kDefaultSched) ||
                              (type == ObjectType::policy && name == kDefaultPolicy);
    if (!always_there) {
        text += fmt::format("create {} {}{}\n", keyword(type), name,
                            type == ObjectType::node ? node_arguments(object) : "");
    }
    return text;
}

// The part of a vnode's state that can be set: offline or free. The rest was found by the server.
std::string settable_state(std::string_view state) {
    for (const std::string_view part : values::split(state, ','))
        if (values::trim(part) == "offline") return "offline";
    return state == "free" ? "free" : "";
}

bool is_printed(ObjectType type, const batch_status& of, const attrl& attribute) {
    const std::string_view name = view(attribute.name);
    if (type == ObjectType::node && (name == "Host" || name == "Mom" || name == "Port"))
        return false;  // the node's `create` gives these
    if (type == ObjectType::sched && name == "partition" && view(of.name) == kDefaultSched)
        return false;  // OpenPBS's server shows a partition and lets nobody set it
    // unknown attributes are left out: servers show more than can be set
    return is_attribute(type, name) && is_writable(type, name) && !view(attribute.value).empty();
}

// Splits a text into pieces, none of which contains both ' and ".
std::vector<std::string_view> pieces_of(std::string_view value) {
    std::vector<std::string_view> pieces;
    std::size_t begin = 0;
    char seen = '\0';
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (value[i] != '"' && value[i] != '\'') continue;
        if (seen != '\0' && value[i] != seen) {
            pieces.push_back(value.substr(begin, i - begin));
            begin = i;
        }
        seen = value[i];
    }
    pieces.push_back(value.substr(begin));
    return pieces;
}

// The elements of a list; a comma after a backslash is part of an element.
std::vector<std::string_view> elements_of(std::string_view value) {
    std::vector<std::string_view> elements;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (value[i] == ',' && (i == 0 || value[i - 1] != '\\')) {
            elements.push_back(values::trim(value.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    elements.push_back(values::trim(value.substr(begin)));
    return elements;
}

// The values of the directives that set an attribute: the first sets it, the others append to it. PBS's own
// qmgr can't read a value with both kinds of quotes, so such a string is appended piece by piece.
std::vector<std::string_view> parts_of(ValueKind kind, std::string_view value) {
    switch (kind) {
        case ValueKind::list:
            return elements_of(value);
        case ValueKind::text:
            return pieces_of(value);
        default:
            return {value};
    }
}

bool holds_line_break(std::string_view value) {
    return value.find_first_of("\n\r") != std::string_view::npos;
}

std::pair<std::string_view, std::string_view> split_path(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::pair(std::string_view(), path)
                                           : std::pair(path.substr(0, slash), path.substr(slash + 1));
}

// A scheduler's folder relative to the server's home, so that another server can read the directive; empty:
// the default folder. The home is found from the folder of the scheduler's log, which nobody has a reason to
// change.
std::string_view folder_in_home(const batch_status& sched, std::string_view name, std::string_view value) {
    const auto [home, log] = split_path(value_of(sched.attribs, "sched_log").value_or(value));
    const auto [above, folder] = split_path(value);
    if (above != home) return value;
    std::string usual(name == "sched_priv" ? "sched_priv" : "sched_logs");
    if (const std::string_view title = view(sched.name); title != kDefaultSched) {
        usual += "_";
        usual += title;
    }
    return folder == usual ? std::string_view() : folder;
}

std::string printed_value(ObjectType type, const batch_status& object, const attrl& attribute) {
    const std::string_view name = view(attribute.name);
    if (type == ObjectType::sched && (name == "sched_priv" || name == "sched_log"))
        return std::string(folder_in_home(object, name, view(attribute.value)));
    return shown_in_words(type, attribute);
}

std::string set_text(ObjectType type, const batch_status& of, const attrl& attribute, bool again) {
    const std::string_view object = view(of.name);
    std::string value = printed_value(type, of, attribute);
    if (type == ObjectType::node && view(attribute.name) == "state") value = settable_state(value);
    if (value.empty()) return "";
    const std::string name = attribute_name(attribute);
    const bool own = objects::find_attribute(type, view(attribute.name)) != nullptr;
    std::string text;
    if (!own && holds_line_break(value)) {
        text +=
            fmt::format("# {} has line breaks, which a directive can't have: blanks stand for them.\n", name);
    }
    for (const std::string_view part : parts_of(value_kind(type, view(attribute.name)), value)) {
        text += fmt::format("{}{} {} {}\n", set_prefix(type, object), name, again ? "+=" : "=",
                            quote_value(part));
        again = true;
    }
    return text;
}

// Returns whether the value names another object. Such attributes are printed first: fairshare = True needs a
// fairshare_group that is set already.
bool names_object(ObjectType type, const attrl& attribute) {
    const auto* row = objects::find_attribute(type, view(attribute.name));
    return row != nullptr && row->refers_to.has_value();
}

// Returns whether the attribute is a queue's `enabled`, which is printed last: a route queue can only be
// enabled when it has destinations, which the server lists late.
bool waits_for_destinations(ObjectType type, const attrl& attribute) {
    return type == ObjectType::queue && values::same_word(view(attribute.name), "enabled");
}

std::vector<const attrl*> in_order_of_setting(ObjectType type, const batch_status& object) {
    std::vector<const attrl*> attributes;
    for (const attrl* attribute = object.attribs; attribute != nullptr; attribute = attribute->next)
        if (is_printed(type, object, *attribute)) attributes.push_back(attribute);
    std::stable_partition(attributes.begin(), attributes.end(),
                          [&](const attrl* attribute) { return names_object(type, *attribute); });
    std::stable_partition(attributes.begin(), attributes.end(),
                          [&](const attrl* attribute) { return !waits_for_destinations(type, *attribute); });
    return attributes;
}

// The directives that unset the initial values of a new object which this object doesn't have.
std::string unset_text(ObjectType type, const batch_status& object) {
    const std::string_view name = view(object.name);
    std::string text;
    for (const InitialValue& initial : initial_values()) {
        const bool meant = initial.type == type && (initial.object.empty() || initial.object == name);
        if (!meant || value_of(object.attribs, initial.name, initial.resource)) continue;
        text += fmt::format("un{}{}{}{}\n", set_prefix(type, name), initial.name,
                            initial.resource.empty() ? "" : ".", initial.resource);
    }
    return text;
}

std::string print_object(ObjectType type, const batch_status& object, PrintScope scope) {
    std::string text = create_text(type, object);
    if (scope == PrintScope::whole) text += unset_text(type, object);
    std::vector<std::string> seen;
    for (const attrl* attribute : in_order_of_setting(type, object)) {
        std::string name = attribute_name(*attribute);
        const bool again = std::find(seen.begin(), seen.end(), name) != seen.end();
        text += set_text(type, object, *attribute, again);
        seen.push_back(std::move(name));
    }
    return text;
}

struct ResourceType {
    std::string_view number;
    std::string_view word;
};
// ATR_TYPE_ numbers of the batch protocol.
constexpr std::array kResourceTypes{
    ResourceType{"11", "boolean"}, ResourceType{"1", "long"},   ResourceType{"3", "string"},
    ResourceType{"5", "size"},     ResourceType{"14", "float"}, ResourceType{"4", "string_array"},
};

}  // namespace

std::string resource_type_text(std::string_view value) {
    for (const ResourceType& type : kResourceTypes)
        if (type.number == value) return std::string(type.word);
    return std::string(value);
}

std::string resource_flag_text(std::string_view value) {
    const auto number = parse_integer(value);
    if (!number) return std::string(value);
    // ATR_DFLAG_ bits of the batch protocol.
    constexpr long long kUserReads = 0x1;
    constexpr long long kUserWrites = 0x2;
    constexpr long long kMom = 0x400;
    constexpr long long kServerSum = 0x4000;
    constexpr long long kEachVnode = 0x8000;
    constexpr long long kFirstVnode = 0x10000;
    constexpr long long kHost = 0x20000;
    std::string flags;
    flags += (*number & kHost) != 0 ? "h" : "";
    flags += (*number & kServerSum) != 0 ? "q" : "";
    flags += (*number & kEachVnode) != 0 ? "n" : (*number & kFirstVnode) != 0 ? "f" : "";
    flags += (*number & (kUserReads | kUserWrites)) == 0 ? "i" : (*number & kUserWrites) == 0 ? "r" : "";
    flags += (*number & kMom) != 0 ? "m" : "";
    return flags;
}

const batch_status* custom_resources(const batch_status* resources) {
    for (const batch_status* one = resources; one != nullptr; one = one->next)
        if (view(one->name) == kUnknownResource) return one->next;
    return resources;
}

void append_list_text(std::string& text, ObjectType type, const batch_status& object) {
    text += values::title(values::type_name(type));
    text += ' ';
    text += view(object.name);
    text += '\n';
    for (const attrl* attribute = object.attribs; attribute != nullptr; attribute = attribute->next)
        append_listed(text, type, *attribute);
    text += '\n';
}

std::string print_text(ObjectType type, const batch_status* objects, PrintScope scope) {
    std::string text;
    if (objects != nullptr) text += comment_block(heading(type));
    for (; objects != nullptr; objects = objects->next) text += print_object(type, *objects, scope);
    return text;
}

}  // namespace pbs::cmds
