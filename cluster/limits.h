// Limits of the server or of a queue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/fields.h"
#include "ifl/attributes/entity_limits.h"

namespace pbs::cluster {

// The limits of a server or a queue; -1: not set.
struct Limits {
    std::int64_t max_running = -1;
    std::int64_t max_user_run = -1;
    std::int64_t max_group_run = -1;
    ResourceList resources_max;
    ResourceList resources_min;
    ResourceList resources_available;
    // A limit for users, groups or projects, in the newer spelling, such as max_run=[u:ann=3], or in the
    // older one for each user or group, such as max_user_res.
    struct Entity {
        ifl::EntityLimit limit;
        std::string resource;  // empty: the number of jobs
        bool soft = false;
        bool operator==(const Entity&) const = default;
    };
    std::vector<Entity> entities{};
    bool operator==(const Limits&) const = default;
};

// The attributes of limits and how each is read, in the order of their names.
std::span<const Field<Limits>> limit_fields();

}  // namespace pbs::cluster
