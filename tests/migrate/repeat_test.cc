// Tests repeated migrations: a value changes only if its file has changed, and values that have disappeared
// from the files are removed.
#include "migrate/migrate.h"
#include "objects/snapshot.h"
#include "objects/store.h"
#include "objects/usage_store.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const objects::Identity kRoot{"root", "localhost", objects::manager_privilege};
constexpr std::chrono::sys_seconds kNow{std::chrono::seconds{1795248000}};

class Repeat : public testing::Test {
  protected:
    void SetUp() override {
        auto opened = objects::Store::open(home_.path("policy.db"), {"UTC", {}}, kNow);
        ASSERT_TRUE(opened) << opened.error().message;
        store_.emplace(std::move(*opened));
    }

    // Migrates these texts. Returns the report.
    std::string migrated(const LegacyTexts& texts, const Surroundings& server = {}) {
        const auto done = migrate(texts, *store_, kRoot, kNow, server);
        EXPECT_TRUE(done) << testing::PrintToString(test::texts(done.error()));
        return done ? to_text(done->report) : "";
    }
    static LegacyTexts pbs(const std::string& sched_config, const std::string& holidays = "") {
        LegacyTexts texts;
        texts.sched_config = LegacyText{"sched_config", sched_config};
        if (!holidays.empty()) texts.holidays = LegacyText{"holidays", holidays};
        return texts;
    }
    // Returns the refusal of these texts.
    std::string refused(const LegacyTexts& texts) {
        const auto done = migrate(texts, *store_, kRoot, kNow, {{"p_a"}, {}});
        EXPECT_FALSE(done);
        return done ? "" : testing::PrintToString(test::texts(done.error()));
    }
    static LegacyTexts alone(const std::string& holidays) {
        LegacyTexts texts;
        texts.holidays = LegacyText{"holidays", holidays};
        return texts;
    }
    static LegacyTexts origin(const std::string& options) {
        LegacyTexts texts;
        texts.config = LegacyText{"config", "SUBMIT_QUEUE submit\nBATCH_QUEUES batch\n" + options};
        return texts;
    }
    void set(objects::ObjectType type, const std::string& object, const std::string& name,
             const std::string& value) {
        const auto done =
            store_->execute({objects::CommandKind::set, type, object, {{name, value}}}, kRoot, kNow);
        ASSERT_TRUE(done) << done.error().message;
    }
    std::vector<std::string> names(objects::ObjectType type) const {
        std::vector<std::string> out;
        for (const auto& object : store_->snapshot()->objects(type)) out.push_back(object->name());
        return out;
    }
    std::vector<std::string> non_work_days() const {
        const auto days = store_->snapshot()->non_work_days();
        return {days.begin(), days.end()};
    }
    std::string pending() const { return store_->meta(kQueueTypesKey)->value_or(""); }

    Folder home_;
    std::optional<objects::Store> store_;
};

const std::string kByTime = "by_queue: True prime\nby_queue: False non_prime\n";
const std::string kHours =
    "YEAR 2026\nweekday 0600 1730\nsaturday 1000 1400\nsunday none all\n1 Jan 1\n359\n";

TEST_F(Repeat, TheSameFilesChangeNothing) {
    LegacyTexts texts =
        pbs(kByTime + "fair_share: True\ndedicated_prefix: ded\nprimetime_prefix: p_\n", kHours);
    texts.dedicated_time = LegacyText{"dedicated_time", "04/15/2027 12:00 04/16/2027 15:30\n"};
    texts.resource_group = LegacyText{"resource_group", "g 50 root 10\n"};
    texts.qmgr_print = LegacyText{"print", "create queue p_a\nset server backfill_depth = 5\n"};
    const Surroundings server{{"ded", "p_b"}, {}};
    migrated(texts, server);
    const auto revision = store_->snapshot()->revision();
    const std::string ledger = store_->meta(kLedgerKey)->value_or("");
    const std::string types = pending();
    EXPECT_EQ(types, "ded\t\texecution_dedicated\np_a\t\texecution_prime\np_b\t\texecution_prime\n");
    EXPECT_THAT(migrated(texts, server), HasSubstr("Nothing was changed: everything is there already.\n"));
    EXPECT_EQ(store_->snapshot()->revision(), revision);
    EXPECT_EQ(store_->meta(kLedgerKey)->value_or(""), ledger);
    EXPECT_EQ(pending(), types);
}

