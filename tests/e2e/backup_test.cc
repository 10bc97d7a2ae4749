// Tests backups of a running server, restores, and starts with damaged databases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "tests/e2e/harness.h"
#include "tests/faults/fault_counters.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Output backup(const Server& server, const fs::path& directory, const RunOptions& options = {}) {
    return run({"pbs_server", "-d", server.home().string(), "--backup", directory.string()}, options);
}
Output restore(const Server& server, const fs::path& directory) {
    return run({"pbs_server", "-d", server.home().string(), "--restore", directory.string()});
}

class Backup : public OfOwnServer<> {};

TEST_F(Backup, ABackupOfARunningServerRestoresObjectsAndJobs) {
    Server server;
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(
        server.configure({"create queue workq queue_type=execution, enabled=True, started=False",
                          "set server default_queue=workq", "create policy kept comment='in the backup'"}));
    const std::string id = server.submit("true\n");
    ASSERT_NE(id, "");
    const fs::path copy = server.home().parent_path() / "copy";
    const Output made = backup(server, copy);
    ASSERT_EQ(made.exit, 0) << made;
    EXPECT_EQ(fs::status(copy).permissions(), fs::perms(0700));
    ASSERT_TRUE(server.configure({"create policy later", "set policy kept comment=changed"}));
    const std::string later = server.submit("true\n");
    const Output refused = restore(server, copy);
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err, HasSubstr("another pbs_server runs on " + server.home().string()));
    EXPECT_EQ(server.attribute("policy kept", "comment"), "changed") << "the running server is unharmed";
    ASSERT_TRUE(server.stop());
    const Output done = restore(server, copy);
    ASSERT_EQ(done.exit, 0) << done;
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("policy kept", "comment"), "in the backup");
    EXPECT_NE(server.qmgr("list policy later").exit, 0);
    EXPECT_EQ(server.job(id, "job_state"), "Q");
    EXPECT_EQ(server.job(later, "job_state"), "(none)");
}

TEST_F(Backup, ARestoreThatWasCutShortIsCompletedByTheStart) {
    Server server;
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({"create policy p1 comment=old"}));
    const fs::path copy = server.home().parent_path() / "copy";
    ASSERT_EQ(backup(server, copy).exit, 0);
    ASSERT_TRUE(server.configure({"set policy p1 comment=new"}));
    ASSERT_TRUE(server.stop());
    // First make the files that a restore leaves when it is killed just before its decision; further below,
    // those of one killed just after the decision.
    const fs::path priv = server.home() / "server_priv";
    fs::create_directory(priv / "restore.new");
    for (const char* name : {"server.db", "policy.db"}) fs::copy(copy / name, priv / "restore.new" / name);
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("policy p1", "comment"), "new");
    EXPECT_FALSE(fs::exists(priv / "restore.new"));
    ASSERT_TRUE(server.stop());
    fs::create_directory(priv / "restore.new");
    for (const char* name : {"server.db", "policy.db"}) fs::copy(copy / name, priv / "restore.new" / name);
    server.put("server_priv/restore.journal", "replaced-then\n");
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("policy p1", "comment"), "old");
    EXPECT_TRUE(fs::exists(priv / "replaced-then/policy.db"));
    EXPECT_THAT(server.log(), HasSubstr("a restore that had been cut short is completed"));
}

TEST_F(Backup, OnlyOneWhoMayReadTheHomeMakesOne) {
    if (!other())
        GTEST_SKIP() << "only root can run commands as different users; this is user " << runner().name;
    Server server;
    ASSERT_TRUE(server.start());
    RunOptions as_other;
    as_other.uid = other()->uid;
    const Output refused = backup(server, server.work() / "copy", as_other);
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err, HasSubstr("server.db: can not be read: Permission denied"));
    EXPECT_FALSE(fs::exists(server.work() / "copy"));
}

TEST_F(Backup, OptionsOfAServerDontGoWithIt) {
    const Output refused =
        run({"pbs_server", "-d", "/nonexistent", "--backup", "/nonexistent/b", "--daemon"});
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err + refused.out, AllOf(HasSubstr("--daemon"), HasSubstr("--backup")));
    EXPECT_NE(run({"pbs_server", "-d", "/nonexistent", "--backup", ""}).exit, 0);
}

std::string bytes_of(const fs::path& path) {
    return pbs::test::file_text(path);
}

