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

// Copies a table of one key. The second allocation, that of the key's text, fails.
template <class Table>
void copy_without_memory(const Table& table) {
    allocations_left = 2;
    try {
        const Table copy = table;
    } catch (const std::bad_alloc&) {
    }
}

constexpr const char* kWords = "pbspolicy: no memory for a table: this process ends";

using Numbers = HashMap<std::uint64_t, std::uint64_t>;

TEST(TablesDeathTest, EndTheProcessIfThereIsNoMemoryForThem) {
    EXPECT_DEATH(grow_without_memory<Numbers>(kPair), kWords);
    EXPECT_DEATH(grow_without_memory<HashSet<std::uint64_t>>(kKey), kWords);
    EXPECT_DEATH((grow_without_memory<NodeHashMap<std::uint64_t, std::uint64_t>>(kPair)), kWords);
    EXPECT_DEATH((grow_without_memory<BtreeMap<std::uint64_t, std::uint64_t>>(kPair)), kWords);
    EXPECT_DEATH(grow_without_memory<BtreeSet<std::uint64_t>>(kKey), kWords);
}

// A value whose copy finds no memory.
struct Uncopied {
    Uncopied() = default;
    explicit Uncopied(int number) {
        if (number == 1000) throw std::bad_alloc();
    }
    Uncopied(const Uncopied& /*other*/) { throw std::bad_alloc(); }
    Uncopied(Uncopied&& /*other*/) noexcept {}
    Uncopied& operator=(const Uncopied&) = delete;
    Uncopied& operator=(Uncopied&&) = delete;
    ~Uncopied() = default;
};

// Adds a value whose constructor throws, or copies a table of values whose copies throw.
template <class Table>
void add_throwing_value() {
    Table table;
    try {
        for (int i = 0; i < 2000; ++i) table.try_emplace(i, i);
    } catch (const std::bad_alloc&) {
    }
}
template <class Table>
void copy_throwing_values() {
    Table table;
    for (int i = 0; i < 100; ++i) table.try_emplace(i);
    try {
        const Table copy = table;
    } catch (const std::bad_alloc&) {
    }
}

TEST(TablesDeathTest, EndTheProcessIfThereIsNoMemoryForAValue) {
    EXPECT_DEATH((add_throwing_value<HashMap<int, Uncopied>>()), kWords);
    EXPECT_DEATH((add_throwing_value<NodeHashMap<int, Uncopied>>()), kWords);
    EXPECT_DEATH((add_throwing_value<BtreeMap<int, Uncopied>>()), kWords);
    EXPECT_DEATH((copy_throwing_values<HashMap<int, Uncopied>>()), kWords);
    EXPECT_DEATH((copy_throwing_values<NodeHashMap<int, Uncopied>>()), kWords);
    EXPECT_DEATH((copy_throwing_values<BtreeMap<int, Uncopied>>()), kWords);
    // the keys of sets, too
    const HashSet<std::string> names{std::string(100, 'a')};
    const BtreeSet<std::string> sorted{std::string(100, 'a')};
    EXPECT_DEATH(copy_without_memory(names), kWords);
    EXPECT_DEATH(copy_without_memory(sorted), kWords);
}

TEST(TablesDeathTest, EndTheProcessIfASizeIsBeyondAllMemory) {
    EXPECT_DEATH(EndingAllocator<std::uint64_t>().allocate(SIZE_MAX / sizeof(std::uint64_t) + 2), kWords);
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
