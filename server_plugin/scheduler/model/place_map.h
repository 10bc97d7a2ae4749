// The class PlaceMap: a hash table from numbers to numbers.
#pragma once

#include <cstdint>

#include "values/tables.h"

namespace pbs::sched {

// Maps keys to numbers (indices in a list, counts). The default is 0.
class PlaceMap {
  public:
    // The reference is valid until the next call.
    std::uint32_t& operator[](std::uint64_t key) { return map_[key]; }
    // Returns the number of a key, without adding the key; 0: there is none.
    std::uint32_t get(std::uint64_t key) const {
        const auto found = map_.find(key);
        return found == map_.end() ? 0 : found->second;
    }
    void clear() { map_.clear(); }

  private:
    values::HashMap<std::uint64_t, std::uint32_t> map_;
};

}  // namespace pbs::sched
