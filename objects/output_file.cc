#include "objects/output_file.h"

#include <fmt/format.h>

#include <algorithm>

namespace pbs::objects {
namespace {

constexpr std::size_t kLongestPath = 64;

bool alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

tl::expected<void, std::string> check_output_file(std::string_view name) {
    const bool plain =
        !name.empty() && name.size() <= kLongestPath && alphanumeric(name.front()) &&
        std::ranges::all_of(name, [](char c) { return alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
    if (!plain)
        return tl::unexpected(fmt::format(
            "'{}' is not the name of a file alone: it is written in the folder {} below sched_priv and "
            "nowhere else, expected at most {} letters, digits, '-', '_' and '.', a letter or digit first",
            name.substr(0, 200), kOutputFolder, kLongestPath));
    if (name == kUsageFile)
        return tl::unexpected(
            fmt::format("'{}' is the file of past usage there, expected another name", name));
    return {};
}

}  // namespace pbs::objects
