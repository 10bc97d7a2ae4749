#include "rrule/rule_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "values/number.h"
#include "values/text.h"

namespace pbs::rrule::text {
namespace {

using values::same_word;

constexpr std::array<std::string_view, 7> kWeekdays{"SU", "MO", "TU", "WE", "TH", "FR", "SA"};

// A part of the text, with its position in the whole text.
struct Piece {
    std::string_view text;
    std::size_t at;

    Piece sub(std::size_t from, std::size_t count = std::string_view::npos) const {
        return {text.substr(from, count), at + from};
    }
};

tl::unexpected<Error> fail(const Piece& where, std::string message) {
    return tl::unexpected(Error{fmt::format("{} (at position {})", message, where.at + 1), where.at});
}

bool starts_with_word(std::string_view text, std::string_view upper_case) {
    return text.size() >= upper_case.size() && same_word(text.substr(0, upper_case.size()), upper_case);
}

// Quotes a text for an error message, printable and at most one line long.
std::string quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text.substr(0, 60)) out += c >= ' ' && c <= '~' ? c : '?';
    return out + (text.size() > 60 ? "...'" : "'");
}

std::vector<Piece> split(const Piece& piece, char separator) {
    std::vector<Piece> out;
    std::size_t from = 0;
    for (;;) {
        const auto end = piece.text.find(separator, from);
        if (end == std::string_view::npos) break;
        out.push_back(piece.sub(from, end - from));
        from = end + 1;
    }
    out.push_back(piece.sub(from));
    return out;
}

// Reads the whole text as an unsigned decimal number.
std::optional<std::int64_t> digits(std::string_view text) {
    return text.size() <= 10 ? values::digits<std::int64_t>(text) : std::nullopt;
}

std::optional<unsigned> weekday(std::string_view text) {
    for (unsigned i = 0; i < kWeekdays.size(); ++i)
        if (same_word(text, kWeekdays[i])) return i;
    return std::nullopt;
}

// ---- DATE and DATE-TIME ------------------------------------------------------------------------------

std::optional<LocalDay> read_date(std::string_view text) {
    if (text.size() != 8) return std::nullopt;
    const auto y = digits(text.substr(0, 4));
    const auto m = digits(text.substr(4, 2));
    const auto d = digits(text.substr(6, 2));
    if (!y || !m || !d) return std::nullopt;
    const std::chrono::year_month_day ymd{std::chrono::year{static_cast<int>(*y)},
                                          std::chrono::month{static_cast<unsigned>(*m)},
                                          std::chrono::day{static_cast<unsigned>(*d)}};
    if (!ymd.ok()) return std::nullopt;
    return LocalDay{ymd};
}

std::optional<Seconds> read_time(std::string_view text) {
    if (text.size() != 6) return std::nullopt;
    const auto h = digits(text.substr(0, 2));
    const auto m = digits(text.substr(2, 2));
    const auto s = digits(text.substr(4, 2));
    if (!h || !m || !s || *h > 23 || *m > 59 || *s > 60) return std::nullopt;
    return Seconds{*h * 3600 + *m * 60 +
                   std::min<std::int64_t>(*s, 59)};  // a leap second counts as the second before it
}

Result<DateValue> read_value(const Piece& piece, const std::optional<Zone>& tzid) {
    constexpr LocalDay kFirst{std::chrono::year{1601} / 1 / 1};
    const auto date = written_date(piece.text);
    if (!date || date->local < kFirst)
        return fail(
            piece,
            fmt::format(
                "{} is not a date YYYYMMDD or a date and time YYYYMMDDTHHMMSS[Z] from the year 1601 on",
                quoted(piece.text)));
    if (date->is_utc && tzid)
        return fail(piece, fmt::format("{} is in UTC (Z) although TZID names a zone", quoted(piece.text)));
    return DateValue{date->local, date->is_date, date->is_utc ? std::optional(Zone::utc()) : tzid};
}

// ---- RECUR parts -------------------------------------------------------------------------------------

struct Range {
    int low;
    int high;
    bool negative;  // also allows -high to -low
};

Result<std::vector<int>> read_numbers(const Piece& name, const Piece& value, Range range) {
    std::vector<int> out;
    for (const Piece& item : split(value, ',')) {
        std::string_view number = item.text;
        const bool minus = number.starts_with('-');
        if (minus || number.starts_with('+')) number.remove_prefix(1);
        const auto n = digits(number);
        if (!n || *n < range.low || *n > range.high || (minus && !range.negative))
            return fail(item,
                        fmt::format("{} in {} is not a number from {}{} to {}", quoted(item.text), name.text,
                                    range.low, range.negative ? fmt::format(" (or -{})", range.low) : "",
                                    range.negative ? fmt::format("{} (or -{})", range.high, range.high)
                                                   : fmt::format("{}", range.high)));
        out.push_back(static_cast<int>(minus ? -*n : *n));
    }
    return out;
}

