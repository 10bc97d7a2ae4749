// The class ColumnIndex: finds the entry with a given value in a column of a table.
#pragma once

#include <absl/hash/hash.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "values/tables.h"

namespace pbs::sched {

// The index has the numbers of entries, and reads their values in the column, so it takes 5 bytes for an
// entry whatever the size of the values. The column must not move, and the value of an entry must not change
// while the entry is in the index.
template <class Value, class Hash = absl::Hash<Value>>
class ColumnIndex {
  public:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    explicit ColumnIndex(const std::vector<Value>& column)
        : numbers_(0, Hasher{{&column}}, Same{{&column}}) {}
    ColumnIndex(const ColumnIndex&) = delete;
    ColumnIndex& operator=(const ColumnIndex&) = delete;

    // Returns the number of the entry with the value; kNone: there is none.
    std::uint32_t find(const Value& value) const {
        const auto found = numbers_.find(value);
        return found == numbers_.end() ? kNone : *found;
    }
    std::size_t size() const { return numbers_.size(); }
    void insert(std::uint32_t number) { numbers_.insert(number); }
    void erase(std::uint32_t number) { numbers_.erase(number); }

  private:
    struct Reads {
        using is_transparent = void;
        const std::vector<Value>* column;
        const Value& value(std::uint32_t number) const { return (*column)[number]; }
        static const Value& value(const Value& of) { return of; }
    };
    struct Hasher : Reads {
        std::size_t operator()(const auto& of) const { return Hash{}(this->value(of)); }
    };
    struct Same : Reads {
        bool operator()(const auto& a, const auto& b) const { return this->value(a) == this->value(b); }
    };
    values::HashSet<std::uint32_t, Hasher, Same> numbers_;
};

}  // namespace pbs::sched
