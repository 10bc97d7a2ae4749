// The smaller job in nodes (ssinodes) first.

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {
namespace {

std::uint64_t number_nodes(const OrderContext&, const OrderedJob& job, std::uint32_t) {
    return job.nodes;
}

}  // namespace

extern const Comparator kNodesOrder;
const Comparator kNodesOrder{"nodes", "ssinode_cpus, ssinode_mem", 32, number_nodes};

}  // namespace pbs::sched
