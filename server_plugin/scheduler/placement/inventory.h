// The vnodes there are: their state, what they have, and what is free of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/model/intern.h"
#include "server_plugin/scheduler/model/job_table.h"
#include "server_plugin/scheduler/model/request.h"
#include "server_plugin/scheduler/placement/columns.h"
#include "server_plugin/scheduler/placement/vnode.h"

namespace pbs::sched {

// Running jobs are allocated the places that hosts told of. A cycle assumes the placements of the jobs that
// it starts, and forgets those that don't come to be. Looking ahead, shares are given back and taken. All of
// that changes what is free.
class Inventory {
  public:
    // What a job has of a vnode, by column of its row; some columns stand for the job itself. Valid until
    // version() grows.
    struct Share {
        VnodeSlot vnode = 0;
        std::uint32_t column = 0;
        std::int64_t amount = 0;
    };

    // `strings` has the names of hosts; it has to outlive this.
    explicit Inventory(Interner& strings) : strings_(&strings) {}

    // ---- Vnodes.

    // Takes up what was told of a vnode. False: nothing but its load is another one.
    bool change(const VnodeRecord& record, const Resources& resources);
    // The vnode is gone. Its slot stays, and isn't known.
    void remove(VnodeHandle vnode);
    // Which resources count is found out again, after a definition of one.
    void rebuild(const Resources& resources);
    // All amounts times `factor` (FAKE_MACHINE_MULT), on a copy.
    void multiply(std::int64_t factor);
    // The slot of a vnode; no_slot: it hasn't been told of.
    VnodeSlot find(VnodeHandle handle) const;
    const Vnode& operator[](VnodeSlot slot) const { return vnodes_[slot]; }
    // How many slots there are, those of vnodes that are gone among them.
    VnodeSlot size() const { return static_cast<VnodeSlot>(vnodes_.size()); }
    // All vnodes of the host of one.
    std::span<const VnodeSlot> of_host(VnodeSlot vnode) const { return on_host_[vnodes_[vnode].host_number]; }
    bool same_host(std::uint32_t a, std::uint32_t b) const;
    // Has the vnode the values of other resources that the chunk asks for?
    bool matches(const Vnode& vnode, const Chunk& chunk) const;
    // Do the rules let a job onto the vnode now?
    bool allowed(const Vnode& vnode, const PlaceRules& rules) const;
    // How a host is called.
    std::string_view host_name(const Vnode& vnode) const { return strings_->text(vnode.host); }

    // ---- Amounts.

    const Columns& columns() const { return columns_; }
    // What a vnode has, and what is free of it.
    const std::int64_t* total(VnodeSlot vnode) const { return &total_[vnode * columns_.size()]; }
    const std::int64_t* free(VnodeSlot vnode) const { return &free_[vnode * columns_.size()]; }
    std::int64_t free_amount(VnodeSlot vnode, std::uint32_t resource) const;
    // What is free of a vnode once these of the jobs on it have let go.
    Row free_without(VnodeSlot vnode, std::span<const JobSlot> jobs) const;
    // What the chunks of a request ask for together, by column.
    std::vector<std::pair<std::uint32_t, std::int64_t>> totals(const Request& request,
                                                               const NodeSize& node_size) const {
        return columns_.totals(request, node_size);
    }
    // Without some of the jobs on it, has the vnode room for a chunk of any kind that the request asks for;
    // and for parts of a placement that are on it? O(parts + jobs).
    bool fits_any_chunk(VnodeSlot vnode, std::span<const JobSlot> without, const Request& request,
                        const NodeSize& node_size) const;
    bool fits_parts(VnodeSlot vnode, std::span<const JobSlot> without, std::span<const Part> parts,
                    const Request& request, const NodeSize& node_size) const;

    // ---- Running jobs.

    // A running job takes its places, and gives them back.
    void allocate(JobSlot job, std::span<const Place> places, bool exclusive);
    void release(JobSlot job);
    // Are these the places of the job?
    bool holds(JobSlot job, std::span<const Place> places, bool exclusive) const;
    // The vnodes that a running job holds, in order. Valid until it changes.
    std::span<const VnodeSlot> held_by(JobSlot job) const {
        const HeldJob* held = held_of(job);
        return held != nullptr ? std::span<const VnodeSlot>(held->vnodes) : std::span<const VnodeSlot>();
    }
    // Calls `visit` with the handle and the amounts (a span of Need) of each place that a job holds, as told.
    template <class Visit>
    void for_each_held(JobSlot job, Visit visit) const {
        if (const HeldJob* held = held_of(job))
            for (const Held& part : held->parts) visit(part.vnode, held->amounts_of(part));
    }
    // The running jobs that hold a share of it, in no particular order. Valid until a job begins or ends.
    std::span<const JobSlot> jobs_on(VnodeSlot vnode) const {
        return vnode < jobs_on_.size() ? std::span<const JobSlot>(jobs_on_[vnode])
                                       : std::span<const JobSlot>();
    }
    // How many jobs a host has, by its name.
    std::int64_t jobs_on_host(std::uint32_t host) const;

