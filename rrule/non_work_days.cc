#include "rrule/non_work_days.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <map>

#include "rrule/pattern.h"

namespace pbs::rrule {
namespace {

using std::chrono::month;
using std::chrono::year;

// Two digits; -1 for anything else.
int two_digits(std::string_view s) {
    if (s.size() != 2 || s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9') return -1;
    return (s[0] - '0') * 10 + (s[1] - '0');
}

bool looks_like_shorthand(std::string_view s) {
    return s.find('/') != std::string_view::npos && s.find('=') == std::string_view::npos;
}

Result<std::string> refuse(std::string_view entry) {
    return tl::unexpected(Error{
        fmt::format("'{}' is not a day of the calendar, expected MM/DD, MM/DD/YYYY or a recurrence rule",
                    entry),
        {}});
}

// MM/DD or MM/DD/YYYY as a rule.
Result<std::string> shorthand(std::string_view entry) {
    const bool once = entry.size() == 10 && entry[5] == '/';
    if ((entry.size() != 5 && !once) || entry[2] != '/') return refuse(entry);
    const int m = two_digits(entry.substr(0, 2));
    const int d = two_digits(entry.substr(3, 2));
    if (m < 1 || d < 1) return refuse(entry);
    if (once && (two_digits(entry.substr(6, 2)) < 16 || two_digits(entry.substr(8, 2)) < 0))
        return refuse(entry);
    // A day every year may be 29 February: 2000 is a leap year.
    const int y = once ? two_digits(entry.substr(6, 2)) * 100 + two_digits(entry.substr(8, 2)) : 2000;
    const auto date = year{y} / month{static_cast<unsigned>(m)} / std::chrono::day{static_cast<unsigned>(d)};
    if (!date.ok() || y < 1601) return refuse(entry);
    if (once) return fmt::format("DTSTART;VALUE=DATE:{:04}{:02}{:02} RRULE:FREQ=DAILY;COUNT=1", y, m, d);
    return fmt::format("FREQ=YEARLY;BYMONTH={};BYMONTHDAY={}", m, d);
}

std::string_view trimmed(std::string_view s) {
    const auto begin = s.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    return s.substr(begin, s.find_last_not_of(" \t\r\n") + 1 - begin);
}

}  // namespace

struct NonWorkDays::Impl {
    std::vector<Recurrence> rules;
    std::map<std::chrono::year, std::vector<LocalDay>> years;  // compiled on first use
    // The year that was asked last.
    LocalDay last_begin{};
    LocalDay last_end{};
    std::bitset<366> last;

    bool contains(LocalDay day) {
        if (day < last_begin || day >= last_end) {
            const auto y = std::chrono::year_month_day{day}.year();
            const auto& days = of(y);
            last_begin = LocalDay{y / 1 / 1};
            last_end = LocalDay{(y + std::chrono::years{1}) / 1 / 1};
            last.reset();
            for (const LocalDay d : days) last.set(static_cast<std::size_t>((d - last_begin).count()));
        }
        return last.test(static_cast<std::size_t>((day - last_begin).count()));
    }

    const std::vector<LocalDay>& of(std::chrono::year y) {
        constexpr std::size_t kKeep = 1000;  // whoever walks over all years doesn't fill the memory
        if (const auto found = years.find(y); found != years.end()) return found->second;
        if (years.size() >= kKeep) years.clear();
        std::vector<LocalDay> days;
        for (const Recurrence& rule : rules) {
            const auto some = rule.days(LocalDay{y / 1 / 1}, LocalDay{(y + std::chrono::years{1}) / 1 / 1});
            days.insert(days.end(), some.begin(), some.end());
        }
        std::sort(days.begin(), days.end());
        days.erase(std::unique(days.begin(), days.end()), days.end());
        return years.emplace(y, std::move(days)).first->second;
    }
};

NonWorkDays::NonWorkDays() : impl_(std::make_shared<Impl>()) {}

Result<std::string> NonWorkDays::rule_of(std::string_view entry, const Zone& zone) {
    entry = trimmed(entry);
    if (looks_like_shorthand(entry)) return shorthand(entry);
    auto rule = Recurrence::parse(entry, zone);
    if (!rule) return tl::unexpected(rule.error());
    return rule->text();
}

Result<NonWorkDays> NonWorkDays::parse(std::span<const std::string> entries, const Zone& zone) {
    NonWorkDays out;
    for (const std::string& entry : entries) {
        auto text = rule_of(entry, zone);
        if (!text) return tl::unexpected(text.error());
        auto rule = Recurrence::parse(*text, zone);
        if (!rule) return tl::unexpected(rule.error());
        out.impl_->rules.push_back(std::move(*rule));
    }
    return out;
}

bool NonWorkDays::empty() const {
    return impl_->rules.empty();
}

std::vector<Zone> NonWorkDays::zones() const {
    std::vector<Zone> out;
    for (const Recurrence& rule : impl_->rules)
        out.insert(out.end(), rule.zones().begin(), rule.zones().end());
    return out;
}

bool NonWorkDays::contains(LocalDay day) const {
    return !empty() && impl_->contains(day);
}

std::optional<LocalDay> NonWorkDays::next(LocalDay day) const {
    std::optional<LocalDay> best;
    for (const Recurrence& rule : impl_->rules) {
        // Rules recur at least once a period, or end.
        const LocalDay last = std::min(rule.last_day().value_or(kLastDay), best ? *best : kLastDay);
        std::chrono::days step{366};
        for (LocalDay from = day; from <= last; from += step, step *= 2) {
            const auto found = rule.days(from, std::min(from + step, last + std::chrono::days{1}));
            if (found.empty()) continue;
            if (!best || found.front() < *best) best = found.front();
            break;
        }
    }
    return best;
}

std::vector<LocalDay> NonWorkDays::year(std::chrono::year y) const {
    return empty() ? std::vector<LocalDay>{} : impl_->of(y);
}

LocalDay NonWorkDays::periodic_from() const {
    LocalDay from = LocalDay::min();
    for (const Recurrence& rule : impl_->rules)
        from = std::max({from, rule.periodic_from(), rule.last_day().value_or(from)});
    return from;
}

std::int64_t NonWorkDays::period_days() const {
    std::int64_t period = 1;
    for (const Recurrence& rule : impl_->rules)
        if (!rule.last_day()) period = common_period(period, rule.period_days());
    return period;
}

std::uint64_t NonWorkDays::steps() const {
    std::uint64_t steps = 0;
    for (const Recurrence& rule : impl_->rules) steps += rule.steps();
    return steps;
}

}  // namespace pbs::rrule