Result<std::vector<WeekdayNum>> read_days(const Piece& value) {
    std::vector<WeekdayNum> out;
    for (const Piece& item : split(value, ',')) {
        const auto size = item.text.size();
        const auto day = size >= 2 ? weekday(item.text.substr(size - 2)) : std::nullopt;
        std::string_view number = size >= 2 ? item.text.substr(0, size - 2) : std::string_view{};
        const bool is_signed = number.starts_with('-') || number.starts_with('+');
        const bool minus = number.starts_with('-');
        if (is_signed) number.remove_prefix(1);
        const auto n = number.empty() && !is_signed ? 0 : digits(number);
        if (!day || !n || *n > 53 || (*n == 0 && size > 2))
            return fail(
                item, fmt::format("{} in BYDAY is not a weekday such as MO, 2TU or -1FR", quoted(item.text)));
        out.push_back({static_cast<int>(minus ? -*n : *n), *day});
    }
    return out;
}

Result<Freq> read_freq(const Piece& value, Freq finest) {
    constexpr std::array<std::string_view, 6> kFrequencies{"MINUTELY", "HOURLY",  "DAILY",
                                                           "WEEKLY",   "MONTHLY", "YEARLY"};
    const auto found = std::find_if(kFrequencies.begin(), kFrequencies.end(),
                                    [&](std::string_view name) { return same_word(value.text, name); });
    const auto frequency = static_cast<Freq>(found - kFrequencies.begin());
    const bool known = found != kFrequencies.end();
    if (known && frequency >= finest) return frequency;
    const std::string expected = fmt::format("{}HOURLY, DAILY, WEEKLY, MONTHLY or YEARLY",
                                             finest == Freq::minutely ? "MINUTELY, " : "");
    if (known || same_word(value.text, "SECONDLY"))
        return fail(value, fmt::format("FREQ={} is too frequent, expected {}", value.text, expected));
    return fail(value, fmt::format("FREQ={} is unknown, expected {}", quoted(value.text), expected));
}

// A list part of the rule: its name, its member of Rule, and its allowed numbers.
struct ListPart {
    std::string_view name;
    std::vector<int> Rule::*list;
    Range range;
};

constexpr std::array<ListPart, 8> kListParts{{
    {"BYSECOND", &Rule::by_second, {0, 60, false}},
    {"BYMINUTE", &Rule::by_minute, {0, 59, false}},
    {"BYHOUR", &Rule::by_hour, {0, 23, false}},
    {"BYMONTHDAY", &Rule::by_month_day, {1, 31, true}},
    {"BYYEARDAY", &Rule::by_year_day, {1, 366, true}},
    {"BYWEEKNO", &Rule::by_week_no, {1, 53, true}},
    {"BYMONTH", &Rule::by_month, {1, 12, false}},
    {"BYSETPOS", &Rule::by_set_pos, {1, 366, true}},
}};

class RuleReader {
  public:
    explicit RuleReader(Freq finest) : finest_(finest) {}

    Result<Rule> read(const Piece& text) {
        for (const Piece& part : split(text, ';')) {
            if (auto done = read_part(part); !done) return tl::unexpected(done.error());
        }
        if (!seen("FREQ")) return fail(text, "FREQ is missing, a rule needs one, such as FREQ=DAILY");
        if (auto done = check(text); !done) return tl::unexpected(done.error());
        return rule_;
    }

  private:
    bool seen(std::string_view name) const {
        return std::find(seen_.begin(), seen_.end(), name) != seen_.end();
    }

    Result<void> read_part(const Piece& part) {
        const auto equals = part.text.find('=');
        if (equals == std::string_view::npos)
            return fail(part, fmt::format("{} is not a part NAME=VALUE of a rule", quoted(part.text)));
        const Piece name = part.sub(0, equals);
        const Piece value = part.sub(equals + 1);
        std::string key(name.text);
        std::transform(key.begin(), key.end(), key.begin(), values::upper);
        if (seen(key)) return fail(name, fmt::format("{} is given twice", key));
        seen_.push_back(key);
        return read_value_of(key, name, value);
    }

