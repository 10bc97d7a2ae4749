// Reads comma-separated lists of words.
#pragma once

#include <string_view>

namespace pbs::sched {

// Calls visit(word) for each element of a comma-separated list.
template <class Visit>
void for_each_word(std::string_view list, const Visit& visit) {
    while (true) {
        const auto comma = list.find(',');
        visit(list.substr(0, comma));
        if (comma == std::string_view::npos) return;
        list.remove_prefix(comma + 1);
    }
}

// Returns whether `word` is one of the elements of a comma-separated list.
inline bool has_word(std::string_view list, std::string_view word) {
    bool found = false;
    for_each_word(list, [&](std::string_view element) { found = found || element == word; });
    return found;
}

}  // namespace pbs::sched
