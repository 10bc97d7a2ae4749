// A small hash table of numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pbs::sched {

// From keys other than 0 to numbers (places in a list, counts), which are 0 until they are set. Open
// addressing: the table is read at random, one line of the cache a question.
class PlaceMap {
  public:
    // Valid until the next one.
    std::uint32_t& operator[](std::uint64_t key) {
        if ((used_ + 1) * 2 > slots_.size()) grow();
        Slot& slot = find(key);
        if (slot.key == 0) {
            slot.key = key;
            ++used_;
            if (used_ <= few) used_at_[used_ - 1] = static_cast<std::uint32_t>(&slot - slots_.data());
        }
        return slot.place;
    }
    // The same without making room for it.
    std::uint32_t get(std::uint64_t key) const { return slots_.empty() ? 0 : slots_[at(key)].place; }
    // A small table keeps its memory. O(keys) if there are few.
    void clear() {
        if (slots_.size() > most_kept)
            slots_ = {};
        else if (used_ > few)
            std::ranges::fill(slots_, Slot{});
        else
            for (std::size_t i = 0; i < used_; ++i) slots_[used_at_[i]] = {};
        used_ = 0;
    }

  private:
    static constexpr std::size_t least_slots = 32;
    static constexpr std::size_t most_kept = 512;
    static constexpr std::size_t few = 8;  // fewer than a table has before it first grows
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t place = 0;
    };
    std::size_t at(std::uint64_t key) const {
        const std::uint64_t hash = key * 0x9E3779B97F4A7C15ULL;
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = (hash ^ hash >> 32) & mask;
        while (slots_[i].key != 0 && slots_[i].key != key) i = (i + 1) & mask;
        return i;
    }
    Slot& find(std::uint64_t key) { return slots_[at(key)]; }
    void grow() {
        std::vector<Slot> before(slots_.empty() ? least_slots : slots_.size() * 2);
        slots_.swap(before);
        for (const Slot& slot : before)
            if (slot.key != 0) find(slot.key) = slot;
    }
    std::vector<Slot> slots_;
    std::size_t used_ = 0;
    std::array<std::uint32_t, few> used_at_{};  // the slots of the first keys
};

}  // namespace pbs::sched
