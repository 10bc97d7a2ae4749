// Tests Manager and status requests through the plugin's C interface: its objects, its attributes of the
// host's objects, and the attributes that it adds to `list server`, `list queue` and `list sched`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_error.h"
#include "objects/database.h"
#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class Requests : public ::testing::Test {
  protected:
    void SetUp() override { host.bring_up(); }

    std::vector<std::string> names(int32_t type) {
        std::vector<std::string> out;
        for (const Answer::Object& object : host.status(type, "").objects) out.push_back(object.name);
        return out;
    }
    // Creates a time_window of weekdays, from 08:00 to 17:00.
    void make_window(const std::string& name, const std::string& type) {
        const Answer made = host.manager(PBS_CMD_CREATE, PBS_OBJ_TIME_WINDOW, name,
                                         {{"rrule", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
                                          {"start_time", "0800"},
                                          {"end_time", "1700"},
                                          {"type", type}});
        ASSERT_EQ(made.code, 0) << made.text;
    }

    FakeHost host;
};

TEST_F(Requests, FreshInstallationHasTheDefaultPolicy) {
    EXPECT_THAT(names(PBS_OBJ_POLICY), UnorderedElementsAre("default_policy"));
    EXPECT_THAT(names(PBS_OBJ_TIME_WINDOW), IsEmpty());
    EXPECT_THAT(names(PBS_OBJ_FS_GROUP), IsEmpty());
    const Answer defaults = host.status(PBS_OBJ_POLICY, "default_policy");
    EXPECT_EQ(defaults.value("by_queue"), "True");
    EXPECT_EQ(defaults.value("max_starve"), "24:00:00");
    const auto sched = host.attributes_of(PBS_OBJ_SCHED, "default");
    EXPECT_THAT(sched, Contains(Pair("policy", "default_policy")));
    EXPECT_THAT(sched, Contains(Pair("active_policy", "default_policy")));
    EXPECT_THAT(sched, Contains(Pair("prime_time", "False")));
}

TEST_F(Requests, PolicyRoundTrip) {
    EXPECT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1").code, 0);
    EXPECT_EQ(
        host.manager(PBS_CMD_SET, PBS_OBJ_POLICY, "p1", {{"by_queue", "False"}, {"strict_ordering", "True"}})
            .code,
        0);
    const Answer both = host.status(PBS_OBJ_POLICY, "p1", {"by_queue", "strict_ordering"});
    ASSERT_EQ(both.objects.size(), 1u);
    EXPECT_EQ(both.objects[0].type, PBS_OBJ_POLICY);
    EXPECT_THAT(both.objects[0].attributes,
                UnorderedElementsAre(Pair("by_queue", "False"), Pair("strict_ordering", "True")));
    EXPECT_EQ(host.manager(PBS_CMD_UNSET, PBS_OBJ_POLICY, "p1", {{"by_queue", ""}}).code, 0);
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "p1").value("by_queue"), "True");
    EXPECT_EQ(host.manager(PBS_CMD_DELETE, PBS_OBJ_POLICY, "p1").code, 0);
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "p1").code, PBSE_POLICY_NOT_FOUND);
}

TEST_F(Requests, ListOperators) {
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1").code, 0);
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "p1", "exclude_resources", "vmem").code, 0);
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "p1", "exclude_resources", "mem", PBS_OP_INCR).code, 0);
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "p1").value("exclude_resources"), "vmem,mem");
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "p1", "exclude_resources", "vmem", PBS_OP_DECR).code, 0);
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "p1").value("exclude_resources"), "mem");
}

TEST_F(Requests, UnknownNamesOfEachTypeAre15212) {
    for (const int32_t type : {PBS_OBJ_POLICY, PBS_OBJ_TIME_WINDOW, PBS_OBJ_FS_GROUP}) {
        EXPECT_EQ(host.status(type, "nowhere").code, 15212) << type;
    }
}

