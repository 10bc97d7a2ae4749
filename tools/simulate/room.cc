#include "tools/simulate/room.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cluster/exec_vnode.h"
#include "ifl/pbs_error.h"
#include "server_plugin/scheduler/model/chunk_range.h"
#include "values/amount.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::simulate {
namespace {

using sched::Amount;

auto refusal(int code, std::string text) {
    return tl::unexpected(ifl::Error{code, std::move(text)});
}

void add(std::vector<Amount>& amounts, const Amount& amount) {
    const auto known = std::ranges::find(amounts, amount.resource, &Amount::resource);
    if (known == amounts.end())
        amounts.push_back(amount);
    else
        known->number = values::amount_sum(known->number, amount.number);
}

}  // namespace

Result<Room> Room::make(const Cluster& cluster) {
    Room room(cluster);
    const auto done = cluster.for_each_vnode([&](const Cluster::Vnode& described) {
        Vnode& vnode = room.vnodes_.emplace_back(Vnode{described.name, described.host, described.free});
        for (const Amount& amount : described.available)
            if (cluster.resources()[amount.resource].consumable)
                vnode.available[amount.resource] = amount.number;
        room.handles_[described.name] = room.vnodes_.size();
    });
    if (!done) return tl::unexpected(done.error());
    return room;
}

void Room::holds(std::size_t job, std::span<const sched::Place> places) {
    std::vector<Held>& held = held_[job];
    for (const Held& one : held) vnodes_[one.vnode].used[one.resource] -= one.amount;
    held.clear();
    for (const sched::Place& place : places)
        for (const Amount& amount : place.amounts) {
            const auto vnode = static_cast<std::uint64_t>(place.vnode) - 1;
            if (!vnodes_[vnode].available.contains(amount.resource)) continue;  // not limited there
            held.push_back({vnode, amount.resource, amount.number});
            vnodes_[vnode].used[amount.resource] += amount.number;
        }
    if (held.empty()) held_.erase(job);
}

// Reads the chunks of a select; without one, the job's amounts are those of a single chunk.
std::vector<Room::Chunk> Room::chunks_of(std::span<const Amount> requested) const {
    const auto select = std::ranges::find(requested, *cluster_->resource("select"), &Amount::resource);
    std::vector<Chunk> chunks;
    if (select == requested.end()) {
        Chunk& only = chunks.emplace_back();
        for (const Amount& amount : requested)
            if (cluster_->is_of_vnodes(amount.resource)) only.amounts.push_back(amount);
        return chunks;
    }
    for (const std::string_view text : values::split(select->text, '+')) {
        Chunk& chunk = chunks.emplace_back();
        for (const std::string_view part : values::split(text, ':')) {
            const auto equals = part.find('=');
            if (equals == part.npos) {
                chunk.count = std::max<std::int64_t>(0, values::number<std::int64_t>(part).value_or(1));
            } else if (const auto* id = cluster_->resource(part.substr(0, equals));
                       id != nullptr && cluster_->is_of_vnodes(*id)) {
                if (const auto amount = cluster_->amount(part.substr(0, equals), part.substr(equals + 1)))
                    add(chunk.amounts, *amount);
            }
        }
    }
    if (const std::int64_t least = least_chunks(requested); least > 0) chunks.front().count = least;
    return chunks;
}

std::int64_t Room::least_chunks(std::span<const Amount> requested) const {
    const auto find = [&](std::string_view name) -> const Amount* {
        const std::uint32_t* const id = cluster_->resource(name);
        if (id == nullptr) return nullptr;
        const auto found = std::ranges::find(requested, *id, &Amount::resource);
        return found == requested.end() ? nullptr : &*found;
    };
    const Amount* const asked = find("select_range");
    const Amount* const per_host = find("per_host");
    auto range = asked != nullptr ? sched::ChunkRange::parse(asked->text) : std::nullopt;
    if (!range) return 0;
    if (per_host != nullptr && (per_host->number < 1 || !range->keep_multiples(per_host->number))) return 0;
    return range->least();
}

