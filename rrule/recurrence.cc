#include "rrule/recurrence.h"

#include <fmt/format.h>

#include <algorithm>

#include "rrule/expand.h"
#include "rrule/rule_text.h"

namespace pbs::rrule {
namespace {

using Days = std::chrono::days;

// A Monday and the first day of a Gregorian cycle: 1601-01-01.
constexpr LocalDay kEpoch{Days{-134774}};
constexpr Local kEnd = Local{kLastDay} + Days{1};

LocalDay day_of(Local l) {
    return std::chrono::floor<Days>(l);
}

// What EXDATE removes.
struct Exclusion {
    Local local;
    bool whole_day;
};

}  // namespace

struct Recurrence::Impl {
    std::string text;
    Zone zone = Zone::utc();
    Seconds at{0};
    std::optional<Local> start;  // DTSTART
    std::optional<RuleExpander> rule;
    std::optional<text::DateValue> until;
    std::optional<std::vector<Local>> counted;  // all occurrences of a rule with COUNT
    std::vector<Local> rdates;                  // ascending
    std::vector<Exclusion> exclusions;

    // A value in the zone of the recurrence; a date is at the time `at`.
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

    // No occurrence is at or after this.
    Local rule_end() const { return until ? std::min(kEnd, until->local + Days{2}) : kEnd; }

    bool excluded(Local l) const {
        return std::any_of(exclusions.begin(), exclusions.end(), [&](const Exclusion& e) {
            return e.whole_day ? day_of(e.local) == day_of(l) : e.local == l;
        });
    }

    void expand_rule(Local from, Local to, std::vector<Local>& out) const {
        if (counted) {
            const auto begin = std::lower_bound(counted->begin(), counted->end(), from);
            out.insert(out.end(), begin, std::lower_bound(begin, counted->end(), to));
        } else if (rule) {
            rule->expand(from, std::min(to, rule_end()), out);
            while (!out.empty() && !before_until(out.back())) out.pop_back();
        }
    }

    std::vector<Local> occurrences(Local from, Local to) const {
        std::vector<Local> out;
        if (from >= to) return out;
        expand_rule(from, to, out);
        const auto begin = std::lower_bound(rdates.begin(), rdates.end(), from);
        const auto end = std::lower_bound(begin, rdates.end(), to);
        if (begin != end) {
            out.insert(out.end(), begin, end);
            std::sort(out.begin(), out.end());
            out.erase(std::unique(out.begin(), out.end()), out.end());
        }
        if (!exclusions.empty()) std::erase_if(out, [this](Local l) { return excluded(l); });
        return out;
    }

