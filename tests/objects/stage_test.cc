// Tests group commit: commands are staged one by one, and one commit then makes all of them durable.
#include <gmock/gmock.h>

#include "objects/database.h"
#include "objects/usage_store.h"
#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::HasSubstr;

class StageTest : public StoreTest {
  protected:
    Result<Reply> stage(std::string_view text) { return store_->stage(parse_command(text), kManager, kNow); }
    bool is_there(std::string_view policy) { return store_->snapshot()->policy(policy) != nullptr; }
    // Sets SQLite's limit of pages to their present number. So SQLite behaves as on a full disk when the file
    // has to grow.
    void fill_disk() {
        Statement pages = store_->database().statement("PRAGMA page_count");
        ASSERT_TRUE(*pages.step());
        const auto count = pages.integer(0);
        ASSERT_TRUE(store_->database().run("PRAGMA max_page_count = " + std::to_string(count)));
    }
    void make_room() { ASSERT_TRUE(store_->database().run("PRAGMA max_page_count = 1000000")); }
};

TEST_F(StageTest, HoldsWhenItIsCommitted) {
    ASSERT_TRUE(stage("c p p1"));
    ASSERT_TRUE(stage("s p p1 by_queue=False"));  // finds p1, which is only staged
    EXPECT_TRUE(store_->staged());
    EXPECT_FALSE(is_there("p1"));
    ASSERT_TRUE(store_->commit());
    EXPECT_FALSE(store_->staged());
    EXPECT_FALSE(store_->snapshot()->policy("p1")->boolean("by_queue"));
    open();
    EXPECT_FALSE(store_->snapshot()->policy("p1")->boolean("by_queue"));
    const auto history = store_->history({});
    ASSERT_EQ(history->size(), 4U) << "a row for each command";
    EXPECT_EQ(history->back().command, "set policy p1 by_queue = False");
    EXPECT_EQ(history->back().revision, store_->snapshot()->revision());
}

TEST_F(StageTest, IsForgottenWithoutACommit) {
    ASSERT_TRUE(stage("c p p1"));
    open();  // opens the file again, as after a crash
    EXPECT_FALSE(is_there("p1"));
    EXPECT_EQ(store_->history({})->size(), 2U);
}

TEST_F(StageTest, ARefusedCommandLeavesTheOthersAlone) {
    run("c f f1");
    ASSERT_TRUE(stage("c p p1"));
    EXPECT_EQ(stage("c p p1").error().code, Code::exists);
    EXPECT_EQ(stage("s p p1 by_queue=False, colour=red").error().code, Code::unknown_attribute);
    EXPECT_EQ(stage("s p p1 comment=kept, fairshare=True").error().code, Code::bad_value);
    EXPECT_EQ(stage("d f nobody").error().code, Code::unknown_object);
    ASSERT_TRUE(stage("s p p1 fairshare_group=f1"));
    EXPECT_EQ(stage("d f f1").error().code, Code::busy);
    ASSERT_TRUE(stage("c p p2 comment=also"));
    ASSERT_TRUE(store_->commit());
    open();
    EXPECT_TRUE(store_->snapshot()->policy("p1")->boolean("by_queue"));
    EXPECT_FALSE(store_->snapshot()->policy("p1")->has("comment"));
    EXPECT_EQ(store_->snapshot()->policy("p1")->text("fairshare_group"), "f1");
    EXPECT_EQ(store_->snapshot()->policy("p2")->text("comment"), "also");
    EXPECT_EQ(store_->history({})->size(), 2U + 4U);
}

TEST_F(StageTest, ObjectsComeAndGoWithinAGroup) {
    for (const char* command : {"c f f1", "c p p1 fairshare_group=f1", "u p p1 fairshare_group", "d f f1",
                                "c f f1 comment=again", "s p p1 fairshare_group=f1", "c t t1", "d t t1"})
        ASSERT_TRUE(stage(command)) << command;
    ASSERT_TRUE(store_->commit());
    open();
    EXPECT_EQ(store_->snapshot()->fs_group("f1")->text("comment"), "again");
    EXPECT_EQ(store_->snapshot()->policy("p1")->text("fairshare_group"), "f1");
    EXPECT_EQ(store_->snapshot()->time_window("t1"), nullptr);
}

TEST_F(StageTest, ACommitWithoutAStagedChangeSucceeds) {
    EXPECT_FALSE(store_->staged());
    EXPECT_TRUE(store_->commit());
    const auto before = store_->snapshot();
    EXPECT_FALSE(stage("d p nobody"));
    ASSERT_TRUE(store_->commit());
    EXPECT_EQ(store_->snapshot(), before);
    Store other = std::move(*Store::open(path_, {"UTC"}, kNow));
    EXPECT_TRUE(other.execute(parse_command("c p p9"), kManager, kNow))
        << "a refused one left the file locked";
}

TEST_F(StageTest, WhateverElseIsAskedCommitsFirst) {
    ASSERT_TRUE(stage("c p p1"));
    EXPECT_EQ(store_->history({})->size(), 3U);
    EXPECT_TRUE(is_there("p1"));
    EXPECT_TRUE(store_->commit());

    ASSERT_TRUE(stage("c p p2"));
    run("c p p3");
    EXPECT_TRUE(is_there("p2"));
    EXPECT_TRUE(store_->commit());

    ASSERT_TRUE(stage("c p p4"));
    ASSERT_TRUE(UsageStore(*store_).write({{"past_usage", {.usage = {{"joe", "g", 1}}}}}));
    EXPECT_TRUE(is_there("p4"));

    ASSERT_TRUE(stage("c p p5"));
    ASSERT_TRUE(store_->set_meta("key", "value"));
    EXPECT_TRUE(is_there("p5"));
    EXPECT_TRUE(store_->commit());
}

TEST_F(StageTest, AFullDiskLosesTheGroupAndNothingElse) {
    run("c p p0");
    fill_disk();
    const auto before = store_->snapshot();
    ASSERT_TRUE(stage("c p p1"));
    const std::string text(60000, 'x');
    const Result<Reply> failed = stage("s p p1 comment=" + text);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Code::system);
    EXPECT_THAT(failed.error().message, HasSubstr("the disk is full"));
    // further commands of the group get the same error, as they could depend on the command that was lost
    EXPECT_EQ(stage("c p p2").error().message, failed.error().message);
    EXPECT_EQ(store_->snapshot(), before);
    const Result<void> committed = store_->commit();
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().message, failed.error().message);
    EXPECT_EQ(store_->snapshot(), before);

    make_room();
    ASSERT_TRUE(stage("c p p2"));
    ASSERT_TRUE(store_->commit());
    open();
    EXPECT_TRUE(is_there("p0"));
    EXPECT_FALSE(is_there("p1"));
    EXPECT_TRUE(is_there("p2"));
    EXPECT_EQ(store_->history({})->size(), 4U);
}

TEST_F(StageTest, TheErrorWaitsForCommitHoweverItCame) {
    fill_disk();
    ASSERT_TRUE(stage("c p p1"));
    ASSERT_FALSE(stage("s p p1 comment=" + std::string(60000, 'x')));
    make_room();  // commits what is staged (Store::settle())
    EXPECT_TRUE(store_->staged());
    run("c p p2");
    EXPECT_FALSE(store_->commit());
    EXPECT_TRUE(store_->commit());
    EXPECT_FALSE(is_there("p1"));
    EXPECT_TRUE(is_there("p2"));
}

}  // namespace
}  // namespace pbs::objects