TEST_F(Requests, AnErrorNamesAttributeAndExpectation) {
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1").code, 0);
    const Answer bad = host.set(PBS_OBJ_POLICY, "p1", "by_queue", "perhaps");
    EXPECT_EQ(bad.code, PBSE_BADATVAL);
    EXPECT_THAT(bad.text, HasSubstr("by_queue"));
    EXPECT_THAT(bad.text, HasSubstr("perhaps"));
    const Answer unknown = host.set(PBS_OBJ_POLICY, "p1", "by_qeue", "True");
    EXPECT_EQ(unknown.code, PBSE_NOATTR);
    EXPECT_THAT(unknown.text, HasSubstr("by_qeue"));
}

TEST_F(Requests, OneBadAttributeLeavesAllAlone) {
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1").code, 0);
    EXPECT_NE(
        host.manager(PBS_CMD_SET, PBS_OBJ_POLICY, "p1", {{"by_queue", "False"}, {"max_starve", "soon"}}).code,
        0);
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "p1").value("by_queue"), "True");
    EXPECT_NE(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p2", {{"max_starve", "soon"}}).code, 0);
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "p2").code, PBSE_POLICY_NOT_FOUND);
}

TEST_F(Requests, OnlyManagersChangeAndEverybodyStats) {
    for (const pbs_identity& who : {user_identity(), operator_identity()}) {
        host.who = who;
        EXPECT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "mine").code, PBSE_PERM);
        EXPECT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "by_queue", "False").code, PBSE_PERM);
        EXPECT_EQ(host.set(PBS_OBJ_SERVER, "", "non_work_days", "12/25").code, PBSE_PERM);
        EXPECT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "default_policy").code, PBSE_PERM);
        EXPECT_EQ(host.status(PBS_OBJ_POLICY, "default_policy").code, 0);
    }
}

TEST_F(Requests, WhatIsOnlyCheckedChangesNothing) {
    make_window("t1", "standard");
    const auto str = [](const std::string& text) { return pbs_str{text.data(), text.size()}; };
    const auto check = [&](int32_t command, int32_t type, const std::string& name,
                           const std::string& attribute, const std::string& value) {
        const pbs_attr attr{str(attribute), {}, str(value), PBS_OP_SET, 0};
        pbs_manager_request request{};
        request.size = sizeof request;
        request.now = host.now;
        request.command = command;
        request.object_type = type;
        request.object_name = str(name);
        request.attrs = &attr;
        request.attr_count = attribute.empty() ? 0 : 1;
        request.who = host.who;
        request.check_only = 1;
        return host.manager(request).code;
    };
    EXPECT_EQ(check(PBS_CMD_SET, PBS_OBJ_QUEUE, "workq", "time_window", "t1"), 0);
    EXPECT_EQ(check(PBS_CMD_SET, PBS_OBJ_QUEUE, "workq", "time_window", "t9"), PBSE_BADATVAL);
    EXPECT_EQ(check(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1", "", ""), 0);
    EXPECT_EQ(check(PBS_CMD_DELETE, PBS_OBJ_TIME_WINDOW, "t1", "", ""), 0);
    EXPECT_EQ(check(PBS_CMD_DELETE, PBS_OBJ_TIME_WINDOW, "t9", "", ""), PBSE_POLICY_NOT_FOUND);
    EXPECT_THAT(host.attributes_of(PBS_OBJ_QUEUE, "workq"), IsEmpty());
    EXPECT_THAT(names(PBS_OBJ_POLICY), UnorderedElementsAre("default_policy"));
    EXPECT_THAT(names(PBS_OBJ_TIME_WINDOW), UnorderedElementsAre("t1"));
    host.who = operator_identity();
    EXPECT_EQ(check(PBS_CMD_SET, PBS_OBJ_QUEUE, "workq", "time_window", "t1"), PBSE_PERM);
}

TEST_F(Requests, AnUnauthenticatedManagerIsRefused) {
    host.who = manager_identity();
    host.who.authenticated = 0;
    EXPECT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1").code, PBSE_PERM);
}

TEST_F(Requests, InvalidRequestsAreRefused) {
    EXPECT_EQ(host.manager(17, PBS_OBJ_POLICY, "p1").code, PBSE_IVALREQ);
    EXPECT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_NODE, "n1").code, PBSE_IVALREQ);
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "by_queue", "True", 9).code, PBSE_IVALREQ);
    EXPECT_EQ(host.status(PBS_OBJ_QUEUE, "").code, PBSE_IVALREQ);
    EXPECT_EQ(host.manager(PBS_CMD_DELETE, PBS_OBJ_SERVER, "").code, PBSE_IVALREQ);

    for (const size_t size : {sizeof(pbs_manager_request) - 8, sizeof(pbs_manager_request) + 8}) {
        pbs_manager_request other{};
        other.size = size;
        EXPECT_EQ(host.manager(other).code, PBSE_INTERNAL) << "of another version";
    }
    pbs_manager_request without{};
    without.size = sizeof without;
    without.object_type = PBS_OBJ_POLICY;
    without.attr_count = 3;  // a number of attributes without an array
    without.who = host.who;
    EXPECT_EQ(host.manager(without).code, PBSE_IVALREQ);
}

