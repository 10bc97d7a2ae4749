#include "ifl/attributes/execvnodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "values/number.h"

namespace pbs::ifl {
namespace {

// Sets the elements of the list whose numbers are in `ranges`, such as "0-2,4", to `exec_vnode`.
void give(std::string_view ranges, std::string_view exec_vnode, std::vector<std::string>& list) {
    while (!ranges.empty()) {
        const auto first = values::take_number<std::size_t>(ranges);
        if (!first) return;
        std::size_t last = *first;
        if (ranges.starts_with('-')) {
            ranges.remove_prefix(1);
            last = values::take_number<std::size_t>(ranges).value_or(*first);
        }
        for (std::size_t i = *first; i <= last && i < list.size(); ++i) list[i] = exec_vnode;
        if (!ranges.starts_with(',')) return;
        ranges.remove_prefix(1);
    }
}

}  // namespace

std::string execvnodes_text(const std::vector<std::string>& exec_vnodes) {
    std::string text = fmt::format("{}#", exec_vnodes.size());
    std::vector<bool> told(exec_vnodes.size());
    for (std::size_t first = 0; first < exec_vnodes.size(); ++first) {
        if (told[first] || exec_vnodes[first].empty()) continue;
        std::string ranges;
        for (std::size_t i = first; i < exec_vnodes.size(); ++i) {
            if (exec_vnodes[i] != exec_vnodes[first]) continue;
            std::size_t last = i;
            while (last + 1 < exec_vnodes.size() && exec_vnodes[last + 1] == exec_vnodes[first]) ++last;
            std::fill(told.begin() + static_cast<std::ptrdiff_t>(i),
                      told.begin() + static_cast<std::ptrdiff_t>(last) + 1, true);
            ranges += ranges.empty() ? "" : ",";
            ranges += last == i ? fmt::format("{}", i) : fmt::format("{}-{}", i, last);
            i = last;
        }
        text += fmt::format("{}{{{}}}", exec_vnodes[first], ranges);
    }
    return text;
}

std::vector<std::string> exec_vnodes_in(std::string_view text, std::size_t most) {
    const auto count = values::take_number<std::size_t>(text);
    if (!count || !text.starts_with('#')) return {};
    text.remove_prefix(1);
    std::vector<std::string> list(std::min(*count, most));
    // names of vnodes have no parentheses, so "){" ends an exec_vnode
    while (!text.empty()) {
        const std::size_t open = text.find("){");
        const std::size_t close = open == std::string_view::npos ? open : text.find('}', open);
        if (close == std::string_view::npos) return list;
        give(text.substr(open + 2, close - open - 2), text.substr(0, open + 1), list);
        text.remove_prefix(close + 1);
    }
    return list;
}

}  // namespace pbs::ifl
