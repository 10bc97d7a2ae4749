// Tests requests about the whole configuration and its history, through the plugin's C interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_error.h"
#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

class Configuration : public ::testing::Test {
  protected:
    void SetUp() override { host.bring_up(); }

    Answer status(int32_t type, const std::string& extend) {
        pbs_status_request request{};
        request.size = sizeof request;
        request.now = host.now;
        request.object_type = type;
        request.who = host.who;
        request.extend = {extend.data(), extend.size()};
        return host.status(request);
    }
    Answer history(const std::string& extend = "") { return status(PBS_OBJ_HISTORY, extend); }
    std::string document(const std::string& extend = "") {
        return status(PBS_OBJ_CONFIGURATION, extend).value("json");
    }
    Answer set(const std::vector<Change>& changes, const std::string& object = "") {
        return host.manager(PBS_CMD_SET, PBS_OBJ_CONFIGURATION, object, changes);
    }

    FakeHost host;
};

TEST_F(Configuration, HistoryTellsWhoFromWhereWhenAndWhat) {
    host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1", {{"by_queue", "False"}});
    const Answer last = history("limit=1");
    ASSERT_EQ(last.objects.size(), 1U);
    EXPECT_EQ(last.objects[0].name, "3");
    EXPECT_THAT(last.objects[0].attributes,
                AllOf(Contains(Pair("command", "create policy p1 by_queue = False")),
                      Contains(Pair("time", std::to_string(host.now))), Contains(Pair("type", "policy")),
                      Contains(Pair("object", "p1")), Contains(Pair("before", "null")),
                      Contains(Pair("after", R"({"by_queue":"False"})")), Contains(Pair("change", "3"))));
    EXPECT_EQ(last.value("user"), std::string(host.who.user.ptr, host.who.user.len));
    EXPECT_EQ(last.value("host"), std::string(host.who.host.ptr, host.who.host.len));
}

// A client can get the host's objects at a revision page by page, or all at once.
TEST_F(Configuration, WhatTheHostHadComesInPages) {
    std::vector<std::string> names;
    names.reserve(1200);
    for (int i = 0; i < 1200; ++i) names.push_back("n" + std::to_string(i));
    const auto change = [&](const std::string& before, const std::string& after) {
        std::vector<pbs_host_change> changes;
        for (const std::string& name : names) {
            pbs_host_change one{};
            one.object_type = PBS_OBJ_NODE;
            one.name = {name.data(), name.size()};
            one.before = {before.data(), before.size()};
            one.after = {after.data(), after.size()};
            changes.push_back(one);
        }
        pbs_manager_request request{};
        request.size = sizeof request;
        request.now = host.now;
        request.command = PBS_CMD_SET;
        request.object_type = PBS_OBJ_NODE;
        request.object_name = changes.front().name;
        request.who = host.who;
        request.host_changes = changes.data();
        request.host_change_count = changes.size();
        ASSERT_EQ(host.manager(request).code, 0);
    };
    const std::string revision = history("limit=1").objects.back().name;
    change("null", R"({"comment":"a"})");
    change(R"({"comment":"a"})", R"({"comment":"b"})");
    const Answer whole = status(PBS_OBJ_CONFIGURATION, "part=host;revision=" + revision);
    EXPECT_EQ(whole.objects.size(), 1200U);
    EXPECT_EQ(whole.attributes.count("after"), 0U);
    std::map<std::string, std::string> first;
    std::string after;
    int pages = 0;
    do {
        Answer page = status(PBS_OBJ_CONFIGURATION, "part=host;revision=" + revision + ";after=" + after);
        ASSERT_EQ(page.code, 0) << page.text;
        EXPECT_LE(page.objects.size(), 500U);
        for (const Answer::Object& one : page.objects)
            first.emplace(one.name, one.attributes.at("attributes"));
        after = page.attributes["after"];
        ++pages;
    } while (!after.empty());
    EXPECT_EQ(pages, 5) << "2400 rows";
    EXPECT_EQ(first.size(), 1200U);
    EXPECT_THAT(first, ::testing::Each(Pair(::testing::_, "null")));
    EXPECT_EQ(status(PBS_OBJ_CONFIGURATION, "part=host;after=x").code, PBSE_BADATVAL);
}

// A reply has a limited number of rows. The next request asks for the rows before these.
TEST_F(Configuration, HistoryComesInPieces) {
    std::string windows = R"({"format": 1, "fs_group": {)";
    for (int i = 0; i < 1500; ++i) windows += (i == 0 ? "\"g" : ", \"g") + std::to_string(i) + "\": {}";
    ASSERT_EQ(set({{"import", windows + "}}"}}).code, 0);
    const Answer latest = history("limit=10000");
    ASSERT_EQ(latest.objects.size(), 1000U);
    EXPECT_EQ(latest.objects.back().name, "1502");
    const Answer rest = history("limit=10000;before_revision=" + latest.objects.front().name);
    ASSERT_EQ(rest.objects.size(), 502U);
    EXPECT_EQ(rest.objects.front().name, "1");
    EXPECT_EQ(history("before_revision=1").objects.size(), 0U);
}