TEST_F(Repeat, OptionsThatTheFileNoLongerHasAreUnset) {
    migrated(origin("MAX_JOBS 3\nMAX_QUEUED_TIME 48:00:00\n"));
    const std::string report = migrated(origin("MAX_JOBS 3\n"));
    EXPECT_THAT(report,
                AllOf(HasSubstr("(not in the files any more) -> policy default_policy max_queued_time is "
                                "taken back\n"),
                      HasSubstr("1 value was taken back.\n")));
    EXPECT_FALSE(store_->snapshot()->policy("default_policy")->is_set("max_queued_time"));
    EXPECT_EQ(store_->snapshot()->policy("default_policy")->integer("max_jobs"), 3);
}

// If queues, nodes and resources have disappeared from the print, a migration doesn't delete them, as jobs
// may use them. Notes name them.
TEST_F(Repeat, ObjectsThatThePrintNoLongerHasStayAndAreTold) {
    const auto print = [](const std::string& text) {
        LegacyTexts texts;
        texts.qmgr_print = LegacyText{"print", text};
        return texts;
    };
    const auto told = [](const std::string& name) {
        return name + ": stays although the print no longer has it: qmgr -c \"delete " + name +
               "\" removes it\n";
    };
    const Surroundings before{{"mine"}, {"lic"}};
    migrated(print("create queue mine\ncreate queue old\ncreate queue kept\ncreate node n1\n"
                   "create resource lic type=long, flag=q\ncreate resource gone type=long, flag=q\n"),
             before);
    const Surroundings server{{"mine", "old", "kept"}, {"lic", "gone"}};
    const std::string report = migrated(print("create queue kept\n"), server);
    EXPECT_THAT(report, AllOf(HasSubstr("note: " + told("queue old")), HasSubstr("note: " + told("node n1")),
                              HasSubstr("note: " + told("resource gone"))));
    EXPECT_THAT(report, AllOf(Not(HasSubstr("queue mine")), Not(HasSubstr("resource lic")),
                              Not(HasSubstr("queue kept: stays"))))
        << "made by somebody else, or in the print";
    // Each further migration repeats the note until the objects are deleted.
    EXPECT_THAT(migrated(print("create queue kept\n"), server), HasSubstr(told("queue old")));
    const std::string later = migrated(print("create queue kept\n"), {{"mine", "kept"}, {"lic"}});
    EXPECT_THAT(later, Not(HasSubstr("stays")));
}

TEST_F(Repeat, NamesOfHolidaysAreNoDaysOfTheirOwn) {
    migrated(pbs("", "YEAR 2026\n1 Jan 1 New Year's Day\n359 Dec 25 Weihnachten \xE4\n"));
    EXPECT_THAT(non_work_days(), ElementsAre("FREQ=YEARLY;BYYEARDAY=1 SUMMARY:New Year's Day",
                                             "FREQ=YEARLY;BYYEARDAY=359 SUMMARY:Weihnachten \xC3\xA4"));
    const std::string renamed = migrated(pbs("", "YEAR 2026\n1 Jan 1 Neujahr\n"));
    EXPECT_THAT(non_work_days(), ElementsAre("FREQ=YEARLY;BYYEARDAY=1 SUMMARY:New Year's Day"));
    EXPECT_THAT(renamed, HasSubstr("1 value was taken back.\n"));
    // An earlier release has migrated a day without its name. A new migration doesn't add the name.
    set(objects::ObjectType::server, "", "non_work_days", "FREQ=YEARLY;BYYEARDAY=7");
    EXPECT_THAT(migrated(pbs("", "YEAR 2026\n7 Jan 7 Founder's Day\n")),
                HasSubstr("BYYEARDAY=7 (already so)\n"));
    EXPECT_THAT(non_work_days(), ElementsAre("FREQ=YEARLY;BYYEARDAY=7"));
}

// The older schedulers ignored lines of a usage file that they couldn't read. A migration gives a note about
// each or, with `strict`, an error.
TEST_F(Repeat, WhatIsNoUsageIsLeftOutOrRefused) {
    LegacyTexts texts = origin("");
    texts.decay_usage = LegacyText{"decay_usage", "Sat\ng:alice 5\nbob 3\n"};
    texts.allocations = LegacyText{"allocations", "P= a = g1 = 10\nstaff\n"};
    texts.current = LegacyText{"current", "alice g1 3 12\nalice g1 many 1\n"};
    texts.usage = LegacyText{"usage", "hello\n"};
    const auto strict = migrate(texts, *store_, kRoot, kNow, {}, {.convert = {.strict = true}});
    ASSERT_FALSE(strict);
    EXPECT_THAT(test::texts(strict.error()),
                testing::UnorderedElementsAre(HasSubstr("decay_usage:3:1: 'bob' is not a group and a user"),
                                              HasSubstr("allocations:2:1: 'staff' is no allocation"),
                                              HasSubstr("current:2:10: 'many' is no number of jobs"),
                                              HasSubstr("usage:1:1: 'hello' is no line of pbsfs")));
    const std::string report = migrated(texts);
    for (const char* note :
         {"decay_usage:3:1: 'bob' is not a group and a user, as group:user; the line is left out",
          "allocations:2:1: 'staff' is no allocation", "current:2:10: 'many' is no number of jobs",
          "usage:1:1: 'hello' is no line of pbsfs", "decay_usage -> usage of past_usage = 1 record",
          "allocations:1: g1 has used 12.000 of 10.000 node-hours"})
        EXPECT_THAT(report, HasSubstr(note));
    EXPECT_THAT(report, Not(HasSubstr("usage of fs_group")));
}

