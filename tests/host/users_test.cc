#include "server_plugin/host/base/users.h"

#include <gtest/gtest.h>

namespace pbs::host {
namespace {

TEST(RecentUsers, AreThoseOfTheSystem) {
    RecentUsers users;
    for (const int64_t now : {100, 100, 101}) {
        const auto root = users.find("root", now);
        ASSERT_TRUE(root);
        EXPECT_EQ(root->name, "root");
        EXPECT_EQ(root->uid, 0U);
        EXPECT_EQ(root->group, find_user("root")->group);
        EXPECT_FALSE(users.find("no such user", now));
    }
}

}  // namespace
}  // namespace pbs::host
