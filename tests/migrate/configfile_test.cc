#include "migrate/configfile.h"

#include "objects/schema.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Options that every configuration needs. A test adds its own options to them.
const std::string kMinimal = "SUBMIT_QUEUE submit\nBATCH_QUEUES execute\n";

std::string value(const std::string& lines, std::string_view option) {
    const auto config = parse_configfile(kMinimal + lines, "config");
    if (!config) return testing::PrintToString(texts(config.error()));
    const Setting* setting = config->find(option);
    return setting == nullptr ? "not set" : setting->value;
}

std::vector<std::string> problems(const std::string& text) {
    const auto config = parse_configfile(text, "config");
    return config ? std::vector<std::string>{} : texts(config.error());
}

std::vector<std::string> mistakes(const std::string& text) {
    const auto config = parse_configfile(text, "config");
    return config ? texts(config->mistakes) : std::vector<std::string>{"refused"};
}

TEST(ConfigFile, TheSmallestOfTheGuide) {
    const auto config = parse_configfile(
        "\tSUBMIT_QUEUE\t\tsubmit\n\tBATCH_QUEUES\t\texecute\n\tSORT_BY_PAST_USAGE\tFalse\n", "config");
    ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
    ASSERT_EQ(config->settings.size(), 3U);
    EXPECT_EQ(config->find("SUBMIT_QUEUE")->value, "submit");
    EXPECT_EQ(config->find("BATCH_QUEUES")->value, "execute");
    EXPECT_EQ(config->find("SORT_BY_PAST_USAGE")->value, "False");
    EXPECT_EQ(config->find("SORT_BY_PAST_USAGE")->line, 3);
    EXPECT_EQ(config->find("SORT_BY_PAST_USAGE")->column, 21);
    EXPECT_TRUE(config->notes.empty());
}

TEST(ConfigFile, EveryOptionOfBothDocumentsIsKnown) {
    // Options that appear in the guide's alphabetical index, in its text or in the overview, and their other
    // spellings.
    const char* names[] = {"AVOID_FRAGMENTATION",
                           "BATCH_QUEUES",
                           "DECAY_FACTOR",
                           "DEDICATED_QUEUES",
                           "DEDICATED_TIME_CACHE_SECS",
                           "DEDICATED_TIME_COMMAND",
                           "ENFORCE_ALLOCATION",
                           "ENFORCE_PRIME_TIME",
                           "EXTERNAL_QUEUES",
                           "FAKE_MACHINE_MULT",
                           "INTERACTIVE_LONG_WAIT",
                           "MANAGE_HPM_COUNTERS",
                           "MAX_JOBS",
                           "MAX_QUEUED_TIME",
                           "MIN_JOBS",
                           "NONPRIME_DRAIN_SYS",
                           "NP_DRAIN_BACKTIME",
                           "NP_DRAIN_IDLETIME",
                           "OA_DECAY_FACTOR",
                           "PRIME_TIME_END",
                           "PRIME_TIME_SMALL_NODE_LIMIT",
                           "PRIME_TIME_SMALL_WALLT_LIMIT",
                           "PRIME_TIME_START",
                           "PRIME_TIME_WALLT_LIMIT",
                           "REVOKE_HPM_COUNTERS",
                           "SCHED_ACCT_DIR",
                           "SCHED_RESTART_ACTION",
                           "SMALL_JOB_MAX",
                           "SMALL_QUEUED_TIME",
                           "SORTED_JOB_DUMPFILE",
                           "SORT_BY_PAST_USAGE",
                           "SPECIAL_QUEUE",
                           "SUBMIT_QUEUE",
                           "SYSTEM_NAME",
                           "TARGET_LOAD_PCT",
                           "TARGET_LOAD_VARIANCE",
                           "TEST_ONLY",
                           "WALLT_LIMIT_LARGE_JOB",
                           "WALLT_LIMIT_SMALL_JOB",
                           "ENFORCE_DEDICATED_TIME",
                           "BACKGROUND_QUEUE_NAME",
                           "CHALLENGE_QUEUE_NAME",
                           "HIGH_SYSTIME",
                           "MAX_DEDICATED_JOBS",
                           "MAX_USER_RUN_JOBS",
                           "SCHED_HOST",
                           "SERVER_HOST"};
    for (const char* name : names) {
        const auto found =
            std::find_if(options().begin(), options().end(), [&](const Option& o) { return o.name == name; });
        EXPECT_NE(found, options().end()) << name;
    }
    EXPECT_EQ(options().size(), std::size(names));
    const char* other[] = {"DEDICATED_QUEUE", "SORTED_JOB_FILE", "WALLT_SMALL_LIMIT", "WALLT_LARGE_LIMIT",
                           "NON_PRIME_DRAIN_SYS"};
    for (const char* name : other)
        EXPECT_TRUE(std::any_of(options().begin(), options().end(), [&](const Option& o) {
            return o.other_name == name;
        })) << name;
}