TEST_F(Repeat, WhatAnAdministratorSetStays) {
    migrated(origin("MAX_JOBS 3\nMAX_QUEUED_TIME 48:00:00\n"));
    set(objects::ObjectType::policy, "default_policy", "max_queued_time", "01:00:00");
    set(objects::ObjectType::policy, "default_policy", "log_event", "255");
    set(objects::ObjectType::server, "", "non_work_days", "FREQ=YEARLY;BYYEARDAY=7");
    const std::string report = migrated(origin(""));
    EXPECT_THAT(report,
                HasSubstr("max_queued_time: stays although the files no longer have it, as it was changed"));
    const auto* policy = store_->snapshot()->policy("default_policy");
    EXPECT_EQ(policy->seconds("max_queued_time"), std::chrono::hours(1));
    EXPECT_EQ(policy->integer("log_event"), 255);
    EXPECT_FALSE(policy->is_set("max_jobs"));
    EXPECT_THAT(non_work_days(), ElementsAre("FREQ=YEARLY;BYYEARDAY=7"));
}

TEST_F(Repeat, PoliciesSlotsWindowsAndHolidaysGo) {
    migrated(pbs(kByTime, kHours));
    EXPECT_THAT(names(objects::ObjectType::policy),
                ElementsAre("default_policy", "default_policy_non_prime", "default_policy_prime"));
    EXPECT_THAT(names(objects::ObjectType::time_window), ElementsAre("prime_time", "prime_time_2"));
    migrated(pbs("by_queue: True\n",
                 "YEAR 2026\nweekday 0700 1730\nsaturday none all\nsunday none all\n1 Jan 1\n"));
    EXPECT_THAT(names(objects::ObjectType::policy), ElementsAre("default_policy"));
    EXPECT_THAT(names(objects::ObjectType::time_window), ElementsAre("prime_time"));
    EXPECT_EQ(store_->snapshot()->policy_slots("default"), (objects::PolicySlots{"default_policy", "", ""}));
    EXPECT_THAT(non_work_days(), ElementsAre("FREQ=YEARLY;BYYEARDAY=1"));
    EXPECT_EQ(store_->snapshot()->time_window("prime_time")->seconds("start_time"), std::chrono::hours(7));
    EXPECT_THAT(migrated(pbs("by_queue: True\n",
                             "YEAR 2026\nweekday 0700 1730\nsaturday none all\nsunday none all\n1 Jan 1\n")),
                HasSubstr("Nothing was changed"));
}

TEST_F(Repeat, WhatIsInUseStaysAndIsToldOf) {
    migrated(pbs(kByTime, kHours));
    set(objects::ObjectType::queue, "weekend", "time_window", "prime_time_2");
    const std::string report = migrated(
        pbs(kByTime, "YEAR 2026\nweekday 0600 1730\nsaturday none all\nsunday none all\n1 Jan 1\n359\n"));
    EXPECT_THAT(report, HasSubstr("time_window prime_time_2: stays although the files no longer have it: "
                                  "queue weekend uses it"));
    EXPECT_THAT(names(objects::ObjectType::time_window), ElementsAre("prime_time", "prime_time_2"));
}

TEST_F(Repeat, ObjectsThatSomebodyElseMadeAreNeverDeleted) {
    ASSERT_TRUE(store_->execute(
        {objects::CommandKind::create, objects::ObjectType::time_window, "prime_time", {}}, kRoot, kNow));
    migrated(pbs(kByTime, kHours));
    migrated(pbs(kByTime, "YEAR 2026\nweekday none all\nsaturday none all\nsunday none all\n"));
    EXPECT_THAT(names(objects::ObjectType::time_window), ElementsAre("prime_time"));
    EXPECT_FALSE(store_->snapshot()->time_window("prime_time")->is_set("rrule"));
}

LegacyTexts grid(const std::string& path, const std::string& text) {
    LegacyTexts texts;
    texts.grid_engine = LegacyText{"ge", path + " " + std::to_string(text.size()) + "\n" + text};
    return texts;
}

