#include "server_plugin/scheduler/placement/vnodes.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <unordered_set>
#include <utility>

#include "server_plugin/scheduler/model/host_name.h"
#include "server_plugin/scheduler/model/sort_unique.h"

namespace pbs::sched {
namespace {

// Of shares: a job on the vnode's host, of those that have it for themselves, and on the vnode, which comes
// last. They are no columns of resources.
constexpr std::uint32_t host_share = UINT32_MAX;
constexpr std::uint32_t exclusive_share = 0;
constexpr std::uint32_t job_share = 1;
constexpr std::size_t most_hosts_of_a_job = 64;  // that are counted

// Is `word` one of the elements of a comma-separated list?
bool has_word(std::string_view list, std::string_view word) {
    while (true) {
        const auto comma = list.find(',');
        if (list.substr(0, comma) == word) return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
}

// Each once, in order.
void vnodes_of(const Placement& placement, std::vector<VnodeSlot>& vnodes) {
    vnodes.clear();
    for (const Part& part : placement) vnodes.push_back(part.vnode);
    sort_unique(vnodes);
}

// The larger of two children, which lie side by side, in each column. False: that is what it was.
bool take_most(std::int64_t* node, const std::int64_t* children, std::uint32_t columns) {
    bool changed = false;
    for (std::uint32_t c = 0; c < columns; ++c) {
        const std::int64_t most = std::max(children[c], children[columns + c]);
        changed = changed || node[c] != most;
        node[c] = most;
    }
    return changed;
}

}  // namespace

std::int64_t NodeSize::nodes(std::int64_t ncpus, std::int64_t bytes) const {
    const auto up = [](std::int64_t amount, std::int64_t unit) {
        return amount <= 0 || unit <= 0 ? 0 : (amount - 1) / unit + 1;
    };
    return std::max<std::int64_t>({1, up(ncpus, cpus), up(bytes, mem)});
}

// ---- Records.

namespace {

// resources_available.host, where it is set, says which host a vnode is of.
std::string_view host_of(const VnodeRecord& record, const Resources& resources) {
    const auto named =
        std::ranges::find(record.resources_available, resources.known().host, &Amount::resource);
    return named == record.resources_available.end() || named->text.empty() ? record.host : named->text;
}

}  // namespace

bool Vnodes::change(const VnodeRecord& record, const Resources& resources) {
    const auto [place, made] = by_handle_.emplace(static_cast<std::uint64_t>(record.vnode), size());
    const VnodeSlot slot = place->second;
    if (made) {
        vnodes_.emplace_back();
        total_.resize(vnodes_.size() * columns_);
        free_.resize(vnodes_.size() * columns_);
    }
    Vnode& vnode = vnodes_[slot];
    const auto host = strings_->id(host_of(record, resources));
    const auto partition = strings_->id(record.partition);
    const bool same_pools = vnode.known && vnode.host == host && vnode.partition == partition &&
                            vnode.queue == record.queue && vnode.priority == record.priority;
    auto available = keep(record.resources_available);
    const bool only_load =
        same_pools && vnode.name == record.name && vnode.free == record.free && vnode.available == available;
    vnode.handle = record.vnode;
    vnode.known = true;
    vnode.name = record.name;
    if (made || vnode.host != host) set_host(slot, host);
    vnode.partition = partition;
    vnode.free = record.free;
    vnode.priority = record.priority;
    vnode.queue = record.queue;
    vnode.available = std::move(available);
    vnode.load_thousandths = record.load_thousandths;
    vnode.system_time_thousandths = record.system_time_thousandths;
    if (only_load && !needs_columns(vnode, resources)) return false;
    if (needs_columns(vnode, resources)) {
        rebuild(resources);
        return true;
    }

    for (std::uint32_t c = 0; c < columns_; ++c) free_[slot * columns_ + c] -= total_[slot * columns_ + c];
    set_totals(slot);
    for (std::uint32_t c = 0; c < columns_; ++c) free_[slot * columns_ + c] += total_[slot * columns_ + c];
    set_flags(slot);
    if (same_pools)
        update_trees(slot);
    else
        void_pools();
    if (made) {  // jobs may have been told of before their vnode
        for (const HeldJob& held : held_)
            if (std::ranges::any_of(held.parts, [&](const Held& h) { return h.vnode == record.vnode; })) {
                rebuild(resources);
                return true;
            }
    }
    return true;
}

void Vnodes::set_host(VnodeSlot slot, std::uint32_t host) {
    Vnode& vnode = vnodes_[slot];
    if (vnode.host_number < on_host_.size()) std::erase(on_host_[vnode.host_number], slot);
    vnode.host = host;
    vnode.host_number =
        host_numbers_.try_emplace(host, static_cast<std::uint32_t>(host_numbers_.size())).first->second;
    host_jobs_.resize(host_numbers_.size());
    on_host_.resize(host_numbers_.size());
    on_host_[vnode.host_number].push_back(slot);
}

void Vnodes::remove(VnodeHandle handle) {
    const VnodeSlot slot = find(handle);
    if (slot == no_slot) return;
    vnodes_[slot].known = false;
    vnodes_[slot].free = false;
    set_flags(slot);
    void_pools();
}

VnodeSlot Vnodes::find(VnodeHandle handle) const {
    const auto found = by_handle_.find(static_cast<std::uint64_t>(handle));
    return found == by_handle_.end() ? no_slot : found->second;
}

// Has this vnode a value that no vnode had before?
bool Vnodes::needs_columns(const Vnode& vnode, const Resources& resources) const {
    return std::ranges::any_of(vnode.available, [&](const KeptAmount& a) {
        if (a.resource >= defined_.size() || !defined_[a.resource]) return true;
        return resources.consumable(a.resource) != (column_of_[a.resource] != 0);
    });
}

void Vnodes::rebuild(const Resources& resources) {
    column_of_.assign(resources.size(), 0);
    defined_.assign(resources.size(), false);
    resource_of_.assign(first_resource_column, no_resource);
    for (const Vnode& vnode : vnodes_) {
        for (const KeptAmount& a : vnode.available) {
            if (a.resource >= resources.size()) continue;
            defined_[a.resource] = true;
            if (!resources.consumable(a.resource) || column_of_[a.resource] != 0) continue;
            column_of_[a.resource] = static_cast<std::uint32_t>(resource_of_.size());
            resource_of_.push_back(a.resource);
        }
    }
    columns_ = static_cast<std::uint32_t>(resource_of_.size());
    ssinodes_ = resources.known().ssinodes;
    ncpus_ = resources.known().ncpus;
    mem_ = resources.known().mem;
    host_ = resources.known().host;
    vnode_ = resources.known().vnode;
    total_.assign(vnodes_.size() * columns_, 0);
    for (VnodeSlot v = 0; v < vnodes_.size(); ++v) {
        set_totals(v);
        vnodes_[v].jobs = vnodes_[v].exclusive = 0;
    }
    free_ = total_;
    for (VnodeSlot v = 0; v < vnodes_.size(); ++v) set_flags(v);
    host_jobs_.assign(host_numbers_.size(), 0);
    void_pools();
    for (HeldJob& held : held_) {
        for (Held& part : held.parts) part.slot = find(part.vnode);
        sort_by_slot(held);
    }
    jobs_on_.clear();
    for (JobSlot job = 0; job < held_place_.size(); ++job)
        if (held_place_[job] != 0) apply(job, -1);
}

void Vnodes::multiply(std::int64_t factor) {
    for (std::size_t i = 0; i < total_.size(); ++i) {
        if (i % columns_ < first_resource_column) continue;
        free_[i] += total_[i] * (factor - 1);
        total_[i] *= factor;
    }
    factor_ = factor;
    void_pools();
}

void Vnodes::set_totals(VnodeSlot slot) {
    std::int64_t* total = &total_[slot * columns_];
    std::fill_n(total, columns_, 0);
    for (const KeptAmount& a : vnodes_[slot].available)
        if (a.resource < column_of_.size() && column_of_[a.resource] != 0)
            total[column_of_[a.resource]] = a.number * factor_;
}

void Vnodes::set_flags(VnodeSlot slot) {
    const Vnode& vnode = vnodes_[slot];
    std::int64_t* const columns = &free_[slot * columns_];
    columns[open_column] = openness(slot, columns, vnode.jobs, vnode.exclusive);
    columns[empty_column] = vnode.jobs == 0 ? 1 : 0;
}

// With so much free and so many jobs on it.
Vnodes::Openness Vnodes::openness(VnodeSlot slot, const std::int64_t* columns, std::int32_t jobs,
                                  std::int32_t exclusive) const {
    const Vnode& vnode = vnodes_[slot];
    if (!vnode.free || exclusive > 0) return closed;
    const bool used_up =
        jobs > 0 && number_of(vnode.available, ncpus_).value_or(0) > 0 && columns[column_of_[ncpus_]] <= 0;
    return used_up ? busy : open;
}

// ---- What jobs hold.

void Vnodes::allocate(JobSlot job, std::span<const Place> places, bool exclusive) {
    release(job);
    if (places.empty()) return;
    if (held_unused_.empty()) {
        held_unused_.push_back(static_cast<std::uint32_t>(held_.size()));
        held_.emplace_back();
    }
    const std::uint32_t place_of_job = held_unused_.back();
    held_unused_.pop_back();
    HeldJob& held = held_[place_of_job];
    held.exclusive = exclusive;
    for (const Place& place : places) {
        held.parts.push_back({place.vnode, find(place.vnode), static_cast<std::uint32_t>(held.amounts.size()),
                              static_cast<std::uint32_t>(place.amounts.size())});
        for (const Amount& a : place.amounts) held.amounts.push_back({a.resource, a.number});
    }
    sort_by_slot(held);
    if (held_place_.size() <= job) held_place_.resize(job + 1);
    held_place_[job] = place_of_job + 1;
    apply(job, -1);
}

void Vnodes::release(JobSlot job) {
    if (held_of(job) == nullptr) return;
    apply(job, 1);
    const std::uint32_t place = std::exchange(held_place_[job], 0) - 1;
    HeldJob& held = held_[place];
    held.parts.clear();
    held.amounts.clear();
    held_unused_.push_back(place);
}

// Takes what a job holds (-1), or gives it back.
void Vnodes::apply(JobSlot job, int sign) {
    const HeldJob& held = *held_of(job);
    for (const Held& part : held.parts) {
        const VnodeSlot slot = part.slot;
        if (slot == no_slot) continue;
        for (const Need& need : held.amounts_of(part))
            if (need.resource < column_of_.size() && column_of_[need.resource] != 0)
                free_[slot * columns_ + column_of_[need.resource]] += sign * need.amount;
    }
    if (jobs_on_.size() < vnodes_.size()) jobs_on_.resize(vnodes_.size());
    for (const VnodeSlot slot : held.vnodes) {
        auto& jobs = jobs_on_[slot];
        if (sign < 0) {
            jobs.push_back(job);
        } else if (const auto found = std::ranges::find(jobs, job); found != jobs.end()) {
            *found = jobs.back();
            jobs.pop_back();
        }
    }
    count_jobs(held.vnodes, held.exclusive, -sign);
}

void Vnodes::sort_by_slot(HeldJob& held) {
    held.by_slot.resize(held.parts.size());
    for (std::uint32_t part = 0; part < held.parts.size(); ++part) held.by_slot[part] = part;
    const auto slot_of = [&](std::uint32_t part) { return held.parts[part].slot; };
    if (held.parts.size() > 1) std::ranges::sort(held.by_slot, {}, slot_of);
    held.vnodes.clear();
    for (const std::uint32_t part : held.by_slot)
        if (slot_of(part) != no_slot && (held.vnodes.empty() || held.vnodes.back() != slot_of(part)))
            held.vnodes.push_back(slot_of(part));
}

// What is free of a vnode, by column, once these of the jobs on it have let go.
Vnodes::Needs Vnodes::row_without(VnodeSlot slot, std::span<const JobSlot> jobs) const {
    Needs left(row(slot), row(slot) + columns_);
    std::int32_t others = vnodes_[slot].jobs;
    std::int32_t exclusive = vnodes_[slot].exclusive;
    for (const JobSlot job : jobs) {
        const HeldJob* held = held_of(job);
        const auto slot_of = [&](std::uint32_t part) { return held->parts[part].slot; };
        auto part = std::ranges::lower_bound(held->by_slot, slot, {}, slot_of);
        if (part == held->by_slot.end() || slot_of(*part) != slot) continue;
        for (; part != held->by_slot.end() && slot_of(*part) == slot; ++part)
            for (const Need& need : held->amounts_of(held->parts[*part]))
                if (need.resource < column_of_.size() && column_of_[need.resource] != 0)
                    left[column_of_[need.resource]] += need.amount;
        --others;
        if (held->exclusive) --exclusive;
    }
    left[open_column] = openness(slot, left.data(), others, exclusive);
    left[empty_column] = others == 0 ? 1 : 0;
    return left;
}

bool Vnodes::fits_any_chunk(VnodeSlot slot, std::span<const JobSlot> without, const Request& request,
                            const NodeSize& node_size) const {
    const Needs left = row_without(slot, without);
    return std::ranges::any_of(request.chunks, [&](const Chunk& chunk) {
        const Needs needs = needs_of(chunk, request.exclusive, node_size);
        const bool fits = std::ranges::equal(
            left, needs, [](std::int64_t has, std::int64_t need) { return need <= 0 || has >= need; });
        return fits && matches(vnodes_[slot], chunk);
    });
}

bool Vnodes::fits_parts(VnodeSlot slot, std::span<const JobSlot> without, std::span<const Part> parts,
                        const Request& request, const NodeSize& node_size) const {
    Needs left = row_without(slot, without);
    if (left[open_column] < wanted_openness(node_size) || (request.exclusive && left[empty_column] == 0))
        return false;
    for (const Part& part : parts) {
        const Needs needs = needs_of(request.chunks[part.chunk], request.exclusive, node_size);
        for (std::uint32_t c = first_resource_column; c < columns_; ++c) {
            left[c] -= needs[c] * part.count;
            if (needs[c] > 0 && left[c] < 0) return false;
        }
    }
    return true;
}

// Counts a job (or, with -1, counts it out) on its vnodes and on their hosts, each once.
void Vnodes::count_jobs(std::span<const VnodeSlot> vnodes, bool exclusive, int sign) {
    ++changes_;
    auto& hosts = touched_hosts_;
    hosts.clear();
    for (const VnodeSlot slot : vnodes) {
        vnodes_[slot].jobs += sign;
        if (exclusive) vnodes_[slot].exclusive += sign;
        set_flags(slot);
        update_trees(slot);
        if (vnodes.size() == 1) {
            host_jobs_[vnodes_[slot].host_number] += sign;
            return;
        }
        const std::uint32_t host = vnodes_[slot].host_number;
        if (std::ranges::find(hosts, host) == hosts.end() && hosts.size() < most_hosts_of_a_job)
            hosts.push_back(host);
    }
    for (const auto host : hosts) host_jobs_[host] += sign;
}

std::int64_t Vnodes::jobs_on_host(std::uint32_t host) const {
    const auto found = host_numbers_.find(host);
    return found == host_numbers_.end() ? 0 : host_jobs_[found->second];
}

bool Vnodes::holds_in(PoolId pool, JobSlot job) const {
    const HeldJob* held = held_of(job);
    if (held == nullptr) return false;
    return std::ranges::any_of(
        held->parts, [&](const Held& part) { return part.slot != no_slot && is_of(pool, part.slot); });
}

std::int64_t Vnodes::free_amount(VnodeSlot vnode, std::uint32_t resource) const {
    return resource < column_of_.size() && column_of_[resource] != 0 ? row(vnode)[column_of_[resource]] : 0;
}

Vnodes::Room Vnodes::room_of(const std::int64_t* columns, std::uint32_t first, std::uint32_t second) const {
    const auto of = [&](std::uint32_t resource) {
        const bool limited = resource < column_of_.size() && column_of_[resource] != 0;
        return limited ? columns[column_of_[resource]] : INT64_MAX;
    };
    return {of(first), of(second)};
}

Vnodes::Room Vnodes::room_until(VnodeSlot vnode, std::uint32_t first, std::uint32_t second,
                                Instant ends) const {
    Room room = room_of(row(vnode), first, second);
    const auto found = reserved_.find(vnode);
    if (found == reserved_.end()) return room;
    for (const Reserved& reserved : found->second) {
        if (ends <= reserved.start || suspended_[reserved.id]) continue;
        const Room over = room_of(reserved.over.data(), first, second);
        room = {std::min(room.first, over.first), std::min(room.second, over.second)};
    }
    return room;
}

// Down the trees of maxima, leaving out whatever lies within what was found.
std::vector<Vnodes::Room> Vnodes::largest_rooms(PoolId id, std::uint32_t first, std::uint32_t second) {
    constexpr std::size_t most_rooms = 16;
    settle_trees();
    const Pool& pool = pools_[id];
    std::vector<Room> rooms;
    // Down a tree. False: they are too many.
    const auto collect = [&](const Tree& tree) {
        std::vector<std::uint32_t> ahead = {1};
        while (!ahead.empty()) {
            const std::uint32_t node = ahead.back();
            ahead.pop_back();
            const std::int64_t* most = &tree.nodes[std::size_t{node} * columns_];
            const Room room = room_of(most, first, second);
            const auto within = [](const Room& a, const Room& b) {
                return a.first <= b.first && a.second <= b.second;
            };
            if (most[open_column] == closed ||
                std::ranges::any_of(rooms, [&](const Room& other) { return within(room, other); }))
                continue;
            if (node < tree.leaves) {
                ahead.push_back(2 * node);
                ahead.push_back(2 * node + 1);
                continue;
            }
            std::erase_if(rooms, [&](const Room& other) { return within(other, room); });
            rooms.push_back(room);
            if (rooms.size() > most_rooms) return false;
        }
        return true;
    };
    if ((pool.hosts.empty() || collect(pool.host_tree)) && collect(pool.tree)) return rooms;
    Room all = room_of(&pool.tree.nodes[columns_], first, second);
    if (!pool.hosts.empty()) {
        const Room of_host = room_of(&pool.host_tree.nodes[columns_], first, second);
        all = {std::max(all.first, of_host.first), std::max(all.second, of_host.second)};
    }
    return {all};
}

bool Vnodes::is_open(PoolId pool, VnodeSlot vnode) const {
    return row(vnode)[open_column] != closed && is_of(pool, vnode);
}

bool Vnodes::is_of(PoolId pool, VnodeSlot vnode) const {
    return std::ranges::any_of(in_pools_[vnode], [&](const auto& place) { return place.first == pool; });
}

bool Vnodes::holds(JobSlot job, std::span<const Place> places, bool exclusive) const {
    const HeldJob* held = held_of(job);
    if (held == nullptr) return places.empty();
    const auto same_amount = [](const Need& need, const Amount& amount) {
        return need.resource == amount.resource && need.amount == amount.number;
    };
    return held->exclusive == exclusive &&
           std::ranges::equal(held->parts, places, [&](const Held& part, const Place& place) {
               return part.vnode == place.vnode &&
                      std::ranges::equal(held->amounts_of(part), place.amounts, same_amount);
           });
}

std::vector<VnodeSlot> Vnodes::reserved() const {
    std::vector<VnodeSlot> vnodes;
    for (const auto& [vnode, reservations] : reserved_) vnodes.push_back(vnode);
    return vnodes;
}

// ---- Pools and their trees.

void Vnodes::void_pools() {
    ++version_;
    // While vnodes are told of one after the other there are none yet.
    if (pools_.empty()) {
        in_pools_.resize(vnodes_.size());
        is_changed_.resize(vnodes_.size());
        return;
    }
    pools_.clear();
    pool_ids_.clear();
    asked_pools_.clear();
    in_pools_.assign(vnodes_.size(), {});
    changed_.clear();
    is_changed_.assign(vnodes_.size(), false);
}

PoolId Vnodes::pool(QueueHandle queue, std::uint32_t host, std::uint32_t partition, Chunks chunks) {
    const auto [asked, first] =
        asked_pools_.try_emplace(PoolKey(static_cast<std::uint64_t>(queue), host, partition, chunks));
    if (!first) return asked->second;
    const bool bound = std::ranges::any_of(vnodes_, [&](const Vnode& v) {
        return v.known && queue != QueueHandle{} && v.queue == queue && v.partition == partition;
    });
    if (!bound) queue = {};
    const auto [place, made] =
        pool_ids_.emplace(PoolKey(static_cast<std::uint64_t>(queue), host, partition, chunks),
                          static_cast<PoolId>(pools_.size()));
    if (made) {
        Pool& pool = pools_.emplace_back();
        pool.chunks = chunks;
        make_pool(pool, queue, host, partition);
    }
    asked->second = place->second;
    return place->second;
}

void Vnodes::make_pool(Pool& pool, QueueHandle queue, std::uint32_t host, std::uint32_t partition) {
    in_pools_.resize(vnodes_.size());
    is_changed_.resize(vnodes_.size());
    for (VnodeSlot v = 0; v < vnodes_.size(); ++v) {
        const Vnode& vnode = vnodes_[v];
        if (vnode.known && vnode.queue == queue && vnode.partition == partition &&
            (host == 0 || same_host(vnode.host, host)))
            pool.vnodes.push_back(v);
    }
    std::ranges::stable_sort(pool.vnodes, [&](VnodeSlot a, VnodeSlot b) {
        if (vnodes_[a].priority != vnodes_[b].priority) return vnodes_[a].priority > vnodes_[b].priority;
        return vnodes_[a].handle < vnodes_[b].handle;
    });
    if (pool.chunks == Chunks::divided) sort_by_host(pool);
    for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i)
        in_pools_[pool.vnodes[i]].emplace_back(static_cast<PoolId>(&pool - pools_.data()), i);
    find_hosts(pool);
    make_tree(pool.tree, pool.vnodes.size());
    if (!pool.hosts.empty()) make_tree(pool.host_tree, pool.hosts.size());
    fill_trees(pool);
}

void Vnodes::make_tree(Tree& tree, std::size_t size) const {
    tree.size = static_cast<std::uint32_t>(size);
    tree.leaves = std::bit_ceil(std::max<std::uint32_t>(1, tree.size));
    tree.nodes.assign(std::size_t{2} * tree.leaves * columns_, -1);
}

// From the leaves.
void Vnodes::fix_tree(Tree& tree) const {
    for (std::uint32_t node = tree.leaves - 1; node >= 1; --node)
        take_most(&tree.nodes[std::size_t{node} * columns_], &tree.nodes[std::size_t{2} * node * columns_],
                  columns_);
}

// What lies above a leaf that changed.
void Vnodes::fix_above(Tree& tree, std::uint32_t place) const {
    for (std::uint32_t node = (tree.leaves + place) / 2; node >= 1; node /= 2)
        if (!take_most(&tree.nodes[std::size_t{node} * columns_],
                       &tree.nodes[std::size_t{2} * node * columns_], columns_))
            break;  // nor do those above it change
}

void Vnodes::fill_trees(Pool& pool) const {
    for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i)
        std::copy_n(row(pool.vnodes[i]), columns_, leaf(pool.tree, i));
    fix_tree(pool.tree);
    if (pool.hosts.empty()) return;
    std::fill_n(leaf(pool.host_tree, 0), pool.hosts.size() * columns_, 0);
    for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i)
        if (pool.host_of[i] != 0) add_to_host(pool, pool.host_of[i] - 1, row(pool.vnodes[i]), 1);
    fix_tree(pool.host_tree);
}