TEST_F(Requests, DefaultPolicyCanNotBeDeleted) {
    EXPECT_NE(host.manager(PBS_CMD_DELETE, PBS_OBJ_POLICY, "default_policy").code, 0);
    EXPECT_THAT(names(PBS_OBJ_POLICY), Contains("default_policy"));
}

TEST_F(Requests, WhatIsReferredToCanNotBeDeleted) {
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1").code, 0);
    ASSERT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "p1").code, 0);
    const Answer busy = host.manager(PBS_CMD_DELETE, PBS_OBJ_POLICY, "p1");
    EXPECT_EQ(busy.code, PBSE_OBJBUSY);
    EXPECT_THAT(busy.text, HasSubstr("default"));
}

TEST_F(Requests, SchedPolicySlots) {
    for (const char* name : {"p1", "p2", "p3"})
        ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, name).code, 0);
    EXPECT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "p1,p:p2,np:p3").code, 0);
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default"), Contains(Pair("policy", "p1,p:p2,np:p3")));
    EXPECT_EQ(host.manager(PBS_CMD_UNSET, PBS_OBJ_SCHED, "default", {{"policy", ""}}).code, 0);
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default"), Not(Contains(Key("policy"))));
    const Answer alone = host.set(PBS_OBJ_SCHED, "default", "policy", "p:p2", PBS_OP_INCR);
    EXPECT_NE(alone.code, 0);
    EXPECT_EQ(alone.text, "Cannot set prime/non-prime time policy without setting an all time policy");
}

// Tests attributes that policies have, and that OpenPBS has at its schedulers.
class PoliciesOfAScheduler : public Requests {
  protected:
    void SetUp() override {
        Requests::SetUp();
        for (const char* name : {"p1", "p2"})
            ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, name).code, 0);
        ASSERT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "p1,p:p2,np:p1").code, 0);
    }
    std::vector<std::string> values(const std::string& attribute) {
        std::vector<std::string> all;
        for (const char* name : {"p1", "p2", "default_policy"})
            all.push_back(host.status(PBS_OBJ_POLICY, name).value(attribute));
        return all;
    }
    std::size_t rows_of_history() { return host.status(PBS_OBJ_HISTORY, "").objects.size(); }
};

