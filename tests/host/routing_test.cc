#include "server_plugin/host/life/routing.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <random>
#include <set>

#include "server_plugin/host/life/job_life.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;

// A route queue "in" with the destination "to". Tests set limits on the destination.
class RoutingTest : public ServerTest {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        make_queue("to");
        make_route_queue("in", "to");
        make_node("n1", "8");
        ASSERT_EQ(set(PBS_OBJ_SERVER, "", "job_history_enable", "t"), 0);
    }
    void make_route_queue(const std::string& name, const std::string& destinations) {
        ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_QUEUE, name,
                         {attribute("queue_type", "r"), attribute("route_destinations", destinations),
                          attribute("enabled", "t"), attribute("started", "t")})
                      .code,
                  0);
    }
    // Sets an attribute of a queue or, if `queue` is empty, of the server. An empty value unsets the
    // attribute.
    void change(const std::string& queue, const std::string& name, const std::string& value) {
        const int command = value.empty() ? PBS_CMD_UNSET : PBS_CMD_SET;
        const int type = queue.empty() ? PBS_OBJ_SERVER : PBS_OBJ_QUEUE;
        const ifl::Reply reply = manage(root(), command, type, queue, {attribute(name, value)});
        ASSERT_EQ(reply.code, 0) << queue << " " << name << "=" << value;
    }
    std::string queue_of(const std::string& id) { return job_shows(id, "queue", "x"); }
    std::string state_of(const std::string& id) { return job_shows(id, "job_state", "x"); }
    void pass(int64_t after) { route_jobs(*server_, server_->now() + after); }
    void remove(const std::string& id) {
        EXPECT_EQ(
            ask(root(), ifl::RequestType::delete_job, ifl::Manage{PBS_CMD_DELETE, PBS_OBJ_JOB, id, {}}).code,
            0);
    }
    void free_jobs_of(const std::string& queue) {
        const Handles jobs = server_->state.queue_jobs(server_->state.queue(queue)->handle);
        for (const uint64_t handle : jobs) {
            const Job* job = server_->state.job(handle);
            if (job->history()) continue;
            remove(job->id);
        }
    }
    std::string group() const { return find_user(user_)->group; }
};

TEST_F(RoutingTest, JobsGoToTheFirstDestinationThatTakesThem) {
    make_queue("small", {attribute("resources_max.ncpus", "2")});
    make_queue("large", {attribute("resources_max.ncpus", "8")});
    make_route_queue("sizes", "small,large");
    EXPECT_EQ(queue_of(submit(user(), {attribute("Resource_List.ncpus", "1")}, "sizes")), "small");
    EXPECT_EQ(queue_of(submit(user(), {attribute("Resource_List.ncpus", "4")}, "sizes")), "large");
    EXPECT_EQ(submit(user(), {attribute("Resource_List.ncpus", "9")}, "sizes"),
              std::to_string(PBSE_ROUTEREJ));
}

TEST_F(RoutingTest, RefusalsForNowAreOpenPBSs) {
    const std::set<int> for_now = {PBSE_JOBEXIST,   PBSE_SYSTEM,   PBSE_INTERNAL,
                                   PBSE_EXPIRED,    PBSE_MAXQUED,  PBSE_QUNOENB,
                                   PBSE_NOCONNECTS, PBSE_ENTLIMCT, PBSE_ENTLIMRESC};
    for (int code = 15001; code < 15300; ++code)
        EXPECT_EQ(is_refused_for_now(code), for_now.contains(code)) << code;
}

// A setting because of which a destination refuses a job, and the changes that lift the refusal.
struct Refusal {
    const char* name;
    const char* queue;  // the queue that has the attribute; empty: the server
    const char* attribute;
    std::string value;
    ifl::Attributes job{};
    std::string lifted{};     // a value of the attribute that lifts the refusal; empty: none does
    bool makes_room = false;  // the end of the only job in the queue lifts the refusal, too
};

