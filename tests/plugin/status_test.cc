// Tests the plugin's encodings of objects, which are computed once and kept. They agree with the objects
// after any change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "objects/schema.h"
#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {

using testing::ElementsAre;

class Status : public testing::Test {
  protected:
    void SetUp() override { host_.bring_up(); }

    // Returns an object's kept attributes. Compares them with the same attributes requested one by one, for
    // which nothing is kept.
    std::map<std::string, std::string> shown(const std::string& name, int32_t type = PBS_OBJ_POLICY) {
        const Answer whole = host_.status(type, name);
        if (whole.objects.size() != 1) {
            ADD_FAILURE() << name << ": " << whole.objects.size() << " objects, error " << whole.code;
            return {};
        }
        EXPECT_EQ(whole.objects[0].type, type);
        EXPECT_EQ(whole.objects[0].name, name);
        std::map<std::string, std::string> single;
        for (const objects::Attribute& row : objects::attributes(static_cast<objects::ObjectType>(type))) {
            const std::string attribute(row.name);
            const Answer one = host_.status(type, name, {attribute});
            if (!one.objects.at(0).attributes.empty()) single[attribute] = one.value(attribute);
        }
        EXPECT_EQ(whole.objects[0].attributes, single);
        return whole.objects[0].attributes;
    }
    std::vector<std::string> names() {
        std::vector<std::string> result;
        for (const Answer::Object& object : host_.status(PBS_OBJ_POLICY, "").objects)
            result.push_back(object.name);
        return result;
    }
    // Returns an attribute of a policy, from the list of all policies.
    std::string listed(const std::string& name, const std::string& attribute) {
        for (const Answer::Object& object : host_.status(PBS_OBJ_POLICY, "").objects) {
            const auto found = object.attributes.find(attribute);
            if (object.name == name) return found == object.attributes.end() ? "(none)" : found->second;
        }
        return "(no policy)";
    }
    void create(const std::string& name, const std::vector<Change>& changes = {}) {
        ASSERT_EQ(host_.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, name, changes).code, 0);
    }

    FakeHost host_;
};

TEST_F(Status, IsTheSameWhenAskedAgain) {
    create("p1", {{"comment", "one"}, {"node_sort_key", "ncpus LOW"}});
    const auto first = shown("p1");
    EXPECT_EQ(first.at("comment"), "one");
    EXPECT_EQ(first.at("by_queue"), "True");
    EXPECT_EQ(shown("p1"), first);
    EXPECT_EQ(host_.status(PBS_OBJ_POLICY, "").objects.back().attributes, first);
}

TEST_F(Status, FollowsEachChange) {
    create("p1", {{"comment", "one"}});
    create("p2", {{"comment", "other"}});
    EXPECT_EQ(shown("p1").at("comment"), "one");
    host_.set(PBS_OBJ_POLICY, "p1", "comment", "two");
    EXPECT_EQ(shown("p1").at("comment"), "two");
    EXPECT_EQ(listed("p1", "comment"), "two");
    EXPECT_EQ(listed("p2", "comment"), "other");
    host_.set(PBS_OBJ_POLICY, "p1", "exclude_resources", "mem");
    host_.set(PBS_OBJ_POLICY, "p1", "exclude_resources", "ncpus", PBS_OP_INCR);
    EXPECT_EQ(shown("p1").at("exclude_resources"), "mem,ncpus");
    host_.set(PBS_OBJ_POLICY, "p1", "exclude_resources", "mem", PBS_OP_DECR);
    EXPECT_EQ(shown("p1").at("exclude_resources"), "ncpus");
}

TEST_F(Status, ShowsTheDefaultAgainAfterAnUnset) {
    create("p1", {{"comment", "one"}, {"by_queue", "False"}});
    EXPECT_EQ(shown("p1").at("by_queue"), "False");
    ASSERT_EQ(host_.manager(PBS_CMD_UNSET, PBS_OBJ_POLICY, "p1", {{"by_queue", ""}, {"comment", ""}}).code,
              0);
    EXPECT_EQ(shown("p1").at("by_queue"), "True");
    EXPECT_EQ(shown("p1").count("comment"), 0U);
    EXPECT_EQ(listed("p1", "comment"), "(none)");
}

TEST_F(Status, ANewObjectHasNoAttributesOfADeletedOneOfItsName) {
    create("p1", {{"comment", "of the first"}});
    EXPECT_EQ(shown("p1").at("comment"), "of the first");
    ASSERT_EQ(host_.manager(PBS_CMD_DELETE, PBS_OBJ_POLICY, "p1").code, 0);
    EXPECT_EQ(host_.status(PBS_OBJ_POLICY, "p1").code, 15212);
    EXPECT_THAT(names(), ElementsAre("default_policy"));
    create("p1");
    EXPECT_EQ(shown("p1").count("comment"), 0U);
    EXPECT_EQ(listed("p1", "comment"), "(none)");
}

TEST_F(Status, ARefusedChangeLeavesIt) {
    create("p1", {{"comment", "one"}});
    const auto before = shown("p1");
    EXPECT_NE(
        host_.manager(PBS_CMD_SET, PBS_OBJ_POLICY, "p1", {{"comment", "two"}, {"by_queue", "maybe"}}).code,
        0);
    EXPECT_EQ(shown("p1"), before);
}

