#include "values/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <string>

#include "tests/failing_allocations.h"

namespace pbs::values {
namespace {

// Adds numbers until the allocation of the table's next growth fails.
template <class Table, class Add>
void grow_without_memory(const Add& add) {
    Table table;
    for (std::uint64_t i = 0; i < 1000; ++i) add(table, i);
    allocations_left = 1;
    try {
        for (std::uint64_t i = 1000; i < 100'000; ++i) add(table, i);
    } catch (const std::bad_alloc&) {
        // The table is damaged now: its destructor may end the process by a signal, or not.
    }
}

const auto kPair = [](auto& table, std::uint64_t key) { table[key] = key; };
const auto kKey = [](auto& table, std::uint64_t key) { table.insert(key); };

using Numbers = HashMap<std::uint64_t, std::uint64_t>;

TEST(TablesDeathTest, EndTheProcessIfThereIsNoMemoryForThem) {
    constexpr const char* kWords = "pbspolicy: no memory for a table: this process ends";
    EXPECT_DEATH(grow_without_memory<Numbers>(kPair), kWords);
    EXPECT_DEATH(grow_without_memory<HashSet<std::uint64_t>>(kKey), kWords);
    EXPECT_DEATH((grow_without_memory<NodeHashMap<std::uint64_t, std::uint64_t>>(kPair)), kWords);
    EXPECT_DEATH((grow_without_memory<BtreeMap<std::uint64_t, std::uint64_t>>(kPair)), kWords);
    EXPECT_DEATH(grow_without_memory<BtreeSet<std::uint64_t>>(kKey), kWords);
}

TEST(Tables, AreThoseOfAbseil) {
    Numbers numbers;
    for (std::uint64_t i = 0; i < 1000; ++i) numbers[i] = 2 * i;
    EXPECT_EQ(numbers.size(), 1000U);
    EXPECT_EQ(numbers.at(499), 998U);
    Numbers copy = numbers;
    copy.erase(0);
    std::swap(copy, numbers);
    EXPECT_EQ(numbers.size(), 999U);
    EXPECT_EQ(copy.size(), 1000U);
    HashMap<std::string, int> names;
    names["n1"] = 1;
    EXPECT_TRUE(names.contains("n1"));
}

}  // namespace
}  // namespace pbs::values
