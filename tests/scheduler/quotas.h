// Makes quotas for tests from the texts of rules that a manager types.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "objects/snapshot.h"
#include "server_plugin/scheduler/model/quota.h"

namespace pbs::sched::test {

struct QuotaOptions {
    std::string name = "q1";
    std::vector<std::pair<std::string, std::string>> rules;  // name and text of each rule
    std::string rule_order{};
    rrule::WindowSet windows{};
    bool spill = true;
    bool exempt_reservations = true;
};

// The options of the quotas that quota() has made.
using KnownQuotas = std::map<const Quota*, std::pair<std::weak_ptr<const Quota>, QuotaOptions>>;
inline KnownQuotas& known_quotas() {
    static KnownQuotas known;
    return known;
}

// Returns the options of a quota; null: quota() hasn't made it.
inline const QuotaOptions* options_of(const Quota& quota) {
    const auto found = known_quotas().find(&quota);
    return found == known_quotas().end() || found->second.first.expired() ? nullptr : &found->second.second;
}

inline std::shared_ptr<const Quota> quota(const QuotaOptions& options) {
    using objects::ObjectType;
    objects::Object object(ObjectType::quota, options.name);
    const auto set = [&](const char* name, const std::string& text) {
        const objects::Attribute& attribute = *objects::find_attribute(ObjectType::quota, name);
        auto value = objects::parse_value(attribute, text);
        ASSERT_TRUE(value) << value.error().message;
        object.assign(attribute, *std::move(value));
    };
    objects::StringList rules;
    for (const auto& [name, text] : options.rules) rules.push_back(name + ": " + text);
    const objects::Attribute& rule = *objects::find_attribute(ObjectType::quota, "rule");
    auto value = objects::value_of_items(rule, rules);
    EXPECT_TRUE(value) << value.error().message;
    if (value) object.assign(rule, *std::move(value));
    set("enabled", "True");
    set("spill", options.spill ? "True" : "False");
    set("exempt_reservations", options.exempt_reservations ? "True" : "False");
    if (!options.rule_order.empty()) set("rule_order", options.rule_order);
    if (!options.windows.empty()) set("time_window", "w");
    auto made = std::make_shared<const Quota>(object, options.windows);
    known_quotas()[made.get()] = {made, options};
    return made;
}

}  // namespace pbs::sched::test
