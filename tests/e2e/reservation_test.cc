// Tests reservations from their request to their end, with the commands of users, and with crashes of the
// server.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ctime>
#include <future>
#include <limits>
#include <string>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int64_t kHour = 3600;
// Returns a time of day, such as "1200", as a date and time for pbs_rsub. The date is that of the server's
// clock; on OpenPBS it is tomorrow.
std::string at(const char* time) {
    if (!on_openpbs()) return std::string("20261123") + time;
    const std::time_t tomorrow = std::time(nullptr) + 24 * kHour;
    std::tm date{};
    gmtime_r(&tomorrow, &date);
    return fmt::format("{:04}{:02}{:02}{}", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday, time);
}
const std::string kNoon = at("1200");
const std::string kTwo = at("1400");

class Reservations : public OriginServer {
  protected:
    Output as_runner(const std::vector<std::string>& argv, const RunOptions& options = {}) const {
        return server.command_as(runner(), argv, options);
    }
    // Requests a standing reservation from 12:00 to 14:00 UTC, with a recurrence rule.
    Output standing(const std::string& rule, const std::vector<std::string>& more) const {
        std::vector<std::string> argv{"pbs_rsub", "-R", kNoon, "-E", kTwo, "-r", rule};
        argv.insert(argv.end(), more.begin(), more.end());
        return as_runner(argv, {.environment = {{"PBS_TZID", "UTC"}}});
    }
    // Requests a reservation and returns its identifier once it is confirmed.
    std::string reserve(const std::string& start, const std::string& end, const std::string& select,
                        const std::vector<std::string>& more = {}) const {
        std::vector<std::string> argv{"pbs_rsub",         "-R", start, "-E", end, "-l",
                                      "select=" + select, "-I", "20"};
        argv.insert(argv.end(), more.begin(), more.end());
        const Output output = as_runner(argv);
        EXPECT_EQ(output.exit, 0) << output;
        EXPECT_THAT(output.out, HasSubstr(" CONFIRMED\n"));
        return output.out.substr(0, output.out.find(' '));
    }
    std::string attribute(const std::string& id, const std::string& name) const {
        const Output output = as_runner({"pbs_rstat", "-f", id});
        return output.exit == 0 ? attribute_in(output.out, name) : "(gone)";
    }
    bool wait_attribute(const std::string& id, const std::string& name, const std::string& value) const {
        return wait_for([&] { return attribute(id, name) == value; });
    }
    // Returns the host of the server's first vnode.
    std::string host_of_first() const {
        return attribute_in(server.command({"pbsnodes", "-a"}).out, "resources_available.host");
    }
    static std::string queue_of(const std::string& id) { return id.substr(0, id.find('.')); }
};

TEST_F(Reservations, GoFromTheirRequestToTheirEnd) {
    NEEDS(injected_clock);
    const std::string id = reserve(kNoon, kTwo, "1:ncpus=6", {"-N", "lecture"});
    const std::string queue = queue_of(id);
    EXPECT_THAT(id, StartsWith("R"));
    const Output shown = as_runner({"pbs_rstat"});
    EXPECT_THAT(shown.out, ContainsRegex(queue + ".*" + queue + " .* CO .*/ 7200 / "));
    EXPECT_EQ(attribute(id, "Reserve_Name"), "lecture");
    EXPECT_EQ(attribute(id, "reserve_state"), "RESV_CONFIRMED");
    EXPECT_EQ(attribute(id, "reserve_duration"), "7200");
    EXPECT_EQ(attribute(id, "Resource_List.walltime"), "02:00:00");
    EXPECT_THAT(attribute(id, "resv_nodes"), HasSubstr("ncpus=6"));
    EXPECT_EQ(as_runner({"pbs_rstat", "-B"}).out, "Resv ID: " + id + "\n");

    EXPECT_THAT(as_runner({"pbs_calendar", "list", "--from", "2026-11-23", "--to", "2026-11-24"}).out,
                HasSubstr(" Mon 2026-11-23 12:00:00 - Mon 2026-11-23 14:00:00   reservation " + id));

    // A job that would still run at the reservation's start waits. A job starts if it ends before, or if it
    // fits beside the reservation.
    const std::string too_long =
        server.submit("sleep 60\n", {"-q", "submit", "-l", "ncpus=4,walltime=3:00:00"});
    const std::string beside =
        server.submit("sleep 600\n", {"-q", "submit", "-l", "ncpus=2,walltime=8:00:00"});
    ASSERT_TRUE(server.wait_job_state(beside, "R"));
    EXPECT_EQ(server.job(too_long, "job_state"), "Q");
    EXPECT_THAT(as_runner({"pbs_explain", too_long}).out, HasSubstr("(reservation " + id + ")"));
    const std::string inside = server.submit("sleep 600\n", {"-q", queue, "-l", "ncpus=6"});
    EXPECT_EQ(server.job(inside, "reserve_ID"), id);
    EXPECT_EQ(server.job(inside, "job_state"), "Q");

    server.set_clock(kMonday10 + 2 * kHour);
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_RUNNING"));
    ASSERT_TRUE(server.wait_job_state(inside, "R"));
    EXPECT_EQ(server.job(too_long, "job_state"), "Q");

    server.set_clock(kMonday10 + 4 * kHour);
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "(gone)"));
    EXPECT_TRUE(server.wait_job_state(inside, "F"));
    EXPECT_TRUE(server.wait_job_state(too_long, "R"));
    EXPECT_EQ(server.job(beside, "job_state"), "R");
    EXPECT_NE(as_runner({"qstat", "-Q", queue}).exit, 0) << "its queue has gone";
    for (const char* type : {"Q", "S", "E"})
        EXPECT_THAT(server.accounting(), ContainsRegex(std::string(";") + type + ";" + inside + ";.* queue=" +
                                                       queue + " resvname=lecture resvID=" + id + " "))
            << type;
    for (const char* type : {"U", "Y", "B", "F"})
        EXPECT_THAT(server.accounting(), HasSubstr(std::string(";") + type + ";" + id + ";")) << type;
}

