// Reads the queues of a server from their attributes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/limits.h"

namespace pbs::cluster {

struct Queue {
    bool execution = false;
    bool route = false;
    bool started = false;
    bool enabled = false;
    bool user_acl = false;  // acl_user_enable
    std::int32_t priority = 0;
    std::int64_t backfill_depth = -1;  // -1: not set
    std::string partition;
    std::string node_group_key;
    std::vector<std::string> acl_users;
    Limits limits;
    // One of enum pbs_execution_type. queue_of() doesn't read it, since OpenPBS has no such attribute: hosts
    // set it.
    std::int32_t execution_type = 0;
    bool operator==(const Queue&) const = default;
};

Queue queue_of(AttributeViews attributes);
// The attributes that a status request has to name for queue_of().
ifl::Attributes queue_attributes();

}  // namespace pbs::cluster