void Vnodes::update_trees(VnodeSlot vnode, const Pool* only) {
    if (vnode >= in_pools_.size()) return;
    if (only == nullptr) {
        if (is_changed_[vnode]) return;
        is_changed_[vnode] = true;
        changed_.push_back(vnode);
        return;
    }
    for (const auto& [id, position] : in_pools_[vnode])
        if (only == &pools_[id]) update_tree(pools_[id], position, vnode);
}

void Vnodes::settle_trees() {
    for (const VnodeSlot vnode : changed_) {
        is_changed_[vnode] = false;
        for (const auto& [id, position] : in_pools_[vnode]) update_tree(pools_[id], position, vnode);
    }
    changed_.clear();
}

void Vnodes::update_tree(Pool& pool, std::uint32_t position, VnodeSlot vnode) const {
    std::int64_t* const known = leaf(pool.tree, position);
    if (std::equal(known, known + columns_, row(vnode))) return;
    if (const std::uint32_t host = pool.hosts.empty() ? 0 : pool.host_of[position]; host != 0) {
        add_to_host(pool, host - 1, known, -1);
        add_to_host(pool, host - 1, row(vnode), 1);
        fix_above(pool.host_tree, host - 1);
    }
    std::copy_n(row(vnode), columns_, known);
    fix_above(pool.tree, position);
}

