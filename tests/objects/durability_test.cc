// Kills a program by SIGKILL while it changes a database. Every acknowledged change is then in the database,
// and each change is whole.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

class DurabilityTest : public StoreTest {
  protected:
    // The work of the child process: creates the policies and fs_groups d0, d1, ..., each pair in one change,
    // and writes the number of each acknowledged pair to the descriptor `acknowledge`.
    [[noreturn]] void work(int acknowledge) {
        Result<Store> store = Store::open(path_, {"UTC"}, kNow);
        if (!store) _exit(1);
        for (int pair = 0;; ++pair) {
            const std::string number = std::to_string(pair);
            const ChangeSet both{
                {parse_command("c p d" + number + " comment=first"), parse_command("c f d" + number)}};
            if (!store->apply(both, kManager, kNow)) _exit(1);
            if (write(acknowledge, &pair, sizeof pair) != sizeof pair) _exit(1);
        }
    }
};

TEST_F(DurabilityTest, AcknowledgedChangesSurviveKill) {
    for (int round = 0; round < 5; ++round) {
        store_.reset();
        std::filesystem::remove(path_);
        std::filesystem::remove(path_ + "-wal");
        std::filesystem::remove(path_ + "-shm");
        std::filesystem::remove(path_ + "-mark");
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            close(ends[0]);
            work(ends[1]);
        }
        close(ends[1]);
        int last = -1;
        // in each round, kill the child after a different number of acknowledgements
        for (int pair = 0; last < 7 + 5 * round && read(ends[0], &pair, sizeof pair) == sizeof pair;)
            last = pair;
        kill(child, SIGKILL);
        for (int pair = 0; read(ends[0], &pair, sizeof pair) == sizeof pair;) last = pair;
        close(ends[0]);
        int status = 0;
        waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status));
        ASSERT_GE(last, 7);
        open();
        const auto snapshot = store_->snapshot();
        for (int pair = 0; pair <= last; ++pair) {
            const std::string name = "d" + std::to_string(pair);
            ASSERT_NE(snapshot->policy(name), nullptr) << name;
            EXPECT_EQ(snapshot->policy(name)->text("comment"), "first");
            ASSERT_NE(snapshot->fs_group(name), nullptr) << name;
        }
        // the child was writing at most one more pair: either both of its objects exist or neither
        EXPECT_LE(snapshot->objects(ObjectType::fs_group).size(), static_cast<std::size_t>(last) + 2);
        EXPECT_EQ(snapshot->objects(ObjectType::fs_group).size() + 1,
                  snapshot->objects(ObjectType::policy).size());
        EXPECT_EQ(store_->history({})->size(), snapshot->revision());
    }
}

}  // namespace
}  // namespace pbs::objects
