#include "migrate/sched_config.h"

#include <fmt/format.h>

#include <set>

#include "objects/schema.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SchedConfig parsed(const std::string& text) {
    auto file = parse_sched_config(text, "sched_config");
    EXPECT_THAT(texts(file.mistakes), IsEmpty());
    return file;
}

std::vector<std::string> problems(const std::string& text) {
    return texts(parse_sched_config(text, "sched_config").mistakes);
}

// Returns each setting that is in force as "line option = value columns".
std::vector<std::string> settings(const std::string& text) {
    std::vector<std::string> out;
    for (const SchedSetting& s : parsed(text).settings) {
        const char* columns = s.columns == kAllTime ? "all" : s.columns == kPrimeTime ? "prime" : "non_prime";
        out.push_back(fmt::format("{} {} = {} {}", s.line, s.option->name, s.value, columns));
    }
    return out;
}

// ---- The format of a sched_config file.

TEST(SchedConfig, LinesAsTheSampleFilesHaveThem) {
    EXPECT_THAT(
        settings("# comment\n* comment\n\n   # comment\n"
                 "round_robin: False\tall\n"
                 "by_queue: True\t\tprime\n"
                 "by_queue: False\t\tnon_prime\n"
                 "help_starving_jobs\ttrue\tALL\n"
                 "  node_sort_key:\"sort_priority HIGH\"ALL\n"
                 "max_starve : 24:00:00 # a day\n"
                 "provision_policy: 'avoid_provision'"),
        ElementsAre("5 round_robin = False all", "6 by_queue = True prime", "7 by_queue = False non_prime",
                    "8 help_starving_jobs = True all", "9 node_sort_key = sort_priority HIGH all",
                    "10 max_starve = 24:00:00 all", "11 provision_policy = avoid_provision all"));
}

TEST(SchedConfig, CarriageReturnsMarksAndMissingNewlines) {
    EXPECT_THAT(settings("\xef\xbb\xbfround_robin: True ALL\r\nby_queue: True\r\n\r\nfair_share: True\r"),
                ElementsAre("1 round_robin = True all", "2 by_queue = True all", "4 fair_share = True all"));
    EXPECT_THAT(settings(""), IsEmpty());
    EXPECT_THAT(settings("\n\r\n# caf\xc3\xa9 \xff\n"), IsEmpty());
}

TEST(SchedConfig, VeryLongLines) {
    const std::string blanks(100000, ' ');
    EXPECT_THAT(settings("by_queue:" + blanks + "True" + blanks + "prime" + blanks + "\n#" + blanks + "\n"),
                ElementsAre("1 by_queue = True prime"));
    const std::vector<std::string> found = problems("by_queue: " + std::string(100000, 'x') + "\n");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_LT(found[0].size(), 300U) << "an error quotes the beginning only";
}

TEST(SchedConfig, Columns) {
    EXPECT_THAT(settings("by_queue: True PRIME\nby_queue: False NON_PRIME\n"),
                ElementsAre("1 by_queue = True prime", "2 by_queue = False non_prime"));
    const SchedConfig none = parsed("by_queue: True none\n");
    EXPECT_THAT(none.settings, IsEmpty());
    EXPECT_THAT(none.notes, ElementsAre("sched_config:1:16: by_queue: a line with none sets nothing"));
    const SchedConfig fixed = parsed("max_starve: 1:00:00 prime\n");
    EXPECT_EQ(fixed.settings.at(0).columns, kAllTime);
    EXPECT_THAT(
        fixed.notes,
        ElementsAre("sched_config:1:21: max_starve: max_starve has no columns: the value holds at all "
                    "times"));
}

TEST(SchedConfig, TheLastValueWins) {
    EXPECT_THAT(settings("by_queue: True\nby_queue: False\n"), ElementsAre("2 by_queue = False all"));
    EXPECT_THAT(settings("by_queue: True\nby_queue: False prime\n"),
                ElementsAre("1 by_queue = True non_prime", "2 by_queue = False prime"));
    EXPECT_THAT(settings("strict_ordering: True\nstrict_fifo: False\n"),
                ElementsAre("2 strict_fifo = False all"));
    EXPECT_THAT(parsed("by_queue: True\nby_queue: False prime\n").notes,
                ElementsAre("sched_config:2:11: by_queue: is set again, line 1 doesn't count for prime"));
    EXPECT_THAT(parsed("by_queue: True\nby_queue: True\n").notes, IsEmpty()) << "as shipped, by column";
}