class Refusals : public RoutingTest {
  protected:
    Refusal disabled() const { return {"disabled", "to", "enabled", "f", {}, "t"}; }
    // Returns the temporary refusals of a destination that has one job.
    std::vector<Refusal> full() const {
        const ifl::Attributes cpus = {attribute("Resource_List.ncpus", "1")};
        const ifl::Attributes wide = {attribute("array_indices_submitted", "1-3")};
        std::vector<Refusal> all = {{"max_queuable", "to", "max_queuable", "1", {}, {}, true}};
        for (const std::string& whose : entities()) {
            const std::string one = fmt::format("[{}=1]", whose);
            for (const char* name : {"max_queued", "queued_jobs_threshold"})
                all.push_back({name, "to", name, one, {}, {}, true});
            for (const char* name : {"max_queued_res.ncpus", "queued_jobs_threshold_res.ncpus"})
                for (const char* where : {"to", ""}) all.push_back({name, where, name, one, cpus, {}, true});
        }
        all.push_back({"array", "to", "max_queued", "[u:PBS_GENERIC=3]", wide, {}});
        return all;
    }
    std::vector<std::string> entities() const {
        return {"o:PBS_ALL",    "u:" + user_,    "u:PBS_GENERIC",
                "g:" + group(), "g:PBS_GENERIC", "p:_pbs_project_default",
                "p:PBS_GENERIC"};
    }
    std::vector<Refusal> for_good() const {
        return {
            {"max_array_size", "to", "max_array_size", "2", {attribute("array_indices_submitted", "1-3")}},
            {"users", "to", "acl_users", "nobody-else"},
            {"groups", "to", "acl_groups", "nobody-else"},
            {"hosts", "to", "acl_hosts", "another.example.org"},
            {"maximum", "to", "resources_max.ncpus", "1", {attribute("Resource_List.ncpus", "2")}},
            {"minimum", "to", "resources_min.ncpus", "3", {attribute("Resource_List.ncpus", "2")}},
            {"server's maximum", "", "resources_max.ncpus", "1", {attribute("Resource_List.ncpus", "2")}},
            {"text", "to", "resources_max.software", "abc", {attribute("Resource_List.software", "abd")}},
            {"no queue", "in", "route_destinations", "gone"},
        };
    }
    void refuse(const Refusal& by) {
        for (const char* list : {"user", "group", "host"})
            if (fmt::format("acl_{}s", list) == by.attribute)
                change("to", fmt::format("acl_{}_enable", list), "t");
        change(by.queue, by.attribute, by.value);
    }
    void allow(const Refusal& by) {
        const bool destinations = std::string(by.attribute) == "route_destinations";
        change(by.queue, by.attribute, destinations ? "to" : by.lifted);
        for (const char* list : {"user", "group", "host"})
            if (fmt::format("acl_{}s", list) == by.attribute)
                change("to", fmt::format("acl_{}_enable", list), "");
    }
};

TEST_F(Refusals, AreTriedAgainWhereTheDestinationIsFullOrDisabled) {
    std::vector<Refusal> rows = full();
    rows.push_back(disabled());
    for (const Refusal& row : rows) {
        SCOPED_TRACE(fmt::format("{} {}={}", row.queue, row.attribute, row.value));
        const bool of_server = *row.queue == '\0';
        const std::string there = submit(user(), {}, "to");
        // Submit the job before the limit is set, because the server refuses a new job that exceeds the
        // server's own limits.
        change("in", "started", "f");
        const std::string id = submit(user(), row.job, "in");
        change("in", "started", "t");
        refuse(row);
        const std::string next_one = submit(user(), row.job, "in");
        if (of_server)
            EXPECT_EQ(next_one, std::to_string(PBSE_ENTLIMRESC));
        else
            EXPECT_EQ(queue_of(next_one), "in");
        for (const int64_t after : {1, 31, 61}) {
            pass(after);
            EXPECT_EQ(queue_of(id), "in");
            EXPECT_EQ(state_of(id), "Q");
        }
        // Make room for one job, or lift the refusal.
        if (row.makes_room)
            remove(there);
        else
            allow(row);
        pass(91);
        EXPECT_EQ(queue_of(id), "to");
        if (row.makes_room) allow(row);
        free_jobs_of("to");
        free_jobs_of("in");
    }
}

