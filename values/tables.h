// The tables of Abseil. Each ends the process if there is no memory for it, or if the constructor of a key or
// value throws in it.
//
// A table of Abseil is damaged by an allocation that fails while it grows, and by an entry that can't be made
// in its place, also while the table is copied: it has noted its new size already. Whoever catches the
// exception goes on with that table, and the process ends by a signal some time later.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/container/node_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "values/memory.h"

namespace pbs::values {

/// Allocates and constructs as std::allocator, but ends the process if there is no memory, or if a
/// constructor throws.
template <class T>
class EndingAllocator {
  public:
    using value_type = T;

    EndingAllocator() = default;
    template <class Other>
    EndingAllocator(const EndingAllocator<Other>& /*other*/) noexcept {}

    T* allocate(std::size_t count) noexcept {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        if (count > SIZE_MAX / sizeof(T)) end_without_memory("a table");
        void* const memory = ::operator new(count * sizeof(T), std::nothrow);
        if (memory == nullptr) end_without_memory("a table");
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t /*count*/) noexcept { ::operator delete(memory); }

    template <class Made, class... Args>
    void construct(Made* place, Args&&... args) noexcept {
        try {
            std::construct_at(place, std::forward<Args>(args)...);
        } catch (const std::bad_alloc&) {
            end_without_memory("a table");
        }
    }

    template <class Other>
    bool operator==(const EndingAllocator<Other>& /*other*/) const noexcept {
        return true;
    }
};

template <class Key>
using HashOf = typename absl::flat_hash_set<Key>::hasher;
template <class Key>
using EqualityOf = typename absl::flat_hash_set<Key>::key_equal;

/// A hash table whose values may move.
template <class Key, class Value>
using HashMap = absl::flat_hash_map<Key, Value, HashOf<Key>, EqualityOf<Key>,
                                    EndingAllocator<std::pair<const Key, Value>>>;
template <class Key, class Hash = HashOf<Key>, class Equality = EqualityOf<Key>>
using HashSet = absl::flat_hash_set<Key, Hash, Equality, EndingAllocator<Key>>;
/// A hash table whose values stay where they are.
template <class Key, class Value>
using NodeHashMap = absl::node_hash_map<Key, Value, HashOf<Key>, EqualityOf<Key>,
                                        EndingAllocator<std::pair<const Key, Value>>>;
/// Sorted tables, which take little memory for keys that come in ascending order.
template <class Key, class Value>
using BtreeMap = absl::btree_map<Key, Value, std::less<Key>, EndingAllocator<std::pair<const Key, Value>>>;
template <class Key>
using BtreeSet = absl::btree_set<Key, std::less<Key>, EndingAllocator<Key>>;

}  // namespace pbs::values
