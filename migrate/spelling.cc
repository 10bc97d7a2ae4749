#include "migrate/spelling.h"

#include <algorithm>
#include <vector>

namespace pbs::migrate {
namespace {

// The least number of letters to change, insert or remove between two words.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

}  // namespace

bool nearly_same(std::string_view a, std::string_view b) {
    const auto [shorter, longer] = std::minmax({a.size(), b.size()});
    return longer - shorter <= 2 && distance(a, b) <= 2;
}

}  // namespace pbs::migrate
