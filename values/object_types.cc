#include "values/object_types.h"

#include <vector>

#include "values/text.h"

namespace pbs::values {

const ObjectTypeRow* type_meant(std::string_view word) {
    const auto begins = [word](std::string_view whole) {
        return word.size() <= whole.size() && same_word(whole.substr(0, word.size()), word);
    };
    if (word.empty()) return nullptr;
    const auto* row = std::ranges::find_if(
        kObjectTypes, [&](const ObjectTypeRow& type) { return begins(type.name) || begins(type.plural); });
    return row == kObjectTypes.end() ? nullptr : row;
}

std::span<const ObjectType> own_types() {
    static const std::vector<ObjectType> own = [] {
        std::vector<ObjectType> found;
        for (const ObjectTypeRow& row : kObjectTypes)
            if (row.own) found.push_back(row.type);
        return found;
    }();
    return own;
}

std::string type_list(bool ObjectTypeRow::*only) {
    std::vector<std::string_view> names;
    for (const ObjectTypeRow& row : kObjectTypes)
        if (only == nullptr || row.*only) names.push_back(row.name);
    std::string text;
    for (const std::string_view name : names) {
        if (!text.empty()) text += name == names.back() ? " or " : ", ";
        text += name;
    }
    return text;
}

}  // namespace pbs::values
