// Makes Settings from an object. The type of a member decides how it is read.
#include "server_plugin/scheduler/model/settings.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <chrono>
#include <utility>

#include "objects/schema.h"
#include "objects/snapshot.h"
#include "values/text.h"

namespace pbs::sched {
namespace {

using objects::ActsWith;
using objects::Object;
using objects::Value;

template <class T>
void read(const Value& value, const rrule::Zone&, T& setting) {
    setting = std::get<T>(value);
}

void read(const Value& value, const rrule::Zone&, std::optional<double>& setting) {
    setting = std::get<double>(value);
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

SortKey sort_key_of(const std::string& text) {
    const auto blank = std::min(text.find(' '), text.size());
    const auto order = text.substr(std::min(text.find_first_not_of(' ', blank), text.size()));
    const auto amount = order.ends_with("assigned") ? SortAmount::assigned
                        : order.ends_with("unused") ? SortAmount::unused
                                                    : SortAmount::total;
    return {text.substr(0, blank), !order.starts_with('L') && !order.starts_with('l'), amount};
}

void read(const Value& value, const rrule::Zone&, std::vector<SortKey>& setting) {
    for (const std::string& text : std::get<objects::StringList>(value)) setting.push_back(sort_key_of(text));
}

void read(const Value& value, const rrule::Zone&, std::vector<KeysOfPlace>& setting) {
    for (const std::string& text : std::get<objects::StringList>(value)) {
        const objects::PlaceElement parts = objects::place_element(text);
        KeysOfPlace& place = setting.emplace_back();
        place.arrangement = arrangement_of(parts.place);
        for (const std::string& key : parts.keys) place.keys.push_back(sort_key_of(key));
    }
}

void read(const Value& value, const rrule::Zone&, std::vector<NamedWeight>& setting) {
    for (const std::string& text : std::get<objects::StringList>(value)) {
        const std::size_t equals = text.find('=');
        setting.push_back({text.substr(0, equals), values::parse_real(text.substr(equals + 1)).value_or(0)});
    }
}

void read(const Value& value, const rrule::Zone&, std::vector<LoadThreshold>& setting) {
    for (const std::string& text : std::get<objects::StringList>(value)) {
        const objects::LoadElement parts = objects::load_element(text);
        setting.push_back({std::string(parts.queue), std::string(parts.name), parts.how,
                           values::parse_real(parts.number).value_or(0)});
    }
}

void read(const Value& value, const rrule::Zone&, std::vector<OwnerWeight>& setting) {
    for (const std::string& text : std::get<objects::StringList>(value)) {
        const objects::OwnerElement parts = objects::owner_element(text);
        setting.push_back({static_cast<OwnerKind>(objects::kOwnerLetters.find(parts.letter)),
                           std::string(parts.name), values::parse_real(parts.weight).value_or(0)});
    }
}

void read(const Value& value, const rrule::Zone&, PreemptPriorities& setting) {
    static constexpr std::pair<std::string_view, PreemptTrait> kTraits[] = {
        {"normal_jobs", preempt_normal},
        {"fairshare", preempt_fairshare},
        {"queue_softlimits", preempt_queue_softlimits},
        {"server_softlimits", preempt_server_softlimits},
        {"express_queue", preempt_express},
        {"starving_jobs", preempt_starving}};
    for (const std::string_view level : values::split_trimmed(std::get<std::string>(value), ',')) {
        unsigned traits = 0;
        for (const std::string_view word : values::split_trimmed(level, '+'))
            for (const auto& [name, trait] : kTraits)
                if (word == name) traits |= trait;
        setting.add(traits);
    }
}

// Reads "SCR 70 SC 30 S": an order, followed by percentages, each with the order for jobs that have at most
// this part of their walltime left.
void read(const Value& value, const rrule::Zone&, PreemptOrder& setting) {
    int percent = 100;
    for (const std::string_view word : values::words(std::get<std::string>(value))) {
        if (std::isdigit(static_cast<unsigned char>(word.front())) == 0)
            setting.steps.push_back({percent, std::string(word)});
        else
            std::from_chars(word.data(), word.data() + word.size(), percent);
    }
}

void read(const Value& value, const rrule::Zone&, Algorithm& setting) {
    setting = std::get<std::string>(value) == "origin" ? Algorithm::origin : Algorithm::standard;
}

void read(const Value& value, const rrule::Zone&, PastUsageCharge& setting) {
    setting = std::get<std::string>(value) == "flat" ? PastUsageCharge::flat : PastUsageCharge::node_hours;
}

void read(const Value& value, const rrule::Zone&, ChunkOrder& setting) {
    setting = chunk_order_of(std::get<std::string>(value)).value_or(ChunkOrder::fill);
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

// Adds the next lower level. Levels are as in OpenPBS's scheduler, which adds the priority of an express
// queue to its level.
void PreemptPriorities::add(unsigned traits) {
    constexpr std::int64_t kHighest = 100'000;
    constexpr std::int64_t kStep = 1'000;
    if (list_.empty()) next_ = kHighest;
    next_ -= kStep;
    const auto more = [&](const Element& element) {
        return std::popcount(element.traits) >= std::popcount(traits);
    };
    list_.insert(std::ranges::find_if_not(list_, more), {traits, next_});
}

std::int64_t PreemptPriorities::level(unsigned traits, std::int32_t queue_priority) const {
    if (traits == 0) traits = preempt_normal;
    for (const Element& element : list_)
        if ((traits & element.traits) == element.traits)
            return element.level + ((element.traits & preempt_express) != 0 ? queue_priority : 0);
    return traits == preempt_normal ? 0 : level(preempt_normal, 0);
}

bool PreemptPriorities::names(PreemptTrait trait) const {
    return std::ranges::any_of(list_, [&](const Element& element) { return (element.traits & trait) != 0; });
}

std::string_view PreemptOrder::methods(Seconds walltime, Seconds elapsed) const {
    if (steps.empty()) return {};
    if (walltime <= Seconds(0) || steps.size() == 1) return steps.front().methods;
    // A job that has overrun its walltime counts as having 1 % left, because no step would match less than 0.
    const double used = 100.0 * static_cast<double>(elapsed.count()) / static_cast<double>(walltime.count());
    const int left = used > 100 ? 1 : static_cast<int>(100 - used);
    const Step* found = &steps.front();
    for (const Step& step : steps)
        if (left <= step.percent) found = &step;
    return found->methods;
}

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

std::optional<Instant> Settings::end_of_enforced_prime(Instant t) const {
    return enforce_prime_time.holds(t) && prime.contains(t) ? prime.next_change(t) : std::nullopt;
}

bool Settings::orders_by_load() const {
    const auto by_load = [](const std::vector<SortKey>& keys) {
        return std::ranges::find(keys, "load_formula", &SortKey::name) != keys.end();
    };
    return !load_formula.empty() &&
           (by_load(node_sort_key) ||
            std::ranges::any_of(node_sort_key_of_place, by_load, &KeysOfPlace::keys));
}

Settings::Settings() {
    static const Settings unset(Object(objects::ObjectType::policy, {}), rrule::Zone::utc());
    *this = unset;
}

void Settings::read_together(const Object& policy) {
    // DEDICATED_TIME_COMMAND is run only if ENFORCE_DEDICATED_TIME is set. Otherwise only the time_windows of
    // type dedicated count.
    if (!policy.is_set("enforce_dedicated_time")) {
        enforce_dedicated_time = {true};
        dedicated_time_command.clear();
        dedicated_time_cache_secs = 0;
        system_name.clear();
    }
    if (policy.is_set("target_load_pct") || policy.is_set("target_load_variance"))
        max_load_percent = policy.integer("target_load_pct") + policy.variance("target_load_variance").above;
    max_range_chunks = std::min<std::int64_t>(max_range_chunks, objects::kMostRangeChunks);
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
    // With the standard algorithm the time_windows of type dedicated always count.
    settings.enforce_dedicated_time = unset.enforce_dedicated_time;
    settings.max_load_percent = 0;
}

}  // namespace pbs::sched
