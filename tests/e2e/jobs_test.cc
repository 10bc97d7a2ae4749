// Tests jobs that run on a server, and the commands that act on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Jobs : public OriginServer {
  protected:
    // Waits until a file exists in the work folder, and returns its contents.
    std::string file(const std::string& name) const {
        std::ostringstream text;
        if (wait_for([&] { return std::filesystem::exists(server.work() / name); })) {
            text << std::ifstream(server.work() / name).rdbuf();
        }
        return text.str();
    }
    static std::string number(const std::string& id) { return id.substr(0, id.find('.')); }
    Output as_runner(const std::vector<std::string>& argv) const { return server.command_as(runner(), argv); }
};

TEST_F(Jobs, RunsTheScriptAndKeepsOutputAndExitStatus) {
    const std::string id = server.submit(
        "#PBS -N hello\necho out from $PBS_JOBNAME\necho err >&2\necho $PBS_JOBID $PBS_QUEUE "
        "$PBS_O_WORKDIR\nexit 3\n");
    ASSERT_NE(id, "");
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_EQ(server.job(id, "Exit_status"), "3");
    EXPECT_EQ(server.job(id, "queue"), "batch");
    EXPECT_EQ(file("hello.o" + number(id)),
              "out from hello\n" + id + " batch " + server.work().string() + "\n");
    EXPECT_EQ(file("hello.e" + number(id)), "err\n");
}

TEST_F(Jobs, RunsAsItsOwner) {
    const std::string id = server.submit("id -un\n", {"-N", "who"});
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_EQ(file("who.o" + number(id)), runner().name + "\n");
}

TEST_F(Jobs, HaveALoginShellUnlessTheSiteSwitchesItOff) {
    NEEDS(without_mom);
    const auto command = [&] {
        const std::string id =
            server.submit("tr '\\0' ' ' </proc/$$/cmdline\n", {"-N", "shell", "-S", "/bin/sh"});
        EXPECT_TRUE(server.wait_job_state(id, "F"));
        return file("shell.o" + number(id));
    };
    EXPECT_THAT(command(), StartsWith("-sh /"));
    server.put("mom_priv/config", "$source_login_batch false\n");
    EXPECT_THAT(command(), StartsWith("sh /"));
}

TEST_F(Jobs, HaveALineInTheNodeFileForEachProcess) {
    const auto lines_and_threads = [&](const std::string& resources) {
        const std::string id = server.submit("echo $(wc -l < $PBS_NODEFILE) $OMP_NUM_THREADS\n",
                                             {"-N", "nodes", "-l", resources});
        EXPECT_TRUE(server.wait_job_state(id, "F")) << resources;
        return file("nodes.o" + number(id));
    };
    EXPECT_EQ(lines_and_threads("select=2"), "2 1\n");
    EXPECT_EQ(lines_and_threads("select=2:ncpus=1"), "2 1\n");
    EXPECT_EQ(lines_and_threads("select=1:ncpus=2:mpiprocs=2"), "2 2\n");
    EXPECT_EQ(lines_and_threads("nodes=1:ppn=2"), "2 2\n");
}

TEST_F(Jobs, ARunningJobsWalltimeIsLoweredByItsOwner) {
    const std::string id = server.submit("sleep 60\n", {"-l", "walltime=1000"});
    ASSERT_TRUE(server.wait_job_state(id, "R"));
    EXPECT_NE(as_runner({"qalter", "-l", "walltime=2000", id}).exit, 0);
    ASSERT_EQ(as_runner({"qalter", "-l", "walltime=1", id}).exit, 0);
    ASSERT_TRUE(server.wait_job_state(id, "F", std::chrono::seconds(20)));
    EXPECT_EQ(server.job(id, "Exit_status"), "-29");
    EXPECT_EQ(server.job(id, "Resource_List.walltime"), "00:00:01");
}

TEST_F(Jobs, OptionJJoinsOutputAndErrors) {
    const std::string id = server.submit("echo a\necho b >&2\n", {"-N", "joined", "-j", "oe"});
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_EQ(file("joined.o" + number(id)), "a\nb\n");
}

TEST_F(Jobs, WalltimeIsEnforced) {
    const std::string id = server.submit("sleep 60\n", {"-l", "walltime=1"});
    ASSERT_TRUE(server.wait_job_state(id, "R"));
    ASSERT_TRUE(server.wait_job_state(id, "F", std::chrono::seconds(20)));
    EXPECT_THAT(server.job(id, "Exit_status"), Not(AnyOf("0", "(none)")));
}

