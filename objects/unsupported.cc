#include "objects/unsupported.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "objects/formula.h"
#include "objects/output_file.h"
#include "objects/snapshot.h"
#include "values/text.h"

namespace pbs::objects {
namespace {

// Returns whether the value is a number or duration of 0, or the word none. Midnight, a time of day, isn't.
bool is_nothing(const Attribute& attribute, const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number == 0;
    if (const auto* duration = std::get_if<std::chrono::seconds>(&value)) return duration->count() == 0;
    return format_value(attribute, value) == "none";
}

// Returns whether the value asks for nothing, so that it needs no warning: it is False, the default, or, if
// there is no default, 0 or `none`. With Asks::always only False asks for nothing, because the server doesn't
// do even the default. With Asks::of and Asks::without, if the attribute has a default, only False and `none`
// ask for nothing.
bool asks_for_nothing(const Attribute& attribute, const Value& value, Asks asks) {
    const std::string text = format_value(attribute, value);
    if (text == "False") return true;
    if (asks == Asks::always) return false;
    if (attribute.default_value.empty()) return is_nothing(attribute, value);
    if (asks == Asks::of || asks == Asks::without) return text == "none";
    return text == attribute.default_value;
}

// Returns the elements of a list, or a scalar as the only element. preempt_prio is split into its levels.
std::vector<std::string> elements_of(const Attribute& attribute, const Value& value) {
    if (const auto* list = std::get_if<StringList>(&value)) return {list->begin(), list->end()};
    const std::string& text = std::get<std::string>(value);
    if (attribute.syntax != Syntax::preempt_prio) return {text};
    const auto levels = values::split_trimmed(text, ',');
    return {levels.begin(), levels.end()};
}

bool has_word(std::string_view text, std::string_view word) {
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find_first_of(" +", from), text.size());
        if (text.substr(from, end - from) == word) return true;
        from = end + 1;
    }
    return false;
}

bool names(const Attribute& attribute, const Value& value, std::string_view word) {
    if (attribute.syntax == Syntax::formula) return formula_names(std::get<std::string>(value), word);
    return std::ranges::any_of(elements_of(attribute, value),
                               [word](const std::string& element) { return has_word(element, word); });
}

// Returns whether a condition is met: an attribute that is on, attribute=value, or "name in attribute", that
// is, a formula with that name. An attribute that isn't set has its default.
bool is_on(const Object& object, std::string_view condition) {
    constexpr std::string_view kIn = " in ";
    if (const auto in = condition.find(kIn); in != std::string_view::npos) {
        const Attribute& attribute = *find_attribute(object.type(), condition.substr(in + kIn.size()));
        const Value* value = object.value(attribute);
        return value != nullptr && names(attribute, *value, condition.substr(0, in));
    }
    const auto equals = condition.find('=');
    const Attribute& attribute = *find_attribute(object.type(), condition.substr(0, equals));
    const Value* value = object.set_value(attribute);
    if (equals != std::string_view::npos)
        return condition.substr(equals + 1) ==
               (value == nullptr ? std::string(attribute.default_value) : format_value(attribute, *value));
    if (value == nullptr) return attribute.default_value == "True";
    return !asks_for_nothing(attribute, *value, Asks::without);
}

bool any_is_on(const Object& object, std::string_view conditions) {
    return std::ranges::any_of(unsupported_conditions(conditions),
                               [&](std::string_view condition) { return is_on(object, condition); });
}

// Returns the policy's algorithm. external counts as standard, because the settings on which pbs_sched acts
// are those of standard.
std::string_view algorithm_of(const Object& policy) {
    const std::string_view algorithm = policy.text("algorithm");
    return algorithm == "external" ? "standard" : algorithm;
}

class Findings {
  public:
    explicit Findings(const Object& object) : object_(object) {}

    // Reports what `row` finds in the object. `found`: the row's attribute; null: the row is about the whole
    // object or about queues that the server keeps.
    void look(const Unsupported& row, const Attribute* found) {
        if (row.attribute.empty()) return add(row, fmt::format("has no effect: {}", row.why));
        if (found == nullptr) return;  // unsupported_in_queue() handles such rows
        const Attribute& attribute = *found;
        if (const Value* value = object_.set_value(attribute)) return look(row, attribute, *value);
        if (row.asks == Asks::always && applies_by_default())
            add(row, fmt::format(": {}, {} by default, has no effect: {}", attribute.name,
                                 attribute.default_value, row.why));
    }
    std::vector<UnsupportedSetting> take() { return std::move(found_); }

  private:
    // Returns whether the attribute's default counts. With the Origin algorithm it doesn't: that algorithm
    // has no such feature, so nobody expects it.
    bool applies_by_default() const {
        return object_.type() != ObjectType::policy || algorithm_of(object_) == "standard";
    }