TEST_F(Refusals, AreForGoodWhereTheJobIsNoneForTheDestination) {
    for (const Refusal& row : for_good()) {
        SCOPED_TRACE(fmt::format("{} {}={}", row.queue, row.attribute, row.value));
        refuse(row);
        EXPECT_EQ(submit(user(), row.job, "in"),
                  std::to_string(*row.queue == '\0' ? PBSE_EXCQRESC : PBSE_ROUTEREJ));
        allow(row);
        // A job that already waits in the route queue is rejected, too, when it is routed.
        change("in", "started", "f");
        const std::string id = submit(user(), row.job, "in");
        change("in", "started", "t");
        refuse(row);
        pass(1);
        EXPECT_EQ(state_of(id), "F");
        EXPECT_EQ(job_shows(id, "comment", "x"), "Job rejected by all possible destinations");
        EXPECT_THAT(accounting_text(), HasSubstr(";A;" + id + ";Job rejected by all possible destinations"));
        EXPECT_THAT(log_text(), HasSubstr(id + ";Job rejected by all possible destinations"));
        allow(row);
    }
}

TEST_F(Refusals, DoNotComeOfWhatRouteQueuesMayPass) {
    change("to", "from_route_only", "t");
    EXPECT_EQ(queue_of(submit(user(), {}, "in")), "to");
    change("to", "started", "f");
    EXPECT_EQ(queue_of(submit(user(), {}, "in")), "to");
}

TEST_F(Refusals, OneDestinationThatMayTakeItLaterIsEnough) {
    make_queue("never", {attribute("resources_max.ncpus", "1")});
    change("in", "route_destinations", "never,to");
    refuse(disabled());
    const std::string id = submit(user(), {attribute("Resource_List.ncpus", "2")}, "in");
    EXPECT_EQ(queue_of(id), "in");
    // A job waits in `in`, too, if it came there from another route queue, and is routed when `to` takes
    // jobs.
    make_route_queue("front", "in");
    change("in", "enabled", "t");
    const std::string behind = submit(user(), {attribute("Resource_List.ncpus", "2")}, "front");
    EXPECT_EQ(queue_of(behind), "in");
    change("to", "enabled", "t");
    pass(31);
    EXPECT_EQ(queue_of(id), "to");
    EXPECT_EQ(queue_of(behind), "to");
}

// The refusal has to be temporary. Otherwise jobs would be deleted while the directory service of users
// doesn't answer.
TEST_F(Refusals, DoNotComeOfAUserWhoIsUnknownForAWhile) {
    refuse(disabled());
    const std::string id = submit(user(), {}, "in");
    executor_.refused_uid = find_user(user_)->uid;
    change("to", "enabled", "t");
    pass(31);
    EXPECT_EQ(queue_of(id), "to");
}

TEST_F(RoutingTest, AJobIsOfferedAgainAfterTheRetryTime) {
    change("to", "enabled", "f");
    const std::string id = submit(user(), {}, "in");
    change("to", "enabled", "t");
    pass(29);
    EXPECT_EQ(queue_of(id), "in");
    pass(30);
    EXPECT_EQ(queue_of(id), "to");
    change("to", "enabled", "f");
    const std::string other = submit(user(), {}, "in");
    change("to", "enabled", "t");
    change("in", "route_retry_time", "5");
    pass(4);
    EXPECT_EQ(queue_of(other), "in");
    pass(5);
    EXPECT_EQ(queue_of(other), "to");
}

TEST_F(RoutingTest, AJobThatStaysIsNotChanged) {
    change("to", "enabled", "f");
    const std::string id = submit(user(), {}, "in");
    const std::string before = job_shows(id, "mtime");
    pass(31);
    pass(62);
    EXPECT_EQ(job_shows(id, "mtime"), before);
}

TEST_F(RoutingTest, HeldAndWaitingJobsGoOnlyWhereTheQueueSaysSo) {
    const std::string later = std::to_string(server_->now() + 1000);
    const auto held = [&] { return submit(user(), {attribute("Hold_Types", "u")}, "in"); };
    const auto waiting = [&] { return submit(user(), {attribute("Execution_Time", later)}, "in"); };
    const std::string a = held();
    const std::string b = waiting();
    pass(60);
    EXPECT_EQ(queue_of(a), "in");
    EXPECT_EQ(queue_of(b), "in");
    EXPECT_EQ(state_of(a), "H");
    EXPECT_EQ(state_of(b), "W");
    change("in", "route_held_jobs", "t");
    EXPECT_EQ(queue_of(held()), "to");
    EXPECT_EQ(queue_of(waiting()), "in");
    pass(61);
    EXPECT_EQ(queue_of(a), "to");
    EXPECT_EQ(queue_of(b), "in");
    change("in", "route_waiting_jobs", "t");
    EXPECT_EQ(queue_of(waiting()), "to");
    pass(62);
    EXPECT_EQ(queue_of(b), "to");
}

