#include "server_plugin/host/run/process_tree.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

namespace pbs::host {
namespace {

TEST(ParseStat, ReadsTheFieldsWhateverTheName) {
    const auto process = parse_stat(
        "4711 (a) b (c) S 1 4711 4710 0 -1 4194560 1 2 3 4 100 50 7 3 20 0 1 0 98765 "
        "10485760 300 18446744073709551615 1 1 0 0 0 0 0 0 0\n");
    ASSERT_TRUE(process);
    EXPECT_EQ(process->pid, 4711);
    EXPECT_EQ(process->state, 'S');
    EXPECT_EQ(process->parent, 1);
    EXPECT_EQ(process->session, 4710);
    EXPECT_EQ(process->cpu, 160U);
    EXPECT_EQ(process->threads, 1);
    EXPECT_EQ(process->start, 98765U);
    EXPECT_EQ(process->vmem_kb, 10240);
    EXPECT_EQ(process->mem_kb, 300 * ::sysconf(_SC_PAGESIZE) / 1024);
}

TEST(ParseStat, RefusesWhatIsNoStatLine) {
    for (const auto* bad : {"", "4711", "4711 (x", "4711 (x)", "4711 (x) S", "4711 (x) S 1 2 3", "x (y) S 1"})
        EXPECT_FALSE(parse_stat(bad)) << bad;
}

TEST(ProcessTree, FindsProcessesBelowAnother) {
    const pid_t child = ::fork();
    if (child == 0) {
        if (::fork() == 0) ::pause();
        ::pause();
        ::_exit(0);
    }
    std::vector<Process> below;
    for (int i = 0; i < 500 && below.empty(); ++i) {
        ::usleep(5'000);
        below = descendants(child);
    }
    ASSERT_EQ(below.size(), 1U);
    const auto grandchild = below.begin();
    EXPECT_EQ(grandchild->parent, child);
    const auto ours = descendants(::getpid());
    for (const pid_t pid : {child, grandchild->pid})
        EXPECT_TRUE(std::any_of(ours.begin(), ours.end(), [pid](const Process& p) { return p.pid == pid; }));
    EXPECT_TRUE(signal_process(*grandchild, SIGKILL));
    EXPECT_EQ(descendants(child).size(), 1U);  // a zombie, because its parent hasn't waited for it
    auto impostor = *read_process(child);
    impostor.start += 1;
    EXPECT_FALSE(signal_process(impostor, SIGKILL));
    EXPECT_TRUE(signal_process(*read_process(child), SIGKILL));
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    EXPECT_FALSE(read_process(child));
}

// The kernel lists a child under the thread that made it.
TEST(ProcessTree, FindsChildrenOfEachThread) {
    const pid_t child = ::fork();
    if (child == 0) {
        std::thread second([] {
            if (::fork() == 0) ::pause();
            ::pause();
        });
        second.join();
    }
    // Other tests may have left processes below this one.
    const auto ours = [child](const Process& one) { return one.pid == child || one.parent == child; };
    std::vector<Process> found;
    for (int i = 0; i < 500 && found.size() < 2; ++i) {
        ::usleep(5'000);
        found = descendants(::getpid());
        std::erase_if(found, [&](const Process& one) { return !ours(one); });
    }
    for (const Process& one : found) signal_process(one, SIGKILL);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ASSERT_EQ(found.size(), 2U);
    const auto first = std::ranges::find(found, child, &Process::pid);
    ASSERT_NE(first, found.end());
    EXPECT_EQ(first->threads, 2);
}

TEST(ProcessTree, KnowsThisBoot) {
    EXPECT_EQ(boot_id().size(), 36U);
}

}  // namespace
}  // namespace pbs::host
