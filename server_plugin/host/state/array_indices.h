// Sets of the indices of one job array. A set is stored as runs of adjacent indices. So the set for an array
// of 100,000 subjobs has one run as long as the subjobs start in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "values/indices.h"

namespace pbs::host {

using values::IndexRange;

// Reads array_indices_submitted: "X-Y[:Z]" with X < Y and Z > 0. PBSE_BADATVAL.
Result<IndexRange> parse_index_range(std::string_view text);

// A set of some of the indices in a range.
class IndexSet {
  public:
    // Makes the set of all indices of the range.
    explicit IndexSet(const IndexRange& range);
    // Reads a text that text() has made. PBSE_BADATVAL: it isn't a set of this range's indices.
    static Result<IndexSet> parse(const IndexRange& range, std::string_view text);

    bool empty() const { return runs_.empty(); }
    int64_t count() const { return count_; }
    bool contains(int64_t index) const;
    // The smallest index; nullopt: the set is empty.
    std::optional<int64_t> first() const;
    void insert(int64_t index);
    void erase(int64_t index);
    // Removes the indices in `other`.
    void erase(const IndexRange& other);
    void clear();
    // Returns the set as PBS writes it: "3-99:2,104", or "-" for an empty set.
    std::string text() const;

  private:
    // A run of indices: their positions in the range, from 0, with both ends included.
    struct Run {
        int64_t begin;
        int64_t end;
    };
    std::vector<Run>::const_iterator at(int64_t place) const;  // the first run that ends at or after `place`

    IndexRange range_;
    std::vector<Run> runs_;  // ascending, with gaps between them
    int64_t count_ = 0;
};

}  // namespace pbs::host
