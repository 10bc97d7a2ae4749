// The vnodes with what is free on them, and the search for a place for a job.
//
// A pool is the set of vnodes that a queue may use. Each has a tree of maxima over its vnodes, so that the
// first vnode with enough of everything is found without walking over all of them, and a change of one vnode
// costs the logarithm of their number.
//
// By the standard algorithm a chunk that no vnode of a host has room for may have pieces of several of them,
// as in OpenPBS. Such a pool has its vnodes in the order of their hosts, and a second tree: of what the
// vnodes of each host have together (vnodes_divide.cc).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/model/intern.h"
#include "server_plugin/scheduler/model/job_table.h"
#include "server_plugin/scheduler/model/request.h"

namespace pbs::sched {

using VnodeSlot = std::uint32_t;
using PoolId = std::uint32_t;

struct Vnode {
    VnodeHandle handle{};
    bool known = false;
    std::string name;
    std::uint32_t host = 0;
    std::uint32_t host_number = 0;  // of the hosts that vnodes are on, from 0
    bool free = true;
    std::int32_t priority = 0;
    QueueHandle queue{};
    std::uint32_t partition = 0;
    std::vector<KeptAmount> available;
    std::int64_t load_thousandths = -1;
    std::int64_t system_time_thousandths = -1;
    std::int32_t jobs = 0;       // that hold a share of it
    std::int32_t exclusive = 0;  // of them, those that want it for themselves
};

// A share of a vnode: `count` times chunk number `chunk` of a request, or a piece of one of these.
struct Part {
    VnodeSlot vnode = 0;
    std::uint32_t chunk = 0;
    std::int64_t count = 0;
    std::uint32_t first_amount = 0;  // of a piece, in Placement::amounts
    std::uint32_t amounts = 0;       // of a piece; 0: these are whole chunks
    bool joined = false;             // a piece of the same chunk as the part before
    bool is_piece() const { return amounts > 0; }
};

// Where the chunks of a job are, in their order.
struct Placement {
    std::vector<Part> parts;
    std::vector<Need> amounts;  // of the pieces

    auto begin() const { return parts.begin(); }
    auto end() const { return parts.end(); }
    bool empty() const { return parts.empty(); }
    void clear() {
        parts.clear();
        amounts.clear();
    }
    // What of each resource a part has, `count` times.
    std::span<const Need> amounts_of(const Part& part, const Request& request) const {
        if (!part.is_piece()) return request.chunks[part.chunk].needs;
        return std::span(amounts).subspan(part.first_amount, part.amounts);
    }
};

// Is each chunk given from one vnode, or may the vnodes of a host have pieces of it?
enum class Chunks : std::uint8_t { whole, divided };

// How the nodes (ssinodes) of a vnode's share are reckoned; off when cpus is 0.
struct NodeSize {
    std::int64_t cpus = 0;
    std::int64_t mem = 0;  // bytes
    // The larger of CPUs / cpus and memory / mem, each rounded up; at least 1. Negative: not asked.
    std::int64_t nodes(std::int64_t ncpus, std::int64_t bytes) const;
    friend bool operator==(const NodeSize&, const NodeSize&) = default;
};

// What else a vnode has to satisfy for a job.
struct PlaceRules {
    std::uint32_t host = 0;                // this host only; 0: any
    NodeSize node_size;                    // also wants ssinodes, where vnodes have them
    std::int64_t max_jobs_on_host = 0;     // 0: no limit
    std::int64_t max_load_percent = 0;     // of the load average by CPUs; 0: no limit
    std::int64_t min_jobs_on_host = 0;     // with fewer, the load average doesn't count
    std::int64_t max_systime_percent = 0;  // of CPU time in the system; 0: no limit
    Instant ends{};                        // when the job ends: matters for reserved vnodes
};

class Vnodes {
  public:
    // `strings` has the names of hosts; it has to outlive this.
    explicit Vnodes(Interner& strings) : strings_(&strings) {}

    // False: nothing but its load is another one.
    bool change(const VnodeRecord& record, const Resources& resources);
    void remove(VnodeHandle vnode);
    VnodeSlot find(VnodeHandle handle) const;
    const Vnode& operator[](VnodeSlot slot) const { return vnodes_[slot]; }
    VnodeSlot size() const { return static_cast<VnodeSlot>(vnodes_.size()); }

    // A running job takes its places and gives them back.
    void allocate(JobSlot job, std::span<const Place> places, bool exclusive);
    void release(JobSlot job);
    // Calls `visit` with the handle and the amounts (a span of Need) of each place that a job holds, as told.
    template <class Visit>
    void for_each_held(JobSlot job, Visit visit) const {
        if (const HeldJob* held = held_of(job))
            for (const Held& part : held->parts) visit(part.vnode, held->amounts_of(part));
    }