TEST(ConfigFile, EveryOptionIsAnAttributeOfAPolicy) {
    for (const Option& option : options()) {
        const auto* attribute = objects::find_attribute(objects::ObjectType::policy, option.attribute());
        ASSERT_NE(attribute, nullptr) << option.name;
        EXPECT_EQ(attribute->name, option.attribute());
        const bool list = option.type == ArgumentType::queues;
        EXPECT_EQ(attribute->is_list(), list) << option.name;
    }
}

struct Argument {
    const char* option;
    const char* written;
    const char* value;
};

TEST(ConfigFile, ArgumentsByType) {
    const Argument arguments[] = {
        {"TEST_ONLY", "true", "True"},
        {"TEST_ONLY", "YES", "True"},
        {"TEST_ONLY", "On", "True"},
        {"TEST_ONLY", "1", "True"},
        {"TEST_ONLY", "0", "False"},
        {"TEST_ONLY", "enabled", "False"},
        {"TEST_ONLY", "09/07/1999@05:01:00", "09/07/1999@05:01:00"},
        {"TEST_ONLY", "9/7/1999", "09/07/1999"},
        {"MAX_JOBS", "64", "64"},
        {"MAX_JOBS", "007", "7"},
        {"DECAY_FACTOR", "0.80", "0.8"},
        {"DECAY_FACTOR", ".5", "0.5"},
        {"OA_DECAY_FACTOR", "1.0", "1"},
        {"SORTED_JOB_DUMPFILE", "/PBS/sched_priv/sortedjobs", "/PBS/sched_priv/sortedjobs"},
        {"SPECIAL_QUEUE", "special@host.bar.com", "special@host.bar.com"},
        {"EXTERNAL_QUEUES", "compile,test@o2k-1", "compile,test@o2k-1"},
        {"MAX_QUEUED_TIME", "48:00:00", "48:00:00"},
        {"MAX_QUEUED_TIME", "4:00:00", "04:00:00"},
        {"MAX_QUEUED_TIME", "01:30", "00:01:30"},  // two numbers are minutes and seconds
        {"MAX_QUEUED_TIME", "90", "00:01:30"},
        {"MAX_QUEUED_TIME", "90:00", "01:30:00"},
        {"TARGET_LOAD_PCT", "90%", "90"},
        {"TARGET_LOAD_PCT", "85", "85"},
        {"TARGET_LOAD_VARIANCE", "-90%,+10%", "-90%,+10%"},
        {"SCHED_RESTART_ACTION", "Resubmit", "resubmit"},
        {"HIGH_SYSTIME", "20", "20"},
        {"SCHED_HOST", "hopper.nas.nasa.gov", "hopper.nas.nasa.gov"},
        {"BACKGROUND_QUEUE_NAME", "bg", "bg"},
    };
    for (const Argument& a : arguments)
        EXPECT_EQ(value(std::string(a.option) + " " + a.written, a.option), a.value)
            << a.option << ' ' << a.written;
}

