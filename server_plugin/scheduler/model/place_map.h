// A small hash table of numbers.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>

namespace pbs::sched {

// From keys to numbers (places in a list, counts), which are 0 until they are set.
class PlaceMap {
  public:
    // Valid until the next one.
    std::uint32_t& operator[](std::uint64_t key) { return map_[key]; }
    // The same without making room for it.
    std::uint32_t get(std::uint64_t key) const {
        const auto found = map_.find(key);
        return found == map_.end() ? 0 : found->second;
    }
    // A small table keeps its memory.
    void clear() { map_.clear(); }

  private:
    absl::flat_hash_map<std::uint64_t, std::uint32_t> map_;
};

}  // namespace pbs::sched
