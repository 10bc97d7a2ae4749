// Tests that acknowledged changes survive kill -9.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {

// Creates policies p0, p1 and so on, until this process, a child, is killed. Writes a byte to `acknowledged`
// after each success.
[[noreturn]] void create_for_ever(const std::filesystem::path& home, int acknowledged) {
    FakeHost host(home);
    host.bring_up();
    for (int i = 0;; ++i) {
        const Answer made =
            host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "p" + std::to_string(i), {{"backfill_depth", "7"}});
        if (made.code != 0 || write(acknowledged, "x", 1) != 1) _exit(1);
    }
}

TEST(Durability, AcknowledgedChangesSurviveKill9) {
    const FakeHost folder;
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        close(pipe_ends[0]);
        create_for_ever(folder.home(), pipe_ends[1]);
    }
    close(pipe_ends[1]);
    int acknowledged = 0;
    char byte = 0;
    while (acknowledged < 25 && read(pipe_ends[0], &byte, 1) == 1) ++acknowledged;
    ASSERT_EQ(kill(child, SIGKILL), 0);
    while (read(pipe_ends[0], &byte, 1) == 1) ++acknowledged;
    close(pipe_ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    ASSERT_GE(acknowledged, 25);

    FakeHost host(folder.home());
    host.bring_up();
    for (int i = 0; i < acknowledged; ++i) {
        EXPECT_EQ(host.status(PBS_OBJ_POLICY, "p" + std::to_string(i)).value("backfill_depth"), "7") << i;
    }
}

}  // namespace
}  // namespace pbs::plugin_test
