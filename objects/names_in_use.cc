#include "objects/names_in_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "objects/formula.h"
#include "objects/quota_rule.h"
#include "objects/value.h"
#include "text/json.h"
#include "text/json_document.h"
#include "values/text.h"

namespace pbs::objects {
namespace {

// Returns the name at the front of an element: the text before a blank, '!', '@' or '='.
std::string_view first_name(std::string_view element) {
    return element.substr(0, element.find_first_of(" !@="));
}

// Returns the kind of the name at the front of the elements of a syntax; nullopt: no such name is there.
std::optional<NameKind> named_kind(Syntax syntax) {
    switch (syntax) {
        case Syntax::queue:
        case Syntax::queue_list:
        case Syntax::peer_queues:
            return NameKind::queue;
        case Syntax::resource_list:
        case Syntax::node_sort_keys:
        case Syntax::job_sort_keys:
        case Syntax::resource_weights:
        case Syntax::load_weights:
        case Syntax::dynamic_resources:
            return NameKind::resource;
        default:
            return std::nullopt;
    }
}

bool names_things(Syntax syntax) {
    return named_kind(syntax).has_value() || syntax == Syntax::quota_rules ||
           syntax == Syntax::load_thresholds || syntax == Syntax::place_sort_keys ||
           syntax == Syntax::entity_weights;
}

struct NamedThing {
    NameKind kind;
    std::string name;
    std::string at{};  // the place of the name, if known: "column 12: "
};

// The entity that stands in a weight for all that have no weight of their own.
constexpr std::string_view kEachOther = "PBS_GENERIC";

// Returns the queues and resources that an element of a value names.
std::vector<NamedThing> names_in(const Attribute& attribute, const std::string& element) {
    if (const auto kind = named_kind(attribute.syntax)) return {{*kind, std::string(first_name(element))}};
    std::vector<NamedThing> found;
    if (attribute.syntax == Syntax::place_sort_keys)
        for (const std::string& key : place_element(element).keys)
            found.push_back({NameKind::resource, std::string(first_name(key))});
    if (attribute.syntax == Syntax::entity_weights && element.starts_with("[q:")) {
        const std::size_t begin = std::string_view("[q:").size();
        std::string name = element.substr(begin, element.rfind('=') - begin);
        if (name != kEachOther) found.push_back({NameKind::queue, std::move(name)});
    }
    if (attribute.syntax == Syntax::load_thresholds) {
        const LoadElement threshold = load_element(element);
        if (!threshold.queue.empty()) found.push_back({NameKind::queue, std::string(threshold.queue)});
        found.push_back({NameKind::resource, std::string(threshold.name)});
    }
    if (attribute.syntax != Syntax::quota_rules) return found;
    const auto rule = parse_quota_rule(element);
    if (!rule) return found;
    const auto column = [](std::size_t at) { return fmt::format("column {}: ", at); };
    const auto each = [](const std::optional<QuotaFilter>& filter, const auto& visit) {
        if (!filter) return;
        for (std::size_t i = 0; i < filter->among.size(); ++i) visit(filter->among[i], filter->among_at[i]);
        for (std::size_t i = 0; i < filter->except.size(); ++i)
            visit(filter->except[i], filter->except_at[i]);
    };
    each(rule->filter(QuotaSubject::queues), [&](const std::string& name, std::size_t at) {
        if (!is_pattern(name)) found.push_back({NameKind::queue, name, column(at)});
    });
    each(rule->filter(QuotaSubject::vnodes), [&](const std::string& pattern, std::size_t at) {
        if (const auto resource = vnode_pattern(pattern).resource; !resource.empty())
            found.push_back({NameKind::resource, std::string(resource), column(at)});
    });
    for (const QuotaLimit& limit : rule->limits) {
        const std::string at = column(limit.column);
        if (limit.resource != "jobs") found.push_back({NameKind::resource, limit.resource, at});
        if (!limit.is_formula()) continue;
        if (const auto formula = Formula::compile(limit.most))
            for (const Formula::Name& name : formula->names())
                found.push_back({NameKind::resource, name.name, at});
    }
    return found;
}

// Returns a remark, with its place, on the first element of a filter that can't match anything, or the first
// limit that isn't of its resource's type or isn't a formula; empty: all are right.
std::string mistake_in_rule(const std::string& element, const ResourceNames& resources) {
    const auto rule = parse_quota_rule(element);
    if (!rule) return {};
    if (std::string futile = rule->futile_element(); !futile.empty()) return futile;
    for (const QuotaLimit& limit : rule->limits) {
        const auto kind = resources.kind(limit.resource);
        if (limit.is_formula()) {
            const std::size_t column = limit.column + limit.resource.size() + 1;
            const auto formula = Formula::compile(limit.most);
            if (!formula)
                return fmt::format("column {}: {}", column + formula.error().at, formula.error().text);
            if (const std::string remark = too_long(*formula); !remark.empty())
                return fmt::format("column {}: {}", column, remark);
        }
        if (limit.is_formula()) {
            const auto formula = Formula::compile(limit.most);
            for (const Formula::Name& name : formula->names())
                if (const auto of = resources.kind(name.name); of && values::is_text(*of))
                    return fmt::format(
                        "column {}: the values of '{}' are no numbers: expected resources with numbers",
                        limit.column + limit.resource.size() + 1 + name.at, name.name);
        }
        if (!kind || limit.resource == "jobs") continue;
        if (limit.is_formula() ? values::is_text(*kind) : !values::parse_amount(*kind, limit.most))
            return fmt::format("column {}: found '{}={}', expected {}", limit.column, limit.resource,
                               limit.most, values::form_of(*kind));
    }
    return {};
}

bool names_loads(Syntax syntax) {
    return syntax == Syntax::load_weights || syntax == Syntax::load_thresholds;
}

// Returns the names that elements of a syntax may have in place of a resource.
std::span<const std::string_view> other_names(Syntax syntax) {
    static constexpr std::array<std::string_view, 2> kNodeKeys = {"sort_priority", "load_formula"};
    static constexpr std::array<std::string_view, 4> kJobKeys = {"job_priority", "fairshare_perc",
                                                                 "fair_share_perc", "preempt_priority"};
    if (syntax == Syntax::node_sort_keys || syntax == Syntax::place_sort_keys) return kNodeKeys;
    if (syntax == Syntax::job_sort_keys) return kJobKeys;
    return names_loads(syntax) ? load_terms() : std::span<const std::string_view>();
}

bool exists(const Attribute& attribute, NameKind kind, std::string_view name, const CheckContext& context) {
    if (kind == NameKind::queue)
        return !context.queues || !*context.queues || (*context.queues)->contains(name);
    if (names_loads(attribute.syntax) && name.starts_with(kPerCpu) &&
        context.resources.contains(name.substr(kPerCpu.size())))
        return true;
    return context.resources.contains(name) ||
           std::ranges::find(other_names(attribute.syntax), name) != other_names(attribute.syntax).end();
}

std::string missing_text(const Attribute& attribute, NameKind kind, std::string_view name) {
    if (kind == NameKind::queue) return fmt::format("there is no queue '{}'", name);
    std::string text = fmt::format("'{}' is not a resource of this server", name);
    std::string_view separator = " nor ";
    for (std::string_view other : other_names(attribute.syntax)) {
        text += fmt::format("{}{}", separator, other);
        separator = ", ";
    }
    return text;
}

bool names(const Attribute& attribute, const Value& value, NameKind kind, std::string_view name) {
    const bool of_loads = attribute.name == "load_formula" || names_loads(attribute.syntax);
    const std::string per_cpu = of_loads ? fmt::format("{}{}", kPerCpu, name) : std::string();
    if (attribute.syntax == Syntax::formula) {
        const std::string& formula = std::get<std::string>(value);
        return kind == NameKind::resource &&
               (formula_names(formula, name) || (of_loads && formula_names(formula, per_cpu)));
    }
    if (!names_things(attribute.syntax)) return false;
    return std::ranges::any_of(format_items(attribute, value), [&](const std::string& element) {
        return std::ranges::any_of(names_in(attribute, element), [&](const NamedThing& thing) {
            return thing.kind == kind &&
                   (thing.name == name || (of_loads && kind == NameKind::resource && thing.name == per_cpu));
        });
    });
}

// Returns a remark on the thing that an element names; empty: there is such a thing.
std::string wrong_name(const Attribute& attribute, const NamedThing& thing, const CheckContext& context) {
    if (!exists(attribute, thing.kind, thing.name, context))
        return thing.at + missing_text(attribute, thing.kind, thing.name);
    return names_loads(attribute.syntax) && thing.kind == NameKind::resource
               ? no_load(thing.name, context.resources)
               : std::string();
}

}  // namespace

std::string no_load(std::string_view name, const ResourceNames& resources) {
    const bool per_cpu = name.starts_with(kPerCpu) && !resources.contains(name);
    const auto kind = resources.kind(per_cpu ? name.substr(kPerCpu.size()) : name);
    if (!kind || (!values::is_text(*kind) && *kind != values::ResourceKind::boolean)) return {};
    return fmt::format("the values of '{}' are no numbers: expected a load, or a resource with numbers",
                       name);
}

Result<void> check_names(const Attribute& attribute, const Value* before, const Value& value,
                         const CheckContext& context) {
    if (!names_things(attribute.syntax)) return {};
    const StringList old = before ? format_items(attribute, *before) : StringList{};
    for (const std::string& element : format_items(attribute, value)) {
        if (std::ranges::find(old, element) != old.end()) continue;
        // Columns count from the beginning of a rule's text, behind its name.
        const bool rule = attribute.is_keyed();
        const std::string what = rule ? fmt::format("{}.{}", attribute.name, quota_rule_name(element))
                                      : std::string(attribute.name);
        const std::string_view text = rule ? quota_rule_text(element) : std::string_view(element);
        for (const NamedThing& thing : names_in(attribute, element)) {
            const std::string wrong = wrong_name(attribute, thing, context);
            if (wrong.empty()) continue;
            if (!context.warnings)
                return fail(Code::bad_value, fmt::format("{}: bad value '{}': {}", what, text, wrong));
            context.warnings->push_back(fmt::format("{}: {}", what, wrong));
        }
        if (!rule) continue;
        if (const std::string wrong = mistake_in_rule(element, context.resources); !wrong.empty())
            return fail(Code::bad_value, fmt::format("{}: bad value '{}': {}", what, text, wrong));
    }
    return {};
}

Result<void> check_unnamed(const Draft& draft, NameKind kind, std::string_view name) {
    std::vector<std::string> users;
    for (ObjectType type : own_types()) {
        draft.for_each(type, [&](const Object& user) {
            for (const auto& [index, value] : user.values()) {
                const Attribute& attribute = attributes(type)[index];
                if (!names(attribute, value, kind, name)) continue;
                users.push_back(fmt::format("{} {} ({})", type_name(type), user.name(), attribute.name));
            }
        });
    }
    return refuse_users(kind == NameKind::queue ? "queue" : "resource", name, std::move(users));
}

namespace {

std::optional<values::ResourceKind> kind_in(std::string_view json) {
    static constexpr std::pair<std::string_view, values::ResourceKind> kTypes[] = {
        {"long", values::ResourceKind::integer},  {"float", values::ResourceKind::real},
        {"size", values::ResourceKind::size},     {"boolean", values::ResourceKind::boolean},
        {"string", values::ResourceKind::string}, {"string_array", values::ResourceKind::string_array}};
    const nlohmann::json read = text::parse_json(json);
    if (!read.is_object() || !read.contains("type")) return std::nullopt;
    const auto type = text::from_json(read["type"]);
    const auto* const found =
        std::ranges::find(kTypes, type.value_or(""), [](const auto& row) { return row.first; });
    return found == std::end(kTypes) ? std::nullopt : std::optional(found->second);
}

// Returns remarks on what is wrong in a value if the resource has this type.
std::vector<std::string> remarks(const Attribute& attribute, const Value& value, std::string_view resource,
                                 std::optional<values::ResourceKind> kind, const CheckContext& context) {
    if (attribute.syntax == Syntax::formula)
        return kind && values::is_text(*kind)
                   ? std::vector{fmt::format(
                         "{}: the values of '{}' are no numbers: expected resources with numbers",
                         attribute.name, resource)}
                   : std::vector<std::string>{};
    ResourceNames resources = context.resources;
    resources.add(resource, kind);
    std::vector<std::string> found;
    const CheckContext other{context.zone, resources,       context.now,     context.queues,
                             &found,       context.windows, context.patience};
    if (const Result<void> checked = check_names(attribute, nullptr, value, other); !checked)
        found.push_back(checked.error().message);
    return found;
}

}  // namespace

std::optional<values::ResourceKind> kind_after(const HostChange& resource) {
    return kind_in(resource.after);
}

Result<void> check_retyped(const Draft& draft, const HostChange& resource, const CheckContext& context) {
    const auto is = kind_after(resource);
    const auto told = kind_in(resource.before);
    const auto was = told ? told : context.resources.kind(resource.name);
    if (!is || is == was) return {};
    Result<void> checked;
    for (const ObjectType type : own_types()) {
        draft.for_each(type, [&](const Object& user) {
            for (const auto& [index, value] : user.values()) {
                const Attribute& attribute = attributes(type)[index];
                if (!checked || !names(attribute, value, NameKind::resource, resource.name)) continue;
                const auto before = remarks(attribute, value, resource.name, was, context);
                for (const std::string& remark : remarks(attribute, value, resource.name, is, context))
                    if (checked && std::ranges::find(before, remark) == before.end())
                        checked = fail(Code::busy,
                                       fmt::format("type: {} names the resource, and would be wrong: {}",
                                                   object_title(type, user.name()), remark));
            }
        });
    }
    return checked;
}

UsedNames::UsedNames(const Draft& draft) {
    const auto read = [&](const Object& user) {
        for (const auto& [index, value] : user.values()) {
            const Attribute& attribute = attributes(user.type())[index];
            if (attribute.syntax == Syntax::formula) formulas_.insert(std::get<std::string>(value));
            if (!names_things(attribute.syntax) && !attribute.refers_to) continue;
            for (const std::string& element : format_items(attribute, value)) {
                if (attribute.refers_to)
                    objects_[*attribute.refers_to].emplace(referred_name(attribute, element));
                for (NamedThing& thing : names_in(attribute, element))
                    (thing.kind == NameKind::queue ? queues_ : resources_).insert(std::move(thing.name));
            }
        }
    };
    for (const ObjectType type : kConfiguredTypes) draft.for_each(type, read);
}

bool UsedNames::refers_to(ObjectType type, std::string_view name) const {
    const auto of_type = objects_.find(type);
    return of_type != objects_.end() && of_type->second.contains(name);
}

bool UsedNames::names(NameKind kind, std::string_view name) const {
    if (kind == NameKind::queue) return queues_.contains(name);
    return resources_.contains(name) || std::ranges::any_of(formulas_, [&](const std::string& formula) {
               return formula_names(formula, name);
           });
}

}  // namespace pbs::objects