    // After a definition of a resource: which resources count is found out again.
    void rebuild(const Resources& resources);
    // All amounts times `factor` (FAKE_MACHINE_MULT), on a copy.
    void multiply(std::int64_t factor);

    // The vnodes for a queue: those bound to it if there are any, else those bound to none; of one partition;
    // of one host unless 0. Ids are valid until a vnode changes other than in its load.
    PoolId pool(QueueHandle queue, std::uint32_t host, std::uint32_t partition,
                Chunks chunks = Chunks::whole);
    std::span<const VnodeSlot> pool_vnodes(PoolId pool) const { return pools_[pool].vnodes; }
    // Grows whenever ids of pools become void.
    std::uint64_t version() const { return version_; }

    // Looks for a place; leaves everything as it is. First fit in the order of the pool: vnodes of higher
    // priority first, then in the order in which they were made.
    // Where chunks are divided, hosts come in the order of their first vnodes. Of each host a chunk is given
    // whole from the first vnode that has room for it, else in pieces, vnode by vnode, as much of each
    // resource as there is; not with place=vscatter. So pieces on one host go before a whole vnode on the
    // next. place=pack goes by hosts as well, chunk by chunk; otherwise it prefers a single vnode.
    // It is put into `out`, whose memory is used again; false: there is none.
    bool find(PoolId pool, const Request& request, const PlaceRules& rules, Placement& out);
    // Is there one?
    bool has_place(PoolId pool, const Request& request, const PlaceRules& rules) {
        return find(pool, request, rules, asked_);
    }
    void assume(const Placement& placement, const Request& request, const NodeSize& node_size);
    void forget(const Placement& placement, const Request& request, const NodeSize& node_size);
    // Could it be placed if nothing ran? An upper bound for requests of more than one chunk.
    bool large_enough(PoolId pool, const Request& request, const NodeSize& node_size) const;

    bool holds_in(PoolId pool, JobSlot job) const;

    // What a job has of a vnode, by column of its row: Vnodes knows which these are. Valid as long as pools
    // are.
    struct Share {
        VnodeSlot vnode = 0;
        std::uint32_t column = 0;
        std::int64_t amount = 0;
    };
    // The shares of a running job, and of one that is placed, appended to `out`.
    void shares_held(JobSlot job, std::vector<Share>& out) const;
    void shares_of(const Placement& placement, const Request& request, const NodeSize& node_size,
                   std::vector<Share>& out) const;
    // For looking ahead: shares are given back (sign 1) and taken (-1). After settle() the pool tells of it;
    // others don't until all is as it was.
    void look_ahead(std::span<const Share> shares, int sign);
    void settle(PoolId pool);
    // All that a request takes, by column.
    std::vector<std::pair<std::uint32_t, std::int64_t>> totals(const Request& request,
                                                               const NodeSize& node_size) const;
    // Do shares of the column count for what the pool has in all? Not those of vnodes that no job may start
    // on, nor those that have less than is held of them.
    bool counts(PoolId pool, VnodeSlot vnode, std::uint32_t column) const;
    std::int64_t capacity(PoolId pool, std::uint32_t column) const;

    // A reservation: from `start` on, `placement` is spoken for. Jobs that end later may use of these vnodes
    // only what is over. To be made while the vnodes are as they will be at `start`, apart from the running
    // jobs `gone`, in order, each of which holds something on these vnodes now and won't then. `id`: 0, 1,
    // ...
    void reserve(std::uint32_t id, Instant start, const Placement& placement, const Request& request,
                 const NodeSize& node_size, std::span<const JobSlot> gone = {});
    // When looking past its start, a reservation doesn't bind anybody: its job holds the vnodes, or has
    // ended.
    void suspend(std::uint32_t id, bool suspended) { suspended_[id] = suspended; }
    void clear_reservations() {
        reserved_.clear();
        suspended_.clear();
    }
    // A job that was placed and ends after a reservation's start uses up what was over; one that isn't
    // suspended.
    void use_reserved(const Placement& placement, const Request& request, const NodeSize& node_size,
                      Instant ends);

    // What keeps a request from a place, in amounts of one resource.
    struct Shortage {
        std::uint32_t resource = no_resource;  // no_resource: none by itself
        bool never = false;                    // not even if nothing ran
        std::int64_t asked = 0;                // by the whole job, or by one of its chunks
        std::int64_t free = 0;                 // on all vnodes, or on the one (or the host) with most
        std::int64_t total = 0;
        std::string unmatched;  // of a resource that has to be equal: what is asked for and what there is
    };
    // To be asked when there is no place. Amounts are those of now: O(vnodes) after a change, else O(chunks).
    Shortage shortage(PoolId pool, const Request& request, const NodeSize& node_size);

