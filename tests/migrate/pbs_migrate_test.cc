// The program, run as an administrator runs it.
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

Output run(const Folder& folder, const std::string& arguments) {
    const std::string command =
        std::string(PBS_MIGRATE) + " " + arguments + " >" + folder.path("out") + " 2>" + folder.path("err");
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
              "set policy default_policy exclude_resources = \"lic,naccelerators\"\n"
              "set policy default_policy preemption = False\n");
    EXPECT_EQ(done.err, "");
    const auto mistake =
        run(folder, "--dry-run --sched-config " + folder.write("bad", "by_queue: True\nby_queue: maybe\n"));
    EXPECT_EQ(mistake.status, 2);
    EXPECT_THAT(mistake.err, HasSubstr("bad:2:11: by_queue: 'maybe' is not True or False\n"));
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

}  // namespace
}  // namespace pbs::migrate::test
