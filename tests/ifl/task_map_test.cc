#include "ifl/task_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"

namespace pbs::ifl {
namespace {

const std::vector<ObjectStatus> kVnodes{{MGR_OBJ_NODE, "v1", {{ATTR_rescavail, "host", "n1"}}},
                                        {MGR_OBJ_NODE, "n2", {{ATTR_rescavail, "host", "n2"}}},
                                        {MGR_OBJ_NODE, "v9", {{ATTR_rescavail, "ncpus", "2"}}},
                                        {MGR_OBJ_NODE, "n3[0]", {{ATTR_rescavail, "host", "n3"}}},
                                        {MGR_OBJ_NODE, "n3[1]", {{ATTR_rescavail, "host", "N3"}}}};

void expect_refused(const std::vector<HostTasks>& tasks, int code, const std::string& text) {
    const auto location = location_of(tasks, kVnodes);
    ASSERT_FALSE(location);
    EXPECT_EQ(location.error().code, code);
    EXPECT_EQ(location.error().message, text);
}

TEST(TaskMap, IsAChunkOnTheVnodeOfEachHost) {
    EXPECT_EQ(location_of({{4, "n1"}}, kVnodes).value(), "(v1:ncpus=4)");
    EXPECT_EQ(location_of({{4, "N1"}, {2, "n2"}, {1, "n1"}}, kVnodes).value(),
              "(v1:ncpus=4)+(n2:ncpus=2)+(v1:ncpus=1)");
}

TEST(TaskMap, WrongTasksAreNamed) {
    expect_refused({{1, "n1"}, {1, "n9"}}, PBSE_UNKNODE, "no host n9");
    expect_refused({{1, "v1"}}, PBSE_UNKNODE, "no host v1");
    expect_refused({{1, ""}}, PBSE_UNKNODE, "no host ");
    expect_refused({{1, "n3"}}, PBSE_IVALREQ, "host n3 has several vnodes");
    expect_refused({{-2, "n1"}}, PBSE_IVALREQ, "host n1: -2 processes, expected a number above 0");
    expect_refused({}, PBSE_IVALREQ, "no hosts: expected at least one element with procs");
}

}  // namespace
}  // namespace pbs::ifl
