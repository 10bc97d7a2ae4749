#include "tools/calendar/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "objects/value.h"
#include "objects/windows.h"
#include "tools/calendar/reservation_times.h"
#include "values/number.h"
#include "values/utc.h"

namespace pbs::calendar {
namespace {

// Makes an object of the attributes in the attribute tables (objects/schema.h). Ignores others, which a host
// may report.
Result<objects::Object> make_object(objects::ObjectType type, const ObjectText& text) {
    objects::Object object(type, text.name);
    for (const auto& [name, value] : text.attributes) {
        const objects::Attribute* attribute = objects::find_attribute(type, name);
        if (!attribute || value.empty()) continue;
        auto parsed = objects::parse_value(*attribute, value);
        if (!parsed) {
            return tl::unexpected(
                fmt::format("{} {}: {}", objects::type_name(type), text.name, parsed.error().message));
        }
        object.assign(*attribute, std::move(*parsed));
    }
    return object;
}

Result<rrule::Zone> zone_of(const ObjectText& server, bool& assumed) {
    if (const std::string_view name = server.value("time_zone"); !name.empty()) {
        if (auto zone = rrule::Zone::find(name)) return std::move(*zone);
    }
    assumed = true;
    auto zone = rrule::Zone::system();
    if (!zone) return tl::unexpected(zone.error().message);
    return std::move(*zone);
}

Result<void> read_holidays(const ObjectText& server, Site& site) {
    const std::string_view text = server.value("non_work_days");
    if (text.empty()) return {};
    const auto rules = objects::split_rules("non_work_days", text);
    if (!rules) return tl::unexpected(rules.error().message);
    auto days = rrule::NonWorkDays::parse(*rules, site.zone);
    if (!days) return tl::unexpected("non_work_days: " + days.error().message);
    site.holiday_rules = *rules;
    site.holidays = std::move(*days);
    return {};
}

// Returns the server's clock, as in 2026-11-22T17:01:28Z; nullopt: the server doesn't report it.
std::optional<rrule::Instant> clock_of(const ObjectText& server) {
    return values::utc_time(std::string(server.value("server_time")));
}

Result<void> read_windows(const Answers& answers, Site& site) {
    std::vector<rrule::Window> prime;
    std::vector<rrule::Window> dedicated;
    for (const ObjectText& text : answers.time_windows) {
        const auto object = make_object(objects::ObjectType::time_window, text);
        if (!object) return tl::unexpected(object.error());
        if (!object->has("rrule")) continue;  // a window without a rule never opens
        const auto window = objects::make_window(*object, site.zone);
        if (!window) return tl::unexpected(window.error().message);
        const std::string type(object->text("type"));
        if (type == "prime") prime.push_back(*window);
        if (type == "dedicated") dedicated.push_back(*window);
        site.windows.push_back({text.name,
                                type,
                                {},
                                std::string(object->text("at_close")),
                                rrule::WindowSet({*window}, site.holidays)});
    }
    site.prime_switches = !prime.empty();
    site.prime = rrule::WindowSet(std::move(prime), site.holidays);
    site.dedicated = rrule::WindowSet(std::move(dedicated), site.holidays);
    return {};
}

Result<void> read_queues(const Answers& answers, Site& site) {
    for (const ObjectText& queue : answers.queues) {
        const std::string_view names = queue.value("time_window");
        if (names.empty()) continue;
        const auto list = objects::split_list("time_window", names);
        if (!list) return tl::unexpected(fmt::format("queue {}: {}", queue.name, list.error().message));
        for (NamedWindow& window : site.windows) {
            if (std::ranges::find(*list, window.name) != list->end()) window.queues.push_back(queue.name);
        }
    }
    return {};
}

Result<void> read_scheds(const Answers& answers, Site& site) {
    for (const ObjectText& sched : answers.scheds) {
        const std::string_view text = sched.value("policy");
        objects::PolicySlots slots;
        if (!text.empty()) {
            const auto list = objects::split_list("policy", text);
            if (!list) return tl::unexpected(fmt::format("sched {}: {}", sched.name, list.error().message));
            slots = objects::slots_from_list(*list);
        }
        site.scheds.push_back({sched.name, std::move(slots)});
    }
    return {};
}

// Lets jobs run on at the end of windows if no scheduler has a policy of algorithm standard, which alone acts
// on at_close. Without any policy the standard algorithm schedules.
Result<void> read_algorithms(const Answers& answers, Site& site) {
    bool has_policy = false;
    for (const SchedPolicies& sched : site.scheds) {
        for (const std::string& name : sched.slots.names()) {
            has_policy = true;
            const auto text = std::ranges::find(answers.policies, name, &ObjectText::name);
            if (text == answers.policies.end()) continue;
            const auto policy = make_object(objects::ObjectType::policy, *text);
            if (!policy) return tl::unexpected(policy.error());
            if (policy->text("algorithm") == "standard") return {};
        }
    }
    if (has_policy)
        for (NamedWindow& window : site.windows) window.at_close = "run";
    return {};
}

// Returns whether a reservation in this state has its resources reserved. The states have the batch
// protocol's numbers.
bool holds_its_time(std::int64_t state) {
    constexpr std::int64_t kConfirmed = 2;
    constexpr std::int64_t kWaiting = 3;
    constexpr std::int64_t kRunning = 5;
    constexpr std::int64_t kDegraded = 10;
    constexpr std::int64_t kBeingAltered = 11;
    constexpr std::array kStates{kConfirmed, kWaiting, kRunning, kDegraded, kBeingAltered};
    return std::ranges::find(kStates, state) != kStates.end();
}

Result<void> read_reservations(const Answers& answers, Site& site) {
    for (const ObjectText& text : answers.reservations) {
        if (!holds_its_time(values::number<std::int64_t>(text.value("reserve_state")).value_or(-1))) continue;
        const std::string_view given = text.value("Reserve_Name");
        const std::string name =
            given.empty() || given == "NULL" ? text.name : fmt::format("{} ({})", text.name, given);
        const auto value = [&](std::string_view attribute) { return text.value(attribute); };
        for (const ReservationTime& one : reservation_times(value))
            site.reservations.push_back({name, one.when});
    }
    return {};
}

// If there is no time_window of type prime, takes prime time from the Origin policy that the first scheduler
// uses at all times.
Result<void> read_prime_hours(const Answers& answers, Site& site) {
    if (site.prime_switches || site.scheds.empty()) return {};
    for (const ObjectText& text : answers.policies) {
        if (text.name != site.scheds.front().slots.all_time) continue;
        const auto policy = make_object(objects::ObjectType::policy, text);
        if (!policy) return tl::unexpected(policy.error());
        site.prime = objects::weekday_prime_hours(*policy, site.holidays, site.zone);
    }
    return {};
}

}  // namespace

std::string_view ObjectText::value(std::string_view attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? std::string_view{} : std::string_view(found->second);
}

Result<Site> make_site(const Answers& answers) {
    Site site;
    site.server = answers.server.name;
    auto zone = zone_of(answers.server, site.zone_assumed);
    if (!zone) return tl::unexpected(zone.error());
    site.zone = std::move(*zone);
    site.now = clock_of(answers.server);
    Result<void> done = read_holidays(answers.server, site);
    for (auto read :
         {read_windows, read_queues, read_scheds, read_algorithms, read_prime_hours, read_reservations})
        if (done) done = read(answers, site);
    if (!done) return tl::unexpected(done.error());
    return site;
}

}  // namespace pbs::calendar