// pbsnodes and qmgr show the resources that are assigned in reservations, and those assigned to all other
// jobs.
TEST_F(Reservations, HaveTheirShareOfVnodesAndServerWhileTheyRun) {
    NEEDS(injected_clock);
    ASSERT_TRUE(server.configure({"create resource licences type=long,flag=q",
                                  "create node other resources_available.ncpus=8",
                                  "set node other resources_available.mem=8gb"}));
    const std::string first = "n1";
    const auto of = [&](const std::string& vnode, const std::string& name) {
        return attribute_in(server.command({"pbsnodes", "-v", vnode}).out, name);
    };
    const auto of_server = [&](const std::string& name) {
        return attribute_in(server.qmgr("list server " + name).out, name);
    };
    const std::string shared = reserve(kNoon, kTwo, "1:ncpus=3:vnode=" + first);
    const std::string alone =
        reserve(kNoon, kTwo, "1:ncpus=2:mem=1gb:vnode=other", {"-l", "place=excl", "-l", "licences=4"});
    EXPECT_EQ(of(first, "resv"), shared);
    EXPECT_EQ(of("other", "resv"), alone);
    EXPECT_EQ(of("other", "state"), "free");
    EXPECT_EQ(of("other", "resources_assigned.ncpus"), "0");

    server.set_clock(kMonday10 + 2 * kHour);
    ASSERT_TRUE(wait_attribute(shared, "reserve_state", "RESV_RUNNING"));
    ASSERT_TRUE(wait_attribute(alone, "reserve_state", "RESV_RUNNING"));
    const auto expect = [&](const char* when, std::vector<const char*> values) {
        SCOPED_TRACE(when);
        EXPECT_TRUE(wait_for([&] { return of(first, "resources_assigned.ncpus") == values[0]; }))
            << of(first, "resources_assigned.ncpus");
        EXPECT_EQ(of(first, "state"), values[1]);
        EXPECT_EQ(of("other", "resources_assigned.ncpus"), values[2]);
        EXPECT_EQ(of("other", "resources_assigned.mem"), values[3]);
        EXPECT_EQ(of("other", "state"), values[4]);
        EXPECT_EQ(of_server("resources_assigned.ncpus"), values[5]);
        EXPECT_EQ(of_server("resources_assigned.nodect"), values[6]);
        EXPECT_EQ(of_server("resources_assigned.licences"), values[7]);
    };
    expect("begun", {"3", "free", "2", "1048576kb", "resv-exclusive", "5", "2", "4"});

    const std::string inside =
        server.submit("sleep 600\n", {"-q", queue_of(shared), "-l", "select=1:ncpus=2"});
    const std::string exclusive = server.submit(
        "sleep 600\n", {"-q", queue_of(alone), "-l", "select=1:ncpus=1:mem=10mb", "-l", "place=excl"});
    const std::string beside = server.submit("sleep 600\n", {"-q", "submit", "-l", "ncpus=5,licences=1"});
    for (const std::string& id : {inside, exclusive, beside}) ASSERT_TRUE(server.wait_job_state(id, "R"));
    expect("with jobs", {"8", "free", "2", "1048576kb", "job-exclusive,resv-exclusive", "10", "3", "5"});
    EXPECT_EQ(attribute_in(server.qmgr("list queue " + queue_of(shared)).out, "resources_assigned.ncpus"),
              "2");
    EXPECT_THAT(server.command({"pbsnodes", "-avSj"}).out, ContainsRegex(first + " .* 0/8 "));
    EXPECT_THAT(server.command({"pbsnodes", "-avSj"}).out, ContainsRegex("other .* 7gb/8gb .* 6/8 "));

    server.kill9();
    ASSERT_TRUE(server.start());
    expect("after a crash", {"8", "free", "2", "1048576kb", "job-exclusive,resv-exclusive", "10", "3", "5"});
    ASSERT_EQ(server.command({"pbsnodes", "-o", "other"}).exit, 0);
    EXPECT_EQ(of("other", "state"), "offline,job-exclusive,resv-exclusive");
    ASSERT_EQ(server.command({"pbsnodes", "-r", "other"}).exit, 0);

    ASSERT_EQ(as_runner({"qdel", inside, exclusive}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(inside, "F"));
    ASSERT_TRUE(server.wait_job_state(exclusive, "F"));
    expect("without jobs of theirs", {"8", "free", "2", "1048576kb", "resv-exclusive", "10", "3", "5"});
    ASSERT_EQ(as_runner({"pbs_rdel", alone}).exit, 0);
    expect("one deleted", {"8", "free", "0", "0kb", "free", "8", "2", "1"});
    server.set_clock(kMonday10 + 4 * kHour);
    ASSERT_TRUE(wait_attribute(shared, "reserve_state", "(gone)"));
    expect("over", {"5", "free", "0", "0kb", "free", "5", "1", "1"});
    EXPECT_EQ(of(first, "resv"), "(none)");
    ASSERT_EQ(as_runner({"qdel", beside}).exit, 0);
    expect("nothing runs", {"0", "free", "0", "0kb", "free", "0", "0", "0"});
}

TEST_F(Reservations, AreDeniedWhatTheyCannotHave) {
    const Output large =
        as_runner({"pbs_rsub", "-R", kNoon, "-D", "1:00:00", "-l", "select=1:ncpus=9", "-I", "20"});
    EXPECT_EQ(large.exit, 0);
    EXPECT_THAT(large.out, ContainsRegex("^R[0-9]+\\.[^ ]* DENIED\n$"));
    EXPECT_EQ(as_runner({"pbs_rstat"}).out, "");
    (void)reserve(kNoon, kTwo, "1:ncpus=5");
    const Output second =
        as_runner({"pbs_rsub", "-R", kNoon, "-D", "1:00:00", "-l", "select=1:ncpus=4", "-I", "20"});
    EXPECT_THAT(second.out, HasSubstr(" DENIED\n"));
    (void)reserve(kTwo, at("1500"), "1:ncpus=8");
    EXPECT_THAT(server.log(), HasSubstr("Reservation denied"));
}

TEST_F(Reservations, WithoutASchedulerTheyStayUnconfirmedUntilTheirEnd) {
    NEEDS(injected_clock);
    ASSERT_TRUE(server.configure({"set server scheduling=False"}));
    const Output waiting =
        as_runner({"pbs_rsub", "-R", kNoon, "-E", kTwo, "-l", "select=1:ncpus=1", "-I", "1"});
    EXPECT_THAT(waiting.out, HasSubstr(" UNCONFIRMED\n"));
    const std::string id = waiting.out.substr(0, waiting.out.find(' '));
    EXPECT_EQ(attribute(id, "reserve_state"), "RESV_UNCONFIRMED");
    EXPECT_NE(server.command_as(runner(), {"qsub", "-q", queue_of(id), "--", "/bin/true"}).exit, 0);
    const Output impatient =
        as_runner({"pbs_rsub", "-R", kNoon, "-E", kTwo, "-l", "select=1:ncpus=1", "-I", "-1"});
    EXPECT_THAT(impatient.out, HasSubstr(" delete, wait period expired\n"));
    server.set_clock(kMonday10 + 4 * kHour);
    EXPECT_TRUE(wait_attribute(id, "reserve_state", "(gone)"));
}

// The sum of the present time and the greatest number of seconds would overflow.
TEST_F(Reservations, TheLongestWaitLastsUntilTheAnswer) {
    NEEDS(own_server);
    ASSERT_TRUE(server.configure({"set server scheduling=False"}));
    auto waiting = std::async(std::launch::async, [&] {
        return as_runner({"pbs_rsub", "-R", kNoon, "-E", kTwo, "-l", "select=1:ncpus=1", "-I",
                          std::to_string(std::numeric_limits<std::int64_t>::max())});
    });
    EXPECT_TRUE(wait_for([&] { return !server.command({"pbs_rstat"}).out.empty(); }));
    EXPECT_TRUE(server.configure({"set server scheduling=True"}));
    if (waiting.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
        ADD_FAILURE() << "no answer";
        EXPECT_TRUE(server.stop());  // lets the command end
    }
    const Output answered = waiting.get();
    EXPECT_THAT(answered.out, HasSubstr(" CONFIRMED\n")) << answered;
}

TEST_F(Reservations, OutliveTheServer) {
    NEEDS(injected_clock);
    const std::string id = reserve(kNoon, kTwo, "1:ncpus=8");
    const std::string inside = server.submit("sleep 600\n", {"-q", queue_of(id), "-l", "ncpus=1"});
    const std::string before = as_runner({"pbs_rstat", "-f", id}).out;
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(as_runner({"pbs_rstat", "-f", id}).out, before);
    const std::string into_it =
        server.submit("sleep 60\n", {"-q", "submit", "-l", "ncpus=1,walltime=3:00:00"});
    const std::string ends = server.submit("sleep 600\n", {"-q", "submit", "-l", "ncpus=1,walltime=1:00:00"});
    ASSERT_TRUE(server.wait_job_state(ends, "R"));
    EXPECT_EQ(server.job(into_it, "job_state"), "Q") << "the vnode is still its own";
    // The reservation starts while no server runs.
    server.kill9();
    server.set_clock(kMonday10 + 2 * kHour);
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_RUNNING"));
    ASSERT_TRUE(server.command({"qdel", ends}).exit == 0);
    ASSERT_TRUE(server.wait_job_state(inside, "R"));
    // The reservation ends while no server runs.
    server.kill9();
    server.set_clock(kMonday10 + 5 * kHour);
    ASSERT_TRUE(server.start());
    EXPECT_TRUE(wait_attribute(id, "reserve_state", "(gone)"));
    EXPECT_TRUE(server.wait_job_state(inside, "F"));
    EXPECT_TRUE(server.wait_job_state(into_it, "R"));
}

TEST_F(Reservations, AreDeletedByTheirOwnersAndManagers) {
    NEEDS(injected_clock);
    const std::string id = reserve(kNoon, kTwo, "1:ncpus=1");
    const std::string job = server.submit("sleep 600\n", {"-q", queue_of(id)});
    if (const auto somebody = other()) {
        EXPECT_EQ(server.command_as(*somebody, {"pbs_rdel", id}).exit, 159);
        EXPECT_NE(server.command_as(*somebody, {"qsub", "-q", queue_of(id), "--", "/bin/true"}).exit, 0);
    }
    EXPECT_NE(server.qmgr("delete queue " + queue_of(id)).exit, 0) << "it goes with the reservation";
    EXPECT_EQ(as_runner({"pbs_rdel", id}).exit, 0);
    EXPECT_TRUE(wait_attribute(id, "reserve_state", "(gone)"));
    EXPECT_TRUE(server.wait_job_state(job, "F"));
    EXPECT_THAT(server.accounting(), HasSubstr(";k;" + id + ";requestor="));

    const std::string another = reserve(kNoon, kTwo, "1:ncpus=1");
    server.set_clock(kMonday10 + 2 * kHour);
    ASSERT_TRUE(wait_attribute(another, "reserve_state", "RESV_RUNNING"));
    const std::string running = server.submit("sleep 600\n", {"-q", queue_of(another)});
    ASSERT_TRUE(server.wait_job_state(running, "R"));
    EXPECT_EQ(server.command({"pbs_rdel", another}).exit, 0);
    EXPECT_TRUE(wait_attribute(another, "reserve_state", "(gone)"));
    EXPECT_TRUE(server.wait_job_state(running, "F"));
}

TEST_F(Reservations, UsersInTheListOfAReservationMayUseIt) {
    const auto somebody = other();
    if (!somebody) GTEST_SKIP() << "this test needs a second user: it has to run as root";
    const std::string id = reserve(kNoon, kTwo, "1:ncpus=1");
    const std::vector<std::string> submit{"qsub", "-q", queue_of(id), "--", "/bin/true"};
    EXPECT_NE(server.command_as(*somebody, submit).exit, 0);
    EXPECT_EQ(as_runner({"pbs_ralter", "-U", "+" + somebody->name, id}).exit, 0);
    EXPECT_THAT(attribute(id, "Authorized_Users"), HasSubstr(somebody->name));
    EXPECT_EQ(server.command_as(*somebody, submit).exit, 0);
    EXPECT_EQ(as_runner({"pbs_ralter", "-U", "-" + somebody->name, id}).exit, 0);
    EXPECT_NE(server.command_as(*somebody, submit).exit, 0);
}

TEST_F(Reservations, OtherTimesAreAskedOfTheScheduler) {
    const std::string id = reserve(kNoon, kTwo, "1:ncpus=8");
    (void)reserve(at("1500"), at("1600"), "1:ncpus=8");
    const Output longer = as_runner({"pbs_ralter", "-D", "03:00:00", "-I", "20", id});
    EXPECT_EQ(longer.out, "pbs_ralter: " + id + " CONFIRMED\n");
    EXPECT_EQ(attribute(id, "reserve_duration"), "10800");
    const Output too_long = as_runner({"pbs_ralter", "-D", "03:30:00", "-I", "20", id});
    EXPECT_EQ(too_long.out, "pbs_ralter: " + id + " DENIED\n");
    EXPECT_EQ(attribute(id, "reserve_duration"), "10800") << "as it was";
    EXPECT_EQ(attribute(id, "reserve_state"), "RESV_CONFIRMED");
    EXPECT_EQ(as_runner({"pbs_ralter", "-D", "03:30:00", "-W", "force", id}).exit, 159)
        << "it is for operators";
    EXPECT_EQ(server.command({"pbs_ralter", "-N", "x", "-W", "force", id}).exit, 181);
    EXPECT_EQ(server.command({"pbs_ralter", "-D", "03:30:00", "-W", "force", "-I", "20", id}).out,
              "pbs_ralter: " + id + " CONFIRMED\n");
    EXPECT_EQ(attribute(id, "reserve_duration"), "12600") << "into the other one";
    EXPECT_EQ(server.command({"pbs_ralter", "-D", "03:00:00", "-I", "20", id}).out,
              "pbs_ralter: " + id + " CONFIRMED\n");
    EXPECT_EQ(as_runner({"pbs_ralter", "-N", "other", id}).out,
              "pbs_ralter: " + id + of_host(" CONFIRMED\n", " ALTER REQUESTED\n"));
    if (on_openpbs()) (void)wait_attribute(id, "Reserve_Name", "other");
    EXPECT_EQ(attribute(id, "Reserve_Name"), "other");
}

TEST_F(Reservations, AreGivenOtherVnodesForThoseThatGoDown) {
    NEEDS(injected_clock);  // OpenPBS's server looks for other vnodes only after ten minutes
    ASSERT_TRUE(server.configure({"create node n2 resources_available.ncpus=8"}));
    const std::string id = reserve(kNoon, kTwo, "1:ncpus=8");
    const std::string nodes = attribute(id, "resv_nodes");
    const std::string first = nodes.substr(1, nodes.find(':') - 1);
    ASSERT_EQ(server.command({"pbsnodes", "-o", first}).exit, 0);
    ASSERT_TRUE(wait_for([&] { return attribute(id, "resv_nodes") != nodes; }));
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_CONFIRMED"));
    // Take the last other vnode away from the reservation, too.
    const std::string others = attribute(id, "resv_nodes");
    ASSERT_EQ(server.command({"pbsnodes", "-o", others.substr(1, others.find(':') - 1)}).exit, 0);
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_DEGRADED"));
    ASSERT_TRUE(wait_for([&] { return attribute(id, "reserve_retry") != "(none)"; }));
    EXPECT_EQ(attribute(id, "resv_nodes"), others) << "it keeps what it had";
    ASSERT_EQ(server.command({"pbsnodes", "-r", others.substr(1, others.find(':') - 1)}).exit, 0);
    EXPECT_TRUE(wait_attribute(id, "reserve_state", "RESV_CONFIRMED"));
}

TEST_F(Reservations, AreMadeFromRunningJobs) {
    const std::string job = server.submit("sleep 600\n", {"-q", "submit", "-l", "ncpus=5,walltime=4:00:00"});
    ASSERT_TRUE(server.wait_job_state(job, "R"));
    if (const auto somebody = other()) {
        EXPECT_EQ(server.command_as(*somebody, {"pbs_rsub", "--job", job}).exit, 159);
    }
    const Output made = as_runner({"pbs_rsub", "-N", "of_job", "--job", job});
    EXPECT_THAT(made.out, HasSubstr(" CONFIRMED\n"));
    const std::string id = made.out.substr(0, made.out.find(' '));
    EXPECT_EQ(attribute(id, "reserve_state"), "RESV_RUNNING");
    EXPECT_EQ(attribute(id, "reserve_duration"), "14400");
    EXPECT_EQ(server.job(job, "queue"), queue_of(id));
    EXPECT_EQ(server.job(job, "reserve_ID"), of_host(id, std::string("(none)")));
    EXPECT_EQ(as_runner({"pbs_rsub", "--job", job}).exit, 77) << "it is in a reservation already";
    // When the job ends, its CPUs go to another job in its reservation, and not to a job outside it.
    const std::string next = server.submit("sleep 600\n", {"-q", queue_of(id), "-l", "ncpus=5"});
    const std::string outside = server.submit("sleep 600\n", {"-q", "submit", "-l", "ncpus=5"});
    server.kill9();
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.wait_job_state(job, "R"));
    ASSERT_EQ(server.command({"qdel", job}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(next, "R"));
    EXPECT_EQ(server.job(outside, "job_state"), "Q");
    EXPECT_EQ(as_runner({"pbs_rsub", "--job", outside}).exit, 168) << "it doesn't run";
    EXPECT_EQ(as_runner({"pbs_rsub", "--job"}).exit, 2);
    EXPECT_EQ(as_runner({"pbs_rsub", "-R", kNoon, "--job", next}).exit, 2);
}

// A reservation is requested for a waiting job. The job moves into it, and it begins as soon as there is
// room.
TEST_F(Reservations, BeginAsSoonAsPossibleForJobsThatWait) {
    NEEDS(injected_clock);
    const std::string runs = server.submit("sleep 600\n", {"-q", "submit", "-l", "ncpus=8,walltime=2:00:00"});
    ASSERT_TRUE(server.wait_job_state(runs, "R"));
    const std::string waits =
        server.submit("sleep 600\n", {"-q", "submit", "-l", "ncpus=5,walltime=1:00:00"});
    EXPECT_EQ(as_runner({"pbs_rsub", "-W", "qmove=" + runs}).exit, 2) << "it runs";
    EXPECT_EQ(as_runner({"pbs_rsub", "-R", kNoon, "-W", "qmove=" + waits}).exit, 2);
    EXPECT_EQ(as_runner({"pbs_rsub", "-I", "5", "-W", "qmove=" + waits}).exit, 2);
    if (const auto somebody = other()) {
        EXPECT_EQ(server.command_as(*somebody, {"pbs_rsub", "-W", "qmove=" + waits}).exit, 159);
    }
    EXPECT_EQ(server.job(waits, "queue"), "submit") << "a refused request leaves it where it was";
    const Output made = as_runner({"pbs_rsub", "-I", "-20", "-W", "qmove=" + waits});
    EXPECT_THAT(made.out, HasSubstr(" CONFIRMED\n"));
    const std::string id = made.out.substr(0, made.out.find(' '));
    EXPECT_EQ(attribute(id, "reserve_state"), "RESV_CONFIRMED");
    EXPECT_THAT(attribute(id, "reserve_start"), StartsWith("Mon Nov 23 12:00:")) << "when the other one ends";
    EXPECT_EQ(attribute(id, "reserve_duration"), "3600");
    EXPECT_EQ(attribute(id, "delete_idle_time"), "00:10:00");
    EXPECT_THAT(attribute(id, "resv_nodes"), HasSubstr("ncpus=5"));
    EXPECT_EQ(server.job(waits, "queue"), queue_of(id));
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.job(waits, "queue"), queue_of(id));
    EXPECT_EQ(server.job(waits, "job_state"), "Q");
    ASSERT_EQ(server.command({"qdel", runs}).exit, 0);
    server.set_clock(kMonday10 + 2 * kHour);
    EXPECT_TRUE(server.wait_job_state(waits, "R"));
    // A reservation without jobs is deleted after ten minutes.
    ASSERT_EQ(server.command({"qdel", waits}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(waits, "F"));
    EXPECT_EQ(attribute(id, "reserve_state"), "RESV_RUNNING");
    server.set_clock(kMonday10 + 2 * kHour + 700);
    EXPECT_TRUE(wait_attribute(id, "reserve_state", "(gone)"));
    EXPECT_THAT(server.log(), HasSubstr("Deleting reservation after being idle for 00:10:00"));
}

TEST_F(Reservations, AreDeniedForJobsThatNeverFit) {
    const std::string job = server.submit("sleep 600\n", {"-q", "submit", "-h", "-l", "ncpus=9"});
    const Output made = as_runner({"pbs_rsub", "-I", "-20", "-W", "qmove=" + job});
    EXPECT_THAT(made.out, HasSubstr(" DENIED\n"));
    EXPECT_EQ(as_runner({"pbs_rstat"}).out, "");
}

TEST_F(Reservations, JobsMayAskForOneOfTheirOwn) {
    const std::string job = server.submit(
        "sleep 600\n", {"-q", "submit", "-l", "ncpus=5,walltime=4:00:00", "-W", "create_resv_from_job=true"});
    ASSERT_TRUE(server.wait_job_state(job, "R"));
    const std::string id = server.job(job, "reserve_ID");
    EXPECT_EQ(attribute(id, "reserve_state"), "RESV_RUNNING");
    EXPECT_EQ(attribute(id, "reserve_duration"), "14400");
    EXPECT_EQ(attribute(id, "reserve_job"), job);
    EXPECT_EQ(server.job(job, "queue"), queue_of(id));
    ASSERT_TRUE(server.configure({"set server resv_enable=False"}));
    const std::string other = server.submit(
        "sleep 600\n", {"-q", "submit", "-l", "ncpus=1,walltime=1:00:00", "-W", "create_resv_from_job=true"});
    ASSERT_TRUE(server.wait_job_state(other, "R"));
    EXPECT_NE(server.job(other, "queue").front(), 'R');
    EXPECT_THAT(server.log(), HasSubstr("No reservation is made from it: reservations disallowed"));
}

TEST_F(Reservations, GiveChunksBack) {
    NEEDS(injected_clock);
    for (const char* name : {"v1", "v2"})
        ASSERT_TRUE(server.configure({std::string("create node ") + name + " resources_available.ncpus=4"}));
    const std::string id = reserve(kNoon, kTwo, "2:ncpus=4+2:ncpus=1");
    const auto alter = [&](const std::vector<std::string>& options) {
        std::vector<std::string> argv{"pbs_ralter"};
        argv.insert(argv.end(), options.begin(), options.end());
        argv.push_back(id);
        return as_runner(argv);
    };
    for (const char* more :
         {"3:ncpus=4", "2:ncpus=4+2:ncpus=2", "1:ncpus=1+1:ncpus=4", "2:ncpus=4+2:ncpus=1:mem=1gb"})
        EXPECT_EQ(alter({"-l", std::string("select=") + more}).exit, 79) << more;
    EXPECT_EQ(alter({"-l", "select=2:ncpus=4+1:ncpus=1"}).out, "pbs_ralter: " + id + " CONFIRMED\n");
    EXPECT_EQ(attribute(id, "Resource_List.ncpus"), "9");
    EXPECT_EQ(attribute(id, "Resource_List.nodect"), "3");
    // A change of both the times and the vnodes is either accepted or refused as a whole.
    EXPECT_EQ(alter({"-l", "select=2:ncpus=4", "-R", at("1300"), "-E", at("1500"), "-I", "20"}).out,
              "pbs_ralter: " + id + " CONFIRMED\n");
    EXPECT_EQ(attribute(id, "Resource_List.select"), "2:ncpus=4");
    EXPECT_EQ(attribute(id, "Resource_List.ncpus"), "8");
    EXPECT_EQ(attribute(id, "reserve_start"), "Mon Nov 23 13:00:00 2026");
    // While the reservation runs, it can't give up chunks in which jobs run.
    const std::string queue = queue_of(id);
    const std::string first = server.submit("sleep 600\n", {"-q", queue, "-l", "ncpus=4"});
    const std::string second = server.submit("sleep 600\n", {"-q", queue, "-l", "ncpus=4"});
    server.set_clock(kMonday10 + 3 * kHour);
    ASSERT_TRUE(server.wait_job_state(second, "R"));
    EXPECT_EQ(alter({"-l", "select=1:ncpus=4"}).exit, 74);
    ASSERT_EQ(server.command({"qdel", first}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(first, "F"));
    EXPECT_EQ(alter({"-l", "select=1:ncpus=4"}).out, "pbs_ralter: " + id + " CONFIRMED\n");
    EXPECT_EQ(attribute(id, "resv_nodes"), server.job(second, "exec_vnode"));
    EXPECT_NE(server.command_as(runner(), {"qsub", "-q", queue, "-l", "ncpus=5", "--", "/bin/true"}).exit, 0);
}

TEST_F(Reservations, StandingOnesComeAgain) {
    NEEDS(injected_clock);
    const Output made =
        standing("FREQ=DAILY;COUNT=4", {"-l", "select=1:ncpus=6", "-I", "20", "-N", "course"});
    EXPECT_THAT(made.out, ContainsRegex("^S[0-9]+\\.[^ ]+ CONFIRMED\n$")) << made;
    const std::string id = made.out.substr(0, made.out.find(' '));
    const std::string queue = queue_of(id);
    EXPECT_THAT(as_runner({"pbs_rstat"}).out, ContainsRegex(queue + ".*" + queue + " .* CO .*/ 7200 / "));
    EXPECT_EQ(as_runner({"pbs_rstat", "-B"}).out, "Resv ID: " + id + "\n");
    EXPECT_EQ(attribute(id, "reserve_index"), "1");
    EXPECT_EQ(attribute(id, "reserve_count"), "4");
    EXPECT_EQ(attribute(id, "reserve_rrule"), "FREQ=DAILY;COUNT=4");
    EXPECT_EQ(as_runner({"pbs_rstat", "-f", "R" + queue.substr(1)}).exit, 236) << "it is none of that letter";

    const std::string inside = server.submit("sleep 6000\n", {"-q", queue, "-l", "ncpus=6"});
    const std::string next = server.submit("sleep 6000\n", {"-q", queue, "-l", "ncpus=6"});
    EXPECT_EQ(server.job(inside, "reserve_ID"), id);
    server.set_clock(kMonday10 + 2 * kHour);
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_RUNNING"));
    ASSERT_TRUE(server.wait_job_state(inside, "R"));
    EXPECT_EQ(server.job(next, "job_state"), "Q");

    // At the end of an occurrence, the server deletes its running job. The waiting job stays for the next
    // occurrence.
    server.set_clock(kMonday10 + 4 * kHour);
    ASSERT_TRUE(wait_attribute(id, "reserve_index", "2"));
    EXPECT_EQ(attribute(id, "reserve_state"), "RESV_CONFIRMED");
    EXPECT_EQ(attribute(id, "reserve_start"), "Tue Nov 24 12:00:00 2026");
    EXPECT_EQ(attribute(id, "reserve_end"), "Tue Nov 24 14:00:00 2026");
    EXPECT_TRUE(server.wait_job_state(inside, "F"));
    EXPECT_EQ(server.job(next, "job_state"), "Q");
    // A job that would still run at the start of the second occurrence waits. A job that ends before this
    // start runs.
    server.set_clock(kMonday10 + 24 * kHour);
    const std::string into_it =
        server.submit("sleep 6000\n", {"-q", "submit", "-l", "ncpus=4,walltime=3:00:00"});
    const std::string until_then =
        server.submit("sleep 6000\n", {"-q", "submit", "-l", "ncpus=4,walltime=1:30:00"});
    ASSERT_TRUE(server.wait_job_state(until_then, "R"));
    EXPECT_EQ(server.job(into_it, "job_state"), "Q");
    EXPECT_EQ(server.command({"qdel", until_then}).exit, 0);

    // The reservation and the waiting jobs are the same after a restart.
    const std::string before = as_runner({"pbs_rstat", "-f", id}).out;
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(as_runner({"pbs_rstat", "-f", id}).out, before);
    EXPECT_EQ(server.job(into_it, "job_state"), "Q");
    EXPECT_EQ(server.command({"qdel", into_it}).exit, 0);
    server.set_clock(kMonday10 + 26 * kHour);
    ASSERT_TRUE(server.wait_job_state(next, "R"));
    // Wait until the job has a session. If the server were killed while it starts the job, the job would have
    // to wait for the next occurrence.
    ASSERT_TRUE(wait_for([&] { return server.job(next, "session_id") != "(none)"; }));
    server.kill9();
    server.set_clock(kMonday10 + 29 * kHour);
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(wait_attribute(id, "reserve_index", "3"));
    EXPECT_TRUE(server.wait_job_state(next, "F"));
    // No server runs during the third occurrence. When the server starts again, the fourth and last
    // occurrence is running.
    server.kill9();
    server.set_clock(kMonday10 + 74 * kHour);
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(wait_attribute(id, "reserve_index", "4"));
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_RUNNING"));
    EXPECT_THAT(server.log(), HasSubstr("Reservation occurrence 3/4 was skipped"));
    const std::string last = server.submit("sleep 6000\n", {"-q", queue, "-l", "ncpus=6"});
    ASSERT_TRUE(server.wait_job_state(last, "R"));
    server.set_clock(kMonday10 + 76 * kHour);
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "(gone)"));
    EXPECT_TRUE(server.wait_job_state(last, "F"));
    EXPECT_NE(as_runner({"qstat", "-Q", queue}).exit, 0) << "its queue has gone";
    const std::string records = server.accounting();
    EXPECT_THAT(records, ContainsRegex(";U;" + id +
                                       ";requestor=[^ ]* Interactive=20 "
                                       "recurrence_rrule=FREQ=DAILY;COUNT=4 timezone=UTC"));
    EXPECT_THAT(records, ContainsRegex(";Y;" + id + ";requestor=.* nodes=[^ ]* count=4"));
    for (const char* begun : {"1", "2", "4"}) {
        EXPECT_THAT(records, ContainsRegex(";B;" + id + ";.* index=" + begun + " count=4"));
        EXPECT_THAT(records, ContainsRegex(";F;" + id + ";.* index=" + begun + " count=4"));
    }
    EXPECT_THAT(records, Not(ContainsRegex(";[BF];" + id + ";.* index=3 count=4")));
}