void write_at(const fs::path& path, std::streamoff at, const std::string& bytes) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file << bytes;
}

struct Damage {
    std::string what;
    std::function<void(const fs::path&)> make;
    std::string expected;  // text that follows the database's path in the error
};

const std::vector<Damage>& damages() {
    static const std::vector<Damage> rows = {
        {"a garbage header", [](const fs::path& db) { write_at(db, 0, "garbage garbage "); },
         " is damaged: "},
        {"a cut file", [](const fs::path& db) { fs::resize_file(db, 4096); }, " is damaged: "},
        {"half a page", [](const fs::path& db) { fs::resize_file(db, fs::file_size(db) - 2048); },
         " is damaged: "},
        {"an overwritten page", [](const fs::path& db) { write_at(db, 4096, std::string(4096, '\x5a')); },
         " is damaged: "},
        // user_version is at byte 60 of SQLite's header, most significant byte first.
        {"a newer version", [](const fs::path& db) { write_at(db, 60, std::string("\0\0\0\x63", 4)); }, "99"},
        {"an empty file", [](const fs::path& db) { fs::resize_file(db, 0); }, " is empty, but "},
        {"no file", [](const fs::path& db) { fs::remove(db); }, " is gone, but "},
        {"another program's database",
         [](const fs::path& db) {
             fs::remove(db);
             sqlite3* other = nullptr;
             ASSERT_EQ(sqlite3_open(db.c_str(), &other), SQLITE_OK);
             EXPECT_EQ(sqlite3_exec(other, "CREATE TABLE other(x)", nullptr, nullptr, nullptr), SQLITE_OK);
             sqlite3_close(other);
         },
         " is an SQLite database of another program"},
        {"a pipe",
         [](const fs::path& db) {
             fs::remove(db);
             ASSERT_EQ(::mkfifo(db.c_str(), 0600), 0);
         },
         " is not a regular file"},
        {"a link that leads nowhere",
         [](const fs::path& db) {
             fs::remove(db);
             fs::create_symlink("/nonexistent/x.db", db);
         },
         " is a symbolic link"},
        {"bytes that no terminal should get",
         [](const fs::path& db) {
             sqlite3* own = nullptr;
             ASSERT_EQ(sqlite3_open(db.c_str(), &own), SQLITE_OK);
             EXPECT_EQ(sqlite3_exec(own,
                                    "CREATE TABLE t(a); PRAGMA writable_schema=ON; UPDATE sqlite_schema SET "
                                    "name='\x1b[31m', sql='\xff' WHERE name='t'",
                                    nullptr, nullptr, nullptr),
                       SQLITE_OK);
             sqlite3_close(own);
         },
         "(\\x1b[31m)"},
        {"no regular file",
         [](const fs::path& db) {
             fs::remove(db);
             fs::create_directory(db);
         },
         " is not a regular file"},
        {"an unreadable file", [](const fs::path& db) { fs::permissions(db, fs::perms::none); },
         " can not be read: Permission denied"},
    };
    return rows;
}

// Returns the contents of the databases. A refused start must not change them.
std::map<std::string, std::string> contents(const Server& server) {
    std::map<std::string, std::string> found;
    for (const auto& file : fs::directory_iterator(server.home() / "server_priv"))
        if (const std::string name = file.path().filename(); name.ends_with(".db"))
            found[name] = file.is_regular_file() ? bytes_of(file.path()) : "a folder";
    return found;
}

class DamagedStart : public OfOwnServer<::testing::TestWithParam<const char*>> {};

TEST_P(DamagedStart, IsRefusedAndChangesNothing) {
    Server server;
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({"create policy p1 comment=kept"}));
    const fs::path copy = server.home().parent_path() / "copy";
    ASSERT_EQ(backup(server, copy).exit, 0);
    ASSERT_TRUE(server.stop());
    const fs::path database = server.home() / "server_priv" / GetParam();
    for (const Damage& damage : damages()) {
        if (damage.what == "an unreadable file" && geteuid() == 0) continue;  // root reads all files
        damage.make(database);
        const auto before = contents(server);
        const Output refused = server.start_refused();
        EXPECT_FALSE(refused.timed_out) << damage.what;
        EXPECT_NE(refused.exit, 0) << damage.what;
        EXPECT_THAT(refused.err, AllOf(HasSubstr(database.string()), HasSubstr(damage.expected)))
            << damage.what;
        EXPECT_THAT(refused.err, HasSubstr("--restore")) << damage.what;
        EXPECT_THAT(refused.err, Not(HasSubstr("\x1b"))) << damage.what;
        EXPECT_TRUE(contents(server) == before) << damage.what << " was changed";
        const Output restored = restore(server, copy);
        ASSERT_EQ(restored.exit, 0) << damage.what << ": " << restored;
    }
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("policy p1", "comment"), "kept");
}

