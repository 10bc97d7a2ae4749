// Tests pbs_diag: its report of each host, and the archive for people who help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Diag : public OriginServer {
  protected:
    void SetUp() override {
        OriginServer::SetUp();
        ASSERT_TRUE(server.configure({"set node n1 resources_available.ncpus = 1"}));
        ASSERT_TRUE(server.wait_job_state(server.submit("sleep 1000\n", {"-l", "ncpus=1"}), "R"));
        id = server.submit("true\n", {"-l", "ncpus=1"});
        ASSERT_TRUE(wait_for([&] { return server.job(id, "comment") != "(none)"; }));
        archive = (server.work() / "bundle.tar").string();
    }
    std::string text_of(const std::string& file) const {
        return run({"tar", "-xOf", archive, "--wildcards", "pbs_diag/" + file}).out;
    }
    // The name of the job's owner, as it stands in the server's log.
    std::string owner() {
        const std::string whole = server.job(id, "Job_Owner");
        return whole.substr(0, whole.find('@') + 1);
    }
    std::string id;
    std::string archive;
};

TEST_F(Diag, ShowsWhyJobsWait) {
    const Output waiting = server.command({"pbs_diag", "--waiting"});
    EXPECT_EQ(waiting.exit, 0) << waiting.err;
    EXPECT_THAT(waiting.out, AllOf(HasSubstr("WHY JOBS WAIT"), HasSubstr("Not Running: ")));
}

TEST_F(Diag, ABundleHasAllThatTheServerKeeps) {
    const Output made = server.command({"pbs_diag", "--bundle", archive});
    ASSERT_EQ(made.exit, 0) << made.err;
    const std::string files = run({"tar", "-tf", archive}).out;
    for (const char* file : {"report", "versions", "configuration.json", "record.default", "log.", "README"})
        EXPECT_THAT(files, HasSubstr(std::string("pbs_diag/") + file)) << made.err;
    EXPECT_THAT(text_of("report"), HasSubstr("WHY JOBS WAIT"));
    EXPECT_THAT(text_of("log.*"), HasSubstr(owner()));
    const std::string missing = "health: ";
    if (on_openpbs()) {
        EXPECT_THAT(made.err, HasSubstr("not in it: " + missing));
        EXPECT_THAT(text_of("README"), HasSubstr("Not in it: " + missing));
    } else {
        EXPECT_EQ(made.err, "");
        EXPECT_THAT(text_of("report"), AllOf(HasSubstr("HEALTH"), HasSubstr("LAST CYCLES"),
                                             HasSubstr("SLOW REQUESTS"), HasSubstr("WHO ASKS MOST")));
    }
    const Output again = server.command({"pbs_diag", "--bundle", archive});
    EXPECT_EQ(again.exit, 1);
    EXPECT_THAT(again.err, HasSubstr("can't write " + archive + ": File exists"));
}

TEST_F(Diag, AnAnonymousBundleNamesNobody) {
    const Output made = server.command({"pbs_diag", "--bundle", archive, "--anonymous"});
    ASSERT_EQ(made.exit, 0) << made.err;
    EXPECT_THAT(text_of("*"), AllOf(HasSubstr("user"), Not(HasSubstr(owner()))));
    const std::string files = run({"tar", "-tf", archive}).out;
    if (on_openpbs()) {
        EXPECT_THAT(made.err, HasSubstr("not in it: the log: it names all who have sent requests"));
        EXPECT_THAT(files, Not(HasSubstr("/log.")));
    } else {
        EXPECT_THAT(files, HasSubstr("/log."));
    }
}

TEST_F(Diag, APartThatAServerDoesntKeepIsNamed) {
    const Output health = server.command({"pbs_diag", "--health"});
    if (on_openpbs()) {
        EXPECT_THAT(health.err, HasSubstr("pbs_diag: health: No support for requested service"));
        EXPECT_NE(health.exit, 0);
    } else {
        EXPECT_THAT(health.out, HasSubstr("HEALTH"));
        EXPECT_EQ(health.err, "");
    }
}

}  // namespace
}  // namespace pbs::e2e
