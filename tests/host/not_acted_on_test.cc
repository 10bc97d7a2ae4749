// Tests the warnings about attributes of the server, queues and nodes that have no effect. The reply to the
// request that sets such an attribute has the warning.
#include "server_plugin/host/requests/not_acted_on.h"

#include <fmt/format.h>

#include "tests/host/plugin_fixture.h"

namespace pbs::host {
namespace {

template <class Fixture>
class Warned : public Fixture {
  protected:
    using Fixture::attribute;
    using Fixture::manage;
    using Fixture::root;
    std::string said(int type, const std::string& name, ifl::Attributes attributes,
                     int command = PBS_CMD_SET) {
        const ifl::Reply reply = manage(root(), command, type, name, std::move(attributes));
        EXPECT_EQ(reply.code, 0);
        const auto* text = std::get_if<ifl::TextReply>(&reply.body);
        return text == nullptr ? std::string() : text->text;
    }
    std::string queue(const std::string& what, const std::string& value, const std::string& name = "work") {
        return said(PBS_OBJ_QUEUE, name, {attribute(what, value)});
    }
};

using NotActedOn = Warned<ServerTest>;
using NotActedOnByThePolicy = Warned<PluginServerTest>;

TEST_F(NotActedOn, AListWithoutItsSwitch) {
    make_queue("work");
    EXPECT_EQ(queue("acl_users", "mary@*"), "queue work: acl_users has no effect without acl_user_enable");
    EXPECT_EQ(queue("ACL_groups", "staff"), "queue work: acl_groups has no effect without acl_group_enable");
    EXPECT_EQ(
        said(PBS_OBJ_QUEUE, "work", {attribute("acl_users", "eve@*"), attribute("acl_user_enable", "True")}),
        "");
    EXPECT_EQ(queue("acl_users", "bob@*"), "");
    EXPECT_EQ(said(PBS_OBJ_QUEUE, "work", {attribute("acl_groups", "")}, PBS_CMD_UNSET), "");
    EXPECT_EQ(said(PBS_OBJ_SERVER, "", {attribute("acl_hosts", "h1")}),
              "server: acl_hosts has no effect without acl_host_enable");
    EXPECT_EQ(said(PBS_OBJ_SERVER, "", {attribute("job_history_duration", "1:00:00")}),
              "server: job_history_duration has no effect without job_history_enable");
    EXPECT_EQ(said(PBS_OBJ_SERVER, "", {attribute("job_history_enable", "True")}), "");
    EXPECT_EQ(said(PBS_OBJ_SERVER, "", {attribute("job_history_duration", "2:00:00")}), "");
}

TEST_F(NotActedOn, WhatIsOfTheOtherTypeOfQueue) {
    make_queue("work");
    EXPECT_EQ(queue("route_lifetime", "60"),
              "queue work: route_lifetime has no effect: it is for route queues");
    EXPECT_EQ(queue("max_running", "3"), "");
    EXPECT_EQ(said(PBS_OBJ_QUEUE, "r1", {attribute("queue_type", "route"), attribute("max_running", "3")},
                   PBS_CMD_CREATE),
              "queue r1: max_running has no effect: it is for execution queues");
    EXPECT_EQ(queue("kill_delay", "5", "r1"),
              "queue r1: kill_delay has no effect: it is for execution queues");
    EXPECT_EQ(queue("route_destinations", "work", "r1"), "");
    EXPECT_EQ(queue("max_queuable", "9", "r1"), "");
    EXPECT_EQ(said(PBS_OBJ_QUEUE, "q0", {attribute("max_running", "3")}, PBS_CMD_CREATE), "")
        << "it has no type yet";
}

TEST_F(NotActedOn, AFlagOfAResource) {
    const auto create = [&](const std::string& name, const std::string& flag) {
        return said(PBS_OBJ_RESOURCE, name, {attribute("type", "long"), attribute("flag", flag)},
                    PBS_CMD_CREATE);
    };
    EXPECT_EQ(create("licences", "hf"),
              "resource licences: flag f has no effect: every chunk takes of it, as with flag n");
    EXPECT_EQ(create("gpus", "hn"), "");
}

TEST_F(NotActedOnByThePolicy, WhatIsOfTheOtherAlgorithm) {
    constexpr const char* kPriority =
        "queue work: Priority has no effect with policy o1: it belongs to algorithm standard";
    constexpr const char* kDepth =
        "queue work: backfill_depth has no effect with policy o1: it belongs to algorithm standard";
    make_queue("work");
    EXPECT_EQ(queue("Priority", "5"), "");
    said(PBS_OBJ_POLICY, "o1", {attribute("algorithm", "origin")}, PBS_CMD_CREATE);
    said(PBS_OBJ_SCHED, "default", {attribute("policy", "o1")});
    EXPECT_EQ(queue("priority", "5"), kPriority) << "though nothing changes";
    EXPECT_EQ(queue("Priority", "0"), "");
    EXPECT_EQ(queue("max_running", "5"), "");
    EXPECT_EQ(said(PBS_OBJ_QUEUE, "work", {attribute("backfill_depth", "0"), attribute("Priority", "-1")}),
              fmt::format("{}\n{}", kPriority, kDepth));
    EXPECT_EQ(said(PBS_OBJ_QUEUE, "work", {attribute("Priority", "")}, PBS_CMD_UNSET), "");
    EXPECT_EQ(said(PBS_OBJ_QUEUE, "q2", {attribute("queue_type", "execution"), attribute("Priority", "7")},
                   PBS_CMD_CREATE),
              "queue q2: Priority has no effect with policy o1: it belongs to algorithm standard");
    EXPECT_EQ(said(PBS_OBJ_QUEUE, "r1", {attribute("queue_type", "route"), attribute("Priority", "7")},
                   PBS_CMD_CREATE),
              "queue r1: Priority has no effect: it is for execution queues");
}

}  // namespace
}  // namespace pbs::host
