#include "ifl/queued_subjobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::ifl {
namespace {

using testing::ElementsAre;

// Collects the objects that QueuedSubjobs passes on, as texts such as "12[1].svr Q". A "+" marks objects that
// the server sent; the others are made by QueuedSubjobs.
class QueuedSubjobsTest : public testing::Test {
  protected:
    void take(std::uint32_t type, std::string_view name, std::string_view state,
              std::string_view remaining = {}) {
        std::vector<AttributeView> attributes{{"job_state", "", state, Op::set},
                                              {"array", "", "True", Op::set}};
        if (!remaining.empty()) attributes.push_back({"array_indices_remaining", "", remaining, Op::set});
        all.take({type, name, attributes});
    }
    std::vector<std::string> given;
    QueuedSubjobs all{[this](const ObjectView& object) {
        given.push_back(std::string(object.name) + " " + std::string(object.attributes[0].value) +
                        (object.attributes.size() > 1 ? "+" : ""));
    }};
};

TEST_F(QueuedSubjobsTest, AreGivenByIndexBetweenTheOthers) {
    take(2, "11.svr", "R");
    take(kTypeOfArray, "12[].svr", "B", "1-3:2,6");
    take(kTypeOfSubjob, "12[2].svr", "R");
    take(kTypeOfSubjob, "12[4].svr", "X");
    take(2, "12[7].svr", "X");  // a server may also send a subjob with the type of a job
    take(2, "13.svr", "Q");
    all.end();
    EXPECT_THAT(given, ElementsAre("11.svr R+", "12[].svr B+", "12[1].svr Q", "12[2].svr R+", "12[3].svr Q",
                                   "12[4].svr X+", "12[6].svr Q", "12[7].svr X+", "13.svr Q+"));
}

TEST_F(QueuedSubjobsTest, TheLastArraysComeAtTheEnd) {
    take(kTypeOfArray, "1[].svr", "Q", "1-2");
    take(kTypeOfArray, "2[].svr", "B", "-");
    take(kTypeOfArray, "3[].svr", "Q", "5");
    all.end();
    EXPECT_THAT(given, ElementsAre("1[].svr Q+", "1[1].svr Q", "1[2].svr Q", "2[].svr B+", "3[].svr Q+",
                                   "3[5].svr Q"));
}

// A server may send any text as the list of remaining indices. A text that isn't such a list is ignored.
TEST_F(QueuedSubjobsTest, WhatIsNoListOfIndicesIsPassedOver) {
    for (const char* text : {"x", "1-", "5,3", "1-2,2", "1,,2", "-5", "99999999999"}) {
        EXPECT_FALSE(parse_remaining(text)) << text;
        take(kTypeOfArray, "1[].svr", "Q", text);
    }
    take(kTypeOfArray, "1", "Q", "1-3");
    take(kTypeOfSubjob, "", "Q");
    all.end();
    EXPECT_EQ(given.size(), 9U);
}

}  // namespace
}  // namespace pbs::ifl
