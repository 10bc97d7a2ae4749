// The class OrderedTree: a MaximaTree over items that stay sorted while their keys change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server_plugin/scheduler/placement/maxima_tree.h"

namespace pbs::sched {

// A list of items that stays sorted, with a tree that finds the first item with enough of everything. Each
// item has a row of amounts and a few keys. Items are in ascending order of their keys; items with equal keys
// are in the order of their numbers. A position is a place of the tree. Some positions have no item, so that
// an item that moves finds a free one between its new neighbours. If there is none, the items of the smallest
// subtree that isn't too full are spread evenly over it. That costs O(log² items) for each move, on average
// over many moves. Positions are valid until an item moves.
class OrderedTree {
  public:
    using Keys = std::span<const std::int64_t>;

    // Makes `items` items with `columns` amounts and `keys` keys each. Only items that may move can get other
    // keys after sort(); others stay at the position of their number. The caller writes the keys and calls
    // sort(), if items may move; then writes the rows and calls fix().
    void assign(std::size_t items, std::uint32_t columns, std::size_t keys, bool may_move);
    std::span<std::int64_t> keys(std::uint32_t item) { return {&keys_[item * key_count_], key_count_}; }
    Keys keys(std::uint32_t item) const { return {&keys_[item * key_count_], key_count_}; }
    void sort();
    std::int64_t* row(std::uint32_t item) { return tree_.row(position(item)); }
    const std::int64_t* row(std::uint32_t item) const { return tree_.row(position(item)); }
    void fix() { tree_.fix(); }

    // Sets an item's row, and its keys.
    void set(std::uint32_t item, const std::int64_t* row);
    void set(std::uint32_t item, const std::int64_t* row, Keys keys);

    std::uint32_t size() const { return size_; }
    std::uint32_t position(std::uint32_t item) const { return may_move_ ? positions_[item] : item; }
    // The item at a position. REQUIRES: a search has returned the position.
    std::uint32_t item(std::uint32_t position) const { return may_move_ ? items_[position] : position; }
    // Returns the first position from `from` on whose item satisfies all needs; kNoSlot: there is none.
    std::uint32_t next_fit(const MaximaTree::Minima& asked, std::uint32_t from) const {
        return tree_.next_fit(asked, from);
    }
    const MaximaTree& tree() const { return tree_; }

  private:
    bool before(std::uint32_t a, std::uint32_t b) const;
    void put(std::uint32_t item, std::uint32_t position);
    void take_out(std::uint32_t item);
    void put_in_order(std::uint32_t item);
    void spread(std::span<const std::uint32_t> items, std::uint32_t first, std::uint32_t positions);
    void make_room(std::uint32_t item, std::uint32_t near);
    void find_last(std::uint32_t node);

    std::uint32_t size_ = 0;
    std::uint32_t columns_ = 0;
    std::size_t key_count_ = 0;
    bool may_move_ = false;
    std::vector<std::int64_t> keys_;
    MaximaTree tree_;
    // The next three lists are only for items that may move.
    std::vector<std::uint32_t> items_;      // by position; kNoSlot: none
    std::vector<std::uint32_t> positions_;  // by item
    std::vector<std::uint32_t> last_;       // by node of the tree: the last item below it; kNoSlot: none
    // Memory that calls reuse.
    std::vector<std::uint32_t> spread_;
    std::vector<std::int64_t> rows_;
};

}  // namespace pbs::sched
