#include "objects/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>
#include <unordered_set>

#include "objects/forms.h"
#include "objects/quota_rule.h"
#include "values/amount.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::objects {
namespace {

using std::chrono::seconds;

// Longest text of a value, in bytes. A longer one is a mistake or an attack, and the history would keep it.
constexpr std::size_t kLongestValue = 65536;
// Longest text of a fairshare tree, which names every user of a site, and of the rules of a quota together. A
// request has no room for more (ifl/request.h).
constexpr std::size_t kLongestWhole = 4U << 20U;

// Longest duration, in seconds: 316 years. An instant that much later can still be printed.
constexpr std::int64_t kLongestDuration = 9'999'999'999;

// Returns the beginning of a value, for messages.
std::string beginning(std::string_view text) {
    constexpr std::size_t kShown = 200;
    return text.size() > kShown ? fmt::format("{}...", text.substr(0, kShown)) : std::string(text);
}

tl::unexpected<Error> bad(const Attribute& attribute, std::string_view text, std::string_view remark = {}) {
    return bad_value(attribute.name, text, expected_text(attribute), remark);
}

bool leap(std::int64_t year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

std::int64_t days_in(std::int64_t year, std::int64_t month) {
    static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && leap(year) ? 29 : kDays[month - 1];
}

// Returns a time of day H:MM:SS, below 24 hours or exactly 24:00:00; nullopt: not such a time.
std::optional<seconds> clock_time(std::int64_t hour, std::int64_t minute, std::int64_t second) {
    if (hour > 24 || minute > 59 || second > 59) return std::nullopt;
    const std::int64_t total = hour * 3600 + minute * 60 + second;
    if (total > 86400) return std::nullopt;
    return seconds(total);
}

std::optional<LocalTime> local_time(std::string_view text) {
    const std::size_t at = text.find('@');
    const std::vector<std::string_view> date = values::split_trimmed(text.substr(0, at), '/');
    if (date.size() != 3 || date[2].size() != 4 || date[0].size() > 2 || date[1].size() > 2)
        return std::nullopt;
    const auto month = values::digits<std::int64_t>(date[0]);
    const auto day = values::digits<std::int64_t>(date[1]);
    const auto year = values::digits<std::int64_t>(date[2]);
    if (!month || !day || !year || *month < 1 || *month > 12 || *day < 1 || *day > days_in(*year, *month)) {
        return std::nullopt;
    }
    LocalTime result{static_cast<int>(*year), static_cast<int>(*month), static_cast<int>(*day)};
    if (at == std::string_view::npos) return result;
    const std::vector<std::string_view> time = values::split_trimmed(text.substr(at + 1), ':');
    if (time.size() != 3) return std::nullopt;
    const auto hour = values::digits<std::int64_t>(time[0]);
    const auto minute = values::digits<std::int64_t>(time[1]);
    const auto second = values::digits<std::int64_t>(time[2]);
    if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
    result.hour = static_cast<int>(*hour);
    result.minute = static_cast<int>(*minute);
    result.second = static_cast<int>(*second);
    return result;
}

Result<Value> parse_integer(const Attribute& attribute, std::string_view text) {
    std::string_view number = values::trim(text);
    if (attribute.syntax == Syntax::percentage && number.ends_with('%'))
        number = values::trim(number.substr(0, number.size() - 1));
    const auto value = values::parse_integer(number);
    if (!value) return bad(attribute, text);
    const auto real = static_cast<double>(*value);
    if (real < attribute.minimum || real > attribute.maximum) return bad(attribute, text);
    return Value(*value);
}

Result<Value> parse_real(const Attribute& attribute, std::string_view text) {
    const auto value = values::parse_real(values::trim(text));
    if (!value || *value < attribute.minimum || *value > attribute.maximum) return bad(attribute, text);
    return Value(*value == 0 ? 0.0 : *value);  // -0 is 0
}

// Reads -mm%,+nn%, both below 100 000 percent.
Result<Value> parse_variance(const Attribute& attribute, std::string_view text) {
    const std::vector<std::string_view> parts = values::split_trimmed(text, ',');
    if (parts.size() != 2) return bad(attribute, text);
    int amounts[2] = {};
    for (std::size_t i = 0; i < 2; ++i) {
        std::string_view part = parts[i];
        if (!part.starts_with(i == 0 ? '-' : '+') || !part.ends_with('%')) return bad(attribute, text);
        const auto number = values::digits<std::int64_t>(part.substr(1, part.size() - 2));
        if (!number || *number > 99999) return bad(attribute, text);
        amounts[i] = static_cast<int>(*number);
    }
    return Value(Variance{amounts[0], amounts[1]});
}

// Removes brackets around a tree: PP-748 writes [ group01:root = 30 ].
std::string_view without_brackets(const Attribute& attribute, std::string_view text) {
    text = values::trim(text);
    const bool bracketed = text.size() >= 2 && text.front() == '[' && text.back() == ']';
    return attribute.syntax == Syntax::tree_elements && bracketed
               ? values::trim(text.substr(1, text.size() - 2))
               : text;
}

Result<StringList> parse_elements(const Attribute& attribute, std::string_view text) {
    text = without_brackets(attribute, text);
    Result<StringList> raw = attribute.syntax == Syntax::rrule_list ? split_rules(attribute.name, text)
                                                                    : split_list(attribute.name, text);
    if (!raw) return raw;
    StringList list;
    std::unordered_set<std::string> seen;
    for (const std::string& element : *raw) {
        if (auto fits = check_element_length(attribute, element); !fits) return tl::unexpected(fits.error());
        Form canonical = canonical_string(attribute, element);
        if (!canonical) return bad(attribute, element, canonical.error());
        if (!seen.insert(*canonical).second) {
            return fail(Code::bad_value,
                        fmt::format("{}: bad value '{}': '{}' is in the list twice, expected once",
                                    attribute.name, beginning(text), *canonical));
        }
        list.push_back(std::move(*canonical));
    }
    return list;
}

Result<void> check_length(const Attribute& attribute, std::size_t length, std::size_t longest) {
    if (length <= longest) return {};
    return fail(Code::bad_value, fmt::format("{}: the value is {} characters long; at most {} are allowed",
                                             attribute.name, length, longest));
}

template <class T>
Result<Value> as_value(Result<T> parsed) {
    if (!parsed) return tl::unexpected(std::move(parsed.error()));
    return Value(std::move(*parsed));
}

Result<Value> parse_by_syntax(const Attribute& attribute, std::string_view text) {
    switch (attribute.syntax) {
        case Syntax::boolean:
            return as_value(parse_boolean(attribute.name, text));
        case Syntax::boolean_or_date:
            return as_value(parse_boolean_or_date(attribute.name, text));
        case Syntax::integer:
        case Syntax::percentage:
            return parse_integer(attribute, text);
        case Syntax::real:
            return parse_real(attribute, text);
        case Syntax::size: {
            Result<Size> size = parse_size(attribute.name, text);
            if (size && static_cast<double>(size->bytes) < attribute.minimum)
                return bad(attribute, text,
                           fmt::format("it is too small, the least is {}",
                                       values::size_text(static_cast<std::int64_t>(attribute.minimum))));
            return as_value(std::move(size));
        }
        case Syntax::duration: {
            Result<seconds> duration = parse_duration(attribute.name, text);
            if (duration && static_cast<double>(duration->count()) < attribute.minimum) {
                return bad(attribute, text,
                           fmt::format("it is too short, the least is {}",
                                       values::duration_text(static_cast<std::int64_t>(attribute.minimum))));
            }
            return as_value(std::move(duration));
        }
        case Syntax::time_of_day:
            return as_value(parse_time_of_day(attribute.name, text));
        case Syntax::variance:
            return parse_variance(attribute, text);
        default:
            break;
    }
    if (attribute.is_list()) return as_value(parse_elements(attribute, text));
    Form canonical = canonical_string(attribute, text);
    if (!canonical) return bad(attribute, text, canonical.error());
    return Value(std::move(*canonical));
}

// Returns an element as it has to stand in a list: in quotes if it would otherwise split or lose blanks.
std::string quoted(const std::string& element) {
    const bool needs = element.find(',') != std::string::npos || element.starts_with('"') ||
                       element.starts_with('\'') || values::trim(element).size() != element.size();
    if (!needs) return element;
    const char quote = element.find('"') == std::string::npos ? '"' : '\'';
    return fmt::format("{}{}{}", quote, element, quote);
}

// Joins elements with commas. Recurrences aren't quoted: split_rules() recognizes the commas within them. A
// blank keeps a backslash at the end of one from escaping the comma.
std::string join(const Attribute& attribute, const StringList& list) {
    std::string text;
    for (const std::string& element : list) {
        if (attribute.syntax == Syntax::rrule_list && is_escaped(text, text.size())) text += ' ';
        if (!text.empty()) text += ',';
        text += attribute.syntax == Syntax::rrule_list ? element : quoted(element);
    }
    return text;
}

}  // namespace

tl::unexpected<Error> bad_value(std::string_view what, std::string_view text, std::string_view expected,
                                std::string_view remark) {
    return fail(Code::bad_value, fmt::format("{}: bad value '{}': {}{}expected {}", what, beginning(text),
                                             remark, remark.empty() ? "" : "; ", expected));
}

Result<bool> parse_boolean(std::string_view what, std::string_view text) {
    const auto value = values::parse_boolean(values::trim(text));
    if (!value) return bad_value(what, text, values::kBooleanForm);
    return *value;
}

Result<BooleanOrDate> parse_boolean_or_date(std::string_view what, std::string_view text) {
    const std::string_view word = values::trim(text);
    if (word.find('/') != std::string_view::npos) {
        const std::optional<LocalTime> from = local_time(word);
        if (!from) return bad_value(what, text, "a date as MM/DD/YYYY or MM/DD/YYYY@HH:MM:SS");
        return BooleanOrDate{false, from};
    }
    // accept the Origin scheduler's other words for true and false, in any case of letters
    const std::string lower = values::lowered(word);
    if (lower == "yes" || lower == "on") return BooleanOrDate{true, {}};
    if (lower == "no" || lower == "off") return BooleanOrDate{false, {}};
    const auto plain = values::parse_boolean(lower);
    if (!plain)
        return bad_value(what, text, "True, False, or the date MM/DD/YYYY[@HH:MM:SS] from which it is True");
    return BooleanOrDate{*plain, {}};
}

Result<seconds> parse_duration(std::string_view what, std::string_view text) {
    const auto number = values::parse_duration(values::trim(text));
    if (!number) return bad_value(what, text, values::kDurationForm);
    if (*number > kLongestDuration) return bad_value(what, text, values::kDurationForm, "it is too long");
    return seconds(*number);
}

Result<TimeOfDay> parse_time_of_day(std::string_view what, std::string_view text) {
    constexpr std::string_view kExpected = "a time of day as HH:MM, HH:MM:SS or HHMM, up to 24:00";
    const std::string_view word = values::trim(text);
    std::vector<std::string_view> parts = values::split_trimmed(word, ':');
    if (parts.size() == 1 && word.size() == 4) parts = {word.substr(0, 2), word.substr(2)};
    if (parts.size() != 2 && parts.size() != 3) return bad_value(what, text, kExpected);
    std::int64_t numbers[3] = {};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto number = values::digits<std::int64_t>(parts[i]);
        if (!number || parts[i].size() > 2 || (i > 0 && parts[i].size() != 2))
            return bad_value(what, text, kExpected);
        numbers[i] = *number;
    }
    const std::optional<seconds> time = clock_time(numbers[0], numbers[1], numbers[2]);
    if (!time) return bad_value(what, text, kExpected);
    return TimeOfDay{*time};
}

