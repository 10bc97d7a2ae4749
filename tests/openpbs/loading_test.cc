// Tests which processes load the plugin, and what the server does if a part of the plugin is damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class OpenpbsLoading : public OpenpbsTest {
  protected:
    void SetUp() override {
        OpenpbsTest::SetUp();
        if (!IsSkipped()) site.emplace();
    }
    // Returns a new folder with copies of the plugin's files, which tests can damage.
    std::string copy() const {
        return site->ok(
            "d=$(mktemp -d /var/spool/copyXXXXXX); chmod 755 $d; cp $ours/pbs_policy*.so $d; echo -n $d");
    }
    void works_without() const {
        EXPECT_EQ(site->stock_qmgr("set queue workq Priority = 3").exit, 0);
        EXPECT_EQ(site->sh("echo true | $stock/qsub", "una").exit, 0);
        EXPECT_THAT(site->stock_qmgr("list sched").out, Not(HasSubstr("policy =")));
    }

    std::optional<Site> site;
};

// Lists the programs that have a file of the plugin mapped, each with the number of its processes.
constexpr const char* kWhoHasIt =
    "for p in /proc/[0-9]*; do grep -q pbs_policy $p/maps 2>/dev/null && basename $(readlink $p/exe); done | "
    "sort | uniq -c | tr -s ' '";

TEST_F(OpenpbsLoading, OnlyPbsServerHasIt) {
    site->install();
    site->start_with_plugin();
    EXPECT_EQ(site->ok(kWhoHasIt), " 1 pbs_server.bin\n");
    // Processes that the server starts later, such as a hook's program or a job, have nothing of the plugin.
    EXPECT_TRUE(site->wait_for_node());
    site->ok(
        "cat > /tmp/h.py <<'END'\nimport os, subprocess\n"
        "subprocess.call('env > /var/spool/pbs/hook.env; cat /proc/self/maps > /var/spool/pbs/hook.maps', "
        "shell=True)\nEND\n"
        "$stock/qmgr -c 'create hook h'; $stock/qmgr -c 'set hook h event = queuejob'; "
        "$stock/qmgr -c 'import hook h application/x-python default /tmp/h.py'");
    site->ok("echo 'env > /tmp/una.env' | $stock/qsub -o /dev/null -e /dev/null", "una");
    EXPECT_TRUE(
        wait_for([&] { return site->sh("test -s /tmp/una.env").exit == 0; }, std::chrono::seconds(30)))
        << site->log();
    EXPECT_THAT(site->ok("cat /var/spool/pbs/hook.env /var/spool/pbs/hook.maps /tmp/una.env"),
                Not(AnyOf(HasSubstr("pbs_policy"), HasSubstr("PBS_POLICY"), HasSubstr("LD_PRELOAD"))));
    EXPECT_EQ(site->ok(kWhoHasIt), " 1 pbs_server.bin\n");
}

TEST_F(OpenpbsLoading, AnotherPreloadedObjectStays) {
    site->install();
    site->ok(
        "f=$(dirname $stock)/lib/init.d/limits.pbs_server; "
        "(echo export LD_PRELOAD=libSegFault_not_there.so; cat $f) > /tmp/f; cp /tmp/f $f");
    site->start_with_plugin();
    EXPECT_THAT(site->ok("cat /proc/$(cat /var/spool/pbs/server_priv/server.lock)/environ | tr '\\0' '\\n'"),
                HasSubstr("pbs_policy_preload.so:libSegFault_not_there.so"));
}

TEST_F(OpenpbsLoading, WithAModuleThatIsNone) {
    const std::string folder = copy();
    site->install("--library " + folder);
    site->ok("cp $(ldconfig -p | sed -n 's/.*=> \\(.*libz.so.1\\)$/\\1/p' | head -n 1) " + folder +
             "/pbs_policy_openpbs.so; $ours/pbs_policy_install --openpbs --renew --library " + folder);
    site->start();
    EXPECT_TRUE(site->wait_for_log("the module has no entry pbs_policy_openpbs_attach")) << site->log();
    works_without();
}

