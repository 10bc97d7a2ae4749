// Runs the program pbs_migrate as an administrator does.
#include <fcntl.h>
#include <sys/wait.h>

#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::HasSubstr;

struct Output {
    int status;
    std::string out;
    std::string err;
};

// Runs pbs_migrate in a shell, after the commands `before`.
Output run(const Folder& folder, const std::string& arguments, const std::string& before = "") {
    const std::string command = before + std::string(PBS_MIGRATE) + " " + arguments + " >" +
                                folder.path("out") + " 2>" + folder.path("err");
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): the shell redirects
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(folder.path("out")),
            read_text(folder.path("err"))};
}

const std::string kConfig = "SUBMIT_QUEUE submit\nBATCH_QUEUES small,large\n";

TEST(PbsMigrate, DryRunPrintsQmgrCommands) {
    const Folder folder;
    const auto run_ =
        run(folder, "--dry-run --config " + folder.write("config", kConfig + "TEST_ONLY flase\n") +
                        " --holidays " + folder.write("holidays", "359 Dec 25\n"));
    EXPECT_EQ(run_.status, 0) << run_.err;
    EXPECT_EQ(run_.out, "# " + folder.path("config") +
                            ":3: TEST_ONLY: 'flase' is read as False, as any word but true, yes, on and 1\n"
                            "set policy default_policy algorithm = origin\n"
                            "set policy default_policy submit_queue = submit\n"
                            "set policy default_policy batch_queues = \"small,large\"\n"
                            "set policy default_policy test_only = False\n"
                            "set server non_work_days += \"FREQ=YEARLY;BYYEARDAY=359\"\n");
    EXPECT_EQ(run_.err, "");
}

TEST(PbsMigrate, SchedConfigOfPbs) {
    const Folder folder;
    const std::string path = folder.write(
        "sched_config",
        "by_queue: True\nresources: \"ncpus, mem, vmem, hpm, ssinodes\"\ndedicated_prefix: ded\n");
    const auto done = run(folder, "--dry-run --sched-config " + path + " --queues work,ded1 --resources lic");
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.out,
              "set policy default_policy by_queue = True\n"
              "set policy default_policy help_starving_jobs = False\n"
              "set policy default_policy dedicated_queues = ded1\n"
              "set policy default_policy exclude_resources = \"lic,mpiprocs,naccelerators,nodect\"\n"
              "set policy default_policy preemption = False\n"
              "set queue ded1 execution_type = execution_dedicated\n");
    EXPECT_EQ(done.err, "");
    const std::string bad = folder.write("bad", "by_queue: False\nby_queue: maybe\n");
    const auto mistake = run(folder, "--dry-run --strict --sched-config " + bad);
    EXPECT_EQ(mistake.status, 2);
    EXPECT_THAT(mistake.err, HasSubstr("bad:2:11: by_queue: 'maybe' is not True or False\n"));
    // In other modes, the mistake gives a note, and all other lines are migrated.
    folder.write("home/server_priv/.keep", "");
    const std::string told = bad +
                             ":2:11: by_queue: 'maybe' is not True or False; it is read as True, as the "
                             "schedulers of PBS and TORQUE read it\n";
    for (const std::string& how :
         std::vector<std::string>{"--dry-run", "--check", "--diff --into " + folder.path("home"),
                                  "--into " + folder.path("home")}) {
        const auto lenient = run(folder, how + " --sched-config " + bad);
        EXPECT_EQ(lenient.status, 0) << how << lenient.err;
        EXPECT_THAT(lenient.out, HasSubstr((how == "--check" || how[2] == 'i' ? "note: " : "# ") + told))
            << how;
        const auto noted = run(folder, how + " --resources lic --sched-config " + path);
        EXPECT_EQ(noted.status, 0) << how << noted.err;
        EXPECT_THAT(noted.out, testing::Not(HasSubstr("has no effect"))) << how;
    }
    EXPECT_EQ(run(folder, "--dry-run --queues a --config " + path).status, 1);
    EXPECT_EQ(run(folder, "--dry-run --sched-config " + path + " --config " + path).status, 1);
}

