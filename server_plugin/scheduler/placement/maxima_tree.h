// The class MaximaTree: finds the first of many rows of numbers in which every number is large enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/model/job_table.h"
#include "server_plugin/scheduler/placement/columns.h"

namespace pbs::sched {

// A binary tree over rows. A node has the largest number of each column below it, so that a search skips
// whole subtrees, and a change of one row costs the logarithm of the number of rows.
class MaximaTree {
  public:
    // The needs of a search: pairs of a column and the least number in it.
    using Minima = std::vector<std::pair<std::uint32_t, std::int64_t>>;

    // Makes a row of `columns` numbers for each of `rows` places; all numbers are -1. The caller fills the
    // rows and then calls fix().
    void assign(std::size_t rows, std::uint32_t columns);
    std::uint32_t size() const { return size_; }
    // The row of a place. After changing it, call fix() or fix_above() before the next search.
    std::int64_t* row(std::uint32_t place) { return node(leaves_ + place); }
    const std::int64_t* row(std::uint32_t place) const { return node(leaves_ + place); }
    // Computes all maxima. O(rows).
    void fix();
    // Computes the maxima above one row. O(log rows).
    void fix_above(std::uint32_t place);
    // Computes the maxima over `rows` rows from `first` on, which have to form a subtree, and the maxima
    // above.
    void fix_part(std::uint32_t first, std::uint32_t rows);

    // Returns the first place from `from` on whose row satisfies all needs; kNoSlot: there is none.
    std::uint32_t next_fit(const Minima& asked, std::uint32_t from) const;

    // The tree: the root is node 1, the children of node n are 2n and 2n + 1, and the leaves are rows.
    const std::int64_t* node(std::uint32_t n) const { return &nodes_[std::size_t{n} * columns_]; }
    bool is_leaf(std::uint32_t n) const { return n >= leaves_; }

  private:
    std::int64_t* node(std::uint32_t n) { return &nodes_[std::size_t{n} * columns_]; }

    std::uint32_t size_ = 0;    // the number of rows
    std::uint32_t leaves_ = 1;  // a power of two
    std::uint32_t columns_ = 0;
    std::vector<std::int64_t> nodes_;
};

}  // namespace pbs::sched