TEST_F(OpenpbsLoading, WithoutThePlugin) {
    const std::string folder = copy();
    site->install("--library " + folder);
    site->ok("rm " + folder + "/pbs_policy.so");
    site->start();
    EXPECT_TRUE(site->wait_for_log("policy objects are not available: " + folder + "/pbs_policy.so"))
        << site->log();
    EXPECT_THAT(site->qmgr("create policy p1").err, HasSubstr("policy objects are not available"));
    EXPECT_THAT(site->qmgr("create policy p1", "una").err, HasSubstr("15007"));
    works_without();
}

// The preloaded function stands in for a libpbs of another version, which encodes a reply in another way.
TEST_F(OpenpbsLoading, WithALibraryThatIsNotAsExpected) {
    site->install();
    site->ok(
        "cat > /tmp/odd.c <<'END'\n#define _GNU_SOURCE\n#include <dlfcn.h>\n"
        "int encode_DIS_reply(int sock, int* reply) {\n"
        "    int (*real)(int, int*) = (int (*)(int, int*))dlsym(RTLD_NEXT, \"encode_DIS_reply\");\n"
        "    if (reply[0] == 15004 && reply[1] == 7) reply[0] = 15005;\n    return real(sock, "
        "reply);\n}\nEND\n"
        "cc -shared -fPIC -o /var/spool/odd_pbs.so /tmp/odd.c; "
        "f=$(dirname $stock)/lib/init.d/limits.pbs_server; "
        "(echo export LD_PRELOAD=/var/spool/odd_pbs.so; cat $f) > /tmp/f; cp /tmp/f $f");
    site->start();
    EXPECT_TRUE(site->wait_for_log("libpbs encoded reply 15004 with auxiliary code 7 as 15005"))
        << site->log();
    works_without();
}

TEST_F(OpenpbsLoading, WithADamagedStore) {
    site->install();
    site->start_with_plugin();
    EXPECT_EQ(site->qmgr("create policy p1").exit, 0);
    site->stop();
    site->ok(
        "cd /var/spool/pbs/server_priv; cp policy.db good.db; rm -f policy.db-*; "
        "dd if=/dev/urandom of=policy.db bs=4096 seek=1 count=3 conv=notrunc 2>/dev/null");
    site->start();
    EXPECT_TRUE(site->wait_for_log("policy objects are not available: ")) << site->log();
    EXPECT_THAT(site->qmgr("create policy p2").err, HasSubstr("policy objects are not available"));
    EXPECT_THAT(site->qmgr("list policy p1").err, HasSubstr("policy objects are not available"));
    EXPECT_THAT(site->ok("$stock/qmgr -c 'list sched'"),
                HasSubstr("policy_service = policy objects are not available: "));
    works_without();
}

// Makes a write of the service fail as on a full disk, while the service answers a request.
TEST_F(OpenpbsLoading, WithAFullDisk) {
    site->install();
    site->start_with_plugin();
    EXPECT_EQ(site->qmgr("create policy p1").exit, 0);
    site->ok(
        "pid=$(cat /var/spool/pbs/server_priv/server.lock); prlimit --pid $pid --fsize=$(stat -c %s "
        "/var/spool/pbs/server_priv/policy.db-wal 2>/dev/null || echo 4096):unlimited");
    const Output refused = site->qmgr("create policy p2");
    site->ok("prlimit --pid $(cat /var/spool/pbs/server_priv/server.lock) --fsize=unlimited:unlimited");
    EXPECT_NE(refused.exit, 0) << refused;
    EXPECT_EQ(site->qmgr("list policy p1").exit, 0);
    EXPECT_NE(site->qmgr("list policy p2").exit, 0);
    EXPECT_EQ(site->qmgr("create policy p3").exit, 0);
}