TEST_F(Configuration, HistoryIsFiltered) {
    host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1");
    host.now += 10;
    host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p2");
    EXPECT_EQ(history("type=policy").objects.size(), 3U);
    EXPECT_EQ(history("type=policy;name=p1").objects.size(), 1U);
    EXPECT_EQ(history("from=" + std::to_string(host.now)).objects.size(), 1U);
    EXPECT_EQ(history("type=policy;until=" + std::to_string(host.now)).objects.size(), 2U);
    EXPECT_EQ(history("before_revision=2").objects.size(), 1U);
    for (const char* bad :
         {"limit=0", "limit=10001", "limit=x", "from=-1", "type=job", "name=p1", "color=red"}) {
        const Answer answer = history(bad);
        EXPECT_NE(answer.code, 0) << bad;
        EXPECT_NE(answer.text, "") << bad;
    }
}

TEST_F(Configuration, GoesBackAndTakesEffect) {
    const std::string before = document();
    host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1");
    host.set(PBS_OBJ_SCHED, "default", "policy", "p1");
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default"), Contains(Pair("active_policy", "p1")));
    const Answer checked = set({{"revision", "2"}, {"dry_run", "True"}});
    EXPECT_EQ(checked.code, 0) << checked.text;
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default"), Contains(Pair("active_policy", "p1")));
    const Answer done = set({{"revision", "2"}});
    EXPECT_EQ(done.code, 0) << done.text;
    EXPECT_EQ(done.warnings, checked.warnings);
    EXPECT_THAT(done.warnings, ElementsAre("sched default: policy = default_policy", "policy p1 is deleted"));
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default"),
                Contains(Pair("active_policy", "default_policy")));
    EXPECT_EQ(document(), before);
    EXPECT_THAT(document("revision=4"), HasSubstr("\"p1\""));
    EXPECT_THAT(history().objects.back().attributes,
                AllOf(Contains(Pair("command", "rollback to revision 2")), Contains(Pair("change", "5"))));
}

TEST_F(Configuration, OneObjectGoesBack) {
    host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1", {{"comment", "then"}});
    host.set(PBS_OBJ_POLICY, "p1", "comment", "now");
    EXPECT_EQ(set({{"revision", "3"}}, "policy p1").code, 0);
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "p1").value("comment"), "then");
    EXPECT_EQ(set({{"revision", "3"}}, "policy nobody").code, PBSE_POLICY_NOT_FOUND);
}

TEST_F(Configuration, SchedsAndQueuesOfTheHostAreImported) {
    host.queue(1, "here");
    const std::string text = R"({"format": 1, "time_window": {"t1": {"rrule": "FREQ=DAILY"}},
        "queue": {"here": {"time_window": ["t1"]}, "gone": {"time_window": ["t1"]}}})";
    const Answer done = set({{"import", text}});
    EXPECT_EQ(done.code, 0) << done.text;
    EXPECT_THAT(done.warnings, Contains("Warning: queue gone is left out: the server has no such queue"));
    EXPECT_THAT(document(), AllOf(HasSubstr("\"here\""), Not(HasSubstr("\"gone\""))));
}

TEST_F(Configuration, MistakesAreRefusedAsAWhole) {
    const std::string before = document();
    EXPECT_EQ(set({{"import", R"({"format": 1, "policy": {"p1": {}, "p2": {"by_queue": "x"}}})"}}).code,
              PBSE_BADATVAL);
    EXPECT_EQ(set({{"replace", R"({"format": 1})"}}).code, PBSE_IVALREQ);
    EXPECT_EQ(set({}).code, PBSE_IVALREQ);
    EXPECT_EQ(set({{"revision", "1"}, {"import", "{}"}}).code, PBSE_IVALREQ);
    EXPECT_EQ(set({{"revision", "x"}}).code, PBSE_BADATVAL);
    EXPECT_EQ(set({{"colour", "red"}}).code, PBSE_NOATTR);
    EXPECT_EQ(set({{"import", "{}"}}, "policy p1").code, PBSE_IVALREQ);
    EXPECT_EQ(set({{"revision", "1"}}, "job 1").code, PBSE_IVALREQ);
    EXPECT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_CONFIGURATION, "x", {{"revision", "1"}}).code,
              PBSE_IVALREQ);
    EXPECT_EQ(document(), before);
}

TEST_F(Configuration, OperatorsReadAndUsersDoNot) {
    host.who = operator_identity();
    EXPECT_EQ(history().code, 0);
    EXPECT_NE(document(), "(none)");
    EXPECT_EQ(set({{"revision", "2"}}).code, PBSE_PERM);
    host.who = user_identity();
    EXPECT_EQ(history().code, PBSE_PERM);
    EXPECT_EQ(status(PBS_OBJ_CONFIGURATION, "").code, PBSE_PERM);
    EXPECT_EQ(set({{"revision", "2"}}).code, PBSE_PERM);
}

}  // namespace
}  // namespace pbs::plugin_test
