// Tests jobs that other servers hand in to this server, request by request.
#include "server_plugin/host/peers/arrival.h"

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/life/job_life.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using ifl::RequestType;
using ::testing::HasSubstr;

constexpr const char* kId = "5.other";

class Arrival : public ServerTest {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        make_queue("work");
        set(PBS_OBJ_SERVER, "", "default_queue", "work");
        set(PBS_OBJ_SERVER, "", "flatuid", "True");
        set(PBS_OBJ_SERVER, "", "managers", "root@other.example.org");
    }
    Identity sender() const { return somebody("root", "other.example.org"); }
    ifl::Reply queue(const std::string& id = kId, ifl::Attributes more = {}, std::string hops = "1") {
        ifl::Attributes attributes = {attribute("Job_Owner", user_ + "@other.example.org"),
                                      attribute("Job_Name", "sleeper"),
                                      attribute("hop_count", std::move(hops)),
                                      attribute("ctime", "1000"),
                                      attribute("Resource_List.ncpus", "1"),
                                      attribute("Variable_List", "PBS_O_QUEUE=far,PBS_O_WORKDIR=/tmp")};
        for (ifl::Attribute& one : more) attributes.push_back(std::move(one));
        return ask(sender(), RequestType::queue_job, ifl::QueueJob{id, "work", std::move(attributes)});
    }
    int commit(const std::string& id = kId) {
        if (const auto reply = ask(sender(), RequestType::job_script, ifl::JobScript{0, 0, id, "true\n"});
            reply.code != 0)
            return reply.code;
        return ask(sender(), RequestType::commit, ifl::JobId{id}).code;
    }
    static std::string text(const ifl::Reply& reply) {
        const auto* text = std::get_if<ifl::TextReply>(&reply.body);
        return text == nullptr ? "" : text->text;
    }
};

TEST_F(Arrival, AJobKeepsItsIdItsOwnerAndItsTimes) {
    ASSERT_EQ(queue().code, 0);
    ASSERT_EQ(commit(), 0);
    EXPECT_EQ(job_shows(kId, "Job_Owner"), user_ + "@other.example.org");
    EXPECT_EQ(job_shows(kId, "euser"), user_);
    EXPECT_EQ(job_shows(kId, "ctime"), "1000");
    EXPECT_EQ(job_shows(kId, "hop_count"), "2");
    EXPECT_EQ(job_shows(kId, "queue"), "work");
    EXPECT_THAT(job_shows(kId, "Variable_List"), HasSubstr("PBS_O_QUEUE=far"));
    // A job that is then submitted to this server gets the number that the arrived job has in its id.
    set(PBS_OBJ_SERVER, "", "max_job_sequence_id", "9999999");
    server_->state.next_sequence = 5;
    EXPECT_EQ(submit(user(), {}), "5.svr");
    EXPECT_EQ(server_->state.job("5")->id, "5.svr");
    EXPECT_EQ(server_->state.job("5.OTHER@svr")->number(), 5);
    open_server();
    EXPECT_EQ(job_shows(kId, "Job_Name"), "sleeper");
    EXPECT_EQ(job_shows("5.svr", "Job_Name"), "none");
    ASSERT_EQ(ask(root(), RequestType::delete_job, ifl::Manage{0, 0, kId, {}}).code, 0);
    EXPECT_EQ(job_shows(kId, "Job_Name"), "error " + std::to_string(PBSE_UNKJOBID));
}

TEST_F(Arrival, OnlyServersThatTheSiteNamesHandJobsIn) {
    for (const Identity& who :
         {user(), somebody("root", "elsewhere.example.org"), somebody(user_, "other.example.org")})
        EXPECT_EQ(ask(who, RequestType::queue_job,
                      ifl::QueueJob{kId, "work", {attribute("Job_Owner", user_ + "@other.example.org")}})
                      .code,
                  PBSE_IVALREQ)
            << who.at_host();
    ASSERT_EQ(queue().code, 0);
    set(PBS_OBJ_SERVER, "", "managers", "root@third.example.org");
    EXPECT_EQ(commit(), PBSE_IVALREQ) << "it was one, until now";
}

TEST_F(Arrival, TheOwnerIsNobodyHereWithoutASiteThatSaysSo) {
    set(PBS_OBJ_SERVER, "", "flatuid", "False");
    EXPECT_EQ(queue().code, PBSE_BADUSER);
    // The owner is refused, whichever host the other server names for the owner.
    EXPECT_EQ(ask(sender(), RequestType::queue_job,
                  ifl::QueueJob{kId, "work", {attribute("Job_Owner", user_ + "@host.example.org")}})
                  .code,
              PBSE_BADUSER);
    EXPECT_EQ(ask(sender(), RequestType::queue_job,
                  ifl::QueueJob{"7.svr", "work", {attribute("Job_Owner", user_ + "@host.example.org")}})
                  .code,
              PBSE_BADUSER)
        << "an id of this server is no better";
}

TEST_F(Arrival, NobodyRunsAsRootOrAsAnother) {
    set(PBS_OBJ_SERVER, "", "acl_roots", "root@other.example.org");
    const auto reply = ask(sender(), RequestType::queue_job,
                           ifl::QueueJob{kId, "work", {attribute("Job_Owner", "root@other.example.org")}});
    EXPECT_EQ(reply.code, PBSE_BADUSER);
    EXPECT_THAT(text(reply), HasSubstr("no job of another server is run as root"));
    EXPECT_EQ(queue(kId, {attribute("User_List", "root")}).code, PBSE_BADUSER);
    EXPECT_EQ(queue(kId, {attribute("User_List", "daemon")}).code, PBSE_BADUSER);
    EXPECT_EQ(
        ask(sender(), RequestType::queue_job,
            ifl::QueueJob{kId,
                          "work",
                          {attribute("Job_Owner", "root@host.example.org"), attribute("User_List", user_)}})
            .code,
        PBSE_BADUSER);
}

