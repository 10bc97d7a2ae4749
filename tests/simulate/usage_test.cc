// Tests simulations that begin with a given usage of shares.
#include "tools/simulate/usage.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/simulate/support.h"

namespace pbs::simulate::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
    const auto read = read_share_usage(text, "u.json");
    return read ? std::string() : read.error();
}

std::string document(const std::string& elements) {
    return R"({"trees":[{"sched":"default","fs_group":"f1","elements":[)" + elements + "]}]}";
}

TEST(ShareUsage, EntitiesThatHaveUsedSomething) {
    const auto read = read_share_usage(document(R"({"name":"physics","kind":"group","usage":900},
                                                  {"name":"ann","kind":"entity","usage":899.5},
                                                  {"name":"bob","kind":"entity","usage":1})"),
                                       "u.json");
    ASSERT_TRUE(read) << read.error();
    ASSERT_EQ(read->size(), 1U);
    EXPECT_EQ((*read)[0].sched, "default");
    EXPECT_EQ((*read)[0].group, "f1");
    ASSERT_EQ((*read)[0].entities.size(), 1U);
    EXPECT_EQ((*read)[0].entities[0].user, "ann");
    EXPECT_EQ((*read)[0].entities[0].usage, 899.5);
    EXPECT_TRUE(read_share_usage(R"({"trees":[]})", "u.json")->empty());
}

TEST(ShareUsage, WhatIsWrongIsSaidWithItsPlace) {
    EXPECT_EQ(refusal("hello"), "u.json: no JSON, expected what pbs_fairshare -F json writes");
    EXPECT_EQ(refusal("[]"), R"(u.json: expected {"trees":[...]}, as pbs_fairshare -F json writes it)");
    EXPECT_EQ(refusal(R"({"trees":[{}]})"), "u.json: trees[0]: sched: expected a name");
    EXPECT_EQ(refusal(R"({"trees":[{"sched":"s","fs_group":"f"}]})"),
              "u.json: trees[0]: elements: expected a list");
    EXPECT_EQ(refusal(document(R"({"kind":"entity","usage":1})")),
              "u.json: trees[0].elements[0]: name: expected a name");
    EXPECT_EQ(refusal(document(R"({"name":"a","kind":"tree","usage":1})")),
              "u.json: trees[0].elements[0]: kind: expected group or entity");
    EXPECT_EQ(refusal(document(R"({"name":"a","kind":"entity","usage":"1"})")),
              "u.json: trees[0].elements[0]: usage: expected a number");
    EXPECT_EQ(refusal(document(R"({"name":"a","kind":"entity","usage":-1})")),
              "u.json: trees[0].elements[0]: usage: found -1, expected 0 to 1e+200");
    const std::string tree = R"({"sched":"s","fs_group":"f","elements":[]})";
    EXPECT_EQ(refusal(R"({"trees":[)" + tree + "," + tree + "]}"),
              "u.json: trees[1]: fs_group f of sched s is there twice, expected once");
}

const std::string kShares =
    "create fs_group f1 tree_element = [physics:root = 75, bob:root = 25, ann:physics = 1], "
    "usage_formula = 'ncpus*walltime', decay_time = 1000:00:00\n"
    "set policy default_policy by_queue = False, fairshare_group = f1, fairshare = True\n";

// Only one of these jobs can run at a time. All four have arrived before the first one ends.
std::vector<Job> jobs() {
    return {
        {0, 4, 100, 100, "ann"}, {1, 4, 100, 100, "ann"}, {2, 4, 100, 100, "bob"}, {3, 4, 100, 100, "eve"}};
}

TEST(ShareUsage, ASimulationBeginsWithIt) {
    const Trace trace = trace_of(jobs());
    const Site site = site_of(1, 4);
    // bob and eve have no usage, so bob's job is next, as it came first.
    EXPECT_THAT(starts(run_of(trace, site, kShares)), ElementsAre(0, 300, 100, 200));
    EngineOptions options;
    options.usage = {{"default", "f1", {{"", "bob", 1e6}, {"", "eve", 2e6}}}};
    EXPECT_THAT(starts(run_of(trace, site, kShares, options)), ElementsAre(0, 100, 200, 300));
}

