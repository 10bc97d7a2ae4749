#include "ifl/error_text.h"

#include <gtest/gtest.h>

#include "ifl/pbs_error.h"

namespace pbs::ifl {
namespace {

TEST(ErrorText, IsWhatUsersKnow) {
    EXPECT_EQ(error_text(PBSE_UNKJOBID), "Unknown Job Id");
    EXPECT_EQ(error_text(PBSE_PERM), "Unauthorized Request");
    EXPECT_EQ(error_text(PBSE_UNKQUE), "Unknown queue");
    EXPECT_EQ(error_text(PBSE_NOHISTARRAYSUBJOB), "Request invalid for finished array subjob");
    EXPECT_EQ(error_text(0), "");
    EXPECT_EQ(error_text(1), "");
}

TEST(ErrorText, PolicyObjectsShareOneNumber) {
    EXPECT_EQ(PBSE_POLICY_NOT_FOUND, 15212);
    EXPECT_EQ(PBSE_TIME_WINDOW_NOT_FOUND, 15212);
    EXPECT_EQ(PBSE_FS_GROUP_NOT_FOUND, 15212);
    EXPECT_EQ(error_text(15212), "Unknown policy, time_window, fs_group or quota");
}

}  // namespace
}  // namespace pbs::ifl
