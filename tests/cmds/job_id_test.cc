#include "ifl/cmds/job_id.h"

#include <gtest/gtest.h>

namespace pbs::cmds {
namespace {

TEST(ParseJobId, TakesThePartsApart) {
    const auto id = parse_job_id(" 12.srv.site.org:15001@other ");
    ASSERT_TRUE(id);
    EXPECT_EQ(id->sequence, "12");
    EXPECT_EQ(id->parent, "srv.site.org:15001");
    EXPECT_EQ(id->server, "other");
    EXPECT_EQ(sent_job_id(*id), "12.srv.site.org:15001");
    EXPECT_EQ(sent_job_id(parse_job_id("12").value()), "12");
    EXPECT_EQ(parse_job_id("12@other").value().server, "other");
    EXPECT_EQ(parse_job_id("12[].srv").value().sequence, "12[]");
    EXPECT_EQ(parse_job_id("12[1-5:2]").value().sequence, "12[1-5:2]");
}

TEST(ParseJobId, RefusesTextsThatAreNoJobIdentifiers) {
    for (const char* bad : {"", "abc", "12.", "12@", "12x", "12[", "12[1", "12[a]", "12.a@b@c", "12..@",
                            "12.s v", "1234567890123", "-1"}) {
        const auto id = parse_job_id(bad);
        if (std::string_view(bad) == "12..@") {
            EXPECT_FALSE(id) << bad;
            continue;
        }
        ASSERT_FALSE(id) << bad;
        EXPECT_EQ(id.error().message, std::string("illegally formed job identifier: ") + bad);
        EXPECT_EQ(id.error().status, 1);
    }
}

TEST(IsJobId, GoesByTheFirstCharacter) {
    EXPECT_TRUE(is_job_id("12.srv"));
    EXPECT_FALSE(is_job_id("workq"));
    EXPECT_FALSE(is_job_id("@srv"));
    EXPECT_FALSE(is_job_id(""));
}

TEST(ParseDestination, TakesQueueAndServer) {
    EXPECT_EQ(parse_destination("workq").value().queue, "workq");
    EXPECT_EQ(parse_destination("workq@srv").value().server, "srv");
    EXPECT_EQ(parse_destination("@srv").value().queue, "");
    EXPECT_EQ(parse_destination("@srv:1501").value().server, "srv:1501");
    for (const char* bad : {"a b", "workq@", "q@a@b", "a_queue_of_16_ch", "q#"}) {
        EXPECT_FALSE(parse_destination(bad)) << bad;
    }
}

TEST(IsJobName, TakesTheNamesThatPbsTakes) {
    EXPECT_TRUE(is_job_name("a-b_c+d.e1"));
    EXPECT_TRUE(is_job_name("1a"));
    EXPECT_FALSE(is_job_name("a b"));
    EXPECT_FALSE(is_job_name(""));
    EXPECT_TRUE(is_job_name(std::string(230, 'a')));
    EXPECT_FALSE(is_job_name(std::string(231, 'a')));
}

}  // namespace
}  // namespace pbs::cmds