void Vnodes::note_columns(const Needs& needs) {
    asked_columns_.clear();
    for (std::uint32_t c = columns_; c-- > 0;)  // there is less of resources than of open vnodes
        if (needs[c] > 0) asked_columns_.emplace_back(c, needs[c]);
}

// The first leaf from `from` on that has enough of all columns that are asked for; no_slot: none.
std::uint32_t Vnodes::next_fit(const Tree& tree, std::uint32_t from) const {
    const auto enough = [&](std::uint32_t node) {
        const std::int64_t* most = &tree.nodes[std::size_t{node} * columns_];
        for (const auto& [column, need] : asked_columns_)
            if (most[column] < need) return false;
        return true;
    };
    if (from >= tree.size) return no_slot;
    std::uint32_t node = tree.leaves + from;
    while (true) {
        if (enough(node)) {
            if (node >= tree.leaves) {
                const auto place = node - tree.leaves;
                return place < tree.size ? place : no_slot;
            }
            node *= 2;  // leftmost of its leaves first
            continue;
        }
        // On to the next subtree to the right; past the last one there is nothing.
        while (node % 2 == 1) {
            node /= 2;
            if (node <= 1) return no_slot;
        }
        ++node;
    }
}

// ---- Finding places.

Vnodes::Needs Vnodes::needs_of(const Chunk& chunk, bool exclusive, const NodeSize& node_size) const {
    Needs needs;
    return needs_of(chunk, exclusive, node_size, needs);
}

