#include "server_plugin/scheduler/pending/job_size.h"

namespace pbs::sched {

namespace {

std::int64_t least_need(const Request& request, std::uint32_t resource) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Chunk& chunk : request.chunks) {
        std::int64_t need = 0;
        for (const Need& n : chunk.needs)
            if (n.resource == resource) need += n.amount;
        least = std::min(least, need);
    }
    return request.chunks.empty() ? 0 : least;
}

}  // namespace

LeastNeeds least_needs(const Request& request, const Resources& resources) {
    const auto& known = resources.known();
    return {narrow(least_need(request, known.ncpus)), megabytes(least_need(request, known.mem))};
}

bool is_told_by_size(const Request& request, const Resources& resources) {
    if (request.chunks.size() != 1 || request.sharing >= AskedSharing::excl || !request.unsupported.empty() ||
        request.arrangement == Arrangement::vscatter)
        return false;
    const Chunk& chunk = request.chunks.front();
    const auto& known = resources.known();
    return chunk.count == 1 && chunk.matches.empty() &&
           std::ranges::all_of(chunk.needs, [&](const Need& need) {
               return need.resource == known.ncpus || need.resource == known.mem;
           });
}

JobSize left_of(std::span<const KeptAmount> available, std::span<const values::Sum> in_use,
                const Resources& resources) {
    JobSize left = kAnySize;
    const auto& known = resources.known();
    for (std::size_t i = 0; i < available.size(); ++i) {
        const std::int64_t free = free_at_least((values::Sum(available[i].number) - in_use[i]).value());
        if (available[i].resource == known.ncpus) left.ncpus = narrow(free);
        if (available[i].resource == known.mem) left.mem = megabytes(free);
    }
    return left;
}

}  // namespace pbs::sched
