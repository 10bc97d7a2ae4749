// Tests schedulers and partitions: create, set, unset, delete, and the checks that PBS makes of their
// attributes.

#include <sys/stat.h>

#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;

class Schedulers : public ServerTest {
  protected:
    int create(const std::string& name, ifl::Attributes attributes = {}) {
        return manage(root(), PBS_CMD_CREATE, PBS_OBJ_SCHED, name, std::move(attributes)).code;
    }
    int set_sched(const std::string& name, const std::string& what, const std::string& value) {
        return set(PBS_OBJ_SCHED, name, what, value);
    }
    int unset(const std::string& name, const std::string& what) {
        return manage(root(), PBS_CMD_UNSET, PBS_OBJ_SCHED, name, {attribute(what, "")}).code;
    }
    std::string sched(const std::string& name, const std::string& what) {
        return shown(ifl::RequestType::status_scheduler, name, what);
    }
};

TEST_F(Schedulers, ANewOneHasPbssDefaultsAndAFolder) {
    ASSERT_EQ(create("night"), 0);
    EXPECT_EQ(sched("night", "scheduling"), "False");
    EXPECT_EQ(sched("night", "scheduler_iteration"), "600");
    EXPECT_EQ(sched("night", "sched_priv"), folder_ + "/sched_priv_night");
    EXPECT_EQ(sched("night", "sched_log"), folder_ + "/sched_logs_night");
    struct stat status {};
    ASSERT_EQ(::stat((folder_ + "/sched_priv_night").c_str(), &status), 0);
    EXPECT_TRUE(S_ISDIR(status.st_mode));
    EXPECT_EQ(status.st_mode & 07777, 0750U);
}

TEST_F(Schedulers, AFolderThatIsThereIsTakenOver) {
    ASSERT_EQ(create("night"), 0);
    std::ofstream(folder_ + "/sched_priv_night/sched_config") << "round_robin: False ALL\n";
    ASSERT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_SCHED, "night").code, 0);
    EXPECT_EQ(create("night"), 0);
    EXPECT_TRUE(std::filesystem::exists(folder_ + "/sched_priv_night/sched_config"));
}

TEST_F(Schedulers, WithoutItsFolderThereIsNoScheduler) {
    std::ofstream(folder_ + "/sched_priv_night") << "a file\n";
    const ifl::Reply reply = manage(root(), PBS_CMD_CREATE, PBS_OBJ_SCHED, "night");
    EXPECT_EQ(reply.code, PBSE_SYSTEM);
    EXPECT_THAT(std::get<ifl::TextReply>(reply.body).text, HasSubstr(folder_ + "/sched_priv_night"));
    EXPECT_EQ(sched("night", "scheduling"), "error " + std::to_string(PBSE_UNKSCHED));
}

TEST_F(Schedulers, TheFolderOfTheRequestIsNotMade) {
    ASSERT_EQ(create("night", {attribute("sched_priv", folder_ + "/elsewhere")}), 0);
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/elsewhere"));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/sched_priv_night"));
}

// The server, which may run as root, reads and writes files in a scheduler's folders. So managers can't
// choose any folder.
TEST_F(Schedulers, FoldersElsewhereAreTheAdministratorsToChoose) {
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "managers", "mary@*"), 0);
    ASSERT_EQ(create("night"), 0);
    const auto reply = [&](const std::string& name, const std::string& value) {
        return manage(somebody("mary"), PBS_CMD_SET, PBS_OBJ_SCHED, "night", {attribute(name, value)});
    };
    for (const std::string& bad :
         {std::string("/etc"), folder_ + "/server_priv", folder_ + "/sched_priv_x/..", folder_,
          folder_ + "x/sched_priv", folder_ + "/sched_priv/output", folder_ + "/../sched_priv"}) {
        EXPECT_EQ(reply("sched_priv", bad).code, PBSE_PERM) << bad;
        EXPECT_EQ(reply("sched_log", bad).code, PBSE_PERM) << bad;
    }
    EXPECT_THAT(std::get<ifl::TextReply>(reply("sched_priv", "/etc").body).text,
                HasSubstr("Illegal sched_priv \"/etc\": expected a folder " + folder_ + "/sched_priv*"));
    EXPECT_EQ(reply("sched_priv", folder_ + "/sched_priv_2").code, 0);
    EXPECT_EQ(
        manage(somebody("mary"), PBS_CMD_CREATE, PBS_OBJ_SCHED, "day", {attribute("sched_priv", "/etc")})
            .code,
        PBSE_PERM);
    const ifl::Reply log = reply("sched_log", folder_ + "/sched_logs_2");
    EXPECT_EQ(log.code, 0);
    EXPECT_FALSE(std::holds_alternative<ifl::TextReply>(log.body)) << "no warning";
}