    // All vnodes of the host of one.
    std::span<const VnodeSlot> of_host(VnodeSlot vnode) const { return on_host_[vnodes_[vnode].host_number]; }
    std::int64_t free_amount(VnodeSlot vnode, std::uint32_t resource) const;
    // What is free of two resources on one vnode; of one that vnodes don't limit the largest number.
    struct Room {
        std::int64_t first = 0;
        std::int64_t second = 0;
    };
    // Of what reservations leave to a job that ends then.
    Room room_until(VnodeSlot vnode, std::uint32_t first, std::uint32_t second, Instant ends) const;
    // For chunks that are divided: the same of all open vnodes of the pool that share the host of this one
    // together. O(1); O(vnodes) while there are reservations.
    Room host_room_until(PoolId pool, VnodeSlot vnode, std::uint32_t first, std::uint32_t second,
                         Instant ends);
    // The vnodes of a pool with most of both: whatever fits another vnode fits one of these. A few rooms;
    // where there would be many, one that is as large as all of them. Where chunks are divided, of hosts too.
    std::vector<Room> largest_rooms(PoolId pool, std::uint32_t first, std::uint32_t second);
    // Does it take jobs, and is it of the pool?
    bool is_open(PoolId pool, VnodeSlot vnode) const;
    bool is_of(PoolId pool, VnodeSlot vnode) const;
    // The running jobs that hold a share of it, in no particular order. Valid until a job begins or ends.
    std::span<const JobSlot> jobs_on(VnodeSlot vnode) const {
        return vnode < jobs_on_.size() ? std::span<const JobSlot>(jobs_on_[vnode])
                                       : std::span<const JobSlot>();
    }
    // Without some of the jobs on it, has the vnode room for a chunk of any kind that the request asks for;
    // and for parts of a placement that are on it? O(parts + jobs).
    bool fits_any_chunk(VnodeSlot vnode, std::span<const JobSlot> without, const Request& request,
                        const NodeSize& node_size) const;
    bool fits_parts(VnodeSlot vnode, std::span<const JobSlot> without, std::span<const Part> parts,
                    const Request& request, const NodeSize& node_size) const;
    // The vnodes that a running job holds, in order (valid until it changes), and whether these are its
    // places.
    std::span<const VnodeSlot> held_by(JobSlot job) const {
        const HeldJob* held = held_of(job);
        return held != nullptr ? std::span<const VnodeSlot>(held->vnodes) : std::span<const VnodeSlot>();
    }
    bool holds(JobSlot job, std::span<const Place> places, bool exclusive) const;
    // The vnodes with reservations.
    std::vector<VnodeSlot> reserved() const;
    // Jobs on a host.
    std::int64_t jobs_on_host(std::uint32_t host) const;

  private:
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
    // Of the vnodes of a pool, by column; what jobs may have of those that take any. `most` of a vnode; or,
    // where chunks are divided, of a host.
    struct Amounts {
        std::uint64_t as_of = 0;  // changes_
        std::vector<std::int64_t> free, total, most_free, most;
        std::vector<std::int64_t> most_free_of_host, most_of_host;
    };
    // Of each of some rows the columns, and the maxima of these.
    struct Tree {
        std::uint32_t size = 0;             // rows
        std::uint32_t leaves = 1;           // a power of two
        std::vector<std::int64_t> nodes{};  // node i (root 1): columns_ maxima
    };
    // Positions in a pool, from the first one to before the last one.
    struct Range {
        std::uint32_t first = 0;
        std::uint32_t end = 0;
    };
    struct Pool {
        Amounts amounts;
        std::vector<VnodeSlot> vnodes;
        Tree tree;
        std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> shared_hosts;  // with several vnodes
        // Where chunks are divided: the hosts with several vnodes, instead of shared_hosts; by position which
        // of them a vnode is on, and 1 (0: its host has no other); and what their open vnodes have together.
        Chunks chunks = Chunks::whole;
        std::vector<Range> hosts;
        std::vector<std::uint32_t> host_of;
        Tree host_tree;
    };
    // Vnodes of a pool that a job has to be on: all, the positions, or those of one range.
    struct Among {
        const std::vector<std::uint32_t>* positions = nullptr;
        std::optional<Range> range;
    };
    struct Reserved {
        std::uint32_t id = 0;
        Instant start{};
        std::vector<std::int64_t> over;  // by column
    };
    using Needs = std::vector<std::int64_t>;  // by column
    // One kind of chunks that is being placed.
    struct Placing {
        const Pool& pool;
        const Request& request;
        std::uint32_t chunk = 0;
        const Needs& needs;
        const PlaceRules& rules;
        std::int64_t left = 0;
        Placement& out;
    };

