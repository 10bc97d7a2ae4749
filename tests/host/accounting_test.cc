#include "server_plugin/host/base/accounting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "server_plugin/host/base/log.h"

namespace pbs::host {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

AccountedJob example() {
    AccountedJob job;
    job.id = "12.host1";
    job.user = "alice";
    job.group = "users";
    job.account = "proj x";
    job.project = "_pbs_project_default";
    job.name = "run";
    job.queue = "batch";
    job.ctime = 100;
    job.qtime = 101;
    job.etime = 102;
    job.start = 103;
    job.exec_host = "host1/0*2";
    job.exec_vnode = "(host1:ncpus=2)";
    job.resource_list = {{"ncpus", "2"}, {"walltime", "00:10:00"}};
    job.resource_assigned = {{"ncpus", "2"}};
    job.session = 4711;
    job.end = 203;
    job.exit_status = 271;
    job.resources_used = {{"cput", "00:00:01"}, {"walltime", "00:01:40"}};
    job.run_count = 1;
    return job;
}

class AccountingTest : public testing::Test {
  protected:
    void SetUp() override {
        top_ = testing::TempDir() + "acct." + std::to_string(::getpid());
        fs::create_directories(top_ + "/acct");
        fs::create_directories(top_ + "/logs");
        std::ofstream(top_ + "/offset") << "0";
        ASSERT_TRUE(clock_.follow(top_ + "/offset"));
    }
    void TearDown() override { fs::remove_all(top_); }
    std::string today() { return "/" + std::to_string(local_time(clock_.now()).day); }
    static std::vector<std::string> lines(const std::string& path) {
        std::ifstream file(path);
        std::vector<std::string> result;
        for (std::string line; std::getline(file, line);) result.push_back(line);
        return result;
    }
    std::vector<std::string> records() { return lines(top_ + "/acct" + today()); }
    std::vector<std::string> log_lines() { return lines(top_ + "/logs" + today()); }
    void shift(const std::string& seconds) {
        std::ofstream(top_ + "/offset") << seconds;
        ::usleep(25'000);
    }

    std::string top_;
    Clock clock_;
};

TEST_F(AccountingTest, WritesRecordsInPbsFormat) {
    Log log(top_ + "/logs", "Server@host1", clock_);
    Accounting accounting(top_ + "/acct", log, clock_);
    auto queued = example();
    queued.start = 0;
    queued.exec_host.clear();
    queued.exec_vnode.clear();
    accounting.queued(queued);
    accounting.started(example());
    accounting.ended(example());
    accounting.deleted("13.host1", "bob@host2");
    accounting.aborted("14.host1", "Job deleted at start");
    const auto written = records();
    ASSERT_EQ(written.size(), 5U);
    const std::string stamp = "[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2};";
    EXPECT_THAT(written[0], testing::MatchesRegex(stamp + "Q;12\\.host1;.*"));
    EXPECT_EQ(
        written[0].substr(19),
        ";Q;12.host1;user=alice group=users account=\"proj x\" project=_pbs_project_default jobname=run "
        "queue=batch ctime=100 qtime=101 etime=102 Resource_List.ncpus=2 Resource_List.walltime=00:10:00");
    EXPECT_EQ(
        written[1].substr(19),
        ";S;12.host1;user=alice group=users account=\"proj x\" project=_pbs_project_default jobname=run "
        "queue=batch ctime=100 qtime=101 etime=102 start=103 exec_host=host1/0*2 exec_vnode=(host1:ncpus=2) "
        "Resource_List.ncpus=2 Resource_List.walltime=00:10:00 resource_assigned.ncpus=2");
    EXPECT_EQ(
        written[2].substr(19),
        ";E;12.host1;user=alice group=users account=\"proj x\" project=_pbs_project_default jobname=run "
        "queue=batch ctime=100 qtime=101 etime=102 start=103 exec_host=host1/0*2 exec_vnode=(host1:ncpus=2) "
        "Resource_List.ncpus=2 Resource_List.walltime=00:10:00 session=4711 end=203 Exit_status=271 "
        "resources_used.cput=00:00:01 resources_used.walltime=00:01:40 run_count=1");
    EXPECT_EQ(written[3].substr(19), ";D;13.host1;requestor=bob@host2");
    EXPECT_EQ(written[4].substr(19), ";A;14.host1;Job deleted at start");
}

TEST_F(AccountingTest, NamesTheReservationOfAJob) {
    Log log(top_ + "/logs", "Server@host1", clock_);
    Accounting accounting(top_ + "/acct", log, clock_);
    AccountedJob job = example();
    job.resv_name = "course";
    job.resv_id = "R11.host1";
    accounting.queued(job);
    accounting.started(job);
    accounting.ended(job);
    const auto written = records();
    ASSERT_EQ(written.size(), 3U);
    for (const std::string& record : written)
        EXPECT_THAT(record, HasSubstr(" queue=batch resvname=course resvID=R11.host1 ctime=100 "));
}

TEST_F(AccountingTest, QuotesValuesWithSpaces) {
    Log log(top_ + "/logs", "Server@host1", clock_);
    Accounting accounting(top_ + "/acct", log, clock_);
    AccountedJob job;
    job.id = "1.h";
    job.project = "two words";
    job.resource_list = {{"a", "no\"space"}, {"b", "it says \"hi\""}, {"c", "line\nbreak"}};
    accounting.queued(job);
    EXPECT_THAT(records(),
                ElementsAre(HasSubstr("project=\"two words\" etime=0 Resource_List.a=no\"space "
                                      "Resource_List.b='it says \"hi\"' Resource_List.c=\"line break\"")));
}

TEST_F(AccountingTest, ChangesTheFileWithTheServersDay) {
    Log log(top_ + "/logs", "Server@host1", clock_);
    Accounting accounting(top_ + "/acct", log, clock_);
    accounting.deleted("1.h", "a@h");
    EXPECT_EQ(records().size(), 1U);
    shift("86400");
    EXPECT_TRUE(records().empty());
    accounting.deleted("2.h", "a@h");
    EXPECT_THAT(records(), ElementsAre(HasSubstr(";D;2.h;")));
}

TEST_F(AccountingTest, KeepsRecordsThatCannotBeWritten) {
    Log log(top_ + "/logs", "Server@host1", clock_);
    Accounting accounting(top_ + "/acct", log, clock_);
    fs::remove(top_ + "/acct");
    for (const auto* id : {"1.h", "2.h", "3.h"}) accounting.deleted(id, "a@h");
    EXPECT_EQ(accounting.pending(), 3U);
    EXPECT_THAT(log_lines(),
                ElementsAre(HasSubstr(";0001;Server@host1;Act;Act;cannot write " + top_ + "/acct")));
    EXPECT_FALSE(accounting.flush());
    fs::create_directory(top_ + "/acct");
    accounting.deleted("4.h", "a@h");
    EXPECT_EQ(accounting.pending(), 0U);
    EXPECT_THAT(records(),
                ElementsAre(HasSubstr(";1.h;"), HasSubstr(";2.h;"), HasSubstr(";3.h;"), HasSubstr(";4.h;")));
    EXPECT_THAT(log_lines().back(), HasSubstr("all records are written again"));
}

TEST_F(AccountingTest, RecordsOfOneMomentAreWrittenTogether) {
    Log log(top_ + "/logs", "Server@host1", clock_);
    Accounting accounting(top_ + "/acct", log, clock_);
    {
        const Accounting::Together together(accounting);
        accounting.deleted("1.h", "a@h");
        shift("86400");
        accounting.deleted("2.h", "a@h");
        EXPECT_EQ(accounting.pending(), 2U);
    }
    EXPECT_EQ(accounting.pending(), 0U);
    EXPECT_THAT(records(), ElementsAre(HasSubstr(";2.h;"))) << "that of the day before has its own file";
    shift("0");
    EXPECT_THAT(records(), ElementsAre(HasSubstr(";1.h;")));
    // Accounting keeps at most about a thousand records in memory; then it writes them.
    const Accounting::Together together(accounting);
    for (int i = 0; i < 5000; ++i) accounting.deleted(std::to_string(i) + ".h", "a@h");
    EXPECT_LT(accounting.pending(), 1001U);
    EXPECT_TRUE(accounting.flush());
    EXPECT_EQ(records().size(), 5001U);
}

TEST_F(AccountingTest, LeavesNoHalfRecordOnAFullDisk) {
    if (::mount("tmpfs", (top_ + "/acct").c_str(), "tmpfs", 0, "size=16k") != 0)
        GTEST_SKIP() << "no right to mount a tmpfs";
    {
        Log log(top_ + "/logs", "Server@host1", clock_);
        Accounting accounting(top_ + "/acct", log, clock_);
        constexpr int kCount = 400;
        for (int i = 0; i < kCount; ++i) accounting.deleted(std::to_string(i) + ".h", "someone@some.host");
        EXPECT_GT(accounting.pending(), 0U);
        const auto before = records();
        EXPECT_EQ(before.size() + accounting.pending(), static_cast<std::size_t>(kCount));
        for (const auto& line : before) EXPECT_TRUE(line.ends_with("requestor=someone@some.host")) << line;
        EXPECT_THAT(log_lines(), ElementsAre(HasSubstr("No space left on device")));
        ASSERT_EQ(::mount("tmpfs", (top_ + "/acct").c_str(), "tmpfs", MS_REMOUNT, "size=1m"), 0);
        EXPECT_TRUE(accounting.flush());
        const auto all = records();
        ASSERT_EQ(all.size(), static_cast<std::size_t>(kCount));
        for (int i = 0; i < kCount; ++i)
            EXPECT_THAT(all[static_cast<std::size_t>(i)], HasSubstr(";D;" + std::to_string(i) + ".h;"));
    }
    EXPECT_EQ(::umount((top_ + "/acct").c_str()), 0);
}

// A power failure may leave only the beginning of a record in the file. The next record begins on a new line.
TEST_F(AccountingTest, ARecordAfterHalfOneIsOnALineOfItsOwn) {
    const std::string half = "11/23/2026 10:00:05;E;12.host1;user=al";
    std::ofstream(top_ + "/acct" + today()) << half;
    Log log(top_ + "/logs", "Server@host1", clock_);
    Accounting accounting(top_ + "/acct", log, clock_);
    accounting.deleted("13.host1", "a@b");
    accounting.deleted("14.host1", "a@b");
    EXPECT_THAT(records(),
                ElementsAre(half, HasSubstr(";D;13.host1;requestor=a@b"), HasSubstr(";D;14.host1;")));
}

TEST_F(AccountingTest, DoesNotRecordTheSameEndAgain) {
    Log log(top_ + "/logs", "Server@host1", clock_);
    {
        Accounting accounting(top_ + "/acct", log, clock_);
        accounting.started(example());
        accounting.ended(example());
    }
    // The server's clock may have been set back since the record was written.
    shift("-864000");
    Accounting accounting(top_ + "/acct", log, clock_);
    accounting.remember_since(clock_.now() + 864000s);
    accounting.ended(example());
    EXPECT_TRUE(records().empty());
    shift("0");
    accounting.ended(example());
    EXPECT_EQ(records().size(), 2U);
    auto again = example();
    again.run_count = 2;
    accounting.ended(again);
    again.id = "13.host1";
    again.run_count = 1;
    accounting.ended(again);
    accounting.rerun(example());
    EXPECT_EQ(records().size(), 5U);
    accounting.rerun(example());
    EXPECT_EQ(records().size(), 5U);
}

TEST_F(AccountingTest, WhatAKilledServerDidNotWriteIsWrittenOnce) {
    Log log(top_ + "/logs", "test", clock_);
    auto second = example();
    second.id = "13.host1";
    {
        Accounting killed(top_ + "/acct", log, clock_);
        killed.queued(example());
        killed.started(second);
    }
    for (int start = 0; start < 2; ++start) {
        Accounting next(top_ + "/acct", log, clock_);
        next.remember_since(next.gap_begin());
        next.queued_if_missing(example());
        next.queued_if_missing(second);
        next.started_if_missing(example());
        next.started_if_missing(second);
        next.forget_beginnings();
        ASSERT_EQ(records().size(), 4U) << start;
    }
    EXPECT_THAT(records()[2], testing::AllOf(HasSubstr(";Q;13.host1;"), testing::Not(HasSubstr(" start=")),
                                             testing::Not(HasSubstr("exec_host"))));
    EXPECT_THAT(records()[3], testing::AllOf(HasSubstr(";S;12.host1;"), HasSubstr(" start=103 ")));
}

}  // namespace
}  // namespace pbs::host
