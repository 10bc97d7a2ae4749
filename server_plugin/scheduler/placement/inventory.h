// The inventory of vnodes: their states, their amounts of resources, and how much of each amount is free.
#pragma once

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/model/intern.h"
#include "server_plugin/scheduler/model/job_table.h"
#include "server_plugin/scheduler/model/request.h"
#include "server_plugin/scheduler/model/sort_unique.h"
#include "server_plugin/scheduler/placement/columns.h"
#include "server_plugin/scheduler/placement/host_loads.h"
#include "server_plugin/scheduler/placement/vnode.h"

namespace pbs::sched {

// The vnodes with their amounts, and the free part of each amount.
//
// Running jobs hold the places that the host has reported. A cycle assumes the placements of the jobs that it
// starts, and forgets placements that aren't used. A look-ahead, the search for a later start, frees the
// shares of jobs that end, and takes those of jobs that start. All of these change the free amounts.
class Inventory {
  public:
    // A job's share of a vnode in one column of its row. Some columns count the job itself. Valid until
    // version() grows.
    struct Share {
        VnodeSlot vnode = 0;
        std::uint32_t column = 0;
        std::int64_t amount = 0;
    };
    using Shares = absl::InlinedVector<Share, 6>;

    // `strings` has the names of hosts, and has to outlive the inventory.
    explicit Inventory(Interner& strings) : strings_(&strings) {}

    // ---- Vnodes.

    // Stores a record of a vnode. Returns false if nothing has changed but the load of a vnode without a
    // maximum.
    bool change(const VnodeRecord& record, const Resources& resources);
    // Notes that the vnode is gone. Its slot remains, and has `known` false.
    void remove(VnodeHandle vnode, const Resources& resources);
    // Makes the columns and all rows again, after a resource was defined or changed.
    void rebuild(const Resources& resources);
    // Multiplies all amounts by `factor` (FAKE_MACHINE_MULT). Only used on a copy of the inventory.
    void multiply(std::int64_t factor);
    // Returns the slot of a vnode; kNoSlot: the host hasn't reported it.
    VnodeSlot find(VnodeHandle handle) const;
    const Vnode& operator[](VnodeSlot slot) const { return vnodes_[slot]; }
    // Returns the number of slots, including those of vnodes that are gone.
    VnodeSlot size() const { return static_cast<VnodeSlot>(vnodes_.size()); }
    // Returns all vnodes on the host of this vnode.
    std::span<const VnodeSlot> of_host(VnodeSlot vnode) const { return on_host_[vnodes_[vnode].host_number]; }
    bool same_host(std::uint32_t a, std::uint32_t b) const;
    // Replaces the vnodes by all vnodes of their hosts, in order and each once.
    template <class Slots>
    void widen_to_hosts(Slots& vnodes) const {
        absl::InlinedVector<std::uint32_t, 4> hosts;
        for (const VnodeSlot vnode : vnodes) hosts.push_back(vnodes_[vnode].host_number);
        sort_unique(hosts);
        vnodes.clear();
        for (const std::uint32_t host : hosts)
            vnodes.insert(vnodes.end(), on_host_[host].begin(), on_host_[host].end());
        sort_unique(vnodes);
    }
    // Returns whether the vnode has the requested values of the resources in Chunk::matches, which aren't
    // consumable.
    bool matches(const Vnode& vnode, const Chunk& chunk) const;
    // Returns the number of these preferences that the vnode doesn't meet. A preference for an amount looks
    // at its free part.
    std::int64_t missed(VnodeSlot vnode, std::span<const Preference> preferences) const;
    // Returns whether the load of the vnode's host has reached its maximum, and hasn't fallen to the ideal
    // load since. The CPUs of jobs that started after the measurement count as load.
    bool is_loaded(VnodeSlot vnode) const;
    // Returns whether any vnode has been reported as busy, or with a maximum load.
    bool has_maximal_loads() const { return has_maximal_loads_; }
    // The instant at which the load of the vnode's host was measured.
    Instant load_at(VnodeSlot vnode) const { return host_loads_[vnodes_[vnode].host_number].at; }
    // The orders of vnodes by load, and the corrections of loads for jobs that have just started.
    HostLoads& loads() { return loads_; }
    const HostLoads& loads() const { return loads_; }
    // Grows when the load average of a vnode changes.
    std::uint64_t load_version() const { return load_version_; }
    // The hosts are numbered from 0. hosts() returns how many there are, on_host() the vnodes of one, and
    // host_cpus() the sum of their CPUs.
    std::uint32_t hosts() const { return static_cast<std::uint32_t>(on_host_.size()); }
    std::span<const VnodeSlot> on_host(std::uint32_t host) const { return on_host_[host]; }
    std::int64_t host_cpus(std::uint32_t host) const;
    // The start of a running job on a host, with the job's CPUs there.
    struct Start {
        Instant began{};
        std::int64_t cpus = 0;
    };
    // Returns the starts on the host after `after` of jobs that still run, in no order.
    std::vector<Start> starts(std::uint32_t host, Instant after) const;
    // Returns whether some vnode has each resource that chunks request and only vnodes can have. If not,
    // there is no place.
    bool has_some_of_each(const Request& request) const;
    // For a request with per_host: returns whether enough hosts of these vnodes would have room for per_host
    // chunks each if nothing ran. Amounts of a host's vnodes count together. O(vnodes).
    bool has_hosts_for(std::span<const VnodeSlot> vnodes, const Request& request) const;
    // Returns what a job with this request has exclusively if it is on the vnode.
    Sole sole(VnodeSlot vnode, AskedSharing asked) const { return sole_of(asked, vnodes_[vnode].sharing); }
    // Changes the flags (the open and the empty column) in a vnode's free row as if a job with this request
    // were on the vnode.
    void enter(VnodeSlot vnode, AskedSharing asked, Row& row) const {
        row[kEmptyColumn] = emptiness(vnodes_[vnode].sharing, true);
        if (sole(vnode, asked) != Sole::nothing) row[kOpenColumn] = Columns::closed;
    }
    // Returns whether any vnode has been reported to give jobs whole hosts.
    bool gives_hosts() const { return gives_hosts_; }
    // Returns the number of other jobs that may be on the vnode's host beside a job with these rules;
    // INT64_MAX: no limit.
    std::int64_t most_jobs_beside(VnodeSlot vnode, const PlaceRules& rules) const {
        if (sole(vnode, rules.sharing) == Sole::host) return 0;
        return rules.max_jobs_on_host > 0 ? rules.max_jobs_on_host - 1 : INT64_MAX;
    }
    // Returns whether the rules permit a job on the vnode now.
    bool allowed(VnodeSlot vnode, const PlaceRules& rules) const;
    std::string_view host_name(const Vnode& vnode) const { return strings_->text(vnode.host); }

