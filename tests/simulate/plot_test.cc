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

// Two CPUs until 100, then on average 1.5, then one, of 300 seconds on 860 pixels from 80 on; 100% is at 46
// and nothing at 254.
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
