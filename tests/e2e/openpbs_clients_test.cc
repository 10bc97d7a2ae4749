// Runs OpenPBS's own, unmodified clients with the bundled server. The tests need root, as OpenPBS's clients
// prove their users by ports below 1024, and an OpenPBS that PBSPOLICY_OPENPBS_PREFIX names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/e2e/box.h"
#include "tests/e2e/harness.h"
#include "tests/munged.h"

namespace pbs::e2e {
namespace {
namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class OpenpbsClients : public OriginServer {
  protected:
    using OriginServer::OriginServer;
    void SetUp() override {
        NEEDS(own_server);
        prefix = openpbs_prefix();
        if (prefix.empty()) {
            GTEST_SKIP()
                << "PBSPOLICY_OPENPBS_PREFIX is not set: it names an installed OpenPBS, such as /opt/pbs";
        }
        if (!fs::exists(prefix / "bin/qstat")) {
            GTEST_SKIP() << "PBSPOLICY_OPENPBS_PREFIX is " << prefix << ", where there is no bin/qstat";
        }
        if (geteuid() != 0) GTEST_SKIP() << "OpenPBS's clients need root here, for a reserved port";
        OriginServer::SetUp();
    }
    // Runs a client of the installed OpenPBS over TCP, as root or as options.uid.
    Output client(std::vector<std::string> argv, RunOptions options = {}) const {
        argv[0] = (prefix / "bin" / argv[0]).string();
        options.environment["PBS_CONF_FILE"] = conf();
        options.environment["PBS_HOME"] = "/nonexistent";
        return run(argv, options);
    }
    Output as_runner(const std::vector<std::string>& argv, const std::string& input = {}) const {
        RunOptions options;
        options.uid = runner().uid;
        options.input = input;
        options.folder = server.work();
        options.environment = {
            {"HOME", server.work().string()}, {"USER", runner().name}, {"LOGNAME", runner().name}};
        return client(argv, options);
    }
    std::string ok(const Output& output, const std::string& what) const {
        EXPECT_EQ(output.exit, 0) << what << ": " << output;
        return output.out;
    }
    std::string qmgr(const std::string& directive) const {
        return ok(client({"qmgr", "-c", directive}), directive);
    }
    // Copies the OpenPBS prefix, puts this project's pbs_iff, setuid root, into the copy, and uses it as the
    // prefix.
    void use_our_helper() {
        const fs::path made = server.work() / "prefix";
        fs::create_directories(made / "sbin");
        for (const char* folder : {"bin", "lib", "etc", "libexec", "unsupported"})
            if (fs::exists(prefix / folder)) fs::create_directory_symlink(prefix / folder, made / folder);
        fs::copy_file(program("pbs_iff"), made / "sbin/pbs_iff");
        for (const fs::path& folder : {made, made / "sbin"}) ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
        ASSERT_EQ(chmod((made / "sbin/pbs_iff").c_str(), 04755), 0);
        prefix = made;
    }
    // Returns whether the prefix's pbs_iff is setuid root, which ordinary users need for their requests.
    bool helper_is_setuid() const {
        struct stat info {};
        return stat((prefix / "sbin/pbs_iff").c_str(), &info) == 0 && (info.st_mode & S_ISUID) != 0 &&
               info.st_uid == 0;
    }
    std::string submit(const std::vector<std::string>& options,
                       const std::string& script = "sleep 30\n") const {
        std::vector<std::string> argv{"qsub", "-S", "/bin/sh"};
        argv.insert(argv.end(), options.begin(), options.end());
        const std::string out = ok(as_runner(argv, script), "qsub");
        return out.substr(0, out.find('\n'));
    }

    fs::path prefix;

    std::string conf() const {
        std::string path = (server.work() / "pbs.conf").string();
        std::ofstream(path) << "PBS_EXEC=" << prefix.string()
                            << "\nPBS_HOME=/nonexistent\nPBS_SERVER=localhost\n"
                            << "PBS_BATCH_SERVICE_PORT=" << server.port() << "\n";
        return path;
    }
};

// Tests jobs that an ordinary user submits with OpenPBS's clients.
class OpenpbsJobs : public OpenpbsClients {
  protected:
    void SetUp() override {
        OpenpbsClients::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        if (!helper_is_setuid())
            GTEST_SKIP() << prefix / "sbin/pbs_iff"
                         << " is not setuid root";
    }
};

TEST_F(OpenpbsClients, QstatServerAndQueues) {
    EXPECT_THAT(ok(client({"qstat", "-B"}), "qstat -B"), ContainsRegex("Active|Idle|Scheduling"));
    EXPECT_THAT(ok(client({"qstat", "-Bf"}), "qstat -Bf"), HasSubstr("default_queue = submit"));
    EXPECT_THAT(ok(client({"qstat", "-Q"}), "qstat -Q"), AllOf(HasSubstr("submit"), HasSubstr("batch")));
    const std::string full = ok(client({"qstat", "-Qf", "batch"}), "qstat -Qf");
    EXPECT_EQ(attribute_in(full, "queue_type"), "Execution");
    EXPECT_EQ(attribute_in(full, "resources_max.ncpus"), "8");
    EXPECT_THAT(ok(client({"pbsnodes", "-a"}), "pbsnodes -a"),
                AllOf(HasSubstr("n1"), HasSubstr("state = free")));
}

TEST_F(OpenpbsClients, QmgrServerQueueNode) {
    qmgr("create queue made queue_type=execution");
    qmgr("set queue made enabled=True, started=True, max_running=5");
    qmgr("set queue made resources_max.ncpus=4");
    EXPECT_THAT(qmgr("list queue made"),
                AllOf(HasSubstr("max_running = 5"), HasSubstr("resources_max.ncpus = 4")));
    EXPECT_THAT(qmgr("print queue made"), HasSubstr("create queue made"));
    qmgr("unset queue made max_running");
    EXPECT_THAT(qmgr("list queue made"), Not(HasSubstr("max_running")));
    qmgr("delete queue made");
    EXPECT_NE(client({"qmgr", "-c", "list queue made"}).exit, 0);

    qmgr("set server managers = alice@*");
    qmgr("set server managers += bob@*");
    EXPECT_THAT(qmgr("list server managers"), AllOf(HasSubstr("alice@*"), HasSubstr("bob@*")));
    qmgr("set server managers -= alice@*");
    EXPECT_THAT(qmgr("list server managers"), Not(HasSubstr("alice@*")));
    qmgr("unset server managers");
    EXPECT_THAT(qmgr("print server"), HasSubstr("set server default_queue = submit"));

    qmgr("create node n2 resources_available.ncpus=4");
    qmgr("set node n2 comment='from OpenPBS'");
    EXPECT_THAT(qmgr("list node n2"), HasSubstr("from OpenPBS"));
    EXPECT_THAT(ok(client({"pbsnodes", "-v", "n2"}), "pbsnodes -v n2"),
                HasSubstr("resources_available.ncpus = 4"));
    qmgr("set node n2 state = offline");
    EXPECT_THAT(ok(client({"pbsnodes", "-v", "-l"}), "pbsnodes -v -l"),
                AllOf(HasSubstr("n2"), HasSubstr("offline")));
    qmgr("set node n2 state = free");
    EXPECT_THAT(qmgr("list node n2"), HasSubstr("state = free"));
    ok(client({"pbsnodes", "-o", "n2"}), "pbsnodes -o");
    EXPECT_THAT(qmgr("list node n2"), HasSubstr("state = offline"));
    ok(client({"pbsnodes", "-r", "n2"}), "pbsnodes -r");
    EXPECT_THAT(qmgr("list node n2"), HasSubstr("state = free"));
    qmgr("delete node n2");
}

TEST_F(OpenpbsClients, QmgrSchedAndResource) {
    qmgr("set sched default scheduler_iteration=300");
    EXPECT_THAT(qmgr("list sched default"),
                AllOf(HasSubstr("scheduler_iteration = 300"), HasSubstr("policy")));
    qmgr("create sched second");
    qmgr("set sched second partition=p2");
    EXPECT_THAT(qmgr("list sched"), HasSubstr("second"));
    qmgr("delete sched second");
    qmgr("create resource licenses type=long, flag=q");
    EXPECT_THAT(qmgr("list resource licenses"), AllOf(HasSubstr("type = long"), HasSubstr("flag = q")));
    EXPECT_THAT(qmgr("print resource"), HasSubstr("create resource licenses"));
    qmgr("set server resources_available.licenses = 3");
    qmgr("set server resources_available.licenses += 2");
    EXPECT_THAT(qmgr("list server resources_available"), HasSubstr("resources_available.licenses = 5"));
    qmgr("unset server resources_available.licenses");
    qmgr("delete resource licenses");
}

TEST_F(OpenpbsClients, ErrorsReachThem) {
    const Output unknown = client({"qmgr", "-c", "set queue nowhere enabled=True"});
    EXPECT_NE(unknown.exit, 0);
    EXPECT_THAT(unknown.err, HasSubstr("15018"));
    const Output bad = client({"qmgr", "-c", "set queue batch max_running=many"});
    EXPECT_NE(bad.exit, 0);
    EXPECT_THAT(bad.err, HasSubstr("15014"));
    const Output job = client({"qstat", "99999"});
    EXPECT_NE(job.exit, 0);
    EXPECT_THAT(job.err, HasSubstr("Unknown Job Id"));
}

// OpenPBS's clients work with this project's pbs_iff, too.
TEST_F(OpenpbsClients, OurHelperVouchesForTheirUsers) {
    use_our_helper();
    const std::string id = submit({"-N", "by_our_iff", "-h"});
    EXPECT_THAT(server.job(id, "Job_Owner"), HasSubstr(runner().name + "@"));
    EXPECT_THAT(ok(as_runner({"qstat", id}), "qstat"), HasSubstr("by_our_iff"));
    ok(as_runner({"qdel", id}), "qdel");
}

// OpenPBS's libmunge always uses the socket in /run. So each client gets its own /run, which contains the
// socket of the test's munged.
class HasMunged {
  protected:
    HasMunged() {
        if (!test::Munged::program().empty()) munged.emplace();
    }
    std::optional<test::Munged> munged;
};

class OpenpbsMunge : private HasMunged, public OpenpbsClients {
  protected:
    OpenpbsMunge()
        : OpenpbsClients({.arguments = {"--auth-methods", "munge", "--munge-socket",
                                        munged ? munged->socket() : std::string()}}) {}
    void SetUp() override {
        if (!munged) GTEST_SKIP() << test::Munged::kMissing;
        ASSERT_TRUE(munged->running());
        if (access("/usr/lib/x86_64-linux-gnu/libmunge.so", R_OK) != 0)
            GTEST_SKIP() << "OpenPBS loads libmunge.so (Debian's package libmunge-dev)";
        OpenpbsClients::SetUp();
    }
    Output by_munge(const User& user, const std::vector<std::string>& words,
                    const std::string& input = {}) const {
        std::string command = "mount -t tmpfs tmpfs /run && mkdir -m 755 /run/munge && mount --bind '" +
                              munged->folder() + "' /run/munge && exec setpriv --reuid " +
                              std::to_string(user.uid) + " --regid " + std::to_string(user.gid) +
                              " --clear-groups '" + (prefix / "bin" / words[0]).string() + "'";
        for (std::size_t i = 1; i < words.size(); ++i) command += " '" + words[i] + "'";
        RunOptions options{.input = input, .folder = server.work()};
        options.environment = {{"PBS_CONF_FILE", conf()},
                               {"PBS_HOME", "/nonexistent"},
                               {"PBS_AUTH_METHOD", "munge"},
                               {"HOME", server.work().string()}};
        return run({"unshare", "-m", "--propagation", "private", "sh", "-c", command}, options);
    }
};

TEST_F(OpenpbsMunge, TheirUsersAreKnownByTheirCredentials) {
    const Output submitted = by_munge(runner(), {"qsub", "-S", "/bin/sh", "-h", "-N", "by_munge"}, "true\n");
    const std::string id = ok(submitted, "qsub").substr(0, submitted.out.find('\n'));
    EXPECT_THAT(server.job(id, "Job_Owner"), HasSubstr(runner().name + "@"));
    EXPECT_THAT(ok(by_munge(runner(), {"qstat", id}), "qstat"), HasSubstr("by_munge"));
    if (other()) {
        EXPECT_NE(by_munge(*other(), {"qdel", id}).exit, 0);
    }
    ok(by_munge(runner(), {"qdel", id}), "qdel");
    EXPECT_THAT(ok(by_munge({0, 0, "root"}, {"qmgr", "-c", "list server"}), "qmgr"), HasSubstr("Server"));
    // A server that accepts only MUNGE refuses OpenPBS's clients that don't use it.
    EXPECT_NE(client({"qstat", "-B"}).exit, 0);
}

// In PBS_O_WORKDIR, OpenPBS's qsub puts a backslash before fewer kinds of characters than in other variables.
TEST_F(OpenpbsJobs, VariablesAndFoldersArriveAsTheyAre) {
    const fs::path in = server.work() / "it's a,b \"x\" c\\d";
    fs::create_directories(in);
    ASSERT_EQ(chmod(in.c_str(), 0777), 0);
    RunOptions options;
    options.uid = runner().uid;
    options.input = "printf '%s' \"$A\"\n";
    options.folder = in;
    options.environment = {{"A", "it's \"a\", \\b\nc;d=e"}, {"LOGNAME", runner().name}};
    const std::string id = ok(client({"qsub", "-S", "/bin/sh", "-V"}, options), "qsub");
    const fs::path out = in / ("STDIN.o" + id.substr(0, id.find('.')));
    const auto text = [&] { return std::string(std::istreambuf_iterator(std::ifstream(out).rdbuf()), {}); };
    EXPECT_TRUE(wait_for([&] { return text() == options.environment["A"]; })) << text() << server.log();
    // OpenPBS's qstat shows the variables in the same form as when OpenPBS's server is asked.
    EXPECT_THAT(
        client({"qstat", "-xfw", id.substr(0, id.find('\n'))}).out,
        AllOf(HasSubstr("A=it\\'s \\\"a\\\"\\, \\\\b\\nc;d=e"), HasSubstr("/it\\'s a\\,b \\\"x\\\" c\\\\d")));
}

TEST_F(OpenpbsJobs, SubmitStatDelete) {
    const std::string id = submit({"-N", "from_openpbs", "-l", "ncpus=2"});
    ASSERT_TRUE(server.wait_job_state(id, "R"));
    EXPECT_THAT(ok(client({"qstat"}), "qstat"), HasSubstr("from_openpbs"));
    EXPECT_THAT(ok(client({"qstat", "-n"}), "qstat -n"), HasSubstr("/0*2"));
    EXPECT_THAT(ok(client({"qstat", "-a"}), "qstat -a"), HasSubstr(runner().name));
    const std::string full = ok(client({"qstat", "-f", id}), "qstat -f");
    EXPECT_EQ(attribute_in(full, "job_state"), "R");
    EXPECT_EQ(attribute_in(full, "queue"), "batch");
    EXPECT_THAT(attribute_in(full, "Job_Owner"), HasSubstr(runner().name + "@"));
    EXPECT_THAT(attribute_in(full, "exec_vnode"), HasSubstr("n1"));
    ok(as_runner({"qdel", id}), "qdel");
    EXPECT_TRUE(server.wait_job_state(id, "F"));
}

TEST_F(OpenpbsJobs, RunsToItsEnd) {
    const std::string id = submit({"-N", "whole", "-j", "oe"}, "echo $PBS_JOBID\nexit 4\n");
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_EQ(attribute_in(ok(client({"qstat", "-xf", id}), "qstat -xf"), "Exit_status"), "4");
    EXPECT_TRUE(
        wait_for([&] { return fs::exists(server.work() / ("whole.o" + id.substr(0, id.find('.')))); }));
}

TEST_F(OpenpbsJobs, HoldReleaseAlterMoveRunSelect) {
    ASSERT_TRUE(server.configure({"set sched default scheduling=False"}));
    const std::string id = submit({"-N", "handled"});
    ok(as_runner({"qhold", id}), "qhold");
    EXPECT_EQ(server.job(id, "job_state"), "H");
    EXPECT_EQ(ok(as_runner({"qselect", "-s", "H"}), "qselect"), id + "\n");
    ok(as_runner({"qrls", id}), "qrls");
    EXPECT_EQ(server.job(id, "job_state"), "Q");
    ok(as_runner({"qalter", "-N", "renamed", "-l", "walltime=00:30:00", id}), "qalter");
    EXPECT_EQ(server.job(id, "Job_Name"), "renamed");
    EXPECT_EQ(server.job(id, "Resource_List.walltime"), "00:30:00");
    ok(as_runner({"qmove", "batch", id}), "qmove");
    EXPECT_EQ(server.job(id, "queue"), "batch");
    EXPECT_NE(as_runner({"qrun", id}).exit, 0) << "only operators run jobs";
    ok(client({"qrun", id}), "qrun");
    EXPECT_TRUE(server.wait_job_state(id, "R"));
    ok(client({"qdel", "-W", "force", id}), "qdel -W force");
    EXPECT_TRUE(wait_for([&] { return server.job(id, "job_state") != "R"; }));
}

TEST_F(OpenpbsJobs, SomebodyWhoIsNoManagerIsRefused) {
    const Output refused = as_runner({"qmgr", "-c", "set server comment=mine"});
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err, HasSubstr("15007"));
    EXPECT_EQ(as_runner({"qmgr", "-c", "list server"}).exit, 0);
}

TEST_F(OpenpbsJobs, AProgramLinkedWithItsLibpbs) {
    const std::string compiled = (server.work() / "program").string();
    const Output built = run({"cc", (PBS_SOURCE_DIR "/tests/e2e/libpbs_program.c"), "-o", compiled,
                              "-I" + (prefix / "include").string(), "-L" + (prefix / "lib").string(), "-lpbs",
                              "-Wl,-rpath," + (prefix / "lib").string()},
                             {.timeout = std::chrono::seconds(60)});
    ASSERT_EQ(built.exit, 0) << built;
    std::ofstream(server.work() / "job.sh") << "#!/bin/sh\nsleep 30\n";
    RunOptions options;
    options.uid = runner().uid;
    options.folder = server.work();
    options.environment = {{"PBS_CONF_FILE", (server.work() / "pbs.conf").string()}};
    ok(client({"qstat", "-B"}), "qstat -B");  // client() has to run first, as it writes pbs.conf
    const Output ran = run({compiled, (server.work() / "job.sh").string()}, options);
    EXPECT_EQ(ran.exit, 0) << ran;
    EXPECT_THAT(ran.out, HasSubstr("all well"));
}

TEST_F(OpenpbsJobs, Reservations) {
    const std::string noon = "202611231200";
    const Output made = as_runner(
        {"pbs_rsub", "-N", "tea", "-R", noon, "-D", "01:00:00", "-l", "select=1:ncpus=2", "-I", "20"});
    EXPECT_THAT(ok(made, "pbs_rsub"), ContainsRegex("^R[0-9]+\\.[^ ]+ CONFIRMED\n$"));
    const std::string id = made.out.substr(0, made.out.find(' '));
    const std::string queue = id.substr(0, id.find('.'));
    EXPECT_THAT(ok(as_runner({"pbs_rstat"}), "pbs_rstat"), ContainsRegex(queue + " .* CO .*/ 3600 / "));
    EXPECT_EQ(ok(as_runner({"pbs_rstat", "-B"}), "pbs_rstat -B"), "Resv ID: " + id + "\n");
    const std::string full = ok(as_runner({"pbs_rstat", "-f", queue}), "pbs_rstat -f");
    for (const char* line : {"Reserve_Name = tea\n", "reserve_state = RESV_CONFIRMED\n",
                             "reserve_duration = 3600\n", "Resource_List.select = 1:ncpus=2\n",
                             "Resource_List.walltime = 01:00:00\n", "resv_nodes = (n1:ncpus=2"})
        EXPECT_THAT(full, HasSubstr(line));
    // The commands of OpenPBS and of this project print the same.
    EXPECT_EQ(server.command_as(runner(), {"pbs_rstat", "-f", id}).out, full);
    EXPECT_EQ(server.command_as(runner(), {"pbs_rstat"}).out, as_runner({"pbs_rstat"}).out);
    EXPECT_EQ(ok(as_runner({"pbs_ralter", "-D", "02:00:00", "-I", "20", id}), "pbs_ralter"),
              "pbs_ralter: " + id + " CONFIRMED\n");
    const std::string job = submit({"-q", queue});
    EXPECT_THAT(ok(as_runner({"qstat", "-f", job}), "qstat"), HasSubstr("reserve_ID = " + id + "\n"));
    EXPECT_THAT(ok(client({"pbsnodes", "-v", "n1"}), "pbsnodes"), HasSubstr("resv = " + id + "\n"));
    const Output large =
        as_runner({"pbs_rsub", "-R", noon, "-D", "60", "-l", "select=1:ncpus=99", "-I", "20"});
    EXPECT_THAT(ok(large, "pbs_rsub"), HasSubstr(" DENIED\n"));
    EXPECT_EQ(as_runner({"pbs_rsub", "-D", "60"}).exit, 238);
    EXPECT_EQ(as_runner({"pbs_rdel", "R999"}).exit, 236);
    ok(as_runner({"pbs_rdel", id}), "pbs_rdel");
    EXPECT_TRUE(wait_for([&] { return as_runner({"pbs_rstat"}).out.empty(); }));
}

TEST_F(OpenpbsJobs, StandingReservations) {
    RunOptions options;
    options.uid = runner().uid;
    options.environment = {
        {"USER", runner().name}, {"LOGNAME", runner().name}, {"PBS_TZID", "Europe/Berlin"}};
    const Output made = client({"pbs_rsub", "-R", "202611231200", "-D", "01:00:00", "-r",
                                "FREQ=DAILY;COUNT=5", "-l", "select=1:ncpus=2", "-I", "20"},
                               options);
    EXPECT_THAT(ok(made, "pbs_rsub"), ContainsRegex("^S[0-9]+\\.[^ ]+ CONFIRMED\n$"));
    const std::string id = made.out.substr(0, made.out.find(' '));
    const std::string queue = id.substr(0, id.find('.'));
    EXPECT_THAT(ok(as_runner({"pbs_rstat"}), "pbs_rstat"), ContainsRegex(queue + " .* CO .*/ 3600 / "));
    const std::string full = ok(as_runner({"pbs_rstat", "-F", queue}), "pbs_rstat -F");
    for (const char* line : {"reserve_rrule = FREQ=DAILY;COUNT=5\n", "reserve_index = 1\n",
                             "reserve_count = 5\n", "resv_nodes = (n1:ncpus=2"})
        EXPECT_THAT(full, HasSubstr(line));
    EXPECT_EQ(server.command_as(runner(), {"pbs_rstat", "-f", id}).out, full);
    const std::string job = submit({"-q", queue});
    EXPECT_THAT(ok(as_runner({"qstat", "-f", job}), "qstat"), HasSubstr("reserve_ID = " + id + "\n"));
    const Output endless =
        client({"pbs_rsub", "-R", "202611231200", "-D", "60", "-r", "FREQ=DAILY"}, options);
    EXPECT_EQ(endless.exit, 30) << endless;
    ok(as_runner({"pbs_rdel", queue}), "pbs_rdel");
    EXPECT_TRUE(wait_for([&] { return as_runner({"pbs_rstat"}).out.empty(); }));
}

TEST_F(OpenpbsJobs, DependenciesAndCommandsOnJobs) {
    qmgr("set server job_history_enable=True");
    const std::string a = submit({});
    ASSERT_TRUE(server.wait_job_state(a, "R"));
    const std::string b = submit({"-W", "depend=afterok:" + a});
    const std::string c = submit({"-W", "depend=afternotok:" + a}, "exit 0\n");
    EXPECT_EQ(server.job(b, "job_state"), "H");
    EXPECT_THAT(ok(client({"qstat", "-f", a}), "qstat -f"), HasSubstr("depend = beforeok:" + b));
    EXPECT_NE(as_runner({"qsub", "-W", "depend=on:0", "--", "/bin/true"}).exit, 0);
    ok(as_runner({"qalter", "-W", "depend=afterany:" + a, b}), "qalter");
    EXPECT_EQ(as_runner({"qalter", "-W", "depend=afterok:" + b, b}).exit, 156);
    ok(as_runner({"qmsg", "-O", "from OpenPBS", a}), "qmsg");
    ok(client({"qsig", "-s", "suspend", a}), "qsig");
    EXPECT_EQ(server.job(a, "job_state"), "S");
    ok(client({"qsig", "-s", "resume", a}), "qsig");
    ok(client({"qrerun", a}), "qrerun");
    EXPECT_TRUE(wait_for([&] { return server.job(a, "run_count") == "2"; }));
    ok(as_runner({"qorder", b, c}), "qorder");
    ok(as_runner({"qsig", "-s", "KILL", a}), "qsig");
    ASSERT_TRUE(server.wait_job_state(c, "F"));
    EXPECT_EQ(server.job(c, "Exit_status"), "0");
    EXPECT_THAT(server.accounting(),
                HasSubstr(";A;" + b + ";Job deleted as result of dependency on job " + a));
    for (const char* command : {"qstop", "qdisable", "qenable", "qstart"})
        ok(client({command, "batch"}), command);
    EXPECT_EQ(as_runner({"qstop", "batch"}).exit, 2);
    ok(client({"qterm", "-t", "quick"}), "qterm");
    EXPECT_TRUE(wait_for([&] { return !server.running(); }));
}

TEST_F(OpenpbsJobs, WaitForTheirJobsAndTheirTerminals) {
    const Output blocked = as_runner({"qsub", "-S", "/bin/sh", "-W", "block=true"}, "exit 3\n");
    EXPECT_EQ(blocked.exit, 3) << blocked;
    if (access("/usr/bin/script", X_OK) != 0) return;
    RunOptions options;
    options.uid = runner().uid;
    options.input = "echo answer=$((6*7)); exit\n";
    options.folder = server.work();
    options.environment = {{"HOME", server.work().string()},
                           {"TERM", "vt220"},
                           {"SHELL", "/bin/sh"},
                           {"PBS_CONF_FILE", (server.work() / "pbs.conf").string()}};
    const std::string qsub = (prefix / "bin/qsub").string();
    const Output session = run({"/usr/bin/script", "-qec", qsub + " -I -S /bin/sh", "/dev/null"}, options);
    EXPECT_EQ(session.exit, 0) << session;
    EXPECT_THAT(session.out, AllOf(HasSubstr("ready"), HasSubstr("answer=42"), HasSubstr("completed")));
}

TEST_F(OpenpbsJobs, ArraysWithTheirSubjobs) {
    const std::string id = submit({"-J", "1-5%2"});
    ASSERT_THAT(id, ContainsRegex("^[0-9]+\\[\\]\\."));
    ASSERT_TRUE(wait_for([&] { return server.job(id, "array_indices_remaining") == "3-5"; }));
    const std::string array = id.substr(0, id.find(']'));
    const std::string all = ok(as_runner({"qstat", "-t", id}), "qstat -t");
    for (const char* index : {"", "1", "2", "3", "4", "5"})
        EXPECT_THAT(all, HasSubstr(array + index + "]")) << all;
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2 + 6) << all;
    EXPECT_THAT(ok(as_runner({"qstat", "-J"}), "qstat -J"), HasSubstr(" B "));
    const std::string some = ok(as_runner({"qstat", array + "2-4:2]"}), "qstat of a range");
    EXPECT_THAT(some, AllOf(HasSubstr(array + "2]"), HasSubstr(array + "4]"), Not(HasSubstr(array + "3]"))));
    const std::string full = ok(as_runner({"qstat", "-f", id}), "qstat -f");
    EXPECT_EQ(attribute_in(full, "array_state_count"), "Queued:3 Running:2 Exiting:0 Expired:0");
    EXPECT_EQ(ok(as_runner({"qselect", "-T", "-s", "R"}), "qselect -T"),
              array + "1]" + id.substr(id.find(']') + 1) + "\n" + array + "2]" + id.substr(id.find(']') + 1) +
                  "\n");
    ok(as_runner({"qdel", array + "5]"}), "qdel of a subjob");
    EXPECT_EQ(server.job(id, "array_indices_remaining"), "3-4");
    ok(as_runner({"qdel", id}), "qdel");
    EXPECT_TRUE(wait_for([&] { return as_runner({"qstat", id}).exit != 0; }));
}

}  // namespace
}  // namespace pbs::e2e
