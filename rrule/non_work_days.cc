#include "rrule/non_work_days.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rrule/pattern.h"
#include "rrule/plain_text.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::rrule {
namespace {

using std::chrono::month;
using std::chrono::year;

bool looks_like_shorthand(std::string_view s) {
    return s.find('/') != std::string_view::npos && s.find('=') == std::string_view::npos;
}

Result<std::string> refuse(std::string_view entry) {
    return tl::unexpected(Error{
        fmt::format("'{}' is not a day of the calendar, expected MM/DD, MM/DD/YYYY or a recurrence rule",
                    entry),
        {}});
}

bool is_numbers_and_slashes(std::string_view s) {
    return s.find_first_not_of("0123456789/") == std::string_view::npos;
}

Result<std::string> refuse_form(std::string_view entry) {
    if (!is_numbers_and_slashes(entry)) return refuse(entry);
    return tl::unexpected(
        Error{fmt::format("'{}' is not written as MM/DD or MM/DD/YYYY: two digits for the month and for the "
                          "day, four for the year, such as 01/31 or 01/31/2027",
                          entry),
              {}});
}

// The rule for MM/DD or MM/DD/YYYY.
Result<std::string> shorthand(std::string_view entry) {
    const bool once = entry.size() == 10 && entry[5] == '/';
    if ((entry.size() != 5 && !once) || entry[2] != '/') return refuse_form(entry);
    const int m = values::digits<int>(entry.substr(0, 2)).value_or(0);
    const int d = values::digits<int>(entry.substr(3, 2)).value_or(0);
    // without a year, 29 February is a valid day: check in a leap year
    const int y = once ? values::digits<int>(entry.substr(6)).value_or(0) : 2000;
    const auto date = year{y} / month{static_cast<unsigned>(m)} / std::chrono::day{static_cast<unsigned>(d)};
    if (!date.ok() || y < 1601) return refuse(entry);
    if (once) return fmt::format("DTSTART;VALUE=DATE:{:04}{:02}{:02} RRULE:FREQ=DAILY;COUNT=1", y, m, d);
    return fmt::format("FREQ=YEARLY;BYMONTH={};BYMONTHDAY={}", m, d);
}

constexpr std::string_view kSummary = "SUMMARY:";
constexpr std::string_view kDuration = "DURATION:";

// The place of the first word that begins with `begin`, in any case of letters; npos: there is none.
std::size_t word_in(std::string_view entry, std::string_view begin) {
    for (std::size_t at = 0; at + begin.size() <= entry.size(); ++at) {
        if (at > 0 && entry[at - 1] != ' ' && entry[at - 1] != '\n') continue;
        if (values::same_word(entry.substr(at, begin.size()), begin)) return at;
    }
    return std::string_view::npos;
}

// The number of days in PnD or PnW; 0 for anything else.
int days_of(std::string_view duration) {
    if (duration.size() < 3 || duration.size() > 5 || duration.front() != 'P') return 0;
    const char unit = duration.back();
    const int number = values::digits<int>(duration.substr(1, duration.size() - 2)).value_or(0);
    const int days = unit == 'D' ? number : unit == 'W' ? number * 7 : 0;
    return days <= NamedDays::kMostDays ? days : 0;
}

}  // namespace

NamedDays NamedDays::split(std::string_view entry) {
    const std::size_t at = word_in(entry, kSummary);
    NamedDays out{std::string(values::trim(entry.substr(0, at)))};
    if (const std::size_t begin = word_in(out.rule, kDuration); begin != std::string::npos) {
        const std::size_t end = std::min(out.rule.find_first_of(" \n", begin), out.rule.size());
        const std::size_t number = begin + kDuration.size();
        if (const int days = days_of(std::string_view(out.rule).substr(number, end - number)); days > 0) {
            out.days = days;
            out.rule = values::trim(out.rule.erase(begin, end - begin));
        }
    }
    if (at == std::string_view::npos) return out;
    const std::string_view text = values::trim(entry.substr(at + kSummary.size()));
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) {
            ++i;
            out.name += text[i] == 'n' || text[i] == 'N' ? ' ' : text[i];
        } else {
            out.name += text[i];
        }
    }
    out.name = plain_text(out.name);
    return out;
}

std::string NamedDays::entry() const {
    std::string text;
    for (const char c : plain_text(name)) {
        if (c == ',' || c == ';' || c == '\\') text += '\\';
        text += c == '"' ? '\'' : c;
    }
    const std::string_view shown = values::trim(text);
    return fmt::format("{}{}{}{}", rule, days > 1 ? fmt::format(" {}P{}D", kDuration, days) : "",
                       shown.empty() ? "" : fmt::format(" {}", kSummary), shown);
}

struct NonWorkDays::Impl {
    struct Rule {
        Recurrence recurrence;
        int days;
        std::string name;

