#include "ifl/cmds/directives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::cmds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> found(std::string_view script, std::string_view prefix = "#PBS") {
    std::vector<std::string> lines;
    for (const ScriptDirective& directive : find_directives(script, prefix)) {
        lines.push_back(std::to_string(directive.line) + ":" + directive.options);
    }
    return lines;
}

TEST(FindDirectives, EndAtTheFirstCommand) {
    EXPECT_THAT(found("#!/bin/sh\n#PBS -N one\n\n# a comment\n:\n  #PBS -l ncpus=2\necho\n#PBS -N two\n"),
                ElementsAre("2:-N one", "6:-l ncpus=2"));
}

TEST(FindDirectives, GoOnBehindABackslash) {
    EXPECT_THAT(found("#PBS -N a \\\n -l ncpus=2\n#PBS -m n"), ElementsAre("1:-N a   -l ncpus=2", "3:-m n"));
    EXPECT_THAT(found("# a comment \\\n#PBS -N a\n#!/bin/sh \\\n#PBS -z\n"), ElementsAre("2:-N a", "4:-z"))
        << "a comment doesn't go on";
}

TEST(FindDirectives, HaveAPrefixOfChoice) {
    EXPECT_THAT(found("#QSUB -N a\n#PBS -N b\nx", "#QSUB"), ElementsAre("1:-N a"));
    EXPECT_THAT(found("#PBS -N a\n", ""), IsEmpty());
    EXPECT_THAT(found("", "#PBS"), IsEmpty());
    EXPECT_THAT(found("#PBS -N a\\", "#PBS"), ElementsAre("1:-N a"));
}

TEST(ByteOrderMark, HidesDirectives) {
    const std::string script = "\xef\xbb\xbf#!/bin/sh\n#PBS -N a\n";
    EXPECT_EQ(byte_order_mark(script), "UTF-8");
    EXPECT_THAT(found(script), IsEmpty());
    EXPECT_EQ(byte_order_mark(std::string("\xff\xfe#\0", 4)), "UTF-16");
    for (const char* none : {"", "#!/bin/sh\n", "\xef\xbb", "\n\xef\xbb\xbf", "caf\xc3\xa9\n"})
        EXPECT_EQ(byte_order_mark(none), "") << none;
}

}  // namespace
}  // namespace pbs::cmds
