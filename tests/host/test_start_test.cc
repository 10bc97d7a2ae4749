// Starts with check=True, and questions whether a job may start at a place (pbs_asks), with the built plugin.
#include <fmt/format.h>

#include "ifl/program_requests.h"
#include "server_plugin/host/life/run_reports.h"
#include "server_plugin/host/requests/test_start.h"
#include "tests/host/plugin_fixture.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class TestStart : public PluginServerTest {
  protected:
    void SetUp() override {
        PluginServerTest::SetUp();
        ASSERT_EQ(set(PBS_OBJ_POLICY, "default_policy", "algorithm", "external"), 0);
        make_queue("q");
        for (const char* name : {"v0", "v1"}) make_node(name, "4");
    }
    std::string job(const std::string& select, ifl::Attributes more = {}, const std::string& queue = "q") {
        more.push_back(attribute("Resource_List.select", select));
        return submit(user(), std::move(more), queue);
    }
    // Returns the text of the refusal, or its code; empty: it is done.
    static std::string refusal(const ifl::Reply& reply) {
        if (reply.code == 0) return {};
        const auto* text = std::get_if<ifl::TextReply>(&reply.body);
        if (reply.code != PBSE_RESCUNAV || text == nullptr) return std::to_string(reply.code);
        return text->text;
    }
    std::string run(const std::string& id, const std::string& where,
                    const std::string& extend = "check=True") {
        return refusal(
            ask(root(), ifl::RequestType::run_job_acknowledged, ifl::RunJob{id, where, 0}, extend));
    }
    // What the filters say to a start: "starts", or the reason; the answers of all filters are in `gates`.
    std::string asks(const std::string& id, const std::string& where, const Identity& who) {
        gates.clear();
        facts.clear();
        const ifl::Reply reply =
            ask(who, ifl::RequestType::status_scheduler, ifl::Status{id, {attribute("location", where)}},
                "object=explanation;location");
        if (reply.code != 0) return std::to_string(reply.code);
        std::map<std::string, std::string> job;
        const auto& objects = std::get<ifl::StatusReply>(reply.body).objects;
        for (const ifl::Attribute& one : objects.at(0).attributes) job[one.name] = one.value;
        for (std::size_t i = 1; i < objects.size(); ++i)
            for (const ifl::Attribute& one : objects[i].attributes)
                if (one.name == "gate")
                    gates[one.resource] = one.value;
                else if (one.name == "gate_fact")
                    facts[one.resource] += one.value + ";";
        return job["reason"].empty() ? job["outcome"] : job["outcome"] + ": " + job["reason"];
    }
    std::string asks(const std::string& id, const std::string& where) { return asks(id, where, root()); }

    std::map<std::string, std::string> gates;
    std::map<std::string, std::string> facts;  // of the gates: "name,value;" for each
};

// Both refuse the start for the reason, and nothing has changed. Without the check it is done.
#define EXPECT_REFUSED(id, where, outcome, reason)                      \
    do {                                                                \
        const int64_t changes = plugin_->last_change();                 \
        EXPECT_EQ(asks(id, where), outcome ": " + std::string(reason)); \
        EXPECT_THAT(std::string(reason), HasSubstr(run(id, where)));    \
        EXPECT_EQ(job_shows(id, "job_state"), "Q");                     \
        EXPECT_EQ(plugin_->last_change(), changes);                     \
    } while (false)

TEST_F(TestStart, WhatFiltersLetStartStarts) {
    const std::string id = job("1:ncpus=2");
    EXPECT_EQ(asks(id, "(v1:ncpus=2)"), "starts");
    EXPECT_THAT(gates["hosts"], IsEmpty());
    EXPECT_EQ(gates.count("hosts"), 1U);
    EXPECT_EQ(job_shows(id, "job_state"), "Q");
    EXPECT_EQ(run(id, "(v1:ncpus=2)"), "");
    EXPECT_EQ(job_shows(id, "exec_vnode"), "(v1:ncpus=2)");
    EXPECT_EQ(run(id, "(v1:ncpus=2)"), std::to_string(PBSE_BADSTATE));
    EXPECT_EQ(asks(id, "(v1:ncpus=2)").substr(0, 24), "not considered: it runs,");
}

