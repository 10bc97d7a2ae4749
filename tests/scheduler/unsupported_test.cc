// Tests that each policy attribute either has an effect, or setting it gives a warning.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "objects/schema.h"
#include "objects/snapshot.h"
#include "objects/unsupported.h"
#include "server_plugin/scheduler/model/settings.h"
#include "tests/scheduler/journal.h"
#include "tests/scheduler/other_value.h"

namespace pbs::sched {
namespace {

using objects::Attribute;
using objects::ObjectType;

// Returns the policy's settings as the scheduler has them, as text.
std::string settings_of(const objects::Object& policy) {
    Settings settings(policy, rrule::Zone::utc());
    keep_own(settings, settings.algorithm == Algorithm::origin ? objects::ActsWith::origin
                                                               : objects::ActsWith::standard);
    return fmt::format("{}max_load_percent = {}", test::text_of(settings), settings.max_load_percent);
}

// Returns whether the value changes the settings of a policy, with one of the two algorithms.
bool changes_settings(const Attribute& attribute, const std::string& value) {
    for (const char* algorithm : {"standard", "origin"}) {
        objects::Object policy(ObjectType::policy, "p1");
        policy.assign(*objects::find_attribute(ObjectType::policy, "algorithm"), std::string(algorithm));
        // Without enforce_dedicated_time, other attributes about dedicated time are ignored.
        if (const Attribute& first = *objects::find_attribute(ObjectType::policy, "enforce_dedicated_time");
            first.name != attribute.name)
            policy.assign(first, objects::parse_value(first, "True").value());
        const std::string before = settings_of(policy);
        policy.assign(attribute, objects::parse_value(attribute, value).value());
        if (settings_of(policy) != before) return true;
    }
    return false;
}

bool lacks_another(const std::string& line) {
    return line.find(" has no effect without ") != std::string::npos;
}

// Returns the warnings about the attribute in a policy that sets nothing else, with the algorithm that has
// the attribute, or with both.
std::vector<std::string> told(const Attribute& attribute, const std::string& value) {
    std::vector<std::string> lines;
    for (const char* algorithm : {"standard", "origin"}) {
        objects::Object policy(ObjectType::policy, "p1");
        policy.assign(*objects::find_attribute(ObjectType::policy, "algorithm"), std::string(algorithm));
        policy.assign(attribute, objects::parse_value(attribute, value).value());
        lines.clear();
        for (const objects::UnsupportedSetting& setting : objects::unsupported_settings(policy))
            if (setting.attribute == attribute.name) lines.push_back(setting.text);
        if (lines.empty() || lacks_another(lines.front())) break;
    }
    return lines;
}

// Attributes that act without being a part of Settings.
constexpr std::string_view kOutsideOfSettings[] = {
    "comment",                 // never has an effect
    "enforce_dedicated_time",  // makes others count (dedicated_time_test.cc)
    "external_program",        // decides who schedules, and warns without algorithm=external
    "peer_queue",              // the server uses it, or warns about it
    "prime_time_end",          // a time_window is made of both (origin_options_test.cc)
    "prime_time_start",
    "provision_policy",  // its other words need a server that provisions
    "quotas",            // read with the quotas that it names (quota_test.cc)
};

TEST(Unsupported, AnAttributeOfAPolicyEitherChangesSettingsOrIsToldToHaveNoEffect) {
    for (const Attribute& attribute : objects::attributes(ObjectType::policy)) {
        if (std::ranges::find(kOutsideOfSettings, attribute.name) != std::end(kOutsideOfSettings)) continue;
        if (attribute.words.size() == 1) continue;  // the attribute's only valid value is its default
        const std::string value = other_value(attribute);
        const auto lines = told(attribute, value);
        const bool changes = changes_settings(attribute, value);
        EXPECT_NE(changes, !lines.empty() && lines.front().find(std::string(attribute.name) +
                                                                " has no effect:") != std::string::npos)
            << attribute.name << " = " << value
            << (changes ? " changes settings, and is told to have no effect"
                        : " changes no settings, and isn't told to have no effect");
    }
}

TEST(Unsupported, DefaultsAreNotTold) {
    for (const Attribute& attribute : objects::attributes(ObjectType::policy)) {
        if (attribute.default_value.empty()) continue;
        const auto lines = told(attribute, std::string(attribute.default_value));
        EXPECT_TRUE(lines.empty() || lacks_another(lines.front())) << attribute.name;
    }
}

TEST(Unsupported, ZeroAsksForNothingWhereThereIsNoDefault) {
    EXPECT_TRUE(told(*objects::find_attribute(ObjectType::policy, "min_jobs"), "0").empty());
}

}  // namespace
}  // namespace pbs::sched