TEST(ConfigFile, BadArgumentsSayWhatWasExpected) {
    const Argument arguments[] = {
        {"TEST_ONLY", "13/01/1999", "'13/01/1999' is not a boolean or a date MM/DD/YYYY[@HH:MM:SS]"},
        {"TEST_ONLY", "02/29/1999", "is not a boolean or a date"},
        {"TEST_ONLY", "09/07/99", "is not a boolean or a date"},
        {"TEST_ONLY", "09/07/1999@05:01", "is not a boolean or a date"},
        {"TEST_ONLY", "09/07/1999@24:00:00", "is not a boolean or a date"},
        {"MAX_JOBS", "-1", "'-1' is not a number that isn't negative"},
        {"MAX_JOBS", "two", "'two' is not a number"},
        {"MAX_JOBS", "2x", "'2x' is not a number"},
        {"MAX_JOBS", "99999999999999999999", "is not a number"},
        {"DECAY_FACTOR", "half", "'half' is not a real number, such as 0.75"},
        {"DECAY_FACTOR", "0,5", "is not a real number"},
        {"DECAY_FACTOR", "nan", "is not a real number"},
        {"DECAY_FACTOR", "1.5", "expected a number from 0 to 1"},
        {"HIGH_SYSTIME", "101", "expected"},
        {"MAX_QUEUED_TIME", "8am", "'8am' is not a time HH:MM:SS"},
        {"MAX_QUEUED_TIME", "1:2:3:4", "is not a time HH:MM:SS"},
        {"MAX_QUEUED_TIME", "1::2", "is not a time HH:MM:SS"},
        {"MAX_QUEUED_TIME", "-1:00", "is not a time HH:MM:SS"},
        {"TARGET_LOAD_PCT", "90%%", "'90%%' is not a percentage"},
        {"TARGET_LOAD_VARIANCE", "10%,15%", "is not a variance -mm%,+nn%"},
        {"TARGET_LOAD_VARIANCE", "-10%", "is not a variance"},
        {"SCHED_RESTART_ACTION", "retry", "'retry' is not none, restart"},
        {"SPECIAL_QUEUE", "a,b", "'a,b' is not one queue"},
        {"SPECIAL_QUEUE", "_1st", "is not one queue"},
        {"SPECIAL_QUEUE", "a_name_of_16_chr", "with at most 15 characters"},
        {"SPECIAL_QUEUE", "special@", "is not one queue"},
        {"EXTERNAL_QUEUES", "a,,b", "'a,,b' is not queues, as queue or queue@host"},
        {"SCHED_HOST", "a_host!", "'a_host!' is not the name of a host"},
        {"SCHED_HOST", "-h", "'-h' is not the name of a host"},
        {"SORTED_JOB_DUMPFILE", "/tmp/\x01", "is not a path in printable characters"},
    };
    for (const Argument& a : arguments) {
        const auto found = problems(kMinimal + a.option + "\t" + a.written + "\n");
        ASSERT_EQ(found.size(), 1U) << a.option << ' ' << a.written << testing::PrintToString(found);
        const std::string place =
            "config:3:" + std::to_string(std::string(a.option).size() + 2) + ": " + a.option + ": ";
        EXPECT_THAT(found[0], HasSubstr(a.value));
        EXPECT_THAT(found[0], testing::StartsWith(place));
    }
}

TEST(ConfigFile, LinesThatAreNoSettings) {
    EXPECT_THAT(
        problems(kMinimal + "FROBNICATE on\nbatch_queues x\nMax_Jobs 2\n"
                            "MAX_JOBS\n"
                            "MAX_QUEUED_TME 1:00\n"
                            "MAX_JOBS 2 3\n"
                            "  \xc3\xa4pfel 2\n"),
        ElementsAre(
            "config:3:1: FROBNICATE: 'FROBNICATE' is not an option of the Origin scheduler",
            "config:4:1: batch_queues: 'batch_queues' is not an option: names are upper-case, expected "
            "BATCH_QUEUES",
            "config:5:1: Max_Jobs: 'Max_Jobs' is not an option: names are upper-case, expected MAX_JOBS",
            "config:6:9: MAX_JOBS: the argument is missing, expected one",
            "config:7:1: MAX_QUEUED_TME: 'MAX_QUEUED_TME' is not an option of the Origin scheduler, perhaps "
            "MAX_QUEUED_TIME was meant",
            "config:9:3: ??pfel: '??pfel' is not an option of the Origin scheduler"));
}

TEST(ConfigFile, AWordTooManyIsLeftOut) {
    const auto config = parse_configfile(kMinimal + "MAX_JOBS 2 3\n", "config");
    ASSERT_TRUE(config);
    EXPECT_EQ(config->find("MAX_JOBS")->value, "2");
    ASSERT_EQ(config->mistakes.size(), 1U);
    EXPECT_EQ(
        note_of(config->mistakes[0]),
        "config:3:12: MAX_JOBS: '3' is one word too many, expected one argument without white space; it is "
        "left out");
}

