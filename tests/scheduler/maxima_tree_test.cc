#include "server_plugin/scheduler/placement/maxima_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace pbs::sched::test {
namespace {

constexpr std::uint32_t kColumns = 3;

// Returns the first row from `from` on in which all amounts `asked` fit, by going through all rows; kNoSlot
// if none does.
std::uint32_t first_fit(const MaximaTree& tree, const MaximaTree::Minima& asked, std::uint32_t from) {
    for (std::uint32_t place = from; place < tree.size(); ++place)
        if (std::ranges::all_of(asked, [&](const auto& a) { return tree.row(place)[a.first] >= a.second; }))
            return place;
    return kNoSlot;
}

TEST(MaximaTreeTest, FindsWhatAWalkFinds) {
    std::mt19937 random(5);
    const auto below = [&](int end) { return std::uniform_int_distribution<int>(0, end - 1)(random); };
    for (const std::uint32_t size : {0U, 1U, 2U, 3U, 8U, 9U, 70U}) {
        MaximaTree tree;
        tree.assign(size, kColumns);
        for (std::uint32_t place = 0; place < size; ++place)
            std::generate_n(tree.row(place), kColumns, [&] { return below(10); });
        tree.fix();
        int found = 0;
        for (int round = 0; round < 200; ++round) {
            if (size > 0) {
                const auto place = static_cast<std::uint32_t>(below(static_cast<int>(size)));
                tree.row(place)[below(kColumns)] = below(10);
                tree.fix_above(place);
            }
            const MaximaTree::Minima asked = {{2, below(12)}, {0, below(8)}};
            const auto from = static_cast<std::uint32_t>(below(static_cast<int>(size) + 1));
            ASSERT_EQ(tree.next_fit(asked, from), first_fit(tree, asked, from))
                << size << " rows from " << from;
            found += tree.next_fit(asked, from) != kNoSlot ? 1 : 0;
        }
        EXPECT_EQ(found > 0, size > 0);
        EXPECT_LT(found, 200) << "some searches find nothing";
    }
}

}  // namespace
}  // namespace pbs::sched::test