TEST_F(PoliciesOfAScheduler, AreSetAndUnsetTogether) {
    const Answer set = host.set(PBS_OBJ_SCHED, "default", "preempt_order", "R");
    EXPECT_EQ(set.code, 0) << set.text;
    EXPECT_THAT(set.warnings, Contains("sched default: preempt_order is set in its policies: p1, p2"));
    EXPECT_THAT(values("preempt_order"), ElementsAre("R", "R", "SCR"));
    const Answer unset = host.manager(PBS_CMD_UNSET, PBS_OBJ_SCHED, "default", {{"preempt_order", ""}});
    EXPECT_THAT(unset.warnings, Contains("sched default: preempt_order is unset in its policies: p1, p2"));
    EXPECT_THAT(values("preempt_order"), ElementsAre("SCR", "SCR", "SCR"));
    host.cycle();
    const auto history = host.status(PBS_OBJ_HISTORY, "").objects;
    ASSERT_GE(history.size(), 2U);
    EXPECT_EQ(history.back().attributes.at("command"), "unset sched default preempt_order");
    EXPECT_EQ(history.back().attributes.at("change"), history[history.size() - 2].attributes.at("change"));
}

TEST_F(PoliciesOfAScheduler, AreAllLeftAloneWhenOneRefuses) {
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_FS_GROUP, "team").code, 0);
    ASSERT_EQ(host.set(PBS_OBJ_POLICY, "p1", "fairshare_group", "team").code, 0);
    const std::size_t before = rows_of_history();
    const Answer refused = host.set(PBS_OBJ_SCHED, "default", "fairshare", "True");
    EXPECT_EQ(refused.code, PBSE_BADATVAL);
    EXPECT_THAT(refused.text, HasSubstr("policy p2: fairshare"));
    EXPECT_THAT(values("fairshare"), ElementsAre("False", "False", "False"));
    EXPECT_EQ(rows_of_history(), before);
}

TEST_F(PoliciesOfAScheduler, AreAllLeftAloneWhenOneCannotBeWritten) {
    host.stop();
    {
        auto database = objects::Database::open((host.home() / "server_priv/policy.db").string());
        ASSERT_TRUE(database) << database.error().message;
        const auto made = (*database)->run(
            "CREATE TRIGGER fails BEFORE INSERT ON attribute WHEN NEW.object = (SELECT id FROM object WHERE "
            "name = 'p2') BEGIN SELECT RAISE(ABORT, 'no room'); END");
        ASSERT_TRUE(made) << made.error().message;
    }
    FakeHost again(host.home());
    again.bring_up();
    const Answer refused = again.set(PBS_OBJ_SCHED, "default", "preempt_order", "R");
    EXPECT_EQ(refused.code, PBSE_SYSTEM);
    EXPECT_THAT(refused.text, HasSubstr("no room"));
    EXPECT_EQ(again.status(PBS_OBJ_POLICY, "p1").value("preempt_order"), "SCR");
    EXPECT_EQ(again.set(PBS_OBJ_POLICY, "p1", "preempt_order", "R").code, 0) << "it can be written alone";
}

TEST_F(PoliciesOfAScheduler, AreNotChangedTogetherWithItsSlotsOrByOthers) {
    const Answer mixed = host.manager(PBS_CMD_SET, PBS_OBJ_SCHED, "default",
                                      {{"preempt_order", "R"}, {"policy", "default_policy"}});
    EXPECT_EQ(mixed.code, PBSE_BADATVAL);
    EXPECT_EQ(mixed.text, "preempt_order is an attribute of policies: set it in a request of its own");
    const Answer none = host.set(PBS_OBJ_SCHED, "other", "preempt_order", "R");
    EXPECT_EQ(none.code, PBSE_BADATVAL);
    EXPECT_EQ(none.text, "preempt_order is an attribute of policies, and sched other has none");
    host.who = operator_identity();
    EXPECT_EQ(host.set(PBS_OBJ_SCHED, "default", "preempt_order", "R").code, PBSE_PERM);
    host.who = manager_identity();
    EXPECT_THAT(values("preempt_order"), ElementsAre("SCR", "SCR", "SCR"));
    EXPECT_EQ(host.set(PBS_OBJ_SCHED, "default", "by_que", "R").code, PBSE_NOATTR);
}