TEST(ShareUsage, TheCpuTimeOfJobsCountsWhenTheyEnd) {
    const std::string by_cput =
        "create fs_group f1 tree_element = [ann:root = 50, bob:root = 50], decay_time = 1000:00:00\n"
        "set policy default_policy by_queue = False, fairshare_group = f1, fairshare = True\n";
    Trace trace = trace_of({{0, 4, 100, 100, "ann"}, {1, 4, 100, 100, "ann"}, {2, 4, 100, 100, "bob"}});
    const Site site = site_of(1, 4);
    const Schedule run = run_of(trace, site, by_cput);
    EXPECT_THAT(starts(run), ElementsAre(0, 200, 100)) << "ann has used 400 seconds";
    ASSERT_EQ(run.shares.size(), 1U);
    const auto usage = [](const Schedule& of, const std::string& name) {
        const auto& rows = of.shares[0].view.rows;
        return std::ranges::find(rows, name, &sched::ShareRow::name)->usage;
    };
    EXPECT_EQ(usage(run, "ann"), 801);
    EXPECT_EQ(usage(run, "bob"), 401);
    // CPU times in the trace take precedence over the CPU time that the simulation assumes.
    trace.jobs[0].cput = Seconds(0);
    trace.jobs[1].cput = Seconds(30);
    trace.jobs[1].walltime = Seconds(50);  // it ends after half of its walltime
    const Schedule idle = run_of(trace, site, by_cput);
    EXPECT_THAT(starts(idle), ElementsAre(0, 100, 150));
    EXPECT_EQ(usage(idle, "ann"), 16);
}

TEST(ShareUsage, TheReportIsByGroup) {
    const Trace trace = trace_of(jobs());
    const Schedule run = run_of(trace, site_of(1, 4), kShares);
    const std::vector<Report> reports = {make_report("now", trace, run)};
    ASSERT_EQ(reports[0].shares.size(), 1U);
    const ShareReport& shares = reports[0].shares[0];
    EXPECT_EQ(shares.group, "f1");
    std::vector<std::string> names;
    for (const ShareGroup& group : shares.groups) names.push_back(group.jobs.name);
    EXPECT_THAT(names, ElementsAre("physics", "bob", "unknown"));
    EXPECT_EQ(shares.groups[0].jobs.jobs, 2);
    EXPECT_DOUBLE_EQ(shares.groups[0].cpu_part, 0.5);
    EXPECT_NEAR(shares.groups[0].target, 75.0 / 110, 1e-6);
    EXPECT_DOUBLE_EQ(shares.groups[1].jobs.cpu_seconds, 400);
    EXPECT_EQ(shares.groups[2].jobs.jobs, 1) << "eve is in no group";
    EXPECT_DOUBLE_EQ(shares.groups[2].jobs.wait.mean, 197);
    const Heading heading = make_heading(trace, rrule::Zone::utc());
    const std::string text = to_text(heading, reports);
    EXPECT_THAT(text, HasSubstr("fs_group f1  target  CPU time"));
    EXPECT_THAT(text, HasSubstr("physics       68.2%     50.0%"));
    const auto json = nlohmann::json::parse(to_json(heading, reports));
    EXPECT_EQ(json["simulations"][0]["shares"][0]["groups"][1]["name"], "bob");
    EXPECT_EQ(json["simulations"][0]["shares"][0]["groups"][1]["cpu_part"], 0.25);
    // A report of two simulations. The first one has a policy without shares.
    const std::vector<Report> two = {make_report("a", trace, run_of(trace, site_of(1, 4))), reports[0]};
    EXPECT_THAT(to_text(heading, two), HasSubstr("fs_group f1  target A"));
    EXPECT_FALSE(nlohmann::json::parse(to_json(heading, two))["simulations"][0].contains("shares"));
}

}  // namespace
}  // namespace pbs::simulate::test
