#include "objects/store.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>

#include "objects/restore.h"
#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class StoreFileTest : public StoreTest {
  protected:
    std::string open_error(const std::string& path) {
        const Result<Store> opened = Store::open(path, {"UTC"}, kNow);
        EXPECT_FALSE(opened) << path << " was opened";
        if (opened) return {};
        EXPECT_EQ(opened.error().code, Code::system);
        return opened.error().message;
    }
    // Runs SQL on the database file without the store.
    void sql(const std::string& text) {
        sqlite3* db = nullptr;
        ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
        char* error = nullptr;
        EXPECT_EQ(sqlite3_exec(db, text.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
        sqlite3_close(db);
    }
};

TEST_F(StoreFileTest, OnlyTheFirstStartMakesObjects) {
    EXPECT_NE(store_->snapshot()->policy("default_policy"), nullptr);
    open();
    EXPECT_EQ(store_->history({})->size(), 2U);
}

TEST_F(StoreFileTest, NobodyElseReadsTheFile) {
    struct stat info {};
    ASSERT_EQ(stat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(StoreFileTest, WritesAheadAndSyncsFully) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    std::string mode;
    sqlite3_exec(
        db, "PRAGMA journal_mode",
        [](void* to, int, char** values, char**) {
            *static_cast<std::string*>(to) = values[0];
            return 0;
        },
        &mode, nullptr);
    sqlite3_close(db);
    EXPECT_EQ(mode, "wal");
}

TEST_F(StoreFileTest, DamagedFileIsRefusedWithWhatToDo) {
    store_.reset();
    {
        std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(4096 * 2);
        const std::string junk(4096 * 4, '\x5a');
        file.write(junk.data(), static_cast<std::streamsize>(junk.size()));
    }
    EXPECT_THAT(open_error(path_),
                AllOf(HasSubstr(path_), HasSubstr("damaged"), HasSubstr("restore a backup")));
}

TEST_F(StoreFileTest, FileThatIsNoDatabaseIsRefused) {
    const std::string path = directory_ + "/text";
    std::ofstream(path) << std::string(8192, 'x');
    EXPECT_THAT(open_error(path), AllOf(HasSubstr(path), HasSubstr("damaged")));
}

TEST_F(StoreFileTest, DatabaseOfAnotherProgramIsRefused) {
    const std::string ours = path_;
    path_ = directory_ + "/other";
    sql("CREATE TABLE t (x)");
    EXPECT_THAT(open_error(path_), HasSubstr("another program"));
    path_ = ours;
}

// Earlier releases allowed a max_range_chunks of up to 100,000.
TEST_F(StoreFileTest, ALargeMaxRangeChunksOfAnEarlierReleaseIsRead) {
    EXPECT_THAT(refused("s p default_policy max_range_chunks=20001").message,
                HasSubstr("max_range_chunks: bad value '20001': expected a whole number from 0 to 20000"));
    EXPECT_THAT(refused("s p default_policy max_range_chunks=-1").message, HasSubstr("from 0 to 20000"));
    run("s p default_policy max_range_chunks=20000");
    store_.reset();
    sql("UPDATE attribute SET value = '50000' WHERE name = 'max_range_chunks'");
    open();
    EXPECT_EQ(shown(ObjectType::policy, "default_policy", "max_range_chunks"), "50000");
    run("s p default_policy comment=x");
    run("s p default_policy max_range_chunks=50000");
    EXPECT_THAT(refused("s p default_policy max_range_chunks=50001").message, HasSubstr("from 0 to 20000"));
    run("s p default_policy max_range_chunks=64");
}

// Earlier releases allowed urgencies that aren't whole numbers.
TEST_F(StoreFileTest, AnUrgencyOfAnEarlierReleaseIsRead) {
    EXPECT_EQ(refused("s p default_policy urgency_of_resources=\"ncpus=1000,mem=1.5\"").message,
              "policy default_policy: urgency_of_resources: bad value 'mem=1.5': column 5: found '1.5', "
              "expected a whole number");
    run("s p default_policy urgency_of_resources=\"ncpus=2.0e3,mem=7\"");
    store_.reset();
    sql("UPDATE attribute SET value = 'mem=1.5' WHERE value = 'mem=7'");
    open();
    EXPECT_EQ(shown(ObjectType::policy, "default_policy", "urgency_of_resources"), "ncpus=2000,mem=1.5");
    run("s p default_policy comment=x");
    run("s p default_policy urgency_of_resources=\"mem=1.5,ncpus=1\"");
    EXPECT_THAT(refused("s p default_policy urgency_of_resources=\"mem=2.5,ncpus=1\"").message,
                HasSubstr("'mem=2.5'"));
    run("s p default_policy functional_weights=\"user=0.5\"");
    // A server takes a change back if its own part of it was lost in a crash.
    const std::uint64_t before = store_->snapshot()->revision();
    run("s p default_policy urgency_of_resources=\"mem=2,ncpus=1\"");
    const RewriteOptions options{[](ObjectType, std::string_view) { return true; }, false};
    ASSERT_TRUE(restore(*store_, {before, {}}, options, kManager, kNow));
    EXPECT_EQ(shown(ObjectType::policy, "default_policy", "urgency_of_resources"), "mem=1.5,ncpus=1");
}

// Earlier releases allowed quotas to have time_windows of type prime.
TEST_F(StoreFileTest, AQuotaOnPrimeTimeOfAnEarlierReleaseCanBeChanged) {
    run("c t t1 rrule=FREQ=DAILY, comment=here");
    run("c t t2 rrule=FREQ=DAILY, type=prime");
    run("c quota q1 time_window=t1");
    store_.reset();
    sql("UPDATE attribute SET name = 'type', value = 'prime' WHERE name = 'comment' AND value = 'here'");
    open();
    ASSERT_EQ(shown(ObjectType::time_window, "t1", "type"), "prime");
    run("s quota q1 comment=x");
    run("s t t1 comment=y");
    EXPECT_THAT(refused("s t t1 type=dedicated").message, HasSubstr("quota q1 has this time_window"));
    EXPECT_THAT(refused("s quota q1 time_window+=t2").message,
                HasSubstr("the time_window is of type prime, expected one of type standard"));
    run("s t t1 type=standard");
}

TEST_F(StoreFileTest, RowsThatMakeNoSenseAreRefused) {
    run("c p p1 comment=x");
    store_.reset();
    sql("UPDATE attribute SET name = 'colour' WHERE name = 'comment'");
    EXPECT_THAT(open_error(path_), AllOf(HasSubstr("policy p1"), HasSubstr("'colour'")));
    sql("UPDATE attribute SET name = 'by_queue' WHERE name = 'colour'");
    EXPECT_THAT(open_error(path_), AllOf(HasSubstr("policy p1"), HasSubstr("by_queue"), HasSubstr("'x'")));
    sql("PRAGMA foreign_keys = OFF; DELETE FROM object WHERE name = 'default_policy'");
    EXPECT_THAT(open_error(path_), HasSubstr("refers to a row"));
}

TEST_F(StoreFileTest, DirectoryThatIsNotThereIsAnError) {
    EXPECT_THAT(open_error(directory_ + "/none/policy.db"), HasSubstr("No such file"));
}

TEST_F(StoreFileTest, UnknownZoneIsAnError) {
    const Result<Store> opened = Store::open(path_, {"Mars/Olympus"}, kNow);
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message, HasSubstr("Mars/Olympus"));
}

// With a limit on the size of files, writes fail as on a full disk. The command then gives an error and
// changes nothing.
TEST_F(StoreFileTest, WriteThatFailsLeavesNothingHalfDone) {
    run("c p p1");
    const std::uint64_t revision = store_->snapshot()->revision();
    rlimit old{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
    const auto handler = signal(SIGXFSZ, SIG_IGN);
    rlimit tight = old;
    tight.rlim_cur = 4096;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
    const auto reply =
        store_->execute(parse_command("s p p1 comment=" + std::string(60000, 'x')), kManager, kNow);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Code::system);
    EXPECT_THAT(reply.error().message, HasSubstr(path_));
    EXPECT_EQ(store_->snapshot()->revision(), revision);
    run("s p p1 comment=short");  // the store still works
    open();
    EXPECT_EQ(store_->snapshot()->policy("p1")->text("comment"), "short");
    EXPECT_EQ(store_->snapshot()->revision(), revision + 1);
}

TEST_F(StoreFileTest, ChangesOfAnotherProcessAreSeen) {
    Result<Store> other = Store::open(path_, {"UTC"}, kNow);
    ASSERT_TRUE(other);
    ASSERT_TRUE(other->execute(parse_command("c p theirs"), kManager, kNow));
    const Result<Reply> again = try_run("c p theirs");
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Code::exists);
    EXPECT_NE(store_->snapshot()->policy("theirs"), nullptr);
    run("c p ours");
    EXPECT_TRUE(other->execute(parse_command("s p ours comment=x"), kManager, kNow));
}