TEST(PbsMigrate, MistakesAreOnStandardErrorWithStatus2) {
    const Folder folder;
    for (const std::string& mode : std::vector<std::string>{"--dry-run", "--into " + folder.path("home")}) {
        folder.write("home/server_priv/.keep", "");
        const auto run_ = run(folder, mode + " --config " + folder.write("config", kConfig + "MAX_JOBS x\n"));
        EXPECT_EQ(run_.status, 2);
        EXPECT_EQ(run_.out, "");
        EXPECT_THAT(run_.err, HasSubstr("pbs_migrate: " + folder.path("config") +
                                        ":3:10: MAX_JOBS: 'x' is not a number"));
        EXPECT_THAT(run_.err, HasSubstr("pbs_migrate: nothing was migrated\n"));
    }
}

TEST(PbsMigrate, IntoAHomeTwice) {
    const Folder folder;
    folder.write("home/server_priv/.keep", "");
    const std::string arguments =
        "--into " + folder.path("home") + " --config " + folder.write("config", kConfig);
    const auto first = run(folder, arguments);
    EXPECT_EQ(first.status, 0) << first.err;
    EXPECT_THAT(first.out, HasSubstr("SUBMIT_QUEUE -> policy default_policy submit_queue = submit\n"));
    EXPECT_THAT(first.out, HasSubstr("3 values were set.\n"));
    const auto second = run(folder, arguments);
    EXPECT_EQ(second.status, 0) << second.err;
    EXPECT_THAT(second.out, HasSubstr("Nothing was changed: everything is there already.\n"));
}

TEST(PbsMigrate, ChecksAndShowsDifferences) {
    const Folder folder;
    folder.write("home/server_priv/.keep", "");
    const std::string into = "--into " + folder.path("home");
    const std::string good = " --config " + folder.write("config", kConfig + "MAX_JOBS 3\n");
    const auto checked = run(folder, "--check" + good);
    EXPECT_EQ(checked.status, 0) << checked.err;
    EXPECT_EQ(checked.out + checked.err, "");
    EXPECT_FALSE(std::filesystem::exists(folder.path("home/server_priv/policy.db")));
    const auto fresh = run(folder, into + " --diff" + good);
    EXPECT_EQ(fresh.status, 0) << fresh.err;
    EXPECT_THAT(fresh.out, HasSubstr("+ policy default_policy max_jobs = 3\n"));
    ASSERT_EQ(run(folder, into + good).status, 0);
    EXPECT_EQ(run(folder, into + " --diff" + good).out, "");
    const auto other =
        run(folder, into + " --diff --config " +
                        folder.write("other", kConfig + "MAX_USER_RUN_JOBS 1\nBATCH_QUEUES huge\n"));
    EXPECT_EQ(other.out,
              "- policy default_policy batch_queues = small,large\n"
              "+ policy default_policy batch_queues = small,large,huge\n"
              "+ policy default_policy max_user_run_jobs = 1\n"
              "- policy default_policy max_jobs = 3\n");
    EXPECT_THAT(run(folder, into + good).out, HasSubstr("Nothing was changed")) << "--diff changes nothing";
    const auto bad = run(folder, "--check --config " + folder.write("bad", kConfig + "MAX_JOBS x\n"));
    EXPECT_EQ(bad.status, 2);
    EXPECT_EQ(bad.err, "pbs_migrate: " + folder.path("bad") +
                           ":3:10: MAX_JOBS: 'x' is not a number that isn't negative, such as 64\n");
}

