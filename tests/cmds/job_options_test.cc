#include "ifl/cmds/job_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

namespace pbs::cmds {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const OptionContext kContext{1'800'000'000, "host", "/work"};

std::vector<std::string> attributes_of(const JobOptions& options) {
    std::vector<std::string> lines;
    for (const AttrList::Entry& entry : options.attributes.entries()) {
        lines.push_back(entry.name + (entry.resource.empty() ? "" : "." + entry.resource) + "=" +
                        entry.value);
    }
    return lines;
}

TEST(WithoutEffect, CheckpointsButNotTheirAbsence) {
    const auto warning = [](std::string when) {
        AttrList attributes;
        attributes.put(ATTR_c, "", std::move(when));
        return without_effect(attributes);
    };
    EXPECT_THAT(warning("c=5"), testing::HasSubstr("Checkpoint=c=5 is kept but has no effect"));
    EXPECT_THAT(warning("s"), testing::HasSubstr("has no effect"));
    EXPECT_EQ(warning("n"), "");
    EXPECT_EQ(warning("u"), "");
    EXPECT_EQ(without_effect(AttrList()), "");
}

TEST(SubmitOptions, BecomeAttributes) {
    const auto options = parse_submit_options({"-N",
                                               "name",
                                               "-l",
                                               "ncpus=2,walltime=1:00",
                                               "-q",
                                               "workq@srv",
                                               "-joe",
                                               "-h",
                                               "-p",
                                               "-5",
                                               "-rn",
                                               "-A",
                                               "acct",
                                               "-W",
                                               "umask=022,group_list=g",
                                               "-S",
                                               "/bin/sh",
                                               "-V",
                                               "-z",
                                               "-v",
                                               "A=1",
                                               "job.sh"},
                                              kContext);
    ASSERT_TRUE(options) << options.error().message;
    EXPECT_THAT(attributes_of(*options),
                ElementsAre("Job_Name=name", "Resource_List.ncpus=2", "Resource_List.walltime=1:00",
                            "Join_Path=oe", "Hold_Types=u", "Priority=-5", "Rerunable=n", "Account_Name=acct",
                            "umask=022", "group_list=g", "Shell_Path_List=/bin/sh"));
    EXPECT_EQ(options->destination, "workq@srv");
    EXPECT_EQ(options->variables, "A=1");
    EXPECT_TRUE(options->all_variables);
    EXPECT_TRUE(options->quiet);
    EXPECT_THAT(options->operands, ElementsAre("job.sh"));
}

TEST(SubmitOptions, TheLastOfAnOptionCounts) {
    const auto options = parse_submit_options({"-N", "a", "-N", "b", "-lncpus=1", "-lncpus=2"}, kContext);
    ASSERT_TRUE(options);
    EXPECT_THAT(attributes_of(*options), ElementsAre("Job_Name=b", "Resource_List.ncpus=2"));
}

TEST(SubmitOptions, MakePathsFull) {
    EXPECT_EQ(full_path("out", kContext), "host:/work/out");
    EXPECT_EQ(full_path("/tmp/", kContext), "host:/tmp/");
    EXPECT_EQ(full_path("other:/tmp/x", kContext), "other:/tmp/x");
    EXPECT_EQ(full_path("other:x", kContext), "other:x");
    EXPECT_EQ(full_path(":x", kContext), "host:x");
    EXPECT_EQ(full_path("dir/a:b", kContext), "host:/work/dir/a:b");
    EXPECT_EQ(full_path("/a:b", kContext), "host:/a:b");
}

TEST(SubmitOptions, TakeACommandBehindDashes) {
    const auto options = parse_submit_options({"-N", "x", "--", "/bin/echo", "-n", "a b"}, kContext);
    ASSERT_TRUE(options);
    EXPECT_THAT(options->command, ElementsAre("/bin/echo", "-n", "a b"));
    EXPECT_THAT(options->operands, IsEmpty());
    EXPECT_EQ(encode_arguments({"a<b", "c&\"d'"}),
              "<jsdl-hpcpa:Argument>a&lt;b</jsdl-hpcpa:Argument>"
              "<jsdl-hpcpa:Argument>c&amp;&quot;d&apos;</jsdl-hpcpa:Argument>");
}

struct BadLine {
    std::vector<std::string> arguments;
    const char* message;
};

class BadSubmitOptions : public testing::TestWithParam<BadLine> {};

TEST_P(BadSubmitOptions, AreRefusedByName) {
    const auto options = parse_submit_options(GetParam().arguments, kContext);
    ASSERT_FALSE(options);
    EXPECT_THAT(options.error().message, HasSubstr(GetParam().message));
    EXPECT_EQ(options.error().status, 2);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadSubmitOptions,
    testing::Values(BadLine{{"-N", "1 x"}, "illegal -N value '1 x'"},
                    BadLine{{"-p", "2000"}, "-1024 to 1023"}, BadLine{{"-j", "x"}, "expected oe, eo or n"},
                    BadLine{{"-l", "=2"}, "expected resource=value"},
                    BadLine{{"-l", "select="}, "expected a value after 'select='"},
                    BadLine{{"-l", "ncpus=1,"}, "expected resource=value"},
                    BadLine{{"-l", "mem=\"1gb"}, "no closing quote"},
                    BadLine{{"-a", "9999"}, "illegal -a value"}, BadLine{{"-r", "maybe"}, "expected y or n"},
                    BadLine{{"-m", "nb"}, "or n"}, BadLine{{"-W", "umask"}, "illegal -W value"},
                    BadLine{{"-W", "interactive=maybe"}, "expected true or false"},
                    BadLine{{"-W", "block=1"}, "expected true or false"}, BadLine{{"-X"}, "X11"},
                    BadLine{{"-q", "a b"}, "illegal -q value"},
                    BadLine{{"--"}, "expected a command after --"}, BadLine{{"a", "b"}, "unexpected 'b'"},
                    BadLine{{"a", "--", "b"}, "unexpected 'a'"}, BadLine{{"-Q"}, "unknown option -Q"}));

TEST(SubmitOptions, MayHaveEmptyValues) {
    for (const char* letter : {"-A", "-P", "-q", "-v", "-l"})
        EXPECT_TRUE(parse_submit_options({letter, ""}, kContext)) << letter;
    EXPECT_THAT(attributes_of(parse_submit_options({"-l", "file=,ncpus=2"}, kContext).value()),
                ElementsAre("Resource_List.file=", "Resource_List.ncpus=2"));
    for (const char* letter :
         {"-a", "-c", "-e", "-j", "-J", "-k", "-m", "-M", "-N", "-o", "-p", "-r", "-R", "-S", "-u", "-W"})
        EXPECT_FALSE(parse_submit_options({letter, ""}, kContext)) << letter;
    EXPECT_FALSE(parse_submit_options({"-l", "select="}, kContext));
    EXPECT_FALSE(parse_submit_options({"-l", "select"}, kContext));
}

TEST(SubmitOptions, KeepOneOrBothStreamsOrNone) {
    for (const char* keep : {"o", "oe", "oed", "od", "do", "n", "nd"})
        EXPECT_TRUE(parse_submit_options({"-k", keep}, kContext)) << keep;
    for (const char* keep : {"d", "on", "no", "oen", "v", "ov"})
        EXPECT_FALSE(parse_submit_options({"-k", keep}, kContext)) << keep;
}

// OpenPBS's qsub takes and refuses the same lists.
TEST(SubmitOptions, ListsNameEachHostOnce) {
    struct List {
        const char* letter;
        const char* value;
        bool good;
    };
    for (const List& list : {List{"-M", "a", true},
                             List{"-M", "a, b", true},
                             List{"-M", "a ,b@c", true},
                             List{"-M", "a,a", true},
                             List{"-M", "a,a@b", true},
                             List{"-M", "a b", false},
                             List{"-M", "a,", false},
                             List{"-M", ",a", false},
                             List{"-M", "a,,b", false},
                             List{"-M", "@b", false},
                             List{"-M", "a@", false},
                             List{"-M", "a@b@c", false},
                             List{"-u", "a", true},
                             List{"-u", "a,b@c, d@e", true},
                             List{"-u", "a,b", false},
                             List{"-u", "a@c,b@c", false},
                             List{"-u", "@c", false},
                             List{"-u", "a@", false},
                             List{"-S", "/bin/sh", true},
                             List{"-S", " /bin/sh, /bin/x@b", true},
                             List{"-S", "sh", false},
                             List{"-S", "/bin/sh,/bin/x", false},
                             List{"-S", "/bin/sh@b,/bin/x@b", false},
                             List{"-S", "@b", false},
                             List{"-S", "/bin/sh@", false},
                             List{"-S", ",", false}})
        EXPECT_EQ(parse_submit_options({list.letter, list.value}, kContext).has_value(), list.good)
            << list.letter << " " << list.value;
}

TEST(OptionLine, HasOptionsOnly) {
    const auto options = parse_option_line("-N \"a\" -l select='2:ncpus=1' -W depend=afterok:1", kContext);
    ASSERT_TRUE(options);
    EXPECT_THAT(attributes_of(*options),
                ElementsAre("Job_Name=a", "Resource_List.select=2:ncpus=1", "depend=afterok:1"));
    EXPECT_THAT(parse_option_line("-N a b", kContext).error().message, HasSubstr("'b' is not an option"));
    EXPECT_EQ(parse_option_line("-Y", kContext).error().status, 1);
    EXPECT_THAT(parse_option_line("-N 'a", kContext).error().message, HasSubstr("unmatched '"));
    EXPECT_TRUE(parse_option_line("", kContext));
}

TEST(AddMissing, LeavesWhatIsThere) {
    JobOptions line = parse_submit_options({"-l", "ncpus=4", "-q", "fast"}, kContext).value();
    const JobOptions script = parse_option_line("-l ncpus=1,mem=1gb -q slow -N s -V", kContext).value();
    add_missing(line, script);
    EXPECT_THAT(attributes_of(line),
                ElementsAre("Resource_List.ncpus=4", "Resource_List.mem=1gb", "Job_Name=s"));
    EXPECT_EQ(line.destination, "fast");
    EXPECT_TRUE(line.all_variables);
}

TEST(SubmitOptions, ASelectMayHaveARangeOfChunks) {
    const auto attributes = [](std::vector<std::string> arguments) {
        return attributes_of(parse_submit_options(arguments, kContext).value());
    };
    EXPECT_THAT(attributes({"-l", "select=4-16:ncpus=8+1:ncpus=2"}),
                ElementsAre("Resource_List.select=4:ncpus=8+1:ncpus=2", "Resource_List.select_range=4-16"));
    EXPECT_THAT(attributes({"-l", "select=4-"}),
                ElementsAre("Resource_List.select=4", "Resource_List.select_range=4-"));
    EXPECT_THAT(attributes({"-l", "select=2:host=n-1"}), ElementsAre("Resource_List.select=2:host=n-1"));
    EXPECT_THAT(attributes({"-l", "select=host=n-1"}), ElementsAre("Resource_List.select=host=n-1"));
    for (const char* bad : {"select=4-2:ncpus=1", "select=0-4", "select=4-x", "select=4-8-9"}) {
        const auto refused = parse_submit_options({"-l", bad}, kContext);
        ASSERT_FALSE(refused) << bad;
        EXPECT_THAT(refused.error().message, HasSubstr("expected a range of numbers of chunks")) << bad;
    }
    for (const auto& [select, at] : {std::pair{"1+2-4:ncpus=1", "'2-4' in column 3"},
                                     std::pair{"2-4:ncpus=1+1:mem=1gb+3-", "'3-' in column 23"}}) {
        const auto refused = parse_submit_options({"-l", std::string("select=") + select}, kContext);
        ASSERT_FALSE(refused) << select;
        EXPECT_THAT(refused.error().message, HasSubstr(at));
        EXPECT_THAT(refused.error().message,
                    HasSubstr("expected one number, because only the first chunks may have a range"));
    }
    const auto array = parse_submit_options({"-l", "select=4-8:ncpus=1", "-J", "1-5"}, kContext);
    ASSERT_FALSE(array);
    EXPECT_THAT(array.error().message, HasSubstr("a job array can't have a range"));
    EXPECT_THAT(attributes_of(parse_alter_options({"-l", "select=2-3:ncpus=1", "12"}, kContext).value()),
                ElementsAre("Resource_List.select=2:ncpus=1", "Resource_List.select_range=2-3"));
    for (const char* two : {"select=4-:ncpus=1,select_range=2-3", "select_range=4-,select=4-:ncpus=1"}) {
        const auto refused = parse_submit_options({"-l", two}, kContext);
        ASSERT_FALSE(refused) << two;
        EXPECT_THAT(refused.error().message, HasSubstr("expected one number of chunks beside select_range"));
    }
    JobOptions line = parse_submit_options({"-l", "select=2:ncpus=1"}, kContext).value();
    add_missing(line, parse_option_line("-l select=4-8:ncpus=1", kContext).value());
    EXPECT_THAT(attributes_of(line), ElementsAre("Resource_List.select=2:ncpus=1"))
        << "the range is that of the other select";
}

TEST(AlterOptions, AnEmptyValueTakesAResourceAway) {
    for (const char* text : {"select_range=", "select_range=\"\"", " select_range= "})
        EXPECT_THAT(attributes_of(parse_alter_options({"-l", text, "12"}, kContext).value()),
                    ElementsAre("Resource_List.select_range="))
            << text;
    EXPECT_THAT(attributes_of(parse_alter_options({"-l", "prefer=,mem=1gb", "12"}, kContext).value()),
                ElementsAre("Resource_List.prefer=", "Resource_List.mem=1gb"));
}

TEST(SubmitOptions, AnArrayHasARangeOfIndices) {
    for (const char* range : {"0-1", "1-5:2", "3-9%2", "0-3:2%1", "1-4%0"}) {
        EXPECT_TRUE(parse_submit_options({"-J", range}, kContext)) << range;
    }
    for (const char* range : {"", "5", "5-1", "1-1", "a-b", "1-3:0", "1-3:", "-1-3", "1-", "1-5:2:1", "1-5x",
                              "1-99999999999999999999", "%3"}) {
        EXPECT_FALSE(parse_submit_options({"-J", range}, kContext)) << range;
    }
    for (const char* most : {"1-5%", "1-5%x", "1-5%-1", "1-5%3x", "1-5%1%2"}) {
        const auto wrong = parse_submit_options({"-J", most}, kContext);
        ASSERT_FALSE(wrong) << most;
        EXPECT_THAT(wrong.error().message, HasSubstr("how many subjobs may run at once")) << most;
    }
    EXPECT_FALSE(parse_submit_options({"-J", "1-5", "-W", "max_run_subjobs=-1"}, kContext));
    EXPECT_FALSE(parse_alter_options({"-W", "max_run_subjobs=x", "12[]"}, kContext));
    EXPECT_THAT(attributes_of(parse_submit_options({"-J", "1-5%0"}, kContext).value()),
                ElementsAre("array_indices_submitted=1-5", "max_run_subjobs=0"));
    const auto refused = parse_submit_options({"-J", "5"}, kContext);
    ASSERT_FALSE(refused);
    EXPECT_EQ(
        refused.error().message,
        "illegal -J value '5': expected X-Y, X-Y:Z or one of these and %L, with X below Y and Z above 0");
    EXPECT_EQ(refused.error().status, 2) << "as OpenPBS's qsub";
}

TEST(AddDefaults, AreThoseOfPbs) {
    JobOptions options = parse_submit_options({"-j", "oe", "-r", "n"}, kContext).value();
    add_defaults(options);
    EXPECT_THAT(attributes_of(options),
                ElementsAre("Join_Path=oe", "Rerunable=n", "Checkpoint=u", "Hold_Types=n", "Keep_Files=n",
                            "Mail_Points=a", "Priority=0"));
}

TEST(AlterOptions, HoldTakesTypesAndJobsFollow) {
    const auto options = parse_alter_options({"-h", "so", "-l", "walltime=2:00", "12", "13.srv"}, kContext);
    ASSERT_TRUE(options);
    EXPECT_THAT(attributes_of(*options), ElementsAre("Hold_Types=so", "Resource_List.walltime=2:00"));
    EXPECT_THAT(options->operands, ElementsAre("12", "13.srv"));
    EXPECT_FALSE(parse_alter_options({"-h", "x", "12"}, kContext));
    EXPECT_FALSE(parse_alter_options({"-N", "a"}, kContext));
    EXPECT_FALSE(parse_alter_options({"-q", "a", "12"}, kContext));
}

TEST(SplitWords, FollowsQuotesAndBackslashes) {
    EXPECT_THAT(split_words(" a 'b c'd \"\" e\\ f ").value(), ElementsAre("a", "b cd", "", "e f"));
    EXPECT_FALSE(split_words("a 'b"));
}

}  // namespace
}  // namespace pbs::cmds