TEST_F(Reservations, StandingOnesFollowTheClockOnTheWall) {
    NEEDS(injected_clock);
    // The reservation begins at 8:00 in Berlin, where clocks go forward on 2027-03-28.
    const Output made = as_runner({"pbs_rsub", "-R", "202703270800", "-D", "24:00:00", "-r",
                                   "FREQ=DAILY;COUNT=3", "-l", "select=1:ncpus=1", "-I", "20"},
                                  {.environment = {{"PBS_TZID", "Europe/Berlin"}}});
    ASSERT_THAT(made.out, HasSubstr(" CONFIRMED\n")) << made;
    const std::string id = made.out.substr(0, made.out.find(' '));
    EXPECT_EQ(attribute(id, "reserve_end"), "Sun Mar 28 07:00:00 2027") << "the day has 23 hours";
    server.set_clock(1806217200 + 1);
    ASSERT_TRUE(wait_attribute(id, "reserve_index", "2"));
    EXPECT_EQ(attribute(id, "reserve_start"), "Sun Mar 28 07:00:00 2027");
    EXPECT_EQ(attribute(id, "reserve_end"), "Mon Mar 29 07:00:00 2027");
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_RUNNING"));
}

TEST_F(Reservations, StandingOnesAreDeniedIfAnOccurrenceIsInTheWay) {
    NEEDS(injected_clock);
    (void)reserve("202611251300", "202611251500", "1:ncpus=4");
    const Output denied = standing("FREQ=DAILY;COUNT=3", {"-l", "select=1:ncpus=5", "-I", "20"});
    EXPECT_THAT(denied.out, ContainsRegex("^S[0-9]+\\.[^ ]* DENIED\n$"));
    EXPECT_THAT(server.log(), HasSubstr("(occurrence 3 of the 3 that are asked for)"));
    EXPECT_THAT(standing("FREQ=DAILY;COUNT=2", {"-l", "select=1:ncpus=5", "-I", "20"}).out,
                HasSubstr(" CONFIRMED\n"));
    // A reservation that is requested later doesn't get the vnodes of an occurrence.
    EXPECT_THAT(
        as_runner({"pbs_rsub", "-R", "202611241300", "-D", "60", "-l", "select=1:ncpus=4", "-I", "20"}).out,
        HasSubstr(" DENIED\n"));
    // A rule with a single occurrence makes an advance reservation.
    EXPECT_THAT(standing("FREQ=DAILY;COUNT=1", {"-l", "select=1:ncpus=1", "-I", "20"}).out, StartsWith("R"));
}

