// Tests many changes at once. qmgr sends the directives of a file without waiting for the replies, and the
// server makes all changes that arrive together durable with one commit. Only the speed may differ from one
// directive at a time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

// Runs qmgr with a file as its input. Input and output may both be long.
Output feed_file(const Server& server, const std::string& input, const std::string& options = {}) {
    static std::atomic<int> count = 0;
    const auto file = server.work() / fmt::format("input{}", ++count);
    std::ofstream(file) << input;
    return server.command(
        {"sh", "-c", fmt::format("{} {} < {}", program("qmgr").string(), options, file.string())},
        {.timeout = std::chrono::seconds(50)});
}

class Pipeline : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(server.start()); }
    Output feed(const std::string& input, const std::string& options = {}) const {
        return feed_file(server, input, options);
    }
    // Returns the names of all policies but default_policy.
    std::set<std::string> policies() const {
        std::set<std::string> names;
        for (const std::string& line : lines_of(server.qmgr("list policy @default comment").out))
            if (line.starts_with("Policy ")) names.insert(line.substr(7));
        names.erase("default_policy");
        return names;
    }
    Server server;
};

TEST_F(Pipeline, AFileOfChangesIsCarriedOutInItsOrder) {
    std::string input;
    for (int i = 0; i < 3000; ++i) {
        input += fmt::format("create policy p{}\nset policy p{} comment={}\n", i, i, i);
        if (i % 3 == 0) input += fmt::format("delete policy p{}\n", i);
    }
    const Output done = feed(input);
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_EQ(done.out + besides_not_acted_on(done.err), "");
    EXPECT_EQ(policies().size(), 2000U);
    EXPECT_EQ(server.attribute("policy p2997", "comment"), "(none)");
    EXPECT_EQ(server.attribute("policy p2998", "comment"), "2998");
}

// Errors have the same texts, in the same order, as if qmgr waited for each reply.
TEST_F(Pipeline, ErrorsInTheMiddleAreToldInTheirPlaces) {
    const std::string input =
        "create policy p1,p2\n"
        "create policy p1\n"
        "set policy p1,nobody,p2 comment=x\n"
        "list policy p1 comment\n"
        "sett policy p1\n"
        "set policy p2 colour=red\n"
        "set policy p2 by_queue=False\n";
    const Output done = feed(input, "-e");
    EXPECT_EQ(done.exit, 0) << "the last directive was carried out";
    EXPECT_EQ(done.out,
              "create policy p1,p2\n"
              "create policy p1\n"
              "set policy p1,nobody,p2 comment=x\n"
              "list policy p1 comment\n"
              "Policy p1\n    comment = x\n\n"
              "sett policy p1\n"
              "set policy p2 colour=red\n"
              "set policy p2 by_queue=False\n");
    std::string expected;
    Server other;
    ASSERT_TRUE(other.start());
    for (const std::string& line : lines_of(input)) expected += other.qmgr(line).err;
    EXPECT_EQ(done.err, expected);
    EXPECT_THAT(lines_of(done.err), testing::Contains("qmgr obj=p1 svr=default: policy p1 exists already"));
    EXPECT_THAT(done.err, HasSubstr("obj=nobody"));
    EXPECT_EQ(server.attribute("policy p2", "comment"), "x");
    EXPECT_EQ(server.attribute("policy p2", "by_queue"), "False");
}

TEST_F(Pipeline, MessagesStandBetweenTheEchoesOfTheirDirectives) {
    const std::string input =
        "create policy p1\\ncreate policy p1\\ncreate policy p2\\nset policy p9 comment=x\\ncreate policy "
        "p3\\n";
    const Output done = server.command(
        {"sh", "-c", fmt::format("printf '{}' | {} -e 2>&1", input, program("qmgr").string())});
    std::vector<std::string> lines = lines_of(besides_not_acted_on(done.out));
    std::erase_if(lines, [](const std::string& line) { return line.starts_with("qmgr: Error ("); });
    EXPECT_THAT(lines,
                testing::ElementsAre("create policy p1", "create policy p1", HasSubstr("exists already"),
                                     "create policy p2", "set policy p9 comment=x", HasSubstr("obj=p9"),
                                     "create policy p3"));
}

TEST_F(Pipeline, TheExitStatusIsThatOfTheLastDirective) {
    EXPECT_NE(feed("create policy p1\nset policy p1 colour=red\n").exit, 0);
    EXPECT_EQ(feed("set policy p1 colour=red\ncreate policy p2\n").exit, 0);
    const Output aborted = feed("create policy p3\nset policy p3 colour=red\ncreate policy p4\n", "-a");
    EXPECT_EQ(aborted.exit, 2);
    EXPECT_EQ(policies(), (std::set<std::string>{"p1", "p2", "p3"}));
    const Output silent = feed("create policy p1\n", "-z");
    EXPECT_NE(silent.exit, 0);
    EXPECT_EQ(silent.err, "");
}

// A program writes a directive to qmgr, and waits for its effect before it writes the next one. So qmgr must
// send each directive at once.
TEST_F(Pipeline, DirectivesOfAWriterThatWaitsAreNotKeptBack) {
    const std::string qmgr = program("qmgr").string();
    const Output done = server.command(
        {"sh", "-c",
         fmt::format("(echo 'create policy p1'; while ! {0} -z -c 'list policy p1'; do sleep 0.05; done; "
                     "echo 'create policy p2') | {0}",
                     qmgr)});
    EXPECT_FALSE(done.timed_out);
    EXPECT_EQ(policies(), (std::set<std::string>{"p1", "p2"}));
}

