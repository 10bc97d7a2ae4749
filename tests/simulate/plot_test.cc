#include "tools/simulate/plot.h"

#include <gmock/gmock.h>

#include "tests/simulate/support.h"

namespace pbs::simulate::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
}

class Plots : public testing::Test {
  protected:
    Trace trace = trace_of({{0, 2, 100, 100}, {10, 1, 50, 60}, {20, 1, 200, 200}});
    Schedule run = run_of(trace, site_of(1, 2));
    Heading heading = make_heading(trace, rrule::Zone::utc());
};

TEST_F(Plots, OnePictureHasThreePlotsWithAxesAndLegend) {
    const std::string svg = to_svg(heading, {make_report("a<b", trace, run)});
    EXPECT_TRUE(svg.starts_with("<svg "));
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
    EXPECT_EQ(count(svg, "<path "), 3U);
    EXPECT_EQ(count(svg, "a&lt;b"), 3U) << "the name of the curve in each legend";
    for (const char* text : {">Utilisation<", ">Jobs waiting<", ">Wait times<", ">CPUs in use<", ">100%<",
                             ">time (UTC)<", ">wait of at most<", ">10 s<"})
        EXPECT_THAT(svg, HasSubstr(text));
    EXPECT_EQ(count(svg, "<g "), count(svg, "</g>"));
    EXPECT_THAT(svg, Not(HasSubstr("prime time")));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST_F(Plots, AnyNameGivesAValidPicture) {
    const std::string svg = to_svg(heading, {make_report("q\xe9\x01\xef\xbf\xbf\" a\xc3\xa9", trace, run)});
    EXPECT_EQ(count(svg, "q\xc3\xa9  &quot; a\xc3\xa9"), 3U);
    EXPECT_THAT(svg, Not(HasSubstr("\xef\xbf\xbf")));
}

// Two CPUs are in use until 100 seconds, then 1.5 on average, then one. In the picture, 300 seconds are 860
// pixels wide, beginning at x = 80; 100% is at y = 46, and 0% at y = 254.
TEST_F(Plots, CurvesAreWhereTheValuesAre) {
    const auto pictures = to_pictures(heading, {make_report("x", trace, run, 3)});
    ASSERT_EQ(pictures.size(), 3U);
    EXPECT_EQ(pictures[0].name, "utilisation.svg");
    EXPECT_THAT(pictures[0].svg, HasSubstr(R"(d="M80.0 46.0H366.7V98.0H653.3V150.0H940.0V150.0")"));
    EXPECT_EQ(pictures[1].name, "waiting.svg");
    EXPECT_EQ(pictures[2].name, "wait_times.svg");
}

TEST_F(Plots, TwoReportsAreTwoCurvesThatDiffer) {
    const Schedule other = run_of(trace, site_of(1, 4));
    const std::string svg = to_svg(heading, {make_report("x", trace, run), make_report("y", trace, other)});
    EXPECT_EQ(count(svg, "<path "), 6U);
    EXPECT_EQ(count(svg, "A: x"), 3U);
    EXPECT_EQ(count(svg, "B: y"), 3U);
    EXPECT_THAT(svg, HasSubstr("stroke-dasharray"));
}

TEST_F(Plots, PrimeTimeIsShaded) {
    run.prime = {{kMonday + Seconds(50), kMonday + Seconds(120)}};
    const std::string svg = to_svg(heading, {make_report("x", trace, run)});
    EXPECT_EQ(count(svg, ">prime time<"), 2U) << "where time is the axis";
    EXPECT_EQ(count(svg, "fill-opacity=\"0.13\""), 2U);
}

TEST(Plot, GroupsOfUsersHaveTheirOwn) {
    std::vector<Job> jobs;
    jobs.reserve(8);
    for (int i = 0; i < 8; ++i) jobs.push_back({0, 8 - i, 100, 100, "ann", "", "g" + std::to_string(i)});
    jobs[0].group = "a_group_of_a_long_name";
    const Trace trace = trace_of(jobs);
    const Schedule run = run_of(trace, site_of(1, 36));
    const Heading heading = make_heading(trace, rrule::Zone::utc());
    const auto one = to_pictures(heading, {make_report("x", trace, run)});
    ASSERT_EQ(one.size(), 4U);
    EXPECT_EQ(one[3].name, "groups.svg");
    EXPECT_THAT(one[3].svg, HasSubstr(">CPU use by group<"));
    EXPECT_EQ(count(one[3].svg, "<path "), 7U) << "six, and the others";
    EXPECT_THAT(one[3].svg, HasSubstr(">g5<"));
    EXPECT_THAT(one[3].svg, HasSubstr(">a_group_...<")) << "for want of room";
    EXPECT_THAT(one[3].svg, Not(HasSubstr(">g6<")));
    EXPECT_THAT(one[3].svg, HasSubstr(">others<"));
    EXPECT_THAT(one[3].svg, Not(HasSubstr("stroke-dasharray"))) << "they have no targets";
    const auto two = to_pictures(heading, {make_report("x", trace, run), make_report("y", trace, run)});
    ASSERT_EQ(two.size(), 5U);
    EXPECT_EQ(two[3].name, "groups_a.svg");
    EXPECT_EQ(two[4].name, "groups_b.svg");
    EXPECT_THAT(two[4].svg, HasSubstr(">CPU use by group, B: y<"));
}

// ann has 3 of 4 shares, and one of 4 CPUs until 100 seconds. bob has one share and 3 CPUs. In the picture,
// 80% is at y = 46, and 0% at y = 254.
TEST(Plot, GroupsOfSharesHaveTargets) {
    const Trace trace = trace_of({{0, 1, 100, 100, "ann"}, {0, 3, 100, 100, "bob"}});
    const Schedule run =
        run_of(trace, site_of(1, 4),
               "create fs_group f1 tree_element = [physics:root = 75, ann:physics = 1, bob:root = 25], "
               "unknown_shares = 0\n"
               "set policy default_policy fairshare_group = f1, fairshare = True\n");
    const auto pictures =
        to_pictures(make_heading(trace, rrule::Zone::utc()), {make_report("x", trace, run, 10)});
    ASSERT_EQ(pictures.size(), 4U);
    const std::string& svg = pictures[3].svg;
    EXPECT_THAT(svg, HasSubstr(">CPU use by fs_group f1<"));
    EXPECT_THAT(svg, HasSubstr(">physics 75%<"));
    EXPECT_THAT(svg, Not(HasSubstr(">ann")));
    EXPECT_THAT(svg, HasSubstr("M80.0 59.0H940.0V59.0\" fill=\"none\" stroke=\"#3b82c4\"")) << "bob's";
    EXPECT_THAT(svg, HasSubstr("y1=\"189.0\" x2=\"940\" y2=\"189.0\" stroke=\"#3b82c4\""));
    EXPECT_THAT(svg, HasSubstr("y1=\"59.0\" x2=\"940\" y2=\"59.0\" stroke=\"#d97706\"")) << "of physics";
}

TEST(Plot, LongTracesHaveDatesAtMidnightOfTheZone) {
    const Trace trace = trace_of({{0, 1, 5 * 86400, -1}});
    const auto zone = rrule::Zone::find("America/New_York");
    const std::string svg =
        to_svg(make_heading(trace, *zone), {make_report("x", trace, run_of(trace, site_of(1, 1)))});
    EXPECT_THAT(svg, HasSubstr(">2026-11-23<"));
    EXPECT_THAT(svg, HasSubstr(">2026-11-27<"));
    EXPECT_THAT(svg, Not(HasSubstr(">2026-11-22<")))
        << "the trace begins on that day, but after its midnight";
}

TEST(Plot, ATraceInWhichNothingStartedCanBeDrawn) {
    const Trace trace = trace_of({{0, 8, 10}});
    const std::string svg = to_svg(make_heading(trace, rrule::Zone::utc()),
                                   {make_report("x", trace, run_of(trace, site_of(1, 1)))});
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace pbs::simulate::test
