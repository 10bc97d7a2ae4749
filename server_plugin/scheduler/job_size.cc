#include "server_plugin/scheduler/job_size.h"

namespace pbs::sched {

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

JobSize job_size(const OrderedJob& job, const JobTable& jobs, const Requests& requests,
                 const Resources& resources) {
    const Request& request = requests[jobs.request[job.job]];
    const auto& known = resources.known();
    return {narrow(job.nodes), narrow(std::max<std::int64_t>(0, jobs.walltime[job.job].count())),
            narrow(least_need(request, known.ncpus)), megabytes(least_need(request, known.mem))};
}

bool is_told_by_size(const Request& request, const Resources& resources) {
    if (request.chunks.size() != 1 || request.exclusive || !request.unsupported.empty() ||
        request.arrangement == Arrangement::vscatter)
        return false;
    const Chunk& chunk = request.chunks.front();
    const auto& known = resources.known();
    return chunk.count == 1 && chunk.matches.empty() &&
           std::ranges::all_of(chunk.needs, [&](const Need& need) {
               return need.resource == known.ncpus || need.resource == known.mem;
           });
}

SizeLimit room_on(std::span<const VnodeSlot> vnodes, const Vnodes& all, const Resources& resources,
                  Chunks chunks) {
    SizeLimit limit{{no_limit, no_limit, -1, -1}, 0, -1};
    const auto& known = resources.known();
    const Vnode* last = nullptr;
    for (const VnodeSlot vnode : vnodes) {
        if (chunks == Chunks::divided && last != nullptr && last->host == all[vnode].host) continue;
        last = &all[vnode];
        const auto room = chunks == Chunks::divided ? all.host_room(vnode, known.ncpus, known.mem)
                                                    : all.room(vnode, known.ncpus, known.mem);
        limit.most.ncpus = std::max(limit.most.ncpus, narrow(free_at_least(room.first)));
        limit.most.mem = std::max(limit.most.mem, megabytes(free_at_least(room.second)));
    }
    return limit;
}

}  // namespace pbs::sched
