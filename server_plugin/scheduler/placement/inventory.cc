#include "server_plugin/scheduler/placement/inventory.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "server_plugin/scheduler/model/host_name.h"
#include "server_plugin/scheduler/model/words.h"

namespace pbs::sched {
namespace {

// The columns of shares that count the job itself: its load on the vnode's host; itself as a job of the host;
// as a job that has the vnode exclusively; and as a job of the vnode. The last one comes after the vnode's
// amounts, because it sets the vnode's flags.
constexpr std::uint32_t kLoadShare = UINT32_MAX - 1;
constexpr std::uint32_t kHostShare = UINT32_MAX;
constexpr std::uint32_t kExclusiveShare = kOpenColumn;
constexpr std::uint32_t kJobShare = kEmptyColumn;
constexpr std::size_t kMostHostsOfAJob = 64;  // further hosts don't count the job

// If the job has whole hosts exclusively, adds the other vnodes of these hosts, on which it has no chunks.
// Afterwards the vnodes are sorted and unique.
template <class Slots>
void add_hosts(const Inventory& inventory, AskedSharing asked, Slots& vnodes) {
    const auto takes_host = [&](VnodeSlot vnode) { return inventory.sole(vnode, asked) == Sole::host; };
    if (std::ranges::any_of(vnodes, takes_host)) {
        Slots of_hosts;
        std::ranges::copy_if(vnodes, std::back_inserter(of_hosts), takes_host);
        inventory.widen_to_hosts(of_hosts);
        vnodes.insert(vnodes.end(), of_hosts.begin(), of_hosts.end());
    }
    sort_unique(vnodes);
}

// Sets `vnodes` to the vnodes that a job has with this placement.
template <class Slots>
void vnodes_of(const Inventory& inventory, const Placement& placement, AskedSharing asked, Slots& vnodes) {
    vnodes.clear();
    for (const Part& part : placement) vnodes.push_back(part.vnode);
    add_hosts(inventory, asked, vnodes);
}

// Returns the host of a vnode: resources_available.host if it is set, else the host in the record.
std::string_view host_of(const VnodeRecord& record, const Resources& resources) {
    const auto named =
        std::ranges::find(record.resources_available, resources.known().host, &Amount::resource);
    return named == record.resources_available.end() || named->text.empty() ? record.host : named->text;
}

}  // namespace

// ---- Vnodes.

bool Inventory::change(const VnodeRecord& record, const Resources& resources) {
    const auto [place, made] = by_handle_.emplace(static_cast<std::uint64_t>(record.vnode), size());
    const VnodeSlot slot = place->second;
    if (made) {
        vnodes_.emplace_back();
        total_.resize(vnodes_.size() * columns_.size());
        now_.free.resize(vnodes_.size() * columns_.size());
        now_.jobs.resize(vnodes_.size());
        is_changed_.resize(vnodes_.size());
    }
    Vnode& vnode = vnodes_[slot];
    const auto host = strings_->id(host_of(record, resources));
    const auto partition = strings_->id(record.partition);
    const bool same_pools = vnode.known && vnode.host == host && vnode.partition == partition &&
                            vnode.queue == record.queue && vnode.priority == record.priority;
    auto available = keep(record.resources_available);
    const bool same_amounts = vnode.available == available;
    const bool same_sharing = made || vnode.sharing == record.sharing;
    const bool only_load =
        same_pools && same_amounts && same_sharing && vnode.name == record.name && vnode.free == record.free;
    vnode.handle = record.vnode;
    vnode.known = true;
    vnode.name = record.name;
    if (made || vnode.host != host) set_host(slot, host);
    vnode.partition = partition;
    vnode.free = record.free;
    vnode.priority = record.priority;
    vnode.queue = record.queue;
    std::swap(vnode.available, available);
    vnode.sharing = record.sharing;
    gives_hosts_ = gives_hosts_ || sole(slot, AskedSharing::unsaid) == Sole::host;
    const bool had_maximum = vnode.max_load_thousandths >= 0 || vnode.busy;
    const bool load_matters = set_load(slot, record) && (had_maximum || record.max_load_thousandths >= 0);
    if (only_load && !columns_.lacks(vnode, resources)) return load_matters;
    if (columns_.lacks(vnode, resources) || !same_sharing || is_any_lost(slot, available)) {
        rebuild(resources);
        return true;
    }

    std::int64_t* const has = free_row(slot);
    for (std::uint32_t c = 0; c < columns_.size(); ++c) has[c] -= total(slot)[c];
    set_totals(slot);
    for (std::uint32_t c = 0; c < columns_.size(); ++c) has[c] += total(slot)[c];
    set_flags(slot);
    ++changes_;
    if (same_pools && same_amounts)
        note_change(slot);
    else
        ++version_;
    if (made) {  // the host may report jobs on the vnode before the vnode
        for (const HeldJob& held : held_)
            if (std::ranges::any_of(held.parts, [&](const Held& h) { return h.vnode == record.vnode; })) {
                rebuild(resources);
                return true;
            }
    }
    return true;
}

void Inventory::remove(VnodeHandle handle, const Resources& resources) {
    const VnodeSlot slot = find(handle);
    if (slot == kNoSlot) return;
    vnodes_[slot].known = false;
    vnodes_[slot].free = false;
    const auto available = std::exchange(vnodes_[slot].available, {});
    if (is_any_lost(slot, available)) return rebuild(resources);
    set_flags(slot);
    ++version_;
}

// Returns whether this vnode had a resource, among `before`, that no vnode has now. Such a resource isn't
// limited any more, as if no vnode had ever had it.
bool Inventory::is_any_lost(VnodeSlot slot, const std::vector<KeptAmount>& before) const {
    return std::ranges::any_of(before, [&](const KeptAmount& a) {
        const auto has = [&](const Vnode& vnode) {
            return std::ranges::find(vnode.available, a.resource, &KeptAmount::resource) !=
                   vnode.available.end();
        };
        return !has(vnodes_[slot]) && std::ranges::none_of(vnodes_, has);
    });
}

void Inventory::rebuild(const Resources& resources) {
    columns_.assign(vnodes_, resources);
    total_.assign(vnodes_.size() * columns_.size(), 0);
    for (VnodeSlot v = 0; v < vnodes_.size(); ++v) set_totals(v);
    now_ = no_amounts();
    now_.free = total_;
    for (VnodeSlot v = 0; v < vnodes_.size(); ++v) set_flags(v);
    for (HostLoad& load : host_loads_) load.started = 0;
    ++version_;
    for (HeldJob& held : held_) {
        for (Held& part : held.parts) part.slot = find(part.vnode);
        sort_by_slot(held);
    }
    jobs_on_.clear();
    for (JobSlot job = 0; job < held_place_.size(); ++job)
        if (held_place_[job] != 0) apply(job, -1);
}

void Inventory::multiply(std::int64_t factor) {
    for (std::size_t i = 0; i < total_.size(); ++i) {
        if (i % columns_.size() < kFirstResourceColumn) continue;
        now_.free[i] += total_[i] * (factor - 1);
        total_[i] *= factor;
    }
    factor_ = factor;
    ++version_;
}

VnodeSlot Inventory::find(VnodeHandle handle) const {
    const auto found = by_handle_.find(static_cast<std::uint64_t>(handle));
    return found == by_handle_.end() ? kNoSlot : found->second;
}

void Inventory::set_host(VnodeSlot slot, std::uint32_t host) {
    Vnode& vnode = vnodes_[slot];
    if (vnode.host_number < on_host_.size()) std::erase(on_host_[vnode.host_number], slot);
    vnode.host = host;
    vnode.host_number =
        host_numbers_.try_emplace(host, static_cast<std::uint32_t>(host_numbers_.size())).first->second;
    now_.on_host.resize(host_numbers_.size());
    host_loads_.resize(host_numbers_.size());
    on_host_.resize(host_numbers_.size());
    on_host_[vnode.host_number].push_back(slot);
}

void Inventory::set_totals(VnodeSlot slot) {
    std::int64_t* const row = &total_[slot * columns_.size()];
    std::fill_n(row, columns_.size(), 0);
    for (const KeptAmount& a : vnodes_[slot].available)
        if (const std::uint32_t column = columns_.of(a.resource); column != 0)
            row[column] = a.number * factor_;
}

void Inventory::set_flags(VnodeSlot slot, Amounts& amounts) const {
    const Amounts::Jobs& jobs = amounts.jobs[slot];
    std::int64_t* const row = &amounts.free[slot * columns_.size()];
    row[kOpenColumn] = openness(slot, row, jobs.all, jobs.exclusive);
    row[kEmptyColumn] = emptiness(vnodes_[slot].sharing, jobs.all != 0);
}

// Returns whether the vnode is open, busy or closed, given its free amounts (`row`), the number of jobs on
// it, and the number of those that have it exclusively.
Columns::Openness Inventory::openness(VnodeSlot slot, const std::int64_t* row, std::int32_t jobs,
                                      std::int32_t exclusive) const {
    const Vnode& vnode = vnodes_[slot];
    if (!vnode.free || exclusive > 0) return Columns::closed;
    const std::uint32_t ncpus = columns_.of(columns_.known().ncpus);
    const bool used_up = jobs > 0 && ncpus != 0 && total(slot)[ncpus] > 0 && row[ncpus] <= 0;
    return used_up ? Columns::busy : Columns::open;
}

bool Inventory::same_host(std::uint32_t a, std::uint32_t b) const {
    return a == b || same_host_name(strings_->text(a), strings_->text(b));
}

bool Inventory::matches(const Vnode& vnode, const Chunk& chunk) const {
    return std::ranges::all_of(chunk.matches, [&](const KeptAmount& wanted) {
        if (wanted.resource == columns_.known().vnode) return vnode.name == wanted.text;
        if (wanted.resource == columns_.known().host)
            return same_host_name(strings_->text(vnode.host), wanted.text);
        // If no vnode has a value of the resource, the wanted value is ignored, unless only vnodes can have
        // one.
        if (!columns_.is_defined(wanted.resource)) return true;
        for (const KeptAmount& has : vnode.available)
            if (has.resource == wanted.resource)
                return !wanted.text.empty()                   ? has_word(has.text, wanted.text)
                       : columns_.is_boolean(wanted.resource) ? has.number == wanted.number
                                                              : has.number >= wanted.number;
        // A boolean that isn't set counts as False, and a number as 0.
        return wanted.text.empty() && wanted.number == 0;
    });
}

std::int64_t Inventory::missed(VnodeSlot slot, std::span<const Preference> preferences) const {
    const Vnode& vnode = vnodes_[slot];
    const auto is_met = [&](const Preference& wanted) {
        if (wanted.resource == kNoResource) return false;
        if (wanted.resource == columns_.known().vnode) return wanted.is_met(vnode.name);
        if (wanted.resource == columns_.known().host) {
            const std::string_view host = strings_->text(vnode.host);
            const bool same = same_host_name(host, wanted.pattern);
            return wanted.how == values::Comparison::equal ? same || wanted.is_met(host)
                                                           : !same && wanted.is_met(host);
        }
        const auto has = std::ranges::find(vnode.available, wanted.resource, &KeptAmount::resource);
        if (has == vnode.available.end()) return columns_.is_boolean(wanted.resource) && wanted.is_met(0);
        if (!wanted.pattern.empty()) return wanted.is_met(has->text);
        const std::uint32_t column = columns_.of(wanted.resource);
        return wanted.is_met(column != 0 ? free(slot)[column] : has->number);
    };
    return std::ranges::count_if(preferences, [&](const Preference& wanted) { return !is_met(wanted); });
}

bool Inventory::has_some_of_each(const Request& request) const {
    return std::ranges::all_of(request.chunks, [&](const Chunk& chunk) {
        return std::ranges::all_of(chunk.needs, [&](const Need& need) { return !columns_.is_lacking(need); });
    });
}

bool Inventory::has_hosts_for(std::span<const VnodeSlot> vnodes, const Request& request) const {
    const Chunk& chunk = request.chunks.front();
    Row wanted = columns_.needs_of(chunk, AskedSharing::shared, {});
    for (std::uint32_t c = kFirstResourceColumn; c < wanted.size(); ++c) wanted[c] *= request.per_host;
    std::unordered_map<std::uint32_t, Row> hosts;
    for (const VnodeSlot slot : vnodes) {
        if (!matches(vnodes_[slot], chunk)) continue;
        Row& has = hosts.try_emplace(vnodes_[slot].host, wanted.size(), 0).first->second;
        for (std::uint32_t c = kFirstResourceColumn; c < wanted.size(); ++c)
            has[c] = std::min(wanted[c], has[c] + std::clamp<std::int64_t>(total(slot)[c], 0, wanted[c]));
    }
    const auto suffices = [&](const auto& host) {
        return std::equal(wanted.begin() + kFirstResourceColumn, wanted.end(),
                          host.second.begin() + kFirstResourceColumn);
    };
    return std::ranges::count_if(hosts, suffices) >= chunk.count / request.per_host;
}

bool Inventory::allowed(VnodeSlot slot, const PlaceRules& rules) const {
    const Vnode& vnode = vnodes_[slot];
    if (rules.host != 0 && !same_host(vnode.host, rules.host)) return false;
    if (rules.within != nullptr && !(*rules.within)[static_cast<std::size_t>(&vnode - vnodes_.data())])
        return false;
    if (const auto most = most_jobs_beside(slot, rules); most != INT64_MAX && jobs_on_host(vnode.host) > most)
        return false;
    if (rules.max_systime_percent > 0 && vnode.system_time_thousandths > rules.max_systime_percent * 10)
        return false;
    if (rules.max_load_percent > 0 && vnode.load_thousandths >= 0 &&
        jobs_on_host(vnode.host) >= rules.min_jobs_on_host) {
        const auto cpus =
            std::max<std::int64_t>(1, number_of(vnode.available, columns_.known().ncpus).value_or(1));
        if (vnode.load_thousandths > rules.max_load_percent * 10 * cpus) return false;
    }
    if (!rules.reserved.empty() &&
        is_reserved(vnode.available, rules.reserved, *rules.request) != kNoResource)
        return false;
    return !rules.load_balancing || !is_loaded(slot);
}

// ---- Amounts.

std::int64_t Inventory::free_amount(VnodeSlot vnode, std::uint32_t resource) const {
    const std::uint32_t column = columns_.of(resource);
    return column != 0 ? free(vnode)[column] : 0;
}

Row Inventory::free_with(VnodeSlot slot, std::span<const JobSlot> gone, std::span<const std::int64_t> taken,
                         std::int32_t come, std::int32_t alone) const {
    Row left(free(slot), free(slot) + columns_.size());
    for (std::size_t c = kFirstResourceColumn; c < taken.size(); ++c) left[c] -= taken[c];
    std::int32_t others = now_.jobs[slot].all + come;
    std::int32_t exclusive = now_.jobs[slot].exclusive + alone;
    for (const JobSlot job : gone) {
        const HeldJob* held = held_of(job);
        bool has_part = false;
        for_each_part_on(*held, slot, [&](const Held& part) {
            has_part = true;
            for (const Need& need : held->amounts_of(part))
                if (const std::uint32_t column = columns_.of(need.resource); column != 0)
                    left[column] += need.amount;
        });
        if (!has_part) continue;
        --others;
        if (sole(slot, held->sharing) != Sole::nothing) --exclusive;
    }
    left[kOpenColumn] = openness(slot, left.data(), others, exclusive);
    left[kEmptyColumn] = emptiness(vnodes_[slot].sharing, others != 0);
    return left;
}

bool Inventory::fits_any_chunk(VnodeSlot slot, std::span<const JobSlot> without, const Request& request,
                               const NodeSize& node_size) const {
    const Row left = free_without(slot, without);
    return std::ranges::any_of(request.chunks, [&](const Chunk& chunk) {
        const Row needs = columns_.needs_of(chunk, request.sharing, node_size);
        const bool fits = std::ranges::equal(
            left, needs, [](std::int64_t has, std::int64_t need) { return need <= 0 || has >= need; });
        return fits && matches(vnodes_[slot], chunk);
    });
}

bool Inventory::fits_parts(VnodeSlot slot, std::span<const JobSlot> without, std::span<const Part> parts,
                           const Request& request, const NodeSize& node_size) const {
    Row left = free_without(slot, without);
    if (left[kOpenColumn] < Columns::wanted_openness(node_size) ||
        left[kEmptyColumn] < emptiness_for(request.sharing))
        return false;
    for (const Part& part : parts) {
        const Row needs = columns_.needs_of(request.chunks[part.chunk], request.sharing, node_size);
        for (std::uint32_t c = kFirstResourceColumn; c < columns_.size(); ++c) {
            left[c] -= needs[c] * part.count;
            if (needs[c] > 0 && left[c] < 0) return false;
        }
    }
    return true;
}

void Inventory::add(VnodeSlot vnode, const Row& needs, std::int64_t count, int sign) {
    std::int64_t* const has = free_row(vnode);
    for (std::uint32_t c = kFirstResourceColumn; c < columns_.size(); ++c) has[c] += sign * needs[c] * count;
}

void Inventory::note_change(VnodeSlot vnode) {
    if (is_changed_[vnode]) return;
    is_changed_[vnode] = true;
    changed_.push_back(vnode);
}

void Inventory::clear_changed() {
    for (const VnodeSlot vnode : changed_) is_changed_[vnode] = false;
    changed_.clear();
}

// ---- Running jobs.

void Inventory::allocate(JobSlot job, std::span<const Place> places, const Request& request,
                         Instant started) {
    release(job);
    if (places.empty()) return;
    if (held_unused_.empty()) {
        held_unused_.push_back(static_cast<std::uint32_t>(held_.size()));
        held_.emplace_back();
    }
    const std::uint32_t place_of_job = held_unused_.back();
    held_unused_.pop_back();
    HeldJob& held = held_[place_of_job];
    held.sharing = request.sharing;
    held.started = started;
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

void Inventory::release(JobSlot job) {
    if (held_of(job) == nullptr) return;
    apply(job, 1);
    const std::uint32_t place = std::exchange(held_place_[job], 0) - 1;
    HeldJob& held = held_[place];
    held.parts.clear();
    held.amounts.clear();
    held_unused_.push_back(place);
}

bool Inventory::holds(JobSlot job, std::span<const Place> places, const Request& request) const {
    const HeldJob* held = held_of(job);
    if (held == nullptr) return places.empty();
    const auto same_amount = [](const Need& need, const Amount& amount) {
        return need.resource == amount.resource && need.amount == amount.number;
    };
    return held->sharing == request.sharing &&
           std::ranges::equal(held->parts, places, [&](const Held& part, const Place& place) {
               return part.vnode == place.vnode &&
                      std::ranges::equal(held->amounts_of(part), place.amounts, same_amount);
           });
}

// Subtracts a job's amounts from the free amounts (sign -1), or adds them (sign 1).
void Inventory::apply(JobSlot job, int sign) {
    const HeldJob& held = *held_of(job);
    for (const Held& part : held.parts) {
        const VnodeSlot slot = part.slot;
        if (slot == kNoSlot) continue;
        for (const Need& need : held.amounts_of(part))
            if (const std::uint32_t column = columns_.of(need.resource); column != 0)
                free_row(slot)[column] += sign * need.amount;
    }
    count_load(held, -sign);
    if (jobs_on_.size() < vnodes_.size()) jobs_on_.resize(vnodes_.size());
    for (const VnodeSlot slot : held.vnodes) {
        loads_.note(vnodes_[slot].host_number);
        auto& jobs = jobs_on_[slot];
        if (sign < 0) {
            jobs.push_back(job);
        } else if (const auto found = std::ranges::find(jobs, job); found != jobs.end()) {
            *found = jobs.back();
            jobs.pop_back();
        }
    }
    count_jobs(held.vnodes, held.sharing, -sign);
}

void Inventory::sort_by_slot(HeldJob& held) const {
    held.by_slot.resize(held.parts.size());
    for (std::uint32_t part = 0; part < held.parts.size(); ++part) held.by_slot[part] = part;
    const auto slot_of = [&](std::uint32_t part) { return held.parts[part].slot; };
    if (held.parts.size() > 1) std::ranges::sort(held.by_slot, {}, slot_of);
    held.vnodes.clear();
    for (const std::uint32_t part : held.by_slot)
        if (slot_of(part) != kNoSlot && (held.vnodes.empty() || held.vnodes.back() != slot_of(part)))
            held.vnodes.push_back(slot_of(part));
    add_hosts(*this, held.sharing, held.vnodes);
}

// Counts a job (sign 1), or removes it (sign -1), once on each of its vnodes and on each of their hosts.
void Inventory::count_jobs(std::span<const VnodeSlot> vnodes, AskedSharing asked, int sign) {
    ++changes_;
    auto& hosts = touched_hosts_;
    hosts.clear();
    for (const VnodeSlot slot : vnodes) {
        now_.jobs[slot].all += sign;
        assert(now_.jobs[slot].all >= 0);  // a job gives back each amount once
        if (sole(slot, asked) != Sole::nothing) now_.jobs[slot].exclusive += sign;
        set_flags(slot);
        note_change(slot);
        if (vnodes.size() == 1) {
            now_.on_host[vnodes_[slot].host_number] += sign;
            return;
        }
        const std::uint32_t host = vnodes_[slot].host_number;
        if (std::ranges::find(hosts, host) == hosts.end() && hosts.size() < kMostHostsOfAJob)
            hosts.push_back(host);
    }
    for (const auto host : hosts) now_.on_host[host] += sign;
}

std::int64_t Inventory::jobs_on_host(std::uint32_t host) const {
    const auto found = host_numbers_.find(host);
    return found == host_numbers_.end() ? 0 : now_.on_host[found->second];
}

// ---- Placements and shares.

void Inventory::apply(const Placement& placement, const Request& request, const NodeSize& node_size,
                      int sign) {
    for (const Part& part : placement) {
        add(part.vnode, columns_.needs_of(placement, part, request, node_size, needs_), part.count, sign);
        count_load(part.vnode, placement.amounts_of(part, request), -sign * part.count);
    }
    // count_jobs() also notes that these vnodes changed.
    vnodes_of(*this, placement, request.sharing, touched_);
    count_jobs(touched_, request.sharing, -sign);
}

void Inventory::shares_held(JobSlot job, Shares& out) const {
    const HeldJob* held = held_of(job);
    if (held == nullptr) return;
    for (const Held& part : held->parts) {
        if (part.slot == kNoSlot) continue;
        for (const Need& need : held->amounts_of(part))
            if (const std::uint32_t column = columns_.of(need.resource); column != 0)
                out.push_back({part.slot, column, need.amount});
        if (counts_load(*held, part.slot))
            out.push_back({part.slot, kLoadShare, load_of(held->amounts_of(part))});
    }
    add_job_shares(held->vnodes, held->sharing, out);
}

void Inventory::shares_of(const Placement& placement, const Request& request, const NodeSize& node_size,
                          Shares& out) const {
    Row kept;
    for (const Part& part : placement) {
        const Row& needs = columns_.needs_of(placement, part, request, node_size, kept);
        for (std::uint32_t c = kFirstResourceColumn; c < columns_.size(); ++c)
            if (needs[c] != 0) out.push_back({part.vnode, c, needs[c] * part.count});
        if (has_maximal_loads_)
            out.push_back(
                {part.vnode, kLoadShare, part.count * load_of(placement.amounts_of(part, request))});
    }
    absl::InlinedVector<VnodeSlot, 4> vnodes;
    vnodes_of(*this, placement, request.sharing, vnodes);
    add_job_shares(vnodes, request.sharing, out);
}

// Adds the shares that count the job itself. They have to agree with the counts of count_jobs().
void Inventory::add_job_shares(std::span<const VnodeSlot> vnodes, AskedSharing asked, Shares& out) const {
    std::vector<std::uint32_t> hosts;
    hosts.reserve(vnodes.size() > 1 ? vnodes.size() : 0);
    for (const VnodeSlot slot : vnodes) {
        if (sole(slot, asked) != Sole::nothing) out.push_back({slot, kExclusiveShare, 1});
        out.push_back({slot, kJobShare, 1});
        const std::uint32_t host = vnodes_[slot].host;
        if (std::ranges::find(hosts, host) != hosts.end() || hosts.size() >= kMostHostsOfAJob) continue;
        if (vnodes.size() > 1) hosts.push_back(host);
        out.push_back({slot, kHostShare, 1});
    }
}

void Inventory::add(std::span<const Share> shares, int sign, std::vector<VnodeSlot>& changed) {
    const std::size_t before = changed.size();
    add(shares, sign, changed, now_);
    for (std::size_t i = before; i < changed.size(); ++i) set_flags(changed[i]);
    for (const Share& share : shares)
        if (share.column == kLoadShare)
            host_loads_[vnodes_[share.vnode].host_number].started -= sign * share.amount;
}

void Inventory::add(std::span<const Share> shares, int sign, std::vector<VnodeSlot>& changed,
                    Amounts& to) const {
    for (const Share& share : shares) {
        switch (share.column) {
            case kLoadShare:
                break;
            case kHostShare:
                to.on_host[vnodes_[share.vnode].host_number] -= sign;
                break;
            case kExclusiveShare:
                to.jobs[share.vnode].exclusive -= sign;
                break;
            case kJobShare:
                to.jobs[share.vnode].all -= sign;
                changed.push_back(share.vnode);
                break;
            default:
                to.free[share.vnode * columns_.size() + share.column] += sign * share.amount;
        }
    }
}

Inventory::Amounts Inventory::no_amounts() const {
    Amounts none;
    none.free.resize(total_.size());
    none.jobs.resize(vnodes_.size());
    none.on_host.resize(host_numbers_.size());
    return none;
}

void Inventory::sum(VnodeSlot vnode, const Amounts& amounts, const Amounts& differences, Amounts& out) const {
    const std::size_t first = std::size_t{vnode} * columns_.size();
    for (std::size_t i = first + kFirstResourceColumn; i < first + columns_.size(); ++i)
        out.free[i] = amounts.free[i] + differences.free[i];
    out.jobs[vnode] = {amounts.jobs[vnode].all + differences.jobs[vnode].all,
                       amounts.jobs[vnode].exclusive + differences.jobs[vnode].exclusive};
    set_flags(vnode, out);
    const std::uint32_t host = vnodes_[vnode].host_number;
    out.on_host[host] = amounts.on_host[host] + differences.on_host[host];
}

}  // namespace pbs::sched
