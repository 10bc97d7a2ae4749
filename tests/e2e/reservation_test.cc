// Advance reservations from their request to their end, by the commands and over crashes of the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int64_t kHour = 3600;
// The server's day.
constexpr const char* kNoon = "202611231200";
constexpr const char* kTwo = "202611231400";

class Reservations : public OriginServer {
  protected:
    Output as_runner(const std::vector<std::string>& argv) const { return server.command_as(runner(), argv); }
    // Its identifier, once the scheduler has said yes.
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
    static std::string queue_of(const std::string& id) { return id.substr(0, id.find('.')); }
};

TEST_F(Reservations, GoFromTheirRequestToTheirEnd) {
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

    // Who runs into it waits; who ends before it, or fits beside it, doesn't.
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
    for (const char* type : {"U", "Y", "B", "F"})
        EXPECT_THAT(server.accounting(), HasSubstr(std::string(";") + type + ";" + id + ";")) << type;
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
    (void)reserve(kTwo, "202611231500", "1:ncpus=8");
    EXPECT_THAT(server.log(), HasSubstr("Reservation denied"));
}

TEST_F(Reservations, WithoutASchedulerTheyStayUnconfirmedUntilTheirEnd) {
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

TEST_F(Reservations, OutliveTheServer) {
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
    // Its start comes while no server runs.
    server.kill9();
    server.set_clock(kMonday10 + 2 * kHour);
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_RUNNING"));
    ASSERT_TRUE(server.command({"qdel", ends}).exit == 0);
    ASSERT_TRUE(server.wait_job_state(inside, "R"));
    // And its end.
    server.kill9();
    server.set_clock(kMonday10 + 5 * kHour);
    ASSERT_TRUE(server.start());
    EXPECT_TRUE(wait_attribute(id, "reserve_state", "(gone)"));
    EXPECT_TRUE(server.wait_job_state(inside, "F"));
    EXPECT_TRUE(server.wait_job_state(into_it, "R"));
}

TEST_F(Reservations, AreDeletedByTheirOwnersAndManagers) {
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

TEST_F(Reservations, OthersOfTheListMayUseThem) {
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
    (void)reserve("202611231500", "202611231600", "1:ncpus=8");
    const Output longer = as_runner({"pbs_ralter", "-D", "03:00:00", "-I", "20", id});
    EXPECT_EQ(longer.out, "pbs_ralter: " + id + " CONFIRMED\n");
    EXPECT_EQ(attribute(id, "reserve_duration"), "10800");
    const Output too_long = as_runner({"pbs_ralter", "-D", "03:30:00", "-I", "20", id});
    EXPECT_EQ(too_long.out, "pbs_ralter: " + id + " DENIED\n");
    EXPECT_EQ(attribute(id, "reserve_duration"), "10800") << "as it was";
    EXPECT_EQ(attribute(id, "reserve_state"), "RESV_CONFIRMED");
    EXPECT_EQ(as_runner({"pbs_ralter", "-N", "other", id}).out, "pbs_ralter: " + id + " CONFIRMED\n");
    EXPECT_EQ(attribute(id, "Reserve_Name"), "other");
}

TEST_F(Reservations, AreGivenOtherVnodesForThoseThatGoDown) {
    ASSERT_TRUE(server.configure({"create node other resources_available.ncpus=8"}));
    const std::string id = reserve(kNoon, kTwo, "1:ncpus=8");
    const std::string nodes = attribute(id, "resv_nodes");
    const std::string first = nodes.substr(1, nodes.find(':') - 1);
    ASSERT_EQ(server.command({"pbsnodes", "-o", first}).exit, 0);
    ASSERT_TRUE(wait_for([&] { return attribute(id, "resv_nodes") != nodes; }));
    ASSERT_TRUE(wait_attribute(id, "reserve_state", "RESV_CONFIRMED"));
    // And now there is no other one.
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
    EXPECT_EQ(server.job(job, "reserve_ID"), id);
    EXPECT_EQ(as_runner({"pbs_rsub", "--job", job}).exit, 77) << "it is in a reservation already";
    // The job makes room for another one in its reservation, and for nobody else.
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
    wrong({"pbs_rsub", "-R", "202611230900", "-D", "60"}, "in the past", 238);
    wrong({"pbs_rsub", "-R", kNoon, "-D", "0"}, "Bad time specification", 238);
    wrong({"pbs_rsub", "-R", "noon", "-D", "60"}, "illegal -R time value", 2);
    wrong({"pbs_rsub", "-R", kNoon, "-D", "60", "extra"}, "unexpected argument extra", 2);
    wrong({"pbs_rsub", "-R", kNoon, "-D", "60", "-l", "select=1:nothing=1"}, "nothing", 187);
    wrong({"pbs_rsub", "-R", kNoon, "-D", "60", "-r", "FREQ=DAILY;COUNT=2"}, "No support", 181);
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