TEST_F(Pipeline, ManyClientsAtOnce) {
    constexpr int kClients = 8;
    std::vector<std::thread> threads;
    threads.reserve(kClients);
    std::vector<Output> outputs(kClients);
    for (int c = 0; c < kClients; ++c) {
        threads.emplace_back([this, c, &outputs] {
            std::string input;
            for (int i = 0; i < 200; ++i)
                input += fmt::format("create policy p{0}.{1}\ncreate policy p{0}.{1}\n", c == 0 ? 1 : c, i);
            outputs[static_cast<size_t>(c)] = feed(input);
        });
    }
    for (std::thread& thread : threads) thread.join();
    size_t refused = 0;
    for (const Output& done : outputs)
        for (const std::string& line : lines_of(done.err))
            refused += line.find("exists already") != std::string::npos ? 1 : 0;
    // Two of the clients create the same policies. Each of these policies is created once, and the second
    // client to create it gets an error.
    EXPECT_EQ(policies().size(), 7U * 200U);
    EXPECT_EQ(refused, 9U * 200U);
}

// The server is killed at any moment. Changes that it has acknowledged survive.
TEST_F(Pipeline, WhatWasAcknowledgedSurvivesAKill) {
    NEEDS(own_log);
    std::set<std::string> acknowledged;
    for (int round = 0; round < 3; ++round) {
        std::string input;
        for (int i = 0; i < 20000; ++i) input += fmt::format("create policy r{}.{}\n", round, i);
        Output done;
        std::thread client([&] { done = feed(input, "-e"); });
        const std::string first = fmt::format("r{}.{};created", round, 3000 + round * 777);
        const bool began =
            wait_for([&] { return server.log().find(first) != std::string::npos; }, std::chrono::seconds(30));
        server.kill9();
        client.join();
        ASSERT_TRUE(began);
        EXPECT_NE(done.exit, 0);
        EXPECT_THAT(done.err, HasSubstr("qmgr: Protocol error, server disconnected\n"));
        std::set<std::string> unanswered;
        for (const std::string& line : lines_of(done.err))
            if (line.starts_with("qmgr: not answered: ")) unanswered.insert(line.substr(20));
        EXPECT_FALSE(unanswered.empty());
        for (const std::string& line : lines_of(done.out))
            if (!unanswered.contains(line)) acknowledged.insert(line.substr(14));
        ASSERT_TRUE(server.start());
        const std::set<std::string> found = policies();
        EXPECT_TRUE(std::includes(found.begin(), found.end(), acknowledged.begin(), acknowledged.end()));
        EXPECT_GE(acknowledged.size(), 1000U);
    }
}

// ---- A full disk: the server's home is a small file system that the test mounts. ----

class PipelineFullDisk : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        if (::geteuid() != 0) GTEST_SKIP() << "not root: no file system of a test's own can be mounted";
        if (::mount("tmpfs", server_->home().c_str(), "tmpfs", 0, "mode=755,size=10m") != 0)
            GTEST_SKIP() << "no right to mount a tmpfs";
        mounted_ = server_->home();
    }
    void TearDown() override {
        server_.reset();
        if (!mounted_.empty()) ::umount2(mounted_.c_str(), MNT_DETACH);
    }
    std::unique_ptr<Server> server_ = std::make_unique<Server>();
    std::filesystem::path mounted_;
};

TEST_F(PipelineFullDisk, WhatIsNotStoredIsToldAndIsNotThere) {
    ASSERT_TRUE(server_->start());
    std::ofstream filler(server_->home() / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    // Leave room for some of the changes. Also leave room for the write-ahead log and SQLite's journal, which
    // need some when the disk is full.
    for (int i = 0; i < 1600; ++i) filler.write(block.data(), 4096).flush();
    std::string input;
    for (int i = 0; i < 3000; ++i)
        input += fmt::format("create policy p{} comment={}\n", i, std::string(1000, 'c'));
    const Output done = feed_file(*server_, input);
    EXPECT_TRUE(server_->running());
    EXPECT_THAT(done.err, HasSubstr("the disk is full"));
    filler.close();
    std::filesystem::remove(server_->home() / "filler");
    std::set<std::string> refused;
    for (const std::string& line : lines_of(done.err))
        if (line.starts_with("qmgr obj=")) refused.insert(line.substr(9, line.find(' ', 9) - 9));
    for (int restart = 0; restart < 2; ++restart) {
        const std::string list = server_->qmgr("list policy @default comment").out;
        for (int i = 0; i < 3000; ++i) {
            const std::string name = fmt::format("p{}", i);
            const bool there = list.find(fmt::format("Policy {}\n", name)) != std::string::npos;
            ASSERT_EQ(there, !refused.contains(name)) << name;
        }
        if (restart == 0) {
            ASSERT_TRUE(server_->stop());
            ASSERT_TRUE(server_->start());
        }
    }
    EXPECT_EQ(server_->qmgr("create policy later").exit, 0);
}

}  // namespace
}  // namespace pbs::e2e
