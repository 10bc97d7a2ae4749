#include "objects/spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "values/text.h"

namespace pbs::objects {
namespace {

// Returns the edit distance: the least number of letters to change, insert or remove between two words.
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

constexpr std::size_t kMostEdits = 2;
constexpr std::size_t kShortest = 4;

}  // namespace

bool nearly_same(std::string_view a, std::string_view b) {
    const auto [shorter, longer] = std::minmax({a.size(), b.size()});
    return longer - shorter <= kMostEdits && distance(a, b) <= kMostEdits;
}

std::string_view nearest(std::string_view misspelled, std::span<const std::string_view> words) {
    const std::string asked = values::lowered(misspelled);
    std::string_view best;
    std::size_t least = kMostEdits + 1;
    if (asked.size() < kShortest) return best;
    for (const std::string_view word : words) {
        const std::string candidate = values::lowered(word);
        if (!nearly_same(asked, candidate)) continue;
        if (const std::size_t found = distance(asked, candidate); found < least) {
            least = found;
            best = word;
        }
    }
    return best;
}

std::string did_you_mean(ObjectType type, std::string_view misspelled) {
    std::vector<std::string_view> names;
    for (const Attribute& attribute : attributes(type)) {
        names.push_back(attribute.name);
        if (!attribute.alias.empty()) names.push_back(attribute.alias);
    }
    const std::string_view meant = nearest(misspelled, names);
    return meant.empty() ? std::string() : fmt::format("; did you mean {}?", meant);
}

}  // namespace pbs::objects