TEST_F(Jobs, AccountingTellsOfALife) {
    const std::string id = server.submit("true\n");
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    ASSERT_TRUE(wait_for([&] { return server.accounting().find(";E;" + id) != std::string::npos; }));
    EXPECT_THAT(server.accounting(), ContainsRegex("[0-9/]+ [0-9:]+;Q;" + id + ";.*queue=submit"));
    EXPECT_THAT(server.accounting(), ContainsRegex(";S;" + id + ";.*user=" + runner().name));
    EXPECT_THAT(server.accounting(), ContainsRegex(";E;" + id + ";.*Exit_status=0"));
    const std::string held = server.submit("true\n", {"-h"});
    ASSERT_EQ(as_runner({"qdel", held}).exit, 0);
    EXPECT_TRUE(wait_for([&] { return server.accounting().find(";D;" + held) != std::string::npos; }));
}

TEST_F(Jobs, HoldAndRelease) {
    const std::string id = server.submit("true\n", {"-h"});
    EXPECT_EQ(server.job(id, "job_state"), "H");
    EXPECT_EQ(server.job(id, "Hold_Types"), "u");
    EXPECT_EQ(server.job(id, "comment"), of_host("Not Running: Job is held (Hold_Types = u)", "(none)"));
    EXPECT_EQ(as_runner({"qrls", id}).exit, 0);
    EXPECT_TRUE(server.wait_job_state(id, "F"));
    ASSERT_TRUE(server.configure({"set sched default scheduling=False"}));
    const std::string queued = server.submit("true\n");
    EXPECT_EQ(server.job(queued, "job_state"), "Q");
    EXPECT_EQ(as_runner({"qhold", queued}).exit, 0);
    EXPECT_EQ(server.job(queued, "job_state"), "H");
    EXPECT_THAT(server.job(queued, "comment"), testing::StartsWith("Job held by " + runner().name + " on "));
    EXPECT_EQ(as_runner({"qrls", queued}).exit, 0);
    EXPECT_EQ(server.job(queued, "comment"), "(none)");
}

TEST_F(Jobs, AJobThatWaitsForItsTimeSaysSo) {
    ASSERT_TRUE(server.configure({"set sched default scheduling=False"}));
    const std::string id = server.submit("true\n", {"-a", "203101020304"});
    EXPECT_EQ(server.job(id, "job_state"), "W");
    EXPECT_EQ(server.job(id, "comment"),
              of_host("Not Running: Job waits for its Execution_Time, Thu Jan  2 03:04:00 2031", "(none)"));
    EXPECT_EQ(as_runner({"qalter", "-a", "203101030304", id}).exit, 0);
    EXPECT_EQ(server.job(id, "comment"),
              of_host("Not Running: Job waits for its Execution_Time, Fri Jan  3 03:04:00 2031", "(none)"));
}

TEST_F(Jobs, AlterMoveRunDelete) {
    ASSERT_TRUE(server.configure({"set sched default scheduling=False"}));
    const std::string id = server.submit("sleep 30\n", {"-N", "before"});
    EXPECT_EQ(as_runner({"qalter", "-N", "after", "-l", "walltime=00:20:00", id}).exit, 0);
    EXPECT_EQ(server.job(id, "Job_Name"), "after");
    EXPECT_EQ(server.job(id, "Resource_List.walltime"), "00:20:00");
    const Output moved = as_runner({"qmove", "batch", id});
    EXPECT_EQ(moved.exit, 0) << moved;
    EXPECT_EQ(server.job(id, "queue"), "batch");
    const Output run = server.command({"qrun", id});
    EXPECT_EQ(run.exit, 0) << run;
    EXPECT_TRUE(server.wait_job_state(id, "R"));
    EXPECT_EQ(as_runner({"qdel", id}).exit, 0);
    EXPECT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_NE(as_runner({"qdel", "99999"}).exit, 0);
}

TEST_F(Jobs, QselectFindsJobsByNameAndState) {
    const std::string held = server.submit("true\n", {"-h", "-N", "first"});
    const std::string other_held = server.submit("true\n", {"-h", "-N", "second"});
    EXPECT_EQ(as_runner({"qselect", "-N", "first"}).out, held + "\n");
    EXPECT_EQ(as_runner({"qselect", "-s", "H"}).out, held + "\n" + other_held + "\n");
    EXPECT_EQ(as_runner({"qselect", "-s", "R"}).out, "");
}

