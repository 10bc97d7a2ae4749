#include "objects/restore.h"

#include <gmock/gmock.h>

#include <random>

#include "objects/config_json.h"
#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RestoreTest : public StoreTest {
  protected:
    std::uint64_t revision() const { return store_->snapshot()->revision(); }
    std::string document() const { return to_document(*store_->snapshot()); }

    RewriteOptions options(bool dry_run = false) const {
        return {[this](ObjectType, std::string_view name) { return gone_ != name; }, dry_run};
    }
    Result<Rewritten> try_back(std::uint64_t to, std::string_view object = {}) {
        Restoration what{to, {}};
        if (!object.empty()) what.object = parse_object_name(object).value();
        return restore(*store_, what, options(), kManager, kNow);
    }
    Rewritten back(std::uint64_t to, std::string_view object = {}) {
        Result<Rewritten> done = try_back(to, object);
        EXPECT_TRUE(done) << "to " << to << ": " << done.error().message;
        return done ? *done : Rewritten{};
    }
    Error refused_back(std::uint64_t to, std::string_view object = {}) {
        const std::shared_ptr<const Snapshot> before = store_->snapshot();
        const Result<Rewritten> done = try_back(to, object);
        EXPECT_FALSE(done);
        EXPECT_EQ(before, store_->snapshot());
        return done ? Error{} : done.error();
    }
    Result<Rewritten> take(std::string document, bool replace = false) {
        return import(*store_, {std::move(document), replace}, options(), kManager, kNow);
    }
    std::string refused_import(const std::string& document, bool replace = false) {
        const std::shared_ptr<const Snapshot> before = store_->snapshot();
        const Result<Rewritten> done = take(document, replace);
        EXPECT_FALSE(done) << document;
        EXPECT_EQ(before, store_->snapshot());
        return done ? "" : done.error().message;
    }
    std::vector<HistoryEntry> rows() const { return store_->history({}).value(); }

    std::string gone_;  // name of a queue or scheduler that the host lacks
};

TEST_F(RestoreTest, ObjectsOfEveryKindGoBack) {
    run("c f g1 comment=old");
    run("c p p1 by_queue=False, fairshare_group=g1");
    run("c t t1 rrule=FREQ=DAILY, type=prime");
    run("s q q1 time_window=t1");
    run("s sc s1 policy=p1");
    run("s s non_work_days=01/01");
    const std::uint64_t then = revision();
    const std::string before = document();
    run("s f g1 comment=new");
    run("u p p1 by_queue, fairshare_group");
    run("s p p1 strict_ordering=True");
    run("u q q1 time_window");
    run("d t t1");
    run("c t t2");
    run("s sc s1 policy=default_policy");
    run("u s non_work_days");
    const Rewritten done = back(then);
    EXPECT_TRUE(done.reply.changed);
    EXPECT_EQ(document(), before);
    EXPECT_THAT(done.lines,
                testing::IsSupersetOf({"time_window t1 is created", "time_window t1: type = prime",
                                       "time_window t2 is deleted", "policy p1: strict_ordering is unset",
                                       "policy p1: by_queue = False", "fs_group g1: comment = old",
                                       "server: non_work_days = FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1"}));
    open();
    EXPECT_EQ(document(), before);
}

// A quota has time_windows, though the changes are sorted with time_windows first.
TEST_F(RestoreTest, AQuotaGoesTogetherWithItsWindow) {
    const std::uint64_t then = revision();
    const std::string before = document();
    const auto make = [&] {
        run("c t t1 rrule=FREQ=DAILY");
        run("c quota q1 time_window=t1");
        run("c p p1 quotas=q1");
    };
    make();
    back(then);
    EXPECT_EQ(document(), before);
    make();
    const auto done = take(before, true);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(document(), before);
    open();
    EXPECT_EQ(document(), before);
}

TEST_F(RestoreTest, IsOneChangeInTheHistory) {
    const std::uint64_t then = revision();
    run("c p p1");
    run("c p p2");
    run("c t t1");
    back(then);
    const std::vector<HistoryEntry> all = rows();
    ASSERT_EQ(all.size(), then + 6);
    for (std::size_t i = then + 3; i < all.size(); ++i) {
        EXPECT_EQ(all[i].command, "rollback to revision 2");
        EXPECT_EQ(all[i].change, then + 4);
        EXPECT_EQ(all[i].revision, i + 1);
        EXPECT_EQ(all[i].user, "mary");
        EXPECT_EQ(all[i].after, "null");
    }
    // a rollback can be undone by another rollback
    back(then + 3);
    EXPECT_NE(store_->snapshot()->policy("p2"), nullptr);
}