const std::string kNoSets = "no resource quota set defined\n";

// A window that a manager has made, and that a queue uses, gets the times of a calendar. It keeps them when
// the calendar is gone: the server refuses a queue whose window never opens.
TEST_F(Repeat, AnOtherOnesWindowInUseKeepsWhatItGot) {
    ASSERT_TRUE(store_->execute({objects::CommandKind::create, objects::ObjectType::time_window, "w", {}},
                                kRoot, kNow));
    set(objects::ObjectType::time_window, "w", "rrule", "FREQ=DAILY");
    set(objects::ObjectType::time_window, "w", "at_close", "suspend");
    set(objects::ObjectType::queue, "batch", "time_window", "w");
    migrated(grid("scal/w", "calendar_name w\nyear NONE\nweek sat-sun\n"));
    EXPECT_EQ(store_->snapshot()->time_window("w")->text("at_close"), "run");
    for (int time = 0; time < 2; ++time)
        EXPECT_THAT(
            migrated(grid("srqs", kNoSets)),
            HasSubstr("note: time_window w: stays as it is although the files no longer have it: queue "
                      "batch uses it\n"));
    EXPECT_EQ(store_->snapshot()->time_window("w")->text("rrule"), "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR");
    ASSERT_TRUE(store_->execute({objects::CommandKind::unset,
                                 objects::ObjectType::queue,
                                 "batch",
                                 {{"time_window", "", objects::Operation::unset}}},
                                kRoot, kNow));
    migrated(grid("srqs", kNoSets));
    EXPECT_FALSE(store_->snapshot()->time_window("w")->is_set("rrule"));
}

TEST_F(Repeat, AQueueMayHaveACalendarThatIsNeverOn) {
    LegacyTexts texts = grid("scal/w", "calendar_name w\nyear NONE\nweek off\n");
    texts.grid_engine->text += "sq/batch 25\nqname batch\ncalendar w\n\n\n";
    migrated(texts);
    EXPECT_THAT(store_->snapshot()->find(objects::ObjectType::queue, "batch")->list("time_window"),
                ElementsAre("w"));
}

std::string quota_set(const std::string& limits) {
    return "{\nname pre\ndescription NONE\nenabled TRUE\n" + limits + "}\n";
}

TEST_F(Repeat, RulesOfOthersThatGoAreTold) {
    ASSERT_TRUE(
        store_->execute({objects::CommandKind::create, objects::ObjectType::quota, "pre", {}}, kRoot, kNow));
    ASSERT_TRUE(store_->execute({objects::CommandKind::set,
                                 objects::ObjectType::quota,
                                 "pre",
                                 {{"rule", "to ncpus=7", objects::Operation::set, "mine"}}},
                                kRoot, kNow));
    set(objects::ObjectType::quota, "pre", "rule_order", "mine");
    const LegacyTexts two = grid("srqs", quota_set("limit to slots=1\nlimit to slots=2\n"));
    const std::string report = migrated(two);
    EXPECT_THAT(
        report,
        AllOf(HasSubstr("(not in the files any more) -> quota pre rule.mine is taken back\n"),
              HasSubstr(
                  "note: quota pre: rule.mine goes, though no migration made it: the quota gets the rules "
                  "of its set alone\n"),
              HasSubstr("(not in the files any more) -> quota pre rule_order is taken back\n"),
              HasSubstr("note: quota pre: rule_order goes, because it names a rule that goes\n")));
    const auto rules = [&] {
        const auto list = store_->snapshot()->find(objects::ObjectType::quota, "pre")->list("rule");
        return std::vector<std::string>(list.begin(), list.end());
    };
    EXPECT_THAT(rules(), ElementsAre("rule_1: to ncpus=1", "rule_2: to ncpus=2"));
    EXPECT_THAT(migrated(two), HasSubstr("Nothing was changed"));
    // An order of rules that stay counts on, also while the rules are made anew.
    set(objects::ObjectType::quota, "pre", "rule_order", "rule_2,rule_1");
    EXPECT_THAT(
        migrated(grid("srqs", quota_set("limit name rule_2 to slots=2\nlimit name rule_1 to slots=1\n"))),
        AllOf(HasSubstr("note: quota pre: rule_order stays, and orders the rules in place of the file\n"),
              Not(HasSubstr("taken back"))));
    EXPECT_THAT(store_->snapshot()->find(objects::ObjectType::quota, "pre")->list("rule_order"),
                ElementsAre("rule_2", "rule_1"));
    const std::string fewer = migrated(grid("srqs", quota_set("limit name rule_2 to slots=2\n")));
    EXPECT_THAT(fewer, AllOf(HasSubstr("quota pre rule.rule_1 is taken back\n"), Not(HasSubstr("made it"))));
    // With an order of its own, the quota keeps its rules when the set is gone.
    set(objects::ObjectType::quota, "pre", "rule_order", "rule_2");
    EXPECT_THAT(
        migrated(grid("srqs", kNoSets)),
        HasSubstr("note: quota pre: stays as it is although the files no longer have it: its rule_order "
                  "names its rules\n"));
    EXPECT_THAT(rules(), ElementsAre("rule_2: to ncpus=2"));
}

