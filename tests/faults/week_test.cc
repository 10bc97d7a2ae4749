// Runs jobs for weeks, with a clock that the test moves forward by hours: across both changes of summer time,
// a leap day and the end of a year, while time windows switch the policies. The server's use of memory, files
// and threads must not grow.
//
// CTest runs two days at each of these dates, with a step every eight hours. PBSPOLICY_DAYS=7 runs seven
// days, PBSPOLICY_HOURS=1 makes a step every hour, and PBSPOLICY_JOBS=100 runs a hundred jobs in each step.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/e2e/harness.h"
#include "tests/faults/environment.h"
#include "tests/faults/machine_use.h"

namespace pbs::e2e {
namespace {

class Weeks : public ::testing::Test {
  protected:
    // 2027-03-27, 2027-10-30, 2027-12-30 and 2028-02-28, at midnight UTC, in seconds since the Epoch.
    static constexpr int64_t kBegins[] = {1806105600, 1824854400, 1830124800, 1835308800};

    Weeks() : server_({.now = kBegins[0], .environment = {{"TZ", "Europe/Berlin"}}}) {}
    void SetUp() override {
        NEEDS(injected_clock);
        ASSERT_TRUE(server_.start());
        ASSERT_TRUE(server_.configure(
            {"create queue work queue_type=execution, enabled=True, started=True",
             "create node n1 resources_available.ncpus=64",
             "create time_window day rrule=FREQ=DAILY, start_time=0800, end_time=1800, type=prime",
             "create policy busy backfill_depth=3, sort_by_past_usage=True",
             "create policy idle backfill_depth=0",
             "set sched default policy='default_policy,p:busy,np:idle'",
             "set server default_queue=work, job_history_enable=True, job_history_duration=12:00:00"}));
    }
    MachineUse use() const { return machine_use("/proc/" + std::to_string(server_.pid()), server_.home()); }
    void run_for(long days, int64_t from) {
        const std::string array = fmt::format("1-{}", environment_number("PBSPOLICY_JOBS", 4));
        for (long hour = 0; hour < days * 24; hour += environment_number("PBSPOLICY_HOURS", 8)) {
            server_.set_clock(from + hour * 3600);
            ASSERT_NE(server_.submit("true\n", {"-J", array, "-o", "/dev/null", "-e", "/dev/null"}), "");
            ASSERT_TRUE(wait_for([&] { return server_.command({"qselect"}).out.empty(); }))
                << server_.command({"qstat", "-f"}).out;
        }
    }

    Server server_;
};

TEST_F(Weeks, UseNoMoreOfTheMachineAtTheEnd) {
    const long days = environment_number("PBSPOLICY_DAYS", 2);
    MachineUse first;
    MachineUse last;
    for (std::size_t i = 0; i < std::size(kBegins); ++i) {
        run_for(days, kBegins[i]);
        if (HasFailure()) return;
        // The last jobs have files until their shepherds have ended.
        if (i > 1) (void)wait_for([&] { return use().files <= first.files; });
        last = use();
        std::printf("weeks: %s\n", text_of(last).c_str());
        if (i == 1) first = last;  // compare with the second date, as memory still grows during the first
    }
    EXPECT_LE(last.resident_kb, first.resident_kb + first.resident_kb / 10);
    // Allow for two descriptors of a log that continues in a new file, and for commits in write-ahead logs
    // that weren't yet copied into the databases.
    constexpr long kMoreDescriptors = 2;
    constexpr long kMoreDatabases = 1024;
    EXPECT_LE(last.descriptors, first.descriptors + kMoreDescriptors);
    EXPECT_LE(last.threads, first.threads);
    EXPECT_LE(last.files, first.files);
    EXPECT_LE(last.databases_kb, first.databases_kb + first.databases_kb / 10 + kMoreDatabases);
}

}  // namespace
}  // namespace pbs::e2e