INSTANTIATE_TEST_SUITE_P(EachDatabase, DamagedStart, ::testing::Values("server.db", "policy.db"),
                         [](const auto& database) { return std::string(database.param).substr(0, 6); });

class DamagedLog : public OfOwnServer<::testing::TestWithParam<const char*>> {};

TEST_P(DamagedLog, IsRefusedUntilTheLossIsAccepted) {
    Server server;
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({"create queue workq queue_type=execution, enabled=True, started=False",
                                  "set server default_queue=workq", "create policy kept"}));
    const std::string kept = server.submit("true\n");
    const fs::path log = server.home() / "server_priv" / (std::string(GetParam()) + "-wal");
    const auto whole = static_cast<std::streamoff>(fs::file_size(log));
    ASSERT_TRUE(server.configure({"create policy last"}));
    const std::string last = server.submit("true\n");
    server.kill9();
    write_at(log, whole + 100, "damage");
    const Output refused = server.start_refused();
    EXPECT_THAT(refused.err, AllOf(HasSubstr(GetParam()), HasSubstr(" has lost the last "),
                                   HasSubstr("--restore"), HasSubstr("--accept-loss")));
    const std::vector<std::string> accept = {"pbs_server", "-d", server.home().string(), "--accept-loss"};
    const Output accepted = run(accept);
    ASSERT_EQ(accepted.exit, 0) << accepted;
    const bool jobs = std::string(GetParam()) == "server.db";
    EXPECT_THAT(accepted.out,
                HasSubstr(jobs ? "Lost: job " + last.substr(0, last.find('.')) : "Lost: revision "));
    EXPECT_THAT(accepted.out, HasSubstr("is copied to " + server.home().string()));
    ASSERT_TRUE(server.start());
    EXPECT_THAT(server.log(), HasSubstr("accepted as lost: "));
    EXPECT_EQ(server.job(kept, "job_state"), "Q");
    EXPECT_EQ(server.job(last, "job_state"), jobs ? "(none)" : "Q");
    EXPECT_EQ(server.qmgr("list policy kept").exit, 0);
    EXPECT_EQ(server.qmgr("list policy last").exit == 0, jobs);
    EXPECT_THAT(run(accept).err, HasSubstr("another pbs_server runs on"));
    server.kill9();
    EXPECT_THAT(run(accept).out, HasSubstr("has lost nothing that was acknowledged"));
}

INSTANTIATE_TEST_SUITE_P(EachDatabase, DamagedLog, ::testing::Values("server.db", "policy.db"),
                         [](const auto& database) { return std::string(database.param).substr(0, 6); });

// ---- Backups that managers make by `pbs_config backup`.

std::vector<std::string> kept(const Server& server) {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(server.home() / "server_priv/backups", none))
        names.push_back(entry.path().filename());
    return names;
}

class BackupByManager : public OfOwnServer<> {};

TEST_F(BackupByManager, IsMadeAndCanBeRestored) {
    if (!other()) GTEST_SKIP() << "only root can become another user";
    Server server;
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({"create policy kept", "set server managers += " + runner().name + "@*"}));
    const Output refused = server.command_as(*other(), {"pbs_config", "backup"});
    EXPECT_EQ(refused.exit, 159) << refused;
    ASSERT_TRUE(server.configure({"set server operators += " + other()->name + "@*"}));
    EXPECT_EQ(server.command_as(*other(), {"pbs_config", "backup"}).exit, 159) << "an operator";
    EXPECT_TRUE(kept(server).empty());

    const Output made = server.command_as(runner(), {"pbs_config", "backup"});
    ASSERT_EQ(made.exit, 0) << made;
    const fs::path all = server.home() / "server_priv/backups";
    ASSERT_EQ(kept(server).size(), 1U);
    const fs::path copy = all / kept(server)[0];
    EXPECT_EQ(made.out, "backup " + copy.string() + "\n");
    EXPECT_EQ(fs::status(all).permissions(), fs::perms(0700));
    EXPECT_EQ(fs::status(copy).permissions(), fs::perms(0700));
    EXPECT_EQ(fs::status(copy / "server.db").permissions(), fs::perms(0600));
    EXPECT_THAT(server.log(), HasSubstr("backup;" + copy.string() + " at request of " + runner().name + "@"));
    ASSERT_TRUE(server.configure({"delete policy kept"}));
    ASSERT_TRUE(server.stop());
    const Output done = restore(server, copy);
    ASSERT_EQ(done.exit, 0) << done;
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.qmgr("list policy kept").exit, 0);
}

