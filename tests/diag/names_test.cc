#include "tools/diag/names.h"

#include <gtest/gtest.h>

namespace pbs::diag {
namespace {

TEST(NamesTest, WordsAreReplacedWhereverTheyStand) {
    Names names;
    names.add("user", "alice");
    names.add("host", "node1");
    names.add("domain", "site.example");
    names.add("server", "pbs");
    EXPECT_EQ("user1@host1.domain1 /home/user1/x 12.server1: user1.",
              names.replaced("alice@node1.site.example /home/alice/x 12.pbs: alice."));
}

TEST(NamesTest, PartsOfWordsStay) {
    Names names;
    names.add("user", "al");
    EXPECT_EQ("malice al_1 user1", names.replaced("malice al_1 al"));
}

TEST(NamesTest, OneNameHasOneReplacement) {
    Names names;
    names.add("user", "a");
    names.add("user", "b");
    names.add("group", "a");
    names.add("user", "");
    EXPECT_EQ("user1 user2 user1", names.replaced("a b a"));
}

TEST(NamesTest, JobNamesAreNobodysBusiness) {
    const Names names;
    EXPECT_EQ("job name = NAME, queue = x\njob name = NAME",
              names.replaced("job name = secret plan, queue = x\njob name = other"));
}

}  // namespace
}  // namespace pbs::diag