// A value of thousands of elements that is refused doesn't make a message of megabytes.
TEST_F(Repeat, ARefusalOfAVeryLongValueIsShort) {
    std::string sets;
    for (int i = 0; i < 3000; ++i)
        sets += "{\nname a_set_with_a_rather_long_name_" + std::to_string(i) +
                "\nenabled TRUE\nlimit to slots=1\n}\n";
    const std::string told = refused(grid("srqs", sets));
    EXPECT_LT(told.size(), 1000U) << told.substr(0, 1000);
    EXPECT_THAT(told, HasSubstr("quotas: the value is "));
}

TEST_F(Repeat, AMigrationOfSomeFilesLeavesTheOthersAlone) {
    LegacyTexts all = pbs(kByTime + "fair_share: True\n", kHours);
    all.resource_group = LegacyText{"resource_group", "g 50 root 10\n"};
    migrated(all);
    LegacyTexts tree;
    tree.resource_group = LegacyText{"resource_group", "g 50 root 20\n"};
    migrated(tree);
    EXPECT_EQ(names(objects::ObjectType::policy).size(), 3U);
    EXPECT_EQ(names(objects::ObjectType::time_window).size(), 2U);
    EXPECT_THAT(store_->snapshot()->fs_group("default_fs_group")->list("tree_element"),
                ElementsAre("g:root=20"));
}

const std::string kQueues = "primetime_prefix: p_\nnonprimetime_prefix: np_\n";

// Holidays that come alone are read in their own format, and change neither prime time's queues nor the
// policies.
TEST_F(Repeat, PbsHolidaysAloneStayPbsHolidays) {
    const Surroundings server{{"p_a"}, {}};
    migrated(pbs(kQueues + kByTime, kHours), server);
    EXPECT_THAT(migrated(alone(kHours), server), HasSubstr("Nothing was changed"));
    const std::string report = migrated(
        alone("YEAR 2026\nweekday 0700 1730\nsaturday none all\nsunday none all\n1 Jan 1\n"), server);
    EXPECT_THAT(report, Not(HasSubstr("is not a day of the year")));
    EXPECT_THAT(names(objects::ObjectType::time_window), ElementsAre("prime_time"));
    EXPECT_EQ(store_->snapshot()->time_window("prime_time")->seconds("start_time"), std::chrono::hours(7));
    EXPECT_EQ(names(objects::ObjectType::policy).size(), 3U);
}

TEST_F(Repeat, SchedConfigAloneLeavesPrimeTimeAlone) {
    const Surroundings server{{"p_a"}, {}};
    migrated(pbs(kQueues + kByTime, kHours), server);
    EXPECT_THAT(migrated(pbs(kQueues + kByTime), server), HasSubstr("Nothing was changed"));
    EXPECT_THAT(migrated(pbs(kQueues + "by_queue: True\n"), server), Not(HasSubstr("time_window")));
    EXPECT_EQ(store_->snapshot()->time_window("prime_time")->seconds("start_time"), std::chrono::hours(6));
    // A server that isn't running isn't asked for its queues.
    EXPECT_THAT(migrated(pbs(kQueues + "by_queue: True\n")), HasSubstr("Nothing was changed"));
}

// Holidays that come after sched_config replace the window that is always open, and a later sched_config
// leaves them alone.
TEST_F(Repeat, HolidaysAfterSchedConfig) {
    const Surroundings server{{"p_a"}, {}};
    migrated(pbs(kQueues), server);
    EXPECT_EQ(store_->snapshot()->time_window("prime_time")->text("rrule"), "FREQ=DAILY");
    migrated(alone(kHours), server);
    EXPECT_THAT(names(objects::ObjectType::time_window), ElementsAre("prime_time", "prime_time_2"));
    EXPECT_THAT(migrated(pbs(kQueues), server), HasSubstr("Nothing was changed"));
    EXPECT_THAT(migrated(pbs(kQueues, kHours), server), HasSubstr("Nothing was changed"));
}

