#include "migrate/convert.h"

#include "migrate/changes.h"
#include "migrate/show.h"
#include "objects/snapshot.h"
#include "objects/store.h"
#include "rrule/window_set.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::HasSubstr;
using testing::Not;

ConfigFile config(const std::string& lines) {
    auto parsed =
        parse_configfile("SUBMIT_QUEUE submit\nBATCH_QUEUES execute\n" + lines, "/site/sched_priv/config");
    EXPECT_TRUE(parsed) << testing::PrintToString(texts(parsed.error()));
    return parsed.value_or(ConfigFile{});
}

const std::string kPrime =
    "PRIME_TIME_START 08:00:00\nPRIME_TIME_END 17:00:00\nPRIME_TIME_WALLT_LIMIT 2:00:00\n";

std::string commands(const ConfigFile& file) {
    const auto conversion = convert({.config = file}, {}, nullptr);
    EXPECT_TRUE(conversion);
    return to_qmgr(*conversion);
}

TEST(Changes, LongMessagesAreCutBetweenCharacters) {
    const Ledger before;
    const Surroundings server;
    Changes changes(nullptr, before, server, server, true);
    const auto umlauts = [](int count) {
        std::string text;
        for (int i = 0; i < count; ++i) text += "\u00e4";
        return text;
    };
    changes.refuse("file:1", "x" + umlauts(300) + "y");
    const auto conversion = changes.finish({});
    ASSERT_FALSE(conversion);
    ASSERT_EQ(conversion.error().size(), 1U);
    EXPECT_EQ(conversion.error().front().file, "file:1");
    EXPECT_EQ(conversion.error().front().message, "x" + umlauts(99) + " ... " + umlauts(99) + "y");
}

TEST(Show, JsonTellsIfTheOutcomeIsUnknown) {
    const Problems problems{{"svr", 0, 0, "", "the connection broke"}};
    EXPECT_THAT(to_json(problems, true), HasSubstr("\"unknown\""));
    EXPECT_THAT(to_json(problems), Not(HasSubstr("\"unknown\"")));
}

TEST(Convert, OptionsBecomeAttributes) {
    EXPECT_EQ(commands(config("SORT_BY_PAST_USAGE False\nMAX_QUEUED_TIME 48:00:00\n")),
              "set policy default_policy algorithm = origin\n"
              "set policy default_policy submit_queue = submit\n"
              "set policy default_policy batch_queues = execute\n"
              "set policy default_policy sort_by_past_usage = False\n"
              "set policy default_policy max_queued_time = 48:00:00\n");
}

TEST(Convert, AFormulaOverSharesHasAnFsGroupWithoutAResourceGroupFile) {
    const auto commands_with = [](const std::string& formula, const std::string& options) {
        Legacy files;
        files.sched_config = parse_sched_config(options, "sched_config");
        files.sched_formula = parse_sched_formula("#\n" + formula + "\n", "sched_formula");
        return to_qmgr(convert(files, {}, nullptr).value());
    };
    const std::string none = "fair_share: False ALL\n";
    EXPECT_THAT(commands_with("ncpus-fairshare_tree_usage", none),
                AllOf(HasSubstr("create fs_group default_fs_group\n"),
                      HasSubstr("set policy default_policy fairshare_group = default_fs_group\n")));
    EXPECT_THAT(commands_with("ncpus", "job_sort_key: \"fair_share_perc HIGH\" ALL\n"),
                HasSubstr("set policy default_policy fairshare_group = default_fs_group\n"));
    EXPECT_THAT(commands_with("ncpus", none), Not(HasSubstr("fs_group")));
}

TEST(Convert, ADateStaysTheValueOfTheAttribute) {
    EXPECT_THAT(commands(config(kPrime + "ENFORCE_PRIME_TIME 11/01/1999@02:00:00\n")),
                HasSubstr("enforce_prime_time = 11/01/1999@02:00:00\n"));
}

