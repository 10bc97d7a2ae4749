// Kills the server, or its client, during a large change. Afterwards, the plugin's and the server's database
// both have the change, or neither has it, and the history agrees with them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "tests/e2e/harness.h"
#include "tests/faults/fault_counters.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kMany = 150;

std::string document() {
    std::string policies;
    std::string nodes;
    for (int i = 0; i < kMany; ++i) {
        policies += fmt::format(R"({}"p{}": {{"backfill_depth": "3"}})", i == 0 ? "" : ", ", i);
        nodes += fmt::format(R"({}"n{}": {{"resources_available.ncpus": "2", "queue": "q1"}})",
                             i == 0 ? "" : ", ", i);
    }
    return fmt::format(
        R"({{"format": 1, "policy": {{{}}}, "host": {{"queue": {{"q1": {{"queue_type": "e"}}}}, "node": {{{}}}}}}})",
        policies, nodes);
}

class LargeChangeFaults : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        if (PBS_SANITIZED != 0) GTEST_SKIP() << "the sanitizers want to be loaded first";
        Server::Options options;
        options.program = counters_.server();
        server_ = std::make_unique<Server>(options);
        ASSERT_TRUE(server_->start());
        server_->put("document.json", document());
        old_ = configuration();
        old_revision_ = revision();
        const long before = counters_.at->calls;
        ASSERT_EQ(import().exit, 0);
        calls_of_import_ = counters_.at->calls - before;
        new_ = configuration();
        new_revision_ = revision();
        ASSERT_NE(old_, new_);
    }

    Output import() const { return server_->command({"pbs_config", "import", file()}); }
    Output rollback(const std::string& revision) const {
        return server_->command({"pbs_config", "rollback", revision});
    }
    std::string file() const { return (server_->home() / "document.json").string(); }
    std::string configuration() const {
        const Output all = server_->command({"pbs_config", "export"});
        EXPECT_EQ(all.exit, 0) << all;
        return all.out;
    }
    std::string revision() const {
        const Output last = server_->command({"pbs_config", "history", "--limit", "1", "--json"});
        const std::size_t at = last.out.find("\"revision\":");
        if (at == std::string::npos) return "";
        const std::size_t from = last.out.find_first_of("0123456789", at);
        return last.out.substr(from, last.out.find_first_not_of("0123456789", from) - from);
    }

    // Checks that the latest revision of the history equals the present configuration, and that the history
    // can compute its difference from the other one of the two revisions.
    void expect_same_history() const {
        const std::string now = configuration();
        const Output recorded = server_->command({"pbs_config", "export", "--revision", revision()});
        EXPECT_EQ(recorded.out, now);
        EXPECT_THAT(server_->log(), Not(HasSubstr("are not as the history has them")));
        const std::string& other = now == old_ ? new_revision_ : old_revision_;
        EXPECT_EQ(server_->command({"pbs_config", "diff", other}).exit, 0);
    }
    void become(const std::string& wanted) const {
        if (configuration() == wanted) return;
        ASSERT_EQ(rollback(wanted == old_ ? old_revision_ : new_revision_).exit, 0);
        ASSERT_EQ(configuration(), wanted);
    }

    // The function `change` turns the configuration `from` into `to`. Kills the server after one of the calls
    // by which this changes files. Repeats this for calls at intervals over the whole course.
    template <class Change>
    void kill_in(const std::string& from, const std::string& to, long calls, Change change) {
        ASSERT_GT(calls, 20);
        for (long step = 1; step <= calls; step += stride(calls, 4)) {
            SCOPED_TRACE(fmt::format("killed after call {} of {}", step, calls));
            become(from);
            counters_.at->kill_after = counters_.at->calls + step;
            const Output cut = change();
            server_->kill9();
            counters_.at->kill_after = 0;
            ASSERT_TRUE(server_->start());
            const std::string found = configuration();
            EXPECT_TRUE(found == to || (found == from && cut.exit != 0)) << cut;
            expect_same_history();
        }
        become(from);
        EXPECT_EQ(change().exit, 0);
        EXPECT_EQ(configuration(), to);
    }

    FaultCounters counters_;
    std::unique_ptr<Server> server_;  // uses counters_, so it has to be destroyed first
    std::string old_;
    std::string new_;
    std::string old_revision_;
    std::string new_revision_;
    long calls_of_import_ = 0;
};

TEST_F(LargeChangeFaults, AServerThatIsKilledWhileItImports) {
    kill_in(old_, new_, calls_of_import_, [this] { return import(); });
}

TEST_F(LargeChangeFaults, AServerThatIsKilledWhileItGoesBack) {
    const long before = counters_.at->calls;
    ASSERT_EQ(rollback(old_revision_).exit, 0);
    kill_in(new_, old_, counters_.at->calls - before, [this] { return rollback(old_revision_); });
}

TEST_F(LargeChangeFaults, AClientThatLeaves) {
    become(old_);
    int number = 0;
    for (const char* seconds : {"0.03", "0.08", "0.2"}) {
        SCOPED_TRACE(seconds);
        (void)server_->command(
            {"timeout", "-s", "KILL", seconds, program("pbs_config").string(), "import", file()});
        // this command has to wait until the import is over
        const std::string comment = fmt::format("c{}", ++number);
        const bool was_set = server_->qmgr("set node n0 comment=" + comment).exit == 0;
        EXPECT_EQ(server_->attribute("node n0", "comment") == comment, was_set);
        EXPECT_EQ(server_->qmgr("set server comment=" + comment).exit, 0);
        EXPECT_EQ(server_->attribute("server", "comment"), comment);
        server_->kill9();
        ASSERT_TRUE(server_->start());
        EXPECT_EQ(server_->attribute("server", "comment"), comment);
        expect_same_history();
        EXPECT_EQ(server_->qmgr("unset server comment").exit, 0);
        (void)server_->qmgr("unset node n0 comment");
        const std::string found = configuration();
        EXPECT_TRUE(found == old_ || found == new_);
        become(old_);
    }
}

}  // namespace
}  // namespace pbs::e2e