// Prints the files that pbs_policy_install changes, with their modes and owners.
constexpr const char* kInstalled =
    "cd $(dirname $stock)/lib/init.d && for f in * /etc/pbs.conf*; do stat -c '%n %a %U' $f; cat $f; done";

TEST_F(OpenpbsLoading, TakenOutNothingIsLeft) {
    const std::string before = site->ok(kInstalled);
    site->install();
    EXPECT_THAT(site->ok("$ours/pbs_policy_install --openpbs --status"), HasSubstr("attachment: inside"));
    site->install("--beside");
    EXPECT_THAT(site->ok("$ours/pbs_policy_install --openpbs --status"), HasSubstr("attachment: beside"));
    site->start_with_plugin();
    site->ok("$ours/pbs_policy_install --openpbs --remove");
    EXPECT_EQ(site->ok(kInstalled), before);
    EXPECT_EQ(site->ok("pgrep pbs_policyd || echo none"), "none\n");
    // The running server goes on. Its next start is without the plugin.
    EXPECT_THAT(site->qmgr("list policy @default").err, HasSubstr("pbs_policyd doesn't answer"));
    site->stop();
    site->start();
    works_without();
    EXPECT_EQ(site->ok(std::string(kWhoHasIt) + "; echo -n"), "");
    EXPECT_THAT(site->refused("$ours/pbs_policy_install --openpbs --remove"),
                HasSubstr("nothing of pbs_policy is there"));
}

TEST_F(OpenpbsLoading, StatusTellsOfPoliciesAndOfTheLatestStart) {
    const std::string folder = copy();
    const auto status = [&] { return site->ok("$ours/pbs_policy_install --openpbs --status"); };
    const auto start_with_damaged = [&](const std::string& object, const std::string& said) {
        site->stop();
        site->ok("cp $ours/pbs_policy*.so " + folder + "; truncate -s 5000 " + folder + "/" + object);
        site->start();
        EXPECT_TRUE(site->wait_for_log(said + ": " + folder + "/" + object)) << site->log();
    };
    site->install("--library " + folder);
    site->start_with_plugin();
    EXPECT_THAT(status(),
                AllOf(HasSubstr("\nserver: attached since 20"), HasSubstr("\npolicies: available\n")));
    start_with_damaged("pbs_policy.so", "policy objects are not available");
    EXPECT_THAT(status(), AllOf(HasSubstr("\nserver: attached since 20"),
                                HasSubstr("\npolicies: not available: " + folder +
                                          "/pbs_policy.so: 5000 bytes, expected ")));
    start_with_damaged("pbs_policy_openpbs.so", "the server goes on without");
    EXPECT_THAT(status(), HasSubstr("\nserver: not attached: " + folder +
                                    "/pbs_policy_openpbs.so: 5000 bytes, expected "));
    // The log of the day still has the reason of the earlier start.
    site->ok("$ours/pbs_policy_install --openpbs --remove");
    site->stop();
    site->start();
    EXPECT_EQ(status(), "not installed\nserver: not attached\n");
}

TEST_F(OpenpbsLoading, InstallRefusesWhatItCantDo) {
    EXPECT_THAT(site->refused("$ours/pbs_policy_install"), HasSubstr("--openpbs expected"));
    EXPECT_THAT(site->refused("$ours/pbs_policy_install --openpbs --exec /nowhere"),
                HasSubstr("/nowhere: expected an installed OpenPBS"));
    EXPECT_THAT(site->refused("$ours/pbs_policy_install --openpbs --library /usr/lib"),
                HasSubstr("there is no pbs_policy_preload.so"));
    EXPECT_THAT(site->refused("$ours/pbs_policy_install --openpbs --besides"), HasSubstr("not an option"));
    EXPECT_THAT(site->refused("$ours/pbs_policy_install --openpbs", "una"), HasSubstr("root is needed"));
    EXPECT_THAT(site->refused("$ours/pbs_policy_install --openpbs --status --remove"),
                HasSubstr("--remove: not with --status"));
    for (const char* option : {"--status --library", "--remove --library", "--renew --exec"}) {
        const std::string action = std::string(option).substr(0, std::string(option).find(' '));
        const std::string without = std::string(option).substr(action.size() + 1);
        EXPECT_EQ(site->refused("$ours/pbs_policy_install --openpbs " + std::string(option) + " /usr"),
                  "pbs_policy_install: " + without + ": not with " + action + "\n");
    }
    EXPECT_THAT(site->refused("$ours/pbs_policy_install --openpbs --renew --library /usr/lib"),
                HasSubstr("there is no pbs_policy_preload.so"));
}

