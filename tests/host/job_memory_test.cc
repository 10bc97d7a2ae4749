// Measures the memory that jobs take in the server and the scheduler together.
#include <fmt/format.h>
#include <malloc.h>

#include "server_plugin/host/life/run_reports.h"
#include "tests/host/plugin_fixture.h"

namespace pbs::host {
namespace {

class JobMemory : public PluginServerTest {
  protected:
    static constexpr int kOnVnode = 16;

    // Submits a job as users do, all from one folder, and makes it run.
    void run_job(int number) {
        const std::string id = submit(
            user(),
            {attribute("Job_Name", fmt::format("step{}", number)), attribute("Resource_List.ncpus", "2"),
             attribute("Resource_List.walltime", fmt::format("{}", 600 + number * 7919 % 42'000)),
             attribute("Submit_arguments", "-l ncpus=2 job.sh")},
            "q");
        ASSERT_EQ(
            ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, fmt::format("n{}", number / kOnVnode), 0})
                .code,
            0)
            << id;
        executor_.started.clear();
        executor_.reports = {begun(id)};
        take_run_events(*server_);
        ASSERT_EQ(job_shows(id, "substate"), "42");
    }
    static double in_use() {
        const auto info = mallinfo2();
        return static_cast<double>(info.uordblks + info.hblkhd);
    }
};

// The difference of two numbers of jobs, as tables grow in steps.
TEST_F(JobMemory, ARunningJobTakesSomeTwoKilobytes) {
    if (PBS_SANITIZED != 0) GTEST_SKIP() << "sanitizers have an allocator of their own";
    make_queue("q");
    constexpr int kFew = 1500;
    constexpr int kMany = 3500;
    for (int vnode = 0; vnode * kOnVnode < kMany; ++vnode) make_node(fmt::format("n{}", vnode), "32");
    double before = 0;
    for (int job = 0; job < kMany; ++job) {
        if (job == kFew) before = in_use();
        run_job(job);
    }
    const double bytes = (in_use() - before) / (kMany - kFew);
    RecordProperty("bytes", static_cast<int>(bytes));
    // Wider than docs/benchmarks.md has it: other releases of the C and C++ libraries have texts, tables and
    // blocks of other sizes.
    EXPECT_LT(bytes, 2300);
}

}  // namespace
}  // namespace pbs::host
