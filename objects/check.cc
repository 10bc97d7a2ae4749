#include "objects/check.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "objects/forms.h"
#include "objects/formula.h"
#include "objects/names_in_use.h"
#include "objects/output_file.h"
#include "objects/program_file.h"
#include "objects/text.h"
#include "objects/windows.h"
#include "rrule/window_set.h"

namespace pbs::objects {
namespace {

Result<void> check_recurrence(const Attribute& attribute, const std::string& text,
                              const CheckContext& context) {
    const auto rule = rrule::Recurrence::parse(text, context.zone);
    if (rule) return {};
    return fail(Code::bad_value, fmt::format("{}: bad value '{}': {}; expected {}", attribute.name, text,
                                             rule.error().message, expected_text(attribute)));
}

// Of two keys on the same thing the second would never decide. For vnodes, the amounts of a resource are
// different things; the total counts when none is named.
Result<void> check_sort_keys(const Attribute& attribute, const StringList& keys) {
    std::set<std::string> seen;
    for (const std::string& key : keys) {
        const std::vector<std::string_view> words = split_words(key);
        const std::string_view amount = words.size() > 2 ? words[2] : "total";
        if (seen.insert(fmt::format("{} {}", words[0], amount)).second) continue;
        return fail(Code::bad_value, fmt::format("{}: bad value '{}': expected each resource once, "
                                                 "but '{}' is sorted by already in '{}'",
                                                 attribute.name, key, words[0], fmt::join(keys, ", ")));
    }
    return {};
}

// A program that can't be run safely, which is only told of where unknown names are.
Result<void> check_program(const Attribute& attribute, const std::string& value, std::string_view path,
                           const CheckContext& context) {
    const auto safe = check_program_file(std::string(path));
    if (safe) return {};
    if (context.warnings) {
        context.warnings->push_back(fmt::format("{}: {}", attribute.name, safe.error()));
        return {};
    }
    return fail(Code::bad_value, fmt::format("{}: bad value '{}': expected a program that only the system or "
                                             "the server's own user can change: {}",
                                             attribute.name, value, safe.error()));
}

Result<void> check_output(const Attribute& attribute, const std::string& value) {
    const auto checked = check_output_file(value);
    if (checked) return {};
    return fail(Code::bad_value, fmt::format("{}: bad value {}", attribute.name, checked.error()));
}

// Each resource once, and programs that may be run. Those that were there before aren't looked at again.
Result<void> check_dynamic_resources(const Attribute& attribute, const Value* before,
                                     const StringList& elements, const CheckContext& context) {
    std::set<std::string_view> seen;
    const StringList old = before ? std::get<StringList>(*before) : StringList{};
    for (const std::string& element : elements) {
        const std::size_t mark = element.find('!');
        const std::string_view resource = trim(std::string_view(element).substr(0, mark));
        if (!seen.insert(resource).second) {
            return fail(Code::bad_value,
                        fmt::format("{}: bad value '{}': '{}' is there twice, expected one program for each "
                                    "resource",
                                    attribute.name, element, resource));
        }
        if (std::ranges::find(old, element) != old.end()) continue;
        const std::string_view command = trim(std::string_view(element).substr(mark + 1));
        const std::string_view path = command.substr(0, command.find_first_of(" \t"));
        if (Result<void> checked = check_program(attribute, element, path, context); !checked) return checked;
    }
    return {};
}

Result<void> check_formula_value(const Attribute& attribute, const std::string& text,
                                 const CheckContext& context) {
    std::vector<std::string> unknown;
    const Result<void> checked =
        check_formula(attribute.name, text, context.resources,
                      attribute.name == "usage_formula" ? usage_terms() : job_sort_terms(),
                      context.warnings ? &unknown : nullptr);
    for (const std::string& name : unknown) {
        context.warnings->push_back(
            fmt::format("{}: '{}' is not a resource of this server", attribute.name, name));
    }
    return checked;
}

Result<void> check_slots(const Object& sched) {
    int all_time = 0;
    int prime = 0;
    int non_prime = 0;
    for (std::string_view element : sched.list("policy")) {
        int& count = element.starts_with("p:") ? prime : element.starts_with("np:") ? non_prime : all_time;
        ++count;
    }
    if (all_time > 1 || prime > 1 || non_prime > 1) {
        return fail(Code::bad_value,
                    fmt::format("policy: bad value '{1}': more than one {0} policy, expected one",
                                prime > 1       ? "prime-time (p:)"
                                : non_prime > 1 ? "non-prime-time (np:)"
                                                : "all-time",
                                fmt::join(sched.list("policy"), ",")));
    }
    if (all_time == 0 && prime + non_prime > 0) {
        // The text of PP-748, interface 1.
        return fail(Code::bad_value,
                    "Cannot set prime/non-prime time policy without setting an all time policy");
    }
    return {};
}

// Each would write over the other.
Result<void> check_outputs(const Object& policy) {
    const std::string_view log = policy.text("schedule_log");
    if (log.empty() || log != policy.text("sorted_job_dumpfile")) return {};
    return fail(Code::bad_value,
                fmt::format("sorted_job_dumpfile: bad value '{}': it is the file of schedule_log, expected "
                            "another name",
                            log));
}

Result<void> check_fairshare(const Object& policy) {
    if (!policy.boolean("fairshare") || policy.has("fairshare_group")) return {};
    return fail(
        Code::bad_value,
        "fairshare can't be True while fairshare_group is not set: set fairshare_group to the name of an "
        "fs_group, before or in the same command");
}

// Unique names, parents that exist, and no element above itself.
Result<void> check_tree(const Object& group) {
    std::map<std::string_view, std::string_view> parents;
    for (const std::string& element : group.list("tree_element")) {
        const TreeElement parts = tree_element(element);
        if (!parents.emplace(parts.name, parts.parent).second) {
            return fail(
                Code::bad_value,
                fmt::format(
                    "tree_element: bad value '{}': '{}' is in the tree already, expected each name once",
                    element, parts.name));
        }
    }
    std::map<std::string_view, bool> reaches_root;
    for (const auto& [name, parent] : parents) {
        std::vector<std::string_view> path;
        std::set<std::string_view> passed;
        std::string_view at = name;
        while (at != "root" && !reaches_root.contains(at)) {
            if (!passed.insert(at).second) {
                return fail(
                    Code::bad_value,
                    fmt::format("tree_element: bad value '{}': it is its own ancestor, expected parents "
                                "that lead to root",
                                at));
            }
            path.push_back(at);
            const auto above = parents.find(at);
            if (above == parents.end()) {
                return fail(Code::bad_value, fmt::format("tree_element: bad value '{}': its parent '{}' "
                                                         "isn't there, expected root or another element",
                                                         path.size() > 1 ? path[path.size() - 2] : name, at));
            }
            at = above->second;
        }
        for (std::string_view below : path) reaches_root[below] = true;
    }
    return {};
}

Result<void> check_times(const Object& window, const CheckContext& context) {
    if (window.has("rrule")) {
        const Result<rrule::Window> made = make_window(window, context.zone);
        if (!made) return tl::unexpected(made.error());
        return {};
    }
    if (window.has("start_time") && window.seconds("start_time") >= std::chrono::hours(24)) {
        return fail(Code::bad_value, "start_time: bad value '24:00:00': expected a time before 24:00");
    }
    return {};
}

// The name in an element of a list of references: without p: or np:.
std::string_view referred_name(const Attribute& attribute, std::string_view element) {
    if (attribute.syntax != Syntax::policy_slots) return element;
    const std::size_t colon = element.find(':');
    return colon == std::string_view::npos ? element : element.substr(colon + 1);
}

std::string local_text(rrule::Instant instant, const rrule::Zone& zone) {
    const auto since_epoch = zone.local(instant).time_since_epoch();
    const auto time = std::chrono::sys_seconds(std::chrono::duration_cast<std::chrono::seconds>(since_epoch));
    return fmt::format("{:%Y-%m-%d %H:%M:%S} ({})", fmt::gmtime(std::chrono::system_clock::to_time_t(time)),
                       zone.name());
}

}  // namespace

Result<void> check_value(const Attribute& attribute, const Value* before, const Value& value,
                         const CheckContext& context) {
    if (Result<void> known = check_names(attribute, before, value, context); !known) return known;
    switch (attribute.syntax) {
        case Syntax::rrule:
            return check_recurrence(attribute, std::get<std::string>(value), context);
        case Syntax::rrule_list:
            for (const std::string& rule : std::get<StringList>(value)) {
                if (Result<void> checked = check_recurrence(attribute, rule, context); !checked)
                    return checked;
            }
            return {};
        case Syntax::formula:
            return check_formula_value(attribute, std::get<std::string>(value), context);
        case Syntax::node_sort_keys:
        case Syntax::job_sort_keys:
            return check_sort_keys(attribute, std::get<StringList>(value));
        case Syntax::dynamic_resources:
            return check_dynamic_resources(attribute, before, std::get<StringList>(value), context);
        case Syntax::output_file:
            if (before && *before == value) return {};
            return check_output(attribute, std::get<std::string>(value));
        case Syntax::program:
            if (before && *before == value) return {};
            return check_program(attribute, std::get<std::string>(value), std::get<std::string>(value),
                                 context);
        default:
            return {};
    }
}

Result<void> check_object(const Object& object, const CheckContext& context) {
    switch (object.type()) {
        case ObjectType::sched:
            return check_slots(object);
        case ObjectType::policy:
            if (Result<void> checked = check_outputs(object); !checked) return checked;
            return check_fairshare(object);
        case ObjectType::fs_group:
            return check_tree(object);
        case ObjectType::time_window:
            return check_times(object, context);
        case ObjectType::server:
        case ObjectType::queue:
        case ObjectType::node:
        case ObjectType::resource:
            break;
    }
    return {};
}

Result<void> check_references(const Draft& draft, const Object& object) {
    for (const auto& [index, value] : object.values()) {
        const Attribute& attribute = attributes(object.type())[index];
        if (!attribute.refers_to) continue;
        for (const std::string& element : format_items(attribute, value)) {
            const std::string_view name = referred_name(attribute, element);
            if (draft.find(*attribute.refers_to, name)) continue;
            return fail(Code::bad_value, fmt::format("{}: there is no {} '{}'", attribute.name,
                                                     type_name(*attribute.refers_to), name));
        }
    }
    return {};
}

Result<void> check_unreferenced(const Draft& draft, ObjectType type, std::string_view name) {
    std::vector<std::string> users;
    for (ObjectType user_type : kAllTypes) {
        for (const Attribute& attribute : attributes(user_type)) {
            if (attribute.refers_to != type) continue;
            draft.for_each(user_type, [&](const Object& user) {
                const Value* value = user.set_value(attribute);
                if (!value) return;
                for (const std::string& element : format_items(attribute, *value)) {
                    if (referred_name(attribute, element) != name) continue;
                    users.push_back(fmt::format("{} {} ({} {})", type_name(user_type), user.name(),
                                                attribute.name, element));
                }
            });
        }
    }
    return refuse_users(type_name(type), name, std::move(users));
}

Result<void> refuse_users(std::string_view type, std::string_view name, std::vector<std::string> users) {
    if (users.empty()) return {};
    std::ranges::sort(users);
    const std::size_t shown = std::min<std::size_t>(users.size(), 5);
    return fail(
        Code::busy,
        fmt::format("{} {} is in use by {}{}", type, name,
                    fmt::join(users.begin(), users.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                    users.size() > shown ? fmt::format(" and {} more", users.size() - shown) : ""));
}

Result<void> check_queue_windows(const Draft& draft, const Object& queue, const CheckContext& context) {
    const std::span<const std::string> names = queue.list("time_window");
    std::vector<rrule::Window> windows;
    for (const std::string& name : names) {
        const ObjectPtr object = draft.find(ObjectType::time_window, name);
        if (!object)
            return fail(Code::bad_value, fmt::format("time_window: there is no time_window '{}'", name));
        Result<rrule::Window> window = make_window(*object, context.zone);
        if (!window) return tl::unexpected(window.error());
        windows.push_back(std::move(*window));
    }
    const std::optional<rrule::Overlap> overlap = rrule::first_overlap(windows, context.now);
    if (!overlap) return {};
    return fail(Code::bad_value,
                fmt::format("time_windows {} and {} of queue {} overlap, first on {}", names[overlap->first],
                            names[overlap->second], queue.name(), local_text(overlap->at, context.zone)));
}

Result<void> check_queues_of_window(const Draft& draft, std::string_view window,
                                    const CheckContext& context) {
    Result<void> result;
    draft.for_each(ObjectType::queue, [&](const Object& queue) {
        if (!result ||
            std::ranges::find(queue.list("time_window"), window) == queue.list("time_window").end())
            return;
        result = check_queue_windows(draft, queue, context);
    });
    return result;
}

}  // namespace pbs::objects