TEST_F(OpenpbsLoading, InstallRefusesAServerThatItCantGetInto) {
    const std::string folder = copy();
    const auto refusal = [&](const std::string& script) {
        const std::string before = site->ok(kInstalled);
        site->ok("s=$(dirname $stock)/sbin/pbs_server.bin d=" + folder + "; " + script);
        const std::string told =
            site->refused("$ours/pbs_policy_install --openpbs --scheduler --library " + folder);
        EXPECT_EQ(site->ok(kInstalled), before);
        return told;
    };
    EXPECT_THAT(refusal("truncate -s 5000 $d/pbs_policy.so"),
                HasSubstr("pbs_policy.so: signal 7 ended the process that loaded it first"));
    EXPECT_THAT(refusal("cp $ours/pbs_policy.so $d; truncate -s 5000 $d/pbs_policy_preload.so"),
                HasSubstr("pbs_server.bin can't have the plugin: "));
    // The server of an earlier release has libpbs linked into it.
    EXPECT_THAT(
        refusal("cp $ours/pbs_policy_preload.so $d; cp " PBS_BUILD_DIR
                "/tests/openpbs/built_in/pbs_server.bin $s"),
        HasSubstr(
            "/sbin/pbs_server.bin can't have the plugin: this pbs_server doesn't import decode_DIS_ReqHdr"));
}

TEST_F(OpenpbsLoading, InstallChangesAllFilesOrNone) {
    site->ok("printf 'ulimit -n 4096' > $(dirname $stock)/lib/init.d/limits.pbs_server");  // no newline
    const std::string before = site->ok(kInstalled);
    site->ok("mount --bind /etc/pbs.conf /etc/pbs.conf; mount -o remount,ro,bind /etc/pbs.conf");
    EXPECT_THAT(site->refused("$ours/pbs_policy_install --openpbs --scheduler"),
                HasSubstr("/etc/pbs.conf: can't be changed"));
    EXPECT_EQ(site->ok(kInstalled), before);
    // The file can be written, but not replaced.
    site->ok("mount -o remount,rw,bind /etc/pbs.conf");
    for (const char* option : {"", "--scheduler"}) site->install(option);
    EXPECT_THAT(site->ok("cat /etc/pbs.conf"), HasSubstr("\nPBS_POLICY_SCHEDULER=1\n"));
    site->ok("$ours/pbs_policy_install --openpbs --remove");
    EXPECT_EQ(site->ok(kInstalled), before);
    site->ok("umount /etc/pbs.conf");
}

TEST_F(OpenpbsLoading, InstallLeavesLinksAndDamagedBlocksAsTheyAre) {
    site->ok("mv /etc/pbs.conf /etc/its.conf; ln -s its.conf /etc/pbs.conf");
    site->install("--scheduler");
    EXPECT_EQ(site->ok("readlink /etc/pbs.conf"), "its.conf\n");
    site->ok("sed -i '/^# <<< pbs_policy/d' /etc/its.conf; echo '# mine' >> /etc/its.conf");
    const std::string damaged = site->ok(kInstalled);
    for (const char* option : {"", "--remove", "--status"})
        EXPECT_THAT(site->refused(std::string("$ours/pbs_policy_install --openpbs ") + option),
                    HasSubstr("/etc/its.conf: the lines of pbs_policy there are damaged"));
    EXPECT_EQ(site->ok(kInstalled), damaged);
}