    void look(const Unsupported& row, const Attribute& attribute, const Value& value) {
        switch (row.asks) {
            case Asks::element:
                for (const std::string& key : elements_of(attribute, value))
                    if (has_word(key, row.word))
                        add(row, fmt::format(": {} {} has no effect: {}", attribute.name, key, row.why));
                return;
            case Asks::elsewhere:
                if (const auto checked = check_output_file(std::get<std::string>(value)); !checked)
                    add(row, fmt::format(": {} has no effect: {}", attribute.name, checked.error()));
                return;
            case Asks::host:
                if (algorithm_of(object_) != row.word) return;
                for (const std::string& queue : elements_of(attribute, value))
                    if (queue.find('@') != std::string::npos)
                        add(row, fmt::format(": the host of {} in {} has no effect: {}", queue,
                                             attribute.name, row.why));
                return;
            case Asks::without:
                if (!asks_for_nothing(attribute, value, row.asks) && !any_is_on(object_, row.word) &&
                    !told_of(row.attribute))
                    add(row, fmt::format(": {} has no effect without {}", attribute.name, row.word));
                return;
            case Asks::element_without:
                if (any_is_on(object_, row.why) || told_of(row.attribute)) return;
                for (const std::string_view word : unsupported_conditions(row.word))
                    if (names(attribute, value, word))
                        add(row, fmt::format(": {} in {} has no effect without {}", word, attribute.name,
                                             row.why));
                return;
            case Asks::of:
                if (!asks_for_nothing(attribute, value, row.asks) && algorithm_of(object_) != row.word)
                    add(row, fmt::format(": {} has no effect: it belongs to algorithm {}", attribute.name,
                                         row.word));
                return;
            case Asks::anything:
            case Asks::always:
                if (!asks_for_nothing(attribute, value, row.asks))
                    add(row, fmt::format(": {} has no effect: {}", attribute.name, row.why));
                return;
        }
    }

    bool told_of(std::string_view attribute) const {
        return std::ranges::find(found_, attribute, &UnsupportedSetting::attribute) != found_.end();
    }

    void add(const Unsupported& row, std::string_view text) {
        const bool whole = row.attribute.empty();
        found_.push_back({row.attribute, fmt::format("{}{}{}", object_title(object_.type(), object_.name()),
                                                     whole ? " " : "", text)});
    }

    const Object& object_;
    std::vector<UnsupportedSetting> found_;
};

}  // namespace

std::vector<std::string_view> unsupported_conditions(std::string_view word) {
    constexpr std::string_view kOr = " or ";
    std::vector<std::string_view> conditions;
    for (auto end = word.find(kOr); end != std::string_view::npos; end = word.find(kOr)) {
        conditions.push_back(word.substr(0, end));
        word.remove_prefix(end + kOr.size());
    }
    conditions.push_back(word);
    return conditions;
}

std::vector<std::string> unsupported_in_queue(const Object& policy, std::string_view queue,
                                              std::span<const QueueValue> values) {
    std::vector<std::string> lines;
    std::vector<std::string_view> told;
    for (const Unsupported& row : unsupported_table()) {
        if (row.type != ObjectType::queue || std::ranges::find(told, row.attribute) != told.end()) continue;
        const auto value = std::ranges::find_if(
            values, [&](const QueueValue& one) { return values::same_word(one.first, row.attribute); });
        // A queue without a Priority has 0: setting 0 asks for nothing.
        if (value == values.end() || (row.attribute == "Priority" && value->second == "0")) continue;
        const bool other = row.asks == Asks::of && algorithm_of(policy) != row.word;
        const bool alone = row.asks == Asks::without && !any_is_on(policy, row.word);
        if (!other && !alone) continue;
        told.push_back(row.attribute);
        lines.push_back(fmt::format("{}: {} has no effect with {}{}{}", object_title(row.type, queue),
                                    row.attribute, object_title(policy.type(), policy.name()),
                                    other ? ": it belongs to algorithm " : " without ", row.word));
    }
    return lines;
}

std::vector<UnsupportedSetting> unsupported_settings(const Object& object) {
    // Find the attributes of the rows once, not for each of thousands of objects.
    static const std::vector<const Attribute*> attributes = [] {
        std::vector<const Attribute*> of_rows;
        for (const Unsupported& row : unsupported_table())
            of_rows.push_back(find_attribute(row.type, row.attribute));
        return of_rows;
    }();
    const auto rows = unsupported_table();
    Findings findings(object);
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].type == object.type()) findings.look(rows[i], attributes[i]);
    return findings.take();
}

std::vector<std::string> unsupported_lines(const Object& object) {
    std::vector<std::string> lines;
    for (UnsupportedSetting& setting : unsupported_settings(object)) lines.push_back(std::move(setting.text));
    return lines;
}

std::string unsupported_preemption(const Object& policy) {
    if (algorithm_of(policy) != "standard" || !is_on(policy, "preemption")) return {};
    return fmt::format("{}: preemption has no effect: the server carries out no preemptions",
                       object_title(policy.type(), policy.name()));
}