    Result<void> read_value_of(std::string_view key, const Piece& name, const Piece& value) {
        if (key == "FREQ") return store(read_freq(value, finest_), rule_.freq);
        if (key == "INTERVAL") return read_interval(value);
        if (key == "COUNT") return read_count(value);
        if (key == "UNTIL") return store(text::read_value(value, std::nullopt), rule_.until);
        if (key == "WKST") return read_week_start(value);
        if (key == "BYDAY") return store(read_days(value), rule_.by_day);
        for (const ListPart& part : kListParts)
            if (key == part.name) return store(read_numbers(name, value, part.range), rule_.*part.list);
        return fail(name, fmt::format("{} is not a supported part of a recurrence rule", quoted(name.text)));
    }

    template <class T, class U>
    static Result<void> store(Result<T> value, U& into) {
        if (!value) return tl::unexpected(value.error());
        into = std::move(*value);
        return {};
    }

    Result<void> read_interval(const Piece& value) {
        const auto n = digits(value.text);
        if (!n || *n < 1 || *n > 32767)
            return fail(value,
                        fmt::format("INTERVAL={} is not a number from 1 to 32767", quoted(value.text)));
        rule_.interval = *n;
        return {};
    }

    Result<void> read_count(const Piece& value) {
        // limited, because a counted rule's last occurrence is found by counting; 100,000 days are 273 years
        const auto n = digits(value.text);
        if (!n || *n < 1 || *n > 100000)
            return fail(value, fmt::format("COUNT={} is not a number from 1 to 100000", quoted(value.text)));
        rule_.count = *n;
        return {};
    }

    Result<void> read_week_start(const Piece& value) {
        const auto day = weekday(value.text);
        if (!day) return fail(value, fmt::format("WKST={} is not a weekday SU to SA", quoted(value.text)));
        rule_.week_start = *day;
        return {};
    }

    // Refuses combinations that RFC 5545 3.3.10 rules out.
    Result<void> check(const Piece& text) const {
        if (rule_.count && rule_.until)
            return fail(text, "COUNT and UNTIL are given together, expected one of them");
        const bool monthly_or_yearly = rule_.freq == Freq::monthly || rule_.freq == Freq::yearly;
        const bool numbered = std::any_of(rule_.by_day.begin(), rule_.by_day.end(),
                                          [](const WeekdayNum& d) { return d.ordinal != 0; });
        if (numbered && !monthly_or_yearly)
            return fail(text, "a number in BYDAY (as in 2MO) needs FREQ=MONTHLY or FREQ=YEARLY");
        if (numbered && !rule_.by_week_no.empty())
            return fail(text, "a number in BYDAY (as in 2MO) can't be used with BYWEEKNO");
        if (!rule_.by_week_no.empty() && rule_.freq != Freq::yearly)
            return fail(text, "BYWEEKNO needs FREQ=YEARLY");
        if (!rule_.by_year_day.empty() && rule_.freq != Freq::yearly && rule_.freq > Freq::hourly)
            return fail(text, "BYYEARDAY needs FREQ=YEARLY or FREQ=HOURLY");
        if (!rule_.by_month_day.empty() && rule_.freq == Freq::weekly)
            return fail(text, "BYMONTHDAY can't be used with FREQ=WEEKLY");
        if (!rule_.by_set_pos.empty() && seen_by_parts() < 2)
            return fail(text, "BYSETPOS needs another BY part to choose from");
        return {};
    }

    std::size_t seen_by_parts() const {
        return static_cast<std::size_t>(std::count_if(
            seen_.begin(), seen_.end(), [](const std::string& s) { return s.starts_with("BY"); }));
    }

    Freq finest_;
    Rule rule_;
    std::vector<std::string> seen_;
};

// ---- lines -------------------------------------------------------------------------------------------

struct Property {
    std::optional<Zone> tzid;
    bool date = false;
    std::vector<Piece> values;
};

Result<Zone> read_tzid(const Piece& value) {
    std::string_view name = value.text;
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    auto zone = Zone::find(name);
    if (!zone) return fail(value, zone.error().message);
    return zone;
}