class OpenpbsBeside : public PolicySite {
  protected:
    std::string options() const override { return "--beside"; }
};

TEST_F(OpenpbsBeside, TheDaemonIsKilledAndStartedAgain) {
    EXPECT_EQ(site->ok(kWhoHasIt), " 2 pbs_policyd\n 1 pbs_server.bin\n");
    EXPECT_EQ(
        site->ok("grep -c pbs_policy.so /proc/$(cat /var/spool/pbs/server_priv/server.lock)/maps || true"),
        "0\n");
    EXPECT_EQ(site->qmgr("create policy p1").exit, 0);
    EXPECT_EQ(site->qmgr("set sched default policy = p1").exit, 0);
    // Kill the supervisor and the service, so that nobody starts the service again.
    site->ok("pkill -9 pbs_policyd");
    EXPECT_THAT(site->qmgr("create policy p2").err, HasSubstr("pbs_policyd doesn't answer"));
    EXPECT_THAT(site->qmgr("create policy p2", "una").err, HasSubstr("15007"));
    EXPECT_EQ(site->stock_qmgr("set queue workq Priority = 3").exit, 0);
    EXPECT_THAT(site->stock_qmgr("list sched").out, HasSubstr("policy_service = pbs_policyd doesn't answer"));
    EXPECT_THAT(site->qmgr("set queue workq time_window = t1, Priority = 4").err,
                HasSubstr("pbs_policyd doesn't answer"));
    EXPECT_THAT(site->stock_qmgr("list queue workq").out, HasSubstr("Priority = 3"));
    site->ok("$ours/pbs_policyd --daemon");
    EXPECT_TRUE(wait_for([&] { return site->qmgr("create policy p3").exit == 0; }, std::chrono::seconds(40)));
    EXPECT_EQ(attribute_in(site->stock_qmgr("list sched").out, "policy"), "p1");
    EXPECT_THAT(site->stock_qmgr("list sched").out, Not(HasSubstr("policy_service")));
    // Kill the service alone: its supervisor starts it again.
    site->ok("kill -9 $(pgrep -P $(cat /var/spool/pbs/server_priv/policyd.pid))");
    EXPECT_TRUE(wait_for([&] { return site->qmgr("create policy p4").exit == 0; }, std::chrono::seconds(40)));
    EXPECT_THAT(site->ok("cat /var/spool/pbs/server_priv/policyd.log"), HasSubstr("was ended by signal 9"));
    // Kill the server alone: the daemon serves the next one.
    site->kill_server();
    site->start_with_plugin();
    EXPECT_EQ(site->qmgr("list policy p4").exit, 0);
    site->ok("$ours/pbs_policyd --daemon");
    EXPECT_EQ(site->ok(kWhoHasIt), " 2 pbs_policyd\n 1 pbs_server.bin\n");
}

// systemd, in place of pbs_policyd's own supervisor, may run the daemon in the foreground, and start it again
// whenever it ends.
TEST_F(OpenpbsBeside, TheDaemonIsLookedAfterByOthers) {
    site->ok(
        "$ours/pbs_policyd --stop; (while true; do $ours/pbs_policyd; sleep 0.2; done) > /dev/null 2>&1 < "
        "/dev/null "
        "& while ! test -S /var/spool/pbs/server_priv/policyd.sock; do sleep 0.05; done");
    site->stop();
    site->start();
    EXPECT_EQ(site->ok("pgrep -c pbs_policyd; test -e /var/spool/pbs/server_priv/policyd.pid || echo none"),
              "1\nnone\n");
    EXPECT_TRUE(wait_for([&] { return site->qmgr("create policy p1").exit == 0; }, std::chrono::seconds(40)));
    site->ok("kill -9 $(pgrep pbs_policyd)");
    EXPECT_TRUE(wait_for([&] { return site->qmgr("create policy p2").exit == 0; }, std::chrono::seconds(40)));
    EXPECT_EQ(site->qmgr("list policy p1").exit, 0);
}

