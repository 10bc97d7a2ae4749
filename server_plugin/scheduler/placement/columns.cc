#include "server_plugin/scheduler/placement/columns.h"

#include <algorithm>

namespace pbs::sched {

std::int64_t NodeSize::nodes(std::int64_t ncpus, std::int64_t bytes) const {
    const auto up = [](std::int64_t amount, std::int64_t unit) {
        return amount <= 0 || unit <= 0 ? 0 : (amount - 1) / unit + 1;
    };
    return std::max<std::int64_t>({1, up(ncpus, cpus), up(bytes, mem)});
}

void Columns::assign(const std::vector<Vnode>& vnodes, const Resources& resources) {
    columns_.assign(resources.size(), 0);
    host_level_.assign(resources.size(), false);
    booleans_.assign(resources.size(), false);
    for (std::uint32_t r = 0; r < resources.size(); ++r) {
        host_level_[r] = resources.host_level(r);
        booleans_[r] = resources.is_boolean(r);
    }
    defined_ = host_level_;
    resources_.assign(kFirstResourceColumn, kNoResource);
    for (const Vnode& vnode : vnodes) {
        for (const KeptAmount& a : vnode.available) {
            if (a.resource >= resources.size()) continue;
            defined_[a.resource] = true;
            if (!resources.consumable(a.resource) || columns_[a.resource] != 0) continue;
            columns_[a.resource] = static_cast<std::uint32_t>(resources_.size());
            resources_.push_back(a.resource);
        }
    }
    size_ = static_cast<std::uint32_t>(resources_.size());
    known_ = resources.known();
}

bool Columns::lacks(const Vnode& vnode, const Resources& resources) const {
    return std::ranges::any_of(vnode.available, [&](const KeptAmount& a) {
        return !is_defined(a.resource) || resources.consumable(a.resource) != (of(a.resource) != 0);
    });
}

void Columns::start(Row& row, AskedSharing sharing, const NodeSize& node_size) const {
    row.assign(size(), 0);
    row[kOpenColumn] = wanted_openness(node_size);
    row[kEmptyColumn] = emptiness_for(sharing);
}

const Row& Columns::needs_of(const Chunk& chunk, AskedSharing sharing, const NodeSize& node_size,
                             Row& row) const {
    start(row, sharing, node_size);
    std::int64_t ncpus = -1;
    std::int64_t mem = -1;
    for (const Need& need : chunk.needs) {
        if (need.resource == known_.ncpus) ncpus = need.amount;
        if (need.resource == known_.mem) mem = need.amount;
        add(row, need);
    }
    if (node_size.cpus > 0 && of(known_.ssinodes) != 0)
        row[of(known_.ssinodes)] = node_size.nodes(ncpus, mem);
    return row;
}

Row Columns::needs_of(const Chunk& chunk, AskedSharing sharing, const NodeSize& node_size) const {
    Row row;
    needs_of(chunk, sharing, node_size, row);
    return row;
}

const Row& Columns::needs_of(const Placement& placement, const Part& part, const Request& request,
                             const NodeSize& node_size, Row& row) const {
    if (!part.is_piece()) return needs_of(request.chunks[part.chunk], request.sharing, node_size, row);
    start(row, request.sharing, node_size);
    for (const Need& need : placement.amounts_of(part, request)) add(row, need);
    return row;
}

std::vector<std::pair<std::uint32_t, std::int64_t>> Columns::totals(const Request& request,
                                                                    const NodeSize& node_size) const {
    Row sum(size(), 0);
    Row kept;
    for (const Chunk& chunk : request.chunks) {
        const Row& needs = needs_of(chunk, AskedSharing::shared, node_size, kept);
        for (std::uint32_t c = kFirstResourceColumn; c < size(); ++c) sum[c] += needs[c] * chunk.count;
    }
    std::vector<std::pair<std::uint32_t, std::int64_t>> totals;
    for (std::uint32_t c = kFirstResourceColumn; c < size(); ++c)
        if (sum[c] > 0) totals.emplace_back(c, sum[c]);
    return totals;
}

Columns::Room Columns::room_of(const std::int64_t* row, std::uint32_t first, std::uint32_t second) const {
    const auto room = [&](std::uint32_t resource) {
        return of(resource) != 0 ? row[of(resource)] : INT64_MAX;
    };
    return {room(first), room(second)};
}

}  // namespace pbs::sched