TEST(PbsMigrate, ADifferenceOfHolidaysAndWhatNoCommandSays) {
    const Folder folder;
    folder.write("home/server_priv/.keep", "");
    const std::string config = "--config " + folder.write("config", kConfig);
    const std::string into = "--into " + folder.path("home") + " " + config;
    ASSERT_EQ(run(folder, into + " --holidays " + folder.write("holidays", "1\n2\n")).status, 0);
    EXPECT_EQ(run(folder, into + " --diff --holidays " + folder.write("other", "2\n3\n")).out,
              "+ server non_work_days = FREQ=YEARLY;BYYEARDAY=3\n"
              "- server non_work_days = FREQ=YEARLY;BYYEARDAY=1\n");
    const auto usage =
        run(folder, "--dry-run " + config + " --decay-usage " + folder.write("decay_usage", "Sat\ng:u 3\n"));
    EXPECT_THAT(usage.out, testing::StartsWith("# usage of past_usage: 1 record, which no command of qmgr "
                                               "sets\nset policy"));
    // --check also reports that the home doesn't exist.
    const auto checked = run(folder, "--check --into " + folder.path("none") + " " + config);
    EXPECT_EQ(checked.status, 2);
    EXPECT_EQ(run(folder, "--check " + into).out, "");
    EXPECT_EQ(run(folder, "--server --queues a --sched-config x").status, 1);
}

TEST(PbsMigrate, Json) {
    const Folder folder;
    const auto done = run(folder, "--dry-run --json --config " + folder.write("config", kConfig));
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, testing::AllOf(HasSubstr("\"target\": \"policy default_policy submit_queue\""),
                                         HasSubstr("\"before\": null"), HasSubstr("\"changed\": true"),
                                         HasSubstr("\"set policy default_policy submit_queue = submit\"")));
    const auto bad = run(folder, "--check --json --config " + folder.write("bad", kConfig + "MAX_JOBS x\n"));
    EXPECT_EQ(bad.status, 2);
    EXPECT_THAT(bad.out, testing::AllOf(HasSubstr("\"line\": 3"), HasSubstr("\"column\": 10"),
                                        HasSubstr("\"option\": \"MAX_JOBS\"")));
}

TEST(PbsMigrate, ThereAndBack) {
    const Folder folder;
    folder.write("home/server_priv/.keep", "");
    folder.write("back/.keep", "");
    const std::string into = "--into " + folder.path("home");
    const auto done = run(folder, into + " --sched-config " +
                                      folder.write("sched_config", "by_queue: True\nfair_share: True\n") +
                                      " --resource-group " + folder.write("resource_group", "g 10 root 5\n"));
    ASSERT_EQ(done.status, 0) << done.err;
    const auto config = run(folder, "--export sched_config " + folder.path("back") + " " + into);
    EXPECT_EQ(config.status, 0) << config.err;
    EXPECT_EQ(config.out, folder.path("back/sched_config") + " is written\n");
    EXPECT_THAT(read_text(folder.path("back/sched_config")), HasSubstr("\nfair_share: True\n"));
    EXPECT_EQ(run(folder, "--export resource_group " + folder.path("back") + " " + into).status, 0);
    EXPECT_THAT(read_text(folder.path("back/resource_group")), HasSubstr("g\t10\troot\t5\n"));
    const auto json = run(folder, "--export configfile " + folder.path("back") + " --json " + into);
    EXPECT_THAT(json.out, HasSubstr("algorithm = standard"));
    const auto twice = run(folder, "--export sched_config " + folder.path("back") + " " + into);
    EXPECT_EQ(twice.status, 2);
    EXPECT_THAT(twice.err, HasSubstr("back/sched_config: can't be written: File exists"));
    EXPECT_EQ(run(folder, "--export everything " + folder.path("back") + " " + into).status, 1);
    EXPECT_EQ(run(folder, "--export holidays " + folder.path("back") + " --check " + into).status, 1);
    EXPECT_EQ(run(folder, "--export holidays " + folder.path("back") + " --config x " + into).status, 1);
}

