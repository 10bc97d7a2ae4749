#include "server_plugin/host/run/run_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "server_plugin/host/base/key_value.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;

TEST(KeyValues, KeepAnyBytes) {
    std::string bytes;
    for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
    const KeyValues values = {{"a", bytes}, {"b", ""}, {"a", "again=x"}};
    const auto text = write_key_values(values);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
    const auto parsed = parse_key_values(text, "file");
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, values);
}

TEST(KeyValues, ErrorsSayWhere) {
    EXPECT_EQ(parse_key_values("a=1\nb", "file").error().message, "file: line 2 has no end");
    EXPECT_EQ(parse_key_values("a=1\n=b\n", "file").error().message, "file: line 2: expected key=value");
    EXPECT_EQ(parse_key_values("a\n", "file").error().message, "file: line 1: expected key=value");
    for (const auto* bad : {"a=%\n", "a=%4\n", "a=%G1\n", "a=%1G\n", "a=%+1\n"})
        EXPECT_EQ(parse_key_values(bad, "file").error().message,
                  "file: line 1: '%' without two hexadecimal digits");
}

TEST(JobSpecFile, IsReadAsItWasWritten) {
    JobSpec spec;
    spec.cookie = "C0FFEE";
    JobStart& job = spec.start;
    job.id = {"12[3].server", 7};
    job.name = "name";
    job.queue = "q";
    job.account = "acct";
    job.user = "alice";
    job.uid = 4294967294U;
    job.gid = 100;
    job.script = "echo\n";  // isn't in the file
    spec.boot = "0d1b";
    job.script_arguments = {"-x", "", "a b"};
    job.shell = "/bin/csh";
    job.output_path = "h:/o";
    job.error_path = "h:/e";
    job.join = "oe";
    job.keep = "eo";
    job.variables = {{"A", "1\n2"}, {"B", "=%="}};
    job.hosts = {"n1", "n1", "n2"};
    job.threads = 8;
    job.umask = 022;
    job.walltime = std::chrono::seconds(3600);
    job.cput = std::chrono::seconds(60);
    job.kill_delay = std::chrono::seconds(5);
    const auto text = write_job_spec(spec);
    const auto read = parse_job_spec(text, "file");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(write_job_spec(*read), text);
    EXPECT_EQ(read->start.uid, job.uid);
    EXPECT_EQ(read->start.variables, job.variables);
    EXPECT_EQ(read->start.script_arguments, job.script_arguments);
    EXPECT_EQ(read->start.umask, job.umask);
    EXPECT_EQ(read->start.walltime, job.walltime);
    EXPECT_EQ(read->start.script, "");
    const std::string earlier = "version=1\nscript=/home/pbs/12.SC\n" + text.substr(text.find('\n') + 1);
    EXPECT_TRUE(parse_job_spec(earlier, "file")) << "a file of an earlier version";
    job.umask.reset();
    job.walltime.reset();
    job.cput.reset();
    const auto bare = parse_job_spec(write_job_spec(spec), "file");
    ASSERT_TRUE(bare);
    EXPECT_FALSE(bare->start.umask || bare->start.walltime || bare->start.cput);
}

