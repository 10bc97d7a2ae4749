#include "ifl/cmds/qmgr_help.h"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "ifl/cmds/host_attributes.h"
#include "ifl/cmds/qmgr_grammar.h"
#include "ifl/cmds/text.h"
#include "objects/schema.h"
#include "objects/unsupported.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

struct Topic {
    std::string_view word;
    std::string_view text;
};

constexpr std::string_view kOverview =
    R"(A directive: command object-type [name[@server],...] [attribute[.resource] op value, ...]

Commands (shortest form in parentheses):
  create (c)    make objects
  delete (d)    delete objects
  set (s)       set attributes
  unset (u)     take attributes' values away
  list (l)      show objects, for reading
  print (p)     show objects as directives that make them again
  active (a)    choose the objects that directives without names act on
  history (hi)  the commands typed so far; !n runs the n-th again
  help (h, ?)   this text; help <topic> for more
  quit (q)      leave; exit does the same

Object types: server (s), queue (q), node (n), resource (r), sched (sc), policy (p), time_window (t),
fs_group (f), quota (quo).

Topics: the commands, the object types, names, operators, values. `help policy` lists a type's attributes,
`help policy fairshare` tells about one.)";

constexpr std::array kTopics{
    Topic{"active", R"(active <type> [<name>[@<server>],...]
Directives on this type without a name act on the named objects from now on. Without names it shows which
those are. `active queue @srv` makes all queues at srv active.
  active queue q1,q2@default
  set queue enabled = True)"},
    Topic{"create", R"(create <type> <name>[,<name>...] [<attribute> = <value>, ...]
Makes queues, nodes, resources, schedulers, policies, time_windows, fs_groups and quotas. No blanks between names.
  create queue workq queue_type = execution, enabled = True, started = True
  create resource scratch type = size, flag = nh
  create time_window office type = prime, rrule = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"
  create policy nights)"},
    Topic{"delete", R"(delete <type> <name>[,<name>...]
Deletes objects. One that something else refers to can't be deleted; the message names what refers to it.
  delete policy nights)"},
    Topic{"set", R"(set <type> [<name>,...] <attribute>[.<resource>] <op> <value> [, ...]
Sets attributes. All of one directive are set, or, if one is refused, none. Of several objects each is set by
itself.
  set server scheduling = True
  set policy nights by_queue = False, strict_ordering = True
  set sched default policy = "default_policy,p:days,np:nights"
  set queue workq time_window += office)"},
    Topic{"unset", R"(unset <type> [<name>,...] <attribute>[.<resource>] [, ...]
Takes values away; the defaults hold again.
  unset queue workq max_running
  unset sched default policy)"},
    Topic{"list", R"(list <type> [<name>,...] [<attribute>[.<resource>], ...]
Shows objects with their attributes, or only with those named. All objects are meant by @<server>, and of
policies, time_windows, fs_groups, quotas and schedulers also if none is named.
  list policy nights
  list queue @default enabled, started
  list time_window type)"},
    Topic{"print", R"(print <type> [<name>,...] [<attribute>[.<resource>], ...]
Shows objects as directives that qmgr can read again. `print server` has everything but vnodes, which are in
`print node @default`.
  qmgr -c "print server" > saved; qmgr < saved)"},
    Topic{"history", R"(history [<n>]
The last n lines typed, or all that are kept, with their numbers; !<number> runs one again. They are kept in
~/.pbs_qmgr_history.)"},
    Topic{"quit", "quit, exit\nLeaves qmgr."},
    Topic{"exit", "quit, exit\nLeaves qmgr."},
    Topic{"operators", R"(=   sets the value
+=  adds to it: another element of a list, or an amount
-=  takes away from it)"},
    Topic{
        "values",
        R"(A value with blanks, quotes or a semicolon is put in double or single quotes; one with quotes of both kinds in
parts, side by side: "it's "'"late"'. A comma ends a value only if
an attribute and an operator follow it: policy = p:p1,np:p2 is one value.
Sizes: a number with b, kb, mb, gb or tb (or w, kw, ... for words of 8 bytes). Durations: seconds or
HH:MM:SS. Booleans: True, False.
A line that ends with a backslash goes on in the next. A comment begins with # and goes to the end of the
line. Directives on one line are parted by semicolons.)"},
    Topic{
        "names",
        R"(<name>[@<server>][,...], without blanks. @default is the default server, @active the active ones, which is
also meant when no server is given. `@<server>` alone means all objects of the type there.)"},
};

