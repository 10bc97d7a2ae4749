// Tests the report of tickets against CPU time.
#include "tools/simulate/tickets.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/simulate/support.h"

namespace pbs::simulate::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kByTickets =
    "set policy default_policy weighted_priority=True, weight_tickets=1, weight_urgency=0, "
    "weight_job_priority=0, by_queue=False\n";

// Four jobs that arrive together on one CPU, each for 100 seconds. ann has 100 shares and bob 60. The tickets
// after each start are the following, with the running job before the semicolon:
//   0    ann 10000; bob 3750, ann 3125, bob 1875
//   100  ann 10000; bob 3750, bob 1875
//   200  bob 10000; bob 5000
//   300  bob 10000
Trace four_jobs() {
    return trace_of({{0, 1, 100, 100, "ann"},
                     {0, 1, 100, 100, "ann"},
                     {0, 1, 100, 100, "bob"},
                     {0, 1, 100, 100, "bob", "", "guests"}});
}
const std::string kFunctional = std::string(kByTickets) +
                                "set policy default_policy tickets_functional=10000, "
                                "functional_weights=\"user=1,group=0,project=0,job=0\"\n"
                                "set policy default_policy functional_shares=\"[u:ann=100],[u:bob=60]\"\n";

TEST(Tickets, AreReportedAsPartsOverTime) {
    const Trace trace = four_jobs();
    const Schedule run = run_of(trace, site_of(1, 1), kFunctional);
    EXPECT_THAT(starts(run), ElementsAre(0, 100, 200, 300));
    const Report report = make_report("x", trace, run);
    ASSERT_TRUE(report.tickets.given);
    ASSERT_EQ(report.tickets.users.size(), 2U);
    const TicketPart& bob = report.tickets.users[0];
    const TicketPart& ann = report.tickets.users[1];
    EXPECT_EQ(bob.name, "bob");
    const double all = 10000 + 3750 + 3125 + 1875 + 10000 + 3750 + 1875 + 10000 + 5000 + 10000;
    EXPECT_NEAR(ann.tickets, (10000 + 3125 + 10000) / all, 1e-6);
    EXPECT_NEAR(bob.tickets, (3750 + 1875 + 3750 + 1875 + 10000 + 5000 + 10000) / all, 1e-6);
    EXPECT_NEAR(bob.functional, bob.tickets, 1e-9);
    EXPECT_EQ(bob.share, 0);
    EXPECT_NEAR(ann.running, 0.5, 1e-9) << "the one job that runs has all tickets of running jobs";
    EXPECT_DOUBLE_EQ(ann.cpu, 0.5);
    ASSERT_EQ(report.tickets.groups.size(), 2U);
    EXPECT_EQ(report.tickets.groups[1].name, "guests");
    EXPECT_DOUBLE_EQ(report.tickets.groups[1].cpu, 0.25);
    EXPECT_TRUE(report.tickets.projects.empty()) << "the trace has none";

    const Heading heading = make_heading(trace, rrule::Zone::utc());
    EXPECT_THAT(to_text(heading, {report}),
                ContainsRegex("\ntickets +all +running +override +functional +share +CPU time\n"
                              "user bob +61.1% +50.0% +61.1% +50.0%\n"
                              "user ann +38.9% +50.0% +38.9% +50.0%\n"
                              "group staff "));
    const auto json = nlohmann::json::parse(to_json(heading, {report}))["simulations"][0]["tickets"];
    EXPECT_EQ(json["users"][1]["user"], "ann");
    EXPECT_NEAR(json["users"][1]["tickets"].get<double>(), ann.tickets, 1e-9);
    // With a policy without tickets, there is nothing to tell; and two policies can be compared.
    const Report none = make_report("y", trace, run_of(trace, site_of(1, 1)));
    EXPECT_FALSE(none.tickets.given);
    EXPECT_THAT(to_text(heading, {none}), Not(HasSubstr("tickets")));
    EXPECT_THAT(to_text(heading, {none, report}),
                ContainsRegex("user ann +0.0% +38.9% +.38.9% +0.0% +50.0% +.50.0% +50.0% +50.0% +0.0%\n"));
    EXPECT_FALSE(nlohmann::json::parse(to_json(heading, {none}))["simulations"][0].contains("tickets"));
    EXPECT_THAT(to_text(heading, {report}, 1), Not(HasSubstr("user ann  ")));
}

// Two of bob's jobs are of a project with override tickets, so it has all tickets while these jobs are there.
TEST(Tickets, AreOfProjectsToo) {
    Trace trace = four_jobs();
    trace.jobs[2].project = trace.jobs[3].project = trace.projects.number("rescue");
    const Schedule run =
        run_of(trace, site_of(1, 1),
               std::string(kByTickets) + "set policy default_policy override_tickets=\"[p:rescue=500]\"\n");
    EXPECT_THAT(starts(run), ElementsAre(200, 300, 0, 100)) << "the project goes first";
    const Report report = make_report("x", trace, run);
    ASSERT_EQ(report.tickets.projects.size(), 1U);
    EXPECT_EQ(report.tickets.projects[0].name, "rescue");
    EXPECT_DOUBLE_EQ(report.tickets.projects[0].by_override, 1);
    EXPECT_DOUBLE_EQ(report.tickets.projects[0].tickets, 1);
    EXPECT_DOUBLE_EQ(report.tickets.projects[0].cpu, 0.5);
    EXPECT_FALSE(report.tickets.share);
    EXPECT_FALSE(report.tickets.functional);
}

TEST(Tickets, OfTheShareTree) {
    const Trace trace = four_jobs();
    const Schedule run = run_of(trace, site_of(1, 1),
                                std::string(kByTickets) +
                                    "create fs_group f1 tree_element = [ann:root = 75, bob:root = 25]\n"
                                    "set policy default_policy fairshare_group = f1, tickets_share = 1000\n");
    const Report report = make_report("x", trace, run);
    ASSERT_TRUE(report.tickets.share);
    double sum = 0;
    for (const TicketPart& user : report.tickets.users) {
        EXPECT_GT(user.share, 0) << user.name;
        EXPECT_DOUBLE_EQ(user.share, user.tickets);
        sum += user.share;
    }
    EXPECT_NEAR(sum, 1, 1e-9);
}

}  // namespace
}  // namespace pbs::simulate::test