TEST_F(Reservations, StandingOnesAreAlteredAndDeleted) {
    NEEDS(injected_clock);
    const Output made = standing("FREQ=DAILY;COUNT=3", {"-l", "select=1:ncpus=4", "-I", "20"});
    const std::string id = made.out.substr(0, made.out.find(' '));
    EXPECT_EQ(as_runner({"pbs_ralter", "-D", "03:00:00", "-I", "20", id}).out,
              "pbs_ralter: " + id + " CONFIRMED\n");
    EXPECT_EQ(attribute(id, "reserve_duration"), "10800");
    EXPECT_EQ(as_runner({"pbs_ralter", "-D", "25:00:00", "-I", "20", id}).exit, 75);
    server.set_clock(kMonday10 + 4 * kHour);
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_RUNNING"));
    const std::string running = server.submit("sleep 6000\n", {"-q", queue_of(id), "-l", "ncpus=4"});
    ASSERT_TRUE(server.wait_job_state(running, "R"));
    server.set_clock(kMonday10 + 5 * kHour);
    ASSERT_TRUE(wait_attribute(id, "reserve_index", "2"));
    EXPECT_EQ(attribute(id, "reserve_duration"), "7200") << "as the rule has it";
    EXPECT_EQ(attribute(id, "Resource_List.walltime"), "02:00:00");
    const std::string waiting = server.submit("sleep 6000\n", {"-q", queue_of(id)});
    EXPECT_EQ(as_runner({"pbs_rdel", id}).exit, 0);
    EXPECT_TRUE(wait_attribute(id, "reserve_state", "(gone)"));
    EXPECT_TRUE(server.wait_job_state(waiting, "F"));
    EXPECT_THAT(server.accounting(), HasSubstr(";k;" + id + ";requestor="));
    (void)reserve("202611241200", "202611241400", "1:ncpus=8");
}

