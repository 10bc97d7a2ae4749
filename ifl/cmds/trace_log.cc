#include "ifl/cmds/trace_log.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "ifl/cmds/text.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

// Removes the text up to the next semicolon from the line, and returns it.
std::string_view take_field(std::string_view& line) {
    const std::size_t end = line.find(';');
    const std::string_view field = line.substr(0, end);
    line = end == std::string_view::npos ? std::string_view() : line.substr(end + 1);
    return field;
}

// The date "MM/DD/YYYY HH:MM:SS.uuuuuu" as a text that sorts by time.
std::string sort_key(std::string_view date) {
    constexpr std::size_t kSeconds = 19;
    if (date.size() < kSeconds) return std::string(date);
    const std::string_view fraction = date.size() > kSeconds ? date.substr(kSeconds) : ".~";
    return fmt::format("{}{}{}{}", date.substr(6, 4), date.substr(0, 5), date.substr(10, 9), fraction);
}

bool is_about(std::string_view job, std::string_view name) {
    if (job.find('.') == std::string_view::npos) name = name.substr(0, name.find('.'));
    return !job.empty() && name == job;
}

// Returns `head` and the text after it, wrapped. Further lines begin in the column after `head`.
std::string wrapped(std::string head, std::string_view text, std::size_t width) {
    const std::string margin(head.size(), ' ');
    const std::size_t room = width > head.size() ? width - head.size() : 1;
    while (width != 0 && text.size() > room) {
        std::size_t at = text.rfind(' ', room);
        if (at == std::string_view::npos || at == 0) at = text.find(' ', room);
        if (at == std::string_view::npos) break;
        head += fmt::format("{}\n{}", text.substr(0, at), margin);
        text.remove_prefix(at + 1);
    }
    return fmt::format("{}{}\n", head, text);
}

}  // namespace

void find_trace_lines(std::istream& in, char file, std::string_view job, std::vector<TraceLine>& lines) {
    std::string text;
    while (std::getline(in, text)) {
        std::string_view rest = text;
        TraceLine line;
        line.file = file;
        line.date = take_field(rest);
        const std::string_view event = take_field(rest);
        if (file != 'A') {
            line.event = values::number<unsigned>(event, 16).value_or(0);
            take_field(rest);  // the daemon that wrote the line
            take_field(rest);  // the kind of object
        }
        line.job = take_field(rest);
        if (is_about(job, line.job)) {
            line.text = rest;
            lines.push_back(std::move(line));
        }
    }
}

void sort_trace_lines(std::vector<TraceLine>& lines) {
    std::stable_sort(lines.begin(), lines.end(), [](const TraceLine& a, const TraceLine& b) {
        return sort_key(a.date) < sort_key(b.date);
    });
}

void drop_excessive(std::vector<TraceLine>& lines, std::size_t excessive) {
    std::map<std::string, std::size_t> left;
    for (const TraceLine& line : lines) ++left[line.text];
    std::erase_if(left, [&](const auto& count) { return count.second < excessive; });
    std::erase_if(lines, [&](const TraceLine& line) {
        const auto at = left.find(line.text);
        return at != left.end() && --at->second > 0;
    });
}

std::optional<unsigned> event_mask(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, unsigned>, 13> kEvents{{{"error", 0x1},
                                                                             {"system", 0x2},
                                                                             {"admin", 0x4},
                                                                             {"job", 0x8},
                                                                             {"job_usage", 0x10},
                                                                             {"security", 0x20},
                                                                             {"sched", 0x40},
                                                                             {"debug", 0x80},
                                                                             {"debug2", 0x100},
                                                                             {"resv", 0x200},
                                                                             {"debug3", 0x400},
                                                                             {"debug4", 0x800},
                                                                             {"force", 0x8000}}};
    for (const auto& [event, mask] : kEvents)
        if (event == name) return mask;
    if (name.starts_with("0x")) name.remove_prefix(2);
    return !name.empty() && values::is_digit(name.front()) ? values::number<unsigned>(name, 16)
                                                           : std::nullopt;
}

std::string trace_text(const std::vector<TraceLine>& lines, std::size_t width) {
    if (lines.empty()) return {};
    const bool fine = std::any_of(lines.begin(), lines.end(), [](const TraceLine& line) {
        return line.date.find('.') != std::string::npos;
    });
    std::string out = fmt::format("\nJob: {}\n\n", lines.front().job);
    for (const TraceLine& line : lines) {
        out += wrapped(fmt::format("{:<{}} {:<5}", line.date, fine ? 27 : 20, std::string(1, line.file)),
                       printable(line.text), width);
    }
    return out;
}

}  // namespace pbs::cmds