TEST_F(RestoreTest, OneObjectAlone) {
    run("c p p1 by_queue=False");
    const std::uint64_t then = revision();
    run("s p p1 by_queue=True");
    run("c p p2");
    back(then, "p p1");
    EXPECT_EQ(shown(ObjectType::policy, "p1", "by_queue"), "False");
    EXPECT_NE(store_->snapshot()->policy("p2"), nullptr);
    EXPECT_EQ(rows().back().command, "rollback policy p1 to revision 3");
    // go back to a revision in which p1 didn't exist, and from there to one in which it existed
    back(then - 1, "policy p1");
    EXPECT_EQ(store_->snapshot()->policy("p1"), nullptr);
    back(then, "policy p1");
    EXPECT_EQ(shown(ObjectType::policy, "p1", "by_queue"), "False");
    EXPECT_EQ(refused_back(then, "policy nobody").code, Code::unknown_object);
}

TEST_F(RestoreTest, DeletedAndRecreatedObjectsAreThoseOfTheirTime) {
    run("c p p1 comment=first");
    const std::uint64_t first = revision();
    run("d p p1");
    const std::uint64_t none = revision();
    run("c p p1 comment=second");
    const std::uint64_t second = revision();
    back(first);
    EXPECT_EQ(shown(ObjectType::policy, "p1", "comment"), "first");
    back(second);
    EXPECT_EQ(shown(ObjectType::policy, "p1", "comment"), "second");
    back(none);
    EXPECT_EQ(store_->snapshot()->policy("p1"), nullptr);
}

TEST_F(RestoreTest, ARestoreToThePresentStateMakesNoRevision) {
    run("c p p1");
    const std::uint64_t now = revision();
    EXPECT_FALSE(back(now).reply.changed);
    EXPECT_EQ(revision(), now);
}

TEST_F(RestoreTest, WhatIsReferredToStays) {
    const std::uint64_t then = revision();
    run("c p p1");
    run("s sc s1 policy=p1");
    const Error error = refused_back(then, "policy p1");
    EXPECT_EQ(error.code, Code::busy);
    EXPECT_THAT(error.message, HasSubstr("policy p1 is in use by sched s1"));
    back(then);  // also removes the assignment of the policy to s1
    EXPECT_EQ(store_->snapshot()->policy("p1"), nullptr);
}

TEST_F(RestoreTest, WhatIsReferredToHasToBeThere) {
    run("c f g1");
    run("c p p1 fairshare_group=g1");
    const std::uint64_t then = revision();
    run("d p p1");
    run("d f g1");
    EXPECT_THAT(refused_back(then, "p p1").message,
                HasSubstr("policy p1: fairshare_group: there is no fs_group 'g1'"));
}

TEST_F(RestoreTest, QueuesThatAreNamedHaveToBeThere) {
    store_->define_queue("night");
    run("c p p1 dedicated_queues=night");
    const std::uint64_t with_queue = revision();
    run("u p p1 dedicated_queues");
    store_->forget_queue("night");
    const Error refused = refused_back(with_queue, "policy p1");
    EXPECT_THAT(refused.message, AllOf(HasSubstr("policy p1"), HasSubstr("there is no queue 'night'")));
    store_->define_queue("night");
    back(with_queue, "policy p1");
}

TEST_F(RestoreTest, OverlapsAreFound) {
    run("c t t1 rrule=FREQ=DAILY, start_time=0800, end_time=1200");
    run("c t t2 rrule=FREQ=DAILY, start_time=1000, end_time=1400");
    const std::uint64_t then = revision();
    run("s t t2 start_time=1200");
    run("s q q1 time_window=\"t1,t2\"");
    EXPECT_THAT(refused_back(then, "t t2").message, HasSubstr("time_windows t1 and t2 of queue q1 overlap"));
}

TEST_F(RestoreTest, DefaultPolicyStays) {
    const Error error = refused_back(0);
    EXPECT_EQ(error.code, Code::invalid_request);
    EXPECT_THAT(error.message, HasSubstr("default_policy cannot be deleted"));
}

