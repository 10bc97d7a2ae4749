#include "migrate/grid_engine/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "migrate/object_names.h"
#include "objects/change_warnings.h"
#include "objects/quota_rule.h"
#include "objects/value.h"

namespace pbs::migrate {
namespace {

using objects::Command;
using objects::CommandKind;
using objects::Operation;

// Reports the rules of `before` that no element of `after` replaces, and gives a note on those that no
// migration made.
void tell_removed(Changes& to, const Wanted& first, std::span<const std::string> before,
                  const objects::StringList& after) {
    const objects::Attribute& attribute = *objects::find_attribute(first.type, first.attribute);
    const auto made = objects::parse_value(attribute, to.recorded(first.type, first.object, first.attribute));
    const std::string object = fmt::format("{} {}", objects::type_name(first.type), first.object);
    for (const std::string& element : before) {
        const std::string_view key = objects::quota_rule_name(element);
        if (std::ranges::find(after, key, objects::quota_rule_name) != after.end()) continue;
        to.result().report.lines.push_back({kGone, fmt::format("{} {}.{}", object, first.attribute, key), "",
                                            true, std::string(objects::quota_rule_text(element))});
        const auto* elements = made ? std::get_if<objects::StringList>(&*made) : nullptr;
        if (elements == nullptr || std::ranges::find(*elements, element) == elements->end())
            to.note(
                fmt::format("{}: {}.{} goes, though no migration made it: the quota gets the rules of its "
                            "set alone",
                            object, first.attribute, key));
    }
}

// The rule_order of a quota that the migration gives other rules. It is unset while they change, because the
// server refuses an order with a rule that isn't there; afterwards it is as before, unless it names a rule
// that is gone.
class RuleOrder {
  public:
    RuleOrder(Changes& to, const Wanted& first, const objects::Object* there)
        : to_(to), first_(first), attribute_(*objects::find_attribute(first.type, "rule_order")) {
        if (there != nullptr && there->is_set(attribute_.name)) {
            const auto names = there->list(attribute_.name);
            order_.assign(names.begin(), names.end());
        }
    }

    void begin() {
        if (order_.empty()) return;
        to_.result().changes.commands.push_back({CommandKind::unset,
                                                 first_.type,
                                                 first_.object,
                                                 {{std::string(attribute_.name), "", Operation::unset}}});
    }

    void end(const objects::StringList& rules) {
        if (order_.empty()) return;
        const std::string object = fmt::format("{} {}", objects::type_name(first_.type), first_.object);
        const std::string order = objects::format_value(attribute_, order_);
        const bool complete = std::ranges::all_of(order_, [&](const std::string& name) {
            return std::ranges::find(rules, name, objects::quota_rule_name) != rules.end();
        });
        if (complete) {
            to_.note(fmt::format("{}: rule_order stays, and orders the rules in place of the file", object));
            to_.result().changes.commands.push_back(
                {CommandKind::set, first_.type, first_.object, {{std::string(attribute_.name), order}}});
            return;
        }
        to_.result().report.lines.push_back(
            {kGone, fmt::format("{} {}", object, attribute_.name), "", true, order});
        to_.note(fmt::format("{}: rule_order goes, because it names a rule that goes", object));
        to_.object_after(first_.type, first_.object).clear(attribute_);
    }

  private:
    Changes& to_;
    const Wanted& first_;
    const objects::Attribute& attribute_;
    objects::StringList order_;
};

// Sets all elements of an attribute with keys, such as the rules of a quota, in the order of `elements`.
void set_elements(Changes& to, std::span<const Wanted> elements) {
    const Wanted& first = elements.front();
    const objects::Attribute& attribute = *objects::find_attribute(first.type, first.attribute);
    const objects::Object* there =
        to.current() == nullptr ? nullptr : to.current()->find(first.type, first.object);
    const std::span<const std::string> before =
        there == nullptr ? std::span<const std::string>() : there->list(first.attribute);
    objects::StringList after;
    for (const Wanted& element : elements) {
        const auto value = objects::value_of_items(attribute, {element.key + ": " + element.value});
        if (!value) return to.refuse(element.from, value.error().message);
        after.push_back(std::get<objects::StringList>(*value).front());
    }
    // Keep the old elements that begin the new list in the same order, and unset all others, to set them
    // anew.
    std::size_t kept = 0;
    while (kept < std::min(before.size(), after.size()) &&
           objects::quota_rule_name(before[kept]) == objects::quota_rule_name(after[kept]))
        ++kept;
    Command gone{CommandKind::unset, first.type, first.object, {}};
    for (const std::string& element : before.subspan(kept))
        gone.changes.push_back(
            {first.attribute, "", Operation::unset, std::string(objects::quota_rule_name(element))});
    const bool moves = !gone.changes.empty();
    RuleOrder order(to, first, there);
    if (moves) {
        order.begin();
        to.result().changes.commands.push_back(std::move(gone));
        tell_removed(to, first, before, after);
    }
    for (std::size_t i = 0; i < after.size(); ++i) {
        const Wanted& element = elements[i];
        const auto old = std::ranges::find(before, element.key, objects::quota_rule_name);
        const bool changed = i >= kept || before[i] != after[i];
        const auto text = [&](const std::string& whole) {
            return std::string(objects::quota_rule_text(whole));
        };
        to.result().report.lines.push_back({element.from,
                                            fmt::format("{} {} {}.{}", objects::type_name(first.type),
                                                        first.object, first.attribute, element.key),
                                            text(after[i]), changed, old == before.end() ? "" : text(*old)});
        if (changed)
            to.result().changes.commands.push_back(
                {CommandKind::set,
                 first.type,
                 first.object,
                 {{first.attribute, text(after[i]), Operation::set, element.key}}});
    }
    if (moves) order.end(after);
    to.record(first.type, first.object, attribute.name, objects::format_value(attribute, after));
    to.object_after(first.type, first.object).assign(attribute, std::move(after));
}

}  // namespace

void convert_grid_engine(Changes& to, const GridEngine& files) {
    to.begin(Part::grid_engine);
    for (const PrintedCommand* known : to.resources(files.resources, nullptr))
        to.note(
            fmt::format("{}:{}: {}: is left out: the server has this resource already, with a type and flags "
                        "of its own",
                        files.resources.file, known->line, known->command.object));
    for (auto wanted = files.wanted.begin(); wanted != files.wanted.end(); ++wanted) {
        if (!wanted->key.empty()) {
            const auto end = std::find_if(wanted, files.wanted.end(), [&](const Wanted& other) {
                return other.object != wanted->object || other.key.empty();
            });
            set_elements(to, std::span(wanted, end));
            wanted = std::prev(end);
        } else if (wanted->attribute.empty()) {
            to.create(wanted->type, wanted->object);
        } else {
            to.set(wanted->type, wanted->object, wanted->attribute, wanted->value, wanted->from);
        }
    }
    to.note_all(files.notes);
    // An order that the site has set itself stays: note it if it goes before the weighted priority.
    if (std::ranges::find(files.wanted, "weighted_priority", &Wanted::attribute) != files.wanted.end())
        to.note_all(objects::orders_behind(to.object_after(objects::ObjectType::policy, kPolicy)));
    to.tell_unless_in_force();
}

}  // namespace pbs::migrate
