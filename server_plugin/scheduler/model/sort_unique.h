// Sorts lists that are to hold each element once.
#pragma once

#include <algorithm>
#include <vector>

namespace pbs::sched {

// Sorts the list and drops what is there more than once. O(n log n).
template <class T>
void sort_unique(std::vector<T>& list) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace pbs::sched
