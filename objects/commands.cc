#include "objects/commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "objects/quota_rule.h"
#include "objects/snapshot.h"

namespace pbs::objects {
namespace {

std::string_view verb(CommandKind kind) {
    switch (kind) {
        case CommandKind::create:
            return "create";
        case CommandKind::remove:
            return "delete";
        case CommandKind::set:
            return "set";
        case CommandKind::unset:
            return "unset";
    }
    return "";
}

std::string_view sign(Operation operation) {
    switch (operation) {
        case Operation::increment:
            return "+=";
        case Operation::decrement:
            return "-=";
        case Operation::set:
        case Operation::unset:
            break;
    }
    return "=";
}

// Returns the value as qmgr reads it: in quotes if it has blanks, commas or quotes.
std::string quoted(const std::string& value) {
    if (!value.empty() && value.find_first_of(" \t,'\"\n;#") == std::string::npos) return value;
    const char quote = value.find('"') == std::string::npos ? '"' : '\'';
    return fmt::format("{}{}{}", quote, value, quote);
}

}  // namespace

std::string to_text(const Command& command) {
    if (!command.text.empty()) return command.text;
    std::string text = fmt::format("{} {}", verb(command.kind), type_name(command.type));
    if (command.type != ObjectType::server) text += " " + command.object;
    std::string_view separator = " ";
    for (const AttributeChange& change : command.changes) {
        text += separator;
        text += change.name;
        if (!change.key.empty()) text += "." + change.key;
        separator = ", ";
        if (command.kind == CommandKind::unset || change.operation == Operation::unset) continue;
        text += fmt::format(" {} {}", sign(change.operation), quoted(change.value));
    }
    return text;
}

Result<void> authorize(const Command& command, const Identity& identity) {
    if ((identity.privilege & (manager_privilege | root_privilege)) != 0) return {};
    const bool is_operator = (identity.privilege & operator_privilege) != 0;
    const bool changes = command.kind == CommandKind::set || command.kind == CommandKind::unset;
    // the server decides who may change its own attributes
    if (changes && command.changes.empty() && !command.host.empty()) return {};
    const bool operators_may =
        changes && std::ranges::all_of(command.changes, [&](const AttributeChange& change) {
            const Attribute* attribute = find_attribute(command.type, change.name);
            return attribute && (attribute->flags & operator_sets) != 0;
        });
    if (is_operator && operators_may && !command.changes.empty()) return {};
    return fail(Code::no_permission,
                fmt::format("{}@{} may not {} {} {}: {}", identity.user, identity.host, verb(command.kind),
                            type_name(command.type), command.object,
                            is_operator ? "operators may only set its comment" : "only managers may"));
}

namespace {

ObjectStatus describe(const Object& object, const std::vector<const Attribute*>& wanted) {
    ObjectStatus result{object.type(), object.name(), {}};
    result.attributes.reserve(wanted.size());
    for (const Attribute* attribute : wanted) {
        // the default of an attribute that isn't set is canonical text already (tests/objects/schema_test.cc)
        const Value* value = object.set_value(*attribute);
        if (value != nullptr && attribute->is_keyed()) {
            for (const std::string& element : std::get<StringList>(*value)) {
                result.attributes.push_back({attribute, std::string(quota_rule_text(element)), false,
                                             std::string(quota_rule_name(element))});
            }
        } else if (value != nullptr) {
            result.attributes.push_back({attribute, format_value(*attribute, *value), false});
        } else if (!attribute->default_value.empty()) {
            result.attributes.push_back({attribute, std::string(attribute->default_value), true});
        }
    }
    return result;
}

Result<std::vector<const Attribute*>> find_wanted(ObjectType type, const std::vector<std::string>& wanted) {
    std::vector<const Attribute*> result;
    for (const std::string& name : wanted) {
        const Attribute* attribute = find_attribute(type, name);
        if (!attribute)
            return fail(Code::unknown_attribute,
                        fmt::format("{}: unknown attribute '{}'", type_name(type), name));
        if (std::ranges::find(result, attribute) == result.end()) result.push_back(attribute);
    }
    if (wanted.empty()) {
        for (const Attribute& attribute : attributes(type)) result.push_back(&attribute);
    }
    return result;
}

}  // namespace

Result<std::vector<ObjectStatus>> status(const Snapshot& snapshot, ObjectType type, std::string_view name,
                                         const std::vector<std::string>& wanted) {
    const Result<std::vector<const Attribute*>> chosen = find_wanted(type, wanted);
    if (!chosen) return tl::unexpected(chosen.error());
    std::vector<ObjectStatus> result;
    if (name.empty()) {
        for (const ObjectPtr& object : snapshot.objects(type)) result.push_back(describe(*object, *chosen));
        return result;
    }
    if (const Object* object = snapshot.find(type, type == ObjectType::server ? "" : name)) {
        result.push_back(describe(*object, *chosen));
        return result;
    }
    if (is_own_type(type)) {
        return fail(Code::unknown_object, fmt::format("there is no {} '{}'", type_name(type), name));
    }
    result.push_back({type, std::string(name), {}});
    return result;
}

ObjectStatus status(const Object& object) {
    return describe(object, *find_wanted(object.type(), {}));
}

}  // namespace pbs::objects