TEST_F(RoutingTest, AReleasedJobIsRoutedWithoutDelay) {
    const std::string id = submit(user(), {attribute("Hold_Types", "u")}, "in");
    pass(1);
    ASSERT_EQ(ask(user(), ifl::RequestType::release_job,
                  ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, id, {attribute("Hold_Types", "u")}})
                  .code,
              0);
    pass(1);
    EXPECT_EQ(queue_of(id), "to");
}

TEST_F(RoutingTest, AJobThatStaysTooLongIsDeleted) {
    change("to", "enabled", "f");
    change("in", "route_lifetime", "40");
    const std::string id = submit(user(), {}, "in");
    const std::string held = submit(user(), {attribute("Hold_Types", "u")}, "in");
    pass(40);
    EXPECT_EQ(state_of(id), "Q");
    pass(41);
    EXPECT_EQ(state_of(id), "F");
    EXPECT_EQ(state_of(held), "F");
    EXPECT_EQ(job_shows(id, "comment", "x"), "Route queue lifetime exceeded");
}

TEST_F(RoutingTest, APassGoesOnWhereItsTimeWasOver) {
    change("to", "enabled", "f");
    make_route_queue("in2", "to");
    std::vector<std::string> ids;
    for (int i = 0; i < 100; ++i) ids.push_back(submit(user(), {}, i % 2 == 0 ? "in" : "in2"));
    change("to", "enabled", "t");
    const auto moved = [&] {
        return std::ranges::count_if(ids, [&](const std::string& id) { return queue_of(id) == "to"; });
    };
    int passes = 0;
    for (int64_t before = -1; moved() != 100; ++passes) {
        ASSERT_LT(before, moved()) << "each pass goes on";
        before = moved();
        route_jobs(*server_, server_->now() + 31, std::chrono::nanoseconds(0));
    }
    EXPECT_GT(passes, 2);
    EXPECT_EQ(state_of(ids.front()), "Q");
}

TEST_F(RoutingTest, APassWritesSoManyJobsAtMost) {
    change("to", "enabled", "f");
    for (int i = 0; i < 300; ++i) submit(user(), {}, "in");
    change("to", "enabled", "t");
    const auto there = [&] {
        return server_->state.queue_counts(server_->state.queue("to")->handle).total();
    };
    for (const int64_t expected : {128, 256, 300}) {
        route_jobs(*server_, server_->now() + 31, std::chrono::hours(1));
        EXPECT_EQ(there(), expected);
    }
}

TEST_F(Refusals, JobsOfOnePassDoNotExceedTheLimitsOfTheDestination) {
    for (const Refusal& row : full()) {
        if (*row.queue == '\0') continue;
        SCOPED_TRACE(fmt::format("{}={}", row.attribute, row.value));
        change("to", "enabled", "f");
        const bool array = std::string(row.name) == "array";
        for (int i = 0; i < 6; ++i) submit(user(), row.job, "in");
        std::string two = row.value;
        two.replace(two.find(array ? "3" : "1"), 1, array ? "6" : "2");
        change("to", row.attribute, two);
        change("to", "enabled", "t");
        pass(31);
        const auto waiting = [&](const char* queue) {
            return server_->state.queue_counts(server_->state.queue(queue)->handle).total();
        };
        EXPECT_EQ(waiting("to"), 2);
        EXPECT_EQ(waiting("in"), 4);
        free_jobs_of("to");
        pass(62);
        EXPECT_EQ(waiting("to"), 2);
        change("to", row.attribute, "");
        free_jobs_of("to");
        free_jobs_of("in");
    }
}

}  // namespace
}  // namespace pbs::host
