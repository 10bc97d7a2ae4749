#include "tools/web/exposition.h"

#include <gtest/gtest.h>

namespace pbs::web {
namespace {

TEST(ExpositionTest, SamplesFollowWhatTheyAreOf) {
    Exposition out;
    out.begin("pbs_jobs", "gauge", "Jobs.");
    out.sample("3", {{"queue", "batch"}, {"state", "Queued"}});
    out.sample(0.25);
    EXPECT_EQ(
        "# HELP pbs_jobs Jobs.\n# TYPE pbs_jobs gauge\n"
        "pbs_jobs{queue=\"batch\",state=\"Queued\"} 3\npbs_jobs 0.25\n",
        out.text());
}

TEST(ExpositionTest, NoValueOfALabelEndsIt) {
    Exposition out;
    out.begin("a", "gauge", "A.");
    out.sample("1", {{"x", "q\"\\\n} 2"}});
    EXPECT_EQ("# HELP a A.\n# TYPE a gauge\na{x=\"q\\\"\\\\\\n} 2\"} 1\n", out.text());
}

TEST(ExpositionTest, AHistogramHasItsSumAndAllOfIt) {
    Exposition out;
    out.begin("h", "histogram", "H.");
    EXPECT_TRUE(out.histogram("4 6.5 2 3", "1 2", {{"of", "x"}}));
    EXPECT_EQ(
        "# HELP h H.\n# TYPE h histogram\n"
        "h_bucket{of=\"x\",le=\"1\"} 2\nh_bucket{of=\"x\",le=\"2\"} 3\nh_bucket{of=\"x\",le=\"+Inf\"} 4\n"
        "h_sum{of=\"x\"} 6.5\nh_count{of=\"x\"} 4\n",
        out.text());
    const std::string before = out.text();
    EXPECT_FALSE(out.histogram("4 6.5 2", "1 2"));
    EXPECT_EQ(before, out.text());
}

}  // namespace
}  // namespace pbs::web