TEST_F(Schedulers, APartitionHasOneScheduler) {
    ASSERT_EQ(create("a", {attribute("partition", "p1")}), 0);
    ASSERT_EQ(create("b"), 0);
    EXPECT_EQ(set_sched("b", "partition", "p1"), PBSE_SCHED_PARTITION_ALREADY_EXISTS);
    EXPECT_EQ(create("c", {attribute("partition", "p1")}), PBSE_SCHED_PARTITION_ALREADY_EXISTS);
    EXPECT_EQ(set_sched("a", "partition", "p1"), 0) << "its own";
    EXPECT_EQ(set_sched("a", "partition", "p2"), 0);
    EXPECT_EQ(set_sched("b", "partition", "p1"), 0);
}

TEST_F(Schedulers, TheDefaultHasNoPartitionAndStays) {
    EXPECT_EQ(set_sched("default", "partition", "p1"), PBSE_SCHED_OP_NOT_PERMITTED);
    EXPECT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_SCHED, "default").code, PBSE_SCHED_NO_DEL);
}

TEST_F(Schedulers, TheNameOfTheDefaultsPartitionIsTaken) {
    ASSERT_EQ(create("a"), 0);
    make_queue("work");
    make_node("n1", "4");
    EXPECT_EQ(set_sched("a", "partition", "pbs-default"), PBSE_DEFAULT_PARTITION);
    EXPECT_EQ(set(PBS_OBJ_QUEUE, "work", "partition", "pbs-default"), PBSE_DEFAULT_PARTITION);
    EXPECT_EQ(set(PBS_OBJ_NODE, "n1", "partition", "pbs-default"), PBSE_DEFAULT_PARTITION);
}

TEST_F(Schedulers, FoldersAreNotShared) {
    ASSERT_EQ(create("a"), 0);
    ASSERT_EQ(create("b"), 0);
    EXPECT_EQ(set_sched("b", "sched_priv", folder_ + "/sched_priv_a"), PBSE_SCHED_PRIV_EXIST);
    EXPECT_EQ(set_sched("b", "sched_priv", folder_ + "/sched_priv"), PBSE_SCHED_PRIV_EXIST);
    EXPECT_EQ(set_sched("b", "sched_log", folder_ + "/sched_logs_a"), PBSE_SCHED_LOG_EXIST);
    EXPECT_EQ(set_sched("b", "sched_priv", "relative"), PBSE_BADATVAL);
}

TEST_F(Schedulers, UnsetGivesTheDefaultsBack) {
    ASSERT_EQ(create("a", {attribute("sched_priv", "/tmp/p"), attribute("sched_log", "/tmp/l"),
                           attribute("scheduling", "t"), attribute("scheduler_iteration", "5"),
                           attribute("partition", "p1"), attribute("comment", "hello")}),
              0);
    for (const char* name :
         {"sched_priv", "sched_log", "scheduling", "scheduler_iteration", "partition", "comment"})
        EXPECT_EQ(unset("a", name), 0) << name;
    EXPECT_EQ(sched("a", "sched_priv"), folder_ + "/sched_priv_a");
    EXPECT_EQ(sched("a", "sched_log"), folder_ + "/sched_logs_a");
    EXPECT_EQ(sched("a", "scheduling"), "False");
    EXPECT_EQ(sched("a", "scheduler_iteration"), "600");
    EXPECT_EQ(sched("a", "partition"), "");
    EXPECT_EQ(sched("a", "comment"), "");
    EXPECT_EQ(unset("default", "scheduler_iteration"), 0);
    EXPECT_EQ(shown(ifl::RequestType::status_server, "", "scheduler_iteration"), "600");
}