TEST_F(RestoreTest, RevisionsThatThereAreNotAreRefused) {
    EXPECT_THAT(refused_back(99).message, HasSubstr("there is no revision 99: the last one is 2"));
}

TEST_F(RestoreTest, RevisionsInTheMidstOfAChangeAreRefused) {
    const ChangeSet two{{parse_command("c p p1"), parse_command("c p p2"), parse_command("c p p3")}};
    ASSERT_TRUE(store_->apply(two, kManager, kNow));
    EXPECT_THAT(refused_back(3).message, AllOf(HasSubstr("revision 3 is in the midst"),
                                               HasSubstr("expected 2 "), HasSubstr("or 5 (after it)")));
    EXPECT_FALSE(export_document(*store_, 4));
    back(5);
    back(2);
    EXPECT_THAT(refused_back(6).message, AllOf(HasSubstr("expected 5 "), HasSubstr("or 8 ")));
}

TEST_F(RestoreTest, QueuesThatAreGoneAreLeftOut) {
    run("c t t1 rrule=FREQ=DAILY");
    run("s q q1 time_window=t1");
    const std::uint64_t then = revision();
    const std::string before = document();
    run("d q q1");
    gone_ = "q1";
    const Rewritten done = back(then);
    EXPECT_THAT(done.reply.warnings, ElementsAre("queue q1 is left out: the server has no such queue"));
    EXPECT_EQ(store_->snapshot()->find(ObjectType::queue, "q1"), nullptr);
    gone_.clear();
    back(then);
    EXPECT_EQ(document(), before);
}

TEST_F(RestoreTest, OnlyManagersMay) {
    const Identity operator_only{"olaf", "h", operator_privilege};
    const auto done = restore(*store_, {1, {}}, options(), operator_only, kNow);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::no_permission);
    const auto imported = import(*store_, {"", false}, options(), operator_only, kNow);
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code, Code::no_permission);
}

TEST_F(RestoreTest, DryRunChecksAndChangesNothing) {
    const std::uint64_t then = revision();
    run("c p p1");
    const std::uint64_t now = revision();
    const auto done = restore(*store_, {then, {}}, options(true), kManager, kNow);
    ASSERT_TRUE(done);
    EXPECT_FALSE(done->reply.changed);
    EXPECT_THAT(done->lines, ElementsAre("policy p1 is deleted"));
    EXPECT_EQ(revision(), now);
    EXPECT_NE(store_->snapshot()->policy("p1"), nullptr);
    EXPECT_FALSE(restore(*store_, {0, {}}, options(true), kManager, kNow));
}

TEST_F(RestoreTest, ExportOfARevisionIsWhatHeldThen) {
    run("c p p1 comment=then");
    const std::string before = document();
    const std::uint64_t then = revision();
    run("s p p1 comment=now");
    EXPECT_EQ(export_document(*store_, then).value(), before);
    EXPECT_EQ(export_document(*store_, {}).value(), document());
    EXPECT_FALSE(export_document(*store_, 99));
}

// ---- Imports of configuration documents

TEST_F(RestoreTest, ExportIntoAnEmptyServerIsTheSameBytes) {
    run("c f g1 tree_element=\"a:root=3,b:a=1\", decay_time=18:00:00");
    run("c p p1 fairshare_group=g1, fairshare=True, node_sort_key=\"sort_priority HIGH,ncpus HIGH\"");
    run("c p p2 preempt_order=\"SCR 70 SC 30\", comment=\"a, b\"");
    run("c t t1 rrule=\"FREQ=WEEKLY;BYDAY=MO,TU\", start_time=0600");
    run("s s non_work_days=\"01/01,FREQ=YEARLY;BYDAY=MO;BYSETPOS=-1;BYMONTH=5\"");
    run("s q q1 time_window=t1");
    run("s sc default policy=\"default_policy,p:p1,np:p2\"");
    const std::string exported = document();
    for (const bool replace : {false, true}) {
        store_.reset();
        for (const char* suffix : {"", "-wal", "-shm", "-mark"}) std::filesystem::remove(path_ + suffix);
        open();
        const auto done = take(exported, replace);
        ASSERT_TRUE(done) << done.error().message;
        EXPECT_EQ(document(), exported);
        EXPECT_EQ(rows().back().command, replace ? "import --replace" : "import");
        EXPECT_FALSE(take(exported, replace)->reply.changed);
    }
}

