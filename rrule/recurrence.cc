#include "rrule/recurrence.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "rrule/expand.h"
#include "rrule/rule_text.h"
#include "rrule/year_days.h"

namespace pbs::rrule {
namespace {

using Days = std::chrono::days;

// A Monday and the first day of a Gregorian cycle: 1601-01-01.
constexpr LocalDay kEpoch{Days{-134774}};
constexpr Local kLocalEnd = Local{kLastDay} + Days{1};

}  // namespace

struct Recurrence::Impl {
    std::string text;
    Zone zone = Zone::utc();
    std::vector<Zone> zones;
    Seconds at{0};
    std::optional<Local> start;  // DTSTART
    std::optional<RuleExpander> rule;
    std::optional<text::DateValue> until;
    std::optional<Local> last_counted;    // the last occurrence of a rule with COUNT
    std::vector<Local> rdates;            // ascending
    std::vector<LocalDay> excluded_days;  // EXDATE of whole days, ascending
    std::vector<Local> excluded_times;    // EXDATE with times, ascending

    // Converts a value to the zone of the recurrence; a date gets the time `at`.
    Local local(const text::DateValue& value) const {
        if (value.is_date) return value.local + at;
        if (!value.zone || *value.zone == zone) return value.local;
        return zone.local(value.zone->rfc5545_instant(value.local));
    }

    bool before_until(Local l) const {
        if (!until) return true;
        if (until->is_date) return l < until->local + Days{1};
        if (!until->zone) return l <= until->local;
        return zone.rfc5545_instant(l) <= until->zone->rfc5545_instant(until->local);
    }

    // Returns an upper bound of the rule's occurrences: it has none at or after this reading. The bound
    // allows for zones up to 26 hours apart.
    Local rule_end() const {
        if (last_counted) return *last_counted + Seconds{1};
        return until ? std::min(kLocalEnd, until->local + Days{2}) : kLocalEnd;
    }

    bool excluded(Local l) const {
        return std::binary_search(excluded_days.begin(), excluded_days.end(), day_of(l)) ||
               std::binary_search(excluded_times.begin(), excluded_times.end(), l);
    }

    // Returns whether the times of day have to be compared to know if the rule occurs on this day: the end of
    // the rule or an EXDATE with a time is near.
    bool times_decide(LocalDay day) const {
        if ((until || last_counted) && Local{day} + kNearEnd > rule_end()) return true;
        const auto some = std::lower_bound(excluded_times.begin(), excluded_times.end(), Local{day});
        return some != excluded_times.end() && day_of(*some) == day;
    }

    bool rule_occurs_on(LocalDay day) const {
        bool occurs = false;
        rule->each(kAll, Local{day}, std::min(Local{day} + Days{1}, rule_end()), [&](Local l) {
            occurs = !excluded(l) && before_until(l);
            return !occurs;
        });
        return occurs;
    }

    std::vector<Local> occurrences(Local from, Local to, std::size_t most) const;
    YearDays year(const Year& y) const;
    YearDays special_year(const Year& y) const;
    void find_special_years();

    Result<void> read(const text::Parts& parts);
    Result<void> read_rule(const text::Rule& parts);
    void count(std::int64_t occurrences);
    bool rule_occurs() const;
    bool all_excluded() const;

    static constexpr Days kNearEnd{5};

