#include "tools/simulate/entries.h"

#include <fmt/format.h>

namespace pbs::simulate {

void count_reason(std::map<std::string, std::int64_t>& reasons, std::string_view reason) {
    constexpr std::size_t kMostReasons = 1000;
    const auto found = reasons.find(std::string(reason));
    if (found != reasons.end() || reasons.size() < kMostReasons)
        ++reasons[std::string(reason)];
    else
        ++reasons["other reasons"];
}

Entries::Entries(const Trace& trace, const Cluster& cluster) : trace_(trace), cluster_(cluster) {
    for (const std::string& name : trace.queues.all()) queues_.push_back(cluster.entry(name));
    elsewhere_.resize(queues_.size());
}

const Cluster::Queue* Entries::of(const TraceJob& job, Schedule& run) {
    const std::string& name = trace_.queues[job.queue];
    const Cluster::Queue*& queue = queues_[job.queue];
    if (queue != nullptr && !elsewhere_[job.queue]) return queue;
    queue = cluster_.entry({});
    if (queue == nullptr) {
        count_reason(run.refused, name.empty()
                                      ? std::string("there is no default queue")
                                      : fmt::format("there is no queue {}, and no default queue", name));
        return nullptr;
    }
    elsewhere_[job.queue] = true;
    count_reason(run.elsewhere, name);
    return queue;
}

}  // namespace pbs::simulate