TEST_F(Repeat, WithoutPrimeTimeSchedConfigAloneMakesNone) {
    const Surroundings server{{"p_a"}, {}};
    const std::string never = "YEAR 2026\nweekday none all\nsaturday none all\nsunday none all\n1 Jan 1\n";
    migrated(pbs(kQueues + kByTime, never), server);
    EXPECT_THAT(migrated(pbs(kQueues + kByTime), server), HasSubstr("Nothing was changed"));
    EXPECT_THAT(names(objects::ObjectType::policy), ElementsAre("default_policy"));
    EXPECT_THAT(migrated(alone(never), server), HasSubstr("Nothing was changed"));
    EXPECT_THAT(
        refused(alone(kHours)),
        HasSubstr("holidays: by this file prime time has hours, and by the migrated one it is never prime "
                  "time, so that other options of sched_config count: expected --sched-config beside it"));
}

TEST_F(Repeat, FilesThatNeedAnotherOneAreRefused) {
    migrated(pbs(kQueues + kByTime, kHours), {{"p_a"}, {}});
    const auto revision = store_->snapshot()->revision();
    EXPECT_THAT(
        refused(alone("YEAR 2026\n1 Jan 1\n")),
        HasSubstr("holidays: has no line for weekday or a day of the week, so that it may be a file of PBS "
                  "or one of an Origin scheduler: expected --sched-config (or --config) beside it"));
    EXPECT_THAT(refused(alone("weekday 0700 1730\n")), HasSubstr("by this file it is always prime time"));
    EXPECT_THAT(
        refused(origin("PRIME_TIME_START 8:00:00\nPRIME_TIME_END 17:00:00\n")),
        HasSubstr("config: has PRIME_TIME_START, but the hours of prime time here are those of a holidays "
                  "file: expected --holidays with that file beside it"));
    EXPECT_EQ(store_->snapshot()->revision(), revision);
    migrated(pbs("by_queue: True\n", "1 Jan 1\n"));
    migrated(origin("PRIME_TIME_START 8:00:00\nPRIME_TIME_END 17:00:00\n"));
    EXPECT_THAT(migrated(alone("YEAR 2026\n1 Jan 1\n")), Not(HasSubstr("time_window")));
    EXPECT_THAT(refused(alone(kHours)), HasSubstr("expected --sched-config beside it"));
    EXPECT_EQ(store_->snapshot()->time_window("prime_time")->seconds("start_time"), std::chrono::hours(8));
}

// A formula or a print that comes alone goes into the policies of prime and non-prime time, too.
TEST_F(Repeat, FormulaAndPrintAloneKeepThePoliciesByTime) {
    const Surroundings server{{"p_a", "day"}, {}};
    LegacyTexts all = pbs(kByTime + "primetime_prefix: day\nbackfill: False non_prime\n", kHours);
    all.sched_formula = LegacyText{"sched_formula", "ncpus\n"};
    all.qmgr_print = LegacyText{"print", "create queue p_a\nset server backfill_depth = 5\n"};
    migrated(all, server);
    const std::string ledger = store_->meta(kLedgerKey)->value_or("");
    LegacyTexts formula;
    formula.sched_formula = all.sched_formula;
    EXPECT_THAT(migrated(formula, server), HasSubstr("Nothing was changed"));
    LegacyTexts print;
    print.qmgr_print = all.qmgr_print;
    EXPECT_THAT(migrated(print, server), AllOf(Not(HasSubstr("taken back")), Not(HasSubstr("execution_type")),
                                               Not(HasSubstr("depth = 5\n"))));
    EXPECT_EQ(store_->snapshot()->policy("default_policy_prime")->integer("backfill_depth"), 5);
    EXPECT_EQ(store_->snapshot()->policy("default_policy_non_prime")->integer("backfill_depth"), 0);
    EXPECT_EQ(store_->snapshot()->policy("default_policy_non_prime")->text("job_sort_formula"), "ncpus");
}

// A server that keeps its own objects carries out no directive, so that none is left for its next start.
TEST_F(Repeat, AServerThatCarriesOutNothingLeavesThePrintToQmgr) {
    LegacyTexts texts;
    texts.qmgr_print = LegacyText{"print", "create queue later\nset queue later enabled = True\n"};
    texts.resourcedef = LegacyText{"resourcedef", "lic type=long flag=q\n"};
    Surroundings server{{"workq"}, {}};
    server.carries_out = false;
    for (int i = 0; i < 2; ++i) {
        const std::string report = migrated(texts, server);
        EXPECT_THAT(
            report,
            AllOf(HasSubstr("note: print: 2 directives would change queues, vnodes or the server itself, "
                            "which isn't done here; this does it: qmgr < print (qmgr refuses"),
                  HasSubstr("expected the command in qmgr: create resource lic"),
                  Not(HasSubstr("next start"))));
    }
    EXPECT_EQ(store_->meta(kHostWorkKey)->value_or(""), "");
    EXPECT_THAT(store_->meta(kLedgerKey)->value_or(""), Not(HasSubstr("queue\tlater")));
}

