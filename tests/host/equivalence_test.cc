#include "server_plugin/host/state/equivalence.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace pbs::host {
namespace {

bool is(const std::string& text, std::string_view user, std::string_view host, std::string_view as) {
    std::istringstream file(text);
    return is_equivalent(file, user, host, as);
}

TEST(Equivalence, AHostsUsersAreThoseOfTheSameName) {
    EXPECT_TRUE(is("svr1\n", "ann", "svr1", "ann"));
    EXPECT_TRUE(is("# comment\n\n  SVR1.example.org # one\n", "ann", "svr1.example.org", "ann"));
    EXPECT_FALSE(is("svr1\n", "ann", "svr1", "bob"));
    EXPECT_FALSE(is("svr1\n", "ann", "svr2", "ann"));
    EXPECT_FALSE(is("svr1\n", "ann", "svr1.evil.org", "ann")) << "names are compared whole";
    EXPECT_FALSE(is("", "ann", "svr1", "ann"));
}

TEST(Equivalence, AUserThatIsNamedMayBeAnybodyButRoot) {
    EXPECT_TRUE(is("svr1 ann\n", "ann", "svr1", "bob"));
    EXPECT_FALSE(is("svr1 ann\n", "joe", "svr1", "bob"));
    EXPECT_FALSE(is("svr1 ann\n", "ann", "svr1", "root"));
    EXPECT_FALSE(is("svr1\n", "root", "svr1", "root"));
}

TEST(Equivalence, TheFirstLineCounts) {
    EXPECT_FALSE(is("-svr1\nsvr1\n", "ann", "svr1", "ann"));
    EXPECT_TRUE(is("svr1\n-svr1\n", "ann", "svr1", "ann"));
}

TEST(Equivalence, WhatStandsForAllFitsNobody) {
    for (const char* line : {"+\n", "+ +\n", "svr1 +\n", "+@group\n", "svr1 +@group\n"})
        EXPECT_FALSE(is(line, "ann", "svr1", "bob")) << line;
}

TEST(Equivalence, AFileThatOthersMayWriteSaysNothing) {
    if (getuid() != 0) GTEST_SKIP() << "the file has to be root's";
    const std::string path = testing::TempDir() + "hosts.equiv." + std::to_string(getpid());
    std::ofstream(path) << "svr1\n";
    ASSERT_EQ(chmod(path.c_str(), 0644), 0);
    EXPECT_TRUE(is_equivalent("ann", "svr1", "ann", path));
    ASSERT_EQ(chmod(path.c_str(), 0664), 0);
    EXPECT_FALSE(is_equivalent("ann", "svr1", "ann", path));
    ASSERT_EQ(chmod(path.c_str(), 0644), 0);
    ASSERT_EQ(chown(path.c_str(), 65534, 0), 0);
    EXPECT_FALSE(is_equivalent("ann", "svr1", "ann", path));
    unlink(path.c_str());
    EXPECT_FALSE(is_equivalent("ann", "svr1", "ann", path));
}

}  // namespace
}  // namespace pbs::host
