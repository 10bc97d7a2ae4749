// Tests long changes of the configuration: the plugin makes them in a thread, while its host goes on.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "ifl/pbs_error.h"
#include "tests/plugin/fake_host.h"
#include "tests/windows.h"

namespace pbs::plugin_test {
namespace {
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LongChange : public ::testing::Test {
  protected:
    void SetUp() override { host.bring_up(); }

    Answer ask(uint64_t ticket, int32_t type, const std::string& name, const Change& change) {
        return host.ask(ticket, type, name, change);
    }
    Answer await(uint64_t ticket, int32_t type, const std::string& name, const Change& change) {
        return host.await(ticket, type, name, change);
    }
    std::size_t policies() { return host.status(PBS_OBJ_POLICY, "").objects.size(); }
    std::string revision() {
        const std::string extend = "limit=1";
        pbs_status_request request{};
        request.size = sizeof request;
        request.now = host.now;
        request.object_type = PBS_OBJ_HISTORY;
        request.who = host.who;
        request.extend = {extend.data(), extend.size()};
        return host.status(request).objects.at(0).name;
    }
    static Change import(int count) {
        std::string policies;
        for (int i = 0; i < count; ++i)
            policies += (i == 0 ? "\"p" : ", \"p") + std::to_string(i) +
                        R"(": {"backfill_depth": "3", "help_starving_jobs": "False"})";
        return {"import", R"({"format": 1, "policy": {)" + policies + "}}"};
    }

    FakeHost host;
};

TEST_F(LongChange, ImportIsMadeInAThreadAndHoldsWhenItIsAnswered) {
    const Change document = import(300);
    ASSERT_EQ(ask(7, PBS_OBJ_CONFIGURATION, "", document).code, PBSE_TRYAGAIN);
    // The host doesn't see the thread's change yet.
    EXPECT_EQ(policies(), 1U);
    EXPECT_EQ(revision(), "2");
    EXPECT_TRUE(host.cycle().empty());
    const Answer answer = await(7, PBS_OBJ_CONFIGURATION, "", document);
    EXPECT_EQ(answer.code, 0) << answer.text;
    EXPECT_THAT(answer.warnings, Contains(HasSubstr("policy p0 is created")));
    EXPECT_EQ(policies(), 301U);
    EXPECT_EQ(revision(), "302");
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "p299").value("backfill_depth"), "3");
    EXPECT_TRUE(host.logged("and 200 more settings that have no effect"));
}

// Each tick logs the settings of a thousand objects. The importing client gets at most as many warnings.
TEST_F(LongChange, ManyChangedObjectsAreLoggedByTheNextTicks) {
    const Answer answer = await(7, PBS_OBJ_CONFIGURATION, "", import(2500));
    ASSERT_EQ(answer.code, 0) << answer.text;
    EXPECT_THAT(answer.warnings, Contains("Warning: and 1500 more"));
    EXPECT_THAT(answer.warnings, Contains(HasSubstr("and 6500 more")));
    EXPECT_LE(answer.warnings.size(), 2002U);
    int ticks = 0;
    for (; host.next_deadline() <= host.now; ++ticks) host.tick();
    EXPECT_EQ(ticks, 2);
    EXPECT_TRUE(host.logged("and 2400 more settings that have no effect"));
}

TEST_F(LongChange, GoingBackIsMadeInAThreadToo) {
    ASSERT_EQ(await(7, PBS_OBJ_CONFIGURATION, "", import(3)).code, 0);
    ASSERT_EQ(ask(8, PBS_OBJ_CONFIGURATION, "", {"revision", "2"}).code, PBSE_TRYAGAIN);
    EXPECT_EQ(policies(), 4U);
    EXPECT_EQ(await(8, PBS_OBJ_CONFIGURATION, "", {"revision", "2"}).code, 0);
    EXPECT_EQ(policies(), 1U);
}

TEST_F(LongChange, ALongChangeIsThereAfterARestart) {
    ASSERT_EQ(await(7, PBS_OBJ_CONFIGURATION, "", import(300)).code, 0);
    host.stop();
    FakeHost next(host.home());
    next.bring_up();
    EXPECT_EQ(next.status(PBS_OBJ_POLICY, "").objects.size(), 301U);
}

TEST_F(LongChange, OtherChangesWaitForTheirTurn) {
    const Change document = import(300);
    const Change other{"by_queue", "False"};
    ASSERT_EQ(ask(7, PBS_OBJ_CONFIGURATION, "", document).code, PBSE_TRYAGAIN);
    EXPECT_EQ(ask(8, PBS_OBJ_POLICY, "default_policy", other).code, PBSE_TRYAGAIN);
    const Answer impatient = ask(0, PBS_OBJ_POLICY, "default_policy", other);
    EXPECT_EQ(impatient.code, PBSE_OBJBUSY);
    EXPECT_THAT(impatient.text, HasSubstr("another change of the configuration is under way"));
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "default_policy").value("by_queue"), "True");
    ASSERT_EQ(await(7, PBS_OBJ_CONFIGURATION, "", document).code, 0);
    EXPECT_EQ(await(8, PBS_OBJ_POLICY, "default_policy", other).code, 0);
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "default_policy").value("by_queue"), "False");
    EXPECT_EQ(policies(), 301U);
}