TEST_F(Jobs, StatusCommandsShowThem) {
    const std::string id = server.submit("sleep 30\n", {"-N", "shown", "-l", "ncpus=2"});
    ASSERT_TRUE(server.wait_job_state(id, "R"));
    const Output list = server.command({"qstat"});
    EXPECT_EQ(list.exit, 0);
    EXPECT_THAT(list.out, ContainsRegex(number(id) + "\\.[^ ]* +shown +" + runner().name));
    EXPECT_THAT(server.command({"qstat", "-n"}).out, ContainsRegex("\n +[^ ]+/0\\*2")) << "host and cpus";
    EXPECT_THAT(server.command({"qstat", "-Q"}).out, HasSubstr("batch"));
    EXPECT_THAT(server.command({"qstat", "-Qf", "batch"}).out, HasSubstr("state_count"));
    EXPECT_THAT(server.command({"qstat", "-B"}).out, HasSubstr("Server"));
    const Output nodes = server.command({"pbsnodes", "-a"});
    EXPECT_THAT(nodes.out, HasSubstr("n1"));
    EXPECT_THAT(nodes.out, HasSubstr(id));
    EXPECT_EQ(attribute_in(nodes.out, "resources_assigned.ncpus"), "2");
}

// With -F json, qstat prints a JSON document even if unknown jobs are asked for, as PBS's qstat does.
TEST_F(Jobs, JsonIsADocumentWhateverWasAsked) {
    const auto document = [&](std::vector<std::string> arguments, int exit) {
        arguments.insert(arguments.begin(), {"qstat", "-f", "-F", "json"});
        Output asked = as_runner(arguments);
        EXPECT_EQ(asked.exit, exit) << asked;
        EXPECT_THAT(asked.out, AllOf(HasSubstr("{\n    \"timestamp\": "), HasSubstr("\"pbs_server\": "),
                                     testing::EndsWith("\n}\n")));
        return asked;
    };
    document({}, 0);
    EXPECT_THAT(document({"99"}, 153).err, HasSubstr("Unknown Job Id"));
    document({"98", "99"}, 153);
    const std::string id = server.submit("true\n");
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    document({id}, 35);
    EXPECT_THAT(document({"-x", id}, 0).out, HasSubstr("\"job_state\": \"F\""));
    EXPECT_THAT(document({id, "99"}, 153).out, testing::Not(HasSubstr("\"Jobs\"")));
}

TEST_F(Jobs, JsonHasAllLimitsAndAllVariablesOfAName) {
    ASSERT_TRUE(server.configure({"set queue batch max_queued = \"[u:ann=5],[u:PBS_GENERIC=900],[g:phys=9]\"",
                                  "set queue batch max_queued_res.ncpus = \"[u:ann=5],[g:phys=9]\"",
                                  "set server max_run = \"[u:ann=5],[o:PBS_ALL=900]\""}));
    const Output queue = as_runner({"qstat", "-Q", "-f", "-F", "json", "batch"});
    EXPECT_THAT(queue.out, HasSubstr("\"max_queued\": \"[g:phys=9],[u:PBS_GENERIC=900],[u:ann=5]\""));
    EXPECT_THAT(queue.out, HasSubstr("\"ncpus\": \"[g:phys=9],[u:ann=5]\""));
    EXPECT_THAT(as_runner({"qstat", "-B", "-f", "-F", "json"}).out,
                HasSubstr("\"max_run\": \"[o:PBS_ALL=900],[u:ann=5]\""));
}

TEST_F(Jobs, NamesMayBeginWithADigit) {
    const std::string id = server.submit("true\n", {"-h", "-N", "2nd.run"});
    EXPECT_EQ(server.job(id, "Job_Name"), "2nd.run");
    EXPECT_EQ(as_runner({"qalter", "-N", "3rd", id}).exit, 0);
    EXPECT_EQ(server.job(id, "Job_Name"), "3rd");
}

TEST_F(Jobs, CheckpointsAreKeptAndTheJobRuns) {
    for (const std::string when : {"n", "s", "c", "c=5", "w", "w=10"}) {
        const std::string id = server.submit("true\n", {"-h", "-c", when});
        EXPECT_EQ(server.job(id, "Checkpoint"), when);
    }
    const std::string id = server.submit("true\n", {"-c", "c=5"});
    EXPECT_TRUE(server.wait_job_state(id, "F"));
}

// qsub writes its warning to standard error, as scripts read the job's id from standard output.
TEST_F(Jobs, CheckpointsAreWarnedOf) {
    const Output made = server.command_as(runner(), {"qsub", "-h"}, {"#PBS -c c=5\ntrue\n"});
    EXPECT_EQ(made.exit, 0);
    EXPECT_EQ(made.err,
              "qsub: Warning: Checkpoint=c=5 is kept but has no effect: pbs_server makes no checkpoints by "
              "itself\n");
    const std::string id = made.out.substr(0, made.out.find('\n'));
    EXPECT_EQ(server.job(id, "Checkpoint"), "c=5");
    const Output altered = as_runner({"qalter", "-c", "s", id});
    EXPECT_EQ(altered.exit, 0);
    EXPECT_EQ(altered.err,
              "qalter: Warning: Checkpoint=s is kept but has no effect: pbs_server makes no checkpoints by "
              "itself\n");
    EXPECT_EQ(as_runner({"qalter", "-c", "n", id}).err, "");
}

