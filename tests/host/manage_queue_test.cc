// Tests execution_type of queues (OpenPBS's design document PP-748, interface 6), beside queue_type, whose
// values are Execution and Route.

#include "server_plugin/host/policy/plugin_records.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;

class ExecutionType : public ServerTest {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        make_queue("work");
    }
    ifl::Reply set_queue(const std::string& what, const std::string& value) {
        return manage(root(), PBS_CMD_SET, PBS_OBJ_QUEUE, "work", {attribute(what, value)});
    }
    int set_together(const std::string& type, const std::string& what, const std::string& value) {
        return manage(root(), PBS_CMD_SET, PBS_OBJ_QUEUE, "work",
                      {attribute("queue_type", type), attribute(what, value)})
            .code;
    }
    std::string queue(const std::string& what) { return shown(ifl::RequestType::status_queue, "work", what); }
    // Returns the execution type in the queue's record for the plugin.
    int32_t told() {
        RecordBuilder builder(server_->state);
        return builder.queue(*server_->state.queue("work")).execution_type;
    }
};

TEST_F(ExecutionType, IsNotShownUnlessSet) {
    EXPECT_EQ(queue("execution_type"), "");
    EXPECT_EQ(told(), PBS_EXECUTION_ANY);
    EXPECT_EQ(set_queue("execution_type", "execution").code, 0);
    EXPECT_EQ(queue("execution_type"), "execution");
    EXPECT_EQ(told(), PBS_EXECUTION_ANY);
}

TEST_F(ExecutionType, EachIsSetShownAndTold) {
    const std::pair<const char*, int> types[] = {{"execution_prime", PBS_EXECUTION_PRIME},
                                                 {"execution_non_prime", PBS_EXECUTION_NON_PRIME},
                                                 {"execution_dedicated", PBS_EXECUTION_DEDICATED}};
    for (const auto& [text, number] : types) {
        EXPECT_EQ(set_queue("execution_type", text).code, 0);
        EXPECT_EQ(queue("execution_type"), text);
        EXPECT_EQ(queue("queue_type"), "Execution");
        EXPECT_EQ(told(), number);
    }
    EXPECT_EQ(manage(root(), PBS_CMD_UNSET, PBS_OBJ_QUEUE, "work", {attribute("execution_type", "")}).code,
              0);
    EXPECT_EQ(queue("execution_type"), "");
    EXPECT_EQ(told(), PBS_EXECUTION_ANY);
}

TEST_F(ExecutionType, QueueTypeTakesTheWordsToo) {
    EXPECT_EQ(set_queue("queue_type", "Execution_Prime").code, 0);
    EXPECT_EQ(queue("queue_type"), "Execution");
    EXPECT_EQ(queue("execution_type"), "execution_prime");
    EXPECT_EQ(
        manage(root(), PBS_CMD_CREATE, PBS_OBJ_QUEUE, "ded", {attribute("queue_type", "execution_dedicated")})
            .code,
        0);
    EXPECT_EQ(shown(ifl::RequestType::status_queue, "ded", "execution_type"), "execution_dedicated");
}

TEST_F(ExecutionType, APlainQueueTypeUnsetsATime) {
    ASSERT_EQ(set_queue("execution_type", "execution").code, 0);
    ASSERT_EQ(set_queue("queue_type", "execution").code, 0);
    EXPECT_EQ(queue("execution_type"), "execution") << "it says no other thing";
    for (const char* plain : {"e", "Execution"}) {
        ASSERT_EQ(set_queue("execution_type", "execution_prime").code, 0);
        ASSERT_EQ(set_queue("Queue_Type", plain).code, 0);
        EXPECT_EQ(queue("execution_type"), "") << plain;
        EXPECT_EQ(told(), PBS_EXECUTION_ANY) << plain;
    }
    ASSERT_EQ(set_queue("execution_type", "execution_prime").code, 0);
    ASSERT_EQ(set_together("route", "route_destinations", "other"), 0);
    EXPECT_EQ(queue("queue_type"), "Route");
    EXPECT_EQ(queue("execution_type"), "");
    ASSERT_EQ(set_queue("execution_type", "route").code, 0);
    ASSERT_EQ(set_queue("queue_type", "e").code, 0);
    EXPECT_EQ(queue("execution_type"), "");
}

