#include "server_plugin/host/base/daemonize.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

namespace pbs::host {
namespace {

// Forks a process that goes into the background and runs `body` there. Returns the exit status of the process
// in the foreground.
template <typename Body>
int exit_status_of(Body body) {
    const pid_t command = ::fork();
    if (command == 0) {
        auto daemon = Daemon::detach();
        if (daemon) body(*daemon);
        ::_exit(daemon ? 0 : 3);
    }
    int status = 0;
    ::waitpid(command, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(DaemonTest, TheCommandReturnsWhenTheServerIsReady) {
    const std::string path = testing::TempDir() + "daemon." + std::to_string(::getpid());
    const int status = exit_status_of([&](Daemon& daemon) {
        ::usleep(100'000);
        std::ofstream(path) << ::getsid(0) << " " << ::getpid() << "\n";
        daemon.ready();
        ::sleep(1);
    });
    EXPECT_EQ(status, 0);
    // The file that `body` wrote before ready() exists when the command returns. The daemon leads a session
    // of its own.
    pid_t session = 0;
    pid_t pid = 0;
    std::ifstream(path) >> session >> pid;
    EXPECT_GT(pid, 0);
    EXPECT_EQ(session, pid);
    EXPECT_NE(session, ::getsid(0));
    EXPECT_EQ(::kill(pid, 0), 0);
    ::kill(pid, SIGKILL);
    ::unlink(path.c_str());
}

// What the server writes last, such as the reason of a failed start, is there when the command returns.
TEST(DaemonTest, TheCommandReturnsAfterTheLastMessageOfAFailedStart) {
    const std::string path = testing::TempDir() + "message." + std::to_string(::getpid());
    const int status = exit_status_of([&](Daemon& daemon) {
        { const Daemon gone(std::move(daemon)); }
        ::usleep(100'000);
        std::ofstream(path) << "the reason\n";
        ::_exit(1);
    });
    EXPECT_EQ(status, 1);
    EXPECT_EQ(::unlink(path.c_str()), 0);
}

TEST(DaemonTest, TheCommandFailsWhenTheServerDoes) {
    EXPECT_EQ(exit_status_of([](Daemon&) { ::_exit(0); }), 1);
}

}  // namespace
}  // namespace pbs::host
