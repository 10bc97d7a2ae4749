// Finds the resource that is missing for a request, for the job's comment.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server_plugin/scheduler/placement/fit_index.h"

namespace pbs::sched {
namespace {

constexpr std::size_t kMostTold = 5;  // the most values of vnodes in one comment

// Returns "wanted != the values that vnodes have" if no vnode of the pool has the wanted value; else an empty
// text.
std::string unmatched(const Inventory& inventory, const FitIndex::Pool& pool, const KeptAmount& wanted) {
    Chunk chunk;
    chunk.matches.push_back(wanted);
    std::vector<std::string_view> known;
    for (const VnodeSlot v : pool.vnodes) {
        const Vnode& vnode = inventory[v];
        if (inventory.matches(vnode, chunk)) return {};
        std::string_view has;
        if (wanted.resource == inventory.columns().known().vnode) has = vnode.name;
        if (wanted.resource == inventory.columns().known().host) has = inventory.host_name(vnode);
        for (const KeptAmount& a : vnode.available)
            if (a.resource == wanted.resource) has = wanted.text.empty() ? "False" : std::string_view(a.text);
        if (has.empty() && wanted.text.empty()) has = "False";
        if (known.size() <= kMostTold && !has.empty() && std::ranges::find(known, has) == known.end())
            known.push_back(has);
    }
    std::string line = fmt::format("{} != ", wanted.text.empty() ? std::string_view("True") : wanted.text);
    for (std::size_t i = 0; i < known.size(); ++i)
        line += fmt::format("{}{}", i == 0 ? "" : ",", i == kMostTold ? "..." : known[i]);
    return line;
}

bool takes_jobs(const Inventory& inventory, VnodeSlot v) {
    return inventory[v].free && !inventory.is_exclusive(v);
}

// Returns whether the vnode takes jobs, and has a free CPU or no CPUs at all. OpenPBS calls such a vnode
// free.
bool is_free(const Inventory& inventory, VnodeSlot v) {
    const std::uint32_t cpus = inventory.columns().of(inventory.columns().known().ncpus);
    const bool busy = cpus != 0 && inventory.total(v)[cpus] > 0 && inventory.free(v)[cpus] <= 0;
    return takes_jobs(inventory, v) && !busy;
}

// Returns the first resource whose wanted value no free vnode of the pool has; kNoResource: there is none.
std::uint32_t unmatched_by_free(const Inventory& inventory, const FitIndex::Pool& pool,
                                const Request& request) {
    for (const Chunk& chunk : request.chunks)
        for (const KeptAmount& wanted : chunk.matches) {
            Chunk one;
            one.matches.push_back(wanted);
            if (std::ranges::none_of(pool.vnodes, [&](VnodeSlot v) {
                    return is_free(inventory, v) && inventory.matches(inventory[v], one);
                }))
                return wanted.resource;
        }
    return kNoResource;
}

}  // namespace

// Replaces the free amounts with which a vnode counts in those of the pool by the present ones.
void FitIndex::count(const Inventory& inventory, const Pool& pool, std::uint32_t index, Amounts& amounts) {
    if (amounts.is_left_out[index]) return;
    const VnodeSlot vnode = pool.vnodes[index];
    const bool free = is_free(inventory, vnode);
    amounts.free_vnodes += (free ? 1 : 0) - (amounts.is_free[index] ? 1 : 0);
    amounts.is_free[index] = free;
    const bool counts = takes_jobs(inventory, vnode);
    const std::size_t columns = amounts.free.size();
    for (std::size_t c = 0; c < columns; ++c) {
        const std::int64_t now = counts ? std::max<std::int64_t>(0, inventory.free(vnode)[c]) : 0;
        amounts.free[c] += now - std::exchange(amounts.counted[index * columns + c], now);
    }
}

// Returns all amounts of a pool except `most_free` and `most_free_of_host`. Vnodes that have one of the
// resources `without` don't count.
FitIndex::Amounts FitIndex::amounts_of(const Inventory& inventory, const Pool& pool,
                                       std::span<const std::uint32_t> without) {
    Amounts amounts;
    for (const VnodeSlot vnode : pool.vnodes)
        amounts.is_left_out.push_back(!without.empty() && has_some(inventory[vnode].available, without));
    const std::uint32_t columns = inventory.columns().size();
    for (Row* row : {&amounts.free, &amounts.total, &amounts.most}) row->assign(columns, 0);
    amounts.is_free.assign(pool.vnodes.size(), false);
    amounts.counted.assign(pool.vnodes.size() * columns, 0);
    for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i) {
        count(inventory, pool, i, amounts);
        for (std::uint32_t c = 0; !amounts.is_left_out[i] && c < columns; ++c) {
            const std::int64_t total = inventory.total(pool.vnodes[i])[c];
            amounts.total[c] += total;
            amounts.most[c] = std::max(amounts.most[c], total);
        }
    }
    // For a host with one vnode, the vnode's amounts are the host's. So begin with the maxima over vnodes.
    amounts.most_of_host = amounts.most;
    for (const Host& host : pool.hosts)
        for (std::uint32_t c = 0; host.is_shared() && c < columns; ++c) {
            std::int64_t total = 0;
            for (std::uint32_t i = host.first; i < host.end; ++i)
                if (!amounts.is_left_out[i]) total += inventory.total(pool.vnodes[i])[c];
            amounts.most_of_host[c] = std::max(amounts.most_of_host[c], total);
        }
    return amounts;
}

