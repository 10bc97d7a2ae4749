// Runs every command of docs/guide.md and docs/users.md, and checks that it succeeds and that its output is
// as shown there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <sstream>

#include "tests/e2e/document.h"
#include "tests/e2e/harness.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {
namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string source(const std::string& file) {
    return pbs::test::file_text(fs::path(PBS_SOURCE_DIR) / file);
}

// Makes a script that a document's commands find in PATH before other programs with the same name.
void put_program(const Server& server, const std::string& name, const std::string& script) {
    const fs::path file = server.work() / "bin" / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n" << script;
    fs::permissions(file, fs::perms(0755));
}

// Makes a qsub that adds -S /bin/sh. Otherwise jobs would use the login shells of the users whom the tests
// borrow, which may be nologin or read start-up files.
void put_qsub(const Server& server) {
    put_program(server, "qsub", "exec " + program("qsub").string() + " -S /bin/sh \"$@\"\n");
}

RunOptions in_shell(const Server& server) {
    return {.environment = {{"PATH", (server.work() / "bin").string() + ":" + program("").string() +
                                         ":/usr/bin:/bin:/usr/sbin:/sbin"},
                            {"HOME", server.work().string()},
                            {"PBS_HOME", server.home().string()}},
            .folder = server.work(),
            .timeout = std::chrono::seconds(150)};
}

// Writes the document's script to a file, and returns the command that runs it with bash.
std::vector<std::string> shell(const Server& server, const Document& document) {
    const fs::path file = server.work() / "document.sh";
    std::ofstream(file) << document.script;
    fs::permissions(file, fs::perms(0644));
    return {"/bin/bash", file.string()};
}

void expect_no_faults(const std::string& file, const Document& document, const Output& done) {
    const std::string path = (fs::path(PBS_SOURCE_DIR) / file).string();
    for (const Fault& fault : faults_of(document, done))
        ADD_FAILURE_AT(path.c_str(), fault.line) << fault.text;
    if (!::testing::Test::HasFailure()) {
        EXPECT_EQ(done.exit, 0) << done;
    }
}

// An object whose destructor ends the server that the guide's commands have started, and the server's jobs.
class StartedByTheGuide {
  public:
    explicit StartedByTheGuide(const Server& server) : server_(server) {}
    StartedByTheGuide(const StartedByTheGuide&) = delete;
    StartedByTheGuide& operator=(const StartedByTheGuide&) = delete;
    ~StartedByTheGuide() {
        std::istringstream lock(server_.read("server_priv/server.lock"));
        pid_t pid = 0;
        if (!(lock >> pid) || pid <= 1) return;
        server_.qmgr("set server scheduling = False");
        std::istringstream ids(server_.command({"qselect", "-s", "R"}).out);
        for (std::string id; std::getline(ids, id);) server_.command({"qdel", "-W", "force", id});
        server_.command({"qterm"});
        if (!wait_for([&] { return kill(pid, 0) != 0; })) kill(pid, SIGKILL);
    }

  private:
    const Server& server_;
};

TEST(Guide, CommandsOfAdministrators) {
    const Document guide = read_document(source("docs/guide.md"));
    const Server server;
    // The server and the command `date` that the guide runs use the clock that the test sets.
    put_program(server, "pbs_server",
                "case \"$*\" in *--daemon*) set -- \"$@\" --clock-file " +
                    (server.home().parent_path() / "clock").string() + ";; esac\nexec " +
                    program("pbs_server").string() + " \"$@\"\n");
    put_program(server, "date", "exec /bin/date -d @" + std::to_string(kMonday10) + " \"$@\"\n");
    put_qsub(server);
    const StartedByTheGuide end(server);
    expect_no_faults("docs/guide.md", guide, run(shell(server, guide), in_shell(server)));
}

TEST(Guide, CommandsOfUsers) {
    const Document page = read_document(source("docs/users.md"));
    Server server;
    put_qsub(server);
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({
        "create node n1 resources_available.ncpus=4, resources_available.mem=4gb",
        "create time_window evenings rrule=FREQ=DAILY, start_time=1800, end_time=2300",
        "create queue workq queue_type=execution, enabled=True, started=True",
        "create queue evening queue_type=execution, enabled=True, started=True, time_window=evenings",
        "set server default_queue=workq, resources_default.walltime=00:10:00, job_history_enable=True",
    }));
    expect_no_faults("docs/users.md", page,
                     server.command_as(runner(), shell(server, page), in_shell(server)));
}

// Runs a document's commands without a server. Returns the document's faults.
std::vector<Fault> faults(const std::string& markdown) {
    const Document document = read_document(markdown);
    return faults_of(document, run({"/bin/bash", "-s"}, {.input = document.script}));
}

auto fault(int line, const std::string& text) {
    return AllOf(Field(&Fault::line, line), Field(&Fault::text, HasSubstr(text)));
}

TEST(GuideDocument, WhatIsRightHasNoFaults) {
    EXPECT_THAT(
        faults(
            "# Title\n\n```sh\nword=so\necho 'not this'\necho \"it   is $word\"\n```\nThat is\n"
            "\n```text\n...\n  it is so\n```\n\n```sh\necho again $word\n```\n```text\na...in s...\n```\n"),
        IsEmpty());
}

TEST(GuideDocument, ACommandThatFailsIsNamedByItsLine) {
    EXPECT_THAT(faults("# Title\n```sh\ntrue\n```\n\n```sh\necho before\nfalse\necho after\n```\n"),
                ElementsAre(fault(8, "before")));
    EXPECT_THAT(faults("# Title\n```sh\nx=$(no_such_program)\n```\n"),
                ElementsAre(fault(3, "no_such_program")));
    EXPECT_THAT(faults("# Title\n```sh\nfalse | cat\n```\n"), ElementsAre(fault(3, "failed")));
    EXPECT_THAT(faults("# Title\n```sh\necho $unknown\n```\n"), ElementsAre(fault(3, "unknown")));
}

TEST(GuideDocument, ALineThatIsNotShownIsNamed) {
    EXPECT_THAT(faults("# Title\n```sh\necho one\necho two\n```\n```text\none\nthree\n```\n"),
                ElementsAre(fault(8, "'three' isn't shown")));
    EXPECT_THAT(faults("# Title\n```sh\necho one\necho two\n```\n```text\ntwo\none\n```\n"),
                ElementsAre(fault(8, "one")))
        << "the order counts";
    EXPECT_THAT(faults("# Title\n```sh\necho one two\n```\n```text\none\n```\n"),
                ElementsAre(fault(6, "one")))
        << "a line is shown whole";
    EXPECT_THAT(faults("# Title\n```sh\necho one two\n```\n```text\none ... three\n```\n"),
                ElementsAre(fault(6, "three")));
}

TEST(GuideDocument, OtherBlocksAreRefused) {
    EXPECT_THAT(faults("# Title\n```bash\nfalse\n```\n```sh\ntrue\n```\n"), ElementsAre(fault(2, "```bash")));
    EXPECT_THAT(faults("# Title\n```text\nx\n```\n```sh\ntrue\n```\n"),
                ElementsAre(fault(2, "behind such a block")));
    EXPECT_THAT(faults("# Title\n1. x\n   ```sh\n   false\n   ```\n```sh\ntrue\n```\n"),
                ElementsAre(fault(3, "sh")));
    EXPECT_THAT(faults("# Title\n"), ElementsAre(fault(1, "no commands")));
    EXPECT_THAT(faults("# Title\n```sh\ntrue\n"), testing::Contains(fault(3, "no end")));
}

}  // namespace
}  // namespace pbs::e2e
