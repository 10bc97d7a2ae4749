// The search for a place for a job: the vnodes that give its chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/placement/bookings.h"
#include "server_plugin/scheduler/placement/fit_index.h"
#include "server_plugin/scheduler/placement/inventory.h"
#include "server_plugin/scheduler/placement/reservations.h"

namespace pbs::sched {

// One search for one request: the first fit in the order of the pool. During the search, the places found so
// far are subtracted from the free amounts. Afterwards everything is as before.
//
// A vnode gives as many chunks as fit on it. If giving a chunk moves the vnode back in the order, it gives
// one chunk, and the next chunk is searched in the new order (place_in_turn). On sites with a host of several
// vnodes that is done only for place=pack, within a host, as in OpenPBS.
//
// place=free has two other ways (place_search_spread.cc): in rounds, in which each vnode gives one chunk; and
// a fixed number of chunks from each host. Vnodes that a request prefers go before others, if there is a
// place in that order; else the place is that of a request without preferences.
//
// If chunks are divided (place_search_divide.cc), hosts are in the order of their first vnodes. On each host,
// the first vnode on which a chunk fits gives the whole chunk. If it fits on none, the vnodes of the host
// give pieces of it, one after the other, as much of each resource as they have; with place=vscatter chunks
// aren't divided. So pieces on one host come before a whole vnode on the next. place=pack goes by hosts, too,
// chunk by chunk; if chunks are whole it prefers a single vnode.
class PlaceSearch {
  public:
    // Memory that successive searches reuse.
    struct Memory {
        Row needs;
        MaximaTree::Minima asked;
    };
    // The pool for a search, and the structures that the search reads and changes.
    struct Site {
        Inventory& inventory;
        FitIndex& index;
        Reservations& reservations;
        Bookings& bookings;
        PoolId pool = 0;
    };

    // The search writes the place to `out`. All arguments have to outlive the search.
    PlaceSearch(const Site& site, const Request& request, const PlaceRules& rules, Memory& memory,
                Placement& out);
    // Returns false if there is no place.
    bool run();
    // Searches again, with vnodes in order of the preferences that they miss. Returns false if there is no
    // place in this order.
    bool run_by_preferences();

  private:
    using Host = FitIndex::Host;
    // The most chunks of one kind that are given in turn. Further chunks are given as many as fit on each
    // vnode.
    static constexpr std::int64_t kMostInTurn = 2048;
    // The vnodes of the pool for a part of the search: those with these indices, or those of the host; all if
    // neither is set.
    struct Subset {
        const std::vector<std::uint32_t>* indices = nullptr;
        const Host* host = nullptr;
    };
    // One element of the request's select: the kind of chunks that is being placed.
    struct Kind {
        std::uint32_t number = 0;
        const Chunk& chunk;
        const Row& needs;
        std::int64_t left = 0;
    };
    // All chunks of the request together, as one chunk.
    struct AllChunks {
        Row needs;
        Chunk chunk;
    };
    // The free amounts of a vnode, without those that the search has already given to the job.
    struct FreeAmounts {
        VnodeSlot vnode;
        Row row;
    };

    const Inventory& inventory() const { return site_.inventory; }
    const Columns& columns() const { return inventory().columns(); }

