#include "ifl/cmds/config_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "ifl/cmds/text.h"
#include "objects/quota_rule.h"
#include "objects/schema.h"
#include "text/json.h"
#include "text/json_document.h"
#include "values/object_types.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

constexpr std::string_view kOrderOf = "order of ";

// Returns whether the document has all existing objects of the type. If it lacks the part "host", about the
// server's own objects, it only has the queues, nodes, resources and schedulers on which an attribute of this
// project is set.
bool tells_of(const nlohmann::json& document, std::string_view type) {
    const auto own = objects::type_from_word(type);
    return (own && objects::is_own_type(*own)) || document.contains("host");
}

Result<nlohmann::json> parse(std::string_view text) {
    nlohmann::json json = text::parse_json(text);
    if (!json.is_object())
        return fail("the server sent something that is no document of the configuration", 1);
    return json;
}

// Returns a value in qmgr's form. An element with commas of its own is quoted, unless it is a recurrence,
// whose commas qmgr recognizes.
std::string value_text(const std::string& type, const std::string& attribute, const nlohmann::json& json) {
    if (!json.is_array()) return text::from_json(json).value_or("");
    const auto object_type = objects::type_from_word(type);
    const objects::Attribute* row = object_type ? objects::find_attribute(*object_type, attribute) : nullptr;
    const bool rules = row != nullptr && row->syntax == objects::Syntax::rrule_list;
    std::string text;
    for (const nlohmann::json& element : json) {
        std::string item = text::from_json(element).value_or("");
        if (!rules && item.find(',') != std::string::npos) item = fmt::format("\"{}\"", item);
        text += (text.empty() ? "" : ",") + item;
    }
    return text;
}

// Returns the objects of a type in `part`, a document or its member "host". The server is an object without a
// name.
nlohmann::json objects_in(const nlohmann::json& part, std::string_view type) {
    const auto section = part.find(type);
    if (section == part.end() || !section->is_object()) return nlohmann::json::object();
    return type == "server" ? nlohmann::json{{"", *section}} : *section;
}

// Returns the objects of a type in a document. Each has its attributes from both parts: the policy plugin's,
// and the server's own under "host".
nlohmann::json objects_of(const nlohmann::json& document, std::string_view type) {
    nlohmann::json objects = objects_in(document, type);
    const auto host = document.find("host");
    if (host != document.end() && host->is_object()) objects.update(objects_in(*host, type), true);
    return objects;
}

// Returns the elements of a list; empty: there is none.
std::vector<std::string> elements_of(const nlohmann::json& object, const std::string& name) {
    std::vector<std::string> elements;
    const auto found = object.find(name);
    if (found == object.end() || !found->is_array()) return elements;
    for (const nlohmann::json& element : *found) elements.push_back(text::from_json(element).value_or(""));
    return elements;
}

// Compares the elements of an attribute that are set one by one, and their order.
void compare_elements(const nlohmann::json& before, const nlohmann::json& after, const std::string& name,
                      ConfigChange& change) {
    const std::vector<std::string> was = elements_of(before, name);
    const std::vector<std::string> is = elements_of(after, name);
    objects::QuotaRuleChanges found = objects::quota_rule_changes(was, is);
    for (objects::QuotaRuleChange& rule : found.rules)
        change.attributes.push_back(
            {fmt::format("{}.{}", name, rule.name), std::move(rule.before), std::move(rule.after)});
    if (found.reordered)
        change.attributes.push_back({fmt::format("{}{}", kOrderOf, name), objects::quota_rule_names(was),
                                     objects::quota_rule_names(is),
                                     value_text(change.type, name, after[name])});
}