TEST(ConfigFile, CommentsBlankLinesAndLineEnds) {
    EXPECT_EQ(value("# MAX_JOBS 1\n\n   \t\nMAX_JOBS 2# two\r\n", "MAX_JOBS"), "2");
    EXPECT_EQ(value("MAX_JOBS 3", "MAX_JOBS"), "3");
    EXPECT_EQ(value("MAX_JOBS\t \t4\t# a # b\n", "MAX_JOBS"), "4");
    EXPECT_TRUE(parse_configfile("\xef\xbb\xbf" + kMinimal, "config"));
    EXPECT_EQ(value("#" + std::string(100000, 'x') + "\nMAX_JOBS 5\n", "MAX_JOBS"), "5");
    // If a comment follows the option at once, the argument is missing.
    EXPECT_THAT(problems(kMinimal + "MAX_JOBS # 2\n"), ElementsAre(HasSubstr("the argument is missing")));
}

TEST(ConfigFile, TheLastSettingWinsButQueuesAppend) {
    const auto config = parse_configfile(
        "SUBMIT_QUEUE old\nSUBMIT_QUEUE submit\nBATCH_QUEUES a,b\nBATCH_QUEUES c@host\nMAX_JOBS 1\nMAX_JOBS "
        "2\n",
        "config");
    ASSERT_TRUE(config);
    EXPECT_EQ(config->find("SUBMIT_QUEUE")->value, "submit");
    EXPECT_EQ(config->find("SUBMIT_QUEUE")->line, 2);
    EXPECT_EQ(config->find("BATCH_QUEUES")->value, "a,b,c@host");
    EXPECT_EQ(config->find("BATCH_QUEUES")->line, 3);
    EXPECT_EQ(config->find("MAX_JOBS")->value, "2");
    EXPECT_THAT(config->notes, ElementsAre("config:2: SUBMIT_QUEUE: replaces the value 'old' of line 1",
                                           "config:6: MAX_JOBS: replaces the value '1' of line 5"));
}

TEST(ConfigFile, TwoSpellingsAreOneOption) {
    const auto config =
        parse_configfile(kMinimal +
                             "SMALL_JOB_MAX 16\nWALLT_SMALL_LIMIT 1:00:00\nWALLT_LARGE_LIMIT 2:00:00\n"
                             "WALLT_LIMIT_SMALL_JOB 3:00:00\nSORTED_JOB_FILE jobs\n",
                         "config");
    ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
    EXPECT_EQ(config->find("WALLT_LIMIT_SMALL_JOB")->value, "03:00:00");
    EXPECT_EQ(config->find("WALLT_LIMIT_LARGE_JOB")->name, "WALLT_LARGE_LIMIT");
    EXPECT_EQ(config->find("SORTED_JOB_DUMPFILE")->value, "jobs");
    EXPECT_EQ(config->notes.size(), 1U);
}

TEST(ConfigFile, AWordThatIsReadAsFalseIsNoted) {
    const auto config = parse_configfile(kMinimal + "TEST_ONLY treu\nSORT_BY_PAST_USAGE no\n", "config");
    ASSERT_TRUE(config);
    EXPECT_THAT(
        config->notes,
        ElementsAre("config:3: TEST_ONLY: 'treu' is read as False, as any word but true, yes, on and 1"));
}

struct Companion {
    const char* lines;
    std::vector<std::string> missing;  // expected problems or notes, such as "OPTION: needs OTHER"
};

