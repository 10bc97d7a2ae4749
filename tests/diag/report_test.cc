#include "tools/diag/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace pbs::diag {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Builds a status list like those that the C API returns.
class Objects {
  public:
    struct Value {
        std::string name;
        std::string value;
        std::string resource{};
    };
    void add(std::vector<Value> values) {
        batch_status& object = objects_.emplace_back();
        if (objects_.size() > 1) objects_[objects_.size() - 2].next = &object;
        attrl** at = &object.attribs;
        for (Value& value : values) {
            const Value& kept = values_.emplace_back(std::move(value));
            attrl& attribute = attributes_.emplace_back();
            attribute.name = const_cast<char*>(kept.name.c_str());
            attribute.value = const_cast<char*>(kept.value.c_str());
            attribute.resource = kept.resource.empty() ? nullptr : const_cast<char*>(kept.resource.c_str());
            *at = &attribute;
            at = &attribute.next;
        }
    }
    const batch_status* list() const { return objects_.empty() ? nullptr : &objects_.front(); }

  private:
    std::deque<Value> values_;
    std::deque<attrl> attributes_;
    std::deque<batch_status> objects_;
};

const std::chrono::sys_seconds kNow{std::chrono::seconds(1800000000)};

TEST(Report, DurationsAndSizesHaveTheUnitThatFitsThem) {
    EXPECT_EQ("12 us", duration_text(std::chrono::microseconds(12)));
    EXPECT_EQ("3.4 ms", duration_text(std::chrono::microseconds(3400)));
    EXPECT_EQ("1.25 s", duration_text(std::chrono::microseconds(1250000)));
    EXPECT_EQ("999 B", size_text(999));
    EXPECT_EQ("1.5 MB", size_text(1.5e6));
}

TEST(Report, TheLatestCycleIsFirst) {
    Objects cycles;
    for (const char* took : {"1000", "3000"})
        cycles.add({{"sched", "default"},
                    {"trigger", "new job"},
                    {"began", "1800000000"},
                    {"deciding_us", took},
                    {"carrying_out_us", "0"},
                    {"considered", "7"},
                    {"decisions", "2", "run"}});
    const std::string text = cycles_text(cycles.list(), 1);
    EXPECT_THAT(text, AllOf(HasSubstr("3.0 ms"), Not(HasSubstr("1.0 ms"))));
    EXPECT_THAT(text, HasSubstr("Of the last 2: 2.0 ms on average, the longest 3.0 ms.\n"));
    EXPECT_EQ("No cycle has run since the server's start.\n", cycles_text(nullptr, 5));
}

TEST(Report, ReasonsThatAreNotShownAreCounted) {
    const std::string text = reasons_text({{"a", 5}, {"b", 2}, {"c", 1}}, 2);
    EXPECT_THAT(text, AllOf(HasSubstr("5  a\n"), HasSubstr("2  b\n"), HasSubstr("and 1 other comments.\n"),
                            HasSubstr("8  jobs are queued\n")));
}

class HealthTest : public ::testing::Test {
  protected:
    Health health(std::vector<Objects::Value> changes, const std::string& server_now = "1800000000") {
        std::vector<Objects::Value> values = {
            {"file", "4096", "server.db"},    {"file", "4096", "policy.db"}, {"disk", "100000000000", "size"},
            {"disk", "50000000000", "free"},  {"disk", "1000", "inodes"},    {"disk", "900", "free_inodes"},
            {"home", "/var/spool/pbspolicy"}, {"clock_offset", "0"},         {"log_lines_lost", "0"}};
        for (Objects::Value& change : changes) values.insert(values.begin(), std::move(change));
        Objects of;
        of.add(std::move(values));
        Objects counters;
        counters.add(
            {{"version", "1"}, {"started", "1799990000"}, {"now", server_now}, {"cycles_failed", "0"}});
        Objects server;
        server.add({{"time_zone", "Europe/Berlin"}});
        return health_text(of.list(), counters.list(), server.list(), kNow, "2026a");
    }
};

TEST_F(HealthTest, AHealthyServerHasNoProblems) {
    const Health found = health({});
    EXPECT_EQ(0, found.problems) << found.text;
    EXPECT_THAT(found.text, HasSubstr("version 2026a, of zone Europe/Berlin"));
}

TEST_F(HealthTest, EachProblemIsTold) {
    EXPECT_THAT(health({{"disk", "5000000", "free"}}).text,
                HasSubstr("PROBLEM  disk           5.0 MB of 100.0 GB"));
    EXPECT_THAT(health({{"disk", "1", "free_inodes"}}).text,
                HasSubstr("PROBLEM  disk           1 of 1000 files"));
    EXPECT_THAT(health({{"log_lines_lost", "3"}}).text, HasSubstr("PROBLEM  log            3 lines"));
    EXPECT_THAT(health({{"error", "policy.db: gone"}}).text,
                HasSubstr("PROBLEM  error          policy.db: gone"));
    EXPECT_THAT(health({}, "1800000009").text,
                HasSubstr("PROBLEM  clock          the server's is 9 s ahead of"));
    EXPECT_EQ(1, health({}, "1800000009").problems);
}

}  // namespace
}  // namespace pbs::diag