TEST_F(Requests, ActivePolicyFollowsPrimeTime) {
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "day").code, 0);
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "night").code, 0);
    make_window("office", "prime");
    ASSERT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "default_policy,p:day,np:night").code, 0);
    const auto now = host.attributes_of(PBS_OBJ_SCHED, "default");
    EXPECT_THAT(now, Contains(Pair("active_policy", "day")));
    EXPECT_THAT(now, Contains(Pair("prime_time", "True")));
    EXPECT_THAT(now,
                Contains(Pair("next_policy_change", "Mon Nov 23 17:00:00 2026 to night, non-prime time")));
}

TEST_F(Requests, NonWorkDaysMakeAHolidayNonPrime) {
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "day").code, 0);
    make_window("office", "prime");
    ASSERT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "default_policy,p:day").code, 0);
    EXPECT_EQ(host.set(PBS_OBJ_SERVER, "", "non_work_days", "11/23").code, 0);
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default"), Contains(Pair("prime_time", "True")))
        << "the window applies on holidays";
    EXPECT_EQ(host.set(PBS_OBJ_TIME_WINDOW, "office", "applies_on_holidays", "False").code, 0);
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default"), Contains(Pair("prime_time", "False")));
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SERVER, ""),
                Contains(Pair("non_work_days", "FREQ=YEARLY;BYMONTH=11;BYMONTHDAY=23")));
}

TEST_F(Requests, ShownAttributesAreReadOnly) {
    const Answer refused = host.set(PBS_OBJ_SCHED, "default", "active_policy", "p1");
    EXPECT_EQ(refused.code, PBSE_ATTRRO);
    EXPECT_THAT(refused.text, HasSubstr("active_policy"));
}

TEST_F(Requests, QueueWindowsFollowTheQueue) {
    make_window("office", "standard");
    EXPECT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_QUEUE, "q1").code, 0);
    EXPECT_EQ(host.set(PBS_OBJ_QUEUE, "q1", "time_window", "office").code, 0);
    EXPECT_THAT(host.attributes_of(PBS_OBJ_QUEUE, "q1"), Contains(Pair("time_window", "office")));
    EXPECT_EQ(host.manager(PBS_CMD_DELETE, PBS_OBJ_TIME_WINDOW, "office").code, PBSE_OBJBUSY);
    EXPECT_EQ(host.manager(PBS_CMD_DELETE, PBS_OBJ_QUEUE, "q1").code, 0);
    EXPECT_EQ(host.manager(PBS_CMD_DELETE, PBS_OBJ_TIME_WINDOW, "office").code, 0);
}

TEST_F(Requests, AQueueIsCreatedWithItsWindow) {
    make_window("office", "standard");
    EXPECT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_QUEUE, "q1", {{"time_window", "office"}}).code, 0);
    EXPECT_THAT(host.attributes_of(PBS_OBJ_QUEUE, "q1"), Contains(Pair("time_window", "office")));
    // If the host died before it committed a new queue, it creates the queue again. The attributes of the
    // first creation are gone.
    EXPECT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_QUEUE, "q1").code, 0);
    EXPECT_THAT(host.attributes_of(PBS_OBJ_QUEUE, "q1"), IsEmpty());
}

TEST_F(Requests, OverlappingWindowsOnAQueueAreRefused) {
    make_window("office", "standard");
    make_window("again", "standard");
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_QUEUE, "q1").code, 0);
    const Answer refused = host.set(PBS_OBJ_QUEUE, "q1", "time_window", "office,again");
    EXPECT_NE(refused.code, 0);
    EXPECT_THAT(refused.text, HasSubstr("office"));
    EXPECT_THAT(refused.text, HasSubstr("again"));
}

