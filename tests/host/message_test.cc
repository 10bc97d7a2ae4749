// Tests messages to running jobs. A process of its own writes each message, and the server doesn't wait for
// the process.
#include "server_plugin/host/life/message.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/file_text.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;

class MessageTest : public ServerTest {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        make_queue("q");
        make_node("n1", "8");
        output_ = folder_ + "/out";
        job_ = submit(user(), {attribute("Output_Path", output_), attribute("Error_Path", folder_ + "/err")},
                      "q");
        ASSERT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{job_, "n1", 0}).code, 0);
        server_->options.program = folder_ + "/writer";
    }
    void TearDown() override {
        for (const pid_t pid : server_->killed_children) ::waitpid(pid, nullptr, 0);
        ServerTest::TearDown();
    }
    // Puts a script in place of the program pbs_server, which writes a message if it is run as
    // `--write-message USER UID GID PATH`.
    void writer_is(const std::string& script) {
        std::ofstream(server_->options.program) << "#!/bin/sh\n" << script << '\n';
        ::chmod(server_->options.program.c_str(), 0755);
    }
    ifl::Reply send(uint32_t file = 1) {
        return ask(user(), ifl::RequestType::message_job, ifl::MessageJob{job_, file, "hello"});
    }
    std::string text_of(const std::string& path) const { return pbs::test::file_text(path); }

    std::string job_;
    std::string output_;
};

TEST_F(MessageTest, IsWrittenToEachFileThatIsAskedFor) {
    writer_is(R"(cat >> "$5"; echo "$1 $2" >> "$5")");
    EXPECT_EQ(send(3).code, 0);
    EXPECT_EQ(text_of(output_), "PBS: hello\n--write-message " + user_ + "\n");
    EXPECT_EQ(text_of(folder_ + "/err"), text_of(output_));
    EXPECT_EQ(server_->message_writers, 0u);
}

TEST_F(MessageTest, WhyItCouldNotBeWrittenIsTheReply) {
    writer_is("exit 2");
    const ifl::Reply reply = send();
    EXPECT_EQ(reply.code, PBSE_SYSTEM);
    EXPECT_EQ(std::get<ifl::TextReply>(reply.body).text, output_ + ": No such file or directory");
}

TEST_F(MessageTest, OneThatHangsIsGivenUp) {
    writer_is("exec sleep 1000");
    server_->options.message_time = std::chrono::milliseconds(20);
    const ifl::Reply reply = send(3);
    EXPECT_EQ(reply.code, PBSE_SYSTEM);
    EXPECT_THAT(std::get<ifl::TextReply>(reply.body).text, HasSubstr("not written within 0.02 seconds"));
    EXPECT_EQ(server_->message_writers, 0u);
    ASSERT_EQ(server_->killed_children.size(), 1u) << "the second file isn't tried";
    int status = 0;
    EXPECT_EQ(::waitpid(server_->killed_children.front(), &status, 0), server_->killed_children.front());
    EXPECT_TRUE(WIFSIGNALED(status));
    server_->killed_children.clear();
}

// If the client closes its connection, the request ends, and the process that writes the message is killed.
TEST_F(MessageTest, OneWhoseClientHasGoneIsKilled) {
    writer_is("exec sleep 1000");
    {
        const Identity who = user();
        const ifl::Request request{
            ifl::RequestType::message_job, who.user, ifl::MessageJob{job_, 1, "x"}, {}};
        Context context{*server_, who, server_->now(), request, session_};
        (void)begin_answer(context);
        ifl::StatusParts parts;
        std::optional<ifl::Reply> reply;
        EXPECT_EQ(go_on(context, parts, false, reply), Steps::Remaining::later);
        EXPECT_EQ(go_on(context, parts, false, reply), Steps::Remaining::later) << "nobody waits for it";
        EXPECT_EQ(server_->message_writers, 1u);
    }
    EXPECT_EQ(server_->message_writers, 0u);
    EXPECT_EQ(server_->killed_children.size(), 1u);
}

TEST_F(MessageTest, ThereAreOnlySoMany) {
    writer_is("exit 0");
    server_->message_writers = 64;
    const ifl::Reply reply = send();
    EXPECT_EQ(reply.code, PBSE_SYSTEM);
    EXPECT_THAT(std::get<ifl::TextReply>(reply.body).text, HasSubstr("try later"));
    server_->message_writers = 0;
    EXPECT_EQ(send().code, 0);
}

}  // namespace
}  // namespace pbs::host
