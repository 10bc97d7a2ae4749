#include "objects/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "objects/attribute_tables.h"
#include "objects/syntax_rows.h"
#include "values/text.h"

namespace pbs::objects {
namespace {

struct Table {
    ObjectType type;
    std::span<const Attribute> (*rows)();
};

constexpr Table kTables[] = {
    {ObjectType::server, server_attributes},
    {ObjectType::queue, queue_attributes},
    {ObjectType::sched, sched_attributes},
    {ObjectType::policy, policy_attributes},
    {ObjectType::time_window, time_window_attributes},
    {ObjectType::fs_group, fs_group_attributes},
    {ObjectType::quota, quota_attributes},
};

}  // namespace

std::span<const Attribute> attributes(ObjectType type) {
    const auto* table = std::ranges::find(kTables, type, &Table::type);
    return table == std::end(kTables) ? std::span<const Attribute>{} : table->rows();
}

const Attribute* find_attribute(ObjectType type, std::string_view name) {
    if (name.empty()) return nullptr;
    for (const Attribute& attribute : attributes(type)) {
        if (values::same_word(attribute.name, name) || values::same_word(attribute.alias, name))
            return &attribute;
    }
    return nullptr;
}

std::size_t attribute_index(ObjectType type, const Attribute& attribute) {
    return static_cast<std::size_t>(&attribute - attributes(type).data());
}

std::optional<ObjectType> type_from_word(std::string_view word) {
    const values::ObjectTypeRow* row = values::type_meant(word);
    return row == nullptr ? std::nullopt : std::optional(row->type);
}

std::string object_title(ObjectType type, std::string_view name) {
    return name.empty() ? std::string(type_name(type)) : fmt::format("{} {}", type_name(type), name);
}

std::string_view type_text(AttributeType type) {
    // in the order of AttributeType
    static constexpr std::array kTexts = {"Boolean",      "Boolean or date", "integer", "float",
                                          "size",         "duration",        "time",    "string",
                                          "string_array", "fs_group"};
    static_assert(kTexts.size() == static_cast<std::size_t>(kLastType) + 1);
    return kTexts[static_cast<std::size_t>(type)];
}

std::string expected_text(const Attribute& attribute) {
    const std::string_view form = row_of(attribute.syntax).expected;
    switch (attribute.syntax) {
        case Syntax::integer:
        case Syntax::percentage:
        case Syntax::real:
            return fmt::format("{} from {} to {:.0f}", form, attribute.minimum,
                               attribute.name == "max_range_chunks" ? static_cast<double>(kMostRangeChunks)
                                                                    : attribute.maximum);
        case Syntax::object_name:
        case Syntax::object_names:
            return fmt::format(fmt::runtime(form),
                               type_name(attribute.refers_to.value_or(ObjectType::policy)));
        case Syntax::word:
        case Syntax::place_sort_keys:
        case Syntax::word_weights:
            return fmt::format(fmt::runtime(form), fmt::join(attribute.words, ", "));
        default:
            return std::string(form);
    }
}

}  // namespace pbs::objects