TEST_F(Requests, AFormulaOfTheServerIsCheckedAndNotKept) {
    EXPECT_EQ(host.manager(PBS_CMD_SET, PBS_OBJ_SERVER, "", {{"job_sort_formula", "ncpus*2"}}).code, 0);
    const Answer refused = host.manager(PBS_CMD_SET, PBS_OBJ_SERVER, "",
                                        {{"non_work_days", "12/25"}, {"job_sort_formula", "2*"}});
    EXPECT_EQ(refused.code, PBSE_BADATVAL);
    EXPECT_THAT(refused.text, HasSubstr("job_sort_formula: bad formula '2*': at position 3"));
    for (const char* bad : {"nosuch*2", "ncpus=5", "ncpus,mem"})
        EXPECT_EQ(host.manager(PBS_CMD_SET, PBS_OBJ_SERVER, "", {{"job_sort_formula", bad}}).code,
                  PBSE_BADATVAL)
            << bad;
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SERVER, ""),
                UnorderedElementsAre(Pair("time_zone", "UTC"), Pair("server_time", "2026-11-23T10:00:00Z")));
    EXPECT_EQ(host.manager(PBS_CMD_SET, PBS_OBJ_SERVER, "",
                           {{"non_work_days", "12/25"}, {"job_sort_formula", "ncpus"}})
                  .code,
              0);
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SERVER, ""), Contains(Pair("non_work_days", testing::_)));
}

TEST_F(Requests, FairshareNeedsAGroup) {
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_FS_GROUP, "f1").code, 0);
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1").code, 0);
    EXPECT_NE(host.set(PBS_OBJ_POLICY, "p1", "fairshare", "True").code, 0);
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "p1", "fairshare_group", "f1").code, 0);
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "p1", "fairshare", "True").code, 0);
    EXPECT_EQ(host.status(PBS_OBJ_FS_GROUP, "f1").value("decay_time"), "24:00:00");
}

TEST_F(Requests, OwnsItsAttributesOnly) {
    const auto owns = [&](int32_t type, std::string_view name) {
        return host.plugin.owns_attribute(host.plugin.self, type, {name.data(), name.size()});
    };
    EXPECT_EQ(owns(PBS_OBJ_SERVER, "non_work_days"), 1);
    EXPECT_EQ(owns(PBS_OBJ_QUEUE, "time_window"), 1);
    EXPECT_EQ(owns(PBS_OBJ_SCHED, "policy"), 1);
    EXPECT_EQ(owns(PBS_OBJ_SERVER, "managers"), 0);
    EXPECT_EQ(owns(PBS_OBJ_QUEUE, "policy"), 0);
    EXPECT_EQ(owns(PBS_OBJ_SCHED, "partition"), 0);
}

TEST_F(Requests, SettingsNotActedOnAreNamedOnce) {
    ASSERT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "server_host", "fermi").code, 0);
    const auto count = [&] {
        size_t lines = 0;
        for (const std::string& line : host.log)
            lines += line.find("server_host") != std::string::npos &&
                     line.find("has no effect") != std::string::npos;
        return lines;
    };
    host.cycle();
    EXPECT_EQ(count(), 1u);
    ASSERT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "comment", "x").code, 0);
    host.cycle();
    EXPECT_EQ(count(), 1u) << "told again";
}

TEST_F(Requests, QueuesThatAPolicyNamesExistAndStay) {
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1").code, 0);
    const Answer unknown = host.set(PBS_OBJ_POLICY, "p1", "dedicated_queues", "night");
    EXPECT_EQ(unknown.code, PBSE_BADATVAL);
    EXPECT_THAT(unknown.text, HasSubstr("dedicated_queues: bad value 'night': there is no queue 'night'"));
    host.queue(7, "night");
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "p1", "dedicated_queues", "night").code, 0);
    const Answer held = host.manager(PBS_CMD_DELETE, PBS_OBJ_QUEUE, "night");
    EXPECT_EQ(held.code, PBSE_OBJBUSY);
    EXPECT_THAT(held.text, HasSubstr("in use by policy p1 (dedicated_queues)"));
    EXPECT_EQ(host.manager(PBS_CMD_UNSET, PBS_OBJ_POLICY, "p1", {{"dedicated_queues", ""}}).code, 0);
    EXPECT_EQ(host.manager(PBS_CMD_DELETE, PBS_OBJ_QUEUE, "night").code, 0);
    host.plugin.queue_removed(host.plugin.self, 7);
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "p1", "dedicated_queues", "night").code, PBSE_BADATVAL);
}

