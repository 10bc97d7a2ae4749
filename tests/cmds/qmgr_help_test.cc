#include "ifl/cmds/qmgr_help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    for (const TypeWord& type : object_types()) {
        EXPECT_THAT(help_text(type.word), HasSubstr("Attributes:")) << type.word;
    }
}

TEST(HelpText, TellsAboutAttributes) {
    EXPECT_THAT(help_text("policy"), HasSubstr("strict_ordering"));
    EXPECT_THAT(help_text("policy by_queue"), HasSubstr("default: True"));
    EXPECT_THAT(help_text("server"), HasSubstr("total_jobs (can't be set)"));
    EXPECT_THAT(help_text("nonsense"), HasSubstr("No help on 'nonsense'"));
    EXPECT_THAT(help_text("policy nonsense"), HasSubstr("No help on 'policy nonsense'"));
}

}  // namespace
}  // namespace pbs::cmds