Result<Size> parse_size(std::string_view what, std::string_view text) {
    const auto size = values::parse_size(values::trim(text));
    if (!size) return bad_value(what, text, values::kSizeForm);
    if (size->too_large()) return bad_value(what, text, values::kSizeForm, "it is too large");
    return Size{size->bytes()};
}

namespace {

std::string format_boolean_or_date(const BooleanOrDate& value) {
    if (!value.from) return value.value ? "True" : "False";
    const LocalTime& t = *value.from;
    return fmt::format("{:02}/{:02}/{:04}@{:02}:{:02}:{:02}", t.month, t.day, t.year, t.hour, t.minute,
                       t.second);
}

struct Formatter {
    const Attribute& attribute;
    std::string operator()(bool value) const { return value ? "True" : "False"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return fmt::format("{}", value); }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(const StringList& value) const { return join(attribute, value); }
    std::string operator()(seconds value) const { return values::duration_text(value); }
    std::string operator()(TimeOfDay value) const { return values::duration_text(value.since_midnight); }
    std::string operator()(Size value) const { return values::size_text(value.bytes); }
    std::string operator()(const BooleanOrDate& value) const { return format_boolean_or_date(value); }
    std::string operator()(Variance value) const {
        return fmt::format("-{}%,+{}%", value.below, value.above);
    }
};

}  // namespace