std::string default_text(std::string_view value) {
    return value.empty() ? "not set" : std::string(value);
}

std::string attribute_line(std::string_view name, std::string_view type, std::string_view help) {
    return fmt::format("  {:<28} {:<13} {}\n", name, type, help);
}

std::string_view remark(const HostAttribute& attribute) {
    if (attribute.has(ifl::openpbs_only)) return "; of OpenPBS only";
    return attribute.writable() ? "" : "; can't be set";
}

std::string object_text(ObjectType type) {
    std::string text;
    if (values::is_own_type(type)) text += fmt::format("{}.\n", values::find_type(type)->help);
    text += "Attributes:\n";
    for (const objects::Attribute& attribute : objects::attributes(type))
        text += attribute_line(attribute.name, objects::type_text(attribute.type), attribute.help);
    for (const HostAttribute& attribute : host_attributes(type)) {
        text += attribute_line(attribute.name, type_text(attribute.type),
                               fmt::format("{}{}", attribute.help, remark(attribute)));
    }
    return text;
}

std::string attribute_text(ObjectType type, const objects::Attribute& attribute) {
    std::string text = fmt::format("{}: {}.\nType {}; expected {}; default: {}.\n", attribute.name,
                                   attribute.help, objects::type_text(attribute.type),
                                   objects::expected_text(attribute), default_text(attribute.default_value));
    if (!attribute.alias.empty()) text += fmt::format("Also called {}.\n", attribute.alias);
    if (const std::string remark = objects::unsupported_remark(type, attribute.name); !remark.empty())
        text += remark + "\n";
    if (!attribute.example.empty()) text += fmt::format("  {}\n", attribute.example);
    return text;
}

std::string attribute_text(ObjectType type, const HostAttribute& attribute) {
    std::string text =
        fmt::format("{}: {}.\nType {}", attribute.name, attribute.help, type_text(attribute.type));
    if (!attribute.words.empty()) text += fmt::format("; one of {}", fmt::join(attribute.words, ", "));
    if (attribute.writable()) text += fmt::format("; default: {}", default_text(attribute.default_value));
    text += fmt::format(".\n{}.\n", setter_text(attribute));
    if (const std::string remark = objects::unsupported_remark(type, attribute.name); !remark.empty())
        text += remark + "\n";
    if (attribute.has(ifl::openpbs_only)) {
        text += fmt::format("OpenPBS's server has it; this project's server {}.\n",
                            attribute.has(ifl::of_policies) ? "sets it in the policies of the scheduler"
                                                            : "refuses to set it");
    }
    return text;
}

// Help on an attribute, whose name may be followed by a resource; empty: the type has no such attribute.
std::string attribute_text(ObjectType type, std::string_view name) {
    name = name.substr(0, name.find('.'));
    if (const auto* own = objects::find_attribute(type, name)) return attribute_text(type, *own);
    const HostAttribute* host = find_host_attribute(type, name);
    return host == nullptr ? "" : attribute_text(type, *host);
}

}  // namespace

std::vector<std::string> help_topics() {
    std::vector<std::string> topics;
    topics.reserve(std::size(kTopics) + values::kObjectTypes.size());
    for (const Topic& topic : kTopics) topics.emplace_back(topic.word);
    for (const values::ObjectTypeRow& type : values::kObjectTypes) topics.emplace_back(type.name);
    return topics;
}

std::string help_text(std::string_view topic) {
    topic = values::trim(topic);
    if (topic.empty()) return std::string(kOverview) + "\n";
    const std::string_view first = first_word(topic);
    const std::string_view second = first_word(topic.substr(first.size()));
    for (const Topic& entry : kTopics)
        if (entry.word == first && second.empty()) return std::string(entry.text) + "\n";
    // abbreviated types have at least three letters: "s" could be anything
    if (const auto type = first.size() > 2 ? object_type_from_word(first) : std::nullopt) {
        if (second.empty()) return object_text(*type);
        if (std::string text = attribute_text(*type, second); !text.empty()) return text;
    }
    return fmt::format("No help on '{}'. Try help without a topic.\n", topic);
}

}  // namespace pbs::cmds
