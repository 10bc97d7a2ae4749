#include "cluster/limits.h"

#include <utility>

namespace pbs::cluster {
namespace {

void add(Limits& limits, ifl::EntityLimit limit, const ifl::AttributeView& attribute) {
    limits.entities.push_back(
        {std::move(limit), std::string(attribute.resource), attribute.name.ends_with("_soft")});
}

// Reads limits on entities. Ignores an unreadable value, since no server accepts one.
void read_entities(Limits& limits, const ifl::AttributeView& attribute) {
    for (ifl::EntityLimit& limit :
         ifl::parse_entity_limits(attribute.value).value_or(std::vector<ifl::EntityLimit>()))
        add(limits, std::move(limit), attribute);
}

void read_each(Limits& limits, const ifl::AttributeView& attribute) {
    const char kind = attribute.name.starts_with("max_user_") ? 'u' : 'g';
    add(limits, {kind, std::string(ifl::kGenericEntity), std::string(attribute.value)}, attribute);
}

constexpr Field<Limits> kLimitFields[] = {
    {"max_group_res", read_each},
    {"max_group_res_soft", read_each},
    {"max_group_run", read_number<&Limits::max_group_run>},
    {"max_group_run_soft", read_each},
    {"max_run", read_entities},
    {"max_run_res", read_entities},
    {"max_run_res_soft", read_entities},
    {"max_run_soft", read_entities},
    {"max_running", read_number<&Limits::max_running>},
    {"max_user_res", read_each},
    {"max_user_res_soft", read_each},
    {"max_user_run", read_number<&Limits::max_user_run>},
    {"max_user_run_soft", read_each},
    {"resources_available", read_list<&Limits::resources_available>},
    {"resources_max", read_list<&Limits::resources_max>},
    {"resources_min", read_list<&Limits::resources_min>},
};
static_assert(std::ranges::is_sorted(kLimitFields, {}, &Field<Limits>::name));

}  // namespace

std::span<const Field<Limits>> limit_fields() {
    return kLimitFields;
}

}  // namespace pbs::cluster
