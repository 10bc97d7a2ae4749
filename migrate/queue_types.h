// When the queues of an older server ran, by their names' beginnings: execution_type (PP-748, interface 1:
// "during upgrades all the prime/non-prime/dedicated time queues will have their execution_type attribute
// modified").
//
// The queues are the server's, not the store's. So a migration leaves what it wants of them beside the
// objects (Store::meta, kQueueTypesKey), a line for each queue with three fields parted by tabs, queue, from
// and to; the server does it before its first cycle, for each queue whose execution_type is still `from`.
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

// What a queue's name, or the older server's own execution_type, says, and where.
struct FoundQueueType {
    std::string queue;
    std::string type;
    std::string source;  // "sched_config:12 primetime_prefix"
};

// The queues of the server and of the print that run at one time only, in the order of their names. Either
// file may be null.
std::vector<FoundQueueType> find_queue_types(const SchedConfig* config, const QmgrPrint* print,
                                             const Surroundings& server);

// The key of Store::meta.
inline constexpr std::string_view kQueueTypesKey = "queue_types";

std::string to_text(const std::vector<QueueType>& types);
std::vector<QueueType> queue_types_from_text(std::string_view text);
// What is left to do once `more` is added: a later line for a queue goes on from an earlier one.
std::vector<QueueType> merged(std::vector<QueueType> pending, const std::vector<QueueType>& more);

}  // namespace pbs::migrate