const Vnodes::Needs& Vnodes::needs_of(const Chunk& chunk, bool exclusive, const NodeSize& node_size,
                                      Needs& needs) const {
    needs.assign(columns_, 0);
    needs[open_column] = wanted_openness(node_size);
    needs[empty_column] = exclusive ? 1 : 0;
    std::int64_t ncpus = -1;
    std::int64_t mem = -1;
    for (const Need& need : chunk.needs) {
        if (need.resource == ncpus_) ncpus = need.amount;
        if (need.resource == mem_) mem = need.amount;
        if (need.resource < column_of_.size() && column_of_[need.resource] != 0)
            needs[column_of_[need.resource]] += need.amount;
    }
    if (node_size.cpus > 0 && ssinodes_ != no_resource && ssinodes_ < column_of_.size() &&
        column_of_[ssinodes_] != 0)
        needs[column_of_[ssinodes_]] = node_size.nodes(ncpus, mem);
    return needs;
}

const Vnodes::Needs& Vnodes::needs_of(const Placement& placement, const Part& part, const Request& request,
                                      const NodeSize& node_size, Needs& needs) const {
    if (!part.is_piece()) return needs_of(request.chunks[part.chunk], request.exclusive, node_size, needs);
    needs.assign(columns_, 0);
    needs[open_column] = wanted_openness(node_size);
    needs[empty_column] = request.exclusive ? 1 : 0;
    for (const Need& need : placement.amounts_of(part, request))
        if (need.resource < column_of_.size() && column_of_[need.resource] != 0)
            needs[column_of_[need.resource]] += need.amount;
    return needs;
}

