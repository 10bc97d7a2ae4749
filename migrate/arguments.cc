#include "migrate/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <vector>

#include "objects/forms.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

using Read = tl::expected<std::string, std::string>;

Read expected(const char* what) {
    return tl::unexpected<std::string>(what);
}

// Reads a number of at most `longest` decimal digits, without a sign.
std::optional<long> digits(std::string_view text, std::size_t longest = 9) {
    return text.size() <= longest ? values::digits<long>(text) : std::nullopt;
}

// Reads SS, MM:SS or HH:MM:SS and returns seconds. Any field may exceed 59: 90:00 is an hour and a half.
std::optional<long> timespec(std::string_view text) {
    const auto fields = values::split(text, ':');
    if (fields.size() > 3) return std::nullopt;
    long seconds = 0;
    for (const auto field : fields) {
        const auto n = digits(field, 7);
        if (!n) return std::nullopt;
        seconds = seconds * 60 + *n;
    }
    return seconds;
}

std::string hours_minutes_seconds(long s) {
    return fmt::format("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

Read read_timespec(std::string_view text) {
    const auto seconds = timespec(text);
    if (!seconds) return expected("a time HH:MM:SS, MM:SS or SS, such as 04:00:00 for four hours");
    return hours_minutes_seconds(*seconds);
}

Read read_clock(std::string_view text) {
    const auto seconds = timespec(text);
    if (!seconds || *seconds > 86400)
        return expected("a time of day HH:MM:SS up to 24:00:00, such as 08:00:00 for eight in the morning");
    return hours_minutes_seconds(*seconds);
}

// Reads MM/DD/YYYY[@HH:MM:SS] and returns it with leading zeros. nullopt: not such a date.
std::optional<std::string> wall_clock(std::string_view text) {
    const auto at = text.find('@');
    const auto fields = values::split(text.substr(0, at), '/');
    if (fields.size() != 3) return std::nullopt;
    const auto m = digits(fields[0], 2);
    const auto d = digits(fields[1], 2);
    const auto y = digits(fields[2], 4);
    if (!m || !d || !y || fields[2].size() != 4) return std::nullopt;
    const std::chrono::year_month_day ymd{std::chrono::year{static_cast<int>(*y)},
                                          std::chrono::month{static_cast<unsigned>(*m)},
                                          std::chrono::day{static_cast<unsigned>(*d)}};
    if (!ymd.ok()) return std::nullopt;
    const std::string day = fmt::format("{:02}/{:02}/{:04}", *m, *d, *y);
    if (at == std::string_view::npos) return day;
    const auto time = values::split(text.substr(at + 1), ':');
    if (time.size() != 3) return std::nullopt;
    const auto hour = digits(time[0], 2);
    const auto minute = digits(time[1], 2);
    const auto second = digits(time[2], 2);
    if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
    return fmt::format("{}@{:02}:{:02}:{:02}", day, *hour, *minute, *second);
}

Read read_boolean(std::string_view text) {
    if (text.find_first_of("/@") != std::string_view::npos) {
        const auto from = wall_clock(text);
        if (!from) return expected("a boolean or a date MM/DD/YYYY[@HH:MM:SS]");
        return *from;
    }
    const std::string word = values::lowered(text);
    return std::string(word == "true" || word == "yes" || word == "on" || word == "1" ? "True" : "False");
}

Read read_integer(std::string_view text) {
    const auto n = digits(text);
    if (!n) return expected("a number that isn't negative, such as 64");
    return std::to_string(*n);
}

Read read_percentage(std::string_view text) {
    const auto n = digits(text.ends_with('%') ? text.substr(0, text.size() - 1) : text, 5);
    if (!n) return expected("a percentage, such as 90%");
    return std::to_string(*n);
}

Read read_real(std::string_view text) {
    const auto value = values::decimal(text, std::chars_format::fixed);
    return value ? Read(fmt::format("{}", *value)) : expected("a real number, such as 0.75");
}

Read read_variance(std::string_view text) {
    const auto fields = values::split(text, ',');
    const auto part = [](std::string_view field, char sign) -> std::optional<long> {
        if (field.size() < 3 || field.front() != sign || field.back() != '%') return std::nullopt;
        return digits(field.substr(1, field.size() - 2), 5);
    };
    const auto below = fields.size() == 2 ? part(fields[0], '-') : std::nullopt;
    const auto above = fields.size() == 2 ? part(fields[1], '+') : std::nullopt;
    if (!below || !above) return expected("a variance -mm%,+nn%, such as -10%,+15%");
    return fmt::format("-{}%,+{}%", *below, *above);
}

// Returns whether the text names a queue, as name or name@host.
bool queue_name(std::string_view text) {
    const auto at = text.find('@');
    return objects::is_queue_name(text.substr(0, at)) &&
           (at == std::string_view::npos || objects::is_host_name(text.substr(at + 1)));
}

Read read_queue(std::string_view text) {
    if (!queue_name(text))
        return expected("one queue, as queue or queue@host, with at most 15 characters before the @");
    return std::string(text);
}

Read read_queues(std::string_view text) {
    for (const auto queue : values::split(text, ','))
        if (!queue_name(queue))
            return expected(
                "queues, as queue or queue@host, with at most 15 characters before the @, and commas between "
                "them");
    return std::string(text);
}

Read read_printable(std::string_view text, const char* what) {
    if (std::any_of(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }))
        return expected(what);
    return std::string(text);
}

Read read_restart(std::string_view text) {
    std::string word = values::lowered(text);
    if (word != "none" && word != "restart" && word != "rerun" && word != "resubmit")
        return expected("none, restart or resubmit");
    return word;
}

}  // namespace

tl::expected<std::string, std::string> read_argument(ArgumentType type, std::string_view text) {
    switch (type) {
        case ArgumentType::boolean:
            return read_boolean(text);
        case ArgumentType::integer:
            return read_integer(text);
        case ArgumentType::percentage:
            return read_percentage(text);
        case ArgumentType::real:
            return read_real(text);
        case ArgumentType::pathname:
        case ArgumentType::program:
            return read_printable(text, "a path in printable characters");
        case ArgumentType::queue:
            return read_queue(text);
        case ArgumentType::queues:
            return read_queues(text);
        case ArgumentType::host:
            if (!objects::is_host_name(text)) return expected("the name of a host");
            return std::string(text);
        case ArgumentType::timespec:
            return read_timespec(text);
        case ArgumentType::clock:
            return read_clock(text);
        case ArgumentType::variance:
            return read_variance(text);
        case ArgumentType::restart:
            return read_restart(text);
    }
    return expected("an argument of a known type");
}

bool plainly_false(std::string_view text) {
    const std::string word = values::lowered(text);
    return word == "false" || word == "no" || word == "off" || word == "0";
}

}  // namespace pbs::migrate
