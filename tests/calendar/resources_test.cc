// Tests diagrams of a resource over time.
#include "tools/calendar/resources.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/calendar/support.h"

namespace pbs::calendar::test {
namespace {

using rrule::Instant;
using rrule::Interval;
using testing::HasSubstr;

Instant hour(int number) {
    return utc("2026-11-23 00:00:00") + std::chrono::hours(number);
}
std::string at(int number) {
    return std::to_string(hour(number).time_since_epoch().count());
}

// Returns a server's answers about two vnodes of 4 CPUs. One job runs from 6 to 10 o'clock (UTC), and another
// from 7 without a known end; a third is expected to start at 10. A reservation lasts from 12 to 14, with a
// running job in it.
ResourceAnswers answers_of_jobs() {
    ResourceAnswers a;
    a.server = {"svr", {}};
    a.queues = {{"work", {{"resources_available.ncpus", "6"}}}, {"R9", {}}};
    a.vnodes = {{"n1", {{"resources_available.ncpus", "4"}, {"resources_available.mem", "8gb"}}},
                {"n2", {{"resources_available.ncpus", "4"}, {"resources_available.mem", "8gb"}}}};
    a.jobs = {
        {"1",
         {{"job_state", "R"},
          {"queue", "work"},
          {"stime", at(6)},
          {"Resource_List.walltime", "04:00:00"},
          {"exec_vnode", "(n1:ncpus=2:mem=1gb)+(n2:ncpus=1)"}}},
        {"2", {{"job_state", "R"}, {"queue", "other"}, {"stime", at(7)}, {"exec_vnode", "(n2:ncpus=1)"}}},
        {"3",
         {{"job_state", "Q"},
          {"queue", "work"},
          {"Resource_List.walltime", "3600"},
          {"estimated.start_time", at(10)},
          {"estimated.exec_vnode", "(n1:ncpus=4)"}}},
        {"4", {{"job_state", "Q"}, {"queue", "work"}}},
        {"5", {{"job_state", "S"}, {"queue", "work"}, {"stime", at(6)}, {"exec_vnode", "(n1:ncpus=2)"}}},
        {"6",
         {{"job_state", "R"},
          {"queue", "R9"},
          {"stime", at(12)},
          {"Resource_List.walltime", "3600"},
          {"exec_vnode", "(n1:ncpus=1)"}}}};
    a.reservations = {{"R9.svr",
                       {{"queue", "R9"},
                        {"reserve_start", at(12)},
                        {"reserve_end", at(14)},
                        {"resv_nodes", "(n1:ncpus=3)"}}}};
    return a;
}

std::string shown(const ResourceDiagram& diagram) {
    std::string text = fmt::format("{}:", diagram.total.value_or(-1));
    for (const ResourceStep& step : diagram.steps)
        text += fmt::format(" {}-{} {}/{}/{}", (step.when.start - hour(0)).count() / 3600,
                            (step.when.end - hour(0)).count() / 3600, step.amounts[0], step.amounts[1],
                            step.amounts[2]);
    return text;
}

std::string diagram(const std::string& resource, const ResourceOwner& owner) {
    const auto made = make_diagram(site_of(answers()), answers_of_jobs(), resource, owner,
                                   Interval{hour(8), hour(16)}, hour(8));
    return made ? shown(*made) : made.error();
}

TEST(ResourceDiagrams, HaveJobsPlansAndBookings) {
    using Level = ResourceOwner::Level;
    EXPECT_EQ(diagram("ncpus", {}), "8: 8-10 4/0/0 10-11 1/4/0 11-12 1/0/0 12-14 1/0/3 14-16 1/0/0");
    EXPECT_EQ(diagram("ncpus", {Level::vnode, "n1"}),
              "4: 8-10 2/0/0 10-11 0/4/0 11-12 0/0/0 12-14 0/0/3 14-16 0/0/0");
    EXPECT_EQ(diagram("ncpus", {Level::queue, "work"}), "6: 8-10 3/0/0 10-11 0/4/0 11-16 0/0/0");
    EXPECT_EQ(diagram("mem", {Level::vnode, "n1"}), "8589934592: 8-10 1073741824/0/0 10-16 0/0/0");
    EXPECT_EQ(diagram("ncpus", {Level::vnode, "n9"}), "there is no vnode n9");
    EXPECT_EQ(diagram("ncpus", {Level::queue, "q9"}), "there is no queue q9");
    EXPECT_EQ(diagram("ngpus", {}), "ngpus: no vnode, queue or job has this resource");
}

// A queue that is open from 18 to 8 o'clock, with a job of two hours that has run from 7:00; what becomes of
// the job at 8:00 is `at_close`. (All times are UTC.)
struct JobAtClosing {
    std::string at_close = "suspend";
    std::string algorithm = "standard";
    std::map<std::string, std::string, std::less<>> job = {{"job_state", "R"},
                                                           {"queue", "nights"},
                                                           {"stime", at(7)},
                                                           {"Rerunable", "True"},
                                                           {"Resource_List.walltime", "02:00:00"},
                                                           {"exec_vnode", "(n1:ncpus=2)"}};
    std::string restricted{};
    std::string shown_from(int from, int now) const {
        Answers a = answers();
        a.server = {"svr", {{"time_zone", "UTC"}}};
        a.scheds = {{"default", {{"policy", "p1"}}}};
        a.policies = {{"p1", {{"algorithm", algorithm}}}};
        a.queues = {{"nights", {{"time_window", "dark"}}}};
        a.time_windows = {{"dark",
                           {{"rrule", "FREQ=DAILY"},
                            {"start_time", "18:00:00"},
                            {"end_time", "08:00:00"},
                            {"at_close", at_close}}}};
        ResourceAnswers uses;
        uses.server = {"svr", {}};
        if (!restricted.empty()) uses.server.attributes["restrict_res_to_release_on_suspend"] = restricted;
        uses.queues = {{"nights", {}}};
        uses.vnodes = {{"n1", {{"resources_available.ncpus", "4"}}}};
        uses.jobs = {{"1", job}};
        const auto made =
            make_diagram(site_of(a), uses, "ncpus", {}, Interval{hour(from), hour(24)}, hour(now));
        return made ? shown(*made) : made.error();
    }
};

TEST(ResourceDiagrams, StandStillWhileAWindowIsClosed) {
    EXPECT_EQ((JobAtClosing{}.shown_from(7, 7)), "4: 7-8 2/0/0 8-18 0/0/0 18-19 0/2/0 19-24 0/0/0");
    EXPECT_EQ((JobAtClosing{.at_close = "run"}.shown_from(7, 7)), "4: 7-9 2/0/0 9-24 0/0/0");
    EXPECT_EQ((JobAtClosing{.at_close = "requeue"}.shown_from(7, 7)), "4: 7-8 2/0/0 8-24 0/0/0");
    EXPECT_EQ((JobAtClosing{.algorithm = "origin"}.shown_from(7, 7)), "4: 7-9 2/0/0 9-24 0/0/0");
    EXPECT_EQ((JobAtClosing{.restricted = "mem"}.shown_from(7, 7)), "4: 7-18 2/0/0 18-19 0/2/0 19-24 0/0/0");
    EXPECT_EQ((JobAtClosing{.restricted = "mem,ncpus"}.shown_from(7, 7)),
              "4: 7-8 2/0/0 8-18 0/0/0 18-19 0/2/0 19-24 0/0/0");
    JobAtClosing stays{.at_close = "requeue"};
    stays.job["Rerunable"] = "False";
    EXPECT_EQ(stays.shown_from(7, 7), "4: 7-9 2/0/0 9-24 0/0/0");
}

TEST(ResourceDiagrams, KnowJobsThatWereSuspended) {
    JobAtClosing one;
    one.job["job_state"] = "S";
    one.job["sched_preempted"] = at(8);
    one.job["comment"] = "Suspended until time_window dark opens, Mon Nov 23 18:00:00 2026";
    EXPECT_EQ(one.shown_from(10, 10), "4: 10-18 0/0/0 18-19 0/2/0 19-24 0/0/0");
    one.job["comment"] = "Job preempted by suspension";
    EXPECT_EQ(one.shown_from(10, 10), "4: 10-24 0/0/0");
    one.restricted = "mem";
    EXPECT_EQ(one.shown_from(10, 10), "4: 10-24 2/0/0") << "it keeps its ncpus";
    one.restricted = "";
    one.job["job_state"] = "R";
    one.job.erase("sched_preempted");
    one.job["suspended_for"] = "36000";
    EXPECT_EQ(one.shown_from(18, 18), "4: 18-19 2/0/0 19-24 0/0/0") << "it has run for one of two hours";
    one.job.erase("suspended_for");
    one.job["resources_used.walltime"] = "01:00:00";
    EXPECT_EQ(one.shown_from(18, 18), "4: 18-19 2/0/0 19-24 0/0/0") << "as OpenPBS tells it";
    one.job["Resource_List.walltime"] = "15:00:00";
    EXPECT_EQ(one.shown_from(7, 7), "4: 7-8 2/0/0 8-18 0/0/0 18-24 0/2/0");
}

TEST(ResourceDiagrams, AreWrittenAsTextJsonAndPicture) {
    const auto site = make_site(answers()).value();
    const auto made =
        make_diagram(site, answers_of_jobs(), "ncpus", {}, Interval{hour(8), hour(16)}, hour(8));
    EXPECT_THAT(
        to_text(site, *made),
        HasSubstr("ncpus of server svr: 8; # in use, + planned, = booked; times in Europe/Vienna\n"
                  "Mon 2026-11-23 09:00:00  ####################....................  in use 4  planned 0  "
                  "booked 0  free 4\n"
                  "Mon 2026-11-23 11:00:00  #####++++++++++++++++++++...............  in use 1  planned 4  "
                  "booked 0  free 3\n"));
    const auto json = nlohmann::json::parse(to_json(site, *made));
    EXPECT_EQ(json["steps"].size(), 5U);
    EXPECT_EQ(json["steps"][1]["planned"], 4);
    EXPECT_EQ(json["steps"][1]["from"], "2026-11-23T10:00:00Z");
    const std::string svg = to_svg(site, *made);
    EXPECT_THAT(
        svg, HasSubstr("<title>planned 4 from Mon 2026-11-23 11:00:00 to Mon 2026-11-23 12:00:00</title>"));
    EXPECT_TRUE(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    const auto memory = make_diagram(site, answers_of_jobs(), "mem", {}, Interval{hour(8), hour(9)}, hour(8));
    EXPECT_THAT(to_text(site, *memory), HasSubstr("in use 1gb"));
}

// The server tells which jobs a quota's counter counts, and with how much.
TEST(ResourceDiagrams, OfAQuotasCounterHaveTheJobsThatItCounts) {
    ResourceAnswers a = answers_of_jobs();
    const auto counter = [](const std::string& rule, const std::string& user, const std::string& resource,
                            const std::string& limit, std::vector<std::pair<std::string, std::string>> jobs) {
        return cmds::QuotaCounter{.quota = "q1",
                                  .rule = rule,
                                  .of = {{"users", user}},
                                  .resource = resource,
                                  .used = "1",
                                  .limit = limit,
                                  .enabled = true,
                                  .in_force = rule != "off",
                                  .jobs = std::move(jobs)};
    };
    a.counters = {counter("all", "bob", "ncpus", "4", {{"1", "3"}, {"3", "2"}, {"6", "1"}}),
                  counter("all", "bob", "jobs", "2", {{"1", "1"}, {"3", "1"}, {"gone", "1"}}),
                  counter("all", "ann", "jobs", "-", {{"2", "1"}}),
                  counter("off", "cid", "mem", "2gb", {{"5", "1gb"}})};
    const auto diagram = [&](const std::string& resource, const ResourceOwner& owner) {
        return make_diagram(site_of(answers()), a, resource, owner, Interval{hour(8), hour(16)}, hour(8));
    };
    const auto shows = [&](const std::string& resource, const ResourceOwner& owner) {
        const auto made = diagram(resource, owner);
        return made ? shown(*made) : made.error();
    };
    constexpr auto kQuota = ResourceOwner::Level::quota;
    // Job 6 is in a reservation, and counts.
    EXPECT_EQ(shows("ncpus", {kQuota, "q1"}),
              "4: 8-10 3/0/0 10-11 0/2/0 11-12 0/0/0 12-13 1/0/0 13-16 0/0/0");
    EXPECT_EQ(shows("jobs", {kQuota, "q1", "", {"users=bob"}}), "2: 8-10 1/0/0 10-11 0/1/0 11-16 0/0/0");
    EXPECT_EQ(
        shows("jobs", {kQuota, "q1", "all"}),
        "quota q1: found 2 counters of jobs, expected one, by --rule and --of: all users=bob; all users=ann");
    EXPECT_EQ(shows("jobs", {kQuota, "q1", "all", {"users=eve"}}),
              "quota q1: no job counts in such a counter of jobs");
    EXPECT_EQ(shows("jobs", {kQuota, "q2"}), "quota q2: no job counts in such a counter of jobs");
    EXPECT_EQ(shows("mem", {kQuota, "q1"}), "2147483648: 8-16 1073741824/0/0")
        << "an operator has suspended it";
    a.jobs[4].attributes["sched_preempted"] = at(7);
    EXPECT_EQ(shows("mem", {kQuota, "q1"}), "2147483648: 8-16 0/0/0") << "the policy has";
    const Site site = site_of(answers());
    EXPECT_THAT(to_text(site, *diagram("mem", {kQuota, "q1"})),
                HasSubstr("mem of quota q1 (off) users=cid: 2gb, which isn't in force now; # in use"));
    const auto unlimited = diagram("jobs", {kQuota, "q1", "", {"users=ann"}});
    EXPECT_EQ(unlimited->total, std::nullopt);
    EXPECT_THAT(
        to_text(site, *unlimited),
        testing::AllOf(HasSubstr("jobs of quota q1 (all) users=ann: no limit; "),
                       HasSubstr("in use 1  planned 0  booked 0\n"), testing::Not(HasSubstr("free"))));
    const auto json = nlohmann::json::parse(to_json(site, *unlimited));
    EXPECT_TRUE(json["total"].is_null());
    EXPECT_EQ(json["in_force"], true);
    EXPECT_THAT(to_svg(site, *unlimited), HasSubstr("no limit"));
}

}  // namespace
}  // namespace pbs::calendar::test