TEST_F(Schedulers, UnsetSchedulingIsOffOnTheServerAndTheDefault) {
    const auto both = [&] {
        return sched("default", "scheduling") + " " +
               shown(ifl::RequestType::status_server, "", "scheduling");
    };
    const auto server_off = [&] {
        return manage(root(), PBS_CMD_UNSET, PBS_OBJ_SERVER, "", {attribute("scheduling", "")}).code;
    };
    ASSERT_EQ(set_sched("default", "comment", "hello"), 0);
    EXPECT_EQ(both(), "True True") << "it is on until somebody says otherwise";
    ASSERT_EQ(unset("default", "scheduling"), 0);
    EXPECT_EQ(both(), "False False");
    ASSERT_EQ(set_sched("default", "scheduling", "True"), 0);
    EXPECT_EQ(both(), "True True");
    ASSERT_EQ(server_off(), 0);
    EXPECT_EQ(sched("default", "scheduling"), "False");
    EXPECT_EQ(server_->state_text(), "Idle");
}

TEST_F(Schedulers, StateIsWhatPbsCallsIt) {
    ASSERT_EQ(create("a", {attribute("scheduling", "t")}), 0);
    (void)server_->take_wanted_cycles();
    EXPECT_EQ(sched("a", "state"), "down") << "it has no partition";
    EXPECT_EQ(sched("default", "state"), "idle");
    server_->want_cycle(PBS_SCH_SCHEDULE_CMD, "default");
    EXPECT_EQ(sched("default", "state"), "scheduling");
    ASSERT_EQ(set_sched("a", "partition", "p1"), 0);
    (void)server_->take_wanted_cycles();
    EXPECT_EQ(sched("a", "state"), "idle");
}

TEST_F(Schedulers, NamesHaveAtMostFifteenCharacters) {
    EXPECT_EQ(create("abcdefghijklmno"), 0);
    EXPECT_EQ(create("abcdefghijklmnop"), PBSE_SCHED_NAME_BIG);
    EXPECT_EQ(create("1a"), PBSE_IVAL_OBJ_NAME);
    EXPECT_EQ(create("abcdefghijklmno"), PBSE_SCHEDEXIST);
}

TEST_F(Schedulers, OutliveARestart) {
    ASSERT_EQ(create("a", {attribute("partition", "p1"), attribute("scheduling", "t"),
                           attribute("scheduler_iteration", "5")}),
              0);
    open_server();
    EXPECT_EQ(sched("a", "partition"), "p1");
    EXPECT_EQ(sched("a", "scheduling"), "True");
    EXPECT_EQ(sched("a", "scheduler_iteration"), "5");
}

TEST_F(Schedulers, AVnodeOfAQueueIsInItsPartition) {
    make_queue("work", {attribute("partition", "p1")});
    make_node("n1", "4");
    ASSERT_EQ(set(PBS_OBJ_NODE, "n1", "queue", "work"), 0);
    EXPECT_EQ(set(PBS_OBJ_NODE, "n1", "partition", "p2"), PBSE_QUE_NOT_IN_PARTITION);
    EXPECT_EQ(set(PBS_OBJ_NODE, "n1", "partition", "p1"), 0);
    EXPECT_EQ(set(PBS_OBJ_QUEUE, "work", "partition", "p2"), PBSE_INVALID_PARTITION_QUE);
    make_node("n2", "4");
    ASSERT_EQ(set(PBS_OBJ_NODE, "n2", "partition", "p2"), 0);
    EXPECT_EQ(set(PBS_OBJ_NODE, "n2", "queue", "work"), PBSE_PARTITION_NOT_IN_QUE);
}

}  // namespace
}  // namespace pbs::host
