// What keeps a request from a place, for the job's comment.

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/scheduler/placement/vnodes.h"

namespace pbs::sched {
namespace {

constexpr std::size_t most_told = 5;  // values of vnodes in one comment

}  // namespace

const Vnodes::Amounts& Vnodes::amounts_of(PoolId id) {
    Pool& pool = pools_[id];
    Amounts& amounts = pool.amounts;
    if (amounts.as_of == changes_ + 1) return amounts;
    amounts.as_of = changes_ + 1;
    for (auto* sums : {&amounts.free, &amounts.total, &amounts.most_free, &amounts.most,
                       &amounts.most_free_of_host, &amounts.most_of_host})
        sums->assign(columns_, 0);
    for (const VnodeSlot vnode : pool.vnodes) {
        const bool takes_jobs = vnodes_[vnode].free && vnodes_[vnode].exclusive == 0;
        for (std::uint32_t c = 0; c < columns_; ++c) {
            const std::int64_t total = total_[vnode * columns_ + c];
            const std::int64_t free = takes_jobs ? std::max<std::int64_t>(0, row(vnode)[c]) : 0;
            amounts.total[c] += total;
            amounts.most[c] = std::max(amounts.most[c], total);
            amounts.free[c] += free;
            amounts.most_free[c] = std::max(amounts.most_free[c], free);
        }
    }
    add_hosts(pool, amounts);
    return amounts;
}

// Of the vnodes of a host together; of one that has no other, what it has.
void Vnodes::add_hosts(const Pool& pool, Amounts& amounts) const {
    amounts.most_free_of_host = amounts.most_free;
    amounts.most_of_host = amounts.most;
    for (const Range& host : pool.hosts) {
        for (std::uint32_t c = 0; c < columns_; ++c) {
            std::int64_t free = 0;
            std::int64_t total = 0;
            for (std::uint32_t i = host.first; i < host.end; ++i) {
                const VnodeSlot vnode = pool.vnodes[i];
                total += total_[vnode * columns_ + c];
                if (vnodes_[vnode].free && vnodes_[vnode].exclusive == 0)
                    free += std::max<std::int64_t>(0, row(vnode)[c]);
            }
            amounts.most_free_of_host[c] = std::max(amounts.most_free_of_host[c], free);
            amounts.most_of_host[c] = std::max(amounts.most_of_host[c], total);
        }
    }
}

// "wanted != what there is", if no vnode of the pool has it; else empty.
std::string Vnodes::unmatched(const Pool& pool, const KeptAmount& wanted) const {
    Chunk chunk;
    chunk.matches.push_back(wanted);
    std::vector<std::string_view> known;
    for (const VnodeSlot v : pool.vnodes) {
        const Vnode& vnode = vnodes_[v];
        if (matches(vnode, chunk)) return {};
        std::string_view has;
        if (wanted.resource == vnode_) has = vnode.name;
        if (wanted.resource == host_) has = strings_->text(vnode.host);
        for (const KeptAmount& a : vnode.available)
            if (a.resource == wanted.resource) has = wanted.text.empty() ? "False" : std::string_view(a.text);
        if (has.empty() && wanted.text.empty()) has = "False";
        if (known.size() <= most_told && !has.empty() && std::ranges::find(known, has) == known.end())
            known.push_back(has);
    }
    std::string line = fmt::format("{} != ", wanted.text.empty() ? std::string_view("True") : wanted.text);
    for (std::size_t i = 0; i < known.size(); ++i)
        line += fmt::format("{}{}", i == 0 ? "" : ",", i == most_told ? "..." : known[i]);
    return line;
}

Vnodes::Shortage Vnodes::shortage(PoolId id, const Request& request, const NodeSize& node_size) {
    const Amounts& amounts = amounts_of(id);
    // Whatever could never be had goes before what is missing now, and the job before its chunks.
    const auto asked = totals(request, node_size);
    for (const auto& [c, amount] : asked)
        if (amount > amounts.total[c])
            return {resource_of_[c], true, amount, amounts.total[c], amounts.total[c], {}};
    for (const Chunk& chunk : request.chunks)
        for (const KeptAmount& wanted : chunk.matches)
            if (auto line = unmatched(pools_[id], wanted); !line.empty())
                return {wanted.resource, true, 0, 0, 0, std::move(line)};
    const bool never = !large_enough(id, request, node_size);
    if (!never)
        for (const auto& [c, amount] : asked)
            if (amount > amounts.free[c])
                return {resource_of_[c], false, amount, amounts.free[c], amounts.total[c], {}};
    const bool divides = request.arrangement != Arrangement::vscatter;
    const auto& most_free = divides ? amounts.most_free_of_host : amounts.most_free;
    const auto& most_in_all = divides ? amounts.most_of_host : amounts.most;
    for (const Chunk& chunk : request.chunks) {
        const Needs needs = needs_of(chunk, false, node_size);
        for (std::uint32_t c = first_resource_column; c < columns_; ++c) {
            const std::int64_t most = never ? most_in_all[c] : most_free[c];
            if (needs[c] > most) return {resource_of_[c], never, needs[c], most, most_in_all[c], {}};
        }
    }
    Shortage none;
    none.never = never;
    return none;
}

}  // namespace pbs::sched