// Copies the programs of an installation to a folder, and installs the plugin from there.
constexpr const char* kOwnInstallation =
    "mkdir -m 755 /var/spool/own; cd /var/spool/own; cp $ours/pbs_policyd $ours/pbs_policy_install "
    "$ours/qmgr "
    "$ours/pbs_policy*.so .; ./pbs_policy_install --openpbs --beside; ";

TEST_F(OpenpbsBeside, ADaemonOfAnotherVersionIsReplacedWhenTheServerStarts) {
    const auto restarted = [&](const std::string& policy) {
        site->stop();
        site->start();
        EXPECT_TRUE(wait_for([&] { return site->qmgr("create policy " + policy).exit == 0; },
                             std::chrono::seconds(40)));
        EXPECT_EQ(site->ok("pgrep -c pbs_policyd"), "2\n");
        return site->ok("p=$(cat /var/spool/pbs/server_priv/policyd.pid); echo $p $(readlink /proc/$p/exe)");
    };
    const std::string first = restarted("p1");
    EXPECT_EQ(restarted("p2"), first) << "a daemon as wanted stays";
    site->ok(kOwnInstallation);
    const std::string second = restarted("p3");
    EXPECT_THAT(second, HasSubstr(" /var/spool/own/pbs_policyd\n"));
    EXPECT_EQ(restarted("p4"), second);
    EXPECT_THAT(site->ok("cat /var/spool/pbs/server_priv/policyd.log"),
                HasSubstr("is another pbs_policyd: it executes "));
    site->ok("cd /var/spool/own; cp pbs_policy.so new; mv new pbs_policy.so");
    const std::string third = restarted("p5");
    EXPECT_NE(third, second);
    EXPECT_EQ(restarted("p6"), third);
    site->ok(
        "mkdir -m 755 /var/spool/lib2; cd /var/spool/lib2; cp $ours/pbs_policy*.so .; "
        "../own/pbs_policy_install --openpbs --beside --library $PWD");
    const std::string fourth = restarted("p7");
    EXPECT_NE(fourth, third);
    EXPECT_EQ(site->ok("grep -q /var/spool/lib2/pbs_policy.so "
                       "/proc/$(pgrep -P $(cat /var/spool/pbs/server_priv/policyd.pid))/maps && echo loaded"),
              "loaded\n");
    EXPECT_EQ(restarted("p8"), fourth);
    for (int i = 0; i < 5; ++i) {
        const std::string program = i % 2 == 0 ? "$ours/pbs_policyd" : "/var/spool/own/pbs_policyd";
        EXPECT_EQ(site->ok("for i in 1 2 3 4 5 6; do (" + program +
                           " --daemon || echo refused) & done; wait; "
                           "while [ $(pgrep -c pbs_policyd) != 2 ]; do sleep 0.1; done; "
                           "readlink /proc/$(cat /var/spool/pbs/server_priv/policyd.pid)/exe | grep -c ^" +
                           program),
                  "1\n")
            << "six start at once in place of another one";
    }
}