// The server reads the group whenever it weighs a job, and the file may have megabytes of environment.
TEST(JobSpecFile, HasTheControlGroupAtItsBeginning) {
    const std::string path = testing::TempDir() + "spec." + std::to_string(::getpid());
    JobSpec spec;
    spec.start.id = {std::string(200, '1'), 1};
    spec.start.name = "control_group=/wrong";
    spec.cookie = std::string(32, 'C');
    spec.host_name = std::string(255, 'h');
    spec.control_group = "/sys/fs/cgroup/" + std::string(4000, 'p') + "/100%\n";
    spec.start.variables = {{"A", std::string(100'000, 'a')}};
    const std::string text = write_job_spec(spec);
    const auto read = [&](std::size_t size) {
        std::ofstream(path) << text.substr(0, size);
        return read_control_group(path);
    };
    // read_control_group() needs only the beginning.
    for (const std::size_t size : {text.size(), text.size() - 10'000}) {
        const auto group = read(size);
        ASSERT_TRUE(group) << group.error().message;
        EXPECT_EQ(*group, spec.control_group);
    }
    EXPECT_EQ(read(1000).error().message, path + ": expected control_group at its beginning");
    spec.control_group.clear();
    std::ofstream(path) << write_job_spec(spec);
    EXPECT_EQ(read_control_group(path).value_or("none"), "");
    ::unlink(path.c_str());
    EXPECT_EQ(read_control_group(path).error().message,
              "cannot read " + path + ": No such file or directory");
}

TEST(ExitFile, IsReadAsItWasWritten) {
    ExitRecord exit;
    exit.exit_status = -29;
    exit.session = 4711;
    exit.started_at = std::chrono::sys_seconds(std::chrono::seconds(1700000000));
    exit.ended_at = exit.started_at + std::chrono::seconds(5);
    exit.walltime = std::chrono::milliseconds(5001);
    exit.cput = std::chrono::milliseconds(12);
    exit.mem_kb = 1234;
    exit.vmem_kb = 5678;
    exit.message = "two\nlines";
    const auto text = write_exit(exit);
    const auto read = parse_exit(text, "file");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(write_exit(*read), text);
    EXPECT_EQ(read->exit_status, -29);
    EXPECT_EQ(read->ended_at, exit.ended_at);
    EXPECT_EQ(read->message, exit.message);
}

TEST(ExitFile, HasToBeWhole) {
    const auto text = write_exit({});
    // A crash may leave only the beginning of the text. Each such beginning is refused.
    for (std::size_t length = 0; length < text.size(); ++length)
        EXPECT_FALSE(parse_exit(text.substr(0, length), "file")) << length;
    EXPECT_THAT(parse_exit("version=2\ncomplete=1\n", "file").error().message,
                HasSubstr("expected version=1"));
    EXPECT_EQ(parse_exit("version=1\nsession=x\ncomplete=1\n", "file").error().message,
              "file: session=\"x\": expected a whole number");
    EXPECT_EQ(parse_exit("version=1\nwhat=x\ncomplete=1\n", "file").error().message,
              "file: unknown key what");
}

TEST(ExitRecordTest, GivesResourcesUsedAsPbsWritesThem) {
    ExitRecord exit;
    exit.walltime = std::chrono::milliseconds(3'661'500);
    exit.cput = std::chrono::milliseconds(7'323'000);
    exit.mem_kb = 10;
    exit.vmem_kb = 20;
    EXPECT_THAT(exit.resources_used(2),
                testing::ElementsAre(testing::Pair("cpupercent", "200"), testing::Pair("cput", "02:02:03"),
                                     testing::Pair("mem", "10kb"), testing::Pair("ncpus", "2"),
                                     testing::Pair("vmem", "20kb"), testing::Pair("walltime", "01:01:01")));
    EXPECT_THAT(ExitRecord{}.resources_used(1), testing::Contains(testing::Pair("cpupercent", "0")));
}

TEST(RunFilesTest, TellTheRunTheyBelongTo) {
    const RunFiles files("/h", {"12[3].s", 4});
    EXPECT_EQ(files.started(), "/h/mom_priv/jobs/12[3].s.4.started");
    for (const auto& path : {files.job(), files.started(), files.session(), files.exit(), files.exit_room(),
                             files.withdrawn(), files.script()}) {
        const auto run = run_of_file(path.substr(path.rfind('/') + 1));
        ASSERT_TRUE(run) << path;
        EXPECT_EQ(*run, (RunId{"12[3].s", 4}));
    }
    for (const auto* other : {".", "..", "x", "x.job", ".1.job", "12.s.4.other", "12.s.x.job"})
        EXPECT_FALSE(run_of_file(other)) << other;
}

TEST(RunFilesTest, OnlySafeIdsBecomeFileNames) {
    EXPECT_TRUE(is_file_safe("12[3].server-1.example_2"));
    for (const auto* bad : {"", "..", ".x", "a/b", "a b", "a\n"}) EXPECT_FALSE(is_file_safe(bad)) << bad;
    EXPECT_FALSE(is_file_safe(std::string(201, 'a')));
}

}  // namespace
}  // namespace pbs::host