TEST_F(Reservations, StandingOnesAreGivenOtherVnodesForLaterOccurrences) {
    NEEDS(injected_clock);
    const Output made = standing("FREQ=DAILY;COUNT=3", {"-l", "select=1:ncpus=8", "-I", "20"});
    const std::string id = made.out.substr(0, made.out.find(' '));
    ASSERT_TRUE(server.configure({"create node other resources_available.ncpus=8"}));
    const std::string nodes = attribute(id, "resv_nodes");
    server.set_clock(kMonday10 + 2 * kHour);
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_RUNNING"));
    const std::string job = server.submit("sleep 6000\n", {"-q", queue_of(id)});
    ASSERT_TRUE(server.wait_job_state(job, "R"));
    ASSERT_EQ(server.command({"pbsnodes", "-o", nodes.substr(1, nodes.find(':') - 1)}).exit, 0);
    ASSERT_TRUE(wait_attribute(id, "reserve_substate", "10"));
    // Counts the lines "Reservation confirmed" in the log: one for the request, and one for each later
    // confirmation.
    const auto confirmations = [&] {
        const std::string log = server.log();
        int count = 0;
        for (size_t at = log.find(id + ";Reservation confirmed"); at != std::string::npos;
             at = log.find(id + ";Reservation confirmed", at + 1))
            ++count;
        return count;
    };
    ASSERT_TRUE(wait_for([&] { return confirmations() == 2; }));
    EXPECT_EQ(attribute(id, "resv_nodes"), nodes) << "it goes on where it is";
    server.kill9();
    ASSERT_TRUE(server.start());
    server.set_clock(kMonday10 + 4 * kHour);
    ASSERT_TRUE(wait_attribute(id, "reserve_index", "2"));
    EXPECT_THAT(attribute(id, "resv_nodes"), StartsWith("(other:"));
    EXPECT_EQ(attribute(id, "reserve_state"), "RESV_CONFIRMED");
    // With `other` offline, no vnode is left for the reservation until `other` is back.
    ASSERT_EQ(server.command({"pbsnodes", "-o", "other"}).exit, 0);
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_DEGRADED"));
    ASSERT_TRUE(wait_for([&] { return attribute(id, "reserve_retry") != "(none)"; }));
    ASSERT_EQ(server.command({"pbsnodes", "-r", "other"}).exit, 0);
    EXPECT_TRUE(wait_attribute(id, "reserve_state", "RESV_CONFIRMED"));
    EXPECT_TRUE(wait_attribute(id, "reserve_substate", "2"));
}