// A new backup removes the oldest of more than eight backups, and unfinished ones, but no other file in the
// folder.
TEST_F(BackupByManager, TheOldestGoAndWhatWasCutShort) {
    Server server;
    ASSERT_TRUE(server.start());
    const fs::path all = server.home() / "server_priv/backups";
    fs::create_directories(all / "by-hand");
    fs::permissions(all, fs::perms(0700));
    fs::create_directory(all / "20200101-000000.partial-pbs-abcdef");
    for (int i = 1; i <= 8; ++i) {
        const fs::path old = all / ("2020010" + std::to_string(i) + "-000000");
        fs::create_directory(old);
        fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(100 - i));
    }
    const Output made = server.command({"pbs_config", "backup"});
    ASSERT_EQ(made.exit, 0) << made;
    EXPECT_THAT(made.out, HasSubstr("removed the oldest of 9: " + (all / "20200101-000000").string()));
    EXPECT_EQ(kept(server).size(), 9U) << "eight, and what was made by hand";
    EXPECT_TRUE(fs::exists(all / "by-hand"));
    EXPECT_FALSE(fs::exists(all / "20200101-000000"));
    EXPECT_FALSE(fs::exists(all / "20200101-000000.partial-pbs-abcdef"));
}

// While a Holder exists, it holds the write lock of policy.db. A backup has to wait for this lock.
class Holder {
  public:
    explicit Holder(const Server& server) {
        const std::string path = (server.home() / "server_priv/policy.db").string();
        held_ = sqlite3_open(path.c_str(), &connection_) == SQLITE_OK &&
                sqlite3_exec(connection_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK;
    }
    ~Holder() { sqlite3_close(connection_); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    bool held() const { return held_; }

  private:
    sqlite3* connection_ = nullptr;
    bool held_ = false;
};

bool is_under_way(const Server& server) {
    for (const std::string& name : kept(server))
        if (name.find(".partial-") != std::string::npos) return true;
    return false;
}

// Returns the process id of the program that copies the databases for the server, or 0 if none runs. The
// program may outlive the server.
pid_t copier(const Server& server) {
    for (const auto& entry : fs::directory_iterator("/proc")) {
        std::ifstream file(entry.path() / "cmdline", std::ios::binary);
        const std::string line{std::istreambuf_iterator<char>(file), {}};
        if (line.find("--backup") != std::string::npos &&
            line.find(server.home().string()) != std::string::npos)
            return static_cast<pid_t>(std::stol(entry.path().filename().string()));
    }
    return 0;
}

TEST_F(BackupByManager, ThereIsOneAtATimeAndOneThatIsKilledLeavesNothingForLong) {
    Server server;
    ASSERT_TRUE(server.start());
    Output first;
    {
        const Holder holder(server);
        ASSERT_TRUE(holder.held());
        std::thread waiting([&] { first = server.command({"pbs_config", "backup"}); });
        EXPECT_TRUE(wait_for([&] { return is_under_way(server); }));
        const Output second = server.command({"pbs_config", "backup"});
        EXPECT_NE(second.exit, 0);
        EXPECT_EQ(second.err, "pbs_config: a backup is being made already\n");
        const pid_t pid = copier(server);
        EXPECT_GT(pid, 1);
        if (pid > 1) ::kill(pid, SIGKILL);
        waiting.join();
    }
    EXPECT_NE(first.exit, 0);
    EXPECT_THAT(first.err, HasSubstr("the program that made it was ended by signal 9"));
    EXPECT_TRUE(is_under_way(server)) << "what it left behind";
    EXPECT_EQ(server.command({"pbs_config", "backup"}).exit, 0);
    EXPECT_FALSE(is_under_way(server));
    EXPECT_EQ(kept(server).size(), 1U);
}

TEST_F(BackupByManager, WhatAServerThatIsKilledLeavesGoesWithTheNextBackup) {
    Server server;
    ASSERT_TRUE(server.start());
    {
        const Holder holder(server);
        ASSERT_TRUE(holder.held());
        std::thread waiting([&] { (void)server.command({"pbs_config", "backup"}); });
        EXPECT_TRUE(wait_for([&] { return is_under_way(server); }));
        server.kill9();
        waiting.join();
        if (const pid_t pid = copier(server); pid > 1) ::kill(pid, SIGKILL);
        EXPECT_TRUE(wait_for([&] { return copier(server) == 0; }));
    }
    ASSERT_EQ(kept(server).size(), 1U);
    const fs::path left = server.home() / "server_priv/backups" / kept(server)[0];
    const Output refused = restore(server, left);
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err, HasSubstr("MANIFEST"));
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.command({"pbs_config", "backup"}).exit, 0);
    EXPECT_FALSE(fs::exists(left));
    EXPECT_EQ(kept(server).size(), 1U);
}