// Some options need others, without which the Origin scheduler refused to start. Without these, the migration
// reports a problem.
TEST(ConfigFile, OptionsNeedWhatTheSchedulerRequiredBesideThem) {
    const Companion companions[] = {
        {"ENFORCE_PRIME_TIME True\n",
         {"ENFORCE_PRIME_TIME: needs PRIME_TIME_START", "ENFORCE_PRIME_TIME: needs PRIME_TIME_END",
          "ENFORCE_PRIME_TIME: needs PRIME_TIME_WALLT_LIMIT"}},
        {"SMALL_JOB_MAX 16\n",
         {"SMALL_JOB_MAX: needs WALLT_LIMIT_SMALL_JOB", "SMALL_JOB_MAX: needs WALLT_LIMIT_LARGE_JOB"}},
        {"ENFORCE_DEDICATED_TIME True\n", {"needs DEDICATED_TIME_COMMAND"}},
        {"ENFORCE_DEDICATED_TIME 11/10/1999@17:00:01\n", {"needs DEDICATED_TIME_COMMAND"}},
        {"REVOKE_HPM_COUNTERS on\n", {"needs MANAGE_HPM_COUNTERS"}},
    };
    for (const Companion& c : companions) {
        const auto found = problems(kMinimal + c.lines);
        ASSERT_EQ(found.size(), c.missing.size()) << c.lines << testing::PrintToString(found);
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_THAT(found[i], HasSubstr(c.missing[i]));
            EXPECT_THAT(found[i], testing::StartsWith("config:3: "));
        }
    }
    const std::string prime =
        "PRIME_TIME_START 8:00:00\nPRIME_TIME_END 17:00:00\nPRIME_TIME_WALLT_LIMIT 2:00:00\n";
    EXPECT_THAT(mistakes(kMinimal + prime + "ENFORCE_PRIME_TIME 11/01/1999@02:00:00\n"), testing::IsEmpty());
    EXPECT_THAT(
        problems(kMinimal + prime + "ENFORCE_PRIME_TIME on\nPRIME_TIME_SMALL_NODE_LIMIT 8\n"),
        ElementsAre("config:7: PRIME_TIME_SMALL_NODE_LIMIT: needs PRIME_TIME_SMALL_WALLT_LIMIT too, which "
                    "isn't set"))
        << "but where prime time isn't enforced nobody looked";
}

// Some options need others only because the guide says "(required)". Without these, the migration gives a
// note.
TEST(ConfigFile, OptionsWithoutWhatTheGuideAloneRequiresAreSetWithANote) {
    const Companion companions[] = {
        {"ENFORCE_PRIME_TIME False\n", {}},
        {"SMALL_JOB_MAX 0\n", {}},
        {"WALLT_SMALL_LIMIT 4:00:00\n", {"WALLT_SMALL_LIMIT: needs SMALL_JOB_MAX"}},
        {"PRIME_TIME_SMALL_NODE_LIMIT 8\n",
         {"needs PRIME_TIME_SMALL_WALLT_LIMIT", "needs PRIME_TIME_WALLT_LIMIT", "needs ENFORCE_PRIME_TIME"}},
        {"DEDICATED_QUEUE hopper_ded\n", {"DEDICATED_QUEUE: needs DEDICATED_TIME_COMMAND"}},
        {"ENFORCE_ALLOCATION 11/01/1998\n", {"needs SCHED_ACCT_DIR"}},
        {"SCHED_ACCT_DIR /PBS/acct\n", {"needs ENFORCE_ALLOCATION"}},
        {"NONPRIME_DRAIN_SYS on\n", {"needs ENFORCE_PRIME_TIME"}},
        {"NP_DRAIN_BACKTIME 30:00\n",
         {"needs NP_DRAIN_IDLETIME", "needs NONPRIME_DRAIN_SYS", "needs ENFORCE_PRIME_TIME"}},
        {"INTERACTIVE_LONG_WAIT 30:00\n", {"needs ENFORCE_PRIME_TIME"}},
        {"SMALL_QUEUED_TIME 30:00\n", {"needs MAX_QUEUED_TIME"}},
        {"FAKE_MACHINE_MULT 32\n", {"needs TEST_ONLY"}},
        {"DECAY_FACTOR 0.5\n", {}},  // no note, as SORT_BY_PAST_USAGE is on unless it is switched off
        {"SYSTEM_NAME cluster\n", {"needs ENFORCE_DEDICATED_TIME"}},
    };
    for (const Companion& c : companions) {
        const auto config = parse_configfile(kMinimal + c.lines, "config");
        ASSERT_TRUE(config) << c.lines << testing::PrintToString(texts(config.error()));
        EXPECT_EQ(config->settings.size(), 3U);
        ASSERT_EQ(config->mistakes.size(), c.missing.size()) << c.lines;
        for (std::size_t i = 0; i < c.missing.size(); ++i) {
            EXPECT_THAT(to_text(config->mistakes[i]), HasSubstr(c.missing[i]));
            EXPECT_THAT(to_text(config->mistakes[i]), testing::StartsWith("config:3: "));
            EXPECT_EQ(config->mistakes[i].then, "it is set without it");
        }
    }
}