bool Vnodes::matches(const Vnode& vnode, const Chunk& chunk) const {
    return std::ranges::all_of(chunk.matches, [&](const KeptAmount& wanted) {
        if (wanted.resource == vnode_) return vnode.name == wanted.text;
        if (wanted.resource == host_) return same_host_name(strings_->text(vnode.host), wanted.text);
        // A resource that no vnode has is none of the vnodes' business.
        if (wanted.resource >= defined_.size() || !defined_[wanted.resource]) return true;
        for (const KeptAmount& has : vnode.available)
            if (has.resource == wanted.resource)
                return wanted.text.empty() ? has.number == wanted.number : has_word(has.text, wanted.text);
        return wanted.text.empty() && wanted.number == 0;  // an unset boolean is False
    });
}

bool Vnodes::same_host(std::uint32_t a, std::uint32_t b) const {
    return a == b || same_host_name(strings_->text(a), strings_->text(b));
}

bool Vnodes::allowed(const Vnode& vnode, const PlaceRules& rules) const {
    if (rules.host != 0 && !same_host(vnode.host, rules.host)) return false;
    if (rules.max_jobs_on_host > 0 && jobs_on_host(vnode.host) >= rules.max_jobs_on_host) return false;
    if (rules.max_systime_percent > 0 && vnode.system_time_thousandths > rules.max_systime_percent * 10)
        return false;
    if (rules.max_load_percent > 0 && vnode.load_thousandths >= 0 &&
        jobs_on_host(vnode.host) >= rules.min_jobs_on_host) {
        const auto cpus = std::max<std::int64_t>(1, number_of(vnode.available, ncpus_).value_or(1));
        if (vnode.load_thousandths > rules.max_load_percent * 10 * cpus) return false;
    }
    return true;
}

