#include "server_plugin/host/state/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ifl/pbs_error.h"
#include "server_plugin/host/state/limits.h"
#include "text/variable_list.h"

namespace pbs::host {
namespace {

bool before(const AttributeValue& value, const AttributeDef* def, std::string_view resource) {
    if (value.def() != def) return value.def() < def;
    return value.resource() < resource;
}

Result<std::string> combined_amount(Type type, std::string_view current, std::string_view operand,
                                    ifl::Op op) {
    const int64_t a = amount_of(type, current);
    const int64_t b = amount_of(type, operand);
    int64_t total = 0;
    const bool overflow =
        op == ifl::Op::incr ? __builtin_add_overflow(a, b, &total) : __builtin_sub_overflow(a, b, &total);
    if (overflow || (type != Type::integer && type != Type::real && total < 0))
        return fail(PBSE_BADATVAL, fmt::format("Illegal value \"{}\": the result is out of range", operand));
    return amount_text(type, total);
}

Result<std::string> combined_list(Type type, std::string_view current, std::string_view operand, ifl::Op op) {
    std::vector<std::string> entries = split_list(current);
    for (std::string& entry : split_list(operand)) {
        const auto at = std::find(entries.begin(), entries.end(), entry);
        if (op == ifl::Op::decr) {
            if (at != entries.end()) entries.erase(at);
        } else if (at == entries.end()) {
            entries.push_back(std::move(entry));
        } else if (type == Type::acl) {
            return fail(PBSE_DUPLIST, fmt::format("Duplicate entry in list \"{}\"", entry));
        }
    }
    return join_list(entries);
}

// Changes a list of variables. Adding NAME=value replaces the value of NAME. Subtracting NAME=value removes
// NAME only if it has this value.
std::string combined_environment(std::string_view current, std::string_view operand, ifl::Op op) {
    auto variables = text::parse_variables(current);
    for (text::Variable& variable : text::parse_variables(operand)) {
        std::erase_if(variables, [&](const text::Variable& old) {
            return old.first == variable.first && (op != ifl::Op::decr || old.second == variable.second);
        });
        if (op != ifl::Op::decr) variables.push_back(std::move(variable));
    }
    return text::variable_list(variables);
}

std::string combined_hold(std::string_view current, std::string_view operand, ifl::Op op) {
    std::string out;
    for (char type : std::string_view("uosp")) {
        const bool held = current.find(type) != std::string_view::npos;
        const bool named = operand.find(type) != std::string_view::npos;
        if (op == ifl::Op::incr ? held || named : held && !named) out += type;
    }
    return out.empty() ? "n" : out;
}

Result<std::string> combined(Type type, std::string_view current, std::string_view operand, ifl::Op op) {
    switch (type) {
        case Type::list:
        case Type::acl:
            return combined_list(type, current, operand, op);
        case Type::environment:
            return combined_environment(current, operand, op);
        case Type::hold:
            return combined_hold(current, operand, op);
        case Type::text:
            if (op == ifl::Op::incr) return std::string(current) + std::string(operand);
            if (current.ends_with(operand)) current.remove_suffix(operand.size());
            return std::string(current);
        case Type::boolean:
            return fail(PBSE_BADATVAL, "A boolean can only be set with =");
        default:
            return combined_amount(type, current, operand, op);
    }
}

}  // namespace

const AttributeValue* Attributes::find(std::string_view name, std::string_view resource) const {
    for (const AttributeValue& value : values_)
        if (value.def()->name == name && value.resource() == resource) return &value;
    return nullptr;
}

bool Attributes::has(std::string_view name, std::string_view resource) const {
    return find(name, resource) != nullptr;
}

std::string_view Attributes::text(std::string_view name, std::string_view resource) const {
    const AttributeValue* value = find(name, resource);
    return value == nullptr ? std::string_view() : value->value();
}

bool Attributes::boolean(std::string_view name, bool otherwise) const {
    const AttributeValue* value = find(name);
    return value == nullptr ? otherwise : value->value() == "True";
}

int64_t Attributes::integer(std::string_view name, int64_t otherwise) const {
    const AttributeValue* value = find(name);
    return value == nullptr ? otherwise : amount_of(value->def()->type, value->value());
}

std::vector<std::string> Attributes::list(std::string_view name) const {
    return split_list(text(name));
}

std::span<const AttributeValue> Attributes::all_of(std::string_view name) const {
    size_t first = 0;
    while (first < values_.size() && values_[first].def()->name != name) ++first;
    size_t last = first;
    while (last < values_.size() && values_[last].def()->name == name) ++last;
    return std::span(values_).subspan(first, last - first);
}

std::span<const AttributeValue> Attributes::all_of(const AttributeDef& def) const {
    const auto first = std::partition_point(values_.begin(), values_.end(),
                                            [&](const AttributeValue& have) { return have.def() < &def; });
    auto last = first;
    while (last != values_.end() && last->def() == &def) ++last;
    return {first, last};
}

void Attributes::put(AttributeValue value) {
    const auto precedes = [&](const AttributeValue& have) {
        return before(have, value.def(), value.resource());
    };
    // Values that are read from the database mostly come in order.
    const bool is_last = values_.empty() || precedes(values_.back());
    const auto at = is_last ? values_.end() : std::partition_point(values_.begin(), values_.end(), precedes);
    if (at != values_.end() && at->def() == value.def() && at->resource() == value.resource()) {
        *at = std::move(value);
        return;
    }
    const auto position = at - values_.begin();
    // Grow by two values only. By itself the vector would double its memory, which is too much for very many
    // jobs.
    if (values_.size() == values_.capacity()) values_.reserve(values_.size() + 2);
    values_.insert(values_.begin() + position, std::move(value));
}

void Attributes::set(const AttributeDef& def, std::string_view resource, std::string_view value) {
    put(AttributeValue(def, resource, value));
}

bool Attributes::unset(const AttributeDef& def, std::string_view resource) {
    return std::erase_if(values_, [&](const AttributeValue& value) {
               return value.def() == &def && (resource.empty() || value.resource() == resource);
           }) > 0;
}

void Attributes::fit(size_t spare) {
    if (values_.capacity() == values_.size() + spare) return;
    std::vector<AttributeValue> fitting;
    fitting.reserve(values_.size() + spare);
    std::ranges::move(values_, std::back_inserter(fitting));
    values_ = std::move(fitting);
}

void Attributes::shrink(SharedTexts& texts, size_t spare) {
    fit(spare);
    for (AttributeValue& value : values_) value.share(texts);
}

bool Attributes::operator==(const Attributes& other) const {
    return std::ranges::equal(values_, other.values_);
}

namespace {

Result<void> change_limits(Attributes& attributes, const AttributeDef& def, const AttributeChange& change,
                           const ResourceTable& resources) {
    Type type = Type::integer;
    std::string resource;
    const bool unsets = change.op == ifl::Op::unset || (change.op == ifl::Op::set && change.value.empty());
    if (def.type == Type::resource_limits && !(unsets && change.resource.empty())) {
        const Resource* known = resources.find(change.resource);
        if (known == nullptr)
            return fail(PBSE_UNKRESC,
                        change.resource.empty()
                            ? fmt::format("{} needs a resource name, as in {}.ncpus", def.name, def.name)
                            : fmt::format("Unknown resource: {}", change.resource));
        if (!is_amount(known->type))
            return fail(PBSE_INVALJOBRESC,
                        fmt::format("{} can't limit {}: it isn't an amount", def.name, known->name));
        type = known->type;
        resource = known->name;
    } else if (def.type == Type::limits && !change.resource.empty()) {
        return fail(PBSE_NOATTR,
                    fmt::format("{} is not a resource list: {}.{}", def.name, def.name, change.resource));
    }
    if (unsets) {
        attributes.unset(def, resource);
        return {};
    }
    auto value = changed_limits(type, attributes.text(def.name, resource), change.value, change.op);
    if (!value)
        return fail(value.error().code, fmt::format("{} for {}{}{}", value.error().message, def.name,
                                                    resource.empty() ? "" : ".", resource));
    if (value->empty())
        attributes.unset(def, resource);
    else
        attributes.set(def, resource, *value);
    return {};
}

}  // namespace

Result<void> apply_change(Attributes& attributes, const AttributeDef& def, const AttributeChange& change,
                          const ResourceTable& resources) {
    if (def.type == Type::limits || def.type == Type::resource_limits)
        return change_limits(attributes, def, change, resources);
    Type type = def.type;
    std::string resource;
    if (type == Type::resources) {
        if (change.resource.empty()) {
            if (change.op != ifl::Op::unset && !change.value.empty())
                return fail(PBSE_BADATVAL,
                            fmt::format("{} needs a resource name, as in {}.ncpus", def.name, def.name));
            attributes.unset(def, {});
            return {};
        }
        const Resource* known = resources.find(change.resource);
        if (known == nullptr) return fail(PBSE_UNKRESC, fmt::format("Unknown resource: {}", change.resource));
        type = known->type;
        resource = known->name;
    } else if (!change.resource.empty()) {
        return fail(PBSE_NOATTR,
                    fmt::format("{} is not a resource list: {}.{}", def.name, def.name, change.resource));
    }
    if (change.op == ifl::Op::unset || (change.op == ifl::Op::set && change.value.empty())) {
        attributes.unset(def, resource);
        return {};
    }
    auto value = canonical(type, change.value);
    if (!value)
        return fail(value.error().code, fmt::format("{} for {}{}{}", value.error().message, def.name,
                                                    resource.empty() ? "" : ".", resource));
    const AttributeValue* current = attributes.find(def.name, resource);
    if (change.op != ifl::Op::set && current != nullptr) {
        value = combined(type, current->value(), *value, change.op);
        if (!value) return tl::unexpected(value.error());
    } else if (change.op == ifl::Op::decr) {
        if (!is_amount(type)) return {};
        value = combined_amount(type, "0", *value, change.op);
        if (!value) return tl::unexpected(value.error());
    }
    const bool emptied =
        value->empty() && (type == Type::list || type == Type::acl || type == Type::environment);
    if (emptied) {
        attributes.unset(def, resource);
    } else {
        attributes.set(def, resource, *value);
    }
    return {};
}

Type type_of(const AttributeValue& value, const ResourceTable& resources) {
    if (value.def()->type != Type::resources) return value.def()->type;
    const Resource* resource = resources.find(value.resource());
    return resource == nullptr ? Type::text : resource->type;
}

}  // namespace pbs::host
