#include "objects/restore.h"

#include <fmt/format.h>

#include <algorithm>

#include "objects/check.h"
#include "objects/config_json.h"
#include "objects/draft.h"
#include "objects/execute.h"
#include "objects/history.h"
#include "objects/names_in_use.h"
#include "objects/problems.h"
#include "objects/quota_rule.h"
#include "values/object_types.h"
#include "values/text.h"

namespace pbs::objects {
namespace {

// ---- Checks of a changed draft

// Checks values again: values that were right when they were set may name a queue, a resource or a program
// that is gone.
void check_values(const ObjectChange& change, const CheckContext& context, Problems& problems) {
    if (!change.after) return;
    for (const auto& [index, value] : change.after->values()) {
        const Attribute& attribute = attributes(change.type)[index];
        const Value* before = change.before ? change.before->set_value(attribute) : nullptr;
        if (before && *before == value) continue;
        if (const Result<void> checked = check_value(attribute, before, value, context); !checked)
            problems.add(in_object(checked.error(), change.type, change.name));
    }
}

void check_change(const Draft& draft, const UsedNames& used, const ObjectChange& change,
                  const CheckContext& context, Problems& problems) {
    const auto add = [&](const Result<void>& checked) {
        if (!checked) problems.add(in_object(checked.error(), change.type, change.name));
    };
    if (!change.after) {
        if (change.type == ObjectType::policy && change.name == kDefaultPolicy)
            add(fail(Code::invalid_request, "default_policy cannot be deleted"));
        if (is_own_type(change.type) && used.refers_to(change.type, change.name))
            add(check_unreferenced(draft, change.type, change.name));
        return;
    }
    add(check_object(*change.after, context));
    add(check_provisioning(change.before.get(), *change.after, context));
    add(check_references(draft, change.before.get(), *change.after));
}

// The origin of the values in a draft.
enum class Values {
    of_the_past,  // from the history: they may not fit the present server, so they are checked again
    checked,      // checked when they were put into the draft
};

// Collects all problems of a draft. If a changed object refers to a deleted one, the problem is reported for
// both objects.
Result<void> check_whole(const Draft& draft, const std::vector<HostChange>& host, Values values,
                         const CheckContext& context) {
    Problems problems;
    const std::vector<ObjectChange> changes = draft.changes();
    const UsedNames used(draft);
    CheckContext past = context;
    past.of_the_past = true;
    for (const ObjectChange& change : changes) {
        if (values == Values::of_the_past) check_values(change, past, problems);
        check_change(draft, used, change, context, problems);
    }
    // compare windows only if no names are missing: windows that can't be made have been reported
    if (problems.empty())
        for (const Error& error : check_windows(draft, changes, context)) problems.add(error);
    for (const HostChange& change : host) {
        if (change.type == ObjectType::resource)
            if (const Result<void> fits = check_retyped(draft, change, context); !fits)
                problems.add(in_object(fits.error(), change.type, change.name));
        if (!change.removes() || (change.type != ObjectType::queue && change.type != ObjectType::resource))
            continue;
        if (change.type == ObjectType::resource && context.resources.stays(change.name)) continue;
        const NameKind kind = change.type == ObjectType::queue ? NameKind::queue : NameKind::resource;
        if (!used.names(kind, change.name)) continue;
        if (const Result<void> unnamed = check_unnamed(draft, kind, change.name); !unnamed)
            problems.add(in_object(unnamed.error(), change.type, change.name));
    }
    if (problems.empty()) return {};
    return tl::unexpected(problems.error());
}

// Deletes the attributes in the store of a queue or sched that the server removes.
void erase_removed(Draft& draft, const std::vector<HostChange>& host) {
    for (const HostChange& change : host) {
        if (change.removes() && draft.find(change.type, change.name)) draft.erase(change.type, change.name);
    }
}

// ---- Lines about the changes, for users

// Adds a line for each changed element of a keyed attribute, and one for their order.
void tell_elements(const std::string& name, const Attribute& attribute, const Value* before,
                   const Value* after, std::vector<std::string>& lines) {
    const StringList is = after ? format_items(attribute, *after) : StringList{};
    const QuotaRuleChanges found =
        quota_rule_changes(before ? format_items(attribute, *before) : StringList{}, is);
    for (const QuotaRuleChange& rule : found.rules)
        lines.push_back(rule.after
                            ? fmt::format("{}: {}.{} = {}", name, attribute.name, rule.name, *rule.after)
                            : fmt::format("{}: {}.{} is unset", name, attribute.name, rule.name));
    if (found.reordered)
        lines.push_back(fmt::format("{}: order of {} = {}", name, attribute.name, quota_rule_names(is)));
}

void tell_values(const ObjectChange& change, std::vector<std::string>& lines) {
    const std::string name = object_title(change.type, change.name);
    (void)for_each_difference(
        change, [&](const Attribute& attribute, const Value* before, const Value* after) -> Result<void> {
            if (attribute.is_keyed()) {
                tell_elements(name, attribute, before, after, lines);
                return {};
            }
            lines.push_back(
                after ? fmt::format("{}: {} = {}", name, attribute.name, format_value(attribute, *after))
                      : fmt::format("{}: {} is unset", name, attribute.name));
            return {};
        });
}

std::vector<std::string> told(const std::vector<ObjectChange>& changes) {
    std::vector<std::string> lines;
    for (const ObjectChange& change : changes) {
        if (is_own_type(change.type) && !change.before)
            lines.push_back(fmt::format("{} is created", object_title(change.type, change.name)));
        if (is_own_type(change.type) && !change.after) {
            lines.push_back(fmt::format("{} is deleted", object_title(change.type, change.name)));
        } else {
            tell_values(change, lines);
        }
    }
    return lines;
}

// Runs `change` on a draft, checks the result as a whole, and writes it.
template <class Change>
Result<Rewritten> rewrite(Store& store, const std::string& command, const RewriteOptions& options,
                          Values values, const Identity& identity, std::chrono::sys_seconds now,
                          Change change) {
    if ((identity.privilege & (manager_privilege | root_privilege)) == 0) {
        return fail(Code::no_permission, fmt::format("{}@{} may not {}: only managers may", identity.user,
                                                     identity.host, command));
    }
    std::vector<std::string> lines;
    const auto work = [&](Draft& draft, const CheckContext& context,
                          std::vector<std::string>& warnings) -> Result<void> {
        if (Result<void> done = change(draft, context, warnings); !done) return done;
        erase_removed(draft, options.host);
        lines = told(draft.changes());
        return check_whole(draft, options.host, values, context);
    };
    Result<Reply> reply = store.rewrite({command, work, options.dry_run, options.host}, identity, now);
    if (!reply) return tl::unexpected(reply.error());
    return Rewritten{std::move(*reply), std::move(lines)};
}

// ---- Restoring a revision

Result<void> check_revision(Database& database, std::uint64_t revision,
                            const std::optional<ObjectName>& object) {
    const Result<std::uint64_t> last = last_revision(database);
    if (!last) return tl::unexpected(last.error());
    if (revision > *last) {
        return fail(Code::bad_value,
                    fmt::format("there is no revision {}: the last one is {}", revision, *last));
    }
    const auto amid = object ? amid_change_of(database, revision, object->type, object->name)
                             : amid_change(database, revision);
    if (!amid) return tl::unexpected(amid.error());
    if (!*amid) return {};
    return fail(Code::bad_value,
                fmt::format("revision {} is in the midst of one change and was never in force: expected {} "
                            "(before it) or {} (after it)",
                            revision, (*amid)->first, (*amid)->second));
}

void put_back(Draft& draft, PastObject past) {
    if (past.object && (is_own_type(past.type) || !past.object->values().empty())) {
        draft.put(std::move(*past.object));
    } else {
        draft.erase(past.type, past.name);
    }
}

// Returns whether the host has the object. An object that the host deletes in this change counts.
bool in_host(const RewriteOptions& options, ObjectType type, std::string_view name) {
    if ((type != ObjectType::queue && type != ObjectType::sched) || !options.host_has) return true;
    return options.host_has(type, name) || std::ranges::any_of(options.host, [&](const HostChange& change) {
               return change.removes() && change.type == type && change.name == name;
           });
}

void skip(ObjectType type, std::string_view name, std::vector<std::string>& warnings) {
    std::string text =
        fmt::format("{} is left out: the server has no such {}", object_title(type, name), type_name(type));
    if (std::ranges::find(warnings, text) == warnings.end()) warnings.push_back(std::move(text));
}

Result<void> restore_all(Database& database, std::uint64_t revision, const RewriteOptions& options,
                         Draft& draft, std::vector<std::string>& warnings) {
    Result<std::vector<PastObject>> past = objects_at(database, revision);
    if (!past) return tl::unexpected(past.error());
    for (PastObject& object : *past) {
        if (in_host(options, object.type, object.name)) {
            put_back(draft, std::move(object));
        } else if (object.object) {
            skip(object.type, object.name, warnings);
        }
    }
    return {};
}

Result<void> restore_one(Database& database, std::uint64_t revision, const ObjectName& name,
                         const RewriteOptions& options, Draft& draft) {
    if (!in_host(options, name.type, name.name)) {
        return fail(Code::unknown_object,
                    fmt::format("the server has no {} '{}'", type_name(name.type), name.name));
    }
    Result<std::optional<PastObject>> past = object_at(database, revision, name.type, name.name);
    if (!past) return tl::unexpected(past.error());
    if (*past) {
        put_back(draft, std::move(**past));
    } else if (is_own_type(name.type) && !draft.find(name.type, name.name)) {
        return fail(Code::unknown_object,
                    fmt::format("there is no {} '{}', and since revision {} there was none",
                                type_name(name.type), name.name, revision));
    }
    return {};
}

std::string command_text(const Restoration& what) {
    return what.object ? fmt::format("rollback {} to revision {}",
                                     object_title(what.object->type, what.object->name), what.revision)
                       : fmt::format("rollback to revision {}", what.revision);
}

// ---- Importing a document

// Returns the value of an attribute in a document, read by the rules of `set attribute = value`. Elements and
// names that the value of `existing` (may be null) has aren't checked again.
Result<Value> imported_value(const Attribute& attribute, const AttributeText& text, const Object* existing,
                             const CheckContext& context) {
    if (attribute.is_list() != text.is_list) {
        return fail(Code::bad_value, fmt::format("{}: expected {}: {}", attribute.name,
                                                 attribute.is_list() ? "an array of strings" : "a string",
                                                 expected_text(attribute)));
    }
    if (text.items.empty() || std::ranges::find(text.items, "") != text.items.end()) {
        return fail(Code::bad_value,
                    fmt::format("{}: found nothing{}, expected {}", attribute.name,
                                text.is_list ? " or an empty element" : "", expected_text(attribute)));
    }
    const std::string typed = text.is_list ? format_value(attribute, Value(text.items)) : text.items.front();
    // Ignore the present policies of a scheduler: the document names all of them, so none is kept.
    const Value* before =
        existing && attribute.syntax != Syntax::policy_slots ? existing->set_value(attribute) : nullptr;
    Result<std::optional<Value>> value = new_value(
        attribute, before, {std::string(attribute.name), typed, Operation::set}, Operation::set, context);
    if (!value) return tl::unexpected(value.error());
    if (!*value) return fail(Code::bad_value, fmt::format("{}: found nothing", attribute.name));
    return std::move(**value);
}

Object imported_object(const ObjectText& text, Object object, const Object* existing,
                       const CheckContext& context, Problems& problems) {
    for (const AttributeText& member : text.attributes) {
        const Attribute* attribute = find_attribute(text.type, member.name);
        if (!attribute || attribute->name != member.name) {
            problems.add(
                fmt::format("{}: unknown attribute '{}'{}", object_title(text.type, text.name), member.name,
                            attribute ? fmt::format(", expected '{}'", attribute->name) : ""),
                Code::unknown_attribute);
            continue;
        }
        if ((attribute->flags & kReadOnly) != 0) {
            problems.add(fmt::format("{}: attribute {} is read only", object_title(text.type, text.name),
                                     attribute->name),
                         Code::kReadOnly);
            continue;
        }
        Result<Value> value = imported_value(*attribute, member, existing, context);
        if (value) {
            object.assign(*attribute, std::move(*value));
        } else {
            problems.add(in_object(value.error(), text.type, text.name));
        }
    }
    return object;
}

void erase_all(Draft& draft, const RewriteOptions& options, std::vector<std::string>& warnings) {
    for (const ObjectType type : kConfiguredTypes) {
        std::vector<std::string> names;
        draft.for_each(type, [&](const Object& object) { names.push_back(object.name()); });
        for (const std::string& name : names) {
            if (in_host(options, type, name)) {
                draft.erase(type, name);
            } else {
                skip(type, name, warnings);
            }
        }
    }
}

Result<void> import_objects(const std::vector<ObjectText>& objects, bool replace,
                            const RewriteOptions& options, Draft& draft, const CheckContext& context,
                            std::vector<std::string>& warnings) {
    Problems problems;
    const Draft present(draft);
    if (replace) erase_all(draft, options, warnings);
    for (const ObjectText& text : objects) {
        if (is_own_type(text.type)) {
            if (const Result<void> checked = check_name("name", text.name); !checked) {
                problems.add(in_object(checked.error(), text.type, text.name));
                continue;
            }
        } else if (!in_host(options, text.type, text.name)) {
            skip(text.type, text.name, warnings);
            continue;
        }
        const ObjectPtr kept = draft.find(text.type, text.name);
        const ObjectPtr existing = present.find(text.type, text.name);
        Object object = imported_object(text, kept ? *kept : Object(text.type, text.name), existing.get(),
                                        context, problems);
        if (is_own_type(text.type) || !object.values().empty()) draft.put(std::move(object));
    }
    if (problems.empty()) return {};
    return tl::unexpected(problems.error());
}

}  // namespace

Result<ObjectName> parse_object_name(std::string_view text) {
    const std::vector<std::string_view> words = values::words(text);
    const auto type = words.empty() ? std::nullopt : type_from_word(words.front());
    const std::size_t expected = type == ObjectType::server ? 1 : 2;
    if (!type || words.size() != expected) {
        return fail(
            Code::invalid_request,
            fmt::format("bad object '{}': expected {}, with the object's name unless it is the server, as in "
                        "\"policy p1\"",
                        text, values::type_list()));
    }
    return ObjectName{*type, expected == 1 ? std::string{} : std::string(words[1])};
}

Result<Rewritten> restore(Store& store, const Restoration& what, const RewriteOptions& options,
                          const Identity& identity, std::chrono::sys_seconds now) {
    return rewrite(
        store, command_text(what), options, Values::of_the_past, identity, now,
        [&](Draft& draft, const CheckContext&, std::vector<std::string>& warnings) -> Result<void> {
            Database& database = store.database();
            if (Result<void> checked = check_revision(database, what.revision, what.object); !checked)
                return checked;
            return what.object ? restore_one(database, what.revision, *what.object, options, draft)
                               : restore_all(database, what.revision, options, draft, warnings);
        });
}

Result<Rewritten> import(Store& store, const Import& what, const RewriteOptions& options,
                         const Identity& identity, std::chrono::sys_seconds now) {
    return rewrite(
        store, what.replace ? "import --replace" : "import", options, Values::checked, identity, now,
        [&](Draft& draft, const CheckContext& context, std::vector<std::string>& warnings) -> Result<void> {
            const Result<std::vector<ObjectText>> objects = from_document(what.document);
            if (!objects) return tl::unexpected(objects.error());
            return import_objects(*objects, what.replace, options, draft, context, warnings);
        });
}

Result<HostPage> host_objects(Store& store, const Restoration& what, std::optional<std::uint64_t> after) {
    constexpr std::uint64_t kRevisionsOfAPage = 500;
    Database& database = store.database();
    if (Result<void> checked = check_revision(database, what.revision, what.object); !checked)
        return tl::unexpected(checked.error());
    const std::uint64_t from = std::max(after.value_or(0), what.revision);
    const std::uint64_t all = store.snapshot()->revision();
    const std::uint64_t last = after && from < all ? std::min(from + kRevisionsOfAPage, all) : all;
    Result<std::vector<HostObject>> past = host_objects_between(database, from + 1, last);
    if (!past) return tl::unexpected(past.error());
    if (what.object) {
        std::erase_if(*past, [&](const HostObject& object) {
            return object.type != what.object->type || object.name != what.object->name;
        });
    }
    return HostPage{std::move(*past), last < all ? std::optional(last) : std::nullopt};
}

Result<std::vector<HistoryEntry>> last_host_rows(Store& store) {
    return last_host_rows(store.database());
}

Result<std::string> export_document(Store& store, std::optional<std::uint64_t> revision) {
    Database& database = store.database();
    if (!revision) return to_document(*store.snapshot());
    if (Result<void> checked = check_revision(database, *revision, std::nullopt); !checked)
        return tl::unexpected(checked.error());
    Result<std::vector<PastObject>> past = objects_at(database, *revision);
    if (!past) return tl::unexpected(past.error());
    Draft draft(store.snapshot());
    for (PastObject& object : *past) put_back(draft, std::move(object));
    return to_document(*draft.finish(*revision));
}

}  // namespace pbs::objects