TEST_F(Arrival, WhatTheOtherServerWorkedOutIsWorkedOutAnew) {
    ASSERT_EQ(queue(kId, {attribute("euser", "root"), attribute("egroup", "root"), attribute("comment", "x"),
                          attribute("schedselect", "9:ncpus=9"), attribute("run_count", "7"),
                          attribute("foreign_id", "1.x"), attribute("substate", "42"),
                          attribute("something_else", "1"), attribute("sched_hint", "1"),
                          attribute("eligible_time", "00:10:00")})
                  .code,
              0);
    ASSERT_EQ(commit(), 0);
    EXPECT_EQ(job_shows(kId, "euser"), user_);
    EXPECT_EQ(job_shows(kId, "comment"), "");
    EXPECT_EQ(job_shows(kId, "run_count"), "");
    EXPECT_EQ(job_shows(kId, "substate"), "10");
}

TEST_F(Arrival, WhatCanOnlyRunOnItsServerIsRefused) {
    for (const auto& [name, value] :
         {std::pair("interactive", "1234"), std::pair("block", "1234"),
          std::pair("depend", "afterok:4.other"), std::pair("array_indices_submitted", "1-3"),
          std::pair("tolerate_node_failures", "all")})
        EXPECT_EQ(queue(kId, {attribute(name, value)}).code, PBSE_NOSUP) << name;
    EXPECT_EQ(queue(kId, {attribute("Resource_List.nothing", "1")}).code, PBSE_UNKRESC);
    EXPECT_EQ(queue(kId, {}, "10").code, PBSE_HOPCOUNT);
    set(PBS_OBJ_QUEUE, "work", "enabled", "False");
    EXPECT_EQ(queue().code, PBSE_QUNOENB);
}

TEST_F(Arrival, AnIdIsANumberAndTheNameOfAServer) {
    for (const char* id :
         {"x", "5", "5.", "5[].other", "5[1].other", "5.other/../x", "5.o ther", "5.other\n", "-5.other"})
        EXPECT_EQ(queue(id).code, PBSE_IVALREQ) << id;
    for (const char* owner : {"", "ann", "@h", "ann@", "a@b@c", "a b@c", "a,b@c", "a\n@c"})
        EXPECT_EQ(
            ask(sender(), RequestType::queue_job, ifl::QueueJob{kId, "work", {attribute("Job_Owner", owner)}})
                .code,
            PBSE_BADATVAL)
            << owner;
    EXPECT_EQ(ask(sender(), RequestType::queue_job, ifl::QueueJob{kId, "work", {}}).code, PBSE_BADATVAL);
}

TEST_F(Arrival, AJobThatHasComeIsNotTakenAgain) {
    ASSERT_EQ(queue().code, 0);
    ASSERT_EQ(commit(), 0);
    EXPECT_EQ(queue().code, PBSE_JOBEXIST);
    ASSERT_EQ(ask(root(), RequestType::delete_job, ifl::Manage{0, 0, kId, {}}).code, 0);
    EXPECT_EQ(queue().code, PBSE_JOBEXIST) << "it has been here";
    open_server();
    EXPECT_EQ(queue().code, PBSE_JOBEXIST);
    // Since then the job has gone to further servers (hop_count 3), and comes back.
    ASSERT_EQ(queue(kId, {}, "3").code, 0);
    EXPECT_EQ(commit(), 0);
    ASSERT_TRUE(store_->forget_received(server_->now() + 1));
    EXPECT_EQ(store_->received(kId), std::nullopt);
}

TEST_F(Arrival, AJobThatComesBackTakesThePlaceOfWhatIsKeptOfIt) {
    set(PBS_OBJ_SERVER, "", "job_history_enable", "True");
    ASSERT_EQ(queue().code, 0);
    ASSERT_EQ(commit(), 0);
    Change change(*server_, server_->now());
    Job& job = change.job(*server_->state.job(kId));
    advance(job, JobEvent::leaves, server_->state, server_->now(), "q@other");
    retire(change, job, JobEvent::moved);
    ASSERT_TRUE(change.commit());
    EXPECT_EQ(job_shows(kId, "job_state", "x"), "M");
    ASSERT_EQ(queue(kId, {}, "3").code, 0);
    ASSERT_EQ(commit(), 0);
    EXPECT_EQ(job_shows(kId, "job_state"), "Q");
    open_server();
    EXPECT_EQ(job_shows(kId, "job_state"), "Q");
    EXPECT_EQ(server_->state.jobs().size(), 1);
}

TEST_F(Arrival, ACommitOfAnEarlierConnectionComesToNothing) {
    ASSERT_EQ(queue().code, 0);
    ASSERT_EQ(ask(sender(), RequestType::job_script, ifl::JobScript{0, 0, kId, "true\n"}).code, 0);
    Session first = std::move(session_);
    session_ = {};
    ASSERT_EQ(queue().code, 0);
    std::swap(session_, first);
    EXPECT_EQ(ask(sender(), RequestType::commit, ifl::JobId{kId}).code, PBSE_IVALREQ);
    std::swap(session_, first);
    EXPECT_EQ(commit(), 0);
}

}  // namespace
}  // namespace pbs::host