    // ---- Amounts.

    const Columns& columns() const { return columns_; }
    // The total amounts of a vnode, and its free amounts.
    const std::int64_t* total(VnodeSlot vnode) const { return &total_[vnode * columns_.size()]; }
    const std::int64_t* free(VnodeSlot vnode) const { return &now_.free[vnode * columns_.size()]; }
    // The numbers of jobs with a share of the vnode, and of those of them that have it exclusively.
    std::int32_t jobs(VnodeSlot vnode) const { return now_.jobs[vnode].all; }
    std::int32_t exclusive_jobs(VnodeSlot vnode) const { return now_.jobs[vnode].exclusive; }
    bool is_exclusive(VnodeSlot vnode) const { return exclusive_jobs(vnode) > 0; }
    std::int64_t free_amount(VnodeSlot vnode, std::uint32_t resource) const;
    // Returns the free amounts of a vnode as if these jobs held nothing of it.
    Row free_without(VnodeSlot vnode, std::span<const JobSlot> jobs) const {
        return free_with(vnode, jobs, {}, 0, 0);
    }
    // Returns the free amounts as if the jobs `gone` held nothing of the vnode, and `come` further jobs were
    // on it, `alone` of them exclusively, which hold `taken` together (a Row; empty: nothing).
    Row free_with(VnodeSlot vnode, std::span<const JobSlot> gone, std::span<const std::int64_t> taken,
                  std::int32_t come, std::int32_t alone) const;
    // Returns the sum of a request's chunks (Columns::totals).
    std::vector<std::pair<std::uint32_t, std::int64_t>> totals(const Request& request,
                                                               const NodeSize& node_size) const {
        return columns_.totals(request, node_size);
    }
    // Return whether one of the request's chunks (fits_any_chunk), or all of these parts of a placement
    // (fits_parts), would fit on the vnode if the jobs `without` were gone from it. O(parts + jobs).
    bool fits_any_chunk(VnodeSlot vnode, std::span<const JobSlot> without, const Request& request,
                        const NodeSize& node_size) const;
    bool fits_parts(VnodeSlot vnode, std::span<const JobSlot> without, std::span<const Part> parts,
                    const Request& request, const NodeSize& node_size) const;