TEST_F(Status, TypesAreApart) {
    create("same", {{"comment", "a policy"}});
    ASSERT_EQ(host_.manager(PBS_CMD_CREATE, PBS_OBJ_FS_GROUP, "same", {{"comment", "a group"}}).code, 0);
    ASSERT_EQ(host_
                  .manager(PBS_CMD_CREATE, PBS_OBJ_TIME_WINDOW, "same",
                           {{"rrule", "FREQ=DAILY"}, {"start_time", "0800"}, {"end_time", "17:00"}})
                  .code,
              0);
    EXPECT_EQ(shown("same").at("comment"), "a policy");
    EXPECT_EQ(shown("same", PBS_OBJ_FS_GROUP).at("comment"), "a group");
    EXPECT_EQ(shown("same", PBS_OBJ_TIME_WINDOW).at("start_time"), "08:00:00");
}

TEST_F(Status, AllAreInTheOrderOfNamesBeforeAndAfterChanges) {
    for (const char* name : {"m", "b", "z"}) create(name);
    EXPECT_THAT(names(), ElementsAre("b", "default_policy", "m", "z"));
    create("c");
    host_.set(PBS_OBJ_POLICY, "z", "comment", "last");
    ASSERT_EQ(host_.manager(PBS_CMD_DELETE, PBS_OBJ_POLICY, "m").code, 0);
    EXPECT_THAT(names(), ElementsAre("b", "c", "default_policy", "z"));
}

TEST_F(Status, IsTheSameForAHostThatTakesAttributesOnly) {
    create("p1", {{"comment", "one"}, {"node_sort_key", "ncpus LOW"}});
    const auto encoded = shown("p1");
    host_.host.reply_encoded = nullptr;
    EXPECT_EQ(shown("p1"), encoded);
    EXPECT_THAT(names(), ElementsAre("default_policy", "p1"));
    EXPECT_EQ(host_.status(PBS_OBJ_POLICY, "nobody").code, 15212);
}

// A page has a limited number of objects. The next page begins behind the last name, even if objects were
// created or deleted meanwhile.
TEST_F(Status, AllObjectsOfATypeComeInPages) {
    std::string policies;
    for (int i = 100; i < 550; ++i) policies += (i == 100 ? "\"p" : ", \"p") + std::to_string(i) + "\": {}";
    ASSERT_EQ(host_
                  .manager(PBS_CMD_SET, PBS_OBJ_CONFIGURATION, "",
                           {{"import", R"({"format": 1, "policy": {)" + policies + "}}"}})
                  .code,
              0);
    const auto page = [this](const std::string& after) {
        const std::string extend = "after=" + after;
        pbs_status_request request{};
        request.size = sizeof request;
        request.now = host_.now;
        request.object_type = PBS_OBJ_POLICY;
        request.who = host_.who;
        request.extend = {extend.data(), extend.size()};
        return host_.status(request);
    };
    const Answer first = page("");
    ASSERT_EQ(first.objects.size(), 200U);
    EXPECT_EQ(first.objects.front().name, "default_policy");
    EXPECT_EQ(first.objects.back().name, "p298");
    EXPECT_EQ(first.attributes.at("after"), "p298");
    host_.manager(PBS_CMD_DELETE, PBS_OBJ_POLICY, "p298");
    host_.manager(PBS_CMD_DELETE, PBS_OBJ_POLICY, "p299");
    const Answer second = page("p298");
    EXPECT_EQ(second.objects.front().name, "p300");
    EXPECT_EQ(second.attributes.at("after"), "p499");
    const Answer last = page("p499");
    EXPECT_EQ(last.objects.size(), 50U);
    EXPECT_EQ(last.attributes.count("after"), 0U);
    EXPECT_TRUE(page("z").objects.empty());
}

TEST_F(Status, AQuotaIsInForceWhereThePolicyInForceNamesIt) {
    const auto in_force = [&](const char* name) {
        const auto whole = shown(name, PBS_OBJ_QUOTA);  // also compares with the attribute asked for alone
        const auto found = whole.find("in_force");
        return found == whole.end() ? std::string("-") : found->second;
    };
    for (const char* quota : {"q1", "q2"})
        ASSERT_EQ(host_.manager(PBS_CMD_CREATE, PBS_OBJ_QUOTA, quota, {{"enabled", "True"}}).code, 0);
    create("p1", {{"quotas", "q1,q2"}});
    create("p2", {{"quotas", "q2"}});
    EXPECT_EQ(in_force("q1"), "-");
    ASSERT_EQ(host_.set(PBS_OBJ_SCHED, "default", "policy", "p1").code, 0);
    EXPECT_EQ(in_force("q1"), "default");
    EXPECT_EQ(in_force("q2"), "default");
    ASSERT_EQ(host_.set(PBS_OBJ_SCHED, "default", "policy", "p2").code, 0);
    EXPECT_EQ(in_force("q1"), "-");
    EXPECT_EQ(in_force("q2"), "default");
    for (const Answer::Object& quota : host_.status(PBS_OBJ_QUOTA, "").objects)
        EXPECT_EQ(quota.attributes.contains("in_force"), quota.name == "q2");
    EXPECT_EQ(host_.set(PBS_OBJ_QUOTA, "q1", "in_force", "default").code, 15003);
}

}  // namespace
}  // namespace pbs::plugin_test