// How many chunks the vnode can give.
std::int64_t Vnodes::how_many(VnodeSlot slot, const Needs& needs, const Chunk& chunk,
                              const PlaceRules& rules) const {
    if (!allowed(vnodes_[slot], rules) || !matches(vnodes_[slot], chunk)) return 0;
    std::int64_t most = chunk.count;
    const auto limit_by = [&](const std::int64_t* has) {
        for (std::uint32_t c = first_resource_column; c < columns_; ++c)
            if (needs[c] > 0) most = std::min(most, std::max<std::int64_t>(0, has[c]) / needs[c]);
    };
    limit_by(row(slot));
    if (reserved_.empty()) return most;
    const auto found = reserved_.find(slot);
    if (found == reserved_.end()) return most;
    for (const Reserved& reserved : found->second) {
        if (rules.ends <= reserved.start || suspended_[reserved.id]) continue;
        const std::int64_t* over = reserved.over.data();
        if (over[open_column] < needs[open_column] || over[empty_column] < needs[empty_column]) return 0;
        limit_by(over);
    }
    return most;
}

// A row of what is free becomes what reservations leave of it to a job that ends then.
void Vnodes::limit_by_reserved(VnodeSlot vnode, Instant ends, Needs& columns) const {
    if (reserved_.empty()) return;
    const auto found = reserved_.find(vnode);
    if (found == reserved_.end()) return;
    for (const Reserved& reserved : found->second) {
        if (ends <= reserved.start || suspended_[reserved.id]) continue;
        for (std::uint32_t c = 0; c < columns_; ++c) columns[c] = std::min(columns[c], reserved.over[c]);
    }
}

void Vnodes::add_amounts(VnodeSlot vnode, const Needs& needs, std::int64_t count, int sign,
                         const Pool* only) {
    for (std::uint32_t c = first_resource_column; c < columns_; ++c)
        free_[vnode * columns_ + c] += sign * needs[c] * count;
    update_trees(vnode, only);
}

// Places all of one kind of chunks, walking once over the vnodes that have room.
bool Vnodes::place_chunk(const Pool& pool, const Request& request, std::uint32_t index,
                         const PlaceRules& rules, const Among& among, Placement& out) {
    const Chunk& chunk = request.chunks[index];
    const Needs& needs = needs_of(chunk, request.exclusive, rules.node_size, needs_to_place_);
    std::int64_t left = chunk.count;
    if (pool.chunks == Chunks::divided) {
        Placing placing{pool, request, index, needs, rules, left, out};
        place_by_host(placing, among.range.value_or(Range{0, pool.tree.size}));
        return placing.left == 0;
    }
    const auto taken = [&](VnodeSlot slot) {
        return std::ranges::any_of(out, [&](const Part& part) {
            return request.arrangement == Arrangement::scatter
                       ? vnodes_[part.vnode].host == vnodes_[slot].host
                       : part.vnode == slot;
        });
    };
    const bool apart =
        request.arrangement == Arrangement::scatter || request.arrangement == Arrangement::vscatter;
    std::optional<std::unordered_set<std::uint32_t>> hosts;  // of this kind; the few others are in `out`
    if (apart) hosts.emplace();
    const auto offer = [&](std::uint32_t position) {
        const VnodeSlot slot = pool.vnodes[position];
        std::int64_t count = std::min(left, how_many(slot, needs, chunk, rules));
        if (apart && count > 0) {
            if (request.arrangement == Arrangement::scatter && hosts->contains(vnodes_[slot].host)) return;
            if (request.chunks.size() > 1 && taken(slot)) return;
            hosts->insert(vnodes_[slot].host);
            count = 1;
        }
        if (count == 0) return;
        out.parts.push_back({slot, index, count});
        left -= count;
    };
    if (among.positions != nullptr) {
        for (const auto position : *among.positions) {
            const std::int64_t* has = row(pool.vnodes[position]);
            if (has[open_column] < needs[open_column] || has[empty_column] < needs[empty_column]) continue;
            offer(position);
            if (left == 0) break;
        }
        return left == 0;
    }
    note_columns(needs);
    for (auto position = next_fit(pool.tree, 0); left > 0 && position != no_slot;
         position = next_fit(pool.tree, position + 1))
        offer(position);
    return left == 0;
}

bool Vnodes::place_chunks(const Pool& pool, const Request& request, const PlaceRules& rules,
                          const Among& among, Placement& out) {
    out.clear();
    bool placed = true;
    std::size_t counted = 0;  // parts that are taken from what is free, so that the next kind sees it
    Needs kept;
    for (std::uint32_t c = 0; placed && c < request.chunks.size(); ++c) {
        placed = place_chunk(pool, request, c, rules, among, out);
        if (!placed || c + 1 == request.chunks.size()) break;
        for (; counted < out.parts.size(); ++counted) {
            const Part& part = out.parts[counted];
            const Needs& needs = needs_of(out, part, request, rules.node_size, kept);
            add_amounts(part.vnode, needs, part.count, -1, &pool);
            use_over(part.vnode, needs, part.count, 1, rules.ends);
        }
    }
    for (std::size_t i = 0; i < counted; ++i) {
        const Part& part = out.parts[i];
        const Needs& needs = needs_of(out, part, request, rules.node_size, kept);
        add_amounts(part.vnode, needs, part.count, 1, &pool);
        use_over(part.vnode, needs, part.count, -1, rules.ends);
    }
    if (!placed) out.clear();
    return placed;
}