    // ---- Running jobs.

    // allocate() gives a running job its places; release() frees them. `started`: the instant of its start.
    void allocate(JobSlot job, std::span<const Place> places, const Request& request, Instant started = {});
    void release(JobSlot job);
    // Corrects the instant of a running job's start.
    void set_started(JobSlot job, Instant started);
    // Returns whether the job holds exactly these places.
    bool holds(JobSlot job, std::span<const Place> places, const Request& request) const;
    // Returns the vnodes that a running job holds, in order of their slots. Valid until the job changes.
    std::span<const VnodeSlot> held_by(JobSlot job) const {
        const HeldJob* held = held_of(job);
        return held != nullptr ? std::span<const VnodeSlot>(held->vnodes) : std::span<const VnodeSlot>();
    }
    // Calls `visit` with the vnode's handle and the amounts (a span of Need) of each place of a job, as
    // reported by the host.
    template <class Visit>
    void for_each_held(JobSlot job, Visit visit) const {
        if (const HeldJob* held = held_of(job))
            for (const Held& part : held->parts) visit(part.vnode, held->amounts_of(part));
    }
    // Returns the running jobs that hold a share of the vnode, in no order. Valid until a job starts or ends.
    std::span<const JobSlot> jobs_on(VnodeSlot vnode) const {
        return vnode < jobs_on_.size() ? std::span<const JobSlot>(jobs_on_[vnode])
                                       : std::span<const JobSlot>();
    }
    // Returns the number of jobs on a host. `host` is the id of its name.
    std::int64_t jobs_on_host(std::uint32_t host) const;

    // ---- Placements and shares.

    // assume() subtracts from the free amounts the placement of a job that the cycle starts; forget() adds it
    // again.
    void assume(const Placement& placement, const Request& request, const NodeSize& node_size) {
        apply(placement, request, node_size, -1);
    }
    void forget(const Placement& placement, const Request& request, const NodeSize& node_size) {
        apply(placement, request, node_size, 1);
    }
    // Append the shares of a running job, or of a placement, to `out`.
    void shares_held(JobSlot job, Shares& out) const;
    void shares_of(const Placement& placement, const Request& request, const NodeSize& node_size,
                   Shares& out) const;

    // Grows when vnodes come, go, move or have other amounts, when the columns change, and by drop_pools().
    // All pools then become invalid.
    std::uint64_t version() const { return version_; }
    // Makes all pools invalid.
    void drop_pools() { ++version_; }
    // Grows when a job takes or gives back anything, and when the amounts of a vnode change.
    std::uint64_t changes() const { return changes_; }

  private:
    // All that changes with the jobs on vnodes, but for loads.
    struct Amounts {
        struct Jobs {
            std::int32_t all = 0;        // the jobs with a share of the vnode
            std::int32_t exclusive = 0;  // those of them that have it exclusively
        };
        std::vector<std::int64_t> free{};     // a row for each vnode
        std::vector<Jobs> jobs{};             // by vnode
        std::vector<std::int64_t> on_host{};  // the number of jobs, by host number
    };
    // FitIndex changes free amounts during a search or a look-ahead, and updates its trees.
    friend class FitIndex;
    // HostLoads notes vnodes whose position in an order by load changes.
    friend class HostLoads;
    // Subtracts `count` times `needs` from the free amounts of a vnode (sign -1), or adds it (sign 1).
    void add(VnodeSlot vnode, const Row& needs, std::int64_t count, int sign);
    // Adds shares of vnodes to their free amounts (sign 1) or subtracts them (sign -1). Appends the vnodes
    // whose free amounts or flags change to `changed`.
    void add(std::span<const Share> shares, int sign, std::vector<VnodeSlot>& changed);
    // Does the same in a list of differences, which has no flags. Ignores loads.
    void add(std::span<const Share> shares, int sign, std::vector<VnodeSlot>& changed, Amounts& to) const;
    // Returns such a list, with no differences.
    Amounts no_amounts() const;
    // Sets the amounts of a vnode and its host in `out` to those in `amounts` with the differences.
    void sum(VnodeSlot vnode, const Amounts& amounts, const Amounts& differences, Amounts& out) const;
    // The vnodes whose free amounts or flags changed since the last clear_changed(), each once.
    std::vector<VnodeSlot>& changed() { return changed_; }
    void clear_changed();