    Result<void> read(const text::Parts& parts);
    Result<void> check_occurs(std::int64_t count) const;
};

Result<void> Recurrence::Impl::read(const text::Parts& parts) {
    if (parts.start) {
        if (parts.start->zone) zone = *parts.start->zone;
        start = local(*parts.start);
    }
    for (const auto& value : parts.rdates) rdates.push_back(local(value));
    std::sort(rdates.begin(), rdates.end());
    for (const auto& value : parts.exdates) exclusions.push_back({local(value), value.is_date || !start});
    if (!parts.rule) {
        if (start) rdates.insert(std::lower_bound(rdates.begin(), rdates.end(), *start), *start);
        if (rdates.empty())
            return tl::unexpected(Error{fmt::format("'{}' has no rule and no date", text), {}});
    } else {
        if (parts.rule->count && !start)
            return tl::unexpected(
                Error{fmt::format("'{}' has COUNT but no DTSTART to count from", text), {}});
        until = parts.rule->until;
        rule.emplace(*parts.rule, start.value_or(Local{kEpoch} + at), !start);
        if (parts.rule->count)
            counted = rule->first(static_cast<std::size_t>(*parts.rule->count), *start, kEnd);
        if (auto done = check_occurs(parts.rule->count.value_or(0)); !done) return done;
    }
    if ((counted || !rule) && occurrences(Local{kEpoch}, kEnd).empty())
        return tl::unexpected(Error{fmt::format("'{}' never occurs: EXDATE removes every date", text), {}});
    return {};
}

Result<void> Recurrence::Impl::check_occurs(std::int64_t count) const {
    bool occurs = false;
    if (count > 0) {
        occurs = !counted->empty();
    } else {
        // A rule without DTSTART has occurred for ever, or not at all in a whole period.
        const Local from = start.value_or(std::min(Local{LocalDay{Days{0}}}, rule_end() - Days{146097}));
        const std::int64_t period = std::min<std::int64_t>(rule->period_days(), 2932897);
        const auto found = rule->first(1, from, std::min(rule_end(), from + Days{period + 7}));
        occurs = !found.empty() && before_until(found.front());
    }
    if (occurs) return {};
    return tl::unexpected(Error{
        fmt::format("'{}' never occurs{}", text, until ? " before its UNTIL" : " up to the year 9999"), {}});
}

Result<Recurrence> Recurrence::parse(std::string_view text, const Zone& floating, Seconds at) {
    constexpr std::size_t kLongest = 8192;
    if (text.size() > kLongest)
        return tl::unexpected(Error{
            fmt::format("a rule of {} bytes is too long, expected at most {}", text.size(), kLongest), {}});
    auto parts = text::parse(text);
    if (!parts) return tl::unexpected(parts.error());
    auto impl = std::make_shared<Impl>();
    const auto begin = text.find_first_not_of(" \t\r\n");
    impl->text = text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
    impl->zone = floating;
    impl->at = std::clamp(at, Seconds{0}, Seconds{86399});
    if (auto done = impl->read(*parts); !done) return tl::unexpected(done.error());
    return Recurrence(std::move(impl));
}

const std::string& Recurrence::text() const {
    return impl_->text;
}
const Zone& Recurrence::zone() const {
    return impl_->zone;
}

std::vector<Local> Recurrence::occurrences(Local from, Local to) const {
    return impl_->occurrences(from, to);
}

std::vector<Instant> Recurrence::instants(Instant from, Instant to) const {
    std::vector<Instant> out;
    // A day around covers every offset and its changes.
    for (const Local l : impl_->occurrences(zone().local(from) - Days{2}, zone().local(to) + Days{2})) {
        const Instant t = zone().rfc5545_instant(l);
        if (t >= from && t < to) out.push_back(t);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::vector<LocalDay> Recurrence::days(LocalDay from, LocalDay to) const {
    std::vector<LocalDay> out;
    for (const Local l : impl_->occurrences(Local{from}, Local{to}))
        if (out.empty() || out.back() != day_of(l)) out.push_back(day_of(l));
    return out;
}

std::optional<LocalDay> Recurrence::first_day() const {
    if (impl_->rule && !impl_->start) return std::nullopt;
    if (!impl_->rule) return day_of(impl_->rdates.front());
    return day_of(impl_->rdates.empty() ? *impl_->start : std::min(*impl_->start, impl_->rdates.front()));
}

std::optional<LocalDay> Recurrence::last_day() const {
    std::optional<Local> last;
    if (!impl_->rdates.empty()) last = impl_->rdates.back();
    if (impl_->counted) {
        last = std::max(last.value_or(impl_->counted->back()), impl_->counted->back());
    } else if (impl_->rule) {
        if (!impl_->until) return std::nullopt;
        last = std::max(last.value_or(impl_->rule_end()), impl_->rule_end());
    }
    return std::min(day_of(*last), kLastDay);
}

LocalDay Recurrence::periodic_from() const {
    Local last = impl_->start.value_or(Local{kEpoch});
    if (!impl_->rdates.empty()) last = std::max(last, impl_->rdates.back());
    for (const Exclusion& e : impl_->exclusions) last = std::max(last, e.local);
    return day_of(last) + Days{1};
}

std::int64_t Recurrence::period_days() const {
    return impl_->rule ? impl_->rule->period_days() : 1;
}

}  // namespace pbs::rrule