TEST_F(Repeat, ADryRunTakesTypesOfQueuesBackAsOpenPbsDoes) {
    migrated(pbs("primetime_prefix: p_\n"), {{"p_a", "q"}, {}});
    const auto done =
        migrate(pbs("primetime_prefix: q\n"), *store_, kRoot, kNow, {{"p_a", "q"}, {}}, {.dry_run = true});
    ASSERT_TRUE(done);
    EXPECT_THAT(to_qmgr(*done),
                AllOf(HasSubstr("set queue q execution_type = execution_prime\n"),
                      HasSubstr("unset queue p_a execution_type\n"), Not(HasSubstr("queue_type = "))));
}

TEST_F(Repeat, FairshareThatIsNoLongerThereGoesWithItsGroup) {
    migrated(pbs("fair_share: True\nunknown_shares: 5\n"));
    EXPECT_TRUE(store_->snapshot()->policy("default_policy")->boolean("fairshare"));
    migrated(pbs("by_queue: False\n"));
    EXPECT_FALSE(store_->snapshot()->policy("default_policy")->is_set("fairshare"));
    EXPECT_THAT(names(objects::ObjectType::fs_group), IsEmpty());
}

TEST_F(Repeat, FromOneSchedulerToTheOther) {
    migrated(
        origin("MAX_JOBS 3\nPRIME_TIME_START 8:00:00\nPRIME_TIME_END 17:00:00\n"
               "PRIME_TIME_WALLT_LIMIT 2:00:00\n"));
    migrated(pbs("by_queue: True\n"));
    const auto* policy = store_->snapshot()->policy("default_policy");
    EXPECT_EQ(policy->text("algorithm"), "standard");
    EXPECT_FALSE(policy->is_set("max_jobs"));
    EXPECT_THAT(names(objects::ObjectType::time_window), IsEmpty());
}

TEST_F(Repeat, QueuesAreGivenBack) {
    const Surroundings server{{"p_a", "p_b"}, {}};
    migrated(pbs("primetime_prefix: p_\n"), server);
    EXPECT_EQ(pending(), "p_a\t\texecution_prime\np_b\t\texecution_prime\n");
    // An empty value says that the server has made the changes.
    ASSERT_TRUE(store_->set_meta(kQueueTypesKey, ""));
    EXPECT_THAT(migrated(pbs("primetime_prefix: p_a\n"), server),
                HasSubstr("queue p_b execution_type is taken back"));
    EXPECT_EQ(pending(), "p_b\texecution_prime\t\n");
    migrated(pbs("primetime_prefix: p_a\n"), server);
    EXPECT_EQ(pending(), "p_b\texecution_prime\t\n");
}

TEST_F(Repeat, ADryRunSaysWhatWouldBeAndDoesNothing) {
    migrated(origin("MAX_JOBS 3\n"));
    const auto revision = store_->snapshot()->revision();
    MigrateOptions options;
    options.dry_run = true;
    const auto done = migrate(origin("MAX_JOBS 4\n"), *store_, kRoot, kNow, {}, options);
    ASSERT_TRUE(done);
    EXPECT_EQ(to_qmgr(*done), "set policy default_policy max_jobs = 4\n");
    EXPECT_EQ(store_->snapshot()->revision(), revision);
}

TEST_F(Repeat, FactsAreWrittenWithTheChangesOrNotAtAll) {
    MigrateOptions options;
    options.facts["done"] = "1";
    ASSERT_FALSE(migrate(origin("MAX_JOBS three\n"), *store_, kRoot, kNow, {}, options));
    EXPECT_FALSE(store_->meta("done")->has_value());
    ASSERT_TRUE(migrate(origin(""), *store_, kRoot, kNow, {}, options));
    EXPECT_EQ(store_->meta("done")->value_or(""), "1");
}

// Policies with backfilling get the backfill_depth of the server's print. Policies without backfilling get 0.
TEST_F(Repeat, BackfillAndItsDepth) {
    LegacyTexts texts = pbs("backfill: True prime\nbackfill: False non_prime\nresources: ncpus\n");
    texts.qmgr_print = LegacyText{"print", "set server backfill_depth = 5\n"};
    const std::string report = migrated(texts);
    EXPECT_THAT(
        report,
        AllOf(HasSubstr("default_policy_prime backfill_depth = 5\n"),
              HasSubstr("default_policy_non_prime backfill_depth = 0\n"),
              HasSubstr("note: print:1 backfill_depth: the line is left out of default_policy_non_prime, "
                        "which has backfill False\n"),
              Not(HasSubstr("backfill_depth = 1"))));
    EXPECT_THAT(migrated(texts), HasSubstr("Nothing was changed"));
    // Without a print, the values of the earlier print stay.
    texts.qmgr_print.reset();
    EXPECT_THAT(migrated(texts), HasSubstr("Nothing was changed"));
    EXPECT_EQ(store_->snapshot()->policy("default_policy_prime")->integer("backfill_depth"), 5);
}