TEST(Convert, PrimeTimeBecomesAWindow) {
    EXPECT_THAT(commands(config(kPrime)),
                HasSubstr("create time_window prime_time\n"
                          "set time_window prime_time rrule = \"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR\"\n"
                          "set time_window prime_time start_time = 08:00:00\n"
                          "set time_window prime_time end_time = 17:00:00\n"
                          "set time_window prime_time applies_on_holidays = False\n"
                          "set time_window prime_time type = prime\n"));
    EXPECT_THAT(commands(config("")), testing::Not(HasSubstr("time_window")));
}

TEST(Convert, HolidaysBecomeNonWorkDays) {
    const auto holidays = parse_origin_holidays("1 Jan 1 New Year\n359\n", "holidays");
    const auto conversion = convert({.origin_holidays = holidays}, {}, nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_EQ(to_qmgr(*conversion),
              "set server non_work_days += \"FREQ=YEARLY;BYYEARDAY=1 SUMMARY:New Year\"\n"
              "set server non_work_days += \"FREQ=YEARLY;BYYEARDAY=359\"\n");
    EXPECT_THAT(
        to_text(conversion->report),
        HasSubstr(
            "holidays:1 Jan 1 New Year -> server non_work_days = FREQ=YEARLY;BYYEARDAY=1 SUMMARY:New Year\n"
            "holidays:2 -> server non_work_days = FREQ=YEARLY;BYYEARDAY=359\n"));
}

TEST(Convert, RelativeProgramsAreInTheFolderOfTheFile) {
    const std::string lines = "ENFORCE_DEDICATED_TIME on\nDEDICATED_TIME_COMMAND ";
    EXPECT_THAT(commands(config(lines + "bin/schedule\n")), HasSubstr("= /site/sched_priv/bin/schedule\n"));
    EXPECT_THAT(commands(config(lines + "/usr/bin/schedule\n")), HasSubstr("= /usr/bin/schedule\n"));
}

TEST(Convert, OutputFilesAreNamesAndTheReportSaysSo) {
    const auto path =
        convert({.config = config("SORTED_JOB_DUMPFILE /PBS/sched_priv/sortedjobs\n")}, {}, nullptr);
    ASSERT_TRUE(path);
    EXPECT_THAT(to_qmgr(*path), HasSubstr("sorted_job_dumpfile = sortedjobs\n"));
    EXPECT_THAT(to_text(path->report),
                HasSubstr("SORTED_JOB_DUMPFILE: /PBS/sched_priv/sortedjobs is written as "
                          "output/sortedjobs in the scheduler's sched_priv"));
    const auto odd = convert({.config = config("SORTED_JOB_DUMPFILE /PBS/..\n")}, {}, nullptr);
    ASSERT_TRUE(odd);
    EXPECT_THAT(to_qmgr(*odd), HasSubstr("sorted_job_dumpfile = sorted_job_dumpfile\n"));
    const auto name = convert({.config = config("SORTED_JOB_DUMPFILE sortedjobs\n")}, {}, nullptr);
    EXPECT_THAT(to_text(name->report), testing::Not(HasSubstr("is written as")));
}

TEST(Convert, WhatIsNotActedOnIsInTheReport) {
    const ConfigFile file = config("SERVER_HOST fermi\n");
    const auto first = convert({.config = file}, {}, nullptr);
    ASSERT_TRUE(first);
    EXPECT_THAT(to_text(first->report), HasSubstr("policy default_policy: server_host has no effect: the "
                                                  "scheduler is part of the server"));
}

TEST(Convert, WhatAPrintedQueueHasThatThePolicyLeavesIsInTheReport) {
    const QmgrPrint print = parse_qmgr_print(
        "create queue q1 queue_type = Execution\nset queue q1 Priority = 5\n"
        "create queue r1 queue_type = Route\nset queue r1 Priority = 5\n",
        "print");
    constexpr const char* kLine =
        "queue q1: Priority has no effect with policy default_policy: it belongs to algorithm standard";
    const auto origin = convert({.config = config("SERVER_HOST fermi\n"), .qmgr_print = print}, {}, nullptr);
    ASSERT_TRUE(origin);
    EXPECT_THAT(to_text(origin->report), HasSubstr(kLine));
    EXPECT_THAT(to_text(origin->report), Not(HasSubstr("queue r1: Priority has no effect")));
    const auto print_alone = convert({.qmgr_print = print}, {}, nullptr);
    ASSERT_TRUE(print_alone);
    EXPECT_THAT(to_text(print_alone->report), Not(HasSubstr("Priority has no effect")));
}

TEST(Convert, TheReportHasALineForEverySetting) {
    const ConfigFile file = config(kPrime);
    const auto conversion = convert({.config = file}, {}, nullptr);
    const std::string text = to_text(conversion->report);
    for (const Setting& setting : file.settings)
        EXPECT_THAT(text,
                    HasSubstr("/site/sched_priv/config:" + std::to_string(setting.line) + " " + setting.name +
                              " -> policy default_policy " + setting.option->attribute() + " = "));
    EXPECT_THAT(text, HasSubstr("\n11 values were set.\n"));
}

// A configuration with every option. Each has a value that differs from its default.
const char* const kEverything =
    "SPECIAL_QUEUE special@host\nDEDICATED_QUEUES ded1,ded2\nEXTERNAL_QUEUES ext\nBACKGROUND_QUEUE_NAME bg\n"
    "CHALLENGE_QUEUE_NAME ch\nSCHED_HOST a.b\nSERVER_HOST c.d\nPRIME_TIME_WALLT_LIMIT "
    "3:00:00\nPRIME_TIME_START 22:00:00\n"
    "PRIME_TIME_END 6:30:00\nENFORCE_PRIME_TIME on\nSMALL_JOB_MAX 16\nWALLT_LIMIT_SMALL_JOB 4:00:00\n"
    "WALLT_LIMIT_LARGE_JOB 8:00:00\nPRIME_TIME_SMALL_NODE_LIMIT 8\nPRIME_TIME_SMALL_WALLT_LIMIT 1:00:00\n"
    "ENFORCE_DEDICATED_TIME 11/10/2030@17:00:01\nDEDICATED_TIME_COMMAND /bin/true\nDEDICATED_TIME_CACHE_SECS "
    "300\n"
    "SYSTEM_NAME cluster\nMAX_DEDICATED_JOBS 3\nNONPRIME_DRAIN_SYS yes\nNP_DRAIN_BACKTIME "
    "30:00\nNP_DRAIN_IDLETIME 15:00\n"
    "MAX_JOBS 7\nMIN_JOBS 1\nMAX_USER_RUN_JOBS 5\nTARGET_LOAD_PCT 80%\nTARGET_LOAD_VARIANCE "
    "-20%,+5%\nHIGH_SYSTIME 25\n"
    "ENFORCE_ALLOCATION 11/01/1998\nSCHED_ACCT_DIR /PBS/acct\nSORT_BY_PAST_USAGE no\nDECAY_FACTOR 0.5\n"
    "OA_DECAY_FACTOR 1.25\nMAX_QUEUED_TIME 48:00:00\nINTERACTIVE_LONG_WAIT 30:00\nSORTED_JOB_DUMPFILE "
    "/tmp/jobs\n"
    "MANAGE_HPM_COUNTERS on\nREVOKE_HPM_COUNTERS on\nSCHED_RESTART_ACTION restart\nSMALL_QUEUED_TIME "
    "1:00:00\n"
    "AVOID_FRAGMENTATION off\nTEST_ONLY on\nFAKE_MACHINE_MULT 32\n";

TEST(Convert, EveryOptionAtOnceHoldsInTheStore) {
    const Folder folder;
    auto store = objects::Store::open(folder.path("policy.db"), {"UTC", {}}, std::chrono::sys_seconds{});
    ASSERT_TRUE(store) << store.error().message;
    const ConfigFile file = config(kEverything);
    EXPECT_EQ(file.settings.size(), options().size());
    const auto conversion = convert({.config = file}, {}, store->snapshot().get());
    ASSERT_TRUE(conversion) << testing::PrintToString(texts(conversion.error()));
    const auto reply = store->apply(conversion->changes, {"root", "localhost", objects::manager_privilege},
                                    std::chrono::sys_seconds{});
    ASSERT_TRUE(reply) << reply.error().message;
    const objects::Object* policy = reply->snapshot->policy("default_policy");
    for (const Option& option : options()) EXPECT_TRUE(policy->is_set(option.attribute())) << option.name;
    EXPECT_EQ(policy->text("algorithm"), "origin");
    EXPECT_EQ(policy->seconds("np_drain_backtime"), std::chrono::minutes{30});
    EXPECT_EQ(policy->list("dedicated_queues").size(), 2U);
    EXPECT_DOUBLE_EQ(policy->real("oa_decay_factor"), 1.25);
    EXPECT_EQ(policy->integer("target_load_pct"), 80);
    EXPECT_EQ(policy->variance("target_load_variance"), (objects::Variance{20, 5}));
    EXPECT_EQ(std::get<objects::BooleanOrDate>(*policy->value("enforce_allocation")).from,
              (objects::LocalTime{1998, 11, 1, 0, 0, 0}));
    const objects::Object* window = reply->snapshot->time_window("prime_time");
    ASSERT_NE(window, nullptr);
    EXPECT_EQ(window->text("type"), "prime");
    EXPECT_EQ(window->seconds("start_time"), std::chrono::hours{22});
    EXPECT_FALSE(window->boolean("applies_on_holidays"));
    // A second conversion of the same files changes nothing.
    const auto second = convert({.config = file}, {}, reply->snapshot.get());
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->changes.commands.empty()) << to_qmgr(*second);
    EXPECT_FALSE(second->report.changed());
}

