#include "objects/queue_roles.h"

#include <algorithm>
#include <utility>

namespace pbs::objects {

std::optional<QueueClash> clashing_queues(
    const std::function<std::vector<std::string>(std::string_view attribute)>& queues) {
    constexpr std::pair<std::string_view, std::string_view> kExclude[] = {
        {"submit_queue", "special_queue"},    {"submit_queue", "batch_queues"},
        {"submit_queue", "dedicated_queues"}, {"special_queue", "batch_queues"},
        {"dedicated_queues", "batch_queues"},
    };
    for (const auto& [attribute, other] : kExclude) {
        const std::vector<std::string> others = queues(other);
        for (std::string& queue : queues(attribute))
            if (std::ranges::find(others, queue) != others.end())
                return QueueClash{attribute, other, std::move(queue)};
    }
    return std::nullopt;
}

}  // namespace pbs::objects
