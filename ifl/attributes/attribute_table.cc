#include "ifl/attributes/attribute_table.h"

#include "ifl/pbs_ifl.h"
#include "values/text.h"

namespace pbs::ifl {

const AttributeDef* AttributeTable::find(std::string_view name) const {
    const AttributeDef* row = find_any(name);
    return row != nullptr && row < rows_.data() + rows_.size() ? row : nullptr;
}

const AttributeDef* AttributeTable::find_any(std::string_view name) const {
    for (std::size_t slot = hash(name);; ++slot) {
        const std::uint16_t row = slots_[slot % kSlots];
        if (row == 0) return nullptr;
        if (same_name(all_[row - 1].name, name)) return &all_[row - 1];
    }
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
    return std::ranges::equal(a, b, {}, values::lower, values::lower);
}

}  // namespace pbs::ifl