namespace {

// Attributes by which a cycle orders jobs, makes room for them, or looks ahead.
constexpr std::array<std::string_view, 13> kOrdering = {
    "by_queue",         "round_robin",  "fairshare",         "strict_ordering",    "help_starving_jobs",
    "job_sort_formula", "job_sort_key", "weighted_priority", "tickets_functional", "tickets_share",
    "override_tickets", "preemption",   "estimate_depth"};

// Returns whether the attribute has an effect only in the order of jobs, or for other things that a program
// of the site does by itself.
bool orders_jobs(const Attribute& attribute) {
    const auto is_ordering = [](std::string_view condition) {
        constexpr std::string_view kIn = " in ";
        if (const auto in = condition.find(kIn); in != std::string_view::npos)
            condition = condition.substr(in + kIn.size());
        return std::ranges::find(kOrdering, condition) != kOrdering.end();
    };
    return is_ordering(attribute.name) || std::ranges::any_of(attribute.notes, [&](const Note& note) {
               return note.asks == Asks::without &&
                      std::ranges::all_of(unsupported_conditions(note.word), is_ordering);
           });
}

}  // namespace

PbsSched scheduler_by(const Object& policy, ServerAbilities abilities) {
    const bool by_pbs_sched = policy.text("external_program") == "pbs_sched";
    return by_pbs_sched || abilities.pbs_sched == PbsSched::runs ? abilities.pbs_sched : PbsSched::program;
}

std::vector<UnsupportedSetting> unsupported_by_server(const Object& policy, ServerAbilities abilities) {
    std::vector<UnsupportedSetting> found;
    const std::string title = object_title(policy.type(), policy.name());
    const auto add = [&](std::string_view attribute, std::string_view why) {
        if (policy.is_set(attribute))
            found.push_back({attribute, fmt::format("{}: {} has no effect: {}", title, attribute, why)});
    };
    const std::string_view algorithm = policy.text("algorithm");
    if (algorithm == "external") {
        const PbsSched by = scheduler_by(policy, abilities);
        if (by == PbsSched::runs && policy.text("external_program") == "ifl")
            found.push_back(
                {"external_program", fmt::format("{}: external_program ifl has an effect only where the "
                                                 "plugin is installed with pbs_policy_install --scheduler",
                                                 title)});
        if (abilities.pbs_sched == PbsSched::program && policy.text("external_program") == "pbs_sched")
            add("external_program", "pbs_sched never schedules for this server");
        if (by == PbsSched::none)
            found.push_back(
                {"algorithm", fmt::format("{}: algorithm external has no effect: pbs_sched doesn't "
                                          "schedule here, and jobs are scheduled as with standard",
                                          title)});
        if (by == PbsSched::replaced)
            found.push_back({"algorithm",
                             fmt::format("{}: algorithm external leaves the jobs of a scheduler whose policy "
                                         "for all time it is to pbs_sched, which nobody starts where the "
                                         "plugin schedules: no job starts until pbs_sched runs",
                                         title)});
        if (by == PbsSched::program) {
            add("server_dyn_res", "its programs run for cycles, and a program of the site schedules");
            if (is_on(policy, "reprioritize"))
                add("reprioritize", "jobs are weighed in cycles, and a program of the site schedules");
            // A start with check=True is compared with the threshold.
            const bool compares = policy.is_set("job_sort_formula_threshold");
            for (const Attribute& attribute : attributes(ObjectType::policy)) {
                const Value* value = policy.set_value(attribute);
                if (value == nullptr || asks_for_nothing(attribute, *value, Asks::anything)) continue;
                if (attribute.name == "reprioritize" || !orders_jobs(attribute)) continue;
                if (!compares || !attribute.name.starts_with("job_sort_formula"))
                    add(attribute.name, "a program of the site orders and starts jobs");
            }
        }
        return found;
    }
    if (!abilities.pulls && algorithm == "standard")
        add("peer_queue", "no jobs are pulled from other servers");
    if (!abilities.weighs && algorithm == "standard" && is_on(policy, "reprioritize"))
        add("reprioritize",
            abilities.has_log
                ? "jobs of this server have no control groups with a cpu.weight; its log says why"
                : "in an OpenPBS server nothing weighs the processes of running jobs");
    if (!abilities.has_log) add("log_event", "in an OpenPBS server the scheduler keeps no log of its own");
    return found;
}

std::vector<std::string> unsupported_by_change(const Object* before, const Object* after,
                                               std::span<const std::string_view> named) {
    if (after == nullptr) return {};
    std::vector<std::string> lines;
    const std::vector<std::string> old = before ? unsupported_lines(*before) : std::vector<std::string>{};
    for (UnsupportedSetting& setting : unsupported_settings(*after)) {
        const bool is_named = setting.attribute.empty()
                                  ? std::ranges::any_of(named, [](auto name) { return name != "comment"; })
                                  : std::ranges::find(named, setting.attribute) != named.end();
        if (is_named || std::ranges::find(old, setting.text) == old.end())
            lines.push_back(std::move(setting.text));
    }
    return lines;
}

}  // namespace pbs::objects
