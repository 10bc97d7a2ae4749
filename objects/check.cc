#include "objects/check.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "objects/forms.h"
#include "objects/formula.h"
#include "objects/text.h"
#include "objects/windows.h"
#include "rrule/window_set.h"

namespace pbs::objects {
namespace {

Result<void> check_recurrence(const Attribute& attribute, const std::string& text,
                              const CheckContext& context) {
    const auto rule = rrule::Recurrence::parse(text, context.zone);
    if (rule) return {};
    return fail(Code::bad_value,
                fmt::format("{}: bad value '{}': {}", attribute.name, text, rule.error().message));
}

// The first word of a sort key is a resource or one of a few other things to sort by.
Result<void> check_sort_keys(const Attribute& attribute, const StringList& keys,
                             const CheckContext& context) {
    static constexpr std::string_view kNodeKeys[] = {"sort_priority"};
    static constexpr std::string_view kJobKeys[] = {"job_priority", "fairshare_perc", "fair_share_perc",
                                                    "preempt_priority"};
    const bool nodes = attribute.syntax == Syntax::node_sort_keys;
    const std::span<const std::string_view> others =
        nodes ? std::span<const std::string_view>(kNodeKeys) : std::span<const std::string_view>(kJobKeys);
    for (const std::string& key : keys) {
        const std::string_view name = std::string_view(key).substr(0, key.find(' '));
        if (context.resources.contains(name) || std::ranges::find(others, name) != others.end()) continue;
        return fail(Code::bad_value,
                    fmt::format("{}: bad value '{}': '{}' is not a resource of this server nor {}",
                                attribute.name, key, name, fmt::join(others, ", ")));
    }
    return {};
}

Result<void> check_dynamic_resources(const Attribute& attribute, const StringList& elements,
                                     const CheckContext& context) {
    for (const std::string& element : elements) {
        const std::string_view name = trim(std::string_view(element).substr(0, element.find('!')));
        if (context.resources.contains(name)) continue;
        return fail(Code::bad_value, fmt::format("{}: bad value '{}': '{}' is not a resource of this server",
                                                 attribute.name, element, name));
    }
    return {};
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
        return fail(Code::bad_value, fmt::format("policy: more than one {} policy in '{}'",
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
            return fail(Code::bad_value, fmt::format("tree_element: '{}' is in the tree twice", parts.name));
        }
    }
    std::map<std::string_view, bool> reaches_root;
    for (const auto& [name, parent] : parents) {
        std::vector<std::string_view> path;
        std::string_view at = name;
        while (at != "root" && !reaches_root.contains(at)) {
            if (std::ranges::find(path, at) != path.end()) {
                return fail(Code::bad_value, fmt::format("tree_element: '{}' is its own ancestor", at));
            }
            path.push_back(at);
            const auto above = parents.find(at);
            if (above == parents.end()) {
                return fail(
                    Code::bad_value,
                    fmt::format(
                        "tree_element: '{}' has the parent '{}', which is neither root nor another element",
                        path.size() > 1 ? path[path.size() - 2] : name, at));
            }
            at = above->second;
        }
        for (std::string_view passed : path) reaches_root[passed] = true;
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

Result<void> check_value(const Attribute& attribute, const Value& value, const CheckContext& context) {
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
            return check_formula(attribute.name, std::get<std::string>(value), context.resources,
                                 attribute.name == "usage_formula" ? usage_terms() : job_sort_terms());
        case Syntax::node_sort_keys:
        case Syntax::job_sort_keys:
            return check_sort_keys(attribute, std::get<StringList>(value), context);
        case Syntax::dynamic_resources:
            return check_dynamic_resources(attribute, std::get<StringList>(value), context);
        default:
            return {};
    }
}

Result<void> check_object(const Object& object, const CheckContext& context) {
    switch (object.type()) {
        case ObjectType::sched:
            return check_slots(object);
        case ObjectType::policy:
            return check_fairshare(object);
        case ObjectType::fs_group:
            return check_tree(object);
        case ObjectType::time_window:
            return check_times(object, context);
        case ObjectType::server:
        case ObjectType::queue:
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
    if (users.empty()) return {};
    std::ranges::sort(users);
    const std::size_t shown = std::min<std::size_t>(users.size(), 5);
    return fail(
        Code::busy,
        fmt::format("{} {} is in use by {}{}", type_name(type), name,
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
