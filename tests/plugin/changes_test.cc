// Tests status requests for changes, which programs of a site use to schedule themselves, and algorithm =
// external, with which the plugin schedules nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "ifl/pbs_error.h"
#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class Changes : public ::testing::Test {
  protected:
    void SetUp() override {
        host.host.first_change = 1'000'000;
        host.bring_up();
        host.queue(kBatch, "batch");
        host.vnode(kVnode, "n1", 8);
    }
    Answer ask(const std::string& extend, const std::string& sched = {}, int32_t type = PBS_OBJ_CHANGES) {
        pbs_status_request request{};
        request.size = sizeof request;
        request.now = host.now;
        request.object_type = type;
        request.object_name = {sched.data(), sched.size()};
        request.who = host.who;
        request.extend = {extend.data(), extend.size()};
        return host.status(request);
    }
    int64_t last() { return host.plugin.last_change(host.plugin.self); }
    static std::vector<std::string> lines(const Answer& answer) {
        std::istringstream text(answer.value("text"));
        std::vector<std::string> all;
        for (std::string line; std::getline(text, line);) all.push_back(line);
        return all;
    }
    std::vector<std::string> since(int64_t version) {
        const Answer answer = ask(fmt::format("version={}", version));
        EXPECT_EQ(answer.code, 0) << answer.text;
        return lines(answer);
    }
    std::string last_line(int64_t version) const {
        return fmt::format("{{\"version\":{},\"now\":{}}}", version, host.now);
    }
    void set_algorithm(const std::string& word) {
        const Answer done = host.set(PBS_OBJ_POLICY, "default_policy", "algorithm", word);
        ASSERT_EQ(done.code, 0) << done.text;
        EXPECT_THAT(done.warnings, IsEmpty());
    }
    FakeHost host;
};

TEST_F(Changes, AreTheLinesOfARecordAndTheVersionThatTheyReach) {
    const int64_t before = last();
    EXPECT_GT(before, 1'000'000);
    EXPECT_THAT(since(before), ElementsAre(last_line(before)));
    host.job({.handle = 7, .queue = kBatch});
    const auto changed = since(before);
    ASSERT_THAT(changed, SizeIs(2));
    EXPECT_THAT(changed[0], StartsWith("{\"job\":{\"handle\":7,\"id\":\"7.server1\","));
    EXPECT_THAT(changed[0], HasSubstr("[\"ncpus\",2]"));
    EXPECT_THAT(ask({}, {}, PBS_OBJ_RECORD).value("text"), HasSubstr(changed[0] + "\n"));
    EXPECT_EQ(changed[1], last_line(last()));
    EXPECT_GT(last(), before);
}

TEST_F(Changes, ContinueARecordFromItsVersion) {
    host.job({.handle = 7, .queue = kBatch});
    const std::string record = ask({}, {}, PBS_OBJ_RECORD).value("text");
    EXPECT_THAT(record.substr(0, record.find('\n')), HasSubstr(fmt::format(",\"version\":{}}}", last())));
}

TEST_F(Changes, TellWhatIsGone) {
    host.job({.handle = 7, .queue = kBatch});
    host.vnode(kVnode + 1, "n2", 8);
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1").code, 0);
    (void)host.next_deadline();  // makes the plugin adopt the new policy
    const int64_t before = last();
    host.job_removed(7);
    host.plugin.vnode_removed(host.plugin.self, kVnode + 1);
    host.plugin.queue_removed(host.plugin.self, kBatch);
    host.plugin.reservation_removed(host.plugin.self, 31);
    host.plugin.sched_removed(host.plugin.self, {"s2", 2});
    host.plugin.resource_removed(host.plugin.self, {"hpm", 3});
    ASSERT_EQ(host.manager(PBS_CMD_DELETE, PBS_OBJ_POLICY, "p1").code, 0);
    auto changed = since(before);
    changed.pop_back();
    EXPECT_THAT(changed, ElementsAre("{\"gone\":{\"job\":7}}", "{\"gone\":{\"vnode\":202}}",
                                     "{\"gone\":{\"queue\":102}}", "{\"gone\":{\"reservation\":31}}",
                                     "{\"gone\":{\"sched\":\"s2\"}}", "{\"gone\":{\"resource\":3}}",
                                     "{\"gone\":{\"object\":{\"type\":\"policy\",\"name\":\"p1\"}}}"));
}

TEST_F(Changes, HaveEachKindOfObject) {
    const int64_t before = last();
    host.introduce();
    host.queue(kBatch, "batch", 4);
    host.vnode(kVnode, "n1", 16);
    ASSERT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "comment", "c").code, 0);
    std::string all;
    for (const std::string& line : since(before)) all += line + "\n";
    for (const char* begin : {"{\"resource\":{", "{\"server\":{", "{\"sched\":{\"name\":\"default\"",
                              "{\"queue\":{\"handle\":102,", "{\"vnode\":{\"handle\":201,",
                              "{\"object\":{\"type\":\"policy\",\"name\":\"default_policy\","})
        EXPECT_THAT(all, HasSubstr(begin));
    EXPECT_THAT(all, Not(HasSubstr("gone")));
}