TEST_F(TestStart, APlaceWithoutRoom) {
    ASSERT_EQ(run(job("1:ncpus=3"), "v0"), "");
    const std::string id = job("1:ncpus=2");
    EXPECT_REFUSED(id, "(v0:ncpus=2)", "waits",
                   "Not Running: Insufficient amount of resource: ncpus (R: 2 A: 1 T: 4 on vnode v0)");
    EXPECT_EQ(gates["hosts"],
              "Not Running: Insufficient amount of resource: ncpus (R: 2 A: 1 T: 4 on vnode v0)");
    EXPECT_EQ(asks(id, "v0").substr(0, 6), "waits:") << "the chunks are dealt";
    EXPECT_EQ(asks(id, "(v0:ncpus=1+v0:ncpus=1)").substr(0, 6), "waits:") << "parts are added up";
    EXPECT_EQ(asks(id, "(v0:ncpus=1)"), "starts") << "how the place is made is the program's choice";
    EXPECT_EQ(run(id, "(v1:ncpus=2)"), "");
}

TEST_F(TestStart, VnodesThatDoNotTakeTheJob) {
    const std::string id = job("1:ncpus=1:arch=linux");
    ASSERT_EQ(set(PBS_OBJ_NODE, "v0", "resources_available.arch", "irix"), 0);
    ASSERT_EQ(set(PBS_OBJ_NODE, "v1", "resources_available.arch", "linux"), 0);
    EXPECT_REFUSED(id, "(v0:ncpus=1)", "waits", "Not Running: Vnode v0 lacks values that the job asks for");
    ASSERT_EQ(set(PBS_OBJ_NODE, "v1", "state", "offline"), 0);
    EXPECT_REFUSED(id, "(v1:ncpus=1)", "waits", "Not Running: Vnode v1 takes no jobs of queue q now");
    ASSERT_EQ(manage(root(), PBS_CMD_UNSET, PBS_OBJ_NODE, "v1", {attribute("state", "offline")}).code, 0);
    EXPECT_EQ(asks(id, "(v1:ncpus=1)"), "starts");
    make_queue("own");
    ASSERT_EQ(set(PBS_OBJ_NODE, "v1", "queue", "own"), 0);
    EXPECT_EQ(asks(id, "(v1:ncpus=1)"), "waits: Not Running: Vnode v1 takes no jobs of queue q now");
}

TEST_F(TestStart, AJobThatIsToBeAlone) {
    ASSERT_EQ(run(job("1:ncpus=1"), "v0"), "");
    const std::string id = job("1:ncpus=1", {attribute("Resource_List.place", "excl")});
    EXPECT_REFUSED(id, "(v0:ncpus=1)", "waits",
                   "Not Running: Vnode v0 has other jobs, or is exclusive to one");
    EXPECT_EQ(run(id, "(v1:ncpus=1)"), "");
    EXPECT_EQ(asks(job("1:ncpus=1"), "(v1:ncpus=1)"),
              "waits: Not Running: Vnode v1 takes no jobs of queue q now");
}

TEST_F(TestStart, LimitsOfUsers) {
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "max_run", "[u:PBS_GENERIC=1]"), 0);
    ASSERT_EQ(run(job("1:ncpus=1"), "v0"), "");
    const std::string id = job("1:ncpus=1");
    EXPECT_REFUSED(id, "(v0:ncpus=1)", "waits", "Not Running: User has reached queue q running job limit.");
    EXPECT_THAT(gates["hosts"], IsEmpty());
    EXPECT_EQ(run(id, "(v0:ncpus=1)", ""), "") << "without the check limits don't count, as with qrun";
}