TEST_F(LongChange, FilesAreMigratedInAThread) {
    const auto times = [](int count) {
        std::string text = "dedicated_time\n";
        for (int i = 0; i < count; ++i) text += fmt::format("12/24/{0} 08:00 12/24/{0} 18:00\n", 2026 + i);
        return Change{"migrate.dedicated_time", text};
    };
    ASSERT_EQ(ask(7, PBS_OBJ_CONFIGURATION, "", times(2)).code, PBSE_TRYAGAIN);
    EXPECT_EQ(host.status(PBS_OBJ_TIME_WINDOW, "").objects.size(), 0U);
    const Answer answer = await(7, PBS_OBJ_CONFIGURATION, "", times(2));
    EXPECT_EQ(answer.code, 0) << answer.text;
    EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("dedicated_time:1")));
    EXPECT_EQ(host.status(PBS_OBJ_TIME_WINDOW, "").objects.size(), 1U);
    EXPECT_THAT(host.read("server_priv/migration_report"), HasSubstr("dedicated_time:1"));
    // A second migration of the same files changes no object, but writes the report again.
    const std::string done = revision();
    std::filesystem::remove(host.home() / "server_priv/migration_report");
    EXPECT_EQ(await(8, PBS_OBJ_CONFIGURATION, "", times(2)).code, 0);
    EXPECT_EQ(revision(), done);
    EXPECT_THAT(host.read("server_priv/migration_report"), HasSubstr("dedicated_time:1"));
    const Answer refused = await(9, PBS_OBJ_CONFIGURATION, "", times(1000));
    EXPECT_EQ(refused.code, PBSE_BADATVAL);
    EXPECT_THAT(refused.text, HasSubstr("dedicated_time:"));
    EXPECT_EQ(revision(), done);
    host.stop();
    FakeHost next(host.home());
    next.bring_up();
    EXPECT_EQ(next.status(PBS_OBJ_TIME_WINDOW, "").objects.size(), 1U);
}

// A change that was staged before the long change precedes it, even though it is committed later.
TEST_F(LongChange, AStagedChangeIsCommittedBeforeALongOne) {
    host.commits = false;
    ASSERT_EQ(ask(6, PBS_OBJ_POLICY, "default_policy", {"by_queue", "False"}).code, 0);
    ASSERT_EQ(await(7, PBS_OBJ_CONFIGURATION, "", import(3)).code, 0);
    char text[256] = "";
    EXPECT_EQ(host.plugin.commit(host.plugin.self, host.now, text, sizeof text), 0) << text;
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "default_policy").value("by_queue"), "False");
    EXPECT_EQ(policies(), 4U);
}

TEST_F(LongChange, ARefusalChangesNothing) {
    const Change document{"import", R"({"format": 1, "policy": {"p1": {"backfill_depth": "many"}}})"};
    const Answer answer = await(7, PBS_OBJ_CONFIGURATION, "", document);
    EXPECT_EQ(answer.code, PBSE_BADATVAL);
    EXPECT_THAT(answer.text, HasSubstr("policy p1: backfill_depth: bad value 'many'"));
    EXPECT_EQ(policies(), 1U);
    EXPECT_EQ(await(8, PBS_OBJ_CONFIGURATION, "", import(1)).code, 0);
}

TEST_F(LongChange, WhatIsGivenUpHasNotHappened) {
    const Change document = import(300);
    // Give the change up, once at once and once after some time.
    for (const auto pause : {std::chrono::milliseconds(0), std::chrono::milliseconds(300)}) {
        ASSERT_EQ(ask(7, PBS_OBJ_CONFIGURATION, "", document).code, PBSE_TRYAGAIN);
        std::this_thread::sleep_for(pause);
        host.plugin.abandon(host.plugin.self, 6);  // the ticket of no request
        host.plugin.abandon(host.plugin.self, 7);
        EXPECT_EQ(await(8, PBS_OBJ_POLICY, "default_policy", {"backfill_depth", "2"}).code, 0);
        EXPECT_EQ(policies(), 1U);
        host.set(PBS_OBJ_POLICY, "default_policy", "backfill_depth", "1");
    }
    ASSERT_EQ(ask(9, PBS_OBJ_CONFIGURATION, "", document).code, PBSE_TRYAGAIN);
    host.stop();
    FakeHost next(host.home());
    next.bring_up();
    EXPECT_EQ(next.status(PBS_OBJ_POLICY, "").objects.size(), 1U);
}

// Each of four queues has many windows of one day a year. Comparing them all in one call would keep others
// waiting.
TEST_F(LongChange, WindowsThatTakeLongToCompareAreComparedInAThread) {
    const auto windows = pbs::test::yearly_windows(300);
    ASSERT_EQ(await(1, PBS_OBJ_CONFIGURATION, "", {"import", windows.document}).code, 0);
    for (uint64_t queue = 1; queue <= 4; ++queue) {
        host.queue(queue, fmt::format("q{}", queue));
        ASSERT_EQ(host.set(PBS_OBJ_QUEUE, fmt::format("q{}", queue), "time_window", windows.names).code, 0);
    }
    const Change days{"non_work_days", "12/24"};
    EXPECT_EQ(ask(2, PBS_OBJ_SERVER, "", days).code, PBSE_TRYAGAIN);
    EXPECT_EQ(host.attributes_of(PBS_OBJ_SERVER, "").count("non_work_days"), 0U);
    const Answer answer = await(2, PBS_OBJ_SERVER, "", days);
    EXPECT_EQ(answer.code, 0) << answer.text;
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SERVER, "")["non_work_days"], HasSubstr("BYMONTHDAY=24"));
    // Without a ticket the host can't repeat its call, so the request is refused.
    const Answer refused = host.set(PBS_OBJ_SERVER, "", "non_work_days", "12/25");
    EXPECT_EQ(refused.code, PBSE_BADATVAL);
    EXPECT_THAT(refused.text, HasSubstr("take too long to compare"));
}

}  // namespace
}  // namespace pbs::plugin_test