        YearDays year(const Year& y) const {
            YearDays out = recurrence.year(y);
            if (days == 1) return out;
            const YearDays begun = out;
            const Year before(y.number - 1);
            const YearDays earlier = recurrence.year(before);
            for (int day = 1; day < days; ++day)
                out |= begun.shifted(day) | earlier.shifted(day - before.length);
            return out & y.all();
        }
    };
    std::vector<Rule> rules;
    LocalDay periodic_from = LocalDay::min();
    std::int64_t period = 1;
    std::optional<LocalDay> last = LocalDay::min();  // no occurrence after this day; nullopt: there is no end
    std::map<int, YearDays> years;                   // compiled on first use

    void add(Recurrence rule, NamedDays parts) {
        const std::chrono::days more{parts.days - 1};
        const auto end = rule.last_day();
        periodic_from =
            std::max({periodic_from, rule.periodic_from() + more, end.value_or(periodic_from) + more});
        if (!end) period = common_period(period, rule.period_days());
        last = last && end ? std::optional(std::max(*last, *end + more)) : std::nullopt;
        rules.push_back({std::move(rule), parts.days, std::move(parts.name)});
    }

    const YearDays& of(const Year& y) {
        if (const auto found = years.find(y.number); found != years.end()) return found->second;
        YearDays days;
        for (const Rule& rule : rules) days |= rule.year(y);
        return years.emplace(y.number, days).first->second;
    }
};

NonWorkDays::NonWorkDays() : impl_(std::make_shared<Impl>()) {}

Result<std::string> NonWorkDays::stored(std::string_view entry, const Zone& zone) {
    NamedDays parts = NamedDays::split(entry);
    if (parts.name.size() > NamedDays::kLongestName)
        return tl::unexpected(
            Error{fmt::format("the name '{}...' is {} bytes long, expected at most {}",
                              parts.name.substr(0, 40), parts.name.size(), NamedDays::kLongestName),
                  {}});
    if (looks_like_shorthand(parts.rule)) {
        auto rule = shorthand(parts.rule);
        if (!rule) return rule;
        parts.rule = std::move(*rule);
    } else if (auto rule = Recurrence::parse(parts.rule, zone); !rule) {
        return tl::unexpected(rule.error());
    }
    return parts.entry();
}

Result<NonWorkDays> NonWorkDays::parse(std::span<const std::string> entries, const Zone& zone) {
    NonWorkDays out;
    for (const std::string& entry : entries) {
        NamedDays parts = NamedDays::split(entry);
        if (looks_like_shorthand(parts.rule)) {
            auto text = shorthand(parts.rule);
            if (!text) return tl::unexpected(text.error());
            parts.rule = std::move(*text);
        }
        auto rule = Recurrence::parse(parts.rule, zone);
        if (!rule) return tl::unexpected(rule.error());
        out.impl_->add(std::move(*rule), std::move(parts));
    }
    return out;
}

bool NonWorkDays::empty() const {
    return impl_->rules.empty();
}

std::vector<Zone> NonWorkDays::zones() const {
    std::vector<Zone> out;
    for (const Impl::Rule& rule : impl_->rules)
        out.insert(out.end(), rule.recurrence.zones().begin(), rule.recurrence.zones().end());
    return out;
}

bool NonWorkDays::contains(LocalDay day) const {
    if (empty()) return false;
    const Year y(Year::of(day_number(day)));
    return impl_->of(y).test(static_cast<int>(day_number(day) - y.first));
}

std::optional<LocalDay> NonWorkDays::next(LocalDay day) const {
    const LocalDay last = std::min(impl_->last.value_or(kLastDay), kLastDay);
    while (!empty() && day <= last) {
        const Year y(Year::of(day_number(day)));
        const int found = impl_->of(y).next(static_cast<int>(day_number(day) - y.first));
        if (found < YearDays::kBits) return day_at(y.first + found);
        day = day_at(y.first + y.length);
    }
    return std::nullopt;
}

std::vector<LocalDay> NonWorkDays::year(std::chrono::year y) const {
    const Year whole(static_cast<int>(y));
    const YearDays& some = days(whole);
    std::vector<LocalDay> out;
    for (int day = some.next(0); day < YearDays::kBits; day = some.next(day + 1))
        out.push_back(day_at(whole.first + day));
    return out;
}

const YearDays& NonWorkDays::days(const Year& y) const {
    return impl_->of(y);
}

std::string NonWorkDays::names(LocalDay day) const {
    const Year y(Year::of(day_number(day)));
    std::string out;
    for (const Impl::Rule& rule : impl_->rules) {
        if (rule.name.empty() || !rule.year(y).test(static_cast<int>(day_number(day) - y.first))) continue;
        out += (out.empty() ? "" : ", ") + rule.name;
    }
    return out;
}

LocalDay NonWorkDays::periodic_from() const {
    return impl_->periodic_from;
}

std::int64_t NonWorkDays::period_days() const {
    return impl_->period;
}

std::uint64_t NonWorkDays::steps() const {
    std::uint64_t steps = 0;
    for (const Impl::Rule& rule : impl_->rules) steps += rule.recurrence.steps();
    return steps;
}

}  // namespace pbs::rrule
