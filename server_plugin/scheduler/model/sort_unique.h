// Sorts lists, and drops elements that occur twice.
#pragma once

#include <algorithm>

namespace pbs::sched {

// Sorts the list and drops duplicates. O(n log n).
template <class List>
void sort_unique(List& list) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace pbs::sched
