#include "ifl/host_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_ifl.h"

namespace pbs::ifl {
namespace {

ObjectStatus vnode(const std::string& name, const std::string& host, Attributes more) {
    ObjectStatus status{MGR_OBJ_NODE, name, {{ATTR_rescavail, "host", host}}};
    status.attributes.insert(status.attributes.end(), more.begin(), more.end());
    return status;
}

std::string value(const ObjectStatus& host, const std::string& name, const std::string& resource = "") {
    for (const Attribute& a : host.attributes) {
        if (a.name == name && a.resource == resource) return a.value;
    }
    return "(none)";
}

TEST(HostsOfVnodes, AHostWithOneVnodeIsThatVnode) {
    const std::vector<ObjectStatus> vnodes{vnode("a", "h1", {{"state", "", "free"}}), vnode("b", "h2", {})};
    EXPECT_EQ(hosts_of_vnodes(vnodes, ""), vnodes);
}

TEST(HostsOfVnodes, AddsUpWhatIsConsumableAndComparesTheRest) {
    const std::vector<ObjectStatus> vnodes{
        vnode("h[0]", "h",
              {{"state", "", "free"},
               {"ntype", "", "PBS"},
               {"jobs", "", "1.s/0"},
               {ATTR_rescavail, "ncpus", "2"},
               {ATTR_rescavail, "mem", "1gb"},
               {ATTR_rescavail, "arch", "linux"},
               {ATTR_rescavail, "color", "red"},
               {ATTR_rescavail, "scratch", "@h[1]"},
               {ATTR_rescassn, "ncpus", "1"},
               {ATTR_rescassn, "mem", "0kb"}}),
        vnode("h[1]", "H",
              {{"state", "", "job-busy"},
               {"ntype", "", "PBS"},
               {"jobs", "", "2.s/0"},
               {ATTR_rescavail, "ncpus", "4"},
               {ATTR_rescavail, "mem", "512mb"},
               {ATTR_rescavail, "arch", "linux"},
               {ATTR_rescavail, "color", "blue"},
               {ATTR_rescavail, "scratch", "7"},
               {ATTR_rescassn, "ncpus", "4"},
               {ATTR_rescassn, "mem", "2048kb"}}),
    };
    const auto hosts = hosts_of_vnodes(vnodes, "");
    ASSERT_EQ(hosts.size(), 1U);
    const ObjectStatus& host = hosts[0];
    EXPECT_EQ(host.name, "h");
    EXPECT_EQ(value(host, "state"), "<various>");
    EXPECT_EQ(value(host, "ntype"), "PBS");
    EXPECT_EQ(value(host, "jobs"), "1.s/0, 2.s/0");
    EXPECT_EQ(value(host, ATTR_rescavail, "ncpus"), "6");
    EXPECT_EQ(value(host, ATTR_rescavail, "mem"), "1572864kb");
    EXPECT_EQ(value(host, ATTR_rescavail, "arch"), "linux");
    EXPECT_EQ(value(host, ATTR_rescavail, "color"), "<various>");
    EXPECT_EQ(value(host, ATTR_rescavail, "scratch"), "7");
    EXPECT_EQ(value(host, ATTR_rescassn, "ncpus"), "5");
    EXPECT_EQ(value(host, ATTR_rescassn, "mem"), "2048kb");
}

TEST(HostsOfVnodes, SizesOfEveryUnitAddUpInKilobytes) {
    const struct {
        const char* size;
        const char* kilobytes;
    } rows[] = {{"1kb", "1kb"},
                {"1mb", "1024kb"},
                {"1gb", "1048576kb"},
                {"1tb", "1073741824kb"},
                {"1pb", "1099511627776kb"},
                {"2048b", "2kb"},
                {"1kw", "8kb"},
                {"8GW", "67108864kb"},
                {"2.5", "2"},
                {"-3", "-3"},
                {"1e+06", "1"},
                {"5", "5"}};
    for (const auto& row : rows) {
        const auto hosts = hosts_of_vnodes({vnode("a", "h", {{ATTR_rescassn, "mem", row.size}}),
                                            vnode("b", "h", {{ATTR_rescassn, "mem", "0"}})},
                                           "");
        EXPECT_EQ(value(hosts.at(0), ATTR_rescassn, "mem"), row.kilobytes) << row.size;
    }
}

TEST(HostsOfVnodes, OneHostMayBeAskedFor) {
    const std::vector<ObjectStatus> vnodes{vnode("a", "h1", {}), vnode("b", "h2", {})};
    EXPECT_THAT(hosts_of_vnodes(vnodes, "H2"), ::testing::ElementsAre(vnodes[1]));
    EXPECT_THAT(hosts_of_vnodes(vnodes, "h3"), ::testing::IsEmpty());
}

}  // namespace
}  // namespace pbs::ifl