    // The years in which RDATE, EXDATE or the rule's end changes the rule's days; and the days of these
    // years, once computed.
    std::vector<int> special_years;  // ascending
    mutable std::map<int, YearDays> specials;
    mutable std::optional<Ever> ever;
};

std::vector<Local> Recurrence::Impl::occurrences(Local from, Local to, std::size_t most) const {
    std::vector<Local> out;
    if (from >= to || most == 0) return out;
    if (rule) {
        rule->each(kAll, from, std::min(to, rule_end()), [&](Local l) {
            if (!before_until(l)) return false;
            if (!excluded(l)) out.push_back(l);
            return out.size() < most;
        });
    }
    const auto begin = std::lower_bound(rdates.begin(), rdates.end(), from);
    const auto end = std::lower_bound(begin, rdates.end(), to);
    if (begin != end) {
        std::copy_if(begin, end, std::back_inserter(out), [this](Local l) { return !excluded(l); });
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
    }
    if (out.size() > most) out.resize(most);
    return out;
}

YearDays Recurrence::Impl::year(const Year& y) const {
    if (!std::binary_search(special_years.begin(), special_years.end(), y.number)) {
        const bool over = !rule || (rule_end() < kLocalEnd && Local{day_at(y.first)} >= rule_end());
        return over ? YearDays{} : rule->year(y);
    }
    const auto known = specials.find(y.number);
    return known != specials.end() ? known->second
                                   : specials.emplace(y.number, special_year(y)).first->second;
}

YearDays Recurrence::Impl::special_year(const Year& y) const {
    YearDays out;
    const auto in_year = [&](LocalDay day) { return static_cast<int>(day_number(day) - y.first); };
    if (rule) {
        out = rule->year(y);
        const auto end = day_number(day_of(rule_end() - Seconds{1})) + 1 - y.first;
        out &= YearDays::range(0, static_cast<int>(std::clamp<std::int64_t>(end, 0, y.length)));
        for (int day = out.next(0); day < YearDays::kBits; day = out.next(day + 1)) {
            const LocalDay date = day_at(y.first + day);
            if (times_decide(date) && !rule_occurs_on(date)) out.reset(day);
        }
    }
    const LocalDay first = day_at(y.first);
    const LocalDay end = first + Days{y.length};
    for (auto date = std::lower_bound(rdates.begin(), rdates.end(), Local{first});
         date != rdates.end() && *date < Local{end}; ++date)
        if (!excluded(*date)) out.set(in_year(day_of(*date)));
    for (auto day = std::lower_bound(excluded_days.begin(), excluded_days.end(), first);
         day != excluded_days.end() && *day < end; ++day)
        out.reset(in_year(*day));
    return out;
}

void Recurrence::Impl::find_special_years() {
    const auto add = [&](LocalDay day) { special_years.push_back(Year::of(day_number(day))); };
    for (const Local l : rdates) add(day_of(l));
    for (const LocalDay day : excluded_days) add(day);
    for (const Local l : excluded_times) add(day_of(l));
    if (until || last_counted) {
        add(day_of(rule_end() - kNearEnd - Days{1}));
        add(day_of(rule_end()));
    }
    std::sort(special_years.begin(), special_years.end());
    special_years.erase(std::unique(special_years.begin(), special_years.end()), special_years.end());
}

Result<void> Recurrence::Impl::read(const text::Parts& parts) {
    if (parts.start) {
        if (parts.start->zone) zone = *parts.start->zone;
        start = local(*parts.start);
    }
    zones = {zone};
    for (const auto* dates : {&parts.rdates, &parts.exdates})
        for (const auto& value : *dates)
            if (value.zone && std::find(zones.begin(), zones.end(), *value.zone) == zones.end())
                zones.push_back(*value.zone);
    for (const auto& value : parts.rdates) rdates.push_back(local(value));
    std::sort(rdates.begin(), rdates.end());
    for (const auto& value : parts.exdates) {
        if (value.is_date || !start) {
            excluded_days.push_back(day_of(local(value)));
        } else {
            excluded_times.push_back(local(value));
        }
    }
    std::sort(excluded_days.begin(), excluded_days.end());
    std::sort(excluded_times.begin(), excluded_times.end());
    if (parts.rule) {
        text::Rule rule_parts = *parts.rule;
        // RFC 5545 3.3.10: BYSECOND, BYMINUTE and BYHOUR "MUST be ignored" when DTSTART is a date
        if (parts.start && parts.start->is_date)
            rule_parts.by_hour = rule_parts.by_minute = rule_parts.by_second = {};
        if (auto done = read_rule(rule_parts); !done) return done;
    } else if (start) {
        rdates.insert(std::lower_bound(rdates.begin(), rdates.end(), *start), *start);
    }
    if (!rule && rdates.empty())
        return tl::unexpected(Error{fmt::format("'{}' has no rule and no date", text), {}});
    if (all_excluded())
        return tl::unexpected(Error{fmt::format("'{}' never occurs: EXDATE removes every date", text), {}});
    return {};
}

Result<void> Recurrence::Impl::read_rule(const text::Rule& parts) {
    if (parts.count && !start)
        return tl::unexpected(Error{fmt::format("'{}' has COUNT but no DTSTART to count from", text), {}});
    until = parts.until;
    rule.emplace(parts, start.value_or(Local{kEpoch} + at), !start);
    if (!rule_occurs())
        return tl::unexpected(Error{
            fmt::format("'{}' never occurs{}", text, until ? " before its UNTIL" : " up to the year 9999"),
            {}});
    if (parts.count) count(*parts.count);
    return {};
}

// Finds the last occurrence of a rule with COUNT, which is then an end like UNTIL.
void Recurrence::Impl::count(std::int64_t occurrences) {
    rule->each(static_cast<std::size_t>(occurrences), *start, kLocalEnd, [this](Local l) {
        last_counted = l;
        return true;
    });
}

bool Recurrence::Impl::rule_occurs() const {
    // a rule without DTSTART occurs in each whole period, or never
    const Days period{std::min<std::int64_t>(rule->period_days(), kCalendarDays)};
    const Local from = start.value_or(std::min(Local{LocalDay{Days{0}}}, rule_end() - period - Days{7}));
    bool occurs = false;
    rule->each(1, from, std::min(rule_end(), from + period + Days{7}), [&](Local l) {
        occurs = before_until(l);
        return false;
    });
    return occurs;
}

bool Recurrence::Impl::all_excluded() const {
    if (excluded_days.empty() && excluded_times.empty()) return false;
    if (std::any_of(rdates.begin(), rdates.end(), [this](Local l) { return !excluded(l); })) return false;
    if (!rule) return true;
    if (!start) return false;  // EXDATEs can't remove all of an endless past
    bool found = false;
    rule->each(kAll, *start, rule_end(), [&](Local l) {
        found = before_until(l) && !excluded(l);
        return !found;
    });
    return !found;
}

Result<Recurrence> Recurrence::parse(std::string_view text, const Zone& floating, Seconds at, Finest finest) {
    constexpr std::size_t kLongest = 8192;
    if (text.size() > kLongest)
        return tl::unexpected(Error{
            fmt::format("a rule of {} bytes is too long, expected at most {}", text.size(), kLongest), {}});
    auto parts = text::parse(text, finest == Finest::minutely ? text::Freq::minutely : text::Freq::hourly);
    if (!parts) return tl::unexpected(parts.error());
    auto impl = std::make_shared<Impl>();
    const auto begin = text.find_first_not_of(" \t\r\n");
    impl->text = text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
    impl->zone = floating;
    impl->at = std::clamp(at, Seconds{0}, Seconds{86399});
    if (auto done = impl->read(*parts); !done) return tl::unexpected(done.error());
    impl->find_special_years();
    return Recurrence(std::move(impl));
}

const std::string& Recurrence::text() const {
    return impl_->text;
}
const Zone& Recurrence::zone() const {
    return impl_->zone;
}
const std::vector<Zone>& Recurrence::zones() const {
    return impl_->zones;
}

std::vector<Local> Recurrence::occurrences(Local from, Local to, std::size_t most) const {
    return impl_->occurrences(from, to, most);
}

std::vector<Instant> Recurrence::instants(Instant from, Instant to) const {
    std::vector<Instant> out;
    // a margin of two days covers every offset and its changes
    for (const Local l : impl_->occurrences(zone().local(from) - Days{2}, zone().local(to) + Days{2}, kAll)) {
        const Instant t = zone().rfc5545_instant(l);
        if (t >= from && t < to) out.push_back(t);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::vector<LocalDay> Recurrence::days(LocalDay from, LocalDay to) const {
    std::vector<LocalDay> out;
    from = std::max(from, kFirstDay);
    to = std::min(to, kLastDay + Days{1});
    if (from >= to) return out;
    const std::int64_t end = day_number(to);
    for (std::int64_t at = day_number(from); at < end;) {
        const Year y(Year::of(at));
        const YearDays some = impl_->year(y);
        for (int day = some.next(static_cast<int>(at - y.first));
             y.first + day < end && day < YearDays::kBits; day = some.next(day + 1))
            out.push_back(day_at(y.first + day));
        at = y.first + y.length;
    }
    return out;
}

YearDays Recurrence::year(const Year& y) const {
    return impl_->year(y);
}

const Recurrence::Ever& Recurrence::ever() const {
    if (impl_->ever) return *impl_->ever;
    Ever& out = impl_->ever.emplace();
    if (impl_->rule) out.kinds = impl_->rule->ever();
    for (const Local l : impl_->rdates) {
        const std::int64_t day = day_number(day_of(l));
        const Year year(Year::of(day));
        out.kinds[static_cast<std::size_t>(year.kind)].set(static_cast<int>(day - year.first));
    }
    for (const YearDays& days : out.kinds) out.all |= days;
    return out;
}

std::bitset<7> Recurrence::weekdays() const {
    std::bitset<7> out;
    if (impl_->rule) out = impl_->rule->weekdays();
    for (const Local l : impl_->rdates) out.set(static_cast<std::size_t>(weekday_of(day_number(day_of(l)))));
    return out;
}

const DayCycle* Recurrence::cycle() const {
    return impl_->rule && impl_->rdates.empty() ? impl_->rule->cycle() : nullptr;
}

std::optional<LocalDay> Recurrence::first_day() const {
    if (impl_->rule && !impl_->start) return std::nullopt;
    if (!impl_->rule) return day_of(impl_->rdates.front());
    return day_of(impl_->rdates.empty() ? *impl_->start : std::min(*impl_->start, impl_->rdates.front()));
}

std::optional<LocalDay> Recurrence::last_day() const {
    std::optional<Local> last;
    if (!impl_->rdates.empty()) last = impl_->rdates.back();
    if (impl_->rule) {
        if (!impl_->until && !impl_->last_counted) return std::nullopt;
        last = std::max(last.value_or(impl_->rule_end()), impl_->rule_end());
    }
    return std::min(day_of(*last), kLastDay);
}

LocalDay Recurrence::periodic_from() const {
    Local last = impl_->start.value_or(Local{kEpoch});
    if (!impl_->rdates.empty()) last = std::max(last, impl_->rdates.back());
    if (!impl_->excluded_times.empty()) last = std::max(last, impl_->excluded_times.back());
    if (!impl_->excluded_days.empty()) last = std::max(last, Local{impl_->excluded_days.back()});
    return day_of(last) + Days{1};
}

std::int64_t Recurrence::period_days() const {
    return impl_->rule ? impl_->rule->period_days() : 1;
}

std::uint64_t Recurrence::steps() const {
    return impl_->rule ? impl_->rule->steps() : 0;
}

}  // namespace pbs::rrule
