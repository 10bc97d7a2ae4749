#include "server_plugin/host/base/users.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>

namespace pbs::host {
namespace {

TEST(RecentUsers, AreThoseOfTheSystem) {
    RecentUsers users;
    int error = -1;
    for (const int64_t now : {100, 100, 101}) {
        const auto root = users.find("root", now, error);
        ASSERT_TRUE(root);
        EXPECT_EQ(root->name, "root");
        EXPECT_EQ(root->uid, 0U);
        EXPECT_EQ(root->group, find_user("root")->group);
        EXPECT_EQ(error, 0);
        EXPECT_FALSE(users.find("no such user", now, error));
        EXPECT_EQ(error, 0);
    }
}

// A look-up that fails isn't an answer: the job of a user who is there would be refused for good.
TEST(FindUser, TellsAFailureFromAMissingUser) {
    int error = -1;
    EXPECT_FALSE(find_user("no such user", &error));
    EXPECT_EQ(error, 0);
    EXPECT_TRUE(find_user("daemon", &error));
    EXPECT_EQ(error, 0);
    rlimit files{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    const rlimit none{0, files.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    RecentUsers users;
    const bool found =
        find_user("daemon", &error) || users.find("daemon", 100, error) || find_group("daemon");
    int group_error = 0;
    (void)find_group("daemon", &group_error);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
    EXPECT_FALSE(found);
    if (error == 0) GTEST_SKIP() << "another module of the look-ups says that there is no such user";
    EXPECT_EQ(error, EMFILE);
    EXPECT_EQ(group_error, EMFILE);
    for (const int64_t now : {100, 104}) {
        EXPECT_FALSE(users.find("daemon", now, error)) << "a failure is remembered for a time";
        EXPECT_EQ(error, EMFILE);
    }
    EXPECT_TRUE(users.find("root", 104, error)) << "of another user";
    EXPECT_TRUE(users.find("daemon", 200, error));
    EXPECT_EQ(error, 0);
}

}  // namespace
}  // namespace pbs::host