TEST_F(TestStart, AQuotaRefusesAStartAtItsVnodes) {
    ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_QUOTA, "cpus",
                     {attribute("rule.a", "vnodes=v0 to ncpus=2"), attribute("enabled", "True")})
                  .code,
              0);
    ASSERT_EQ(set(PBS_OBJ_POLICY, "default_policy", "quotas", "cpus"), 0);
    ASSERT_EQ(run(job("1:ncpus=2"), "v0"), "");
    const std::string id = job("1:ncpus=2");
    EXPECT_REFUSED(id, "(v0:ncpus=2)", "waits", "Not Running: Quota cpus (a): ncpus (R: 2 U: 2 L: 2)");
    EXPECT_EQ(facts["quota"], "quota,cpus;rule,a;resource,ncpus;asked,2;used,2;limit,2;");
    EXPECT_EQ(asks(id, "(v1:ncpus=2)"), "starts") << "the quota is about v0";
    EXPECT_EQ(asks(id, ""), "starts") << "the policy finds v1";
    EXPECT_EQ(run(id, ""), "");
    EXPECT_EQ(job_shows(id, "exec_vnode"), "(v1:ncpus=2)");
}

// A threshold permits the chunk by which a load reaches it, but no further one. The pieces of a chunk on
// several vnodes of a host are one chunk.
TEST_F(TestStart, PiecesOfAChunkCountAsOne) {
    ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_RESOURCE, "heat", {attribute("type", "float")}).code, 0);
    ASSERT_EQ(set(PBS_OBJ_NODE, "v0", "resources_available.heat", "0"), 0);
    ASSERT_EQ(set(PBS_OBJ_POLICY, "default_policy", "job_load_adjustments", "heat=1"), 0);
    ASSERT_EQ(set(PBS_OBJ_POLICY, "default_policy", "load_thresholds", "heat >= 2"), 0);
    const std::string id = job("1:ncpus=4");
    EXPECT_EQ(asks(id, "(v0:ncpus=2+v0:ncpus=2)"), "starts");
    EXPECT_THAT(asks(id, "(v0:ncpus=2)+(v0:ncpus=2)"), HasSubstr("waits: Not Running: Load of v0"));
    EXPECT_THAT(run(id, "(v0:ncpus=2)+(v0:ncpus=2)"), HasSubstr("Load of v0"));
    EXPECT_EQ(run(id, "(v0:ncpus=2+v0:ncpus=2)"), "");
    EXPECT_EQ(job_shows(id, "exec_vnode"), "(v0:ncpus=2+v0:ncpus=2)");
}

TEST_F(TestStart, AClosedQueueRefusesAStart) {
    // Its last time was long ago, so the day of the test doesn't matter.
    const auto hours = ifl::Attributes{attribute("rrule", "FREQ=DAILY;UNTIL=20000102T000000Z"),
                                       attribute("start_time", "0800"), attribute("end_time", "0900")};
    ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_TIME_WINDOW, "over", hours).code, 0);
    const std::string id = job("1:ncpus=1");
    EXPECT_EQ(asks(id, "v0"), "starts");
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "time_window", "over"), 0);
    EXPECT_REFUSED(id, "v0", "waits", "Queue q is outside its time windows");
}

TEST_F(TestStart, JobsAndQueuesThatDoNotStart) {
    const std::string held = job("1:ncpus=1", {attribute("Hold_Types", "u")});
    EXPECT_EQ(asks(held, "v0"), "not considered: it is held");
    EXPECT_EQ(run(held, "v0"), "it is held");
    EXPECT_EQ(run(held, "v0", "check=False"), "") << "an operator decides";
    const std::string id = job("1:ncpus=1");
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "started", "False"), 0);
    EXPECT_REFUSED(id, "v0", "waits", "Not Running: Queue not started.");
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "started", "True"), 0);
    ASSERT_EQ(set(PBS_OBJ_SCHED, "default", "scheduling", "False"), 0);
    EXPECT_EQ(run(id, "v0"), "scheduling is off in sched default");
    EXPECT_EQ(asks(id, "v0"), "not considered: scheduling is off in sched default");
}

TEST_F(TestStart, TheAnswerIsThatOfTheNamedSubjob) {
    const std::string array = job("1:ncpus=3", {attribute("array_indices_submitted", "1-4")});
    const std::string first = array.substr(0, array.find('[')) + "[1].svr";
    const std::string second = array.substr(0, array.find('[')) + "[2].svr";
    EXPECT_EQ(asks(first, "v0"), "starts");
    EXPECT_EQ(run(first, "v0"), "");
    EXPECT_EQ(asks(second, "v0").substr(0, 6), "waits:");
    EXPECT_THAT(run(second, "v0"), HasSubstr("Insufficient amount of resource: ncpus"));
    EXPECT_EQ(run(second, "v1"), "");
    EXPECT_EQ(asks(second, "v1").substr(0, 24), "not considered: it runs,");
}

