#include "ifl/cmds/pbsnodes_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cmds/status_list.h"

namespace pbs::cmds {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Objects sample_nodes() {
    Objects nodes;
    nodes.add("n1", {{"Mom", "", "n1.site.org"},
                     {"state", "", "offline,job-busy"},
                     {"jobs", "", "12.srv/0, 12.srv/1, 13.other/2"},
                     {"resources_available", "host", "n1"},
                     {"resources_available", "mem", "8gb"},
                     {"resources_available", "ncpus", "4"},
                     {"resources_assigned", "mem", "2048mb"},
                     {"resources_assigned", "ncpus", "3"},
                     {"comment", "", "to be repaired"}});
    nodes.add("n2", {{"state", "", "free"}});
    return nodes;
}

TEST(NodesText, HasOneAttributeALine) {
    Objects nodes;
    nodes.add("n2", {{"state", "", "free"}, {"resources_available", "ncpus", "4"}});
    EXPECT_EQ(nodes_text(nodes.get(), {}), "n2\n     state = free\n     resources_available.ncpus = 4\n\n");
    PbsnodesOptions dsv;
    dsv.format = ListFormat::dsv;
    EXPECT_EQ(nodes_text(nodes.get(), dsv), "Name=n2|state=free|resources_available.ncpus=4\n");
}

TEST(NodesText, ShowsInstantsInSecondsBetweenDelimiters) {
    Objects nodes;
    nodes.add("n1", {{"last_state_change_time", "", "5"}});
    PbsnodesOptions dsv;
    dsv.format = ListFormat::dsv;
    EXPECT_EQ(nodes_text(nodes.get(), dsv), "Name=n1|last_state_change_time=5\n");
}

TEST(NodesJson, LeavesOutWhatIsNotInUse) {
    Objects nodes;
    nodes.add("n1", {{"resources_assigned", "mem", "0kb"},
                     {"resources_assigned", "ncpus", "2"},
                     {"resources_assigned", "rate", "0.5"},
                     {"resources_assigned", "ngpus", "0"}});
    const auto json = nlohmann::json::parse(nodes_json(nodes.get(), "srv", "", 5, {}));
    EXPECT_EQ(json["nodes"]["n1"]["resources_assigned"], (nlohmann::json{{"ncpus", 2}, {"rate", 0.5}}));
}

TEST(NodesJson, KeepsAllValuesOfAnAttribute) {
    Objects nodes;
    nodes.add("n1", {{"comment", "", "one"},
                     {"comment", "", "two"},
                     {"resources_available", "", "odd"},
                     {"resources_available", "ncpus", "4"},
                     {"resources_assigned", "ncpus", "1"},
                     {"resources_assigned", "", "odd"},
                     {"max_run", "", "[u:ann=1]"},
                     {"max_run", "", "[g:phys=2]"}});
    const auto node = nlohmann::json::parse(nodes_json(nodes.get(), "srv", "", 5, {}))["nodes"]["n1"];
    EXPECT_EQ(node["comment"], (nlohmann::json{"one", "two"}));
    EXPECT_EQ(node["resources_available"], "odd");
    EXPECT_EQ(node["resources_available.ncpus"], 4);
    EXPECT_EQ(node["resources_assigned"], (nlohmann::json::array({nlohmann::json{{"ncpus", 1}}, "odd"})));
    EXPECT_EQ(node["max_run"], "[u:ann=1],[g:phys=2]");
}

TEST(NodesSummary, HasOneLineAVnode) {
    Objects nodes = sample_nodes();
    PbsnodesOptions options;
    options.summary = true;
    EXPECT_EQ(nodes_summary_heading(options) + nodes_summary(nodes.get(), "srv", options),
              "vnode           state           OS       hardware host            queue        mem     ncpus  "
              " nmics   "
              "ngpus  comment\n"
              "--------------- --------------- -------- -------- --------------- ---------- -------- ------- "
              "------- "
              "------- ---------\n"
              "n1              offline         --       --       n1              --              8gb       4 "
              "      0 "
              "      0 to be repaired\n"
              "n2              free            --       --       --              --              0kb       0 "
              "      0 "
              "      0 --\n");
}

TEST(NodesSummary, ShowsFreeAmountsAndJobs) {
    Objects nodes = sample_nodes();
    PbsnodesOptions options;
    options.summary = true;
    options.jobs = true;
    EXPECT_THAT(
        nodes_summary(nodes.get(), "srv", options),
        HasSubstr("n1              offline              2     2      0      6gb/8gb     1/4     0/0     0/0 "
                  "12,13.other\n"));
}

TEST(NodesSummary, ShowsTheMemoryOfAnyUnit) {
    const auto memory = [](const std::string& available, const std::string& assigned) {
        Objects nodes;
        nodes.add("n", {{"resources_available", "mem", available}, {"resources_assigned", "mem", assigned}});
        return summarize(*nodes.get(), true).memory;
    };
    EXPECT_EQ(memory("8gw", "1GB"), "63gb/64gb");
    EXPECT_EQ(memory("2048", "1b"), "2kb/2kb");
    EXPECT_EQ(memory("1pb", "2pb"), "0kb/1pb");
    EXPECT_EQ(memory("9999999pb", ""), "8192pb/8192pb");
    EXPECT_EQ(memory("much", "1kb"), "0kb/0kb");
}

TEST(MarkedNodes, AreDownOrOffline) {
    Objects nodes = sample_nodes();
    EXPECT_EQ(marked_nodes_text(nodes.get()), "n1                   offline,job-busy to be repaired\n");
    EXPECT_TRUE(has_state(*nodes.get(), "offline"));
    EXPECT_FALSE(has_state(*nodes.get(), "job"));
}

TEST(NodesJson, NestsResources) {
    Objects nodes = sample_nodes();
    const auto json = nlohmann::json::parse(nodes_json(nodes.get(), "srv", "23.06", 5, {}));
    EXPECT_EQ(json["nodes"]["n1"]["resources_available"]["ncpus"], 4);
    EXPECT_THAT(json["nodes"]["n1"]["jobs"], ElementsAre("12.srv", "13.other"));
    PbsnodesOptions summary;
    summary.summary = true;
    summary.jobs = true;
    const auto short_json = nlohmann::json::parse(nodes_json(nodes.get(), "srv", "", 5, summary));
    EXPECT_EQ(short_json["nodes"]["n1"]["ncpus f/t"], "1/4");
}

std::string problem(const std::vector<std::string>& arguments) {
    const auto options = parse_pbsnodes_options(arguments);
    return options ? "" : options.error().message;
}

TEST(PbsnodesOptions, GoTogetherOrNot) {
    EXPECT_EQ(problem({"-a"}), "");
    EXPECT_EQ(problem({"-av"}), "");
    EXPECT_EQ(problem({"-aSjL"}), "");
    EXPECT_EQ(problem({"-o", "-C", "x", "n1"}), "");
    EXPECT_EQ(problem({"-C", "x", "-r", "n1"}), "");
    EXPECT_EQ(problem({"-C", "x", "n1"}), "");
    EXPECT_EQ(problem({"-l"}), "");
    EXPECT_EQ(problem({"-aF", "JSON"}), "");
    EXPECT_NE(problem({}), "");
    EXPECT_NE(problem({"-ao"}), "");
    EXPECT_NE(problem({"-or", "n1"}), "");
    EXPECT_NE(problem({"-o"}), "");
    EXPECT_NE(problem({"-l", "n1"}), "");
    EXPECT_NE(problem({"-aj"}), "");
    EXPECT_NE(problem({"-aC", "x"}), "");
    EXPECT_NE(problem({"-oF", "json", "n1"}), "");
    EXPECT_NE(problem({"-aF", "xml"}), "");
}

}  // namespace
}  // namespace pbs::cmds