TEST_F(OpenpbsBeside, ADaemonThatOthersLookAfterIsReplacedByThem) {
    const std::string daemons = "for p in $(pgrep pbs_policyd); do echo $p $(readlink /proc/$p/exe); done";
    site->ok(std::string(kOwnInstallation) +
             "./pbs_policyd --stop; (while true; do ./pbs_policyd; sleep 0.2; done) > /dev/null 2>&1 < "
             "/dev/null & "
             "while ! test -S /var/spool/pbs/server_priv/policyd.sock; do sleep 0.05; done");
    const auto restarted = [&](const std::string& policy) {
        site->stop();
        site->start();
        EXPECT_TRUE(wait_for([&] { return site->qmgr("create policy " + policy).exit == 0; },
                             std::chrono::seconds(40)));
        EXPECT_EQ(site->ok("test -e /var/spool/pbs/server_priv/policyd.pid || echo none"), "none\n");
        return site->ok(daemons);
    };
    const std::string first = restarted("p1");
    EXPECT_EQ(restarted("p2"), first);
    site->ok("cd /var/spool/own; cp pbs_policyd new; mv new pbs_policyd");
    const std::string second = restarted("p3");
    EXPECT_NE(second, first);
    EXPECT_THAT(second, MatchesRegex("[0-9]+ /var/spool/own/pbs_policyd\n"));
    // A pbs_policyd of another installation can't replace this daemon, because the loop starts it again.
    EXPECT_THAT(site->refused("$ours/pbs_policyd --daemon"),
                HasSubstr("is another pbs_policyd, which is started again if ended: it executes "
                          "/var/spool/own/pbs_policyd"));
    EXPECT_THAT(site->ok(daemons), MatchesRegex("[0-9]+ /var/spool/own/pbs_policyd\n"));
}

TEST_F(OpenpbsBeside, TheSchedulerIsTheChosenOneAfterARestart) {
    EXPECT_TRUE(site->wait_for_node());
    EXPECT_EQ(site->qmgr("set node box resources_available.ncpus = 100").exit, 0);
    const auto job_runs = [&] {
        const std::string id = stripped(
            site->ok("cd /; echo sleep 1000 | $stock/qsub -o /dev/null -e /dev/null -l ncpus=1", "una"));
        return wait_for(
            [&] { return site->sh("$stock/qstat -f " + id + " | grep -q 'job_state = R'").exit == 0; },
            std::chrono::seconds(40));
    };
    const auto scheduled_by = [&](const std::string& name) {
        return wait_for(
            [&] { return attribute_in(site->stock_qmgr("list sched default").out, "scheduled_by") == name; },
            std::chrono::seconds(40));
    };
    EXPECT_TRUE(job_runs());
    site->install("--beside --scheduler");
    site->ok("pkill -x pbs_sched");
    site->stop();
    site->start_with_plugin();
    EXPECT_TRUE(scheduled_by("pbs_policy"));
    EXPECT_TRUE(site->wait_for_node());
    EXPECT_TRUE(job_runs()) << site->log();
    site->install("--beside");
    site->stop();
    site->start_with_plugin();
    EXPECT_THAT(site->stock_qmgr("list sched default").out, Not(HasSubstr("scheduled_by")));
    EXPECT_TRUE(site->wait_for_node());
    EXPECT_TRUE(job_runs()) << site->log();
    EXPECT_EQ(site->logged("sched", "Scheduler already connected"), 0);
}

TEST_F(OpenpbsBeside, AStalledDaemonHoldsNobodyUp) {
    EXPECT_EQ(site->qmgr("create policy p1").exit, 0);
    site->ok("kill -STOP $(pgrep -P $(cat /var/spool/pbs/server_priv/policyd.pid))");
    // A request that needs the stopped daemon waits. Requests that the server answers itself don't wait.
    const std::string script =
        "($ours/qmgr -c 'create policy p2' > /tmp/alice.out 2>&1; echo exit $? >> /tmp/alice.out) > "
        "/dev/null 2>&1 & sleep 0.3; "
        "b=$(date +%s%N); for i in $(seq 20); do $stock/qstat -B > /dev/null; done; e=$(date +%s%N); "
        "echo $(( (e - b) / 1000000 / 20 ))";
    EXPECT_LT(number_of(site->ok(script, "alice")), 1000);
    site->ok("kill -CONT $(pgrep -P $(cat /var/spool/pbs/server_priv/policyd.pid))");
    EXPECT_TRUE(wait_for([&] { return site->sh("grep -q '^exit' /tmp/alice.out").exit == 0; }));
    EXPECT_THAT(site->ok("cat /tmp/alice.out"), HasSubstr("exit 0"));
    EXPECT_EQ(site->qmgr("list policy p2").exit, 0);
}

}  // namespace
}  // namespace pbs::e2e
