#include "server_plugin/scheduler/placement/ordered_tree.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace pbs::sched {

void OrderedTree::assign(std::size_t items, std::uint32_t columns, std::size_t keys, bool may_move) {
    size_ = static_cast<std::uint32_t>(items);
    columns_ = columns;
    key_count_ = keys;
    may_move_ = may_move;
    keys_.assign(items * keys, 0);
    const std::size_t positions = may_move ? std::bit_ceil(std::max<std::size_t>(2, 2 * items)) : items;
    tree_.assign(positions, columns);
    items_.assign(may_move ? positions : 0, kNoSlot);
    positions_.assign(may_move ? items : 0, 0);
    last_.assign(may_move ? 2 * positions : 0, kNoSlot);
}

bool OrderedTree::before(std::uint32_t a, std::uint32_t b) const {
    const Keys of_a = keys(a);
    const Keys of_b = keys(b);
    for (std::size_t i = 0; i < key_count_; ++i)
        if (of_a[i] != of_b[i]) return of_a[i] < of_b[i];
    return a < b;
}

void OrderedTree::sort() {
    spread_.resize(size_);
    std::iota(spread_.begin(), spread_.end(), 0);
    std::ranges::sort(spread_, [&](std::uint32_t a, std::uint32_t b) { return before(a, b); });
    const std::uint32_t positions = tree_.size();
    std::ranges::fill(items_, kNoSlot);
    for (std::uint32_t at = 0; at < positions; ++at) std::fill_n(tree_.row(at), columns_, -1);
    spread(spread_, 0, positions);
}

void OrderedTree::set(std::uint32_t item, const std::int64_t* row) {
    std::copy_n(row, columns_, this->row(item));
    tree_.fix_above(position(item));
}

void OrderedTree::set(std::uint32_t item, const std::int64_t* row, Keys keys) {
    if (!std::ranges::equal(keys, this->keys(item))) {
        take_out(item);
        std::ranges::copy(keys, this->keys(item).begin());
        put_in_order(item);
    }
    set(item, row);
}

// Finds the last item below a node.
void OrderedTree::find_last(std::uint32_t node) {
    const std::uint32_t right = last_[2 * node + 1];
    last_[node] = right != kNoSlot ? right : last_[2 * node];
}

// Stores an item (kNoSlot: none) at a position.
void OrderedTree::put(std::uint32_t item, std::uint32_t position) {
    items_[position] = item;
    if (item != kNoSlot) positions_[item] = position;
    std::uint32_t node = tree_.size() + position;
    last_[node] = item;
    while ((node /= 2) > 0) {
        const std::uint32_t was = last_[node];
        find_last(node);
        if (last_[node] == was) break;
    }
}

void OrderedTree::take_out(std::uint32_t item) {
    const std::uint32_t at = positions_[item];
    put(kNoSlot, at);
    std::fill_n(tree_.row(at), columns_, -1);
    tree_.fix_above(at);
}

void OrderedTree::put_in_order(std::uint32_t item) {
    std::uint32_t first = 0;           // the first position after the preceding item
    std::uint32_t end = tree_.size();  // the position of the following item
    const auto note_before = [&](std::uint32_t other) {
        if (other != kNoSlot) first = positions_[other] + 1;
    };
    if (last_[1] == kNoSlot || before(last_[1], item)) {
        note_before(last_[1]);
    } else {
        std::uint32_t node = 1;
        while (!tree_.is_leaf(node)) {
            node *= 2;
            if (last_[node] != kNoSlot && before(item, last_[node])) continue;
            note_before(last_[node]);
            ++node;
        }
        end = node - tree_.size();
    }
    if (first < end)
        put(item, first + (end - first) / 2);
    else
        make_room(item, std::min(first, tree_.size() - 1));
}

// Stores items, in order, at some of `positions` free positions from `first` on. Their rows stay -1.
void OrderedTree::spread(std::span<const std::uint32_t> items, std::uint32_t first, std::uint32_t positions) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        const auto at = first + static_cast<std::uint32_t>(i * positions / items.size());
        items_[at] = items[i];
        positions_[items[i]] = at;
    }
    for (std::uint32_t at = first; at < first + positions; ++at) last_[tree_.size() + at] = items_[at];
    std::uint32_t node = (tree_.size() + first) / 2;
    for (std::uint32_t nodes = positions / 2; nodes > 0; nodes /= 2, node /= 2)
        for (std::uint32_t n = node; n < node + nodes; ++n) find_last(n);
    for (; node > 0; node /= 2) find_last(node);
}

// Inserts an item where there is no free position, by spreading the items of a part of the tree. The larger
// the part, the less full it may be: the whole tree at most half, while a pair of positions may be full.
void OrderedTree::make_room(std::uint32_t item, std::uint32_t near) {
    const auto levels = static_cast<std::uint32_t>(std::bit_width(tree_.size()) - 1);
    std::uint32_t first = near;
    std::uint32_t positions = 1;
    for (std::uint32_t level = 1; level <= levels; ++level) {
        positions *= 2;
        first = near / positions * positions;
        spread_.clear();
        for (std::uint32_t at = first; at < first + positions; ++at)
            if (items_[at] != kNoSlot) spread_.push_back(items_[at]);
        const std::uint64_t most = std::uint64_t{positions} * (2 * levels - level) / (2 * levels);
        if (spread_.size() < most) break;
    }
    rows_.clear();
    const auto at = std::ranges::find_if(spread_, [&](std::uint32_t other) { return before(item, other); });
    const auto place = at - spread_.begin();
    for (const std::uint32_t other : spread_) {
        const std::int64_t* row = tree_.row(positions_[other]);
        rows_.insert(rows_.end(), row, row + columns_);
    }
    rows_.insert(rows_.begin() + place * columns_, columns_, -1);
    spread_.insert(at, item);
    for (std::uint32_t p = first; p < first + positions; ++p) {
        items_[p] = kNoSlot;
        std::fill_n(tree_.row(p), columns_, -1);
    }
    spread(spread_, first, positions);
    for (std::size_t i = 0; i < spread_.size(); ++i)
        std::copy_n(&rows_[i * columns_], columns_, tree_.row(positions_[spread_[i]]));
    tree_.fix_part(first, positions);
}

}  // namespace pbs::sched