void FitIndex::find_most_free(const Inventory& inventory, const Pool& pool, Amounts& amounts) {
    if (std::exchange(amounts.most_as_of, inventory.changes() + 1) == inventory.changes() + 1) return;
    const std::size_t columns = amounts.free.size();
    const auto counted = [&](std::uint32_t index, std::size_t c) {
        return amounts.counted[index * columns + c];
    };
    amounts.most_free.assign(columns, 0);
    for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i)
        for (std::size_t c = 0; c < columns; ++c)
            amounts.most_free[c] = std::max(amounts.most_free[c], counted(i, c));
    amounts.most_free_of_host = amounts.most_free;
    for (const Host& host : pool.hosts)
        for (std::size_t c = 0; host.is_shared() && c < columns; ++c) {
            std::int64_t free = 0;
            for (std::uint32_t i = host.first; i < host.end; ++i) free += counted(i, c);
            amounts.most_free_of_host[c] = std::max(amounts.most_free_of_host[c], free);
        }
}

Shortage FitIndex::shortage(Inventory& inventory, PoolId id, const Request& request,
                            const NodeSize& node_size, std::span<const std::uint32_t> reserved) {
    const Columns& columns = inventory.columns();
    // As in pbs_sched, too few vnodes for chunks on separate vnodes are reported before any resource.
    const bool apart =
        request.arrangement == Arrangement::scatter || request.arrangement == Arrangement::vscatter;
    std::int64_t chunks = 0;
    for (const Chunk& chunk : request.chunks) chunks += chunk.count;
    if (apart && chunks > static_cast<std::int64_t>(pools_[id].vnodes.size())) {
        Shortage vnodes;
        vnodes.never = true;
        return vnodes;
    }
    settle(inventory);
    Pool& pool = pools_[id];
    std::vector<std::uint32_t> without = not_asked_for(reserved, request);
    auto known = pool.amounts.find(without);
    if (known == pool.amounts.end()) {
        Amounts made = amounts_of(inventory, pool, without);
        known = pool.amounts.emplace(std::move(without), std::move(made)).first;
    }
    Amounts& amounts = known->second;
    // A resource that the job could never get comes before one that is missing now; one missing for the whole
    // job comes before one missing for a chunk.
    const auto asked = columns.totals(request, node_size);
    for (const auto& [c, amount] : asked)
        if (amount > amounts.total[c])
            return {columns.resource(c), true, amount, amounts.total[c], amounts.total[c], {}};
    for (const Chunk& chunk : request.chunks)
        for (const Need& need : chunk.needs)
            if (columns.is_lacking(need)) return {need.resource, true, need.amount, 0, 0, {}};
    for (const Chunk& chunk : request.chunks)
        for (const KeptAmount& wanted : chunk.matches)
            if (auto line = unmatched(inventory, pool, wanted); !line.empty())
                return {wanted.resource, true, 0, 0, 0, std::move(line)};
    const bool never = !large_enough(inventory, id, request, node_size);
    if (!never && amounts.free_vnodes < (apart ? chunks : 1)) {
        Shortage vnodes;
        vnodes.vnodes = true;
        return vnodes;
    }
    if (!never)
        for (const auto& [c, amount] : asked)
            if (amount > amounts.free[c])
                return {columns.resource(c), false, amount, amounts.free[c], amounts.total[c], {}};
    find_most_free(inventory, pool, amounts);
    const bool divides = request.arrangement != Arrangement::vscatter;
    const auto& most_free = divides ? amounts.most_free_of_host : amounts.most_free;
    const auto& most_in_all = divides ? amounts.most_of_host : amounts.most;
    for (const Chunk& chunk : request.chunks) {
        const Row needs = columns.needs_of(chunk, AskedSharing::shared, node_size);
        for (std::uint32_t c = kFirstResourceColumn; c < columns.size(); ++c) {
            const bool too_large = never || needs[c] > most_in_all[c];
            const std::int64_t most = too_large ? most_in_all[c] : most_free[c];
            if (needs[c] > most) return {columns.resource(c), too_large, needs[c], most, most_in_all[c], {}};
        }
    }
    Shortage none;
    none.never = never;
    if (!never) none.resource = unmatched_by_free(inventory, pool, request);
    return none;
}

}  // namespace pbs::sched