Result<void> check_length(const Attribute& attribute, std::size_t length) {
    const bool is_long = attribute.syntax == Syntax::tree_elements || attribute.is_keyed();
    return check_length(attribute, length, is_long ? kLongestWhole : kLongestValue);
}

Result<void> check_element_length(const Attribute& attribute, std::string_view element) {
    return attribute.is_keyed() ? check_length(attribute, quota_rule_text(element).size(), kLongestValue)
                                : Result<void>();
}

Result<Value> parse_value(const Attribute& attribute, std::string_view text) {
    if (auto fits = check_length(attribute, text.size()); !fits) return tl::unexpected(fits.error());
    return parse_by_syntax(attribute, text);
}

std::string format_value(const Attribute& attribute, const Value& value) {
    return std::visit(Formatter{attribute}, value);
}

StringList format_items(const Attribute& attribute, const Value& value) {
    if (const auto* items = std::get_if<StringList>(&value)) return *items;
    return {format_value(attribute, value)};
}

Result<Value> value_of_items(const Attribute& attribute, const StringList& items) {
    if (items.empty()) return fail(Code::bad_value, fmt::format("{}: there is no value", attribute.name));
    if (!attribute.is_list()) return parse_value(attribute, items.front());
    StringList list;
    for (const std::string& item : items) {
        Form canonical = canonical_string(attribute, item);
        if (!canonical) return bad(attribute, item, canonical.error());
        list.push_back(std::move(*canonical));
    }
    return Value(std::move(list));
}