    struct Held {
        VnodeHandle vnode{};
        VnodeSlot slot = kNoSlot;  // kNoSlot: the host hasn't reported the vnode
        std::uint32_t first = 0;   // the index of its first amount in HeldJob::amounts
        std::uint32_t count = 0;
    };
    struct HeldJob {
        std::vector<Held> parts;
        std::vector<Need> amounts;           // the amounts of all parts
        std::vector<std::uint32_t> by_slot;  // the indices of the parts, in order of their vnodes' slots
        std::vector<VnodeSlot> vnodes;       // the slots of the reported vnodes, in order
        AskedSharing sharing = AskedSharing::unsaid;
        Instant started{};
        std::span<const Need> amounts_of(const Held& part) const {
            return std::span(amounts).subspan(part.first, part.count);
        }
    };
    // The load of a host: the time of its measurement, and the CPUs of jobs that have started since, in
    // thousandths.
    struct HostLoad {
        Instant at{};
        std::int64_t started = 0;
    };
    const HeldJob* held_of(JobSlot job) const {
        return job < held_place_.size() && held_place_[job] != 0 ? &held_[held_place_[job] - 1] : nullptr;
    }
    void sort_by_slot(HeldJob& held) const;
    // Calls `visit` with each part of the job on this vnode.
    template <class Visit>
    static void for_each_part_on(const HeldJob& held, VnodeSlot vnode, const Visit& visit) {
        const auto slot_of = [&](std::uint32_t part) { return held.parts[part].slot; };
        for (auto part = std::ranges::lower_bound(held.by_slot, vnode, {}, slot_of);
             part != held.by_slot.end() && slot_of(*part) == vnode; ++part)
            visit(held.parts[*part]);
    }

    bool is_any_lost(VnodeSlot slot, const std::vector<KeptAmount>& before) const;
    std::int64_t* free_row(VnodeSlot vnode) { return &now_.free[vnode * columns_.size()]; }
    void set_host(VnodeSlot vnode, std::uint32_t host);
    void set_totals(VnodeSlot vnode);
    void set_flags(VnodeSlot vnode) { set_flags(vnode, now_); }
    void set_flags(VnodeSlot vnode, Amounts& amounts) const;
    Columns::Openness openness(VnodeSlot vnode, const std::int64_t* row, std::int32_t jobs,
                               std::int32_t exclusive) const;
    void note_change(VnodeSlot vnode);
    bool set_load(VnodeSlot vnode, const VnodeRecord& record);
    std::int64_t load_of(std::span<const Need> needs) const;
    bool counts_load(const HeldJob& held, VnodeSlot vnode) const;
    void count_load(VnodeSlot vnode, std::span<const Need> needs, std::int64_t times);
    void count_load(const HeldJob& held, int sign);
    void apply(JobSlot job, int sign);
    void apply(const Placement& placement, const Request& request, const NodeSize& node_size, int sign);
    void count_jobs(std::span<const VnodeSlot> vnodes, AskedSharing asked, int sign);
    void add_job_shares(std::span<const VnodeSlot> vnodes, AskedSharing asked, Shares& out) const;

    Interner* strings_ = nullptr;  // belongs to the scheduler, which outlives the inventory
    std::vector<Vnode> vnodes_;
    std::unordered_map<std::uint64_t, VnodeSlot> by_handle_;
    Columns columns_;
    std::int64_t factor_ = 1;
    std::vector<std::int64_t> total_;         // a row for each vnode
    Amounts now_;                             // in a look-ahead: those of a later instant
    std::vector<HeldJob> held_;               // an element without parts is unused
    std::vector<std::uint32_t> held_place_;   // by job, its index in held_ plus 1; 0: the job holds nothing
    std::vector<std::uint32_t> held_unused_;  // the indices of unused elements of held_
    std::vector<std::vector<JobSlot>> jobs_on_;                      // by vnode
    std::unordered_map<std::uint32_t, std::uint32_t> host_numbers_;  // by the id of the host's name
    std::vector<HostLoad> host_loads_;                               // by host number
    HostLoads loads_;
    std::uint64_t load_version_ = 0;
    bool has_maximal_loads_ = false;
    bool gives_hosts_ = false;
    std::vector<std::vector<VnodeSlot>> on_host_;  // by host number
    std::vector<VnodeSlot> changed_;               // vnodes that changed since clear_changed()
    std::vector<bool> is_changed_;                 // by vnode: changed_ contains it
    std::uint64_t version_ = 1;
    std::uint64_t changes_ = 0;
    // Memory that calls reuse.
    Row needs_;
    std::vector<VnodeSlot> touched_;
    std::vector<std::uint32_t> touched_hosts_;
};

}  // namespace pbs::sched
