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
#include "objects/queue_roles.h"
#include "objects/quota_rule.h"
#include "objects/root_programs.h"
#include "objects/windows.h"
#include "rrule/overlap.h"
#include "values/text.h"

namespace pbs::objects {
namespace {

tl::unexpected<Error> bad_recurrence(const Attribute& attribute, std::string_view text,
                                     const rrule::Error& error) {
    return bad_value(attribute.name, text, expected_text(attribute), error.message);
}

// Reports only errors with a place in the text: mistakes in the rule by itself. check_times() checks whether
// the rule ever occurs, which may depend on the start_time.
Result<void> check_recurrence_text(const Attribute& attribute, const std::string& text,
                                   const CheckContext& context) {
    const auto rule = rrule::Recurrence::parse(text, context.zone);
    if (rule || !rule.error().position) return {};
    return bad_recurrence(attribute, text, rule.error());
}

Result<void> check_non_work_days(const Attribute& attribute, const StringList& entries,
                                 const CheckContext& context) {
    for (const std::string& entry : entries) {
        if (const auto stored = rrule::NonWorkDays::stored(entry, context.zone); !stored)
            return bad_recurrence(attribute, entry, stored.error());
    }
    return {};
}

// Refuses a second sort key on the same resource, as the first key decides alone. In node_sort_key, each
// amount of a resource (total, unused and so on) counts as a resource of its own; a key that names no amount
// means the total.
Result<void> check_sort_keys(const Attribute& attribute, const StringList& keys) {
    std::set<std::string> seen;
    for (const std::string& key : keys) {
        const std::vector<std::string_view> words = values::words(key);
        const std::string_view amount = words.size() > 2 ? words[2] : "total";
        if (seen.insert(fmt::format("{} {}", words[0], amount)).second) continue;
        return fail(Code::bad_value, fmt::format("{}: bad value '{}': expected each resource once, "
                                                 "but '{}' is sorted by already in '{}'",
                                                 attribute.name, key, words[0], fmt::join(keys, ", ")));
    }
    return {};
}

Result<void> check_place_sort_keys(const Attribute& attribute, const StringList& elements) {
    std::set<std::string_view> seen;
    for (const std::string& element : elements) {
        const PlaceElement parts = place_element(element);
        if (!seen.insert(parts.place).second)
            return fail(Code::bad_value,
                        fmt::format("{}: bad value '{}': '{}' is there twice, expected each place once, with "
                                    "all its keys",
                                    attribute.name, element, parts.place));
        if (Result<void> checked = check_sort_keys(attribute, parts.keys); !checked) return checked;
    }
    return {};
}

// `safe` is the result of the check whether the program can be run safely. If the check failed, refuses the
// program or, if context.warnings is set, adds a warning.
Result<void> check_program(const Attribute& attribute, const std::string& value,
                           const tl::expected<void, std::string>& safe, const CheckContext& context) {
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

// Checks that each resource is named once, and that the programs may be run. The program of an element that
// the attribute had before isn't checked again.
Result<void> check_dynamic_resources(const Attribute& attribute, const Value* before,
                                     const StringList& elements, const CheckContext& context) {
    std::set<std::string_view> seen;
    const StringList old = before ? std::get<StringList>(*before) : StringList{};
    for (const std::string& element : elements) {
        const std::size_t mark = element.find('!');
        const std::string_view resource = values::trim(std::string_view(element).substr(0, mark));
        if (!seen.insert(resource).second) {
            return fail(Code::bad_value,
                        fmt::format("{}: bad value '{}': '{}' is there twice, expected one program for each "
                                    "resource",
                                    attribute.name, element, resource));
        }
        if (std::ranges::find(old, element) != old.end()) continue;
        const ProgramCall call = program_call(values::trim(std::string_view(element).substr(mark + 1)));
        // Don't restrict the arguments of a program that root has listed: root has listed them, too.
        const auto listed = read_root_programs(context.root_programs);
        const bool of_root = listed && listed->contains(element);
        if (Result<void> checked =
                check_program(attribute, element,
                              of_root ? check_roots_program(call.path) : check_program_call(call), context);
            !checked)
            return checked;
    }
    return {};
}

Result<void> check_formula_value(const Attribute& attribute, const std::string& text,
                                 const CheckContext& context) {
    // Keep formulas of vnodes short, because they are computed for thousands of vnodes.
    constexpr std::size_t kLongestOfVnodes = 256;
    const bool of_vnodes = attribute.name == "load_formula";
    if (of_vnodes && text.size() > kLongestOfVnodes)
        return fail(Code::bad_value,
                    fmt::format("{}: the formula is {} characters long; at most {} are allowed",
                                attribute.name, text.size(), kLongestOfVnodes));
    std::vector<std::string> unknown;
    Result<void> checked =
        check_formula(attribute.name, text, context.resources, context.warnings ? &unknown : nullptr);
    for (const std::string& name : unknown) {
        context.warnings->push_back(
            fmt::format("{}: '{}' is not a resource of this server", attribute.name, name));
    }
    if (!of_vnodes || !checked) return checked;
    const auto formula = Formula::compile(text);
    for (const Formula::Name& name : formula ? formula->names() : std::vector<Formula::Name>()) {
        const std::string wrong = no_load(name.name, context.resources);
        if (wrong.empty()) continue;
        const std::string told = fmt::format("{}: bad value '{}': {}", attribute.name, text, wrong);
        if (!context.warnings) return fail(Code::bad_value, told);
        context.warnings->push_back(told);
    }
    return {};
}

// Refuses a queue with two roles that exclude each other: the Origin scheduler didn't start with such roles.
Result<void> check_queue_roles(const Object& policy) {
    if (policy.text("algorithm") != "origin") return {};
    const auto clash = clashing_queues([&](std::string_view name) {
        const Attribute& attribute = *find_attribute(ObjectType::policy, name);
        const Value* value = policy.set_value(attribute);
        return value == nullptr ? std::vector<std::string>{} : format_items(attribute, *value);
    });
    if (!clash) return {};
    return fail(Code::bad_value,
                fmt::format("{}: bad value '{}': the queue is in {} too, expected another one",
                            clash->attribute, clash->queue, clash->other));
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
        // the text that PP-748, interface 1, prescribes
        return fail(Code::bad_value,
                    "Cannot set prime/non-prime time policy without setting an all time policy");
    }
    return {};
}

// Refuses one file for both the schedule log and the sorted dump: they would overwrite each other.
Result<void> check_outputs(const Object& policy) {
    const std::string_view log = policy.text("schedule_log");
    if (log.empty() || log != policy.text("sorted_job_dumpfile")) return {};
    return fail(Code::bad_value,
                fmt::format("sorted_job_dumpfile: bad value '{}': it is the file of schedule_log, expected "
                            "another name",
                            log));
}

Result<void> check_priority(const Object& policy) {
    if (!policy.boolean("weighted_priority") || policy.text("job_sort_formula").empty()) return {};
    return fail(Code::bad_value,
                "weighted_priority and job_sort_formula exclude each other: unset one, before or in the same "
                "command");
}

// Checks that the order has each letter at most once.
Result<void> check_ticket_order(const Object& policy) {
    const std::string_view order = policy.text("ticket_order");
    std::string letters(order);
    std::ranges::sort(letters);
    constexpr std::string_view kLetters = "FOS";
    if (order == "NONE" || (!letters.empty() && std::ranges::includes(kLetters, letters))) return {};
    return fail(
        Code::bad_value,
        fmt::format("ticket_order: bad value '{}': expected letters O, F and S, each at most once, or NONE",
                    order));
}

Result<void> check_fairshare(const Object& policy) {
    if (!policy.boolean("fairshare") || policy.has("fairshare_group")) return {};
    return fail(
        Code::bad_value,
        "fairshare can't be True while fairshare_group is not set: set fairshare_group to the name of an "
        "fs_group, before or in the same command");
}

// Requires of a fairshare tree that names are unique, that parents exist, that no element is above itself,
// and that there aren't too many levels.
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
    constexpr std::size_t kMostLevels = 64;
    std::map<std::string_view, std::size_t> levels;  // levels of names whose path to the root is known
    for (const auto& [name, parent] : parents) {
        std::vector<std::string_view> path;
        std::set<std::string_view> passed;
        std::string_view at = name;
        while (at != "root" && !levels.contains(at)) {
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
        std::size_t level = at == "root" ? 0 : levels.at(at);
        for (auto below = path.rbegin(); below != path.rend(); ++below) levels[*below] = ++level;
        if (level > kMostLevels)
            return fail(
                Code::bad_value,
                fmt::format("tree_element: bad value '{}': it is on level {}, expected at most {} levels",
                            name, level, kMostLevels));
    }
    return {};
}

// Refuses control characters in rules. Rules of a database that has some already are still read.
Result<void> check_quota_rules(const Value* before, const StringList& rules) {
    const StringList* known = before == nullptr ? nullptr : std::get_if<StringList>(before);
    for (const std::string& rule : rules) {
        const std::size_t at = control_character(rule);
        if (at == std::string::npos || (known != nullptr && std::ranges::find(*known, rule) != known->end()))
            continue;
        const std::string_view name = quota_rule_name(rule);
        return fail(Code::bad_value,
                    fmt::format("rule.{}: the character in column {} is a control character, expected none",
                                name, at - name.size() - 1));
    }
    return {};
}

// Refuses a max_range_chunks that the table allows only for databases of earlier releases.
Result<void> check_range_chunks(const Attribute& attribute, const Value* before, const Value& value) {
    if (attribute.name != "max_range_chunks" || std::get<std::int64_t>(value) <= kMostRangeChunks) return {};
    if (before && *before == value) return {};
    return bad_value(attribute.name, format_value(attribute, value), expected_text(attribute));
}

// Checks that rrule, start_time and end_time make a window. The start_time is the time of day at which a rule
// without DTSTART occurs.
Result<void> check_times(const Object& window, const CheckContext& context) {
    if (window.has("rrule")) {
        const rrule::Result<rrule::Window> made = context.windows.of(window, context.zone);
        if (made) return {};
        const rrule::Seconds start =
            window.has("start_time") ? window.seconds("start_time") : rrule::Seconds(0);
        const auto rule = rrule::Recurrence::parse(window.text("rrule"), context.zone, start);
        if (rule) return fail(Code::bad_value, made.error().message);
        return bad_recurrence(*find_attribute(ObjectType::time_window, "rrule"), window.text("rrule"),
                              rule.error());
    }
    if (window.has("start_time") && window.seconds("start_time") >= std::chrono::hours(24)) {
        return fail(Code::bad_value, "start_time: bad value '24:00:00': expected a time before 24:00");
    }
    return {};
}

std::string local_text(rrule::Instant instant, const rrule::Zone& zone) {
    const std::time_t shown = zone.local(instant).time_since_epoch().count();
    return fmt::format("{:%Y-%m-%d %H:%M:%S} ({})", fmt::gmtime(shown), zone.name());
}

}  // namespace

Result<void> check_value(const Attribute& attribute, const Value* before, const Value& value,
                         const CheckContext& context) {
    if (Result<void> known = check_names(attribute, before, value, context); !known) return known;
    const Value* const allowed = context.of_the_past ? &value : before;
    switch (attribute.syntax) {
        case Syntax::rrule:
            return check_recurrence_text(attribute, std::get<std::string>(value), context);
        case Syntax::rrule_list:
            return check_non_work_days(attribute, std::get<StringList>(value), context);
        case Syntax::formula:
            return check_formula_value(attribute, std::get<std::string>(value), context);
        case Syntax::node_sort_keys:
        case Syntax::job_sort_keys:
            return check_sort_keys(attribute, std::get<StringList>(value));
        case Syntax::place_sort_keys:
            return check_place_sort_keys(attribute, std::get<StringList>(value));
        case Syntax::resource_weights:
        case Syntax::word_weights:
        case Syntax::entity_weights:
        case Syntax::load_weights:
            return check_weights(attribute, allowed, std::get<StringList>(value));
        case Syntax::load_thresholds:
            return check_load_thresholds(attribute, std::get<StringList>(value));
        case Syntax::dynamic_resources:
            return check_dynamic_resources(attribute, before, std::get<StringList>(value), context);
        case Syntax::quota_rules:
            return check_quota_rules(allowed, std::get<StringList>(value));
        case Syntax::output_file:
            if (before && *before == value) return {};
            return check_output(attribute, std::get<std::string>(value));
        case Syntax::program:
            if (before && *before == value) return {};
            return check_program(attribute, std::get<std::string>(value),
                                 check_program_call({std::get<std::string>(value)}), context);
        case Syntax::integer:
            return check_range_chunks(attribute, allowed, value);
        default:
            return {};
    }
}

Result<void> check_provisioning(const Object* before, const Object& after, const CheckContext& context) {
    constexpr std::string_view kName = "provision_policy";
    if (after.type() != ObjectType::policy || context.provisions || after.text("algorithm") == "external")
        return {};
    const std::string_view now = after.text(kName);
    const std::string_view usual = find_attribute(ObjectType::policy, kName)->default_value;
    if (now == usual || (before && before->text(kName) == now)) return {};
    return fail(
        Code::bad_value,
        fmt::format("{}: bad value '{}': this server provisions no vnodes, expected {}", kName, now, usual));
}

Result<void> check_object(const Object& object, const CheckContext& context) {
    switch (object.type()) {
        case ObjectType::sched:
            return check_slots(object);
        case ObjectType::policy:
            if (Result<void> checked = check_outputs(object); !checked) return checked;
            if (Result<void> checked = check_queue_roles(object); !checked) return checked;
            if (Result<void> checked = check_priority(object); !checked) return checked;
            if (Result<void> checked = check_ticket_order(object); !checked) return checked;
            return check_fairshare(object);
        case ObjectType::fs_group:
            return check_tree(object);
        case ObjectType::quota:
            return check_quota(object);
        case ObjectType::time_window:
            return check_times(object, context);
        case ObjectType::queue:
            if (context.keeps_execution_types || !object.is_set("execution_type")) break;
            return fail(Code::unknown_attribute,
                        "unknown attribute 'execution_type': the server keeps it itself, expected it in the "
                        "section host");
        case ObjectType::server:
        case ObjectType::node:
        case ObjectType::resource:
            break;
    }
    return {};
}

std::string_view referred_name(const Attribute& attribute, std::string_view element) {
    if (attribute.syntax != Syntax::policy_slots) return element;
    const std::size_t colon = element.find(':');
    return colon == std::string_view::npos ? element : element.substr(colon + 1);
}

Result<void> check_references(const Draft& draft, const Object* before, const Object& object) {
    if (Result<void> checked = check_quota_windows(draft, before, object); !checked) return checked;
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
    for (ObjectType user_type : kConfiguredTypes) {
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

namespace {

// Returns whether the change alters the times at which the window is open. `before` may be null.
bool other_times(const Object* before, const Object& after) {
    for (std::string_view name :
         {"rrule", "start_time", "end_time", "applies_on_holidays", "only_on_holidays"}) {
        const Value* x = before ? before->value(name) : nullptr;
        const Value* y = after.value(name);
        if (x && y ? *x != *y : x != y) return true;
    }
    return false;
}

// Compares the time_windows of queues after changes: each window that the changes touch with the other
// windows of its queue.
class QueueWindows {
  public:
    QueueWindows(const Draft& draft, std::span<const ObjectChange> changes, const CheckContext& context)
        : draft_(draft), context_(context) {
        for (const ObjectChange& change : changes) {
            if (!change.after && change.type != ObjectType::server) continue;
            if (change.type == ObjectType::time_window && other_times(change.before.get(), *change.after))
                windows_.insert(change.name);
            if (change.type == ObjectType::queue) queues_.emplace(change.name, change.before);
            if (change.type == ObjectType::server) holidays_ = true;
        }
    }

    std::vector<Error> check() {
        context_.windows.forget_gone(draft_);
        if (windows_.empty() && queues_.empty() && !holidays_) return {};
        const ObjectPtr server = draft_.find(ObjectType::server, "");
        const StringList none;
        auto days = rrule::NonWorkDays::parse(server ? server->list("non_work_days") : none, context_.zone);
        // if entries of non_work_days are bad, compare nothing: the command that sets them is refused
        if (!days) return {};
        rrule::OverlapSearch search(*days, context_.now, context_.patience, context_.end);
        draft_.for_each(ObjectType::queue, [&](const Object& queue) {
            if (search.gave_up()) return;
            if (Result<void> checked = check(queue, search); !checked) errors_.push_back(checked.error());
        });
        return std::move(errors_);
    }

  private:
    Result<void> check(const Object& queue, rrule::OverlapSearch& search) {
        const std::span<const std::string> names = queue.list("time_window");
        const auto was = queues_.find(queue.name());
        const auto before = was != queues_.end() && was->second ? was->second->list("time_window")
                                                                : std::span<const std::string>{};
        std::vector<std::size_t> changed;
        for (std::size_t i = 0; i < names.size(); ++i) {
            const bool is_new = was != queues_.end() && std::ranges::find(before, names[i]) == before.end();
            if (is_new || windows_.contains(names[i]) || (holidays_ && depends_on_holidays(names[i])))
                changed.push_back(i);
        }
        if (changed.empty()) return {};
        std::vector<rrule::Window> windows;
        for (const std::string& name : names) {
            const Result<rrule::Window> window = find(name);
            if (!window) return tl::unexpected(window.error());
            windows.push_back(*window);
        }
        const std::optional<rrule::Overlap> overlap = search.of(windows, changed);
        if (search.gave_up())
            return fail(
                context_.patience < rrule::OverlapSearch::kLongWork ? Code::takes_long : Code::bad_value,
                fmt::format("the {} time_windows of queue {} take too long to compare; expected fewer, or "
                            "with INTERVALs that repeat within some hundred years",
                            names.size(), queue.name()));
        if (!overlap) return {};
        return fail(Code::bad_value, fmt::format("time_windows {} and {} of queue {} overlap, first on {}",
                                                 names[overlap->first], names[overlap->second], queue.name(),
                                                 local_text(overlap->at, context_.zone)));
    }

    bool depends_on_holidays(std::string_view name) const {
        const ObjectPtr window = draft_.find(ObjectType::time_window, name);
        return window && (!window->boolean("applies_on_holidays") || window->boolean("only_on_holidays"));
    }

    Result<rrule::Window> find(const std::string& name) const {
        const ObjectPtr object = draft_.find(ObjectType::time_window, name);
        if (!object)
            return fail(Code::bad_value, fmt::format("time_window: there is no time_window '{}'", name));
        return make_window(*object, context_.zone, context_.windows);
    }

    const Draft& draft_;
    const CheckContext& context_;
    std::set<std::string, std::less<>> windows_;            // windows with new times
    std::map<std::string, ObjectPtr, std::less<>> queues_;  // changed queues, as they were before
    bool holidays_ = false;
    std::vector<Error> errors_;
};

}  // namespace

std::vector<Error> check_windows(const Draft& draft, std::span<const ObjectChange> changes,
                                 const CheckContext& context) {
    return QueueWindows(draft, changes, context).check();
}

}  // namespace pbs::objects