    Room room_of(const std::int64_t* columns, std::uint32_t first, std::uint32_t second) const;
    static Room both(const Room& a, const Room& b);
    const Range* host_in(PoolId pool, VnodeSlot vnode) const;
    const Amounts& amounts_of(PoolId pool);
    void add_hosts(const Pool& pool, Amounts& amounts) const;
    std::string unmatched(const Pool& pool, const KeptAmount& wanted) const;
    const std::int64_t* row(VnodeSlot vnode) const { return &free_[vnode * columns_]; }
    void set_host(VnodeSlot vnode, std::uint32_t host);
    void set_totals(VnodeSlot vnode);
    void set_flags(VnodeSlot vnode);
    // Trees are brought up to date when they are next looked at: most of what a cycle takes and gives back is
    // then as it was. `only`: at once, of one pool, for what is taken back before another one is asked.
    // Looking ahead, others tell of what is now.
    void update_trees(VnodeSlot vnode, const Pool* only = nullptr);
    void update_tree(Pool& pool, std::uint32_t position, VnodeSlot vnode) const;
    void settle_trees();
    std::int64_t* leaf(Tree& tree, std::uint32_t place) const {
        return &tree.nodes[std::size_t{tree.leaves + place} * columns_];
    }
    const std::int64_t* leaf(const Tree& tree, std::uint32_t place) const {
        return &tree.nodes[std::size_t{tree.leaves + place} * columns_];
    }
    void make_tree(Tree& tree, std::size_t size) const;
    void fix_tree(Tree& tree) const;
    void fix_above(Tree& tree, std::uint32_t place) const;
    void fill_trees(Pool& pool) const;
    void make_pool(Pool& pool, QueueHandle queue, std::uint32_t host, std::uint32_t partition);
    void sort_by_host(Pool& pool) const;
    void find_hosts(Pool& pool) const;
    void add_to_host(Pool& pool, std::uint32_t host, const std::int64_t* columns, int sign) const;
    void void_pools();
    void add_job_shares(std::span<const VnodeSlot> vnodes, bool exclusive, std::vector<Share>& out) const;
    bool needs_columns(const Vnode& vnode, const Resources& resources) const;
    void apply(JobSlot job, int sign);
    static void sort_by_slot(HeldJob& held);
    Needs row_without(VnodeSlot vnode, std::span<const JobSlot> jobs) const;
    void count_jobs(std::span<const VnodeSlot> vnodes, bool exclusive, int sign);
    void add_amounts(VnodeSlot vnode, const Needs& needs, std::int64_t count, int sign,
                     const Pool* only = nullptr);
    void apply(const Placement& placement, const Request& request, const NodeSize& node_size, int sign);
    Needs needs_of(const Chunk& chunk, bool exclusive, const NodeSize& node_size) const;
    const Needs& needs_of(const Chunk& chunk, bool exclusive, const NodeSize& node_size, Needs& kept) const;
    const Needs& needs_of(const Placement& placement, const Part& part, const Request& request,
                          const NodeSize& node_size, Needs& kept) const;
    // What of the columns is asked for at all, into `asked_columns_`.
    void note_columns(const Needs& needs);
    std::uint32_t next_fit(const Tree& tree, std::uint32_t from) const;
    std::int64_t how_many(VnodeSlot vnode, const Needs& needs, const Chunk& chunk,
                          const PlaceRules& rules) const;
    bool matches(const Vnode& vnode, const Chunk& chunk) const;
    bool same_host(std::uint32_t a, std::uint32_t b) const;
    bool allowed(const Vnode& vnode, const PlaceRules& rules) const;
    void use_over(VnodeSlot vnode, const Needs& needs, std::int64_t count, int sign, Instant ends);
    bool place_chunk(const Pool& pool, const Request& request, std::uint32_t chunk, const PlaceRules& rules,
                     const Among& among, Placement& out);
    bool place_chunks(const Pool& pool, const Request& request, const PlaceRules& rules, const Among& among,
                      Placement& out);
    // All chunks of a request as one.
    struct Whole {
        Needs needs;
        Chunk chunk;
    };
    Whole whole_of(const Request& request, const NodeSize& node_size) const;
    bool place_whole(VnodeSlot vnode, const Whole& whole, const Request& request, const PlaceRules& rules,
                     Placement& out) const;
    bool place_on_one_vnode(const Pool& pool, const Request& request, const PlaceRules& rules,
                            Placement& out);
    bool pack(const Pool& pool, const Request& request, const PlaceRules& rules, Placement& out);