TEST_F(Changes, ComeInSeveralAnswersIfThereAreMany) {
    int64_t version = last();
    constexpr uint64_t kJobs = 5000;
    for (uint64_t job = 1; job <= kJobs; ++job) host.job({.handle = job, .queue = kBatch});
    std::size_t answers = 0;
    std::size_t jobs = 0;
    for (std::vector<std::string> changed = since(version); changed.size() > 1; changed = since(version)) {
        std::size_t bytes = 0;
        for (const std::string& line : changed) bytes += line.size() + 1;
        EXPECT_LT(bytes, std::size_t{300} << 10);
        const int64_t reached = std::stoll(changed.back().substr(changed.back().find(':') + 1));
        EXPECT_EQ(reached, version + static_cast<int64_t>(changed.size()) - 1) << "each line is a change";
        version = reached;
        jobs += changed.size() - 1;
        ++answers;
    }
    EXPECT_EQ(jobs, kJobs);
    EXPECT_EQ(version, last());
    EXPECT_GT(answers, 2U);
}

TEST_F(Changes, AreForgottenAfterAHundredThousand) {
    const int64_t before = last();
    for (int i = 0; i < 100'000; ++i) host.job_removed(1);
    EXPECT_EQ(ask(fmt::format("version={}", before)).code, 0);
    host.job_removed(1);
    const Answer old = ask(fmt::format("version={}", before));
    EXPECT_EQ(old.code, PBSE_HISTORY);
    EXPECT_THAT(old.text, HasSubstr("take a new record"));
    for (const int64_t other : {int64_t{0}, int64_t{999'999}, last() + 1, INT64_MAX})
        EXPECT_EQ(ask(fmt::format("version={}", other)).code, PBSE_HISTORY) << other;
}

TEST_F(Changes, WrongQuestionsAndWrongUsers) {
    for (const char* extend : {"", "version", "version=", "version=-1", "version=x", "version=1;more=1",
                               "version=99999999999999999999", "since=1"})
        EXPECT_EQ(ask(extend).code, PBSE_IVALREQ) << extend;
    EXPECT_EQ(ask("version=1", "nobody").code, PBSE_UNKSCHED);
    host.who = operator_identity();
    EXPECT_EQ(ask("version=1").code, PBSE_PERM);
    host.who = user_identity();
    EXPECT_EQ(ask("version=1").code, PBSE_PERM);
    EXPECT_EQ(ask("rubbish").code, PBSE_PERM) << "those without rights learn nothing";
}

TEST_F(Changes, AreKeptBesidePbsSchedOnceASchedulerIsThePluginsOwn) {
    FakeHost other;
    other.host.has_pbs_sched = 1;
    other.bring_up();
    const Answer answer = other.status(PBS_OBJ_CHANGES, "default");
    EXPECT_EQ(answer.code, PBSE_NOSUP);
    EXPECT_THAT(answer.text, HasSubstr("pbs_sched schedules"));
    other.own_sched = 1;
    other.introduce();
    const int64_t before = other.plugin.last_change(other.plugin.self);
    other.queue(kBatch, "batch");
    const std::string extend = fmt::format("version={}", before);
    pbs_status_request request{};
    request.size = sizeof request;
    request.now = other.now;
    request.object_type = PBS_OBJ_CHANGES;
    request.who = other.who;
    request.extend = {extend.data(), extend.size()};
    EXPECT_THAT(other.status(request).value("text"), HasSubstr("\"batch\""));
}

TEST_F(Changes, ExternalPoliciesLeaveTheStartsToOthers) {
    const pbs_str sched{"default", 7};
    const auto scheduled_by = [&] { return host.plugin.scheduled_by(host.plugin.self, host.now, sched); };
    host.job({.handle = 7, .queue = kBatch});
    EXPECT_EQ(scheduled_by(), PBS_BY_PLUGIN);
    set_algorithm("external");
    EXPECT_EQ(scheduled_by(), PBS_BY_PROGRAM);
    EXPECT_THAT(host.cycle(), IsEmpty());
    EXPECT_EQ(host.attributes_of(PBS_OBJ_SCHED, "default").count("unsupported_settings"), 0U);
    int32_t code = 0;
    EXPECT_TRUE(host.place_job(7, code)) << "an operator may still run it";
    set_algorithm("standard");
    EXPECT_EQ(scheduled_by(), PBS_BY_PLUGIN);
    EXPECT_THAT(host.cycle(), Not(IsEmpty()));
}

TEST_F(Changes, ThePolicyInForceDecidesWhoSchedules) {
    const pbs_str sched{"default", 7};
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "nights", {{"algorithm", "external"}}).code, 0);
    ASSERT_EQ(
        host.manager(
                PBS_CMD_CREATE, PBS_OBJ_TIME_WINDOW, "office",
                {{"rrule", "FREQ=DAILY"}, {"start_time", "0800"}, {"end_time", "1700"}, {"type", "prime"}})
            .code,
        0);
    ASSERT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "default_policy,np:nights").code, 0);
    EXPECT_EQ(host.plugin.scheduled_by(host.plugin.self, kMonday10, sched), PBS_BY_PLUGIN);
    EXPECT_EQ(host.plugin.scheduled_by(host.plugin.self, kMonday10 + 10 * 3600, sched), PBS_BY_PROGRAM);
    host.job({.handle = 7, .queue = kBatch});
    host.now = kMonday10 + 10 * 3600;
    EXPECT_THAT(host.cycle(), IsEmpty());
    host.now = kMonday10 + 24 * 3600;
    EXPECT_THAT(host.cycle(), Not(IsEmpty()));
}

}  // namespace
}  // namespace pbs::plugin_test