    // Calls `visit` with the items of a tree that satisfy memory_.asked, in order, until it returns false. If
    // the tree's items are vnodes, `first` is the index of the first one in the pool.
    template <class Visit>
    void for_each_fit(const OrderedTree& tree, std::uint32_t first, const Visit& visit) const;
    template <class Items, class VnodeOf>
    std::int64_t fewest_missed(const Items& items, const VnodeOf& vnode_of) const;
    std::int64_t missed(const OrderedTree& tree, std::uint32_t first, std::uint32_t item) const;
    bool in_rounds() const {
        const ChunkOrder order = request_.order == ChunkOrder::by_policy ? rules_.order : request_.order;
        return rules_.spreads && request_.arrangement == Arrangement::free &&
               order == ChunkOrder::round_robin;
    }
    // A vnode with the number of chunks for which it has room. PlaceRules::rule may permit fewer.
    struct Offer {
        VnodeSlot vnode = 0;
        std::int64_t room = 0;
        std::size_t part = SIZE_MAX;  // its part in the placement; SIZE_MAX: it has none yet
    };
    std::vector<Offer> offers(const Kind& kind, std::int64_t most) const;
    void place_in_rounds(Kind& kind);
    void place_per_host(Kind& kind);
    bool place_per_host(Kind& kind, std::span<const Offer> of_host);
    bool place_chunks(const Subset& among);
    bool place_kind(Kind& kind, const Subset& among);
    bool comes_later(const Row& needs) const;
    void place_in_turn(Kind& kind, const OrderedTree& tree, std::uint32_t first);
    void take(const Part& part, int sign);
    void take_all() {
        for (; taken_parts_ < out_.parts.size(); ++taken_parts_) take(out_.parts[taken_parts_], -1);
    }
    bool pack();
    AllChunks whole_of_request() const;
    bool place_on_one_vnode();
    bool place_whole(VnodeSlot vnode, const AllChunks& whole);
    // Adds the columns that the chunk needs to `asked`.
    static void note(const Row& needs, MaximaTree::Minima& asked);
    // Returns whether the open and the empty column of a row satisfy a chunk.
    static bool takes(const std::int64_t* row, const Row& needs) {
        return row[kOpenColumn] >= needs[kOpenColumn] && row[kEmptyColumn] >= needs[kEmptyColumn];
    }
    // Calls `visit` for each reservation and booking that binds the job, with the amounts that it leaves free
    // on the vnode.
    template <class Visit>
    void for_each_binding(VnodeSlot vnode, Visit visit) const {
        if (rules_.booking == kNoSlot) site_.reservations.for_each_binding(vnode, rules_.ends, visit);
        site_.bookings.for_each_binding(vnode, rules_, visit);
    }
    // Returns the number of chunks that the vnode can give.
    std::int64_t how_many(VnodeSlot vnode, const Row& needs, const Chunk& chunk) const;
    // Returns the number of chunks that the vnode could give without PlaceRules::rule.
    std::int64_t room_on(VnodeSlot vnode, const Row& needs, const Chunk& chunk) const;

    bool pack_by_host();
    void place_by_host(Kind& kind);
    bool place_on_vnode(Kind& kind, VnodeSlot vnode);
    bool is_taken(const Kind& kind, VnodeSlot vnode) const;
    void place_on_host(Kind& kind, const Host& host);
    std::vector<FreeAmounts> left_on_host(const Kind& kind, const Host& host, std::size_t first_part) const;
    void divide(Kind& kind, std::vector<FreeAmounts>& left, std::int64_t most);
    bool add_piece(const Kind& kind, FreeAmounts& from, Row& rest, bool joined);

    Site site_;
    const FitIndex::Pool& pool_;
    const Request& request_;
    const PlaceRules& rules_;
    Memory& memory_;
    Placement& out_;
    std::size_t taken_parts_ = 0;  // the number of parts subtracted from the free amounts
    Row taken_;                    // reused memory for the amounts of a part
    bool by_preferences_ = false;
};

template <class Visit>
void PlaceSearch::for_each_fit(const OrderedTree& tree, std::uint32_t first, const Visit& visit) const {
    const MaximaTree::Minima& asked = memory_.asked;
    if (!by_preferences_) {
        for (auto at = tree.next_fit(asked, 0); at != kNoSlot; at = tree.next_fit(asked, at + 1))
            if (!visit(tree.item(at))) return;
        return;
    }
    std::vector<std::pair<std::int64_t, std::uint32_t>> items;
    for (auto at = tree.next_fit(asked, 0); at != kNoSlot; at = tree.next_fit(asked, at + 1))
        items.emplace_back(missed(tree, first, tree.item(at)), tree.item(at));
    std::ranges::stable_sort(items, {}, &std::pair<std::int64_t, std::uint32_t>::first);
    for (const auto& [missed, item] : items)
        if (!visit(item)) return;
}

}  // namespace pbs::sched
