#include "ifl/cmds/qmgr_help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/cmds/host_attributes.h"
#include "ifl/cmds/qmgr_grammar.h"

namespace pbs::cmds {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HelpText, HasEveryCommandAndType) {
    for (const CommandWord& command : command_words()) {
        if (command.word.size() > 1 && command.word != "help") {
            EXPECT_THAT(help_text(command.word), Not(HasSubstr("No help"))) << command.word;
        }
        EXPECT_THAT(help_text(""), HasSubstr(std::string(command.word)));
    }
    for (const values::ObjectTypeRow& type : values::kObjectTypes) {
        EXPECT_THAT(help_text(type.name), HasSubstr("Attributes:")) << type.name;
    }
}

TEST(HelpText, TellsAboutAttributes) {
    EXPECT_THAT(help_text("policy"), HasSubstr("strict_ordering"));
    EXPECT_THAT(help_text("policy by_queue"), HasSubstr("default: True"));
    EXPECT_THAT(help_text("server"), HasSubstr("How many jobs there are; can't be set"));
    EXPECT_THAT(help_text("server"), HasSubstr("max_array_size"));
    EXPECT_THAT(help_text("nonsense"), HasSubstr("No help on 'nonsense'"));
    EXPECT_THAT(help_text("policy nonsense"), HasSubstr("No help on 'policy nonsense'"));
    EXPECT_THAT(help_text("policy backfill_depth"),
                HasSubstr("a job for which the policy's 0 counts holds up nothing"));
    EXPECT_THAT(help_text("queue Priority"),
                HasSubstr("Has an effect only with a policy of algorithm standard"));
    EXPECT_THAT(help_text("node Priority"), Not(HasSubstr("algorithm")));
}

TEST(HelpText, TellsTypeAccessDefaultAndMeaningOfPbsAttributes) {
    EXPECT_EQ(help_text("server scheduler_iteration"),
              "scheduler_iteration: How many seconds there are at most between two scheduling cycles.\n"
              "Type integer; default: 600.\nSet by managers and operators.\n");
    EXPECT_EQ(help_text("queue total_jobs"),
              "total_jobs: How many jobs are in the queue.\nType integer.\nCan't be set.\n");
    EXPECT_THAT(help_text("node resources_available.ncpus"),
                HasSubstr("resources_available: What the vnode"));
    EXPECT_THAT(help_text("server system_cost"), HasSubstr("this project's server refuses to set it"));
    EXPECT_THAT(help_text("node state"), HasSubstr("one of free, offline"));
    EXPECT_THAT(help_text("resource type"), HasSubstr("one of boolean, float, long, size, string"));
}

// Checks that each attribute in any of the tables has help.
TEST(HelpText, IsThereForEveryAttributeOfEveryType) {
    for (const values::ObjectTypeRow& type : values::kObjectTypes) {
        for (const std::string& name : attribute_names(type.type)) {
            const std::string topic = std::string(type.name) + " " + name;
            EXPECT_THAT(help_text(topic), HasSubstr(name + ": ")) << topic;
            EXPECT_THAT(help_text(type.name), HasSubstr("  " + name + " ")) << topic;
        }
    }
}

TEST(HelpText, HasWhatHelpTopicsNames) {
    for (const std::string& topic : help_topics()) {
        EXPECT_THAT(help_text(topic), Not(HasSubstr("No help"))) << topic;
    }
}

}  // namespace
}  // namespace pbs::cmds
