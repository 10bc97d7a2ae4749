#include "ifl/cmds/job_id.h"

#include <algorithm>

#include <fmt/format.h>

#include "values/text.h"

namespace pbs::cmds {

namespace {

constexpr std::size_t kLongestSequence = 12;
constexpr std::size_t kLongestQueue = 15;
constexpr std::size_t kLongestServer = 255 + 6;  // a host name, and ":port"
constexpr std::size_t kLongestJobName = 230;

bool name_char(char c) {
    return c > ' ' && c < '\x7f' && c != '#' && c != '@';
}

bool is_server_name(std::string_view name) {
    return !name.empty() && name.size() <= kLongestServer && std::all_of(name.begin(), name.end(), name_char);
}

// The length of "[12]" or "[1-5:2]" at the beginning of `text`; 0: none; npos: not closed.
std::size_t array_part(std::string_view text) {
    if (text.empty() || text.front() != '[') return 0;
    const std::size_t end = text.find_first_not_of("0123456789-:", 1);
    return end == std::string_view::npos || text[end] != ']' ? std::string_view::npos : end + 1;
}

}  // namespace

bool is_job_id(std::string_view text) {
    text = values::trim(text);
    return !text.empty() && values::is_digit(text.front());
}

Result<JobId> parse_job_id(std::string_view text) {
    const auto wrong = [&] { return fail(fmt::format("illegally formed job identifier: {}", text), 1); };
    std::string_view rest = values::trim(text);
    std::size_t length = 0;
    while (length < rest.size() && values::is_digit(rest[length])) ++length;
    if (length == 0 || length > kLongestSequence) return wrong();
    const std::size_t array = array_part(rest.substr(length));
    if (array == std::string_view::npos) return wrong();
    JobId id;
    id.sequence = rest.substr(0, length + array);
    rest.remove_prefix(length + array);
    if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
        id.server = rest.substr(at + 1);
        rest = rest.substr(0, at);
        if (!is_server_name(id.server)) return wrong();
    }
    if (!rest.empty()) {
        if (rest.front() != '.' || !is_server_name(rest.substr(1))) return wrong();
        id.parent = rest.substr(1);
    }
    return id;
}

std::string sent_job_id(const JobId& id) {
    return id.parent.empty() ? id.sequence : id.sequence + "." + id.parent;
}

Result<Destination> parse_destination(std::string_view text) {
    Destination destination;
    const std::string_view trimmed = values::trim(text);
    const std::size_t at = trimmed.find('@');
    destination.queue = trimmed.substr(0, at);
    const bool good_queue = destination.queue.size() <= kLongestQueue &&
                            std::all_of(destination.queue.begin(), destination.queue.end(), name_char);
    if (at != std::string_view::npos) destination.server = trimmed.substr(at + 1);
    if (!good_queue || (at != std::string_view::npos && !is_server_name(destination.server)))
        return fail(fmt::format("illegally formed destination: {}", text));
    return destination;
}

bool is_job_name(std::string_view name) {
    if (name.empty() || name.size() > kLongestJobName) return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return values::is_alnum(c) || c == '-' || c == '_' || c == '+' || c == '.';
    });
}

}  // namespace pbs::cmds