TEST_F(Reservations, ARunningReservationWithoutJobsGetsOtherVnodes) {
    NEEDS(injected_clock);
    ASSERT_TRUE(server.configure({"create node other resources_available.ncpus=8"}));
    const std::string id = reserve(kNoon, kTwo, "1:ncpus=8");
    const std::string nodes = attribute(id, "resv_nodes");
    server.set_clock(kMonday10 + 2 * kHour);
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_RUNNING"));
    ASSERT_EQ(server.command({"pbsnodes", "-o", nodes.substr(1, nodes.find(':') - 1)}).exit, 0);
    ASSERT_TRUE(wait_for([&] { return attribute(id, "resv_nodes") != nodes; }));
    EXPECT_EQ(attribute(id, "reserve_state"), "RESV_RUNNING");
    EXPECT_TRUE(wait_attribute(id, "reserve_substate", "5"));
    // A reservation in which a job runs keeps its vnodes, even if they go offline.
    ASSERT_EQ(server.command({"pbsnodes", "-r", nodes.substr(1, nodes.find(':') - 1)}).exit, 0);
    const std::string now = attribute(id, "resv_nodes");
    const std::string job = server.submit("sleep 6000\n", {"-q", queue_of(id)});
    ASSERT_TRUE(server.wait_job_state(job, "R"));
    ASSERT_EQ(server.command({"pbsnodes", "-o", now.substr(1, now.find(':') - 1)}).exit, 0);
    ASSERT_TRUE(wait_attribute(id, "reserve_substate", "10"));
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(attribute(id, "resv_nodes"), now);
    EXPECT_EQ(attribute(id, "reserve_state"), "RESV_RUNNING");
    EXPECT_TRUE(server.wait_job_state(job, "R"));
}

