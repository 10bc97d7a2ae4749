// select_range of a job: the numbers of chunks that the first part of its select may have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"
#include "server_plugin/scheduler/model/resources.h"
#include "values/chunk_numbers.h"

namespace pbs::sched {

class ChunkRange {
  public:
    // Reads what values::parse_chunk_numbers() reads.
    static std::optional<ChunkRange> parse(std::string_view text);
    bool empty() const { return parts_.empty(); }
    // Keeps only the multiples of `number`, which is at least 1. Returns false if there are none.
    bool keep_multiples(std::int64_t number);
    // Returns the least number. REQUIRES: the range isn't empty.
    std::int64_t least() const;
    // Return the greatest of numbers(most), and the average. A number that several parts of the range contain
    // counts as often in the average. O(parts). REQUIRES: not empty.
    std::int64_t greatest(std::int64_t most) const;
    double average(std::int64_t most) const;
    // Returns the numbers up to `most` in order, without duplicates, and the least one in any case.
    std::vector<std::int64_t> numbers(std::int64_t most) const;

  private:
    struct Part {
        std::int64_t low = 0;
        std::int64_t high = 0;
        std::int64_t step = 1;
        // The count of its numbers up to `most`.
        std::int64_t count(std::int64_t most) const {
            const std::int64_t last = std::min(high, most);
            return last < low ? 0 : (last - low) / step + 1;
        }
    };
    std::vector<Part> parts_;
};

// Amounts with the texts that they view.
struct OwnAmounts {
    std::vector<Amount> amounts;
    std::deque<std::string> texts;
};

// Returns a job's amounts with `count` in place of the number of the first chunks: in its select, and in the
// job-wide sums of the chunks' needs. If `ranged` is false, select_range is left out. nullopt: there is no
// select, or its first part is malformed.
std::optional<OwnAmounts> with_chunks(std::span<const Amount> amounts, std::int64_t count, bool ranged,
                                      const Resources& resources);

// Returns the amounts with which a job is planned: a waiting job's with the least number of its select_range,
// any other job's with the number of chunks that it has been given. nullopt: its amounts stay as they are.
std::optional<OwnAmounts> planned_amounts(std::span<const Amount> amounts, bool waits,
                                          const Resources& resources);

}  // namespace pbs::sched