TEST(ConfigFile, IsKnownByItsOptions) {
    EXPECT_TRUE(is_configfile("# options\nSUBMIT_QUEUE submit\nBATCH_QUEUES a\nround_robin: True\n"));
    EXPECT_FALSE(is_configfile("round_robin: True\nby_queue True\nMAX_JOBS 3\n"));
    EXPECT_FALSE(is_configfile(""));
    EXPECT_FALSE(is_configfile("nonsense\n"));
}

// A queue can't have two roles, as the Origin scheduler refused to start then.
TEST(ConfigFile, AQueueHasOnePart) {
    const std::pair<std::string, std::string> cases[] = {
        {"SUBMIT_QUEUE a\nBATCH_QUEUES b,a\n",
         "config:1:14: SUBMIT_QUEUE: 'a' is in BATCH_QUEUES of line 2 too, expected "
         "another queue"},
        {"BATCH_QUEUES b\nSPECIAL_QUEUE a\nSUBMIT_QUEUE a\n",
         "config:3:14: SUBMIT_QUEUE: 'a' is in SPECIAL_QUEUE of line 2"},
        {"SUBMIT_QUEUE a\nBATCH_QUEUES b\nDEDICATED_QUEUE a\n",
         "SUBMIT_QUEUE: 'a' is in DEDICATED_QUEUE of line 3"},
        {"SUBMIT_QUEUE a\nBATCH_QUEUES b\nSPECIAL_QUEUE b\n",
         "SPECIAL_QUEUE: 'b' is in BATCH_QUEUES of line 2"},
        {"SUBMIT_QUEUE a\nBATCH_QUEUES b\nBATCH_QUEUES c@h\nDEDICATED_QUEUES d,c@h\n",
         "DEDICATED_QUEUES: 'c@h' is in BATCH_QUEUES of line 2"},
    };
    for (const auto& [text, message] : cases)
        EXPECT_THAT(problems(text), testing::Contains(HasSubstr(message))) << text;
    EXPECT_THAT(problems("SUBMIT_QUEUE a\nBATCH_QUEUES b,aa\nSPECIAL_QUEUE 1st\n"), testing::IsEmpty());
}

TEST(ConfigFile, AMinimalConfigurationHasItsTwoQueues) {
    EXPECT_THAT(problems(""),
                ElementsAre("config: SUBMIT_QUEUE: is missing, expected in every configuration",
                            "config: BATCH_QUEUES: is missing, expected in every configuration"));
    // A misspelled or wrong option gives one problem, and isn't also reported as missing.
    EXPECT_THAT(problems("submit_queue a\nBATCH_QUEUES -\n"),
                ElementsAre(HasSubstr("config:1:1: submit_queue"),
                            HasSubstr("config:2:14: BATCH_QUEUES: '-' is not queues")));
}

TEST(ConfigFile, AllProblemsInTheOrderOfTheFile) {
    const auto found = problems("MAX_JOBS x\nENFORCE_DEDICATED_TIME on\nDECAY_FACTOR y z\n");
    EXPECT_THAT(found,
                ElementsAre(HasSubstr("config: SUBMIT_QUEUE"), HasSubstr("config: BATCH_QUEUES"),
                            HasSubstr("config:1:10"),
                            HasSubstr("config:2: ENFORCE_DEDICATED_TIME: needs DEDICATED_TIME_COMMAND"),
                            HasSubstr("config:3:14: DECAY_FACTOR: 'y'")));
}

TEST(ConfigFile, AQueueIsListedOnce) {
    EXPECT_THAT(problems("SUBMIT_QUEUE s\nBATCH_QUEUES a,b\nBATCH_QUEUES c,b\n"),
                ElementsAre("config:3:14: BATCH_QUEUES: 'b' is in the list already, since line 2"));
}

TEST(ConfigFile, TheSampleOfTheDemonstrationIsGood) {
    const std::string path = std::string(PBS_SOURCE_DIR) + "/demo/origin/config";
    const auto config = parse_configfile(read_text(path), path);
    ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
    EXPECT_THAT(config->notes, testing::IsEmpty());
    EXPECT_THAT(config->mistakes, testing::IsEmpty());
    EXPECT_EQ(config->find("BATCH_QUEUES")->value, "small,medium,large");
}

}  // namespace
}  // namespace pbs::migrate::test
