// Tests output of jobs that can't be delivered to its file, and the mail about this.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/e2e/harness.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The server's mail command is a script that appends each mail to the file `mails`.
class Undelivered : public OriginServer {
  protected:
    void SetUp() override {
        NEEDS(without_mom);
        OriginServer::SetUp();
        const std::filesystem::path mailer = server.work() / "mailer";
        std::ofstream(mailer) << "#!/bin/sh\n{ echo \"arguments: $*\"; cat; echo END; } >" << mails().string()
                              << ".part\ncat " << mails().string() << ".part >>" << mails().string() << "\n";
        ::chmod(mailer.c_str(), 0755);
        ASSERT_TRUE(server.configure({"set server mailer=" + mailer.string()}));
    }
    std::filesystem::path mails() const { return server.work() / "mails"; }
    static std::string text_of(const std::filesystem::path& path) { return pbs::test::file_text(path); }
    // Waits for the first mail, and returns all mails.
    std::string mail() const {
        EXPECT_TRUE(wait_for([&] { return text_of(mails()).ends_with("END\n"); })) << server.log();
        return text_of(mails());
    }
};

// The owner gets the mail about kept output even if the job asks for no mail (-m n).
TEST_F(Undelivered, OutputIsKeptAndItsOwnerGetsMail) {
    const std::string wanted = (server.work() / "missing/out").string();
    const std::string id = server.submit("echo hello\n", {"-N", "lost", "-j", "oe", "-m", "n", "-o", wanted});
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    const std::filesystem::path kept = server.home() / "undelivered" / (id + ".OU");
    EXPECT_EQ(text_of(kept), "hello\n");
    struct stat info {};
    ASSERT_EQ(::stat(kept.c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, runner().uid);
    const std::string note =
        "cannot open " + wanted + ": No such file or directory; the output is in " + kept.string();
    EXPECT_EQ(server.job(id, "comment"), note);
    EXPECT_EQ(server.job(id, "Exit_status"), "0");
    EXPECT_THAT(mail(), AllOf(StartsWith("arguments: -t -oi\nFrom: adm\nTo: " + runner().name + "@"),
                              HasSubstr("\nSubject: PBS JOB " + id + "\n"), HasSubstr("\nJob Name:   lost\n"),
                              HasSubstr("\nOutput files are not where they were to be\n" + note + "\n")));
    EXPECT_THAT(server.log(), HasSubstr(note));
}

TEST_F(Undelivered, OutputThatGoesWhereItShouldIsNobodysMail) {
    ASSERT_TRUE(server.wait_job_state(server.submit("echo hello\n", {"-m", "n"}), "F"));
    const std::string id = server.submit("echo hello\n", {"-m", "e", "-M", "somebody@example.org"});
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_THAT(mail(), AllOf(HasSubstr("\nTo: somebody@example.org\nSubject: PBS JOB " + id + "\n"),
                              HasSubstr("Execution terminated\n"), Not(HasSubstr("Output files"))));
}

// Managers set mail_from. A line break in it doesn't add a line to the mail's header.
TEST_F(Undelivered, TheSenderOfMailIsOneLineOfItsHeader) {
    ASSERT_TRUE(server.configure({"set server mail_from='-C/tmp/evil\nBcc: eve@example.org'"}));
    const std::string id = server.submit("true\n", {"-m", "e"});
    ASSERT_TRUE(server.wait_job_state(id, "F"));
    EXPECT_THAT(mail(), StartsWith("arguments: -t -oi\nFrom: -C/tmp/evil Bcc: eve@example.org\nTo: "));
}

}  // namespace
}  // namespace pbs::e2e