// With the Origin algorithm, filters depend on a job's class, which only a cycle finds.
TEST_F(TestStart, OriginPoliciesTestNoStarts) {
    const std::string id = job("1:ncpus=1");
    ASSERT_EQ(set(PBS_OBJ_POLICY, "default_policy", "algorithm", "origin"), 0);
    EXPECT_EQ(asks(id, "v0"), std::to_string(PBSE_NOSUP));
    EXPECT_EQ(asks(id, ""), std::to_string(PBSE_NOSUP));
    for (const char* where : {"v0", ""}) {
        const ifl::Reply refused =
            ask(root(), ifl::RequestType::run_job_acknowledged, ifl::RunJob{id, where, 0}, "check=True");
        EXPECT_EQ(refused.code, PBSE_NOSUP);
        EXPECT_THAT(std::get<ifl::TextReply>(refused.body).text,
                    HasSubstr("policy default_policy, which is in force, has the algorithm origin"));
    }
    EXPECT_EQ(job_shows(id, "job_state"), "Q");
    ASSERT_EQ(set(PBS_OBJ_POLICY, "default_policy", "algorithm", "external"), 0);
    ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_POLICY, "p2", {attribute("algorithm", "origin")}).code,
              0);
    EXPECT_EQ(asks(id, "v0"), "starts") << "a policy that isn't in force doesn't matter";
    EXPECT_EQ(run(id, "v0"), "");
}

TEST_F(TestStart, UnknownPlacesAndResourcesAreRefused) {
    const std::string id = job("1:ncpus=1");
    EXPECT_EQ(asks(id, "nowhere"), std::to_string(PBSE_UNKNODE));
    EXPECT_EQ(asks(id, "(v0:nothing=1)"), std::to_string(PBSE_UNKRESC));
    EXPECT_EQ(asks(id, "(v0:ncpus=1"), std::to_string(PBSE_BADATVAL));
    EXPECT_EQ(asks("99.svr", "v0"), std::to_string(PBSE_UNKJOBID));
    EXPECT_EQ(asks(id, "v0", user()), std::to_string(PBSE_PERM)) << "its owner, but no manager";
    for (const char* extend : {"check", "check=", "check=maybe", "check=True;more", "Check", "location=v0"})
        EXPECT_EQ(run(id, "v0", extend), std::to_string(PBSE_IVALREQ)) << extend;
    const auto explained = [&](const ifl::Attributes& asked, const std::string& extend) {
        return ask(root(), ifl::RequestType::status_scheduler, ifl::Status{id, asked}, extend).code;
    };
    EXPECT_EQ(explained({}, "object=explanation;place=v0"), PBSE_IVALREQ);
    EXPECT_EQ(explained({}, "object=explanation;location"), PBSE_IVALREQ);
    EXPECT_EQ(explained({attribute("place", "v0")}, "object=explanation;location"), PBSE_IVALREQ);
    EXPECT_EQ(
        explained({attribute("location", "v0"), attribute("location", "v1")}, "object=explanation;location"),
        PBSE_IVALREQ);
    EXPECT_EQ(explained({attribute("location", "v0")}, "object=explanation"), PBSE_IVALREQ);
    EXPECT_EQ(explained({attribute("location", "v0")}, "object=explanation;location;more"), PBSE_IVALREQ);
    EXPECT_EQ(job_shows(id, "job_state"), "Q");
}

