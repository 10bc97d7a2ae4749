#include "server_plugin/host/state/job_name.h"

#include <fmt/format.h>

#include "values/number.h"

namespace pbs::host {
namespace {

// The largest number in an id. It has 40 bits, so that the bits of the marks (job_name.h) stay free.
constexpr uint64_t kLargestNumber = (uint64_t{1} << 40U) - 1;

}  // namespace

std::optional<JobName> parse_job_name(std::string_view text) {
    text = text.substr(0, text.find('@'));
    JobName name;
    const auto number = values::take_number<uint64_t>(text);
    if (!number || *number > kLargestNumber) return std::nullopt;
    name.number = *number;
    if (text.starts_with('[')) {
        const auto close = text.find(']');
        if (close == std::string_view::npos) return std::nullopt;
        const std::string_view inside = text.substr(1, close - 1);
        text.remove_prefix(close + 1);
        name.kind = JobName::Kind::array;
        if (!inside.empty()) {
            auto indices = values::parse_index_list(inside);
            if (!indices) return std::nullopt;
            name.indices = *std::move(indices);
            const bool one = inside.find_first_of("-,") == std::string_view::npos;
            name.kind = one ? JobName::Kind::subjob : JobName::Kind::subjobs;
        }
    }
    if (text.empty()) return name;
    if (text.front() != '.') return std::nullopt;
    name.server = text.substr(1);
    return name;
}

std::string job_id(uint64_t sequence, std::string_view server) {
    return fmt::format("{}{}.{}", number_in_id(sequence), (sequence & kArrayMark) != 0 ? "[]" : "", server);
}

}  // namespace pbs::host
