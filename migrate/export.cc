#include "migrate/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "migrate/export_parts.h"
#include "migrate/object_names.h"
#include "rrule/non_work_days.h"
#include "rrule/rule_text.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

constexpr std::array kExporters{
    Exporter{"sched_config", "sched_config", export_sched_config},
    Exporter{"holidays", "holidays", export_holidays},
    Exporter{"dedicated_time", "dedicated_time", export_dedicated_time},
    Exporter{"resource_group", "resource_group", export_resource_group},
    Exporter{"configfile", "config", export_configfile},
};

constexpr std::array<std::string_view, 12> kShortMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Returns the days of a rule that recurs on the same weekdays every week; nullopt: another kind of rule.
std::optional<std::array<bool, 7>> weekly_days(std::string_view text) {
    std::string rule = values::uppered(values::trim(text));
    if (rule.starts_with("RRULE:")) rule.erase(0, 6);
    std::array<bool, 7> weekdays{};
    bool daily = false;
    bool weekly = false;
    for (const std::string_view part : values::split_trimmed(rule, ';')) {
        if (part == "FREQ=DAILY") {
            daily = true;
        } else if (part == "FREQ=WEEKLY") {
            weekly = true;
        } else if (part.starts_with("BYDAY=")) {
            for (const std::string_view day : values::split_trimmed(part.substr(6), ',')) {
                std::size_t number = 0;
                while (number < weekdays.size() &&
                       rrule::text::weekday_name(static_cast<unsigned>(number)) != day)
                    ++number;
                if (number == weekdays.size()) return std::nullopt;
                weekdays.at(number) = true;
            }
        } else if (part != "INTERVAL=1" && !part.starts_with("WKST=")) {
            return std::nullopt;
        }
    }
    const bool named = std::ranges::find(weekdays, true) != weekdays.end();
    if (!daily && !(weekly && named)) return std::nullopt;
    if (daily && !named) weekdays.fill(true);
    return weekdays;
}

// Returns n of FREQ=YEARLY;BYYEARDAY=n; 0: another rule.
int year_day(std::string_view rule) {
    constexpr std::string_view kForm = "FREQ=YEARLY;BYYEARDAY=";
    return rule.starts_with(kForm) ? values::digits<int>(rule.substr(kForm.size())).value_or(0) : 0;
}

void add_hours(WeekHours& week, std::size_t day, int start, int end) {
    if (start < end) week.at(day % 7).push_back({start, end});
}

}  // namespace

std::span<const Exporter> exporters() {
    return kExporters;
}

PoliciesByTime policies_of(const ExportSource& source) {
    const objects::PolicySlots slots = source.snapshot.policy_slots(source.sched);
    const auto find = [&](const std::string& name, const objects::Object* otherwise) {
        return name.empty() ? otherwise : source.snapshot.policy(name);
    };
    PoliciesByTime out;
    out.all_time = find(slots.all_time, source.snapshot.policy(kPolicy));
    out.prime = find(slots.prime, out.all_time);
    out.non_prime = find(slots.non_prime, out.all_time);
    return out;
}

std::string setting_text(const objects::Object& object, const objects::Attribute& attribute,
                         const objects::Value& value) {
    return fmt::format("{} {} {} = {}", objects::type_name(object.type()), object.name(), attribute.name,
                       objects::format_value(attribute, value));
}

const objects::Object* fs_group_of(const ExportSource& source) {
    const PoliciesByTime policies = policies_of(source);
    for (const objects::Object* policy : {policies.prime, policies.non_prime, policies.all_time}) {
        if (policy == nullptr || policy->text("fairshare_group").empty()) continue;
        return source.snapshot.fs_group(policy->text("fairshare_group"));
    }
    return source.snapshot.fs_group(kGroup);
}

std::optional<WeekHours> week_hours(const objects::Object& window) {
    const auto days = weekly_days(window.text("rrule"));
    if (!days) return std::nullopt;
    const auto minute = [&](const char* name, int otherwise) {
        return window.has(name) ? static_cast<int>(window.seconds(name).count() / 60) : otherwise;
    };
    const int start = minute("start_time", 0);
    const int end = minute("end_time", 1440);
    WeekHours week;
    for (std::size_t day = 0; day < 7; ++day) {
        if (!days->at(day)) continue;
        if (start < end) {
            add_hours(week, day, start, end);
        } else {
            add_hours(week, day, start, 1440);
            add_hours(week, day + 1, 0, end);
        }
    }
    return week;
}

std::vector<DayNumber> day_numbers(const ExportSource& source, int year, std::vector<std::string>& left_out) {
    const std::chrono::local_days first{std::chrono::year{year} / 1 / 1};
    std::map<int, std::string> days;
    for (const std::string& rule : source.snapshot.non_work_days()) {
        const auto parts = rrule::NamedDays::split(rule);
        const auto add = [&](int day) {
            const std::chrono::year_month_day date{first + std::chrono::days{day - 1}};
            days.emplace(
                day,
                fmt::format("{} {}{}{}", kShortMonths.at(static_cast<unsigned>(date.month()) - 1),
                            static_cast<unsigned>(date.day()), parts.name.empty() ? "" : " ", parts.name));
        };
        if (const int day = year_day(parts.rule); day != 0 && parts.days == 1) {
            add(day);
            continue;
        }
        const auto parsed = rrule::NonWorkDays::parse(std::span(&rule, 1), source.zone);
        if (!parsed) continue;
        for (const auto day : parsed->year(std::chrono::year{year}))
            add(static_cast<int>((day - first).count()) + 1);
        left_out.push_back(fmt::format(
            "server non_work_days {}: the file has its days of {}: export it anew for other years", rule,
            year));
    }
    std::vector<DayNumber> out;
    out.reserve(days.size());
    for (auto& [day, remark] : days) out.push_back({day, std::move(remark)});
    return out;
}

int year_of(const ExportSource& source) {
    const auto day = std::chrono::floor<std::chrono::days>(source.zone.local(source.now));
    return static_cast<int>(std::chrono::year_month_day{day}.year());
}

}  // namespace pbs::migrate
