// Tests that each policy attribute either has an effect, or setting it gives a warning.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "objects/schema.h"
#include "objects/snapshot.h"
#include "objects/unsupported.h"
#include "server_plugin/scheduler/model/settings.h"
#include "tests/scheduler/other_value.h"

namespace pbs::sched {
namespace {
namespace fs = std::filesystem;

using objects::Attribute;
using objects::ObjectType;

// Returns the text of the scheduler's and the plugin's sources.
std::string sources() {
    std::ostringstream text;
    for (const char* folder : {"scheduler", "plugin"}) {
        for (const auto& entry :
             fs::recursive_directory_iterator(fs::path(PBS_SOURCE_DIR) / "server_plugin" / folder)) {
            const fs::path& file = entry.path();
            const bool code = file.extension() == ".cc" || file.extension() == ".h";
            if (code) text << std::ifstream(file).rdbuf();
        }
    }
    // the settings of prime time of an Origin policy are read in objects/windows.cc
    text << std::ifstream(fs::path(PBS_SOURCE_DIR) / "objects" / "windows.cc").rdbuf();
    return text.str();
}

// Returns the names of attributes that appear in the sources in quotation marks, and the attributes whose
// settings the sources use as members.
std::set<std::string> names_read() {
    static const std::regex name(R"re(("|\.|->)([a-z_]+)\b)re");
    std::set<std::string> settings;
    const Settings unset;
    for_each_setting(unset, [&](objects::PolicyAttribute place, const auto&) {
        settings.emplace(objects::attribute_of(place).name);
    });
    const std::string code = sources();
    std::set<std::string> names;
    for (std::sregex_iterator found(code.begin(), code.end(), name), end; found != end; ++found)
        if ((*found)[1] == "\"" || settings.contains((*found)[2])) names.insert((*found)[2]);
    return names;
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

TEST(Unsupported, EveryAttributeOfAPolicyIsReadOrTold) {
    const auto names = names_read();
    for (const Attribute& attribute : objects::attributes(ObjectType::policy)) {
        // `comment` never has an effect; the plugin reads fairshare_group for other warnings, too
        if (attribute.name == "comment" || attribute.name == "fairshare_group") continue;
        if (attribute.words.size() == 1) continue;  // the attribute's only valid value is its default
        if (attribute.name == "provision_policy") continue;  // its other words need a server that provisions
        if (attribute.name == "peer_queue") continue;        // the server uses it, or warns about it
        const bool read = names.contains(std::string(attribute.name));
        const std::string value = other_value(attribute);
        const auto lines = told(attribute, value);
        EXPECT_NE(read, !lines.empty() && lines.front().find(std::string(attribute.name) +
                                                             " has no effect:") != std::string::npos)
            << attribute.name << " = " << value << " is "
            << (read ? "read and told of" : "neither read nor told of");
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