TEST_F(Reservations, WholeHostsAreForTheirMaintenance) {
    NEEDS(injected_clock);
    ASSERT_TRUE(server.configure({"create node v1 resources_available.ncpus=8,resources_available.host=far",
                                  "set server acl_roots=root"}));
    const std::string id = reserve(kNoon, kTwo, "1:host=far:ncpus=2");
    const std::string later = reserve(at("1500"), at("1600"), "1:host=far:ncpus=2");
    const std::string beside = reserve(kNoon, kTwo, "1:ncpus=2:host=" + host_of_first());
    const std::vector<std::string> ask{"pbs_rsub", "-R", kNoon, "-E", kTwo, "--hosts", "far"};
    EXPECT_EQ(as_runner(ask).exit, 159) << "it is for operators";
    const Output made = server.command(ask);
    EXPECT_THAT(made.out, ContainsRegex("^M[0-9]+\\.[^ ]+ CONFIRMED\n$")) << made;
    const std::string own = made.out.substr(0, made.out.find(' '));
    EXPECT_EQ(attribute_in(server.command({"pbs_rstat", "-f", own}).out, "reserve_state"), "RESV_CONFIRMED");
    EXPECT_EQ(attribute_in(server.command({"pbs_rstat", "-f", own}).out, "resv_nodes"), "(v1:ncpus=8)");
    // The reservation that has lost its vnodes is degraded, and finds no others.
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_DEGRADED"));
    EXPECT_EQ(attribute(id, "reserve_substate"), "12");
    EXPECT_EQ(attribute(id, "resv_nodes"), "(none)");
    EXPECT_EQ(attribute(later, "reserve_state"), "RESV_CONFIRMED");
    EXPECT_EQ(attribute(beside, "reserve_state"), "RESV_CONFIRMED");
    EXPECT_THAT(
        as_runner({"pbs_rsub", "-R", kNoon, "-D", "60", "-l", "select=1:host=far:ncpus=1", "-I", "20"}).out,
        HasSubstr(" DENIED\n"));
    EXPECT_THAT(server.accounting(), ContainsRegex(";Y;" + own + ";requestor=[^ ]*@[^ ]* start="));
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(attribute(id, "reserve_state"), "RESV_DEGRADED");
    // Once the reservation `own` is deleted, the scheduler finds the vnodes for the degraded one at its next
    // try.
    EXPECT_EQ(server.command({"pbs_rdel", own}).exit, 0);
    server.set_clock(kMonday10 + 700);
    EXPECT_TRUE(wait_attribute(id, "reserve_state", "RESV_CONFIRMED"));
    EXPECT_THAT(attribute(id, "resv_nodes"), StartsWith("(v1:ncpus=2"));
    const auto wrong = [&](std::vector<std::string> argv, const std::string& why, int status) {
        argv.insert(argv.begin(), {"pbs_rsub", "-R", kNoon, "-E", kTwo});
        const Output output = server.command(argv);
        EXPECT_EQ(output.exit, status) << output;
        EXPECT_THAT(output.err, HasSubstr(why));
    };
    wrong({"--hosts"}, "--hosts: expected the names of hosts", 2);
    wrong({"--hosts", "far", "far"}, "far is given twice", 2);
    wrong({"--hosts", "nowhere"}, "Host with resources not found: nowhere", 2);
    wrong({"-I", "5", "--hosts", "far"}, "-I can't be used with it", 2);
    wrong({"-l", "select=1", "--hosts", "far"}, "-l select can't be used with it", 2);
}