void compare_attributes(const nlohmann::json& before, const nlohmann::json& after, ConfigChange& change) {
    const auto text = [&](const nlohmann::json& object,
                          const std::string& name) -> std::optional<std::string> {
        const auto found = object.find(name);
        return found == object.end() ? std::nullopt : std::optional(value_text(change.type, name, *found));
    };
    // take the attributes in the order of the table; attributes that this version doesn't know come last
    std::vector<std::string> names;
    if (const auto type = objects::type_from_word(change.type))
        for (const objects::Attribute& attribute : objects::attributes(*type))
            names.emplace_back(attribute.name);
    for (const nlohmann::json& object : {before, after}) {
        for (const auto& [name, value] : object.items())
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    for (const std::string& name : names) {
        const auto type = objects::type_from_word(change.type);
        const objects::Attribute* row = type ? objects::find_attribute(*type, name) : nullptr;
        if (row != nullptr && row->is_keyed()) {
            compare_elements(before, after, name, change);
            continue;
        }
        ConfigAttribute attribute{name, text(before, name), text(after, name)};
        if (attribute.before != attribute.after) change.attributes.push_back(std::move(attribute));
    }
}

void compare_type(const std::string& type, const nlohmann::json& from, const nlohmann::json& to,
                  std::vector<ConfigChange>& changes) {
    const nlohmann::json before = objects_of(from, type);
    const nlohmann::json after = objects_of(to, type);
    const bool told = type != "server" && tells_of(from, type) && tells_of(to, type);
    nlohmann::json both = before;
    both.update(after);
    for (const auto& [name, object] : both.items()) {
        const bool was = before.contains(name);
        const bool is = after.contains(name);
        ConfigChange change{type, name, told && !was, told && !is, {}};
        compare_attributes(was ? before[name] : nlohmann::json::object(),
                           is ? after[name] : nlohmann::json::object(), change);
        if (change.created || change.deleted || !change.attributes.empty())
            changes.push_back(std::move(change));
    }
}

// The objects that --object chooses: all of a type, or a single one.
struct Chosen {
    std::string_view type;
    std::string name;  // empty: all of the type

    bool matches(const ConfigChange& change) const {
        return change.type == type && (name.empty() || change.name == name);
    }
};

// Reads "policy p1" or "policy". Errors: there is no such type, or neither document has the object.
Result<Chosen> choose(std::string_view object, const nlohmann::json& from, const nlohmann::json& to) {
    const std::string_view word = first_word(object);
    const auto type = objects::type_from_word(word);
    if (!type) {
        return fail(fmt::format("bad object '{}': expected a type and a name, as in \"policy p1\"", object),
                    2);
    }
    Chosen chosen{objects::type_name(*type), std::string(values::trim(object.substr(word.size())))};
    if (!chosen.name.empty() && !objects_of(from, chosen.type).contains(chosen.name) &&
        !objects_of(to, chosen.type).contains(chosen.name))
        return fail(fmt::format("there is no {} '{}' at either revision", chosen.type, chosen.name), 2);
    return chosen;
}

// ---- Directives.

// The attribute of "order of rule"; empty: the name is another one.
std::string_view ordered(const ConfigAttribute& attribute) {
    return attribute.whole ? std::string_view(attribute.name).substr(kOrderOf.size()) : std::string_view();
}

// Returns the attributes to set and to unset. If the elements of an attribute have another order, it is set
// as a whole.
std::vector<ConfigAttribute> as_directives(const ConfigChange& change) {
    std::vector<ConfigAttribute> all;
    for (const ConfigAttribute& attribute : change.attributes) {
        const std::string_view name = std::string_view(attribute.name).substr(0, attribute.name.find('.'));
        if (attribute.whole)
            all.push_back({std::string(ordered(attribute)), attribute.before, attribute.whole});
        else if (std::ranges::find(change.attributes, name, ordered) == change.attributes.end())
            all.push_back(attribute);
    }
    return all;
}

std::string assignments(const std::vector<ConfigAttribute>& attributes) {
    std::string text;
    for (const ConfigAttribute& attribute : attributes) {
        if (attribute.after) {
            text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", attribute.name,
                                quote_value(*attribute.after));
        }
    }
    return text;
}

std::string unset_names(const std::vector<ConfigAttribute>& attributes) {
    std::string text;
    for (const ConfigAttribute& attribute : attributes)
        if (!attribute.after) text += (text.empty() ? "" : ", ") + attribute.name;
    return text;
}

void make_directives(const ConfigChange& change, std::string& text) {
    const std::string title = config_title(change.type, change.name);
    const std::vector<ConfigAttribute> attributes = as_directives(change);
    const std::string set = assignments(attributes);
    const std::string unset = unset_names(attributes);
    if (change.created) {
        text += fmt::format("create {}{}{}\n", title, set.empty() ? "" : " ", set);
        return;
    }
    const std::string set_line = set.empty() ? "" : fmt::format("set {} {}\n", title, set);
    const std::string unset_line = unset.empty() ? "" : fmt::format("unset {} {}\n", title, unset);
    // A queue or a node loses its old binding, such as a partition, before it gets a new one. For a policy,
    // the set comes first: it needs its fairshare_group until fairshare is off.
    const auto type = objects::type_from_word(change.type);
    const bool own = type && objects::is_own_type(*type);
    text += own ? set_line + unset_line : unset_line + set_line;
}

}  // namespace

std::string config_title(std::string_view type, std::string_view name) {
    return name.empty() ? std::string(type) : fmt::format("{} {}", type, name);
}

Result<std::vector<ConfigChange>> config_diff(std::string_view before, std::string_view after,
                                              std::string_view object) {
    const auto from = parse(before);
    if (!from) return tl::unexpected(from.error());
    const auto to = parse(after);
    if (!to) return tl::unexpected(to.error());
    std::vector<ConfigChange> changes;
    for (const auto& [type_number, type, plural, help, configured, is_own] : values::kObjectTypes)
        compare_type(std::string(type), *from, *to, changes);
    if (object = values::trim(object); !object.empty()) {
        const auto chosen = choose(object, *from, *to);
        if (!chosen) return tl::unexpected(chosen.error());
        std::erase_if(changes, [&](const ConfigChange& change) { return !chosen->matches(change); });
    }
    return changes;
}

std::string diff_text(const std::vector<ConfigChange>& changes) {
    std::string text;
    for (const ConfigChange& change : changes) {
        text += fmt::format("{}{}\n", config_title(change.type, change.name),
                            change.created   ? " (created)"
                            : change.deleted ? " (deleted)"
                                             : "");
        for (const ConfigAttribute& attribute : change.attributes) {
            if (attribute.before)
                text += fmt::format("-    {} = {}\n", attribute.name, printable(*attribute.before));
            if (attribute.after)
                text += fmt::format("+    {} = {}\n", attribute.name, printable(*attribute.after));
        }
    }
    return text;
}

std::string diff_directives(const std::vector<ConfigChange>& changes) {
    std::string text;
    const auto delete_all = [&](std::string_view type) {
        for (const ConfigChange& change : changes)
            if (change.type == type && change.deleted)
                text += fmt::format("delete {}\n", config_title(change.type, change.name));
    };
    // Delete nodes and schedulers first: nothing refers to them, and other objects may get their partitions.
    delete_all("node");
    delete_all("sched");
    for (const values::ObjectType type : values::kMakingOrder) {
        for (const ConfigChange& change : changes)
            if (change.type == values::type_name(type) && !change.deleted) make_directives(change, text);
    }
    for (const values::ObjectType type : values::kDeletingOrder)
        if (type != values::ObjectType::node && type != values::ObjectType::sched)
            delete_all(values::type_name(type));
    return text;
}

}  // namespace pbs::cmds