TEST(SchedConfig, ListsAppend) {
    EXPECT_THAT(settings("job_sort_key: \"ncpus HIGH\"\njob_sort_key: \"mem low\" prime\n"
                         "peer_queue: \"workq workq@svr1\"\npeer_queue: \"workq workq@svr2\"\n"),
                ElementsAre("1 job_sort_key = ncpus HIGH all", "2 job_sort_key = mem LOW prime",
                            "3 peer_queue = workq workq@svr1 all", "4 peer_queue = workq workq@svr2 all"));
    const SchedConfig twice = parsed("job_sort_key: \"mem LOW\"\njob_sort_key: \"mem LOW\"\n");
    EXPECT_EQ(twice.settings.size(), 1U);
    EXPECT_THAT(twice.notes, ElementsAre("sched_config:2:16: job_sort_key: is in line 1 already"));
}

// ---- Mistakes: each error names the place and what was expected.

TEST(SchedConfig, MistakesOfForm) {
    const std::pair<const char*, const char*> cases[] = {
        {"by_queu: True",
         "sched_config:1:1: 'by_queu' is not an option of sched_config, perhaps "
         "by_queue was meant"},
        {"  By_Queue: True",
         "sched_config:1:3: 'By_Queue' is not an option: names are lower-case, "
         "expected by_queue"},
        {"unheard_of_thing 1",
         "sched_config:1:1: 'unheard_of_thing' is not an option of "
         "sched_config"},
        {": True", "sched_config:1:1: expected the name of an option before the colon"},
        {"by_queue:", "sched_config:1:10: by_queue: the value is missing, expected one"},
        {"by_queue", "sched_config:1:9: by_queue: the value is missing, expected one"},
        {"by_queue: # True", "sched_config:1:11: by_queue: the value is missing, expected one"},
        {"by_queue: \"\"", "sched_config:1:12: by_queue: the value is empty, expected one"},
        {"by_queue: \"True",
         "sched_config:1:11: by_queue: the quote isn't closed, expected another one on "
         "this line"},
        {"by_queue: True never",
         "sched_config:1:16: by_queue: 'never' is not prime, non_prime, all or none; a "
         "value with blanks is written in quotes"},
        {"resources: ncpus, mem",
         "sched_config:1:19: resources: 'mem' is not prime, non_prime, all or none; a "
         "value with blanks is written in quotes"},
        {"by_queue: True all of it",
         "sched_config:1:20: by_queue: 'of' is too much, expected the end of the line"},
        {"dedicated_prefix: d\xc3\xa9",
         "sched_config:1:20: dedicated_prefix: the byte 0xc3 stands in 'd?\?', "
         "expected printable ASCII characters"},
    };
    for (const auto& [line, message] : cases) EXPECT_THAT(problems(line), ElementsAre(message)) << line;
}

// OpenPBS's scheduler logs such lines. The notes say what it does with them.
TEST(SchedConfig, WhatTheOlderSchedulersMadeOfMistakes) {
    struct Line {
        std::string text;
        std::string then;   // text in the note
        std::string value;  // "option = value" if the line has an effect
    };
    const std::string as_true = "it is read as True, as the schedulers of PBS and TORQUE read it";
    const Line lines[] = {
        {"round_robin: yes", as_true, "round_robin = True"},
        {"round_robin: no", as_true, "round_robin = True"},
        {"round_robin: -1", as_true, "round_robin = True"},
        {"by_queue: 00x", "it is read as False, as the schedulers of PBS and TORQUE read it",
         "by_queue = False"},
        {"by_queue: 10%", as_true, "by_queue = True"},
        {"backfill: never", as_true, "backfill = 1"},
        {"fair_share: false weekdays", "the value before it holds at all times", "fair_share = False"},
        {"resources: ncpus, mem", "the value before it holds at all times", "resources = ncpus"},
        {"by_queue: False all of it", "it is left out", "by_queue = False"},
        {"unheard_of: 1", "the line is left out", ""},
        {"By_Queue: True", "the line is left out", ""},
        {"by_queue:", "the line is left out", ""},
        {"job_sort_key: \"ncpus UP\"", "the line is left out", ""},
        {"half_life: long", "the line is left out", ""},
        {"fairshare_decay_factor: 1.5", "the line is left out", ""},
        {"dedicated_prefix: \"ded", "the line is left out", ""},
    };
    for (const Line& line : lines) {
        const SchedConfig file = parse_sched_config(line.text + "\nround_robin: False prime\n", "f");
        ASSERT_EQ(file.mistakes.size(), 1U) << line.text;
        EXPECT_EQ(file.mistakes[0].then, line.then) << line.text;
        EXPECT_EQ(note_of(file.mistakes[0]), to_text(file.mistakes[0]) + "; " + line.then);
        ASSERT_EQ(file.settings.size(), line.value.empty() ? 1U : 2U) << line.text << ": the rest counts";
        if (!line.value.empty()) {
            EXPECT_EQ(fmt::format("{} = {}", file.settings[0].option->name, file.settings[0].value),
                      line.value);
        }
    }
}

