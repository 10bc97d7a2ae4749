#include "tools/web/pages/pages.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/web/site_of.h"
#include "tools/web/jobs.h"

namespace pbs::web {
namespace {

TEST(WhenTest, BarsAreOnVnodes) {
    const SmallSite site;
    StatusOf nodes("n1", {{"resources_available", "8", "ncpus"}});
    nodes.add("n2", {{"resources_available", "8", "ncpus"}});
    const StatusOf running("1.pbs1", {{"Job_Name", kScript},
                                      {"Job_Owner", "alice@h"},
                                      {"queue", "batch"},
                                      {"job_state", "R"},
                                      {"stime", "1795427000"},
                                      {"Resource_List", "01:00:00", "walltime"},
                                      {"exec_vnode", "(n2:ncpus=2:mem=1gb+gone:ncpus=1)+(n2:ncpus=3)"}});
    StatusOf expected("2.pbs1", {{"Job_Owner", "bob@h"},
                                 {"job_state", "Q"},
                                 {"estimated", "1795431000", "start_time"},
                                 {"estimated", "(n1:ncpus=8)", "exec_vnode"}});
    expected.add("3.pbs1", {{"Job_Owner", "bob@h"}, {"job_state", "Q"}});
    const StatusOf reservations("R4.pbs1", {{"Reserve_Owner", "carol@h"},
                                            {"reserve_start", "1795440000"},
                                            {"reserve_end", "1795450000"},
                                            {"resv_nodes", "(n1:ncpus=1)"}});
    const Answer answer =
        when_answer(site.view(), {nodes.get(), running.get(), expected.get(), reservations.get()}, 2);
    EXPECT_TRUE(is_a(answer, "When"));
    const Json& jobs = answer.json["jobs"];
    ASSERT_EQ(2, jobs.size()) << "a job without an expected start is no bar";
    EXPECT_EQ((Json{{1, 5}, {2, 1}}), jobs[0]["vnodes"]);
    EXPECT_EQ(1795430600, jobs[0]["to"]);
    EXPECT_TRUE(jobs[1]["to"].is_null());
    EXPECT_EQ((Json{"n1", "n2", "gone"}), answer.json["vnodes"]["names"]);
    EXPECT_EQ((Json{{0, 1}}), answer.json["reservations"][0]["vnodes"]);
    EXPECT_EQ(3 * 86400, answer.json["to"].get<int>() - answer.json["from"].get<int>());
    EXPECT_TRUE(std::ranges::any_of(answer.json["background"], [](const Json& span) {
        return span["kind"] == "prime_time" && span["to"] == kMonday10 + 7 * 3600;
    }));
}

TEST(WhenTest, JobsOfOthersAreHiddenWhereUsersDontSeeThem) {
    const SmallSite site("False");
    const StatusOf running("1.pbs1", {{"Job_Owner", "alice@h"}, {"stime", "1795427000"}});
    const StatusOf reservations("R4.pbs1",
                                {{"Reserve_Owner", "carol@h"}, {"reserve_start", "1"}, {"reserve_end", "2"}});
    const Answer answer = when_answer(site.view(), {nullptr, running.get(), nullptr, reservations.get()}, 2);
    EXPECT_TRUE(answer.json["jobs"].empty());
    EXPECT_TRUE(answer.json["reservations"].empty());
}

TEST(WhenTest, ExecVnodesOfAllKinds) {
    EXPECT_TRUE(parse_exec_vnode("").empty());
    const auto plain = parse_exec_vnode("n1");
    ASSERT_EQ(1, plain.size());
    EXPECT_EQ("n1", plain[0].vnode);
    EXPECT_EQ(0, plain[0].ncpus);
}

}  // namespace
}  // namespace pbs::web
