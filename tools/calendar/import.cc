#include "tools/calendar/import.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace pbs::calendar {
namespace {

std::string date_text(rrule::LocalDay day) {
    return fmt::format(
        "{:%a %Y-%m-%d}",
        fmt::gmtime(static_cast<std::time_t>(std::chrono::seconds(day.time_since_epoch()).count())));
}

std::string nameless(const std::string& entry) {
    rrule::NamedDays parts = rrule::NamedDays::split(entry);
    parts.name.clear();
    return parts.entry();
}

void list(std::string& text, std::string_view heading, const std::vector<PlannedDay>& days) {
    if (days.empty()) return;
    text += fmt::format("{}:\n", heading);
    for (const PlannedDay& day : days) {
        text += fmt::format("  {:<14}  {}  ({})\n", day.next ? date_text(*day.next) : "", day.event.summary,
                            nameless(day.event.entry));
    }
}

}  // namespace

Result<ImportPlan> plan_import(std::string_view calendar, const Site& site, rrule::Instant now) {
    auto read = rrule::read_holidays(calendar, site.zone);
    if (!read) return tl::unexpected(read.error().message);
    const rrule::LocalDay today = std::chrono::floor<std::chrono::days>(site.zone.local(now));
    // Compare rules without their names: a day that is there under another name needn't be added.
    std::set<std::string> known;
    for (const std::string& rule : site.holiday_rules) known.insert(nameless(rule));
    ImportPlan plan;
    plan.skipped = std::move(read->skipped);
    for (rrule::HolidayEvent& event : read->holidays) {
        auto rule = rrule::NonWorkDays::stored(event.entry, site.zone);
        const std::string texts[] = {event.entry};
        const auto days = rrule::NonWorkDays::parse(texts, site.zone);
        if (!rule || !days) return tl::unexpected((rule ? days.error() : rule.error()).message);
        PlannedDay day{std::move(event), std::move(*rule), days->next(today)};
        if (!day.next) {
            plan.past.push_back(std::move(day));
        } else if (!known.insert(nameless(day.rule)).second) {
            plan.there.push_back(std::move(day));
        } else {
            plan.added.push_back(std::move(day));
        }
    }
    std::ranges::stable_sort(plan.added, {}, [](const PlannedDay& day) { return *day.next; });
    return plan;
}

std::vector<std::string> entries(const ImportPlan& plan) {
    std::vector<std::string> out;
    for (const PlannedDay& day : plan.added) out.push_back(day.event.entry);
    return out;
}

std::string to_text(const ImportPlan& plan) {
    std::string text;
    list(text, "To be added", plan.added);
    list(text, "There already", plan.there);
    list(text, "In the past, left out", plan.past);
    if (!plan.skipped.empty()) text += "Not holidays, left out:\n";
    for (const rrule::SkippedEvent& event : plan.skipped)
        text += fmt::format("  {}: {}\n", event.summary, event.why);
    if (text.empty()) text = "The calendar has no events.\n";
    return text;
}

}  // namespace pbs::calendar
