// Makes Settings of an object. Each member is read by its type.
#include "server_plugin/scheduler/model/settings.h"

#include <algorithm>
#include <chrono>

#include "objects/snapshot.h"

namespace pbs::sched {
namespace {

using objects::ActsWith;
using objects::Object;
using objects::Value;

template <class T>
void read(const Value& value, const rrule::Zone&, T& setting) {
    setting = std::get<T>(value);
}

void read(const Value& value, const rrule::Zone& zone, Since& setting) {
    const auto& option = std::get<objects::BooleanOrDate>(value);
    setting = {option.value};
    if (!option.from) return;
    using namespace std::chrono;
    const objects::LocalTime& date = *option.from;
    const auto day =
        local_days{year{date.year} / static_cast<unsigned>(date.month) / static_cast<unsigned>(date.day)};
    setting = {false, zone.instant(day + hours(date.hour) + minutes(date.minute) + seconds(date.second))};
}

void read(const Value& value, const rrule::Zone&, std::int64_t& setting) {
    const auto* size = std::get_if<objects::Size>(&value);
    setting = size != nullptr ? size->bytes : std::get<std::int64_t>(value);
}

void read(const Value& value, const rrule::Zone&, std::vector<QueueSpec>& setting) {
    if (const auto* list = std::get_if<objects::StringList>(&value))
        for (const std::string& text : *list) setting.push_back(parse_queue_spec(text));
    else if (const auto& text = std::get<std::string>(value); !text.empty())
        setting.push_back(parse_queue_spec(text));
}

void read(const Value& value, const rrule::Zone&, std::vector<SortKey>& setting) {
    for (const std::string& text : std::get<objects::StringList>(value)) {
        const auto blank = std::min(text.find(' '), text.size());
        const auto order = text.substr(std::min(text.find_first_not_of(' ', blank), text.size()));
        setting.push_back({text.substr(0, blank), !order.starts_with('L') && !order.starts_with('l'),
                           order.ends_with("assigned") || order.ends_with("unused")});
    }
}

void read(const Value& value, const rrule::Zone&, Algorithm& setting) {
    setting = std::get<std::string>(value) == "origin" ? Algorithm::origin : Algorithm::standard;
}

void read(const Value& value, const rrule::Zone&, PastUsageCharge& setting) {
    setting = std::get<std::string>(value) == "flat" ? PastUsageCharge::flat : PastUsageCharge::node_hours;
}

void read(const Value& value, const rrule::Zone&, RestartAction& setting) {
    const std::string& word = std::get<std::string>(value);
    setting = word == "restart" || word == "rerun" ? RestartAction::restart
              : word == "resubmit"                 ? RestartAction::resubmit
                                                   : RestartAction::none;
}

template <class T>
void take_out(T& setting, const T& unset) {
    setting = unset;
}

void take_out(bool& setting, bool) {
    setting = false;
}

void take_out(Since& setting, const Since&) {
    setting = {};
}

}  // namespace

QueueSpec parse_queue_spec(std::string_view text) {
    const auto at = text.find('@');
    if (at == std::string_view::npos) return {std::string(text)};
    return {std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

Settings::Settings(const Object& policy, const rrule::Zone& zone) : name(policy.name()) {
    for_each_setting(*this, [&](objects::PolicyAttribute place, auto& setting) {
        if (const Value* value = policy.value(objects::attribute_of(place))) read(*value, zone, setting);
    });
    read_together(policy);
}

Settings::Settings() {
    static const Settings unset(Object(objects::ObjectType::policy, {}), rrule::Zone::utc());
    *this = unset;
}

void Settings::read_together(const Object& policy) {
    // The command is asked only with ENFORCE_DEDICATED_TIME. Without it the time_windows of type dedicated
    // hold.
    if (!policy.is_set("enforce_dedicated_time")) {
        enforce_dedicated_time = {true};
        dedicated_time_command.clear();
        dedicated_time_cache_secs = 0;
        system_name.clear();
    }
    if (policy.is_set("target_load_pct") || policy.is_set("target_load_variance"))
        max_load_percent = policy.integer("target_load_pct") + policy.variance("target_load_variance").above;
}

void keep_own(Settings& settings, ActsWith algorithm) {
    const Settings unset;
    const auto is_own = [&](ActsWith acts_with) {
        return acts_with == ActsWith::both || acts_with == algorithm;
    };
#define SETTING(row, form, text, acted_on, ...) \
    if (!is_own(ActsWith::acted_on)) take_out(settings.row, unset.row);
#include "objects/policy_attributes.def"
    if (algorithm == ActsWith::origin) return;
    // With the standard algorithm the time_windows of type dedicated always hold.
    settings.enforce_dedicated_time = unset.enforce_dedicated_time;
    settings.max_load_percent = 0;
}

}  // namespace pbs::sched
