// The search for a place for a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "server_plugin/scheduler/placement/fit_index.h"
#include "server_plugin/scheduler/placement/inventory.h"
#include "server_plugin/scheduler/placement/reservations.h"

namespace pbs::sched {

// One search for one request. First fit in the order of the pool. While it goes on, what it has found for
// some of the chunks is taken from what is free; at its end all is as it was.
//
// Where chunks are divided (place_search_divide.cc), hosts come in the order of their first vnodes. Of each
// host a chunk is given whole from the first vnode that has room for it, else in pieces, vnode by vnode, as
// much of each resource as there is; not with place=vscatter. So pieces on one host go before a whole vnode
// on the next. place=pack goes by hosts as well, chunk by chunk; otherwise it prefers a single vnode.
class PlaceSearch {
  public:
    // What searches use, one after the other.
    struct Memory {
        Row needs;
        MaximaTree::Asked asked;
    };
    // Where a search looks.
    struct Site {
        Inventory& inventory;
        FitIndex& index;
        Reservations& reservations;
        PoolId pool = 0;
    };

    // The place is put into `out`. All arguments have to outlive this.
    PlaceSearch(const Site& site, const Request& request, const PlaceRules& rules, Memory& memory,
                Placement& out);
    // False: there is no place.
    bool run();

  private:
    using Range = FitIndex::Range;
    // Vnodes of the pool that the job has to be on: all, the positions, or those of one range.
    struct Among {
        const std::vector<std::uint32_t>* positions = nullptr;
        std::optional<Range> range;
    };
    // One kind of chunks that is being placed.
    struct Kind {
        std::uint32_t number = 0;
        const Chunk& chunk;
        const Row& needs;
        std::int64_t left = 0;
    };
    // All chunks of the request as one.
    struct Whole {
        Row needs;
        Chunk chunk;
    };
    // What a vnode has for a chunk, without what the job has of it already.
    struct Left {
        VnodeSlot vnode;
        Row row;
    };

    const Inventory& inventory() const { return site_.inventory; }
    const Columns& columns() const { return inventory().columns(); }

    bool place_chunks(const Among& among);
    bool place_kind(Kind& kind, const Among& among);
    void take(const Part& part, int sign);
    bool pack();
    Whole whole_of_request() const;
    bool place_on_one_vnode();
    bool place_whole(VnodeSlot vnode, const Whole& whole);
    // What of the columns is asked for at all.
    static void note(const Row& needs, MaximaTree::Asked& asked);
    // Are the flags of a row those that a chunk needs?
    static bool takes(const std::int64_t* row, const Row& needs) {
        return row[open_column] >= needs[open_column] && row[empty_column] >= needs[empty_column];
    }
    // How many chunks the vnode can give.
    std::int64_t how_many(VnodeSlot vnode, const Row& needs, const Chunk& chunk) const;

    bool pack_by_host();
    void place_by_host(Kind& kind, const Range& range);
    bool place_on_vnode(Kind& kind, VnodeSlot vnode);
    bool is_taken(const Kind& kind, VnodeSlot vnode) const;
    void place_on_host(Kind& kind, const Range& host);
    std::vector<Left> left_on_host(const Kind& kind, const Range& host, std::size_t first_part) const;
    void divide(Kind& kind, std::vector<Left>& left);
    bool add_piece(const Kind& kind, Left& from, Row& rest, bool joined);

    Site site_;
    const FitIndex::Pool& pool_;
    const Request& request_;
    const PlaceRules& rules_;
    Memory& memory_;
    Placement& out_;
    Row taken_;  // room for what a part takes
};

}  // namespace pbs::sched