// The place isn't even read before the cycle's end: a long one would be read anew every few milliseconds.
TEST_F(TestStart, WaitsForTheEndOfACycle) {
    const std::string id = job("1:ncpus=1");
    const std::vector<ifl::Request> requests{
        {ifl::RequestType::status_scheduler, root().user, ifl::Status{id, {attribute("location", "nowhere")}},
         "object=explanation;location"},
        {ifl::RequestType::run_job_acknowledged, root().user, ifl::RunJob{id, "nowhere", 0}, "check=True"}};
    for (const ifl::Request& request : requests) {
        ASSERT_TRUE(plugin_->start_cycle(server_->now(), "default", PBS_SCH_SCHEDULE_CMD));
        EXPECT_TRUE(plugin_->has_cycle());
        const Identity who = root();
        Context context{*server_, who, server_->now(), request, session_};
        ASSERT_EQ(begin_answer(context).code, 0);
        ASSERT_NE(context.rest, nullptr);
        ifl::StatusParts parts;
        std::optional<ifl::Reply> reply;
        EXPECT_EQ(go_on(context, parts, false, reply), Steps::Remaining::later);
        ASSERT_TRUE(plugin_->finish_cycle(server_->now()));
        EXPECT_FALSE(plugin_->has_cycle());
        EXPECT_EQ(go_on(context, parts, false, reply), Steps::Remaining::nothing);
        ASSERT_TRUE(reply);
        EXPECT_EQ(reply->code, PBSE_UNKNODE);
    }
}

// Vnodes change whenever the start waits for the answer of the plugin's thread, so that no answer holds.
TEST_F(TestStart, IsRefusedWhileTooMuchChanges) {
    plugin_->stop(server_->now());
    client::Options options{PBS_POLICY_PLUGIN, folder_, "svr", "UTC", server_->now(), kFirstChange};
    options.work_finished = [] {};
    auto loaded = Plugin::load(std::move(options), *log_);
    ASSERT_TRUE(loaded) << loaded.error().message;
    plugin_ = std::move(*loaded);
    server_->parts.plugin = plugin_.get();
    ASSERT_TRUE(server_->start_plugin());
    constexpr int kMany = 2000;  // with fewer vnodes and jobs no test needs the thread
    Change change(*server_, server_->now());
    Node node = *server_->state.node("v1");
    for (int i = 0; i < kMany; ++i) {
        node.handle = server_->state.new_handle();
        node.name = fmt::format("m{}", i);
        change.add(node);
    }
    ASSERT_TRUE(change.commit());
    const std::string id = job("1:ncpus=1");
    const ifl::Request request{ifl::RequestType::run_job_acknowledged, root().user,
                               ifl::RunJob{id, "(v0:ncpus=1)", 0}, "check=True"};
    const Identity who = root();
    Context context{*server_, who, server_->now(), request, session_};
    int cpus = 4;
    const ifl::Reply reply = answer(context, [&] {
        EXPECT_EQ(set(PBS_OBJ_NODE, "m0", "resources_available.ncpus", std::to_string(++cpus)), 0);
    });
    EXPECT_EQ(reply.code, PBSE_TRYAGAIN);
    EXPECT_THAT(std::get<ifl::TextReply>(reply.body).text, HasSubstr("the start can't be tested: too much"));
    EXPECT_EQ(job_shows(id, "job_state"), "Q");
    EXPECT_EQ(run(id, "(v0:ncpus=1)"), "") << "nothing changes any more";
}

// A place that would keep the server busy is refused, whether the request or the job makes it so large.
TEST_F(TestStart, PlacesAreLimited) {
    const std::string id = job("1:ncpus=1");
    std::string place = "v0:ncpus=0";
    for (int64_t i = 1; i < ifl::kMostTestedPlaces; ++i) place += "+v0:ncpus=0";
    EXPECT_EQ(asks(id, place), "starts");
    place += "+v0:ncpus=0";
    EXPECT_EQ(asks(id, place), std::to_string(PBSE_IVALREQ));
    const auto request = [&](const std::string& extend) {
        return ask(root(), ifl::RequestType::run_job_acknowledged, ifl::RunJob{id, place, 0}, extend);
    };
    const ifl::Reply refused = request("check=True");
    EXPECT_EQ(refused.code, PBSE_IVALREQ);
    EXPECT_THAT(std::get<ifl::TextReply>(refused.body).text, HasSubstr("at most 20000 places"));
    EXPECT_NE(request("").code, PBSE_IVALREQ) << "a start without the check has no such limit";
    const std::string wide = job("20001:ncpus=1");
    EXPECT_EQ(asks(wide, "v0"), std::to_string(PBSE_IVALREQ));
    EXPECT_EQ(run(wide, "v0"), std::to_string(PBSE_IVALREQ));
}

}  // namespace
}  // namespace pbs::host