    // Chunks that may be divided (vnodes_divide.cc).
    bool pack_by_host(const Pool& pool, const Request& request, const PlaceRules& rules, Placement& out);
    void place_by_host(Placing& placing, const Range& range);
    bool place_on_vnode(Placing& placing, VnodeSlot vnode) const;
    bool is_taken(const Placing& placing, VnodeSlot vnode) const;
    void limit_by_reserved(VnodeSlot vnode, Instant ends, Needs& columns) const;
    void place_on_host(Placing& placing, const Range& host);
    // What the vnodes of a host have for a chunk, without what it has there already.
    struct Left {
        VnodeSlot vnode;
        Needs columns;
    };
    std::vector<Left> left_on_host(const Placing& placing, const Range& host, std::size_t first_part) const;
    void divide(Placing& placing, std::vector<Left>& left) const;
    bool add_piece(Placing& placing, Left& from, Needs& rest, bool joined) const;
    std::int64_t chunks_of_host(const Pool& pool, const Range& host, const Chunk& chunk,
                                const Needs& needs) const;

    std::vector<Vnode> vnodes_;
    std::unordered_map<std::uint64_t, VnodeSlot> by_handle_;
    std::vector<std::uint32_t> column_of_;    // by resource; 0: no vnode has it
    std::vector<std::uint32_t> resource_of_;  // by column
    std::vector<bool> defined_;               // by resource: some vnode has a value
    static constexpr std::uint32_t open_column = 0;
    // What the open column says; more takes more kinds of jobs.
    enum Openness : std::int64_t { closed, busy, open };
    // Busy: jobs have all of its processors. By the standard algorithm it takes no others then. One that has
    // no processors is never busy.
    Openness openness(VnodeSlot vnode, const std::int64_t* columns, std::int32_t jobs,
                      std::int32_t exclusive) const;
    static Openness wanted_openness(const NodeSize& node_size) { return node_size.cpus > 0 ? busy : open; }
    static constexpr std::uint32_t empty_column = 1;
    static constexpr std::uint32_t first_resource_column = 2;
    std::uint32_t columns_ =
        first_resource_column;  // 0: open to jobs (Openness), 1: without a job, then resources
    std::uint32_t ssinodes_ = no_resource;
    std::uint32_t ncpus_ = no_resource;
    std::uint32_t mem_ = no_resource;
    std::uint32_t host_ = no_resource;
    std::uint32_t vnode_ = no_resource;
    std::vector<std::int64_t> total_;  // columns_ a vnode
    std::vector<std::int64_t> free_;
    std::vector<HeldJob> held_;                  // without parts: to be used again
    std::vector<std::uint32_t> held_place_;      // by job, its place there and 1; 0: it holds nothing
    std::vector<std::uint32_t> held_unused_;     // places
    std::vector<std::vector<JobSlot>> jobs_on_;  // by vnode
    using PoolKey = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, Chunks>;
    std::map<PoolKey, PoolId> pool_ids_;
    std::map<PoolKey, PoolId> asked_pools_;  // by whose asked
    std::vector<Pool> pools_;
    std::vector<std::vector<std::pair<PoolId, std::uint32_t>>> in_pools_;  // by vnode
    std::unordered_map<std::uint32_t, std::uint32_t> host_numbers_;        // by name
    std::vector<std::int64_t> host_jobs_;                                  // by number
    std::vector<std::vector<VnodeSlot>> on_host_;                          // the same
    // Room for the needs of the chunk that is being placed, and of a part that is taken.
    Needs needs_to_place_;
    Needs needs_to_take_;
    Placement asked_;
    std::vector<std::pair<std::uint32_t, std::int64_t>> asked_columns_;
    // And for the vnodes and hosts of a placement that is taken.
    std::vector<VnodeSlot> touched_;
    std::vector<std::uint32_t> touched_hosts_;
    Interner* strings_ = nullptr;  // the scheduler's, which outlives this
    std::int64_t factor_ = 1;
    std::unordered_map<VnodeSlot, std::vector<Reserved>> reserved_;
    std::vector<bool> suspended_;          // reservations, by id
    std::vector<VnodeSlot> looked_ahead_;  // vnodes that changed since settle()
    std::vector<VnodeSlot> changed_;       // vnodes whose trees aren't up to date,
    std::vector<bool> is_changed_;         // and which those are
    std::uint64_t version_ = 1;
    std::uint64_t changes_ = 0;
};

}  // namespace pbs::sched
