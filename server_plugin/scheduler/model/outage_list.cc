#include "server_plugin/scheduler/model/outage_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "server_plugin/scheduler/model/host_name.h"
#include "values/text.h"

namespace pbs::sched {
namespace {

using std::chrono::local_days;
using std::chrono::local_seconds;

constexpr std::string_view kNoEntries = "No scheduled downtime for the specified period.";
constexpr std::string_view kExpected =
    "expected `NAME MM/DD/YYYY HH:MM-HH:MM MM/DD/YYYY description`, or a line indented further that goes on "
    "with a description";
constexpr std::size_t kLongestShown = 60;

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

std::size_t indent_of(std::string_view line) {
    return static_cast<std::size_t>(std::ranges::find_if_not(line, is_blank) - line.begin());
}

std::string_view trimmed(std::string_view line) {
    line.remove_prefix(indent_of(line));
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    return line;
}

std::string_view take_word(std::string_view& line) {
    line.remove_prefix(indent_of(line));
    const auto word =
        line.substr(0, static_cast<std::size_t>(std::ranges::find_if(line, is_blank) - line.begin()));
    line.remove_prefix(word.size());
    return word;
}

// Removes a number of exactly `count` digits from the front of the text.
std::optional<unsigned> take_digits(std::string_view& text, std::size_t count) {
    if (text.size() < count) return std::nullopt;
    unsigned number = 0;
    for (const char c : text.substr(0, count)) {
        if (c < '0' || c > '9') return std::nullopt;
        number = number * 10 + static_cast<unsigned>(c - '0');
    }
    text.remove_prefix(count);
    return number;
}

bool take(std::string_view& text, char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
}

// Reads MM/DD/YYYY.
std::optional<local_days> date(std::string_view text) {
    const auto month = take_digits(text, 2);
    if (!month || !take(text, '/')) return std::nullopt;
    const auto day = take_digits(text, 2);
    if (!day || !take(text, '/')) return std::nullopt;
    const auto year = take_digits(text, 4);
    if (!year || !text.empty()) return std::nullopt;
    const auto ymd =
        std::chrono::year(static_cast<int>(*year)) / std::chrono::month(*month) / std::chrono::day(*day);
    if (!ymd.ok() || *year < 1970) return std::nullopt;
    return local_days(ymd);
}

std::optional<Seconds> time_of_day(std::string_view& text) {
    const auto hours = take_digits(text, 2);
    if (!hours || *hours > 24 || !take(text, ':')) return std::nullopt;
    const auto minutes = take_digits(text, 2);
    if (!minutes || *minutes > 59 || (*hours == 24 && *minutes > 0)) return std::nullopt;
    return std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
}

struct Entry {
    std::string_view name;
    local_seconds start;
    local_seconds end;
    std::string_view description;
};

std::optional<Entry> entry_of(std::string_view line) {
    Entry entry;
    entry.name = take_word(line);
    const auto first = date(take_word(line));
    std::string_view times = take_word(line);
    const auto from = time_of_day(times);
    if (!first || !from || !take(times, '-')) return std::nullopt;
    const auto to = time_of_day(times);
    const auto last = date(take_word(line));
    if (!to || !times.empty() || !last) return std::nullopt;
    entry.start = *first + *from;
    entry.end = *last + *to;
    entry.description = trimmed(line);
    return entry;
}

}  // namespace

Result<std::vector<Outage>> parse_outages(std::string_view text, std::string_view name,
                                          const rrule::Zone& zone) {
    std::vector<Outage> outages;
    const auto wrong = [](int number, std::string_view line, std::string_view why) {
        return tl::unexpected(
            Error{fmt::format("line {}: `{}`: {}", number, trimmed(line).substr(0, kLongestShown), why)});
    };
    std::optional<std::size_t> indent;  // the indent of the entry that the next line may continue
    bool wanted = false;                // the entry is for `name`
    for (int number = 1; !text.empty(); ++number) {
        const std::string_view line = values::take_line(text);
        if (trimmed(line).empty() || trimmed(line) == kNoEntries) continue;
        if (const auto entry = entry_of(line)) {
            if (entry->end <= entry->start) return wrong(number, line, "expected an end after the start");
            indent = indent_of(line);
            wanted = same_host_name(entry->name, name);
            if (!wanted) continue;
            outages.push_back(
                {zone.instant(entry->start), zone.instant(entry->end), std::string(entry->description)});
        } else if (indent && indent_of(line) > *indent) {
            if (wanted) outages.back().description.append(" ").append(trimmed(line));
        } else {
            return wrong(number, line, kExpected);
        }
    }
    std::ranges::stable_sort(outages, {}, &Outage::start);
    return outages;
}

}  // namespace pbs::sched
