#include "server_plugin/scheduler/placement/chunk_count.h"

#include <algorithm>

namespace pbs::sched {

ChunkCount::ChunkCount(const Vnodes& vnodes, PoolId pool, const Request& request, const NodeSize& node_size,
                       Instant ends)
    : vnodes_(vnodes), pool_(pool), request_(request) {
    const std::span<const Chunk> chunks(request.chunks);
    for (const Chunk& chunk : chunks.first(std::min(chunks.size(), kMostKinds))) {
        Kind& kind = kinds_.emplace_back();
        kind.needs = vnodes.columns().needs_of(chunk, request.sharing, node_size);
        kind.wanted = chunk.count;
        kind.on_vnode.resize(vnodes.size());
    }
    take_up(vnodes.pool_vnodes(pool), ends);
}

std::int64_t ChunkCount::room_on(VnodeSlot vnode, const Chunk& chunk, const Row& needs, Instant ends) const {
    std::int64_t most = chunk.count;
    const auto limit_by = [&](const std::int64_t* has) {
        if (has[kOpenColumn] < needs[kOpenColumn] || has[kEmptyColumn] < needs[kEmptyColumn]) most = 0;
        for (std::uint32_t c = kFirstResourceColumn; most > 0 && c < needs.size(); ++c)
            if (needs[c] > 0) most = std::min(most, std::max<std::int64_t>(0, has[c]) / needs[c]);
    };
    limit_by(vnodes_.free(vnode));
    if (most == 0 || !vnodes_.matches(vnodes_[vnode], chunk)) return 0;
    vnodes_.for_each_reservation(vnode, ends, [&](const Row& over) { limit_by(over.data()); });
    return most;
}

void ChunkCount::take_up(std::span<const VnodeSlot> changed, Instant ends) {
    for (const VnodeSlot vnode : changed) {
        if (!vnodes_.is_of(pool_, vnode)) continue;
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            Kind& kind = kinds_[i];
            std::int64_t& known = kind.on_vnode[vnode];
            kind.fit -= known;
            known = room_on(vnode, request_.chunks[i], kind.needs, ends);
            kind.fit += known;
        }
    }
}

bool ChunkCount::may_fit() const {
    return std::ranges::all_of(kinds_, [](const Kind& kind) { return kind.fit >= kind.wanted; });
}

}  // namespace pbs::sched
