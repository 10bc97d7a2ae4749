#include "ifl/attributes/attribute_table.h"

#include "ifl/pbs_ifl.h"

namespace pbs::ifl {
namespace {

const AttributeDef* find_in(std::span<const AttributeDef> rows, std::string_view name) {
    const auto row =
        std::ranges::find_if(rows, [&](const AttributeDef& def) { return same_name(def.name, name); });
    return row == rows.end() ? nullptr : &*row;
}

constexpr char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

const AttributeDef* AttributeTable::find(std::string_view name) const {
    return find_in(rows_, name);
}

const AttributeDef* AttributeTable::find_any(std::string_view name) const {
    return find_in(all_, name);
}

bool AttributeTable::is_openpbs_only(std::string_view name) const {
    const AttributeDef* row = find_any(name);
    return row != nullptr && row->has(openpbs_only);
}

const AttributeTable* attribute_table(int object_type) {
    switch (object_type) {
        case MGR_OBJ_SERVER:
            return &server_table();
        case MGR_OBJ_QUEUE:
            return &queue_table();
        case MGR_OBJ_JOB:
            return &job_table();
        case MGR_OBJ_RESV:
            return &reservation_table();
        case MGR_OBJ_NODE:
            return &node_table();
        case MGR_OBJ_RSC:
            return &resource_table();
        case MGR_OBJ_SCHED:
            return &sched_table();
        default:
            return nullptr;
    }
}

bool same_name(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace pbs::ifl
