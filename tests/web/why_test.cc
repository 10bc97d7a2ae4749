#include "tools/web/pages/pages.h"

#include <gtest/gtest.h>

#include "tests/web/site_of.h"

namespace pbs::web {
namespace {

const StatusOf job("12.pbs1", {{"Job_Name", kScript},
                               {"Job_Owner", "alice@h"},
                               {"queue", "batch"},
                               {"job_state", "Q"},
                               {"comment", kScript},
                               {"Variable_List", "SECRET=x"},
                               {"Resource_List", "4", "ncpus"},
                               {"Resource_List", "01:00:00", "walltime"},
                               {"ctime", "1795427000"}});

TEST(WhyTest, TellsOfAJobAndWhyItWaits) {
    const SmallSite site;
    StatusOf told("12.pbs1", {{"outcome", "waits"},
                              {"reason", "not enough CPUs"},
                              {"place", "1"},
                              {"jobs", "2"},
                              {"order", "0", "priority"},
                              {"gate", "", "held"}});
    told.add("batch", {{"earliest_start", "1795430000"},
                       {"awaited", "1795430000", "running jobs have ended"},
                       {"gate", "not enough CPUs", "vnodes"},
                       {"decides", "True", "vnodes"},
                       {"gate", "Not Running: Quota q1 (all): ncpus (R: 1 U: 4 L: 4)", "quota"},
                       {"gate_fact", "quota,q1", "quota"},
                       {"gate_fact", "rule,all", "quota"},
                       {"gate_fact", "resource,ncpus", "quota"},
                       {"gate_fact", "limit,4", "quota"},
                       {"gate_fact", "holds_from,1795430000", "quota"},
                       {"note", "quota q1 (half): ncpus isn't limited: (ngpus*2) isn't known"}});
    const Answer answer = why_answer(site.view(), *job.get(), told.get(), "");
    EXPECT_TRUE(is_a(answer, "Why"));
    EXPECT_EQ("waits", answer.json["explanation"]["outcome"]);
    EXPECT_EQ(kScript, answer.json["job"]["name"]);
    EXPECT_EQ(3600, answer.json["job"]["walltime"]);
    EXPECT_EQ("4", answer.json["job"]["asked"]["ncpus"]);
    EXPECT_EQ(std::string::npos, answer.json.dump().find("SECRET"));
}

TEST(WhyTest, AJobThatCannotBeExplainedIsShown) {
    const SmallSite site;
    const Answer answer = why_answer(site.view(), *job.get(), nullptr, "not supported");
    EXPECT_TRUE(is_a(answer, "Why"));
    EXPECT_TRUE(answer.json["explanation"].is_null());
    EXPECT_EQ("not supported", answer.json["explanation_error"]);
}

TEST(WhyTest, JobsOfOthersAreHiddenWhereUsersDontSeeThem) {
    const SmallSite site("False");
    EXPECT_EQ(403, why_answer(site.view(), *job.get(), nullptr, "").status);
    EXPECT_TRUE(jobs_answer(site.view(), {job.get()}, 1).json["jobs"].empty());
    const SmallSite open;
    const Answer all = jobs_answer(open.view(), {job.get()}, 1);
    EXPECT_TRUE(is_a(all, "Jobs"));
    EXPECT_EQ(1, all.json["jobs"].size());
}

}  // namespace
}  // namespace pbs::web
