// Tests the server's diagnosis of its own work, and who may read it.
#include "server_plugin/host/requests/status_scheduler.h"

#include <gmock/gmock.h>

#include "server_plugin/host/cycle/cycle.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using ::testing::StartsWith;

class StatusDiagnosis : public ServerTest {
  protected:
    ifl::Reply part(const Identity& who, const std::string& name, const std::string& more = "") {
        return ask(who, ifl::RequestType::status_scheduler, ifl::Status{name, {}}, "object=diagnosis" + more);
    }
    std::string counter(const std::string& name) {
        return shown(ifl::RequestType::status_scheduler, "counters", name, "object=diagnosis");
    }
};

TEST_F(StatusDiagnosis, CountersAreForAllAndTheRestForOperators) {
    EXPECT_EQ(0, part(user(), "counters").code);
    for (const char* name : {"cycles", "requests", "users", "health"}) {
        EXPECT_EQ(PBSE_PERM, part(user(), name).code) << name;
        EXPECT_EQ(0, part(root(), name).code) << name;
    }
    ASSERT_EQ(0, set(PBS_OBJ_SERVER, "", "operators", user_ + "@*"));
    EXPECT_EQ(0, part(user(), "users").code);
}

TEST_F(StatusDiagnosis, APartThatThereIsNotIsNamed) {
    const ifl::Reply reply = part(root(), "weather");
    EXPECT_EQ(PBSE_IVALREQ, reply.code);
    EXPECT_THAT(std::get<ifl::TextReply>(reply.body).text,
                StartsWith("diagnosis of 'weather': expected counters, cycles"));
    EXPECT_EQ(PBSE_IVALREQ, part(root(), "counters", ";x=1").code);
}

TEST_F(StatusDiagnosis, JobsAndVnodesAreCountedAsTheyChange) {
    make_queue("batch");
    make_node("n1", "2");
    make_node("n2", "2");
    ASSERT_EQ(0, set(PBS_OBJ_SERVER, "", "default_queue", "batch"));
    ASSERT_EQ(0, set(PBS_OBJ_NODE, "n2", "state", "offline"));
    const std::string id = submit(user(), {});
    EXPECT_THAT(counter("queue.batch"), StartsWith("Transit:0 Queued:1 "));
    EXPECT_EQ("1", counter("vnodes.free"));
    EXPECT_EQ("1", counter("vnodes.offline"));
    ASSERT_EQ(0, manage(root(), PBS_CMD_DELETE, PBS_OBJ_NODE, "n2").code);
    EXPECT_EQ("", counter("vnodes.offline"));
    EXPECT_THAT(counter("waits"), StartsWith("0 0 "));
    ASSERT_EQ(0, ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0}).code);
    EXPECT_THAT(counter("waits"), StartsWith("1 "));
}

TEST_F(StatusDiagnosis, CyclesAndSlowRequests) {
    server_->counters.cycle_over({.sched = "default",
                                  .trigger = PBS_SCH_SCHEDULE_NEW,
                                  .began = 17,
                                  .deciding = std::chrono::milliseconds(40),
                                  .carrying = std::chrono::milliseconds(2),
                                  .considered = 9,
                                  .decisions = {3, 0, 0, 0, 0}});
    EXPECT_EQ("1 0.042 0 0 0 0 0 1 1 1 1 1 1 1", counter("cycles.new job"));
    EXPECT_EQ("3", counter("decisions.run"));
    const auto shown_of = [&](const std::string& name, const std::string& value) {
        return shown(ifl::RequestType::status_scheduler, name, value, "object=diagnosis");
    };
    EXPECT_EQ("40000", shown_of("cycles", "deciding_us"));
    EXPECT_EQ("9", shown_of("cycles", "considered"));
    for (const int took : {49, 50})
        server_->counters.request_answered({.type = ifl::RequestType::status_job,
                                            .who = "alice@here",
                                            .object = "12.svr",
                                            .at = 18,
                                            .took = std::chrono::milliseconds(took)},
                                           took == 49);
    EXPECT_EQ("50000", shown_of("requests", "took_us"));
    EXPECT_EQ(1U, std::get<ifl::StatusReply>(part(root(), "requests").body).objects.size());
    EXPECT_EQ("99000", shown_of("users", "took_us"));
    EXPECT_EQ("2", shown_of("users", "requests"));
    EXPECT_EQ("1", counter("requests_refused.StatusJob"));
}

TEST(HistogramTest, AnAmountAtABoundIsWithinIt) {
    constexpr std::array kBounds = {1.0, 2.0};
    Histogram histogram(kBounds);
    for (const double amount : {0.5, 1.0, 1.5, 3.0}) histogram.add(amount);
    EXPECT_EQ("4 6 2 3", histogram.text());
}

}  // namespace
}  // namespace pbs::host