// Reads NAME[;TZID=zone][;VALUE=DATE|DATE-TIME]:value[,value...]; `line` begins after NAME.
Result<Property> read_property(const Piece& line) {
    Property out;
    const auto colon = line.text.find(':');
    if (colon == std::string_view::npos) return fail(line, "a ':' is missing before the date");
    for (const Piece& part : split(line.sub(0, colon), ';')) {
        if (part.text.empty()) continue;
        const auto equals = part.text.find('=');
        const std::string_view name = part.text.substr(0, equals);
        const Piece value =
            equals == std::string_view::npos ? part.sub(part.text.size()) : part.sub(equals + 1);
        if (same_word(name, "TZID")) {
            auto zone = read_tzid(value);
            if (!zone) return tl::unexpected(zone.error());
            out.tzid = *zone;
        } else if (same_word(name, "VALUE") && same_word(value.text, "DATE")) {
            out.date = true;
        } else if (!same_word(name, "VALUE") || !same_word(value.text, "DATE-TIME")) {
            return fail(part,
                        fmt::format("{} is not supported, expected TZID=, VALUE=DATE or VALUE=DATE-TIME",
                                    quoted(part.text)));
        }
    }
    out.values = split(line.sub(colon + 1), ',');
    return out;
}

Result<std::vector<DateValue>> read_dates(const Piece& line) {
    auto property = read_property(line);
    if (!property) return tl::unexpected(property.error());
    std::vector<DateValue> out;
    for (const Piece& value : property->values) {
        auto date = read_value(value, property->tzid);
        if (!date) return tl::unexpected(date.error());
        if (property->date && !date->is_date)
            return fail(value, fmt::format("{} has a time although VALUE=DATE is given", quoted(value.text)));
        out.push_back(*date);
    }
    return out;
}

class LineReader {
  public:
    explicit LineReader(Freq finest) : finest_(finest) {}

    Result<void> read(const Piece& line) {
        if (starts_with_word(line.text, "DTSTART")) return read_start(line);
        if (starts_with_word(line.text, "RDATE")) return append(line.sub(5), parts.rdates);
        if (starts_with_word(line.text, "EXDATE")) return append(line.sub(6), parts.exdates);
        return read_rule(starts_with_word(line.text, "RRULE:") ? line.sub(6) : line);
    }

    Parts parts;

  private:
    Result<void> read_rule(const Piece& text) {
        if (text.text.find('=') == std::string_view::npos)
            return fail(
                text,
                fmt::format("{} is not a rule such as FREQ=WEEKLY;BYDAY=MO,TU or a line RRULE, DTSTART, "
                            "RDATE or EXDATE",
                            quoted(text.text)));
        if (parts.rule)
            return fail(text, fmt::format("{} is a second rule, expected one", quoted(text.text)));
        auto rule = RuleReader(finest_).read(text);
        if (!rule) return tl::unexpected(rule.error());
        parts.rule = std::move(*rule);
        return {};
    }

    Result<void> read_start(const Piece& line) {
        if (parts.start) return fail(line, "DTSTART is given twice");
        auto dates = read_dates(line.sub(7));
        if (!dates) return tl::unexpected(dates.error());
        if (dates->size() != 1) return fail(line, "DTSTART has several dates, expected one");
        parts.start = dates->front();
        return {};
    }

    static Result<void> append(const Piece& line, std::vector<DateValue>& into) {
        auto dates = read_dates(line);
        if (!dates) return tl::unexpected(dates.error());
        into.insert(into.end(), dates->begin(), dates->end());
        return {};
    }

    Freq finest_;
};

}  // namespace

std::optional<WrittenDate> written_date(std::string_view text) {
    const std::size_t t = std::min(text.find_first_of("Tt"), text.size());
    const auto day = read_date(text.substr(0, t));
    if (!day) return std::nullopt;
    if (t == text.size()) return WrittenDate{Local{*day}, true, false};
    std::string_view time = text.substr(t + 1);
    const bool utc = !time.empty() && values::upper(time.back()) == 'Z';
    if (utc) time.remove_suffix(1);
    const auto seconds = read_time(time);
    if (!seconds) return std::nullopt;
    return WrittenDate{Local{*day} + *seconds, false, utc};
}

std::string_view weekday_name(unsigned weekday) {
    return kWeekdays.at(weekday);
}

Result<Parts> parse(std::string_view text, Freq finest) {
    constexpr std::string_view kSpace = " \t\r\n";
    LineReader reader(finest);
    std::size_t from = text.find_first_not_of(kSpace);
    if (from == std::string_view::npos)
        return fail({text, 0}, "the rule is empty, expected one such as FREQ=WEEKLY;BYDAY=MO,TU");
    while (from != std::string_view::npos) {
        const auto end = std::min(text.find_first_of(kSpace, from), text.size());
        if (auto done = reader.read({text.substr(from, end - from), from}); !done)
            return tl::unexpected(done.error());
        from = text.find_first_not_of(kSpace, end);
    }
    return std::move(reader.parts);
}

}  // namespace pbs::rrule::text