TEST(PbsMigrate, ResourcesThatNobodyKnowsSurviveTheWayBack) {
    const Folder folder;
    folder.write("home/server_priv/.keep", "");
    const std::string into = "--into " + folder.path("home");
    const auto done = run(folder, into + " --sched-config " +
                                      folder.write("sched_config", "resources: \"ncpus, mem, netwins\"\n") +
                                      " --resourcedef " + folder.write("resourcedef", "lic flag=q\n"));
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out,
                testing::AllOf(HasSubstr("sched_config:1: resources: 'netwins' is not a known resource"),
                               HasSubstr("the server carries them out at its next start")));
    ASSERT_EQ(run(folder, "--export sched_config " + folder.path("home") + " " + into).status, 0);
    EXPECT_THAT(read_text(folder.path("home/sched_config")),
                HasSubstr("\nresources: \"mem, ncpus, aoe, arch, eoe, host, "
                          "vnode, netwins\"\n"));
}

TEST(PbsMigrate, RefusesWhileAServerRuns) {
    const Folder folder;
    const std::string lock = folder.write("home/server_priv/server.lock", "1\n");
    const int fd = ::open(lock.c_str(), O_RDWR | O_CLOEXEC);
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    ASSERT_EQ(::fcntl(fd, F_SETLK, &whole), 0);
    const auto run_ =
        run(folder, "--into " + folder.path("home") + " --config " + folder.write("config", kConfig));
    ::close(fd);
    EXPECT_EQ(run_.status, 2);
    EXPECT_THAT(run_.err, HasSubstr("a server runs on " + folder.path("home")));
    EXPECT_FALSE(std::filesystem::exists(folder.path("home/server_priv/policy.db")));
}

TEST(PbsMigrate, RefusesWhileARestoreIsUnfinished) {
    const Folder folder;
    folder.write("home/server_priv/restore.journal", "replaced-x\n");
    const auto run_ =
        run(folder, "--into " + folder.path("home") + " --config " + folder.write("config", kConfig));
    EXPECT_EQ(run_.status, 2);
    EXPECT_THAT(run_.err, HasSubstr("restore.journal is there: a restore is unfinished; start the server"));
    EXPECT_FALSE(std::filesystem::exists(folder.path("home/server_priv/policy.db")));
}

TEST(PbsMigrate, WrongUsage) {
    const Folder folder;
    EXPECT_THAT(run(folder, "--config x").err, HasSubstr("expected --dry-run, or --into HOME"));
    EXPECT_EQ(run(folder, "--config x").status, 1);
    EXPECT_EQ(run(folder, "--dry-run").status, 1);
    EXPECT_EQ(run(folder, "--nonsense").status, 1);
    EXPECT_EQ(run(folder, "--dry-run --into x --config y").status, 1);
    const auto nowhere =
        run(folder, "--into " + folder.path("none") + " --config " + folder.write("config", kConfig));
    EXPECT_EQ(nowhere.status, 2);
    EXPECT_THAT(nowhere.err, HasSubstr("is not the home of a PBS server"));
    const auto help = run(folder, "--help");
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, HasSubstr("while no server"));
}

TEST(PbsMigrate, AnExportThatDoesNotFitLeavesNoBeginningOfAFile) {
    const Folder folder;
    folder.write("home/server_priv/.keep", "");
    folder.write("back/.keep", "");
    std::string tree;
    for (int i = 0; i < 5000; ++i) tree += "user" + std::to_string(i) + " 60 root 5\n";
    const std::string into = "--into " + folder.path("home");
    ASSERT_EQ(run(folder, into + " --resource-group " + folder.write("resource_group", tree)).status, 0);
    const std::string arguments = into + " --export resource_group " + folder.path("back");
    // The shell commands limit files to 64 KiB, and ignore the signal that a longer file causes.
    const auto full = run(folder, arguments, "trap '' XFSZ; ulimit -f 128; ");
    EXPECT_EQ(full.status, 2);
    EXPECT_THAT(full.err, HasSubstr("back/resource_group: can't be written: File too large\n"));
    EXPECT_FALSE(std::filesystem::exists(folder.path("back/resource_group")));
    EXPECT_EQ(run(folder, arguments).status, 0);
    EXPECT_THAT(read_text(folder.path("back/resource_group")), HasSubstr("\nuser4999"));
    EXPECT_THAT(run(folder, arguments).err, HasSubstr("File exists"));
}

}  // namespace
}  // namespace pbs::migrate::test
