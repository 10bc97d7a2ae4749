// Tests execution_type of queues. The plugin stores it for a host that has no such attribute. Other hosts
// store it themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/database.h"
#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

constexpr std::string_view kPrefixes = "primetime_prefix: p_\nnonprimetime_prefix: np_\n";

class QueueTypes : public ::testing::Test {
  protected:
    // Starts the plugin for the first time, with two queues.
    void start(uint32_t has_pbs_sched) {
        host.write("sched_priv/sched_config", kPrefixes);
        host.write("sched_priv/qmgr_print",
                   "create queue np_later\nset queue np_later queue_type = Execution\n");
        host.host.has_pbs_sched = has_pbs_sched;
        host.own_sched = has_pbs_sched;
        ASSERT_EQ(host.init(), 0) << host.error;
        host.introduce();
        host.queue(1, "p_short");
        host.queue(2, "work");
        ASSERT_EQ(host.start(), 0) << host.error;
        host.tick();
    }
    std::map<std::string, std::string> of(const std::string& queue) {
        return host.attributes_of(PBS_OBJ_QUEUE, queue);
    }
    bool owned() {
        const pbs_str name{"Execution_Type", 14};
        return host.plugin.owns_attribute(host.plugin.self, PBS_OBJ_QUEUE, name) != 0;
    }
    FakeHost host;
};

TEST_F(QueueTypes, AMigrationSetsThemWhereTheHostHasNone) {
    start(1);
    EXPECT_TRUE(owned());
    EXPECT_THAT(of("p_short"), Contains(Pair("execution_type", "execution_prime")));
    EXPECT_THAT(of("work"), Not(Contains(Key("execution_type"))));
    EXPECT_TRUE(host.logged("execution_type of queues is set as the legacy files say: p_short"));
    // A queue that the legacy files name is created later, and then gets its type.
    EXPECT_GT(host.next_deadline(), host.now);
    host.queue(3, "np_later");
    EXPECT_LE(host.next_deadline(), host.now);
    host.tick();
    EXPECT_THAT(of("np_later"), Contains(Pair("execution_type", "execution_non_prime")));
    // The type is set only once, so a manager's later setting stays.
    EXPECT_EQ(host.set(PBS_OBJ_QUEUE, "np_later", "execution_type", "execution_dedicated").code, 0);
    host.queue(4, "other");
    host.tick();
    EXPECT_THAT(of("np_later"), Contains(Pair("execution_type", "execution_dedicated")));
    EXPECT_THAT(host.set(PBS_OBJ_QUEUE, "work", "execution_type", "sometimes").text,
                HasSubstr("execution_non_prime"));
}

TEST_F(QueueTypes, AreTriedAgainAfterAFailure) {
    start(1);
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "blocker", {}).code, 0);
    host.stop();
    {
        auto database = objects::Database::open((host.home() / "server_priv/policy.db").string());
        ASSERT_TRUE(database) << database.error().message;
        const auto made = (*database)->run(
            "CREATE TRIGGER fails BEFORE INSERT ON attribute WHEN NEW.name = 'execution_type' AND EXISTS "
            "(SELECT 1 FROM object WHERE name = 'blocker') BEGIN SELECT RAISE(ABORT, 'no room'); END");
        ASSERT_TRUE(made) << made.error().message;
    }
    FakeHost again(host.home());
    again.host.has_pbs_sched = 1;
    again.own_sched = true;
    ASSERT_EQ(again.init(), 0) << again.error;
    again.introduce();
    again.queue(2, "work");
    ASSERT_EQ(again.start(), 0) << again.error;
    again.tick();
    again.queue(3, "np_later");
    again.tick();
    EXPECT_TRUE(again.logged("no room"));
    EXPECT_GT(again.next_deadline(), again.now) << "not at once";
    EXPECT_LE(again.next_deadline(), again.now + 60);
    ASSERT_EQ(again.manager(PBS_CMD_DELETE, PBS_OBJ_POLICY, "blocker", {}).code, 0);
    again.now += 60;
    again.tick();
    EXPECT_THAT(again.attributes_of(PBS_OBJ_QUEUE, "np_later"),
                Contains(Pair("execution_type", "execution_non_prime")));
}

TEST_F(QueueTypes, AHostThatKeepsThemIsLeftToIt) {
    start(0);
    EXPECT_FALSE(owned());
    EXPECT_THAT(of("p_short"), Not(Contains(Key("execution_type"))));
    // An imported document has the attribute in the host's section, which this host can't set.
    const Answer imported =
        host.set(PBS_OBJ_CONFIGURATION, "", "import",
                 R"({"format": 1, "queue": {"work": {"execution_type": "execution_prime"}}})");
    EXPECT_NE(imported.code, 0);
    EXPECT_THAT(imported.text, HasSubstr("the server keeps it itself"));
}

}  // namespace
}  // namespace pbs::plugin_test
