#include "server_plugin/host/state/job_name.h"

#include <gtest/gtest.h>

namespace pbs::host {
namespace {

using Kind = JobName::Kind;

Kind kind_of(std::string_view text) {
    const auto name = parse_job_name(text);
    EXPECT_TRUE(name) << text;
    return name ? name->kind : Kind::job;
}

TEST(JobName, SaysWhatItNames) {
    EXPECT_EQ(kind_of("12"), Kind::job);
    EXPECT_EQ(kind_of("12[]"), Kind::array);
    EXPECT_EQ(kind_of("12[7]"), Kind::subjob);
    EXPECT_EQ(kind_of("12[7-9]"), Kind::subjobs);
    EXPECT_EQ(kind_of("12[7,9]"), Kind::subjobs);
    const auto name = parse_job_name("12[1-9:2,12].svr.example.org@other:15001");
    ASSERT_TRUE(name);
    EXPECT_EQ(name->number, 12U);
    EXPECT_EQ(name->server, "svr.example.org");
    EXPECT_EQ(name->indices, (std::vector<IndexRange>{{1, 9, 2}, {12, 12, 1}}));
}

TEST(JobName, WhatIsNoneIsNone) {
    for (const char* text : {"", "x", "[1]", "12[", "12[7", "12[x]", "12[7-]", "12[9-7]", "12[1-5:0]",
                             "12[7]x", "12x", "12[7][8]", "12[-1]", "12[,]", "99999999999999", "-1"})
        EXPECT_FALSE(parse_job_name(text)) << text;
}

TEST(JobName, NumbersOfJobsArraysAndSubjobsDiffer) {
    EXPECT_NE(array_number(12), 12U);
    EXPECT_EQ(number_in_id(array_number(12)), 12U);
    EXPECT_LT(array_number(999999999999), kSubjobMark) << "an array comes before its subjobs";
    EXPECT_GT(static_cast<int64_t>(kSubjobMark + 999999999999), 0) << "SQLite's integers have a sign";
}

}  // namespace
}  // namespace pbs::host