TEST(SchedConfig, LinesThatGoOn) {
    EXPECT_THAT(settings("resources: \"ncpus, \\\n mem, \\\r\n color\"\nby_queue: True\n"),
                ElementsAre("1 resources = ncpus,mem,color all", "4 by_queue = True all"));
    EXPECT_THAT(settings("# a comment \\\nby_queue: True\nround_robin: True \\"),
                ElementsAre("3 round_robin = True all"))
        << "a comment goes on too, as it did";
}

TEST(SchedConfig, WhiteSpaceBeforeTheColonIsNoted) {
    EXPECT_THAT(
        parsed("by_queue : False\nround_robin False\n").notes,
        ElementsAre("sched_config:1:1: by_queue: white space before the colon: the scheduler of PBS took "
                    "the colon for the value"));
}

TEST(SchedConfig, AllMistakesAreCollected) {
    EXPECT_THAT(
        problems("by_queue: maybe\nfoo_bar: 1\nround_robin: True\nmax_starve: long\n"),
        ElementsAre(HasSubstr("sched_config:1:11: by_queue: "), HasSubstr("sched_config:2:1: 'foo_bar'"),
                    HasSubstr("sched_config:4:13: max_starve: ")));
}

TEST(SchedConfig, TwoWaysOfOrdering) {
    EXPECT_THAT(
        problems("sort_by: no_sort\njob_sort_key: \"mem LOW\" prime\n"),
        ElementsAre("sched_config:1: sort_by: orders jobs, and so does job_sort_key in line 2: expected "
                    "one of them"));
    const SchedConfig both = parse_sched_config("sort_by: no_sort\njob_sort_key: \"mem LOW\" prime\n", "f");
    ASSERT_EQ(both.settings.size(), 2U);
    EXPECT_EQ(both.settings[0].columns, kNonPrimeTime) << "where both hold, the younger one counts";
    EXPECT_EQ(both.settings[1].columns, kPrimeTime);
    EXPECT_THAT(problems("sort_by: no_sort non_prime\njob_sort_key: \"mem LOW\" prime\n"), IsEmpty());
    EXPECT_THAT(parsed("key: no_sort\n").notes,
                ElementsAre("sched_config:1:6: key: has no effect without sort_by: multi_sort"));
}

// ---- Every option: values that it accepts, in the form in which they are stored, and values that it
// refuses.

struct Case {
    std::string_view option;
    std::vector<std::pair<std::string, std::string>> good;
    std::vector<std::string> bad;
};

const std::vector<std::pair<std::string, std::string>> kTruths = {
    {"True", "True"},   {"true", "True"},   {"TRUE", "True"}, {"1", "True"},
    {"FALSE", "False"}, {"false", "False"}, {"0", "False"}};
const std::vector<std::string> kNoTruths = {"yes", "maybe", "-1", "tru"};
const std::vector<std::pair<std::string, std::string>> kTimes = {
    {"24:00:00", "24:00:00"}, {"1:30", "00:01:30"}, {"90", "00:01:30"}};
const std::vector<std::string> kNoTimes = {"long", "1:2:3:4", "-5", "1h"};
const std::vector<std::pair<std::string, std::string>> kAnything = {{"x", "x"}, {"4", "4"}};

