// Checks the roles of queues in a policy of the Origin scheduler, of which some exclude each other.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pbs::objects {

// A queue with two roles that exclude each other: both attributes name it.
struct QueueClash {
    std::string_view attribute;
    std::string_view other;
    std::string queue;
};

// Finds the first queue with two roles that exclude each other. `queues` returns the queues that an attribute
// of the policy names. The submit queue can't also be the special queue, a batch queue or a dedicated one;
// the special queue and dedicated queues can't be batch queues.
std::optional<QueueClash> clashing_queues(
    const std::function<std::vector<std::string>(std::string_view attribute)>& queues);

}  // namespace pbs::objects