TEST_F(ExecutionType, OneRequestSaysOneThing) {
    ASSERT_EQ(set_together("execution", "execution_type", "execution_prime"), 0) << "a print's order";
    EXPECT_EQ(queue("execution_type"), "execution_prime");
    ASSERT_EQ(manage(root(), PBS_CMD_SET, PBS_OBJ_QUEUE, "work",
                     {attribute("execution_type", "execution_non_prime"), attribute("queue_type", "e")})
                  .code,
              0);
    EXPECT_EQ(queue("execution_type"), "execution_non_prime");
    EXPECT_EQ(set_together("Execution_Prime", "execution_type", "execution_prime"), 0);
    for (const char* other : {"execution_dedicated", "execution", "route"})
        EXPECT_EQ(set_together("execution_prime", "execution_type", other), PBSE_BADATVAL) << other;
    EXPECT_EQ(set_together("route", "execution_type", "execution_prime"), PBSE_BADATVAL);
    EXPECT_EQ(queue("queue_type"), "Execution");
    EXPECT_EQ(queue("execution_type"), "execution_prime") << "nothing half-done";
}

TEST_F(ExecutionType, APrintThatIsFedBackKeepsIt) {
    ASSERT_EQ(set_queue("execution_type", "execution_dedicated").code, 0);
    const ifl::Reply reply = ask(root(), ifl::RequestType::status_queue, ifl::Status{"work", {}});
    const ifl::Attributes printed = std::get<ifl::StatusReply>(reply.body).objects.at(0).attributes;
    for (const ifl::Attribute& one : printed)
        if (one.name == "queue_type" || one.name == "execution_type") {
            EXPECT_EQ(set_queue(one.name, one.value).code, 0);
        }
    EXPECT_EQ(queue("execution_type"), "execution_dedicated");
}

TEST_F(ExecutionType, OtherWordsAreRefusedWithWhatIsExpected) {
    const ifl::Reply reply = set_queue("execution_type", "prime");
    EXPECT_EQ(reply.code, PBSE_BADATVAL);
    EXPECT_THAT(std::get<ifl::TextReply>(reply.body).text,
                HasSubstr("\"prime\": expected execution, execution_prime, execution_non_prime, "
                          "execution_dedicated or route"));
    EXPECT_EQ(set_queue("queue_type", "execution_p").code, PBSE_BADATVAL);
    EXPECT_EQ(queue("execution_type"), "");
}

TEST_F(ExecutionType, FitsTheQueueType) {
    EXPECT_EQ(set_queue("execution_type", "route").code, PBSE_BADATVAL);
    ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_QUEUE, "router",
                     {attribute("queue_type", "route"), attribute("route_destinations", "work")})
                  .code,
              0);
    EXPECT_EQ(set(PBS_OBJ_QUEUE, "router", "execution_type", "execution_prime"), PBSE_BADATVAL);
    EXPECT_EQ(set(PBS_OBJ_QUEUE, "router", "execution_type", "route"), 0);
    ASSERT_EQ(set_queue("execution_type", "execution_prime").code, 0);
    EXPECT_EQ(set_queue("queue_type", "route").code, PBSE_QUENOEN) << "it is enabled";
}

TEST_F(ExecutionType, OutlivesARestart) {
    ASSERT_EQ(set_queue("execution_type", "execution_non_prime").code, 0);
    open_server();
    EXPECT_EQ(queue("execution_type"), "execution_non_prime");
    EXPECT_EQ(told(), PBS_EXECUTION_NON_PRIME);
}

using BusyQueue = ServerTest;

TEST_F(BusyQueue, NamesItsJobs) {
    make_queue("q");
    const std::string first = submit(user(), {}, "q");
    ifl::Reply reply = manage(root(), PBS_CMD_DELETE, PBS_OBJ_QUEUE, "q");
    EXPECT_EQ(reply.code, PBSE_OBJBUSY);
    EXPECT_EQ(std::get<ifl::TextReply>(reply.body).text,
              "Cannot delete busy object: queue q has 1 job: " + first);
    for (int i = 0; i < 6; ++i) submit(user(), {}, "q");
    reply = manage(root(), PBS_CMD_DELETE, PBS_OBJ_QUEUE, "q");
    EXPECT_THAT(std::get<ifl::TextReply>(reply.body).text,
                testing::AllOf(testing::HasSubstr("queue q has 7 jobs: " + first + ", "),
                               testing::EndsWith(" and 2 more")));
    reply = manage(root(), PBS_CMD_SET, PBS_OBJ_QUEUE, "q", {attribute("queue_type", "route")});
    EXPECT_EQ(reply.code, PBSE_OBJBUSY);
    EXPECT_THAT(std::get<ifl::TextReply>(reply.body).text, testing::HasSubstr("it has 7 jobs: " + first));
}

}  // namespace
}  // namespace pbs::host
