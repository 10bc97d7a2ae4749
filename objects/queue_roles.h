// The roles of queues in a policy of the Origin scheduler. Some roles exclude each other.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pbs::objects {

// A queue that is in two attributes that exclude each other.
struct QueueClash {
    std::string_view attribute;
    std::string_view other;
    std::string queue;
};

// Finds the first queue with two roles that exclude each other. `queues` returns the queues that an attribute
// of the policy names. The submit queue is neither the special queue, nor a batch queue, nor a dedicated one;
// the special and dedicated queues aren't batch queues.
std::optional<QueueClash> clashing_queues(
    const std::function<std::vector<std::string>(std::string_view attribute)>& queues);

}  // namespace pbs::objects