ifl::Result<void> Room::add_amount(std::vector<Amount>& amounts, std::string_view text) const {
    const auto equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const std::uint32_t* const resource = cluster_->resource(name);
    if (resource == nullptr) return refusal(PBSE_UNKRESC, fmt::format("Unknown resource: {}", name));
    if (equals == text.npos)
        return refusal(PBSE_BADATVAL, fmt::format("Illegal value \"{}\": expected resource=amount", text));
    const auto amount = cluster_->amount(name, text.substr(equals + 1));
    if (!amount) return refusal(PBSE_BADATVAL, fmt::format("Illegal value: {}", amount.error()));
    if (cluster_->resources()[*resource].consumable) add(amounts, *amount);
    return {};
}

std::int64_t Room::count(std::string_view location, std::span<const Amount> requested) const {
    const std::int64_t named = std::ranges::count(location, '+') + 1;
    if (location.find(':') != location.npos) return named;
    std::int64_t chunks = 0;
    for (const Chunk& chunk : chunks_of(requested)) chunks = values::amount_sum(chunks, chunk.count);
    return std::max(named, chunks);
}

ifl::Result<OwnPlaces> Room::read(std::string_view location, std::span<const Amount> requested) const {
    const auto shares = cluster::parse_exec_vnode(location);
    if (!shares) return tl::unexpected(shares.error());
    OwnPlaces own;
    bool bare = true;  // all places are names of vnodes alone
    for (const cluster::Share& share : *shares) {
        const auto handle = handles_.find(std::string(share.vnode));
        if (handle == handles_.end())
            return refusal(PBSE_UNKNODE, fmt::format("Unknown node {}", share.vnode));
        std::vector<Amount>& amounts = own.amounts.emplace_back();
        for (const std::string_view amount : share.amounts)
            if (auto done = add_amount(amounts, amount); !done) return tl::unexpected(done.error());
        bare = bare && amounts.empty();
        own.places.push_back({sched::VnodeHandle(handle->second), amounts, share.joined});
    }
    if (!bare || own.places.empty()) return own;
    OwnPlaces dealt;
    for (Chunk& chunk : chunks_of(requested)) {
        const std::vector<Amount>& amounts = dealt.amounts.emplace_back(std::move(chunk.amounts));
        for (std::int64_t i = 0; i < chunk.count; ++i)
            dealt.places.push_back({own.places[dealt.places.size() % own.places.size()].vnode, amounts});
    }
    return dealt;
}

ifl::Result<void> Room::check(std::span<const sched::Place> places) const {
    if (places.empty()) return refusal(PBSE_RESCUNAV, "no vnode given to run on");
    std::map<std::uint64_t, std::map<std::uint32_t, std::int64_t>> wanted;
    for (const sched::Place& place : places) {
        const auto number = static_cast<std::uint64_t>(place.vnode) - 1;
        for (const Amount& amount : place.amounts) {
            if (amount.number < 0)
                return refusal(PBSE_RESCUNAV,
                               fmt::format("an amount below 0 on vnode {}", vnodes_[number].name));
            std::int64_t& total = wanted[number][amount.resource];
            total = values::amount_sum(total, amount.number);
        }
    }
    for (const sched::Place& place : places) {
        const auto number = static_cast<std::uint64_t>(place.vnode) - 1;
        const Vnode& vnode = vnodes_[number];
        if (!vnode.free)
            return refusal(PBSE_RESCUNAV,
                           fmt::format("Resource temporarily unavailable: vnode {} is not free", vnode.name));
        for (const auto& [resource, amount] : wanted[number]) {
            const auto available = vnode.available.find(resource);
            if (available == vnode.available.end()) continue;
            const auto used = vnode.used.find(resource);
            if (values::amount_sum(amount, used == vnode.used.end() ? 0 : used->second) > available->second)
                return refusal(PBSE_RESCUNAV, fmt::format("Resource temporarily unavailable: {} on vnode {}",
                                                          cluster_->resources()[resource].name, vnode.name));
        }
    }
    return {};
}

}  // namespace pbs::simulate
