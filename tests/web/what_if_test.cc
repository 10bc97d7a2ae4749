#include "tools/web/what_if.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/web/site_of.h"
#include "tools/web/pages/pages.h"

namespace pbs::web {
namespace {

namespace fs = std::filesystem;

TEST(WhatIfTest, AComparisonIsOfPoliciesAndNeverOfFiles) {
    const auto good = parse_comparison(R"({"month":"2026-10","first":"p1","second":"p2"})");
    ASSERT_TRUE(good) << good.error();
    EXPECT_EQ("p2", good->second);
    EXPECT_TRUE(parse_comparison(R"({"month":"2026-10","first":"p1","changes":"set policy p1 x=1"})"));
    for (const char* bad : {"", "[]", "{}", R"({"month":"2026-10","first":"p1"})",
                            R"({"month":"October","first":"p1","second":"p2"})",
                            R"({"month":"2026-10","first":"/etc/shadow","second":"p2"})",
                            R"({"month":"2026-10","first":"p1","second":"../x"})",
                            R"({"month":"2026-10","first":"--help","second":"p2"})",
                            R"({"month":"2026-10","first":"p1","second":"p2","changes":"x"})",
                            R"({"month":"2026-10","first":"p1","second":"p2","more":"x"})",
                            R"({"month":1,"first":"p1","second":"p2"})"})
        EXPECT_FALSE(parse_comparison(bad)) << bad;
    EXPECT_FALSE(
        parse_comparison(R"({"month":"2026-10","first":"p1","changes":")" + std::string(5000, 'x') + "\"}"));
}

TEST(WhatIfTest, MonthsAreThoseThatHaveAccounting) {
    const SmallSite site;
    StatusOf days("20260930", {{"size", "1"}});
    days.add("20261001", {{"size", "1"}});
    days.add("20261002", {{"size", "1"}});
    Answer answer = what_if_answer(site.view(), days.get(), "");
    const WhatIf none("pbs_simulate", "");
    none.tell(answer);
    EXPECT_TRUE(is_a(answer, "WhatIf"));
    EXPECT_EQ((Json{"2026-10", "2026-09"}), answer.json["months"]);
    EXPECT_EQ((Json{"p1", "p2"}), answer.json["policies"]);
    EXPECT_TRUE(answer.json["comparison"].is_null());
}

// Runs a script instead of pbs_simulate.
class WhatIfRun : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "what_if_test.XXXXXX").string();
        ASSERT_NE(nullptr, mkdtemp(pattern.data()));
        folder_ = pattern;
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::string script(const std::string& text) const {
        const fs::path file = folder_ / "simulate";
        std::ofstream(file) << "#!/bin/sh\n" << text << '\n';
        chmod(file.c_str(), 0700);
        return file.string();
    }
    Answer end_of(const WhatIf& what_if, const std::string& query_other_jobs = "True") const {
        while (what_if.running()) std::this_thread::yield();
        const SmallSite site(query_other_jobs);
        Answer answer = what_if_answer(site.view(), nullptr, "");
        what_if.tell(answer);
        return answer;
    }
    const Comparison wanted_{.month = "2026-02", .first = "p1", .second = "p2", .changes = ""};
    fs::path folder_;
};

TEST_F(WhatIfRun, TellsTheReportAndThePlots) {
    const std::string seen = (folder_ / "seen").string();
    WhatIf what_if(script("echo \"$@\" >" + seen + R"(
        while [ "$1" != --svg ]; do shift; done
        echo '<svg/>' >"$2"
        ps -o ni= -p $$ >>)" +
                          seen + R"(
        echo '{"jobs":3,"simulations":[{"users":[{"user":"alice"}],
            "preemption":{"users":[{"user":"alice"}]},"tickets":{"users":[{"user":"alice"}]},"shares":[]}]}')"),
                   "host:1");
    ASSERT_TRUE(what_if.start(wanted_));
    const Answer answer = end_of(what_if);
    EXPECT_TRUE(is_a(answer, "WhatIf"));
    const Json& told = answer.json["comparison"];
    EXPECT_EQ("done", told["state"]) << told.dump();
    EXPECT_EQ(3, told["report"]["jobs"]);
    EXPECT_EQ("alice", told["report"]["simulations"][0]["users"][0]["user"]);
    ASSERT_NE(nullptr, what_if.plots());
    EXPECT_EQ("<svg/>\n", *what_if.plots());
    std::ifstream in(seen);
    std::string line;
    std::getline(in, line);
    EXPECT_EQ(0, line.find("--days 20260201-20260228 --compare p1 p2 --json --svg ")) << line;
    EXPECT_NE(std::string::npos, line.find(" --server=host:1")) << line;
    const Json hidden = end_of(what_if, "False").json["comparison"];
    EXPECT_TRUE(hidden["report"]["simulations"][0]["users"].empty());
    EXPECT_TRUE(hidden["report"]["simulations"][0]["preemption"]["users"].empty());
    EXPECT_TRUE(hidden["report"]["simulations"][0]["tickets"]["users"].empty());
    EXPECT_FALSE(hidden["report"]["simulations"][0].contains("shares"));
    EXPECT_EQ(false, hidden["plots"]);
    EXPECT_EQ(nullptr, what_if.plots());
}

TEST_F(WhatIfRun, ChangesAreAFileOfItsFolder) {
    WhatIf what_if(script("cat changes.qmgr >&2; exit 1"), "");
    Comparison wanted = wanted_;
    wanted.second = "";
    wanted.changes = "set policy p1 <script>";
    ASSERT_TRUE(what_if.start(wanted));
    const Answer answer = end_of(what_if);
    EXPECT_TRUE(is_a(answer, "WhatIf"));
    EXPECT_EQ("failed", answer.json["comparison"]["state"]);
    EXPECT_EQ("set policy p1 <script>", answer.json["comparison"]["error"]);
}

TEST_F(WhatIfRun, OneAtATimeAndNoneOutlivesTheProgram) {
    const std::string pid = (folder_ / "pid").string();
    {
        WhatIf what_if(script("echo $$ >" + pid + "; exec sleep 600"), "");
        ASSERT_TRUE(what_if.start(wanted_));
        EXPECT_FALSE(what_if.start(wanted_));
        while (!fs::exists(pid) || fs::file_size(pid) == 0) std::this_thread::yield();
    }
    int number = 0;
    std::ifstream(pid) >> number;
    ASSERT_GT(number, 0);
    EXPECT_NE(0, kill(number, 0));
}

TEST_F(WhatIfRun, OneThatTakesTooLongIsEnded) {
    WhatIf what_if(script("exec sleep 600"), "", {.time = std::chrono::seconds(0)});
    ASSERT_TRUE(what_if.start(wanted_));
    const Answer answer = end_of(what_if);
    EXPECT_EQ("failed", answer.json["comparison"]["state"]);
}

TEST_F(WhatIfRun, OneThatWritesTooMuchIsEnded) {
    WhatIf what_if(script("sleep 1; head -c 100000 /dev/zero"), "", {.bytes = 1000});
    ASSERT_TRUE(what_if.start(wanted_));
    EXPECT_EQ("failed", end_of(what_if).json["comparison"]["state"]);
}

TEST_F(WhatIfRun, AProgramThatIsNotThere) {
    WhatIf what_if((folder_ / "none").string(), "");
    ASSERT_TRUE(what_if.start(wanted_));
    const Answer answer = end_of(what_if);
    EXPECT_NE(std::string::npos,
              answer.json["comparison"]["error"].get<std::string>().find("pbspolicy-tools"));
}

}  // namespace
}  // namespace pbs::web
