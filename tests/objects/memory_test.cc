// Tests a lack of memory: each allocation of a change fails once. The change is then refused and not there,
// or it is made; and the next try succeeds.
#include <gtest/gtest.h>

#include <new>

#include "objects/database.h"
#include "tests/failing_allocations.h"
#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

class MemoryTest : public StoreTest {
  protected:
    // Calls work() while one allocation fails. Returns whether it succeeded; an exception is a failure, as
    // for a request of the server.
    template <class Work>
    bool try_without(long allocation, Work&& work) {
        allocations_left = allocation;
        bool done = false;
        try {
            done = work();
        } catch (const std::bad_alloc&) {
        }
        happened_ = allocations_left == 0;
        allocations_left = 0;
        return done;
    }
    std::string in_memory() { return shown(ObjectType::policy, "p1", "backfill_depth"); }
    // Returns what a new start would find.
    std::string on_disk() {
        const auto file = Database::open_again(path_);
        EXPECT_TRUE(file);
        Statement row = (*file)->statement(
            "SELECT value FROM attribute JOIN object ON object.id = attribute.object"
            " WHERE object.name = 'p1' AND attribute.name = 'backfill_depth'");
        return *row.step() ? row.text(0) : "-";
    }
    // Tries changes by `change`, a function of the command, in which each allocation fails once.
    template <class Change>
    void try_all(Change&& change) {
        run("c p p1 backfill_depth=1");
        std::string before = "1";
        int refused = 0;
        happened_ = true;
        for (long at = 1; happened_ && !HasFailure(); ++at) {
            SCOPED_TRACE(fmt::format("allocation {}", at));
            const std::string next = std::to_string(at % 50 + 2);
            const Command command = parse_command("s p p1 backfill_depth=" + next);
            const bool done = try_without(at, [&] { return change(command); });
            if (!done) ++refused;
            if (store_->staged()) EXPECT_FALSE(store_->commit()) << "what was staged is lost";
            EXPECT_EQ(in_memory(), done ? next : before);
            EXPECT_EQ(on_disk(), done ? next : before);
            if (!done) EXPECT_TRUE(change(command)) << "the next try";
            EXPECT_EQ(in_memory(), next);
            EXPECT_EQ(on_disk(), next);
            before = next;
        }
        EXPECT_GT(refused, 10);
    }

    bool happened_ = false;
};

// Tries pairs of commands, of which each undoes the other one.
TEST_F(MemoryTest, NoCommandEndsTheProcess) {
    run("c p p1");
    run("c f f1");
    for (const auto& [there, back] :
         {std::pair{"s s non_work_days=12/25", "s s non_work_days=12/26"},
          {"c t w1 rrule=FREQ=DAILY, start_time=0800, end_time=1700, type=prime", "d t w1"},
          {"s f f1 tree_element=[grp:root=50, una:grp=20]", "u f f1 tree_element"},
          {"c p p2 backfill_depth=3, comment=new", "d p p2"},
          {"s p p1 comment=again, fairshare_group=f1", "u p p1 comment, fairshare_group"}}) {
        bool made = false;
        happened_ = true;
        for (long at = 1; happened_ && !HasFailure(); ++at) {
            SCOPED_TRACE(fmt::format("{}: allocation {}", made ? back : there, at));
            const Command command = parse_command(made ? back : there);
            const auto execute = [&] { return store_->execute(command, kManager, kNow).has_value(); };
            if (!try_without(at, execute)) EXPECT_TRUE(execute());
            made = !made;
        }
    }
}

TEST_F(MemoryTest, AChangeIsMadeOrNotThere) {
    try_all([&](const Command& command) { return store_->execute(command, kManager, kNow).has_value(); });
}

TEST_F(MemoryTest, AStagedChangeIsMadeOrNotThere) {
    try_all([&](const Command& command) {
        return store_->stage(command, kManager, kNow).has_value() && store_->commit().has_value();
    });
}

// A command whose rows can't be written loses the staged commands before it. Each allocation fails once.
TEST_F(MemoryTest, ALossOfStagedChangesIsReported) {
    run("c p p1 backfill_depth=1");
    ASSERT_TRUE(
        store_->database().run("CREATE TEMP TRIGGER full BEFORE INSERT ON main.history"
                               " WHEN new.command LIKE '%comment%'"
                               " BEGIN SELECT RAISE(FAIL, 'no row of the history'); END"));
    const Command good = parse_command("s p p1 backfill_depth=2");
    const Command bad = parse_command("s p p1 comment=again");
    happened_ = true;
    for (long at = 1; happened_ && !HasFailure(); ++at) {
        SCOPED_TRACE(fmt::format("allocation {}", at));
        ASSERT_TRUE(store_->stage(good, kManager, kNow));
        EXPECT_FALSE(try_without(at, [&] { return store_->stage(bad, kManager, kNow).has_value(); }));
        // The lack of memory may come before the command has an effect.
        if (happened_) ASSERT_TRUE(store_->staged());
        const bool kept = store_->commit().has_value();
        EXPECT_EQ(in_memory(), kept ? "2" : "1");
        EXPECT_EQ(on_disk(), kept ? "2" : "1");
        if (kept) run("s p p1 backfill_depth=1");
    }
}

}  // namespace
}  // namespace pbs::objects