// The server refuses recurrence rules without an end or with too many occurrences, as they could keep it
// busy.
TEST_F(Reservations, RulesOfStandingOnesAreBounded) {
    NEEDS(injected_clock);
    const auto wrong = [&](const std::string& rule, const std::string& why, int status) {
        const Output output = standing(rule, {"-l", "select=1:ncpus=1"});
        EXPECT_EQ(output.exit, status) << output;
        EXPECT_THAT(output.err, HasSubstr(why));
    };
    wrong("FREQ=DAILY;COUNT=367", "too many occurrences: expected at most 366", 29);
    wrong("FREQ=HOURLY;UNTIL=99991231T235959Z", "too many occurrences: expected at most 366", 29);
    wrong("FREQ=DAILY;COUNT=1000000", "is not a number from 1 to 100000", 29);
    wrong("FREQ=SECONDLY;COUNT=2", "FREQ=SECONDLY is too frequent", 29);
    wrong("FREQ=DAILY", "has no end: expected COUNT or UNTIL", 30);
    wrong("every day", "is not a rule such as", 29);
    wrong("FREQ=DAILY;UNTIL=20261122", "doesn't occur from 20261123T120000 on", 238);
    wrong("FREQ=HOURLY;COUNT=2", "HOURLY rule lasts an hour at most", 26);
    wrong("FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=12,13;COUNT=4", "longer than until the next one", 238);
    const Output no_zone = as_runner({"pbs_rsub", "-R", kNoon, "-D", "60", "-r", "FREQ=DAILY;COUNT=2"},
                                     {.environment = {{"PBS_TZID", "Mars/Olympus"}}});
    EXPECT_EQ(no_zone.exit, 31);
    EXPECT_THAT(no_zone.err, HasSubstr("'Mars/Olympus' is not a time zone"));
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(standing("FREQ=DAILY;COUNT=366", {"-l", "select=1:ncpus=1"}).exit, 0);
    const Output too_many = standing("FREQ=DAILY;COUNT=366", {"-l", "select=1:ncpus=1"});
    EXPECT_EQ(too_many.exit, 246) << too_many;
    EXPECT_THAT(too_many.err, HasSubstr("would have 1098 occurrences: expected at most 1000"));
}

TEST_F(Reservations, ManagersSayWhoMayMakeThem) {
    const std::vector<std::string> ask{"pbs_rsub", "-R", kNoon, "-E", kTwo, "-l", "select=1:ncpus=1"};
    ASSERT_TRUE(server.configure({"set server resv_enable=False"}));
    EXPECT_THAT(as_runner(ask).err, HasSubstr("reservations disallowed"));
    ASSERT_TRUE(server.configure({"set server resv_enable=True", "set server acl_resv_user_enable=True",
                                  "set server acl_resv_users=nobody@nowhere"}));
    EXPECT_NE(as_runner(ask).exit, 0);
    ASSERT_TRUE(server.configure({"set server acl_resv_users+=" + runner().name + "@*"}));
    EXPECT_EQ(as_runner(ask).exit, 0);
}

TEST_F(Reservations, WrongInputIsRefusedWithOneLine) {
    const auto wrong = [&](const std::vector<std::string>& argv, const std::string& why, int status) {
        const Output output = as_runner(argv);
        EXPECT_EQ(output.exit, status) << output;
        EXPECT_THAT(output.err, HasSubstr(why));
        EXPECT_EQ(output.out, "");
    };
    wrong({"pbs_rsub", "-D", "1:00:00"}, "Bad time specification", 238);
    wrong({"pbs_rsub", "-R", kNoon}, "Bad time specification", 238);
    wrong({"pbs_rsub", "-R", kTwo, "-E", kNoon}, "Bad time specification", 238);
    wrong({"pbs_rsub", "-R", of_host("202611230900", "202001010900"), "-D", "60"},
          of_host("in the past", "Bad time specification"), 238);
    wrong({"pbs_rsub", "-R", kNoon, "-D", "0"}, "Bad time specification", 238);
    wrong({"pbs_rsub", "-R", "noon", "-D", "60"}, "illegal -R time value", 2);
    wrong({"pbs_rsub", "-R", kNoon, "-D", "60", "extra"}, "unexpected argument extra", 2);
    wrong({"pbs_rsub", "-R", kNoon, "-D", "60", "-l", "select=1:nothing=1"}, "nothing", 187);
    wrong({"pbs_rsub", "-R", kNoon, "-D", "60", "-r", "FREQ=DAILY;COUNT=2"}, "set PBS_TZID", 2);
    wrong({"pbs_rsub"}, "usage", 2);
    wrong({"pbs_rdel", "R999"}, "Unknown Reservation Id R999", 236);
    wrong({"pbs_rdel", "12"}, "illegally formed reservation identifier: 12", 1);
    wrong({"pbs_rdel"}, "usage", 2);
    wrong({"pbs_rstat", "R999"}, "Unknown Reservation Id", 236);
    wrong({"pbs_ralter", "R999", "-N", "x"}, "Unknown Reservation Id R999", 236);
    wrong({"pbs_ralter", "R999"}, "nothing is to be changed", 2);
    EXPECT_EQ(as_runner({"pbs_rstat"}).out, "");
}

}  // namespace
}  // namespace pbs::e2e