TEST_F(StoreFileTest, MetaKeepsFacts) {
    EXPECT_EQ(*store_->meta("migration"), std::nullopt);
    ASSERT_TRUE(store_->set_meta("migration", "none"));
    ASSERT_TRUE(store_->set_meta("migration", "done"));
    open();
    EXPECT_EQ(*store_->meta("migration"), "done");
}

TEST_F(StoreFileTest, ResourcesCanBeDefinedLater) {
    run("c p p1");
    refused("s p p1 job_sort_formula=\"gpus*2\"");
    store_->define_resource("gpus");
    run("s p p1 job_sort_formula=\"gpus*2\"");
    run("s p p1 node_sort_key=\"gpus HIGH unused\"");
}

TEST_F(StoreFileTest, APolicyThatIsGivenToASchedulerIsToldIfTheServerCannotHaveItSchedule) {
    run("c p other algorithm=external");
    const auto give = [&](std::string_view policy) {
        ChangeSet changes;
        changes.commands.push_back(parse_command(fmt::format("s sched default policy={}", policy)));
        const auto done = store_->apply(changes, kManager, kNow);
        EXPECT_TRUE(done);
        return done ? done->warnings : std::vector<std::string>{"refused"};
    };
    EXPECT_THAT(
        give("other"),
        testing::ElementsAre("policy other: algorithm external has no effect: pbs_sched doesn't schedule "
                             "here, and jobs are scheduled as with standard"));
    EXPECT_THAT(give("other"), testing::IsEmpty()) << "it has been told";
    EXPECT_THAT(give("\"other,p:other\""), testing::IsEmpty());
    EXPECT_THAT(give("default_policy"), testing::IsEmpty());
}

TEST_F(StoreFileTest, APreparedChangeEndsWhenItIsTold) {
    ChangeSet many;
    for (int i = 0; i < 300; ++i) many.commands.push_back(parse_command(fmt::format("c p p{}", i)));
    std::atomic<bool> end = false;
    {
        Result<Store> prepared = Store::prepare(*store_->seed(), end);
        ASSERT_TRUE(prepared);
        end = true;
        const auto done = prepared->apply(many, kManager, kNow);
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, Code::system);
    }
    end = false;
    Result<Store> prepared = Store::prepare(*store_->seed(), end);
    ASSERT_TRUE(prepared->apply(many, kManager, kNow));
    ASSERT_TRUE(store_->take_over(*prepared));
    EXPECT_NE(store_->snapshot()->policy("p299"), nullptr);
}

}  // namespace
}  // namespace pbs::objects
