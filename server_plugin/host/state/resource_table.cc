#include "server_plugin/host/state/resource_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ifl/attributes/built_in_resources.h"
#include "ifl/pbs_error.h"
#include "values/abridged.h"
#include "values/chunk_numbers.h"
#include "values/comparison.h"
#include "values/text.h"

namespace pbs::host {
namespace {

struct TypeName {
    std::string_view name;
    Type type;
};
constexpr std::array kTypeNames = {TypeName{"long", Type::integer}, TypeName{"float", Type::real},
                                   TypeName{"size", Type::size},    TypeName{"boolean", Type::boolean},
                                   TypeName{"string", Type::text},  TypeName{"string_array", Type::list}};

struct FlagLetter {
    char letter;
    uint32_t flag;
};
constexpr std::array kFlagLetters = {
    FlagLetter{'h', resource_host},      FlagLetter{'q', resource_queue_sum},
    FlagLetter{'n', resource_node_sum},  FlagLetter{'f', resource_first_node_sum},
    FlagLetter{'i', resource_invisible}, FlagLetter{'r', resource_read_only},
    FlagLetter{'m', resource_execution}};

Result<uint32_t> parse_flags(std::string_view text) {
    uint32_t flags = 0;
    for (char c : text) {
        uint32_t found = 0;
        for (const auto& known : kFlagLetters)
            if (known.letter == c) found = known.flag;
        if (found == 0)
            return fail(PBSE_BADATVAL,
                        fmt::format("Illegal resource flag \"{}\": expected some of hqnfirm", c));
        flags |= found;
    }
    // A resource that is summed at vnodes is summed at queues and the server, too, as in PBS.
    if ((flags & (resource_node_sum | resource_first_node_sum)) != 0) flags |= resource_queue_sum;
    return flags;
}

constexpr std::size_t kLongestName = 64;

bool legal_name(std::string_view name) {
    return !name.empty() && values::is_letter(name.front()) &&
           std::ranges::all_of(name, [](char c) { return values::is_alnum(c) || c == '_' || c == '-'; });
}

Result<void> consistent(const Resource& resource) {
    const bool node = (resource.flags & resource_node_sum) != 0;
    const bool first = (resource.flags & resource_first_node_sum) != 0;
    const bool host = (resource.flags & resource_host) != 0;
    if (node && first) return fail(PBSE_BADATVAL, "Resource flags n and f exclude each other");
    if ((node || first) && !host) return fail(PBSE_BADATVAL, "Erroneous to have flag 'n' or 'f' without 'h'");
    if ((resource.flags & resource_invisible) != 0 && (resource.flags & resource_read_only) != 0)
        return fail(PBSE_BADATVAL, "Erroneous to have both flags 'i' and 'r'");
    if ((resource.flags & resource_queue_sum) != 0 && !is_amount(resource.type))
        return fail(PBSE_BADATVAL,
                    fmt::format("Resource of type {} can not be consumable", resource.type_text()));
    return {};
}

Resource resource_of(const ifl::BuiltInResource& row) {
    Resource resource;
    resource.name = row.name;
    resource.type = row.type;
    resource.built_in = true;
    resource.for_policies = row.for_policies;
    for (char c : row.flags)
        for (const auto& known : kFlagLetters)
            if (known.letter == c) resource.flags |= known.flag;
    return resource;
}

}  // namespace

bool same_definition(const Resource& a, const Resource& b) {
    return a.type == b.type && a.flags == b.flags;
}

std::optional<Resource> resource_for_policies(std::string_view name) {
    const ifl::BuiltInResource* row = ifl::find_built_in_resource(name);
    return row != nullptr && row->for_policies ? std::optional(resource_of(*row)) : std::nullopt;
}

std::string note_for_policies(const Resource& resource) {
    const auto known = resource_for_policies(resource.name);
    if (!known) return {};
    // A flag r in addition doesn't matter to policies: only operators and managers may ask for the resource
    // then.
    Resource for_all = resource;
    if ((known->flags & resource_read_only) == 0) for_all.flags &= ~resource_read_only;
    if (same_definition(*known, for_all)) return {};
    return fmt::format("resource {} has {}: policies know it with {}", resource.name,
                       resource.definition_text(), known->definition_text());
}

std::string Resource::flag_text() const {
    std::string text;
    for (const auto& known : kFlagLetters)
        if ((flags & known.flag) != 0) text += known.letter;
    return text;
}

std::string Resource::definition_text() const {
    return fmt::format("type {}, {}", type_text(), flags == 0 ? "no flag" : "flag " + flag_text());
}

std::string_view Resource::type_text() const {
    const Type shown = type == Type::duration ? Type::integer : type;
    for (const auto& known : kTypeNames)
        if (known.type == shown) return known.name;
    return "string";
}

namespace {

Result<void> illegal(const Resource& resource, std::string_view value, std::string_view expected) {
    return fail(PBSE_BADATVAL, fmt::format("Illegal value \"{}\" for {}: expected {}",
                                           values::abridged(value, 200), resource.name, expected));
}

// Returns whether the text is a time of the form [[[[CC]YY]MM]DD]hhmm[.SS]. The scheduler, which knows the
// time zone, may still find that there is no such day.
bool is_time(std::string_view text) {
    std::string_view digits = text.substr(0, text.find('.'));
    const std::string_view seconds = digits.size() == text.size() ? "00" : text.substr(digits.size() + 1);
    if (digits.size() < 4 || digits.size() > 12 || digits.size() % 2 != 0 || seconds.size() != 2)
        return false;
    if (!std::ranges::all_of(digits, values::is_digit) || !std::ranges::all_of(seconds, values::is_digit))
        return false;
    const auto last_two = [&] {
        const int number = (digits[digits.size() - 2] - '0') * 10 + (digits.back() - '0');
        digits.remove_suffix(2);
        return number;
    };
    if (seconds > "59" || last_two() > 59 || last_two() > 23) return false;
    if (digits.empty()) return true;
    const int day = last_two();
    const int month = digits.empty() ? 1 : last_two();
    return day >= 1 && day <= 31 && month >= 1 && month <= 12;
}

// Returns whether each part of a `prefer` has a name, a sign and a value.
bool is_preference(std::string_view text) {
    constexpr size_t kMost = 20;
    const auto parts = values::split(text, '+');
    return parts.size() <= kMost && std::ranges::all_of(parts, [](std::string_view part) {
               const size_t at = part.find_first_of("!<>=");
               if (at == 0 || at == std::string_view::npos) return false;
               part.remove_prefix(at);
               return values::take_comparison(part) && !part.empty();
           });
}

}  // namespace

Result<void> check_request(const Resource& resource, std::string_view value) {
    if (resource.name == "deadline" && resource.type == Type::text && !value.empty() && !is_time(value))
        return illegal(resource, value, "a time, [[[[CC]YY]MM]DD]hhmm[.SS]");
    if (!is_amount(resource.type) || resource.name == "nice") return {};
    const int64_t least = resource.name == "per_host" ? 1 : 0;
    if (amount_of(resource.type, value) >= least) return {};
    return illegal(resource, value, fmt::format("{} or more", least));
}

Result<void> check_default(const Resource& resource, std::string_view value) {
    if (resource.type == Type::text && !value.empty()) {
        if (resource.name == "select_range" && !values::parse_chunk_numbers(value))
            return illegal(resource, value, values::kChunkNumbersForm);
        if (resource.name == "chunk_order" && value != "fill" && value != "round_robin")
            return illegal(resource, value, "fill or round_robin");
        if (resource.name == "prefer" && !is_preference(value))
            return illegal(resource, value,
                           "at most 20 with + between, each RESOURCE=VALUE, or with one of != < <= > >=");
    }
    return check_request(resource, value);
}

ResourceTable::ResourceTable(const ResourceTable& other) : by_id_(other.by_id_.size()) {
    for (const auto& [name, resource] : other.by_name_)
        by_id_[resource->id] = (by_name_[name] = std::make_unique<Resource>(*resource)).get();
}

ResourceTable::ResourceTable() {
    for (const ifl::BuiltInResource& row : ifl::built_in_resources()) insert(resource_of(row));
}

const Resource* ResourceTable::insert(Resource resource) {
    resource.id = static_cast<uint32_t>(by_id_.size());
    auto owned = std::make_unique<Resource>(std::move(resource));
    Resource* added = owned.get();
    by_id_.push_back(added);
    by_name_[values::lowered(added->name)] = std::move(owned);
    return added;
}

const Resource* ResourceTable::replace(Resource& there, Resource by) {
    by.id = there.id;
    by.for_policies = there.for_policies;
    there = std::move(by);
    return &there;
}

const Resource* ResourceTable::find(std::string_view name) const {
    auto at = by_name_.find(name);
    if (at == by_name_.end()) at = by_name_.find(values::lowered(name));
    return at == by_name_.end() ? nullptr : at->second.get();
}

const Resource* ResourceTable::by_id(uint32_t id) const {
    return id < by_id_.size() ? by_id_[id] : nullptr;
}

Result<Resource> ResourceTable::check(std::string_view name, std::string_view type_text,
                                      std::string_view flag_text) const {
    Resource resource;
    if (name.size() > kLongestName)
        return fail(PBSE_BADATVAL,
                    fmt::format("Resource name is too long: {} characters, at most {} are allowed",
                                name.size(), kLongestName));
    if (!legal_name(name))
        return fail(
            PBSE_BADATVAL,
            fmt::format("Illegal resource name \"{}\": expected a letter, then letters, digits, _ or -",
                        name));
    resource.name = name;
    bool known = type_text.empty();
    for (const auto& row : kTypeNames) {
        if (row.name != type_text) continue;
        resource.type = row.type;
        known = true;
    }
    if (!known)
        return fail(
            PBSE_BADATVAL,
            fmt::format(
                "Illegal resource type \"{}\": expected long, float, size, boolean, string or string_array",
                type_text));
    auto flags = parse_flags(flag_text);
    if (!flags) return tl::unexpected(flags.error());
    resource.flags = *flags;
    if (auto ok = consistent(resource); !ok) return tl::unexpected(ok.error());
    return resource;
}

Result<const Resource*> ResourceTable::add(std::string_view name, std::string_view type_text,
                                           std::string_view flag_text) {
    auto resource = check(name, type_text, flag_text);
    if (!resource) return tl::unexpected(resource.error());
    const auto at = by_name_.find(values::lowered(name));
    if (at == by_name_.end()) return insert(std::move(*resource));
    if (!at->second->built_in || !at->second->for_policies)
        return fail(PBSE_DUPLIST, fmt::format("Duplicate entry in list \"{}\"", name));
    return replace(*at->second, std::move(*resource));
}

Result<const Resource*> ResourceTable::change(const Resource& changed) {
    auto at = by_name_.find(values::lowered(changed.name));
    if (at == by_name_.end()) return fail(PBSE_UNKRESC, fmt::format("Unknown resource: {}", changed.name));
    if (at->second->built_in && !at->second->for_policies)
        return fail(PBSE_ATTRRO, fmt::format("Resource {} is built in", changed.name));
    at->second->type = changed.type;
    at->second->flags = changed.flags;
    at->second->built_in = false;
    return at->second.get();
}

Result<void> ResourceTable::remove(std::string_view name) {
    auto at = by_name_.find(values::lowered(name));
    if (at == by_name_.end()) return fail(PBSE_UNKRESC, fmt::format("Unknown resource: {}", name));
    if (at->second->built_in) return fail(PBSE_ATTRRO, fmt::format("Resource {} is built in", name));
    if (auto before = resource_for_policies(name)) {
        replace(*at->second, std::move(*before));
        return {};
    }
    by_id_[at->second->id] = nullptr;
    by_name_.erase(at);
    return {};
}

std::vector<const Resource*> ResourceTable::all() const {
    std::vector<const Resource*> out;
    for (const Resource* resource : by_id_)
        if (resource != nullptr) out.push_back(resource);
    return out;
}

}  // namespace pbs::host
