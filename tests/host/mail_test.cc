#include "server_plugin/host/base/mail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "server_plugin/host/base/log.h"
#include "tests/file_text.h"

namespace pbs::host {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class MailTest : public testing::Test {
  protected:
    void SetUp() override {
        top_ = testing::TempDir() + "mail." + std::to_string(::getpid());
        fs::create_directory(top_);
    }
    void TearDown() override { fs::remove_all(top_); }
    std::string command(const std::string& script) const {
        std::string path = top_ + "/mailer";
        std::ofstream(path) << "#!/bin/sh\n" << script;
        ::chmod(path.c_str(), 0755);
        return path;
    }
    static std::string contents(const std::string& path) { return pbs::test::file_text(path); }
    std::string log_text() { return contents(top_ + "/" + std::to_string(local_time(clock_.now()).day)); }

    std::string top_;
    Clock clock_;
};

TEST_F(MailTest, HandsTheMessageToTheCommand) {
    Log log(top_, "Server@h", clock_);
    Mailer mailer(log, command("echo \"$@\" > " + top_ + "/args; cat > " + top_ + "/message.tmp; mv " + top_ +
                               "/message.tmp " + top_ + "/message\n"));
    mailer.send("12.h", {"alice", "bob@h2"}, "PBS JOB 12.h\nBcc: eve", "Execution terminated\nExit_status=0");
    for (int i = 0; i < 400 && !fs::exists(top_ + "/message"); ++i) ::usleep(10'000);
    EXPECT_EQ(
        contents(top_ + "/message"),
        "From: adm\nTo: alice, bob@h2\nSubject: PBS JOB 12.h Bcc: eve\nAuto-Submitted: auto-generated\n\n"
        "Execution terminated\nExit_status=0\n");
    EXPECT_EQ(contents(top_ + "/args"), "-t -oi\n");
}

TEST_F(MailTest, DoesNotWaitForASlowCommand) {
    Log log(top_, "Server@h", clock_);
    Mailer mailer(log, command("exec sleep 5\n"));
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < 40; ++i) mailer.send("12.h", {"alice"}, "s", std::string(200'000, 'x'));
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(4));
    EXPECT_THAT(log_text(), HasSubstr("dropped: 32 mail commands are running"));
}

TEST_F(MailTest, LogsWhatGoesWrong) {
    Log log(top_, "Server@h", clock_);
    Mailer missing(log, top_ + "/no_such_command");
    missing.send("12.h", {"alice"}, "s", "b");
    EXPECT_THAT(log_text(), HasSubstr("no_such_command: No such file or directory"));
    Mailer failing(log, command("exit 75\n"));
    failing.send("13.h", {"alice"}, "s", "b");
    for (int i = 0; i < 400 && log_text().find("failed") == std::string::npos; ++i) {
        ::usleep(10'000);
        failing.reap();
    }
    EXPECT_THAT(log_text(), HasSubstr("13.h;mail: " + top_ + "/mailer failed (wait status 19200)"));
}

TEST_F(MailTest, SendsNothingToNobody) {
    Log log(top_, "Server@h", clock_);
    Mailer mailer(log, command("touch " + top_ + "/sent\n"));
    mailer.send("12.h", {}, "s", "b");
    EXPECT_EQ(log_text(), "");
}

}  // namespace
}  // namespace pbs::host