namespace {

tl::unexpected<Error> no_operator(const Attribute& attribute, Operation operation) {
    return fail(Code::bad_value,
                fmt::format("{}: {} isn't possible on a value of type {}; use =", attribute.name,
                            operation == Operation::increment ? "+=" : "-=", type_text(attribute.type)));
}

// Removes elements from a list. Elements of a tree may be given by name alone. It is no error if an element
// isn't there, as in PBS.
Result<std::optional<Value>> remove_elements(const Attribute& attribute, StringList list,
                                             std::string_view text) {
    Result<StringList> raw = attribute.syntax == Syntax::rrule_list
                                 ? split_rules(attribute.name, text)
                                 : split_list(attribute.name, without_brackets(attribute, text));
    if (!raw) return tl::unexpected(raw.error());
    for (const std::string& element : *raw) {
        if (attribute.syntax == Syntax::tree_elements && element.find('=') == std::string::npos) {
            std::erase_if(list, [&](const std::string& e) { return tree_element(e).name == element; });
            continue;
        }
        Form canonical = canonical_string(attribute, element);
        if (!canonical) return bad(attribute, element, canonical.error());
        std::erase(list, *canonical);
    }
    if (list.empty()) return std::optional<Value>{};
    return std::optional<Value>(std::move(list));
}

Result<std::optional<Value>> combine_lists(const Attribute& attribute, const Value* current,
                                           Operation operation, std::string_view text) {
    StringList list;
    if (current) list = std::get<StringList>(*current);
    if (operation == Operation::decrement) return remove_elements(attribute, std::move(list), text);
    Result<StringList> added = parse_elements(attribute, text);
    if (!added) return tl::unexpected(added.error());
    const std::unordered_set<std::string> there(list.begin(), list.end());
    std::size_t length = 0;
    for (const std::string& element : list) length += element.size() + 1;
    for (std::string& element : *added) {
        if (there.contains(element)) continue;
        length += element.size() + 1;
        list.push_back(std::move(element));
    }
    // limit the length of the whole tree, because every element makes a change of the tree slower
    if (attribute.syntax == Syntax::tree_elements)
        if (auto fits = check_length(attribute, length); !fits) return tl::unexpected(fits.error());
    return std::optional<Value>(std::move(list));
}

// Adds or subtracts numbers, durations and sizes. Parses the result, because it has to be a valid value of
// the attribute.
template <class T, class Format>
Result<std::optional<Value>> combine_numbers(const Attribute& attribute, const Value* current,
                                             const Value& operand, Operation operation,
                                             T (*get)(const Value&), Format format) {
    const T before = current ? get(*current) : T{};
    const T change = get(operand);
    T after{};
    if constexpr (std::is_integral_v<T>) {
        const bool overflow = operation == Operation::increment
                                  ? __builtin_add_overflow(before, change, &after)
                                  : __builtin_sub_overflow(before, change, &after);
        if (overflow) return bad(attribute, format(change), "the result is too large");
    } else {
        after = operation == Operation::increment ? before + change : before - change;
    }
    Result<Value> checked = parse_value(attribute, format(after));
    if (!checked) return tl::unexpected(checked.error());
    return std::optional<Value>(std::move(*checked));
}

Result<std::optional<Value>> combine_text(const Value* current, Operation operation, std::string_view text) {
    std::string result = current ? std::get<std::string>(*current) : std::string{};
    if (operation == Operation::increment) {
        result += text;
    } else if (const std::size_t found = result.rfind(text); found != std::string::npos) {
        result.erase(found, text.size());
    }
    if (result.empty()) return std::optional<Value>{};
    return std::optional<Value>(std::move(result));
}

}  // namespace