// Returns whether the old scheduler had prime time at a local time, by a simple reading of its files.
bool naive_prime(rrule::Local l, const std::vector<int>& holidays) {
    const auto day = std::chrono::floor<std::chrono::days>(l);
    const unsigned weekday = std::chrono::weekday{day}.c_encoding();
    if (weekday == 0 || weekday == 6) return false;
    const auto year = std::chrono::year_month_day{day}.year();
    const auto day_of_year = (day - rrule::LocalDay{year / 1 / 1}).count() + 1;
    if (std::find(holidays.begin(), holidays.end(), day_of_year) != holidays.end()) return false;
    const auto minutes = (l - day).count() / 60;
    return minutes >= 8 * 60 && minutes < 17 * 60;
}

TEST(Convert, PrimeTimeIsTheSameMinuteByMinuteOverTwoYears) {
    const std::vector<int> days{1, 60, 185, 359, 365};
    std::string text;
    for (const int day : days) text += std::to_string(day) + "\n";
    const auto holidays = parse_origin_holidays(text, "holidays");
    std::vector<std::string> rules;
    for (const Holiday& day : holidays.days) rules.push_back(day.rule());
    const rrule::Zone zone = *rrule::Zone::find("America/Los_Angeles");
    const auto conversion = convert({.config = config(kPrime), .origin_holidays = holidays}, {}, nullptr);
    rrule::WindowSpec spec{"", std::chrono::hours{8}, std::chrono::hours{17}, false};
    for (const auto& command : conversion->changes.commands)
        for (const auto& change : command.changes)
            if (change.name == "rrule") spec.rrule = change.value;
    const rrule::WindowSet prime({*rrule::Window::make(spec, zone)}, *rrule::NonWorkDays::parse(rules, zone));
    // Check 2024, which is a leap year, and 2025.
    const rrule::Instant from = zone.instant(rrule::Local{rrule::LocalDay{std::chrono::year{2024} / 1 / 1}});
    for (rrule::Instant t = from; t < from + std::chrono::days{731}; t += std::chrono::minutes{1})
        ASSERT_EQ(prime.contains(t), naive_prime(zone.local(t), days)) << t.time_since_epoch().count();
}

}  // namespace
}  // namespace pbs::migrate::test