const std::vector<Case>& cases() {
    static const std::vector<Case> all = {
        {"round_robin", kTruths, kNoTruths},
        {"by_queue", kTruths, kNoTruths},
        {"strict_ordering", kTruths, kNoTruths},
        {"strict_fifo", kTruths, kNoTruths},
        {"help_starving_jobs", kTruths, kNoTruths},
        {"max_starve", kTimes, kNoTimes},
        {"job_sort_key",
         {{"\"ncpus HIGH\"", "ncpus HIGH"},
          {"\"mem\tlow\"", "mem LOW"},
          {"\"sort_priority HIGH\"", "job_priority HIGH"},
          {"\"fair_share_perc HIGH\"", "fairshare_perc HIGH"}},
         {"ncpus", "\"ncpus UP\"", "\"HIGH\"", "\"ncpus HIGH total\"", "\"ncpus HIGH, mem LOW\""}},
        {"sort_by",
         {{"no_sort", ""},
          {"shortest_job_first", "cput LOW"},
          {"longest_job_first", "cput HIGH"},
          {"smallest_memory_first", "mem LOW"},
          {"largest_memory_first", "mem HIGH"},
          {"high_priority_first", "job_priority HIGH"},
          {"low_priority_first", "job_priority LOW"},
          {"large_walltime_first", "walltime HIGH"},
          {"short_walltime_first", "walltime LOW"},
          {"fair_share", "fairshare_perc HIGH"},
          {"preempt_priority", "preempt_priority HIGH"},
          {"multi_sort", "multi_sort"}},
         {"by_size", "Shortest_Job_First"}},
        {"key", {{"longest_job_first", "cput HIGH"}}, {"multi_sort", "by_size"}},
        {"sort_queues", kTruths, kNoTruths},
        {"ignore_queue", kAnything, {}},
        {"backfill_prime", kTruths, kNoTruths},
        {"prime_exempt_anytime_queues", kTruths, kNoTruths},
        {"prime_spill", kTimes, kNoTimes},
        {"primetime_prefix", {{"p_", "p_"}, {"\"\"", ""}}, {"p@x", "a,b", "abcdefghijklmnop"}},
        {"nonprimetime_prefix", {{"np_", "np_"}}, {"n:p"}},
        {"dedicated_prefix", {{"ded", "ded"}, {"\"\"", ""}}, {"d*d"}},
        {"resources",
         {{"\"ncpus, mem, arch\"", "ncpus,mem,arch"}, {"ncpus,mem", "ncpus,mem"}, {"\"\"", ""}},
         {"\"ncpus; mem\""}},
        {"node_sort_key",
         {{"\"sort_priority HIGH\"", "sort_priority HIGH"},
          {"\"ncpus HIGH unused\"", "ncpus HIGH unused"},
          {"\"mem Low assigned\"", "mem LOW assigned"}},
         {"ncpus", "\"ncpus HIGH most\"", "\"sort_priority LARGE\""}},
        {"sort_nodes", {{"True", "sort_priority HIGH"}, {"False", ""}}, kNoTruths},
        {"load_balancing", kTruths, kNoTruths},
        {"load_balancing_rr", kTruths, kNoTruths},
        {"smp_cluster_dist",
         {{"pack", "pack"}, {"round_robin", "round_robin"}, {"lowest_load", "lowest_load"}},
         {"most", "Pack"}},
        {"cpus_per_ssinode", {{"4", "4"}}, {"0", "two"}},
        {"mem_per_ssinode", {{"512mb", "512mb"}}, {"some"}},
        {"assign_ssinodes", kTruths, kNoTruths},
        {"provision_policy",
         {{"aggressive_provision", "aggressive_provision"}, {"\"avoid_provision\"", "avoid_provision"}},
         {"some_provision"}},
        {"mom_resources", {{"\"foo, bar\"", "foo, bar"}}, {}},
        {"server_dyn_res",
         {{"\"mem !/bin/get_mem\"", "mem !/bin/get_mem"}, {"'lic !/bin/get lic'", "lic !/bin/get lic"}},
         {"mem", "\"mem /bin/get_mem\"", "\"mem !bin/get_mem\"", "\"mem !/bin/a,b\""}},
        {"resource_unset_infinite", {{"\"vmem, foo\"", "vmem,foo"}}, {"a!"}},
        {"node_group_key", kAnything, {}},
        {"allow_aoe_calendar", kAnything, {}},
        {"fair_share", kTruths, kNoTruths},
        {"unknown_shares", {{"10", "10"}, {"0", "0"}}, {"-1", "ten", "1.5"}},
        {"fairshare_usage_res", {{"cput", "cput"}, {"\"ncpus*walltime\"", "ncpus*walltime"}}, {}},
        {"fairshare_entity",
         {{"euser", "euser"},
          {"egroup", "egroup"},
          {"Account_Name", "Account_Name"},
          {"queue", "queue"},
          {"egroup:euser", "egroup:euser"}},
         {"nobody"}},
        {"fairshare_decay_time", kTimes, kNoTimes},
        {"half_life", kTimes, kNoTimes},
        {"fairshare_decay_factor", {{"0.5", "0.5"}, {".8", "0.8"}}, {"0", "1", "1.5", "-0.5", "half"}},
        {"fairshare_enforce_no_shares", kTruths, kNoTruths},
        {"sync_time", kTimes, kNoTimes},
        {"preemptive_sched", kTruths, kNoTruths},
        {"preempt_queue_prio", {{"150", "150"}}, {"high", "2000"}},
        {"preempt_prio",
         {{"\"starving_jobs, normal_jobs, starving_jobs+fairshare\"",
           "starving_jobs, normal_jobs, starving_jobs+fairshare"}},
         {"\"urgent_jobs\""}},
        {"preempt_order",
         {{"SCR", "SCR"}, {"\"SCR 80 SC 50 S\"", "SCR 80 SC 50 S"}},
         {"XYZ", "\"SCR 120 S\""}},
        {"preempt_sort", {{"min_time_since_start", "min_time_since_start"}}, {"max_time"}},
        {"preempt_suspend", kTruths, kNoTruths},
        {"preempt_checkpoint", kTruths, kNoTruths},
        {"preempt_requeue", kTruths, kNoTruths},
        {"preempt_starving", kTruths, kNoTruths},
        {"preempt_fairshare", kTruths, kNoTruths},
        {"dont_preempt_starving", kTruths, kNoTruths},
        {"preempt_attempts", {{"4", "4"}}, {"many"}},
        {"susp_threshold", kAnything, {}},
        {"backfill", {{"True", "1"}, {"False", "0"}}, kNoTruths},
        {"peer_queue", {{"\"workq\tworkq@svr1\"", "workq workq@svr1"}}, {"workq", "\"workq@a workq\""}},
        {"peer_translation", kAnything, {}},
        {"log_filter", {{"0", "8191"}, {"256", "7935"}, {"3328", "4863"}}, {"-1", "all", "70000"}},
        {"opt_backfill_fuzzy_time", kAnything, {}},
        {"max_job_check", {{"ALL_JOBS", "ALL_JOBS"}, {"100", "100"}}, {}},
        {"update_comments", kTruths, kNoTruths},
        {"resv_confirm_ignore", {{"none", "none"}}, {}},
        {"max_borrow", kAnything, {}},
        {"shares_track_only", kAnything, {}},
        {"per_share_depth", kAnything, {}},
        {"per_share_topjobs", kAnything, {}},
        {"per_queues_topjobs", kAnything, {}},
        {"min_interrupted_cycle_length", kAnything, {}},
        {"max_cons_interrupted_cycles", kAnything, {}},
    };
    return all;
}