TEST_F(RestoreTest, ImportMergesAndReplaceReplaces) {
    run("c p p1 by_queue=False, comment=mine");
    run("c p p2");
    const char* const text =
        R"({"format": 1, "policy": {"p1": {"comment": "theirs"}, "default_policy": {}}})";
    ASSERT_TRUE(take(text));
    EXPECT_EQ(shown(ObjectType::policy, "p1", "by_queue"), "False");
    EXPECT_EQ(shown(ObjectType::policy, "p1", "comment"), "theirs");
    EXPECT_NE(store_->snapshot()->policy("p2"), nullptr);
    ASSERT_TRUE(take(text, true));
    EXPECT_EQ(shown(ObjectType::policy, "p1", "by_queue"), "True");
    EXPECT_EQ(store_->snapshot()->policy("p2"), nullptr);
    EXPECT_TRUE(store_->snapshot()->policy_slots("default").empty());
}

TEST_F(RestoreTest, EveryMistakeOfAnImportIsNamed) {
    const std::string message = refused_import(R"({"format": 1,
        "policy": {"1p": {}, "p1": {"by_queue": "maybe", "no_such": "x", "fairshare": "True"},
                   "p2": {"fairshare_group": "nobody"}},
        "time_window": {"t1": {"rrule": "FREQ=NEVER", "start_time": ["0600"]}},
        "sched": {"default": {"policy": []}}})");
    EXPECT_THAT(message, AllOf(HasSubstr("policy 1p: "), HasSubstr("policy p1: by_queue: bad value 'maybe'"),
                               HasSubstr("policy p1: unknown attribute 'no_such'"),
                               HasSubstr("time_window t1: rrule: bad value 'FREQ=NEVER'"),
                               HasSubstr("time_window t1: start_time: expected a string"),
                               HasSubstr("sched default: policy: found nothing")));
}

TEST_F(RestoreTest, ReferencesOfAnImportAreCheckedAsAWhole) {
    EXPECT_THAT(refused_import(R"({"format": 1, "policy": {"p2": {"fairshare_group": "nobody"}},
                                   "sched": {"default": {"policy": ["p3"]}}})"),
                AllOf(HasSubstr("policy p2: fairshare_group: there is no fs_group 'nobody'"),
                      HasSubstr("sched default: policy: there is no policy 'p3'")));
    EXPECT_THAT(refused_import(R"({"format": 1})", true), HasSubstr("default_policy cannot be deleted"));
    EXPECT_THAT(refused_import(R"({"format": 1, "sched": {"default": {"policy": ["p:default_policy"]}}})"),
                HasSubstr("Cannot set prime/non-prime time policy"));
    EXPECT_THAT(refused_import("{\n]"), HasSubstr("line 2, column 1"));
}

// One import makes two queues swap their windows. Two commands couldn't do it, as the windows would overlap
// after the first command.
TEST_F(RestoreTest, TheOrderOfThingsDoesNotMatter) {
    run("c t day rrule=FREQ=DAILY, start_time=0800, end_time=2000");
    run("c t night rrule=FREQ=DAILY, start_time=2000, end_time=0800");
    run("s q q1 time_window=\"day,night\"");
    ASSERT_TRUE(take(R"({"format": 1, "time_window": {
        "day": {"start_time": "20:00", "end_time": "08:00"},
        "night": {"start_time": "0800", "end_time": "2000"}}})"));
    EXPECT_EQ(shown(ObjectType::time_window, "day", "start_time"), "20:00:00");
}

TEST_F(RestoreTest, ShorthandsBecomeCanonical) {
    ASSERT_TRUE(take(R"({"format": 1, "server": {"non_work_days": ["12/25"]},
                         "policy": {"p1": {"by_queue": "f", "max_starve": "3600"}}})"));
    EXPECT_EQ(shown(ObjectType::server, "", "non_work_days"), "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25");
    EXPECT_EQ(shown(ObjectType::policy, "p1", "max_starve"), "01:00:00");
}

// ---- Restoring any revision that random commands have made.