TEST_F(Repeat, WithoutTheTreeItsGroupStaysThatOfThePolicies) {
    LegacyTexts texts = pbs("by_queue: True\n");
    texts.resource_group = LegacyText{"resource_group", "g 50 root 10\n"};
    migrated(texts);
    texts.resource_group.reset();
    EXPECT_THAT(migrated(texts), HasSubstr("Nothing was changed"));
    EXPECT_EQ(store_->snapshot()->policy("default_policy")->text("fairshare_group"), "default_fs_group");
}

TEST_F(Repeat, TheReportIsKeptWithTheChanges) {
    MigrateOptions options;
    options.report_fact = "report";
    const auto done =
        migrate(origin("BATCH_QUEUES other\n"), *store_, kRoot, kNow, {{"submit"}, {}}, options);
    ASSERT_TRUE(done);
    EXPECT_EQ(store_->meta("report")->value_or(""), to_text(done->report));
    EXPECT_THAT(to_text(done->report), HasSubstr("batch_queues = batch,other\n"));
    // A migration that changes nothing also writes its report.
    ASSERT_TRUE(migrate(origin("BATCH_QUEUES other\n"), *store_, kRoot, kNow, {}, options));
    EXPECT_THAT(store_->meta("report")->value_or(""), HasSubstr("Nothing was changed"));
}

TEST_F(Repeat, UsageIsTakenOverOnce) {
    LegacyTexts texts = origin("");
    texts.decay_usage = LegacyText{"decay_usage", "Sat\ng1:alice 12.5\ng2:bob 0.25\n"};
    EXPECT_THAT(migrated(texts), HasSubstr("decay_usage -> usage of past_usage = 2 records\n"));
    const auto stored = objects::UsageStore(*store_).load("past_usage");
    ASSERT_TRUE(stored);
    EXPECT_THAT(stored->usage,
                ElementsAre(objects::Usage{"alice", "g1", 12.5}, objects::Usage{"bob", "g2", 0.25}));
    // After the migration, the server has added to the usage. Migrating the old file again doesn't set the
    // usage back.
    ASSERT_TRUE(objects::UsageStore(*store_).write({{"past_usage", {.usage = {{"alice", "g1", 20}}}}}));
    EXPECT_THAT(migrated(texts), HasSubstr("usage of past_usage = 2 records (already so)\n"));
    EXPECT_EQ(objects::UsageStore(*store_).load("past_usage")->usage.front().amount, 20);
}

TEST_F(Repeat, UsageOfTheTree) {
    LegacyTexts texts = pbs("fair_share: True\n");
    texts.usage =
        LegacyText{"usage",
                   "Fairshare usage units are in: cput\n"
                   "TREEROOT  : Grp: -1     cgrp: 0    Shares: -1     Usage: 31     Perc: 100.000%\n"
                   "alice     : Grp: 0      cgrp: 60   Shares: 10     Usage: 30     Perc: 50.000%\n"};
    migrated(texts);
    EXPECT_THAT(objects::UsageStore(*store_).load("fs_group:default_fs_group")->usage,
                ElementsAre(objects::Usage{"alice", "", 30}));
    LegacyTexts alone;
    alone.usage = texts.usage;
    EXPECT_THAT(migrated(alone), Not(HasSubstr("left out")));
}

TEST(Ledger, IsKeptAsText) {
    Ledger ledger;
    ledger.lines = {
        {Part::options, objects::ObjectType::policy, "default_policy", "max_jobs", "3"},
        {Part::holidays, objects::ObjectType::server, "", "non_work_days", "FREQ=YEARLY;BYYEARDAY=1"},
        {Part::dedicated_time, objects::ObjectType::time_window, "dedicated_time", "", ""}};
    EXPECT_EQ(ledger_from_text(to_text(ledger)).lines, ledger.lines);
    EXPECT_THAT(
        ledger_from_text("options\tpolicy\n\nfuture\tpolicy\ta\tb\tc\noptions\tnothing\ta\tb\tc\n").lines,
        IsEmpty());
}

}  // namespace
}  // namespace pbs::migrate::test
