#include "objects/execute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "objects/forms.h"
#include "objects/names_in_use.h"
#include "objects/quota_rule.h"
#include "objects/spelling.h"
#include "rrule/non_work_days.h"
#include "values/abridged.h"
#include "values/text.h"

namespace pbs::objects {
namespace {

// Returns the entries of non_work_days in the form in which they are stored: 01/01 is
// FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1. `-=` of an entry without a name also removes entries of the same days
// with a name.
Result<std::string> stored_days(const Attribute& attribute, const Value* before, std::string_view text,
                                Operation operation, const rrule::Zone& zone) {
    const Result<StringList> entries = split_rules(attribute.name, text);
    if (!entries) return tl::unexpected(entries.error());
    StringList out;
    for (const std::string& entry : *entries) {
        const auto stored = rrule::NonWorkDays::stored(entry, zone);
        if (!stored) {
            return fail(Code::bad_value,
                        fmt::format("{}: bad value '{}': {}; expected {}", attribute.name, entry,
                                    stored.error().message, expected_text(attribute)));
        }
        out.push_back(*stored);
        if (operation != Operation::decrement || !before) continue;
        for (const std::string& there : std::get<StringList>(*before)) {
            rrule::NamedDays parts = rrule::NamedDays::split(there);
            parts.name.clear();
            if (there != *stored && parts.entry() == *stored) out.push_back(there);
        }
    }
    return fmt::format("{}", fmt::join(out, ","));
}

// Puts a scheduler's policies into the order all-time, p:, np:. `=` without an all-time policy keeps the
// present all-time policy.
StringList arrange_slots(const Value* before, StringList list, Operation operation) {
    const auto all_time = [](const std::string& e) { return e.find(':') == std::string::npos; };
    if (operation == Operation::set && before && std::ranges::none_of(list, all_time)) {
        for (const std::string& element : std::get<StringList>(*before)) {
            if (all_time(element)) list.insert(list.begin(), element);
        }
    }
    std::ranges::stable_sort(list, {}, [](std::string_view e) {
        return e.starts_with("np:") ? 2 : e.starts_with("p:") ? 1 : 0;
    });
    return list;
}

}  // namespace

Result<std::optional<Value>> new_value(const Attribute& attribute, const Value* before,
                                       const AttributeChange& change, Operation operation,
                                       const CheckContext& context) {
    std::string text = change.value;
    if (attribute.syntax == Syntax::rrule_list && operation != Operation::unset &&
        !values::trim(text).empty()) {
        Result<std::string> days = stored_days(attribute, before, text, operation, context.zone);
        if (!days) return tl::unexpected(days.error());
        text = std::move(*days);
    }
    Result<std::optional<Value>> value = combine(attribute, before, operation, text);
    if (!value || !*value) return value;
    if (attribute.syntax == Syntax::policy_slots) {
        *value = arrange_slots(before, std::get<StringList>(std::move(**value)), operation);
    }
    if (Result<void> checked = check_value(attribute, before, **value, context); !checked)
        return tl::unexpected(checked.error());
    return value;
}

Error in_object(Error error, ObjectType type, std::string_view name) {
    // Leave the object out of the message if PP-748 prescribes the whole text, if the text names the object
    // already, or if the name is too long to repeat.
    const bool complete = error.message.starts_with("Cannot set prime/non-prime") ||
                          error.code == Code::unknown_object || error.code == Code::name_too_long ||
                          error.message.starts_with(object_title(type, name));
    if (!complete) error.message = fmt::format("{}: {}", object_title(type, name), error.message);
    // Some messages repeat the value, which may be very long.
    constexpr std::size_t kMost = 2000;
    error.message = values::abridged(error.message, kMost);
    return error;
}

namespace {

// Sets or removes an element of an attribute with keys. If the element exists, it keeps its place in the
// list.
Result<void> change_element(Object& object, const Attribute& attribute, const AttributeChange& change,
                            Operation operation, const CheckContext& context) {
    if (!attribute.is_keyed())
        return fail(Code::bad_value,
                    fmt::format("{0}.{1}: {0} is one value, expected no '.{1}'", attribute.name, change.key));
    if (operation == Operation::increment || operation == Operation::decrement)
        return fail(Code::bad_value, fmt::format("{}.{}: += and -= aren't possible; use = or unset",
                                                 attribute.name, change.key));
    if (Result<void> named = check_name(attribute.name, change.key); !named) return named;
    const Value* before = object.set_value(attribute);
    StringList list = before ? std::get<StringList>(*before) : StringList{};
    const auto known = std::ranges::find(list, change.key, quota_rule_name);
    if (operation == Operation::unset || values::trim(change.value).empty()) {
        // A mistyped name would leave a limit in force.
        if (known == list.end())
            return fail(Code::bad_value,
                        fmt::format("{0}.{1}: there is no {0} of this name", attribute.name, change.key));
        list.erase(known);
    } else {
        const std::string typed = change.key + ": " + change.value;
        if (Result<void> fits = check_element_length(attribute, typed); !fits) return fits;
        Form element = canonical_string(attribute, typed);
        if (!element)
            return bad_value(fmt::format("{}.{}", attribute.name, change.key), change.value,
                             expected_text(attribute), element.error());
        known != list.end() ? * known = std::move(*element) : list.emplace_back(std::move(*element));
        std::size_t length = 0;
        for (const std::string& one : list) length += one.size() + 1;
        if (Result<void> fits = check_length(attribute, length); !fits) return fits;
    }
    if (list.empty()) {
        object.clear(attribute);
        return {};
    }
    Value value = std::move(list);
    if (Result<void> checked = check_value(attribute, before, value, context); !checked) return checked;
    object.assign(attribute, std::move(value));
    return {};
}

Result<void> change_attribute(Object& object, const AttributeChange& change, CommandKind kind,
                              const CheckContext& context) {
    const Attribute* attribute = find_attribute(object.type(), change.name);
    if (!attribute) {
        return fail(Code::unknown_attribute,
                    fmt::format("unknown attribute '{}'{}", change.name.substr(0, 64),
                                did_you_mean(object.type(), change.name)));
    }
    if ((attribute->flags & kReadOnly) != 0) {
        return fail(Code::kReadOnly, fmt::format("attribute {} is read only", attribute->name));
    }
    const Operation operation = kind == CommandKind::unset ? Operation::unset : change.operation;
    if (!change.key.empty()) return change_element(object, *attribute, change, operation, context);
    Result<std::optional<Value>> value =
        new_value(*attribute, object.set_value(*attribute), change, operation, context);
    if (!value) return tl::unexpected(value.error());
    if (*value) {
        object.assign(*attribute, std::move(**value));
    } else {
        object.clear(*attribute);
    }
    return {};
}

// Checks the references and time_windows of an object together with the other objects of the draft. Call it
// when the draft has the object's change.
Result<void> check_in_draft(const Draft& draft, ObjectPtr before, const Object& after,
                            const CheckContext& context) {
    if (Result<void> checked = check_references(draft, before.get(), after); !checked) return checked;
    const ObjectChange change{after.type(), after.name(), std::move(before),
                              std::make_shared<const Object>(after)};
    const std::vector<Error> errors = check_windows(draft, std::span(&change, 1), context);
    if (!errors.empty()) return tl::unexpected(errors.front());
    return {};
}

Result<void> change_object(Draft& draft, Object object, const Command& command, const CheckContext& context) {
    const ObjectPtr before = draft.find(object.type(), object.name());
    for (const AttributeChange& change : command.changes) {
        if (Result<void> changed = change_attribute(object, change, command.kind, context); !changed)
            return changed;
    }
    if (Result<void> checked = check_object(object, context); !checked) return checked;
    if (Result<void> checked = check_provisioning(before.get(), object, context); !checked) return checked;
    // The host makes and deletes servers, queues and scheds. The draft has such an object only while one of
    // the attributes in schema.h is set on it.
    if (!is_own_type(object.type()) && object.values().empty()) {
        draft.erase(object.type(), object.name());
        return check_in_draft(draft, before, object, context);
    }
    draft.put(object);
    return check_in_draft(draft, before, object, context);
}

Result<void> remove_object(Draft& draft, const Command& command) {
    if (command.type == ObjectType::policy && command.object == kDefaultPolicy) {
        return fail(Code::invalid_request, "default_policy cannot be deleted");
    }
    if (is_own_type(command.type)) {
        if (!draft.find(command.type, command.object)) {
            return fail(Code::unknown_object,
                        fmt::format("there is no {} '{}'", type_name(command.type), command.object));
        }
        if (Result<void> checked = check_unreferenced(draft, command.type, command.object); !checked)
            return checked;
    }
    if (command.type == ObjectType::queue) {
        if (Result<void> checked = check_unnamed(draft, NameKind::queue, command.object); !checked)
            return checked;
    }
    draft.erase(command.type, command.object);
    return {};
}

Result<void> check_command(const Command& command) {
    if (attributes(command.type).empty()) {
        return fail(Code::invalid_request,
                    fmt::format("there is no object type {}", static_cast<int>(command.type)));
    }
    const bool server = command.type == ObjectType::server;
    if (server && (command.kind == CommandKind::create || command.kind == CommandKind::remove)) {
        return fail(Code::invalid_request, "the server can't be created or deleted");
    }
    const bool changes = command.kind == CommandKind::set || command.kind == CommandKind::unset;
    if (changes && command.changes.empty()) return fail(Code::invalid_request, "no attribute is named");
    if (command.kind == CommandKind::remove && !command.changes.empty()) {
        return fail(Code::invalid_request, "delete takes no attributes");
    }
    if (!server && command.object.empty()) return fail(Code::invalid_request, "no object is named");
    if (command.object.size() > 255) {
        return fail(
            Code::name_too_long,
            fmt::format("{}: the name '{}...' is {} characters long; at most 64 are allowed",
                        type_name(command.type), command.object.substr(0, 40), command.object.size()));
    }
    return {};
}

// Returns whether the command only reports changes to attributes that the server keeps itself.
bool is_hosts(const Command& command) {
    if (command.host.empty()) return false;
    const bool changes = command.kind == CommandKind::set || command.kind == CommandKind::unset;
    return command.changes.empty() &&
           (changes || command.type == ObjectType::node || command.type == ObjectType::resource);
}

Result<void> dispatch(Draft& draft, const Command& command, const CheckContext& context) {
    if (is_hosts(command)) {
        if (command.type != ObjectType::resource) return {};
        if (command.kind != CommandKind::remove) {
            for (const HostChange& change : command.host)
                if (Result<void> checked = check_retyped(draft, change, context); !checked) return checked;
            return {};
        }
        if (context.resources.stays(command.object)) return {};
        return check_unnamed(draft, NameKind::resource, command.object);
    }
    if (Result<void> checked = check_command(command); !checked) return checked;
    if (command.kind == CommandKind::remove) return remove_object(draft, command);
    const std::string name = command.type == ObjectType::server ? std::string{} : command.object;
    const ObjectPtr existing = draft.find(command.type, name);
    if (command.kind == CommandKind::create) {
        if (is_own_type(command.type)) {
            if (existing)
                return fail(Code::exists, fmt::format("{} exists already", object_title(command.type, name)));
            if (Result<void> checked = check_name("name", name); !checked) return checked;
        }
        // Begin without values: an earlier queue or sched of this name may have left some behind.
        return change_object(draft, Object(command.type, name), command, context);
    }
    if (!existing && is_own_type(command.type)) {
        return fail(Code::unknown_object, fmt::format("there is no {} '{}'", type_name(command.type), name));
    }
    return change_object(draft, existing ? *existing : Object(command.type, name), command, context);
}

}  // namespace

Result<void> execute_on(Draft& draft, const Command& command, const CheckContext& context) {
    const std::string_view name =
        command.type == ObjectType::server ? std::string_view{} : std::string_view(command.object);
    const std::size_t told = context.warnings ? context.warnings->size() : 0;
    Result<void> done = dispatch(draft, command, context);
    if (!done) return tl::unexpected(in_object(done.error(), command.type, name));
    for (std::size_t i = told; context.warnings && i < context.warnings->size(); ++i) {
        std::string& warning = (*context.warnings)[i];
        warning = fmt::format("{}: {}", object_title(command.type, name), warning);
    }
    return done;
}

}  // namespace pbs::objects
