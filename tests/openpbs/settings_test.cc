// Tests that settings of OpenPBS's own objects become settings of policies.
#include "server_plugin/openpbs/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::openpbs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Settings : testing::Test {
    Site before;
    Site after;
    void SetUp() override {
        Sched sched;
        sched.own = true;
        sched.settings = {{"preempt_prio", "express_queue, normal_jobs"}, {"preempt_queue_prio", "150"}};
        before.scheds["default"] = sched;
        after = before;
    }
    std::map<std::string, std::string>& now() { return after.scheds["default"].settings; }
};

TEST_F(Settings, AreTakenOverWhenTheyChange) {
    EXPECT_THAT(changed_settings(before, after), IsEmpty());
    now()["preempt_prio"] = "normal_jobs";
    now()["preempt_sort"] = "min_time_since_start";
    EXPECT_THAT(changed_settings(before, after),
                ElementsAre(ChangedSetting{"default", "preempt_prio", "normal_jobs"},
                            ChangedSetting{"default", "preempt_sort", "min_time_since_start"}));
    now().erase("preempt_prio");
    now().erase("preempt_sort");
    EXPECT_THAT(changed_settings(before, after), ElementsAre(ChangedSetting{"default", "preempt_prio", ""}));
}

TEST_F(Settings, OfASchedulerThatIsNewOrNotThePluginsOwnAreNoChange) {
    after.scheds["other"] = after.scheds["default"];
    now()["preempt_prio"] = "normal_jobs";
    after.scheds["default"].own = false;
    EXPECT_THAT(changed_settings(before, after), IsEmpty());
}

TEST_F(Settings, TheServersFormulaIsThatOfEachSchedulerWithoutOne) {
    before.scheds["night"] = after.scheds["night"] = before.scheds["default"];
    after.server.job_sort_formula = "ncpus";
    EXPECT_THAT(changed_settings(before, after),
                ElementsAre(ChangedSetting{"default", "job_sort_formula", "ncpus"},
                            ChangedSetting{"night", "job_sort_formula", "ncpus"}));
    before.scheds.erase("night");
    before.scheds["default"].settings["job_sort_formula"] = "mem";
    now()["job_sort_formula"] = "mem";
    EXPECT_THAT(changed_settings(before, after), IsEmpty());
}

TEST_F(Settings, AreARequestAboutTheScheduler) {
    const auto request = request_of({"default", "preempt_order", "S"});
    EXPECT_EQ(request.object_type, static_cast<std::uint32_t>(PBS_OBJ_SCHED));
    EXPECT_EQ(request.object, "default");
    EXPECT_EQ(request.command, PBS_CMD_SET);
    EXPECT_EQ(request.attributes.front().name, "preempt_order");
    EXPECT_EQ(request.attributes.front().value, "S");
    EXPECT_EQ(request_of({"default", "preempt_order", ""}).command, PBS_CMD_UNSET);
}

TEST(PendingSettings, WhatCannotBeWrittenIsTriedAgain) {
    const PendingSettings::Time start{};
    const auto later = [&](int seconds) { return start + std::chrono::seconds(seconds); };
    PendingSettings pending;
    EXPECT_EQ(pending.next(start), nullptr);
    pending.add({"default", "preempt_order", "S"});
    pending.add({"default", "preempt_sort", "x"});
    ASSERT_NE(pending.next(start), nullptr);
    EXPECT_EQ(pending.next(start)->name, "preempt_order");
    EXPECT_TRUE(pending.put_off(start)) << "told once";
    ASSERT_NE(pending.next(start), nullptr) << "others don't wait for it";
    EXPECT_EQ(pending.next(start)->name, "preempt_sort");
    pending.done();
    EXPECT_EQ(pending.next(start), nullptr);
    EXPECT_EQ(pending.next(later(29)), nullptr);
    ASSERT_NE(pending.next(later(30)), nullptr);
    EXPECT_EQ(*pending.next(later(30)), (ChangedSetting{"default", "preempt_order", "S"}));
    EXPECT_FALSE(pending.put_off(later(30)));
    EXPECT_EQ(pending.next(later(59)), nullptr);
    ASSERT_NE(pending.next(later(60)), nullptr);
    pending.done();
    EXPECT_EQ(pending.next(later(90)), nullptr);
}

TEST(PendingSettings, ALaterValueTakesThePlaceOfOneThatWaits) {
    const PendingSettings::Time start{};
    PendingSettings pending;
    pending.add({"default", "preempt_order", "S"});
    ASSERT_NE(pending.next(start), nullptr);
    EXPECT_TRUE(pending.put_off(start));
    pending.add({"other", "preempt_order", "C"});
    pending.add({"default", "preempt_order", "R"});
    ASSERT_NE(pending.next(start), nullptr);
    EXPECT_EQ(pending.next(start)->value, "C");
    pending.done();
    EXPECT_EQ(pending.next(start)->value, "R") << "at once, since somebody has asked anew";
    pending.done();
    EXPECT_EQ(pending.next(start + std::chrono::hours(1)), nullptr);
}

TEST_F(Settings, FoldersThatAreOthersNow) {
    EXPECT_THAT(changed_folders(before, after), IsEmpty());
    after.scheds["default"].sched_log = "/var/log/sched";
    after.scheds["other"] = after.scheds["default"];
    EXPECT_THAT(changed_folders(before, after),
                ElementsAre(ChangedFolder{"default", "sched_log", "/var/log/sched"}));
    after.scheds["default"].own = false;
    EXPECT_THAT(changed_folders(before, after), IsEmpty()) << "pbs_sched looks at it";
}

TEST_F(Settings, AreDirectivesForTheFirstStart) {
    EXPECT_EQ(directives_of("default", before.scheds["default"].settings),
              "set sched default preempt_prio = \"express_queue, normal_jobs\"\n"
              "set sched default preempt_queue_prio = \"150\"\n");
}

}  // namespace
}  // namespace pbs::openpbs