TEST_F(Jobs, CheckpointsThatAreNoneAreRefused) {
    NEEDS(own_attributes);
    const Output wrong = server.command_as(runner(), {"qsub", "-c", "w=1h"}, {"true\n"});
    EXPECT_NE(wrong.exit, 0);
    EXPECT_EQ(wrong.out, "");
    EXPECT_EQ(wrong.err,
              "qsub: Illegal Checkpoint \"w=1h\": expected n, s, c, c=minutes, w or w=minutes, with "
              "more than 0 minutes\n");
}

TEST_F(Jobs, AScriptWithCarriageReturnsIsRefused) {
    std::ofstream(server.work() / "dos.sh") << "#!/bin/sh\n#PBS -N dos\r\ntrue\r\n";
    const std::string script = server.work() / "dos.sh";
    const Output refused = as_runner({"qsub", script});
    EXPECT_EQ(refused.exit, 1);
    EXPECT_EQ(refused.err, "qsub: script contains cr, lf: line 2 of " + script +
                               " ends with them, expected a line feed alone (dos2unix converts the file)\n");
    EXPECT_EQ(server.command_as(runner(), {"qsub"}, {"true\r\n"}).exit, 1);
    EXPECT_EQ(as_runner({"qselect"}).out, "") << "nothing was submitted";
}

// default_qsub_arguments can decide what a job runs and where it writes. Operators may set it, so it doesn't
// apply to root's jobs.
TEST_F(Jobs, TheServersArgumentsOfQsubDontCountForRoot) {
    ASSERT_TRUE(server.configure({"set server default_qsub_arguments='-N theirs -o /etc/theirs'"}));
    const std::string id = server.submit("true\n", {"-h"});
    EXPECT_EQ(server.job(id, "Job_Name"), "theirs");
    EXPECT_EQ(server.job(server.submit("true\n", {"-h", "-N", "own"}), "Job_Name"), "own");
    if (geteuid() != 0) GTEST_SKIP() << "this isn't root";
    ASSERT_TRUE(server.configure({"set server acl_roots+=root@*"}));
    const Output made = server.command({"qsub", "-h"}, {"true\n"});
    EXPECT_EQ(made.exit, 0) << made;
    EXPECT_EQ(made.err, "qsub: Warning: the server's default_qsub_arguments don't count for root\n");
    const std::string roots = made.out.substr(0, made.out.find('\n'));
    EXPECT_EQ(server.job(roots, "Job_Name"), "STDIN");
    EXPECT_THAT(server.job(roots, "Output_Path"), Not(HasSubstr("/etc/theirs")));
}

// Runs each installed program, so that new programs are tested, too, without a change here.
TEST(Commands, TellTheirUsageAndVersion) {
    int programs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(program("qstat").parent_path())) {
        const std::string name = entry.path().filename();
        const std::set<std::string> others{"pbs_attr_table", "stat_objects", "fifo_scheduler"};
        const bool installed =
            entry.path().extension().empty() && !name.ends_with("_pch") && !others.contains(name);
        if (!installed) continue;
        ++programs;
        const Output help = run({name, "--help"});
        EXPECT_EQ(help.exit, 0) << name << help;
        EXPECT_THAT(help.out, testing::ContainsRegex("[Uu]sage:")) << name;
        EXPECT_EQ(help.err, "") << name;
        const Output version = run({name, "--version"});
        EXPECT_EQ(version.exit, 0) << name << version;
        EXPECT_THAT(version.out, HasSubstr("0.1.0")) << name;
    }
    EXPECT_GT(programs, 15);
}

TEST_F(Jobs, JobsThatRunWhenTheServerStopsAreNotLost) {
    const std::string id = server.submit("sleep 2\nexit 5\n", {"-N", "survivor"});
    const std::string queued = server.submit("true\n", {"-h"});
    ASSERT_TRUE(server.wait_job_state(id, "R"));
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.job(queued, "job_state"), "H");
    EXPECT_THAT(server.job(id, "job_state"), AnyOf("R", "E", "F"));
    EXPECT_TRUE(server.wait_job_state(id, "F", std::chrono::seconds(20)));
    EXPECT_EQ(server.job(id, "Exit_status"), "5") << "run once, to its end";
    EXPECT_EQ(server.job(id, "run_count"), "1");
}

TEST_F(Jobs, WhenNotRootOnlyTheServersUserRunsJobs) {
    if (geteuid() == 0) GTEST_SKIP() << "this server runs as root, which runs jobs of every user";
    EXPECT_EQ(server.job(server.submit("true\n"), "Job_Owner").substr(0, runner().name.size()),
              runner().name);
}

}  // namespace
}  // namespace pbs::e2e
