#include "ifl/attributes/execvnodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::ifl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t kMost = 366;

TEST(ExecVnodes, AsText) {
    EXPECT_EQ(execvnodes_text({"(a:ncpus=1)", "(a:ncpus=1)", "(b:ncpus=1)+(c)", "(a:ncpus=1)"}),
              "4#(a:ncpus=1){0-1,3}(b:ncpus=1)+(c){2}");
    EXPECT_EQ(execvnodes_text({"(a)"}), "1#(a){0}");
    EXPECT_EQ(execvnodes_text({"", "(a)"}), "2#(a){1}");
    EXPECT_EQ(execvnodes_text({}), "0#");
}

TEST(ExecVnodes, FromText) {
    for (const std::vector<std::string>& list :
         {std::vector<std::string>{"(a:ncpus=1)", "(a:ncpus=1)", "(b:ncpus=1)+(c)", "(a:ncpus=1)"},
          {"(n[0]:ncpus=1)", "(n[1]:ncpus=1)", "(n[0]:ncpus=1)"},
          {"", "(a)", ""},
          {}})
        EXPECT_EQ(exec_vnodes_in(execvnodes_text(list), kMost), list);
    EXPECT_THAT(exec_vnodes_in("3#(a){1-9}", kMost), ElementsAre("", "(a)", "(a)"));
    EXPECT_THAT(exec_vnodes_in("2#(a){x}(b){1", kMost), ElementsAre("", ""));
    EXPECT_THAT(exec_vnodes_in("2#(a){0}(b){1,x}", kMost), ElementsAre("(a)", "(b)"));
    EXPECT_THAT(exec_vnodes_in("99999999#(a){0-99999999}", kMost), SizeIs(kMost));
    for (const char* wrong : {"", "#", "x#(a){0}", "(a){0}", "-1#(a){0}"})
        EXPECT_THAT(exec_vnodes_in(wrong, kMost), IsEmpty()) << wrong;
}

}  // namespace
}  // namespace pbs::ifl