TEST(SchedConfig, EveryOptionTakesItsValues) {
    std::set<std::string_view> covered;
    for (const Case& option : cases()) {
        covered.insert(option.option);
        ASSERT_FALSE(option.good.empty()) << option.option;
        for (const auto& [written, value] : option.good) {
            const SchedConfig file = parsed(fmt::format("\n{}:  {}\n", option.option, written));
            ASSERT_EQ(file.settings.size(), 1U) << option.option << ' ' << written;
            EXPECT_EQ(file.settings[0].value, value) << option.option << ' ' << written;
            EXPECT_EQ(file.settings[0].option->name, option.option);
            EXPECT_EQ(file.settings[0].line, 2);
        }
    }
    for (const SchedOption& option : sched_options())
        EXPECT_TRUE(covered.contains(option.name)) << option.name;
    EXPECT_EQ(covered.size(), sched_options().size());
}

TEST(SchedConfig, EveryOptionRefusesTheRestWithItsPlace) {
    for (const Case& option : cases()) {
        for (const std::string& written : option.bad) {
            const int column = static_cast<int>(option.option.size()) + 4 +
                               (written[0] == '"' || written[0] == '\'' ? 1 : 0);
            const auto found = problems(fmt::format("\n{}:  {}\n", option.option, written));
            ASSERT_EQ(found.size(), 1U) << option.option << ' ' << written;
            EXPECT_THAT(found[0], HasSubstr(fmt::format("sched_config:2:{}: {}: '", column, option.option)))
                << written;
            EXPECT_THAT(found[0], HasSubstr("' is not ")) << written;
        }
    }
}

TEST(SchedConfig, TheTableIsConsistent) {
    std::set<std::string_view> names;
    for (const SchedOption& option : sched_options()) {
        EXPECT_TRUE(names.insert(option.name).second) << option.name;
        if (option.target == SchedTarget::removed) {
            EXPECT_FALSE(option.instead.empty()) << option.name;
            EXPECT_TRUE(option.attribute.empty()) << option.name;
            continue;
        }
        const auto type = option.target == SchedTarget::policy ? objects::ObjectType::policy
                                                               : objects::ObjectType::fs_group;
        EXPECT_NE(objects::find_attribute(type, option.attribute), nullptr) << option.name;
    }
}

}  // namespace
}  // namespace pbs::migrate::test