TEST_F(Requests, ResourcesThatAPolicyNamesExistAndStay) {
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1").code, 0);
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "p1", "exclude_resources", "fuel").code, PBSE_BADATVAL);
    pbs_resource_record record{};
    record.size = sizeof record;
    record.id = 90;
    record.kind = PBS_RES_LONG;
    record.name = {"fuel", 4};
    host.plugin.resource_defined(host.plugin.self, &record);
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "p1", "exclude_resources", "fuel").code, 0);
    const Answer held = host.manager(PBS_CMD_DELETE, PBS_OBJ_RESOURCE, "fuel");
    EXPECT_EQ(held.code, PBSE_OBJBUSY);
    EXPECT_THAT(held.text, HasSubstr("resource fuel is in use by policy p1 (exclude_resources)"));
    EXPECT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_RESOURCE, "fuel").code, PBSE_IVALREQ);
    EXPECT_EQ(host.manager(PBS_CMD_DELETE, PBS_OBJ_POLICY, "p1").code, 0);
    EXPECT_EQ(host.manager(PBS_CMD_DELETE, PBS_OBJ_RESOURCE, "fuel").code, 0);
    host.plugin.resource_removed(host.plugin.self, {"fuel", 4});
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p2").code, 0);
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "p2", "exclude_resources", "fuel").code, PBSE_BADATVAL);
    record.stays = 1;
    host.plugin.resource_defined(host.plugin.self, &record);
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "p2", "exclude_resources", "fuel").code, 0);
    EXPECT_EQ(host.manager(PBS_CMD_DELETE, PBS_OBJ_RESOURCE, "fuel").code, 0) << "it is built in, too";
    host.plugin.resource_removed(host.plugin.self, {"fuel", 4});
    host.plugin.resource_defined(host.plugin.self, &record);
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "p2", "exclude_resources", "mem,fuel").code, 0);
}

TEST_F(Requests, WhatTheHostChangesIsInTheHistory) {
    const pbs_host_change change{PBS_OBJ_NODE, 0, {"n1", 2}, {"null", 4}, {R"({"Priority":"3"})", 16}};
    pbs_manager_request request{};
    request.size = sizeof request;
    request.now = host.now;
    request.command = PBS_CMD_CREATE;
    request.object_type = PBS_OBJ_NODE;
    request.object_name = {"n1", 2};
    request.who = host.who;
    request.text = {"create node n1 Priority = 3", 27};
    request.host_changes = &change;
    request.host_change_count = 1;
    EXPECT_EQ(host.manager(request).code, 0);
    pbs_status_request query{};
    query.size = sizeof query;
    query.now = host.now;
    query.object_type = PBS_OBJ_HISTORY;
    query.who = host.who;
    const std::string extend = "type=node;name=n1";
    query.extend = {extend.data(), extend.size()};
    const Answer rows = host.status(query);
    ASSERT_EQ(rows.objects.size(), 1u);
    EXPECT_EQ(rows.value("command"), "create node n1 Priority = 3");
    EXPECT_EQ(rows.value("after"), R"({"Priority":"3"})");
    request.host_changes = nullptr;
    EXPECT_EQ(host.manager(request).code, PBSE_IVALREQ);
    // Request the node as it was at the revision before.
    query.object_type = PBS_OBJ_CONFIGURATION;
    const std::string before = "part=host;revision=" + std::to_string(std::stoi(rows.objects[0].name) - 1);
    query.extend = {before.data(), before.size()};
    const Answer past = host.status(query);
    ASSERT_EQ(past.objects.size(), 1u);
    EXPECT_EQ(past.objects[0].type, PBS_OBJ_NODE);
    EXPECT_EQ(past.value("attributes"), "null");
    const std::string wrong = "part=other";
    query.extend = {wrong.data(), wrong.size()};
    EXPECT_THAT(host.status(query).text, HasSubstr("expected one of policies, host, recorded, queue_types"));
}

}  // namespace
}  // namespace pbs::plugin_test
