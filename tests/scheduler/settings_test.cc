// Reads each policy attribute into its setting. A new setting needs only its row in the table of policy
// attributes.
#include "server_plugin/scheduler/model/settings.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "objects/schema.h"
#include "objects/snapshot.h"
#include "objects/unsupported.h"
#include "objects/value.h"
#include "tests/scheduler/other_value.h"

namespace pbs::sched {
namespace {

using objects::ActsWith;
using objects::Attribute;
using objects::Object;
using objects::ObjectType;
using objects::PolicyAttribute;

// Number of rows of policy_attributes.def that define settings, and number of its other rows.
// NOLINTBEGIN(bugprone-macro-parentheses): these are summands
constexpr int kSettingRows = 0
#define SETTING(...) +1
#include "objects/policy_attributes.def"
    ;
constexpr int kOtherRows = 0
#define SETTING(...)
#define ATTRIBUTE(...) +1
#include "objects/policy_attributes.def"
    ;
// NOLINTEND(bugprone-macro-parentheses)

std::string text(const Since& since) {
    return since.from ? fmt::format("from {}", since.from->time_since_epoch().count())
                      : fmt::format("{}", since.value);
}
std::string text(const std::vector<QueueSpec>& queues) {
    std::string all;
    for (const QueueSpec& queue : queues) all += fmt::format("{}@{},", queue.queue, queue.host);
    return all;
}
std::string text(const std::vector<SortKey>& keys) {
    std::string all;
    for (const SortKey& key : keys) all += fmt::format("{} {},", key.name, key.high_first);
    return all;
}
std::string text(const std::vector<KeysOfPlace>& places) {
    std::string all;
    for (const KeysOfPlace& place : places)
        all += fmt::format("{}: {};", place.arrangement ? static_cast<int>(*place.arrangement) : -1,
                           text(place.keys));
    return all;
}
std::string text(const std::vector<NamedWeight>& weights) {
    std::string all;
    for (const NamedWeight& weight : weights) all += fmt::format("{}={},", weight.name, weight.weight);
    return all;
}
std::string text(const std::vector<LoadThreshold>& thresholds) {
    std::string all;
    for (const LoadThreshold& one : thresholds)
        all += fmt::format("{}:{} {} {},", one.queue, one.name, static_cast<int>(one.how), one.number);
    return all;
}
std::string text(const std::vector<OwnerWeight>& weights) {
    std::string all;
    for (const OwnerWeight& weight : weights)
        all += fmt::format("[{}:{}={}],", static_cast<int>(weight.kind), weight.name, weight.weight);
    return all;
}
std::string text(const PreemptPriorities& levels) {
    std::string all;
    for (unsigned traits = 1; traits < 64; ++traits) all += fmt::format("{},", levels.level(traits, 1));
    return all;
}
std::string text(const PreemptOrder& order) {
    std::string all;
    for (const PreemptOrder::Step& step : order.steps)
        all += fmt::format("{} {},", step.percent, step.methods);
    return all;
}
std::string text(const std::optional<double>& number) {
    return number ? fmt::format("{}", *number) : "none";
}
std::string text(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) all += word + ",";
    return all;
}
template <class T>
std::string text(const T& value) {
    if constexpr (std::is_enum_v<T>)
        return fmt::format("{}", static_cast<int>(value));
    else
        return fmt::format("{}", value);
}

// Returns the settings as text, by attribute.
std::map<std::string_view, std::string> texts(const Settings& settings) {
    std::map<std::string_view, std::string> all;
    for_each_setting(settings, [&](PolicyAttribute place, const auto& setting) {
        all.emplace(objects::attribute_of(place).name, text(setting));
    });
    return all;
}

Object everything_set() {
    Object policy(ObjectType::policy, "p1");
    for (const Attribute& attribute : objects::attributes(ObjectType::policy))
        policy.assign(attribute, objects::parse_value(attribute, other_value(attribute)).value());
    return policy;
}

TEST(Settings, EachRowIsAnAttributeAndThoseOfSettingsAreMembers) {
    EXPECT_EQ(objects::attributes(ObjectType::policy).size(), std::size_t{kSettingRows + kOtherRows});
    EXPECT_EQ(texts(Settings()).size(), std::size_t{kSettingRows});
    EXPECT_EQ(objects::attribute_of(PolicyAttribute::strict_ordering).name, "strict_ordering");
    EXPECT_EQ(objects::attribute_of(PolicyAttribute::fake_machine_mult).name, "fake_machine_mult");
}

// Returns a value of the attribute that changes its setting. `unset` is the setting's text without a value.
std::string value_that_is_not(const Attribute& attribute, const std::string& unset) {
    if (attribute.name == "algorithm") return "origin";  // `external` is scheduled as standard
    const std::string value = other_value(attribute);
    return unset == "true" ? "False" : value == unset ? "0" : value;
}

TEST(Settings, EachMemberIsReadFromItsAttributeAndNoOther) {
    const auto unset = texts(Settings());
    for (const auto& [name, before] : unset) {
        const Attribute& attribute = *objects::find_attribute(ObjectType::policy, name);
        Object policy(ObjectType::policy, "p1");
        // the attributes for the command of dedicated time have an effect only with enforce_dedicated_time
        policy.assign(*objects::find_attribute(ObjectType::policy, "enforce_dedicated_time"),
                      objects::BooleanOrDate{true, {}});
        const std::string value = value_that_is_not(attribute, before);
        policy.assign(attribute, objects::parse_value(attribute, value).value());
        for (const auto& [other, after] : texts(Settings(policy, rrule::Zone::utc()))) {
            if (other == name) {
                EXPECT_NE(after, before) << name << " = " << value;
            } else {
                EXPECT_EQ(after, unset.at(other)) << other << " by " << name;
            }
        }
    }
}

// Databases of earlier releases may have a larger one.
TEST(Settings, AMaxRangeChunksIsAtMost20000) {
    const auto of = [](std::int64_t chunks) {
        Object policy(ObjectType::policy, "p1");
        policy.assign(*objects::find_attribute(ObjectType::policy, "max_range_chunks"), chunks);
        return Settings(policy, rrule::Zone::utc()).max_range_chunks;
    };
    EXPECT_EQ(of(50'000), 20'000);
    EXPECT_EQ(of(20'000), 20'000);
    EXPECT_EQ(of(64), 64);
}

TEST(Settings, WithoutAnAttributeSetTheMemberIsTheDefaultOfTheRow) {
    const auto unset = texts(Settings());
    for (const auto& [name, value] : unset) {
        const Attribute& attribute = *objects::find_attribute(ObjectType::policy, name);
        if (attribute.default_value.empty()) continue;
        Object policy(ObjectType::policy, "p1");
        policy.assign(attribute, objects::parse_value(attribute, attribute.default_value).value());
        EXPECT_EQ(texts(Settings(policy, rrule::Zone::utc())).at(name), value) << name;
    }
}

TEST(Settings, WhatTheOtherAlgorithmActsOnIsTakenOut) {
    const Settings all(everything_set(), rrule::Zone::utc());
    const auto unset = texts(Settings());
    for (const ActsWith own : {ActsWith::standard, ActsWith::origin}) {
        Settings settings = all;
        keep_own(settings, own);
        for (const auto& [name, after] : texts(settings)) {
            const ActsWith acts_with = objects::find_attribute(ObjectType::policy, name)->acts_with;
            if (acts_with == own || acts_with == ActsWith::both) {
                EXPECT_EQ(after, texts(all).at(name)) << name;
            } else if (name == "enforce_dedicated_time") {
                EXPECT_EQ(after, "true") << "the windows of type dedicated count for both";
            } else {
                EXPECT_TRUE(after == "false" || after == unset.at(name)) << name << ": " << after;
            }
        }
        EXPECT_EQ(settings.max_load_percent, own == ActsWith::origin ? 100 : 0);
        EXPECT_FALSE(own == ActsWith::origin ? settings.by_queue : settings.sort_by_past_usage.value);
    }
}

TEST(Settings, WhatOneAlgorithmActsOnIsToldWithTheOtherAndInTheManual) {
    for (const Attribute& attribute : objects::attributes(ObjectType::policy)) {
        const std::string remark = objects::unsupported_remark(ObjectType::policy, attribute.name);
        const auto says = [&](std::string_view words) { return remark.find(words) != std::string::npos; };
        EXPECT_EQ(says("Has an effect only with algorithm standard."),
                  attribute.acts_with == ActsWith::standard)
            << attribute.name;
        EXPECT_EQ(says("Has an effect only with algorithm origin."), attribute.acts_with == ActsWith::origin)
            << attribute.name;
        EXPECT_EQ(says("Has no effect: "), attribute.acts_with == ActsWith::neither) << attribute.name;
    }
}

}  // namespace
}  // namespace pbs::sched
