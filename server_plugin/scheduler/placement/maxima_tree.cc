#include "server_plugin/scheduler/placement/maxima_tree.h"

#include <algorithm>
#include <bit>

namespace pbs::sched {
namespace {

// Sets each column of a node to the larger number of its two children, which are adjacent. Returns false if
// that changes nothing.
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

void MaximaTree::assign(std::size_t rows, std::uint32_t columns) {
    size_ = static_cast<std::uint32_t>(rows);
    leaves_ = std::bit_ceil(std::max<std::uint32_t>(1, size_));
    columns_ = columns;
    nodes_.assign(std::size_t{2} * leaves_ * columns_, -1);
}

void MaximaTree::fix() {
    for (std::uint32_t n = leaves_ - 1; n >= 1; --n) take_most(node(n), node(2 * n), columns_);
}

void MaximaTree::fix_above(std::uint32_t place) {
    for (std::uint32_t n = (leaves_ + place) / 2; n >= 1; n /= 2)
        if (!take_most(node(n), node(2 * n), columns_)) break;  // no node above changes
}

void MaximaTree::fix_part(std::uint32_t first, std::uint32_t rows) {
    std::uint32_t node_of_first = (leaves_ + first) / 2;
    for (std::uint32_t nodes = rows / 2; nodes > 0; nodes /= 2, node_of_first /= 2)
        for (std::uint32_t n = node_of_first; n < node_of_first + nodes; ++n)
            take_most(node(n), node(2 * n), columns_);
    for (; node_of_first >= 1; node_of_first /= 2)
        take_most(node(node_of_first), node(2 * node_of_first), columns_);
}

std::uint32_t MaximaTree::next_fit(const Minima& asked, std::uint32_t from) const {
    const auto enough = [&](std::uint32_t n) {
        const std::int64_t* most = node(n);
        for (const auto& [column, need] : asked)
            if (most[column] < need) return false;
        return true;
    };
    if (from >= size_) return kNoSlot;
    // The search begins at the largest subtree whose first leaf is `from`.
    std::uint32_t n = leaves_ + from;
    while (n % 2 == 0) n /= 2;
    while (true) {
        if (enough(n)) {
            if (is_leaf(n)) return n - leaves_ < size_ ? n - leaves_ : kNoSlot;
            n *= 2;  // the search goes to the leftmost leaves first
            continue;
        }
        // Go on to the next subtree on the right. After the last one there is none.
        while (n % 2 == 1) {
            n /= 2;
            if (n <= 1) return kNoSlot;
        }
        ++n;
    }
}

}  // namespace pbs::sched
