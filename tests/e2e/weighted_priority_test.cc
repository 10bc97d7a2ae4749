// Tests weighted_priority on a running server: urgency, deadlines and tickets order the jobs, and wrong
// weights are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WeightedPriority : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({
            "create queue work queue_type=execution, enabled=True, started=True",
            "create queue other queue_type=execution, enabled=True, started=True",
            "set server default_queue=work, job_history_enable=True",
            "create node n1 resources_available.ncpus=1",
            "create resource deadline type=string",
            "create resource job_shares type=long",
            "create resource override_tickets type=long, flag=r",
            "set policy default_policy by_queue=False, weighted_priority=True",
            "set server scheduling=False",
        }));
    }
    void job(const std::string& name, std::vector<std::string> options = {}) {
        const std::string id = server.submit("true\n", options);
        ASSERT_NE(id, "");
        names[id] = name;
    }
    // Returns the names of the jobs in the order of their starts.
    std::vector<std::string> starts() {
        EXPECT_TRUE(server.configure({"set server scheduling=True"}));
        std::vector<std::pair<std::size_t, std::string>> found;
        EXPECT_TRUE(wait_for([&] {
            const std::string accounting = server.accounting();
            found.clear();
            for (const auto& [id, name] : names)
                if (const auto at = accounting.find(";S;" + id); at != std::string::npos)
                    found.emplace_back(at, name);
            return found.size() == names.size();
        }));
        std::ranges::sort(found);
        std::vector<std::string> order;
        for (const auto& [at, name] : found) order.push_back(name);
        return order;
    }

    std::map<std::string, std::string> names;
    Server server;
};

TEST_F(WeightedPriority, GoesByUrgencyAndPriority) {
    job("plain");
    job("late", {"-l", "deadline=203012312359"});
    job("soon", {"-l", "deadline=202001010000"});
    job("first", {"-p", "1000"});
    EXPECT_THAT(starts(), ElementsAre("first", "soon", "late", "plain"));
}

TEST_F(WeightedPriority, GoesByTickets) {
    ASSERT_TRUE(server.configure({
        "set policy default_policy weight_tickets=10, tickets_functional=10000",
        "set policy default_policy functional_weights=\"project=1,job=1\"",
        "set policy default_policy functional_shares=\"[p:PBS_GENERIC=10],[p:rocket=100]\"",
        "set policy default_policy override_tickets=\"[q:other=50000]\"",
    }));
    job("plain1");
    job("plain2");
    job("rocket", {"-P", "rocket"});
    job("other", {"-q", "other"});
    const auto rocket = std::ranges::find(names, "rocket", [](const auto& entry) { return entry.second; });
    ASSERT_TRUE(server.configure({"set node n1 resources_available.ncpus=0", "set server scheduling=True"}));
    const Output told = server.command({"pbs_explain", rocket->first});
    EXPECT_THAT(told.out, HasSubstr("(project rocket: 100 over 0 running and 1 waiting jobs)")) << told.err;
    EXPECT_THAT(told.out, HasSubstr(" goes just before it, most of all by tickets: 10 against "));
    const auto json = nlohmann::json::parse(server.command({"pbs_explain", "--json", rocket->first}).out);
    ASSERT_EQ(json["priority_terms"].size(), 3U) << json;
    EXPECT_EQ(json["priority_terms"][2]["term"], "tickets");
    EXPECT_EQ(json["priority_terms"][2]["weight"], 10);
    EXPECT_EQ(names[json["job_before"]["job"]], "other");
    EXPECT_EQ(json["job_before"]["priority_terms"][2]["normalised"], 1);
    const auto of_owner =
        nlohmann::json::parse(server.command_as(runner(), {"pbs_explain", "--json", rocket->first}).out);
    EXPECT_TRUE(of_owner.contains("job_before")) << "that job is the user's own, too";
    // pbs_fairshare --tickets lists all jobs, those with the most tickets first, as JSON and as text.
    const auto tickets =
        nlohmann::json::parse(server.command({"pbs_fairshare", "--tickets", "-F", "json"}).out);
    ASSERT_EQ(tickets["jobs"].size(), 4U) << tickets;
    EXPECT_EQ(tickets["policy"], "default_policy");
    EXPECT_EQ(names[tickets["jobs"][0]["job"]], "other");
    EXPECT_EQ(tickets["jobs"][0]["override"], 50000);
    EXPECT_EQ(tickets["jobs"][0]["queue"], "other");
    EXPECT_EQ(tickets["jobs"][0]["normalised"], 1);
    EXPECT_EQ(names[tickets["jobs"][1]["job"]], "rocket");
    EXPECT_EQ(tickets["jobs"][1]["functional"], json["priority_terms"][2]["value"]);
    EXPECT_EQ(tickets["jobs"][1]["normalised"], json["priority_terms"][2]["normalised"]);
    EXPECT_THAT(server.command({"pbs_fairshare", "--tickets"}).out,
                ContainsRegex("\nJob +Owner +Queue +S +Override +Functional +Share +Tickets +Normalised\n"));
    EXPECT_EQ(server.command({"pbs_fairshare", "--tickets", "-G", "f1"}).exit, 2);
    EXPECT_EQ(server.command({"pbs_fairshare", "--tickets", "-t"}).exit, 2);
    ASSERT_TRUE(server.configure({"set node n1 resources_available.ncpus=1"}));
    EXPECT_THAT(starts(), ElementsAre("other", "rocket", "plain1", "plain2"));
}

TEST_F(WeightedPriority, RefusesWhatMeansNothing) {
    const std::map<std::string, std::string> refused = {
        {"weight_tickets=-1", "weight_tickets: bad value '-1'"},
        {"weight_tickets=inf", "weight_tickets: bad value 'inf'"},
        {"functional_shares=\"[u:ann]\"", "there is no = before the number"},
        {"functional_shares=\"[x:ann=1]\"", "'x:ann' doesn't begin with u:, g:, p: or q:"},
        {"functional_shares=\"u:ann=1\"", "there are no [ and ] around it"},
        {"functional_shares=\"[u:ann=-1]\"", "'-1' is no number from 0 to"},
        {"functional_shares=\"[u:ann=1],[u:ann=2]\"", "expected one number for each name"},
        {"functional_weights=\"users=1\"", "'users' is none of user, group, project, queue, job"},
        {"override_tickets=\"[u:=1]\"", "'' is no name"},
        {"override_tickets=\"[u :ann=1],[ u: ann=2]\"", "expected one number for each name"},
        {"ticket_order=OO", "expected letters O, F and S, each at most once, or NONE"},
        {"max_functional_jobs=0", "max_functional_jobs: bad value '0'"},
        {"job_sort_formula=ncpus", "weighted_priority and job_sort_formula exclude each other"},
    };
    for (const auto& [setting, why] : refused) {
        const Output output = server.qmgr("set policy default_policy " + setting);
        EXPECT_NE(output.exit, 0) << setting;
        EXPECT_THAT(output.err, HasSubstr(why)) << setting;
    }
    // The warning names the missing setting without which the set one has no effect.
    EXPECT_THAT(server.qmgr("set policy default_policy tickets_share=100").err,
                HasSubstr("tickets_share has no effect without fairshare_group"));
    EXPECT_THAT(server.qmgr("set policy default_policy max_functional_jobs=5").err,
                HasSubstr("max_functional_jobs has no effect without tickets_functional"));
}

}  // namespace
}  // namespace pbs::e2e