std::string random_command(std::mt19937& random) {
    const auto pick = [&](std::initializer_list<const char*> from) {
        return std::string(std::data(from)[random() % from.size()]);
    };
    const std::string policy = pick({"p1", "p2", "p3", "default_policy"});
    const std::string window = pick({"t1", "t2"});
    const std::string group = pick({"g1", "g2"});
    switch (random() % 13) {
        case 0:
            return "c p " + policy;
        case 1:
            return "d p " + policy;
        case 2:
            return "s p " + policy + " by_queue=" + pick({"True", "False"}) + ", comment=" + pick({"x", "y"});
        case 3:
            return "u p " + policy + " by_queue";
        case 4:
            return "c f " + group + " comment=" + pick({"x", "y"});
        case 5:
            return "d f " + group;
        case 6:
            return "s p " + policy + " fairshare_group=" + group;
        case 7:
            return "c t " + window + " rrule=FREQ=DAILY, start_time=0800, end_time=1" + pick({"2", "4"}) +
                   "00, type=" + pick({"prime", "standard"});
        case 8:
            return "d t " + window;
        case 9:
            return "s q " + pick({"q1", "q2"}) + " time_window" + pick({"=", "+="}) + window;
        case 10:
            return pick({"u", "d"}) == "u" ? "u q q1 time_window" : "d q q2";
        case 11:
            return "s sc " + pick({"default", "s1"}) + " policy=" + policy;
        default:
            return pick({"s s non_work_days=01/01", "s s non_work_days+=12/25", "u s non_work_days"});
    }
}

TEST_F(RestoreTest, AnyRevisionCanBeHadAgain) {
    std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same walk every time
    std::map<std::uint64_t, std::string> held{{revision(), document()}};
    for (int i = 0; i < 200; ++i) {
        if (random() % 10 == 0) {
            auto some = held.begin();
            std::advance(some, random() % held.size());
            ASSERT_TRUE(try_back(some->first));
            ASSERT_EQ(document(), some->second);
        } else {
            (void)try_run(random_command(random));
        }
        held.emplace(revision(), document());
    }
    ASSERT_GT(held.size(), 60U);
    for (const auto& [number, text] : held)
        ASSERT_EQ(export_document(*store_, number).value(), text) << number;
    for (const auto& [number, text] : held) {
        ASSERT_TRUE(try_back(number)) << number;
        ASSERT_EQ(document(), text) << number;
    }
    const std::string last = document();
    open();
    EXPECT_EQ(document(), last);
}

TEST(ParseObjectName, TakesQmgrsWords) {
    EXPECT_EQ(parse_object_name("p p1")->name, "p1");
    EXPECT_EQ(parse_object_name(" server ")->type, ObjectType::server);
    for (const char* bad : {"", "policy", "server x", "job 1", "node", "policy p1 p2"}) {
        EXPECT_FALSE(parse_object_name(bad)) << bad;
    }
}

// ---- Requests that change attributes of the host and of the store together

Command with_host(std::string_view text, std::vector<HostChange> host) {
    Command command = parse_command(text);
    command.host = std::move(host);
    return command;
}

TEST_F(RestoreTest, TheServersPartIsKeptAndNotReadAsOurs) {
    const HostChange made{ObjectType::queue, "q1", "null", R"({"queue_type":"Execution"})"};
    ASSERT_TRUE(store_->execute(with_host("c q q1", {made}), kManager, kNow));
    const std::uint64_t then = revision();
    run("c t t1 rrule=FREQ=DAILY");
    const HostChange set{ObjectType::queue, "q1", made.after, R"({"Priority":"4"})"};
    Command both = with_host("s q q1 time_window=t1", {set});
    both.text = "set queue q1 time_window = t1, Priority = 4";
    ASSERT_TRUE(store_->execute(both, kManager, kNow));
    const std::vector<HistoryEntry> all = rows();
    const HistoryEntry& ours = all[all.size() - 2];
    const HistoryEntry& theirs = all.back();
    EXPECT_EQ(ours.change, theirs.change);
    EXPECT_EQ(ours.command, both.text);
    EXPECT_EQ(theirs.command, both.text);
    EXPECT_FALSE(ours.of_host);
    EXPECT_TRUE(theirs.of_host);
    EXPECT_EQ(theirs.after, set.after);
    // the store's rows lack the host's attributes; host_objects() returns these attributes for the server to
    // set
    const auto objects = host_objects(*store_, {then, {}});
    ASSERT_TRUE(objects);
    ASSERT_EQ(objects->objects.size(), 1U);
    EXPECT_EQ(objects->objects.front().name, "q1");
    EXPECT_EQ(objects->objects.front().attributes, made.after);
    EXPECT_THAT(host_objects(*store_, {then, ObjectName{ObjectType::queue, "q2"}})->objects, IsEmpty());
    EXPECT_FALSE(host_objects(*store_, {revision() + 1, {}}));
    back(then);
    EXPECT_EQ(store_->snapshot()->find(ObjectType::queue, "q1"), nullptr);
}

