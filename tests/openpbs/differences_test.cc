// Tests where jobs start differently than with OpenPBS's scheduler. Each row of the table in
// docs/migration.md has a site that shows the difference when it runs at both servers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/openpbs/differences.h"
#include "tests/openpbs/two_servers.h"

namespace pbs::e2e {
namespace {

std::string summary(const StartsSeen& seen) {
    std::string text;
    for (const auto& [job, state] : seen.states) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", job, state);
        while (text.ends_with(' ')) text.pop_back();
    }
    return text;
}

class OpenpbsDifferences : public OpenpbsTest, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(OpenpbsDifferences, IsAsTheTableSays) {
    const Difference difference = differences().at(GetParam());
    SCOPED_TRACE(difference.row);
    TwoServers servers(difference.site);
    std::string theirs;
    std::string ours;
    for (const auto& jobs : difference.site.cycles) {
        // Begin each cycle in another second: the servers count the times of starts and waits in seconds.
        if (!theirs.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1100));
        servers.submit(jobs);
        theirs = summary(servers.cycle(kTheirs));
        ours = summary(servers.cycle(kOurs));
    }
    const auto among = [](const std::string& all) { return " | " + all + " | "; };
    EXPECT_NE(among(difference.theirs).find(among(theirs)), std::string::npos)
        << theirs << servers.comments(kTheirs);
    EXPECT_NE(among(difference.ours).find(among(ours)), std::string::npos) << ours << servers.comments(kOurs);
}

INSTANTIATE_TEST_SUITE_P(Rows, OpenpbsDifferences, ::testing::Range<std::size_t>(0, differences().size()));

}  // namespace
}  // namespace pbs::e2e