Vnodes::Whole Vnodes::whole_of(const Request& request, const NodeSize& node_size) const {
    Whole whole;
    whole.needs.assign(columns_, 0);
    for (const Chunk& chunk : request.chunks) {
        const Needs needs = needs_of(chunk, request.exclusive, node_size);
        for (std::uint32_t c = first_resource_column; c < columns_; ++c)
            whole.needs[c] += needs[c] * chunk.count;
        whole.needs[open_column] = needs[open_column];
        whole.needs[empty_column] = needs[empty_column];
        whole.chunk.matches.insert(whole.chunk.matches.end(), chunk.matches.begin(), chunk.matches.end());
    }
    return whole;
}

bool Vnodes::place_whole(VnodeSlot vnode, const Whole& whole, const Request& request, const PlaceRules& rules,
                         Placement& out) const {
    if (how_many(vnode, whole.needs, whole.chunk, rules) == 0) return false;
    for (std::uint32_t c = 0; c < request.chunks.size(); ++c)
        out.parts.push_back({vnode, c, request.chunks[c].count});
    return true;
}

bool Vnodes::place_on_one_vnode(const Pool& pool, const Request& request, const PlaceRules& rules,
                                Placement& out) {
    const Whole whole = whole_of(request, rules.node_size);
    note_columns(whole.needs);
    for (auto at = next_fit(pool.tree, 0); at != no_slot; at = next_fit(pool.tree, at + 1))
        if (place_whole(pool.vnodes[at], whole, request, rules, out)) return true;
    return false;
}

// All on one host: on one vnode if possible, else on the vnodes of one host.
bool Vnodes::pack(const Pool& pool, const Request& request, const PlaceRules& rules, Placement& out) {
    if (pool.chunks == Chunks::divided) return pack_by_host(pool, request, rules, out);
    if (place_on_one_vnode(pool, request, rules, out)) return true;
    std::vector<std::uint32_t> first;
    for (const auto& [position, positions] : pool.shared_hosts) first.push_back(position);
    std::ranges::sort(first);
    return std::ranges::any_of(first, [&](std::uint32_t position) {
        return place_chunks(pool, request, rules, {&pool.shared_hosts.at(position), {}}, out);
    });
}

bool Vnodes::find(PoolId id, const Request& request, const PlaceRules& rules, Placement& out) {
    const Pool& pool = pools_[id];
    settle_trees();
    out.clear();
    return request.arrangement == Arrangement::pack ? pack(pool, request, rules, out)
                                                    : place_chunks(pool, request, rules, {}, out);
}

bool Vnodes::large_enough(PoolId id, const Request& request, const NodeSize& node_size) const {
    const Pool& pool = pools_[id];
    const bool divides = !pool.hosts.empty() && request.arrangement != Arrangement::vscatter;
    return std::ranges::all_of(request.chunks, [&](const Chunk& chunk) {
        const Needs needs = needs_of(chunk, false, node_size);
        std::int64_t left = chunk.count;
        for (std::uint32_t i = 0; i < pool.vnodes.size(); ++i) {
            const VnodeSlot v = pool.vnodes[i];
            if (divides && pool.host_of[i] != 0) {
                const Range& host = pool.hosts[pool.host_of[i] - 1];
                left -= std::min(left, chunks_of_host(pool, host, chunk, needs));
                i = host.end - 1;
            } else if (matches(vnodes_[v], chunk)) {
                std::int64_t most = left;
                for (std::uint32_t c = first_resource_column; c < columns_; ++c)
                    if (needs[c] > 0) most = std::min(most, total_[v * columns_ + c] / needs[c]);
                left -= most;
            }
            if (left <= 0) return true;
        }
        return false;
    });
}

void Vnodes::apply(const Placement& placement, const Request& request, const NodeSize& node_size, int sign) {
    for (const Part& part : placement) {
        const Needs& needs = needs_of(placement, part, request, node_size, needs_to_take_);
        std::int64_t* const free = &free_[part.vnode * columns_];
        for (std::uint32_t c = first_resource_column; c < columns_; ++c)
            free[c] += sign * needs[c] * part.count;
    }
    // Which tells the trees, too.
    vnodes_of(placement, touched_);
    count_jobs(touched_, request.exclusive, -sign);
}

void Vnodes::assume(const Placement& placement, const Request& request, const NodeSize& node_size) {
    apply(placement, request, node_size, -1);
}

void Vnodes::forget(const Placement& placement, const Request& request, const NodeSize& node_size) {
    apply(placement, request, node_size, 1);
}

// ---- Looking ahead.

void Vnodes::shares_held(JobSlot job, std::vector<Share>& out) const {
    const HeldJob* held = held_of(job);
    if (held == nullptr) return;
    for (const Held& part : held->parts) {
        if (part.slot == no_slot) continue;
        for (const Need& need : held->amounts_of(part))
            if (need.resource < column_of_.size() && column_of_[need.resource] != 0)
                out.push_back({part.slot, column_of_[need.resource], need.amount});
    }
    add_job_shares(held->vnodes, held->exclusive, out);
}

