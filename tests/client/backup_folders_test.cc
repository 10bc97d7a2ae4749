#include "server_plugin/client/backup_folders.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "values/temporary_folder.h"

namespace pbs::client {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kNow = 1795465800;  // 2026-11-23 20:30:00 UTC

class BackupFolders : public testing::Test {
  protected:
    // Makes a folder. Its time is earlier than that of the folders that were made before it, as after a copy.
    fs::path make(const std::string& name) {
        fs::create_directory(all / name);
        fs::last_write_time(all / name, fs::file_time_type(std::chrono::hours(--made_)));
        return all / name;
    }

    values::TemporaryFolder folder_ = values::TemporaryFolder::make("client_test").value();
    fs::path all = folder_.path();

  private:
    int made_ = 0;
};

TEST_F(BackupFolders, AreNamedByTheTimeAndANumberIfThatNameIsTaken) {
    EXPECT_EQ(new_backup_folder(all, kNow), all / "20261123-203000");
    make("20261123-203000");
    EXPECT_EQ(new_backup_folder(all, kNow), all / "20261123-203000-2");
    fs::create_symlink("nowhere", all / "20261123-203000-2");
    EXPECT_EQ(new_backup_folder(all, kNow), all / "20261123-203000-3") << "a broken link takes a name, too";
}

TEST_F(BackupFolders, EightAreKeptAndTheOldestGoFirst) {
    const fs::path oldest = make("20261123-203000-2");
    for (int i = 1; i < 7; ++i) make(fmt::format("20261123-20300{}", i));
    const fs::path next = make("20261123-203000-10");
    EXPECT_THAT(too_many_backups(all), IsEmpty());
    make("20261123-203007");
    EXPECT_THAT(too_many_backups(all), ElementsAre(oldest));
    make("20261123-203008");
    EXPECT_THAT(too_many_backups(all), ElementsAre(oldest, next));
    EXPECT_EQ(removed_backups_text({oldest}), "\nremoved the oldest of 9: " + oldest.string());
}

TEST_F(BackupFolders, FoldersOfOtherNamesLinksAndUnfinishedOnesAreNoBackups) {
    for (int i = 0; i < 8; ++i) make(fmt::format("20261123-20300{}", i));
    for (const char* name :
         {"monday", "20261123", "20261123-203000-old", "20261123-2030", "20261122-203000.partial-restore",
          "20261122-203000.partially", "20261122-203000.partial-backup", "20261122-203000.partial-pbs-my_own",
          "20261122-203000.partial-pbs-abcdefg"})
        make(name);
    fs::create_symlink(all / "monday", all / "20261122-203000");
    const fs::path cut_short = make("20261123-203100.partial");
    const fs::path of_the_host = make("20261123-203100.partial-pbs-a1B2c3");
    EXPECT_THAT(too_many_backups(all), IsEmpty());
    EXPECT_THAT(unfinished_backups(all), ElementsAre(cut_short, of_the_host));
}

TEST_F(BackupFolders, AFolderThatIsNotThereHasNone) {
    EXPECT_THAT(too_many_backups(all / "nowhere"), IsEmpty());
    EXPECT_THAT(unfinished_backups(all / "nowhere"), IsEmpty());
}

}  // namespace
}  // namespace pbs::client