TEST_F(RestoreTest, NodesAndResourcesAreOfTheHistoryAlone) {
    const HostChange node{ObjectType::node, "n1", "null", "{}"};
    ASSERT_TRUE(store_->execute(with_host("c n n1", {node}), kManager, kNow));
    EXPECT_EQ(rows().back().type, ObjectType::node);
    EXPECT_FALSE(store_->execute(parse_command("c n n1"), kManager, kNow)) << "nothing of the server's";
    run("c p p1 exclude_resources=color");
    const HostChange gone{ObjectType::resource, "color", R"({"type":"long"})", "null"};
    const auto held = store_->execute(with_host("d r color", {gone}), kManager, kNow);
    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().code, Code::busy);
    run("u p p1 exclude_resources");
    EXPECT_TRUE(store_->execute(with_host("d r color", {gone}), kManager, kNow));
}

TEST_F(RestoreTest, WhatTheServerRemovesIsNamedNowhere) {
    run("c t t1 rrule=FREQ=DAILY");
    run("s q queue1 time_window=t1");
    const std::uint64_t then = revision();
    run("c p p1 dedicated_queues=queue1");
    const HostChange gone{ObjectType::queue, "queue1", "{}", "null"};
    RewriteOptions removing = options();
    removing.host = {gone};
    const auto held =
        restore(*store_, {then, ObjectName{ObjectType::queue, "queue1"}}, removing, kManager, kNow);
    ASSERT_FALSE(held);
    EXPECT_THAT(held.error().message, HasSubstr("policy p1"));
    // restore() removes the policy, and also the queue with those of its attributes that the store has
    const auto done = restore(*store_, {then, {}}, removing, kManager, kNow);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(store_->snapshot()->find(ObjectType::queue, "queue1"), nullptr);
    EXPECT_TRUE(rows().back().of_host);
    EXPECT_EQ(rows().back().after, "null");
}

TEST_F(RestoreTest, ADocumentMayHaveTheServersPart) {
    EXPECT_TRUE(take(R"({"format": 1, "policy": {"p1": {}}, "host": {"queue": {"q1": {"x": "y"}}}})"));
    EXPECT_NE(store_->snapshot()->policy("p1"), nullptr);
}

TEST_F(RestoreTest, LongRulesOfQuotasGoThroughADocument) {
    const auto quota = [](std::size_t longest) {
        const std::string rule = "users=" + std::string(longest - 16, 'u') + " to jobs=1";
        return fmt::format(R"({{"format": 1, "quota": {{"q1": {{"rule": ["a: {0}", "b: {0}"]}}}}}})", rule);
    };
    EXPECT_THAT(refused_import(quota(65537)), HasSubstr("the value is 65537 characters long; at most 65536"));
    const auto made = take(quota(65536));
    ASSERT_TRUE(made) << made.error().message;
    const std::string before = document();
    run("d quota q1");
    const auto done = take(before);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(document(), before);
}

TEST_F(RestoreTest, RulesOfQuotasAreToldOneByOne) {
    const auto lines = [&](const char* text) {
        const auto done = take(text);
        EXPECT_TRUE(done) << done.error().message;
        return done ? done->lines : std::vector<std::string>{};
    };
    EXPECT_THAT(
        lines(R"({"format": 1, "quota": {"q1": {"rule": ["a: to jobs=1", "b: users={*} to jobs=2"]}}})"),
        testing::ElementsAre("quota q1 is created", "quota q1: rule.a = to jobs=1",
                             "quota q1: rule.b = users={*} to jobs=2"));
    EXPECT_THAT(
        lines(R"({"format": 1, "quota": {"q1": {"rule": ["c: to jobs=3", "b: users={*} to jobs=2"]}}})"),
        testing::ElementsAre("quota q1: rule.a is unset", "quota q1: rule.c = to jobs=3",
                             "quota q1: order of rule = c,b"));
    EXPECT_THAT(refused_import(R"({"format": 1, "quota": {"q1": {"in_force": ["default"]}}})"),
                HasSubstr("quota q1: attribute in_force is read only"));
}

}  // namespace
}  // namespace pbs::objects
