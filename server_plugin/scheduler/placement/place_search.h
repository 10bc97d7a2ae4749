// The search for a place for a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "server_plugin/scheduler/placement/bookings.h"
#include "server_plugin/scheduler/placement/fit_index.h"
#include "server_plugin/scheduler/placement/inventory.h"
#include "server_plugin/scheduler/placement/reservations.h"

namespace pbs::sched {

// One search for one request: the first fit in the order of the pool. While the search goes on, the places
// that it has found for some of the chunks are taken from what is free. Afterwards everything is as it was.
//
// A vnode gives as many chunks as it has room for. Where giving a chunk changes the order, so that the vnode
// comes later, it gives one chunk, and the next is looked for in the new order (place_in_turn). On sites with
// a host of several vnodes that is done for place=pack only, within a host, as in OpenPBS.
//
// Where chunks are divided (place_search_divide.cc), hosts come in the order of their first vnodes. On each
// host, the first vnode that has room for a chunk gives the whole chunk. If no vnode has, the vnodes of the
// host give pieces of it, one after the other, as much of each resource as they have; with place=vscatter
// chunks aren't divided. So pieces on one host go before a whole vnode on the next. place=pack goes by hosts
// as well, chunk by chunk; where chunks are whole it prefers a single vnode.
class PlaceSearch {
  public:
    // Memory that one search after the other uses.
    struct Memory {
        Row needs;
        MaximaTree::Asked asked;
    };
    // The pool in which a search looks, and the structures that it reads and changes.
    struct Site {
        Inventory& inventory;
        FitIndex& index;
        Reservations& reservations;
        Bookings& bookings;
        PoolId pool = 0;
    };

    // The search puts the place into `out`. All arguments have to outlive the search.
    PlaceSearch(const Site& site, const Request& request, const PlaceRules& rules, Memory& memory,
                Placement& out);
    // Returns false if there is no place.
    bool run();

  private:
    using Host = FitIndex::Host;
    // The vnodes of the pool among which the job has to be placed: those with these indices, or those of the
    // host; all if neither is given.
    struct Among {
        const std::vector<std::uint32_t>* indices = nullptr;
        const Host* host = nullptr;
    };
    // The kind of chunks that is being placed: one element of the request's select.
    struct Kind {
        std::uint32_t number = 0;
        const Chunk& chunk;
        const Row& needs;
        std::int64_t left = 0;
    };
    // All chunks of the request taken together as one chunk.
    struct Whole {
        Row needs;
        Chunk chunk;
    };
    // The room of a vnode that is left for chunks, without what the search has already given the job.
    struct Left {
        VnodeSlot vnode;
        Row row;
    };

    const Inventory& inventory() const { return site_.inventory; }
    const Columns& columns() const { return inventory().columns(); }

    bool place_chunks(const Among& among);
    bool place_kind(Kind& kind, const Among& among);
    bool comes_later(const Row& needs) const;
    void place_in_turn(Kind& kind, const OrderedTree& tree, std::uint32_t first);
    void take(const Part& part, int sign);
    void take_all() {
        for (; taken_parts_ < out_.parts.size(); ++taken_parts_) take(out_.parts[taken_parts_], -1);
    }
    bool pack();
    Whole whole_of_request() const;
    bool place_on_one_vnode();
    bool place_whole(VnodeSlot vnode, const Whole& whole);
    // Puts into `asked` the columns of which the chunk asks for anything.
    static void note(const Row& needs, MaximaTree::Asked& asked);
    // Do the open and the empty column of a row satisfy a chunk?
    static bool takes(const std::int64_t* row, const Row& needs) {
        return row[kOpenColumn] >= needs[kOpenColumn] && row[kEmptyColumn] >= needs[kEmptyColumn];
    }
    // Calls `visit` with the room that each reservation and booking that binds the job leaves on the vnode.
    template <class Visit>
    void for_each_binding(VnodeSlot vnode, Visit visit) const {
        if (rules_.booking == kNoSlot) site_.reservations.for_each_binding(vnode, rules_.ends, visit);
        site_.bookings.for_each_binding(vnode, rules_, visit);
    }
    // Returns how many of the chunks the vnode can give.
    std::int64_t how_many(VnodeSlot vnode, const Row& needs, const Chunk& chunk) const;

    bool pack_by_host();
    void place_by_host(Kind& kind);
    bool place_on_vnode(Kind& kind, VnodeSlot vnode);
    bool is_taken(const Kind& kind, VnodeSlot vnode) const;
    void place_on_host(Kind& kind, const Host& host);
    std::vector<Left> left_on_host(const Kind& kind, const Host& host, std::size_t first_part) const;
    void divide(Kind& kind, std::vector<Left>& left);
    bool add_piece(const Kind& kind, Left& from, Row& rest, bool joined);

    Site site_;
    const FitIndex::Pool& pool_;
    const Request& request_;
    const PlaceRules& rules_;
    Memory& memory_;
    Placement& out_;
    std::size_t taken_parts_ = 0;  // how many of the parts have been taken from what is free
    Row taken_;                    // memory for what a part takes; used again by each call
};

}  // namespace pbs::sched