Result<std::optional<Value>> combine(const Attribute& attribute, const Value* current, Operation operation,
                                     std::string_view text) {
    // an empty value unsets, as in PBS
    if (operation == Operation::unset || (operation == Operation::set && values::trim(text).empty())) {
        return std::optional<Value>{};
    }
    if (attribute.is_list() && operation != Operation::set)
        return combine_lists(attribute, current, operation, text);
    // Parse the operand of += and -= without the attribute's limits: they are for the result, not for the
    // operand.
    Attribute operand_form = attribute;
    if (operation != Operation::set) {
        operand_form.minimum = -9e15;
        operand_form.maximum = 9e15;
    }
    Result<Value> operand = parse_value(operand_form, text);
    if (!operand) return tl::unexpected(operand.error());
    if (operation == Operation::set) return std::optional<Value>(std::move(*operand));

    const auto number = [](std::int64_t n) { return std::to_string(n); };
    switch (attribute.syntax) {
        case Syntax::integer:
        case Syntax::percentage:
            return combine_numbers<std::int64_t>(
                attribute, current, *operand, operation,
                [](const Value& v) { return std::get<std::int64_t>(v); }, number);
        case Syntax::duration:
            return combine_numbers<std::int64_t>(
                attribute, current, *operand, operation,
                [](const Value& v) { return std::int64_t{std::get<seconds>(v).count()}; }, number);
        case Syntax::size:
            return combine_numbers<std::int64_t>(
                attribute, current, *operand, operation,
                [](const Value& v) { return std::get<Size>(v).bytes; }, number);
        case Syntax::real:
            return combine_numbers<double>(
                attribute, current, *operand, operation, [](const Value& v) { return std::get<double>(v); },
                [](double n) { return fmt::format("{}", n); });
        case Syntax::text: {
            Result<std::optional<Value>> joined = combine_text(current, operation, text);
            if (!joined || !*joined) return joined;
            Result<Value> checked =
                parse_value(attribute, format_value(attribute, **joined));  // checks the length, too
            if (!checked) return tl::unexpected(checked.error());
            return joined;
        }
        default:
            return no_operator(attribute, operation);
    }
}

Result<void> check_name(std::string_view what, std::string_view name, std::size_t longest) {
    if (name.size() > longest) {
        return fail(Code::name_too_long,
                    fmt::format("{}: '{}...' is {} characters long; at most {} are allowed", what,
                                name.substr(0, 40), name.size(), longest));
    }
    const bool valid =
        !name.empty() && values::is_letter(name.front()) && std::ranges::all_of(name, [](char c) {
            return values::is_letter(c) || values::is_digit(c) || c == '-' || c == '_' || c == '.';
        });
    if (valid) return {};
    return fail(Code::bad_value,
                fmt::format("{}: bad name '{}': expected a letter, then letters, digits, '-', '_' or '.'",
                            what, name));
}

}  // namespace pbs::objects