void Vnodes::shares_of(const Placement& placement, const Request& request, const NodeSize& node_size,
                       std::vector<Share>& out) const {
    Needs kept;
    for (const Part& part : placement) {
        const Needs& needs = needs_of(placement, part, request, node_size, kept);
        for (std::uint32_t c = first_resource_column; c < columns_; ++c)
            if (needs[c] != 0) out.push_back({part.vnode, c, needs[c] * part.count});
    }
    std::vector<VnodeSlot> vnodes;
    vnodes_of(placement, vnodes);
    add_job_shares(vnodes, request.exclusive, out);
}

// As count_jobs() counts.
void Vnodes::add_job_shares(std::span<const VnodeSlot> vnodes, bool exclusive,
                            std::vector<Share>& out) const {
    std::vector<std::uint32_t> hosts;
    hosts.reserve(vnodes.size() > 1 ? vnodes.size() : 0);
    for (const VnodeSlot slot : vnodes) {
        if (exclusive) out.push_back({slot, exclusive_share, 1});
        out.push_back({slot, job_share, 1});
        const std::uint32_t host = vnodes_[slot].host;
        if (std::ranges::find(hosts, host) != hosts.end() || hosts.size() >= most_hosts_of_a_job) continue;
        if (vnodes.size() > 1) hosts.push_back(host);
        out.push_back({slot, host_share, 1});
    }
}

void Vnodes::look_ahead(std::span<const Share> shares, int sign) {
    settle_trees();
    for (const Share& share : shares) {
        switch (share.column) {
            case host_share:
                host_jobs_[vnodes_[share.vnode].host_number] -= sign;
                break;
            case exclusive_share:
                vnodes_[share.vnode].exclusive -= sign;
                break;
            case job_share:
                vnodes_[share.vnode].jobs -= sign;
                set_flags(share.vnode);
                looked_ahead_.push_back(share.vnode);
                break;
            default:
                free_[share.vnode * columns_ + share.column] += sign * share.amount;
        }
    }
}

// Many changes are cheaper in one go over the whole tree.
void Vnodes::settle(PoolId id) {
    Pool& pool = pools_[id];
    const std::uint32_t leaves = pool.tree.leaves;
    if (looked_ahead_.size() * static_cast<std::size_t>(std::bit_width(leaves)) > 2UL * leaves) {
        fill_trees(pool);
    } else {
        for (const VnodeSlot vnode : looked_ahead_) update_trees(vnode, &pool);
    }
    looked_ahead_.clear();
}

std::vector<std::pair<std::uint32_t, std::int64_t>> Vnodes::totals(const Request& request,
                                                                   const NodeSize& node_size) const {
    Needs sum(columns_, 0);
    for (const Chunk& chunk : request.chunks) {
        const Needs needs = needs_of(chunk, false, node_size);
        for (std::uint32_t c = first_resource_column; c < columns_; ++c) sum[c] += needs[c] * chunk.count;
    }
    std::vector<std::pair<std::uint32_t, std::int64_t>> totals;
    for (std::uint32_t c = first_resource_column; c < columns_; ++c)
        if (sum[c] > 0) totals.emplace_back(c, sum[c]);
    return totals;
}

bool Vnodes::counts(PoolId pool, VnodeSlot vnode, std::uint32_t column) const {
    return column >= first_resource_column && column < columns_ && vnodes_[vnode].free &&
           row(vnode)[column] >= 0 && is_of(pool, vnode);
}

std::int64_t Vnodes::capacity(PoolId pool, std::uint32_t column) const {
    std::int64_t sum = 0;
    for (const VnodeSlot vnode : pools_[pool].vnodes)
        if (vnodes_[vnode].free) sum += std::max<std::int64_t>(0, total_[vnode * columns_ + column]);
    return sum;
}

// ---- Reservations.

void Vnodes::reserve(std::uint32_t id, Instant start, const Placement& placement, const Request& request,
                     const NodeSize& node_size, std::span<const JobSlot> gone) {
    suspended_.resize(std::max<std::size_t>(suspended_.size(), id + 1), false);
    std::vector<Part> parts = placement.parts;
    std::ranges::stable_sort(parts, {}, &Part::vnode);
    Needs kept;
    std::vector<JobSlot> gone_here;
    for (std::size_t first = 0, last = 0; first < parts.size(); first = last) {
        const VnodeSlot slot = parts[first].vnode;
        while (last < parts.size() && parts[last].vnode == slot) ++last;
        gone_here.clear();
        if (!gone.empty())
            std::ranges::copy_if(jobs_on(slot), std::back_inserter(gone_here),
                                 [&](JobSlot job) { return std::ranges::binary_search(gone, job); });
        std::vector<std::int64_t> over = row_without(slot, gone_here);
        for (const Part& part : std::span(parts).subspan(first, last - first)) {
            const Needs& needs = needs_of(placement, part, request, node_size, kept);
            for (std::uint32_t c = first_resource_column; c < columns_; ++c) over[c] -= needs[c] * part.count;
        }
        over[empty_column] = 0;
        if (request.exclusive) over[open_column] = closed;
        reserved_[slot].push_back({id, start, std::move(over)});
    }
}

void Vnodes::use_reserved(const Placement& placement, const Request& request, const NodeSize& node_size,
                          Instant ends) {
    if (reserved_.empty()) return;
    Needs kept;
    for (const Part& part : placement)
        use_over(part.vnode, needs_of(placement, part, request, node_size, kept), part.count, 1, ends);
}

// Of the reservations of a vnode that bind a job that ends then, what is over becomes less by so much (sign
// -1: more again).
void Vnodes::use_over(VnodeSlot vnode, const Needs& needs, std::int64_t count, int sign, Instant ends) {
    if (reserved_.empty()) return;
    const auto found = reserved_.find(vnode);
    if (found == reserved_.end()) return;
    for (Reserved& reserved : found->second) {
        if (ends <= reserved.start || suspended_[reserved.id]) continue;
        for (std::uint32_t c = first_resource_column; c < columns_; ++c)
            reserved.over[c] -= sign * needs[c] * count;
    }
}

}  // namespace pbs::sched