    // ---- Placements and shares.

    // A job that is started takes its placement; forget() gives it back.
    void assume(const Placement& placement, const Request& request, const NodeSize& node_size) {
        apply(placement, request, node_size, -1);
    }
    void forget(const Placement& placement, const Request& request, const NodeSize& node_size) {
        apply(placement, request, node_size, 1);
    }
    // The shares of a running job, and of one that is placed, appended to `out`.
    void shares_held(JobSlot job, std::vector<Share>& out) const;
    void shares_of(const Placement& placement, const Request& request, const NodeSize& node_size,
                   std::vector<Share>& out) const;

    // Grows whenever vnodes come, go or move, or the columns are others: pools are void then.
    std::uint64_t version() const { return version_; }
    // Grows whenever jobs take or give back anything, and when a vnode has other amounts.
    std::uint64_t changes() const { return changes_; }

  private:
    // What the index does while it looks for a place or ahead. It tells its trees of it by itself.
    friend class FitIndex;
    // So much less (sign -1) or more is free.
    void add(VnodeSlot vnode, const Row& needs, std::int64_t count, int sign);
    // Shares are given back (sign 1) or taken (-1). The vnodes of which anything else is free then are
    // appended to `changed`.
    void add(std::span<const Share> shares, int sign, std::vector<VnodeSlot>& changed);
    // The vnodes of which anything else is free than when this was last asked, each once; none while no pool
    // knows of them.
    std::vector<VnodeSlot>& changed() { return changed_; }
    void clear_changed();

    struct Held {
        VnodeHandle vnode{};
        VnodeSlot slot = no_slot;  // no_slot: the vnode hasn't been told of
        std::uint32_t first = 0;   // of its amounts
        std::uint32_t count = 0;
    };
    struct HeldJob {
        std::vector<Held> parts;
        std::vector<Need> amounts;           // of all parts
        std::vector<std::uint32_t> by_slot;  // the parts in order of their slots
        std::vector<VnodeSlot> vnodes;       // that have been told of, in order
        bool exclusive = false;
        std::span<const Need> amounts_of(const Held& part) const {
            return std::span(amounts).subspan(part.first, part.count);
        }
    };
    const HeldJob* held_of(JobSlot job) const {
        return job < held_place_.size() && held_place_[job] != 0 ? &held_[held_place_[job] - 1] : nullptr;
    }
    static void sort_by_slot(HeldJob& held);

    std::int64_t* free_row(VnodeSlot vnode) { return &free_[vnode * columns_.size()]; }
    void set_host(VnodeSlot vnode, std::uint32_t host);
    void set_totals(VnodeSlot vnode);
    void set_flags(VnodeSlot vnode);
    Columns::Openness openness(VnodeSlot vnode, const std::int64_t* row, std::int32_t jobs,
                               std::int32_t exclusive) const;
    void note_change(VnodeSlot vnode);
    void apply(JobSlot job, int sign);
    void apply(const Placement& placement, const Request& request, const NodeSize& node_size, int sign);
    void count_jobs(std::span<const VnodeSlot> vnodes, bool exclusive, int sign);
    void add_job_shares(std::span<const VnodeSlot> vnodes, bool exclusive, std::vector<Share>& out) const;

    Interner* strings_ = nullptr;  // the scheduler's, which outlives this
    std::vector<Vnode> vnodes_;
    std::unordered_map<std::uint64_t, VnodeSlot> by_handle_;
    Columns columns_;
    std::int64_t factor_ = 1;
    std::vector<std::int64_t> total_;  // a row a vnode
    std::vector<std::int64_t> free_;
    std::vector<HeldJob> held_;                  // without parts: to be used again
    std::vector<std::uint32_t> held_place_;      // by job, its place there and 1; 0: it holds nothing
    std::vector<std::uint32_t> held_unused_;     // places
    std::vector<std::vector<JobSlot>> jobs_on_;  // by vnode
    std::unordered_map<std::uint32_t, std::uint32_t> host_numbers_;  // by name
    std::vector<std::int64_t> host_jobs_;                            // by number
    std::vector<std::vector<VnodeSlot>> on_host_;                    // the same
    std::vector<VnodeSlot> changed_;                                 // since clear_changed(),
    std::vector<bool> is_changed_;                                   // and which those are
    std::uint64_t version_ = 1;
    std::uint64_t changes_ = 0;
    // Room for what a placement takes of a vnode, for its vnodes and their hosts.
    Row needs_;
    std::vector<VnodeSlot> touched_;
    std::vector<std::uint32_t> touched_hosts_;
};

}  // namespace pbs::sched
