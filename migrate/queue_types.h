// Finds the execution_type for queues of an older server, where a prefix of a queue's name said whether the
// queue ran in prime, non-prime or dedicated time (PP-748, interface 1: "during upgrades all the
// prime/non-prime/dedicated time queues will have their execution_type attribute modified").
//
// Queues belong to the server and not to the policy store. So a migration leaves the changes of queues beside
// the objects (Store::meta, kQueueTypesKey), a line for each queue with the fields queue, from and to,
// separated by tabs. The server makes the changes before its first cycle, for each queue whose execution_type
// is still `from`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pbs::migrate {

struct SchedConfig;
struct QmgrPrint;
struct Surroundings;

struct QueueType {
    std::string queue;
    std::string from;  // execution_prime, execution_non_prime, execution_dedicated; empty: any time
    std::string to;
    friend bool operator==(const QueueType&, const QueueType&) = default;
};

// The execution_type of a queue, which the queue's name or the older server gives, and where that was found.
struct FoundQueueType {
    std::string queue;
    std::string type;
    std::string source;  // "sched_config:12 primetime_prefix"
};

// Finds the queues of the server and of the print that run at certain times only, sorted by name. `config`
// and `print` may be null.
std::vector<FoundQueueType> find_queue_types(const SchedConfig* config, const QmgrPrint* print,
                                             const Surroundings& server);

// Key of Store::meta for the changes that the server has to make.
inline constexpr std::string_view kQueueTypesKey = "queue_types";

std::string to_text(const std::vector<QueueType>& types);
std::vector<QueueType> queue_types_from_text(std::string_view text);
// Adds `more` to the pending changes. Two changes of a queue become one, from the first's `from` to the
// second's `to`.
std::vector<QueueType> merged(std::vector<QueueType> pending, const std::vector<QueueType>& more);

}  // namespace pbs::migrate