// Kills the backup's program after one of its changes to files. The killed change is chosen at intervals over
// the program's whole course. The server goes on, and the backup is either complete or not there.
TEST_F(Backup, KilledAnywhereItIsWholeOrNotThere) {
    Server server;
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({"create policy p1", "create queue q1 queue_type=execution"}));
    const FaultCounters counters;
    RunOptions with_faults;
    with_faults.environment = counters.environment();
    const fs::path folder = server.work() / "copies";
    fs::create_directory(folder);
    ASSERT_EQ(backup(server, folder / "first", with_faults).exit, 0);
    const long calls = counters.at->calls;
    ASSERT_GT(calls, 4);
    fs::remove_all(folder / "first");
    std::set<fs::path> left;
    const auto none_else = [&] {
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().filename().string().starts_with("copy.partial-")) left.insert(entry.path());
        return fs::exists(folder / "copy");
    };
    for (long at = 1; at <= calls; at += stride(calls, 12)) {
        counters.at->calls = 0;
        counters.at->kill_after = at;
        const Output killed = backup(server, folder / "copy", with_faults);
        EXPECT_EQ(killed.exit, 128 + SIGKILL) << at << killed;
        counters.at->kill_after = 0;
        if (none_else()) {
            EXPECT_EQ(std::distance(fs::directory_iterator(folder / "copy"), {}), 3) << at;
            fs::remove_all(folder / "copy");
        }
        EXPECT_EQ(backup(server, folder / "copy").exit, 0) << at;
        fs::remove_all(folder / "copy");
        EXPECT_EQ(server.attribute("policy p1", "algorithm"), "standard") << "the server goes on";
    }
    EXPECT_FALSE(left.empty());
    ASSERT_TRUE(server.stop());
    for (const fs::path& partial : left) {
        if (fs::exists(partial / "MANIFEST")) continue;
        const Output refused = restore(server, partial);
        EXPECT_NE(refused.exit, 0) << partial;
        EXPECT_THAT(refused.err, HasSubstr("MANIFEST")) << partial;
    }
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("policy p1", "algorithm"), "standard");
}

TEST_F(BackupByManager, WhatFailsSaysWhyAndLeavesNothing) {
    Server server;
    ASSERT_TRUE(server.start());
    const fs::path all = server.home() / "server_priv/backups";
    std::ofstream(all.string()) << "not a folder\n";
    const Output file = server.command({"pbs_config", "backup"});
    EXPECT_NE(file.exit, 0);
    EXPECT_EQ(file.err, "pbs_config: " + all.string() + ": expected a folder of the server's user\n");
    fs::remove(all);
    // A folder that has the name of the restore's journal makes the backup fail.
    fs::create_directory(server.home() / "server_priv/restore.journal");
    const Output refused = server.command({"pbs_config", "backup"});
    EXPECT_NE(refused.exit, 0);
    EXPECT_THAT(refused.err, HasSubstr("restore.journal: is there: a restore was cut short"));
    EXPECT_TRUE(kept(server).empty());
    fs::remove(server.home() / "server_priv/restore.journal");
    EXPECT_EQ(server.command({"pbs_config", "backup"}).exit, 0);
}

}  // namespace
}  // namespace pbs::e2e
