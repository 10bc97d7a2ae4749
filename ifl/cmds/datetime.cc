#include "ifl/cmds/datetime.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "ifl/cmds/text.h"
#include "values/amount.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

// Removes two digits from the end of `text` and returns their number.
int take_two(std::string_view& text) {
    const int number = values::digits<int>(text.substr(text.size() - 2)).value_or(0);
    text.remove_suffix(2);
    return number;
}

constexpr int kNotGiven = -100;

struct DateParts {
    int year = kNotGiven;
    int month = kNotGiven;
    int day = kNotGiven;
    int hour = 0;
    int minute = 0;
    int second = 0;
};

Result<DateParts> split_date(std::string_view text) {
    const auto wrong = [&] {
        return fail(fmt::format("'{}' is not a date: expected [[[[CC]YY]MM]DD]hhmm[.SS]", text));
    };
    DateParts parts;
    std::string_view digits = text;
    if (const std::size_t dot = digits.find('.'); dot != std::string_view::npos) {
        const auto seconds = values::digits<int>(digits.substr(dot + 1));
        if (!seconds || digits.size() != dot + 3) return wrong();
        parts.second = *seconds;
        digits = digits.substr(0, dot);
    }
    if (digits.size() < 4 || digits.size() > 12 || digits.size() % 2 != 0 ||
        digits.find_first_not_of("0123456789") != std::string_view::npos)
        return wrong();
    parts.minute = take_two(digits);
    parts.hour = take_two(digits);
    parts.day = digits.empty() ? kNotGiven : take_two(digits);
    parts.month = digits.empty() ? kNotGiven : take_two(digits) - 1;
    if (!digits.empty()) {
        const int year = take_two(digits);
        const int century = !digits.empty() ? take_two(digits) : year > 68 ? 19 : 20;
        parts.year = century * 100 + year;
    }
    const bool good = parts.second < 60 && parts.minute < 60 && parts.hour < 24 &&
                      (parts.day == kNotGiven || (parts.day >= 1 && parts.day <= 31)) &&
                      (parts.month == kNotGiven || (parts.month >= 0 && parts.month <= 11));
    if (!good) return wrong();
    return parts;
}

}  // namespace

std::tm local_time(std::time_t when) {
    std::tm fields{};
    localtime_r(&when, &fields);
    return fields;
}

Result<std::time_t> parse_date(std::string_view text, std::time_t now) {
    const auto parts = split_date(text);
    if (!parts) return tl::unexpected(parts.error());
    const std::tm today = local_time(now);
    std::tm date{};
    date.tm_isdst = -1;
    date.tm_sec = parts->second;
    date.tm_min = parts->minute;
    date.tm_hour = parts->hour;
    date.tm_mday = parts->day == kNotGiven ? today.tm_mday : parts->day;
    date.tm_mon = parts->month == kNotGiven ? today.tm_mon : parts->month;
    date.tm_year = parts->year == kNotGiven ? today.tm_year : parts->year - 1900;
    std::tm candidate = date;
    std::time_t when = std::mktime(&candidate);
    if (when <= now && parts->year == kNotGiven) {
        // the time has passed: take the next day, month or year, whichever was left out
        if (parts->day == kNotGiven)
            ++date.tm_mday;
        else if (parts->month == kNotGiven)
            ++date.tm_mon;
        else
            ++date.tm_year;
        candidate = date;
        when = std::mktime(&candidate);
    }
    // mktime() turns 31 June into 1 July; a date that doesn't exist is an error here
    if (when == -1 || (parts->day != kNotGiven && candidate.tm_mday != parts->day))
        return fail(fmt::format("'{}' is not a date that exists", text));
    return when;
}

Result<long long> parse_duration(std::string_view text) {
    const auto seconds = values::parse_duration(text);
    if (!seconds) return fail(fmt::format("'{}' is not a duration: expected HH:MM:SS or seconds", text));
    return *seconds;
}

std::string date_text(std::time_t when) {
    const std::tm fields = local_time(when);
    return fmt::format("{:%a %b %e %H:%M:%S %Y}", fields);
}

std::string start_time_text(std::time_t start, std::time_t now) {
    if (start == 0) return "?";
    if (start < now) return "--";
    const std::tm then = local_time(start);
    const std::tm today = local_time(now);
    const bool same_year = then.tm_year == today.tm_year;
    constexpr std::time_t kWeek = 7 * 86400;
    const auto format = [&](std::string_view pattern) {
        return fmt::format(fmt::runtime(fmt::format("{{:{}}}", pattern)), then);
    };
    if (same_year && then.tm_yday == today.tm_yday) return format("%H:%M");
    if (start - now < kWeek) return format("%a").substr(0, 2) + format(" %H");
    if (same_year) return format("%b");
    return then.tm_year - today.tm_year < 5 ? format("%Y") : ">5yrs";
}

namespace {

tl::unexpected<Error> no_instant(std::string_view text) {
    return fail(
        fmt::format("bad time '{}': expected YYYY-MM-DD, YYYY-MM-DDTHH:MM or YYYY-MM-DDTHH:MM:SS, or "
                    "seconds since the Epoch",
                    text));
}

bool same_fields(const std::tm& a, const std::tm& b) {
    return a.tm_year == b.tm_year && a.tm_mon == b.tm_mon && a.tm_mday == b.tm_mday && a.tm_min == b.tm_min &&
           a.tm_sec == b.tm_sec;
}

}  // namespace

Result<std::time_t> parse_instant(std::string_view text) {
    if (const auto seconds = parse_integer(text); seconds && *seconds >= 0 && values::is_digit(text.front()))
        return static_cast<std::time_t>(*seconds);
    const bool utc = text.ends_with('Z');
    std::string plain(text.substr(0, text.size() - (utc ? 1 : 0)));
    if (plain.size() > 10 && plain[10] == 'T') plain[10] = ' ';
    std::tm fields{};
    const char* end = nullptr;
    for (const char* format : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
        fields = {};
        end = strptime(plain.c_str(), format, &fields);
        if (end != nullptr && *end == '\0') break;
        end = nullptr;
    }
    if (end == nullptr || (utc && plain.size() <= 10)) return no_instant(text);
    fields.tm_isdst = -1;
    std::tm read = fields;
    const std::time_t when = utc ? timegm(&read) : std::mktime(&read);
    // mktime() turns a date that doesn't exist, such as 30 February, into another: that is an error here.
    // (The hour isn't compared: one that a change of the clock skips counts as the one after it.)
    if (!same_fields(fields, read)) return no_instant(text);
    return when;
}

std::string instant_text(std::time_t when) {
    const std::tm fields = local_time(when);
    char text[64];
    const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &fields);
    return {text, length};
}

}  // namespace pbs::cmds
