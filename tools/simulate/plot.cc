#include "tools/simulate/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "rrule/plain_text.h"

namespace pbs::simulate {
namespace {

using rrule::markup_text;

// Sizes in pixels.
constexpr double kWidth = 960;
constexpr double kHeight = 300;  // height of one plot
constexpr double kLeft = 80;
constexpr double kRight = 20;
constexpr double kTop = 46;
constexpr double kBottom = 46;
constexpr double kInnerWidth = kWidth - kLeft - kRight;
constexpr double kInnerHeight = kHeight - kTop - kBottom;

// Colours of reports: readable on white and on black, and distinct for people who can't tell red from green.
// The second curve is also dashed.
constexpr std::array<std::string_view, 2> kColours = {"#3b82c4", "#d97706"};
constexpr std::array<std::string_view, 2> kDashes = {"", R"( stroke-dasharray="6 3")"};
// Colours of groups. The last one is for the groups that are drawn together.
constexpr std::array<std::string_view, 7> kGroupColours = {"#3b82c4", "#d97706", "#2a9d8f", "#c2559b",
                                                           "#8a6fd1", "#8a9a1b", "#808080"};
constexpr std::string_view kGrey = "#808080";

struct Point {
    double x;
    double y;
};
struct Curve {
    std::string name;
    std::vector<Point> points;  // in units of the axes; each y holds up to the next point's x
    std::string_view colour = kColours[0];
    std::string_view dash = {};
    double target = -1;  // the level of a horizontal line in the same colour; -1: no line
};
struct Tick {
    double at;
    std::string text;
};
struct Band {
    double from;
    double to;
};

struct Plot {
    std::string name;
    std::string title;
    std::string x_title;
    std::string y_title;
    double x_from = 0;
    double x_to = 1;
    double y_to = 1;
    std::vector<Tick> x_ticks;
    std::vector<Tick> y_ticks;
    std::vector<Band> bands;  // shaded areas: prime time
    std::string band_name;
    std::vector<Curve> curves;
};

double x_of(const Plot& plot, double x) {
    return kLeft + std::clamp((x - plot.x_from) / (plot.x_to - plot.x_from), 0.0, 1.0) * kInnerWidth;
}
double y_of(const Plot& plot, double y) {
    return kTop + (1 - std::clamp(y / plot.y_to, 0.0, 1.0)) * kInnerHeight;
}

std::string axes(const Plot& plot) {
    std::string out;
    for (const Tick& tick : plot.y_ticks) {
        const double y = y_of(plot, tick.at);
        out += fmt::format(
            R"(<line x1="{0}" y1="{1:.1f}" x2="{2}" y2="{1:.1f}" stroke="{3}" stroke-width="0.4"/>)"
            R"(<text x="{4}" y="{5:.1f}" text-anchor="end">{6}</text>)"
            "\n",
            kLeft, y, kLeft + kInnerWidth, kGrey, kLeft - 6, y + 4, tick.text);
    }
    for (const Tick& tick : plot.x_ticks) {
        const double x = x_of(plot, tick.at);
        out += fmt::format(
            R"(<line x1="{0:.1f}" y1="{1}" x2="{0:.1f}" y2="{2}" stroke="{3}" stroke-width="0.4"/>)"
            R"(<text x="{0:.1f}" y="{4}" text-anchor="middle">{5}</text>)"
            "\n",
            x, kTop, kTop + kInnerHeight + 4, kGrey, kTop + kInnerHeight + 17, tick.text);
    }
    out +=
        fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="{}" stroke-width="1"/>)"
                    R"(<text x="{}" y="{}" text-anchor="middle">{}</text>)"
                    R"#(<text x="16" y="{}" text-anchor="middle" transform="rotate(-90 16 {})">{}</text>)#"
                    "\n",
                    kLeft, kTop, kInnerWidth, kInnerHeight, kGrey, kLeft + kInnerWidth / 2, kHeight - 8,
                    markup_text(plot.x_title), kTop + kInnerHeight / 2, kTop + kInnerHeight / 2,
                    markup_text(plot.y_title));
    return out;
}

std::string bands(const Plot& plot) {
    std::string out;
    for (const Band& band : plot.bands) {
        const double from = x_of(plot, band.from);
        const double width = x_of(plot, band.to) - from;
        if (width < 0.05) continue;
        out += fmt::format(
            R"(<rect x="{:.1f}" y="{}" width="{:.1f}" height="{}" fill="{}" fill-opacity="0.13"/>)"
            "\n",
            from, kTop, width, kInnerHeight, kGrey);
    }
    return out;
}

std::string curve_path(const Plot& plot, const Curve& curve) {
    std::string path;
    double last_y = -1;
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
        const Point& point = curve.points[i];
        const double y = y_of(plot, point.y);
        // Skip points that don't change the value: a step goes along to the new x, then up or down.
        if (i != 0 && i + 1 < curve.points.size() && y == last_y) continue;
        path +=
            fmt::format("{}{:.1f}{}{:.1f}", i == 0 ? "M" : "H", x_of(plot, point.x), i == 0 ? " " : "V", y);
        last_y = y;
    }
    std::string out = fmt::format(R"(<path d="{}" fill="none" stroke="{}" stroke-width="1.5"{}/>)"
                                  "\n",
                                  path, curve.colour, curve.dash);
    if (curve.target < 0) return out;
    return out +
           fmt::format(R"(<line x1="{}" y1="{:.1f}" x2="{}" y2="{:.1f}" stroke="{}" stroke-width="1.2" )"
                       R"(stroke-dasharray="2 4"/>)"
                       "\n",
                       kLeft, y_of(plot, curve.target), kLeft + kInnerWidth, y_of(plot, curve.target),
                       curve.colour);
}

std::string legend(const Plot& plot) {
    std::string out;
    double x = kLeft + kInnerWidth;
    const auto place = [&x](std::string_view text) {
        x -= 7.0 * static_cast<double>(text.size()) + 44;
        return x;
    };
    if (!plot.bands.empty()) {
        const double at = place(plot.band_name);
        out += fmt::format(R"(<rect x="{}" y="{}" width="24" height="11" fill="{}" fill-opacity="0.3"/>)"
                           R"(<text x="{}" y="{}">{}</text>)"
                           "\n",
                           at, kTop - 17, kGrey, at + 30, kTop - 7, markup_text(plot.band_name));
    }
    for (std::size_t i = plot.curves.size(); i-- > 0;) {
        std::string name = plot.curves[i].name;
        if (name.size() > 40) name = name.substr(0, 37) + "...";
        const double at = place(name);
        out += fmt::format(R"(<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="{}" stroke-width="2"{}/>)"
                           R"(<text x="{}" y="{}">{}</text>)"
                           "\n",
                           at, kTop - 11, at + 24, kTop - 11, plot.curves[i].colour, plot.curves[i].dash,
                           at + 30, kTop - 7, markup_text(name));
    }
    return out;
}

std::string body(const Plot& plot) {
    std::string out = bands(plot) + axes(plot);
    for (const Curve& curve : plot.curves) out += curve_path(plot, curve);
    out += fmt::format(R"(<text x="{}" y="16" font-size="15">{}</text>)"
                       "\n",
                       kLeft, markup_text(plot.title));
    return out + legend(plot);
}

std::string document(const std::vector<Plot>& plots) {
    std::string out =
        fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="{0}" height="{1}" )"
                    R"(viewBox="0 0 {0} {1}" font-family="sans-serif" font-size="12" fill="{2}">)"
                    "\n",
                    kWidth, kHeight * static_cast<double>(plots.size()), kGrey);
    for (std::size_t i = 0; i < plots.size(); ++i)
        out += fmt::format("<g transform=\"translate(0 {})\">\n{}</g>\n", kHeight * static_cast<double>(i),
                           body(plots[i]));
    return out + "</svg>\n";
}

// Returns 1, 2 or 5 times a power of ten: the smallest such step that goes at most eight times into `to`.
double nice_step(double to) {
    double step = std::pow(10, std::floor(std::log10(std::max(to, 1e-9) / 8)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0})
        if (to / (step * factor) <= 8) return step * factor;
    return step * 10;
}

void scale_y(Plot& plot, double largest, const std::function<std::string(double)>& text) {
    const double step = nice_step(std::max(largest, 1e-6));
    plot.y_to = std::max(step, std::ceil(largest / step) * step);
    for (int i = 0; step * i <= plot.y_to * 1.0001; ++i) plot.y_ticks.push_back({step * i, text(step * i)});
}

// Puts at most ten ticks on the time axis, at midnights or full hours of the zone.
void scale_time(Plot& plot, const std::vector<Report>& reports, const rrule::Zone& zone) {
    Instant from = reports.front().begin;
    Instant to = reports.front().end;
    for (const Report& report : reports) {
        from = std::min(from, report.begin);
        to = std::max(to, report.end);
    }
    to = std::max(to, from + Seconds(1));
    const auto seconds = [](Instant t) { return static_cast<double>(t.time_since_epoch().count()); };
    plot.x_from = seconds(from);
    plot.x_to = seconds(to);
    constexpr std::int64_t kDay = 86400;
    constexpr std::array<std::int64_t, 19> kSteps = {1,         5,          15,         60,         300,
                                                     900,       3600,       3 * 3600,   6 * 3600,   12 * 3600,
                                                     kDay,      2 * kDay,   7 * kDay,   14 * kDay,  30 * kDay,
                                                     90 * kDay, 180 * kDay, 360 * kDay, 3600 * kDay};
    std::int64_t step = kSteps.back();
    for (const std::int64_t one : kSteps) {
        if ((to - from).count() / one > 8) continue;
        step = one;
        break;
    }
    const std::int64_t first = zone.local(from).time_since_epoch().count();
    for (std::int64_t local = (first + step - 1) / step * step;; local += step) {
        const Instant at = zone.instant(rrule::Local(Seconds(local)));
        if (at > to) break;
        if (at < from) continue;
        const std::string text = time_text(at, zone);
        plot.x_ticks.push_back({seconds(at), step < 60     ? text.substr(11)
                                             : step < kDay ? text.substr(5, 11)
                                                           : text.substr(0, 10)});
    }
    plot.x_title = "time (" + zone.name() + ")";
    // Shade prime time only if it is the same in all reports.
    const auto same = [&](const Report& report) {
        return std::ranges::equal(
            report.prime_periods, reports.front().prime_periods,
            [](const Period& a, const Period& b) { return a.start == b.start && (a.end == b.end); });
    };
    const Report& longest = *std::ranges::max_element(reports, {}, &Report::end);
    const bool comparable =
        std::ranges::all_of(reports, same) || reports.size() == 1 ||
        std::ranges::all_of(reports, [](const Report& r) { return !r.prime_periods.empty(); });
    if (!comparable) return;
    for (const Period& period : longest.prime_periods)
        plot.bands.push_back({seconds(period.start), seconds(period.end)});
    plot.band_name = "prime time";
}

Curve series_curve(const std::string& name, const Series& time, const std::vector<double>& values,
                   double scale) {
    Curve curve{name, {}};
    const auto begin = static_cast<double>(time.begin.time_since_epoch().count());
    for (std::size_t i = 0; i < values.size(); ++i)
        curve.points.push_back({begin + static_cast<double>(i) * time.step, values[i] * scale});
    if (!values.empty())
        curve.points.push_back(
            {begin + static_cast<double>(values.size()) * time.step, values.back() * scale});
    return curve;
}

double percent_of_cpus(const Report& report) {
    return 100 / static_cast<double>(std::max<std::int64_t>(1, report.cpus));
}

Plot utilisation(const Heading& heading, const std::vector<Report>& reports) {
    Plot plot;
    plot.name = "utilisation.svg";
    plot.title = "Utilisation";
    plot.y_title = "CPUs in use";
    scale_time(plot, reports, heading.zone);
    scale_y(plot, 100, [](double value) { return fmt::format("{:.0f}%", value); });
    for (const Report& report : reports)
        plot.curves.push_back(
            series_curve(report.title, report.series, report.series.cpus_in_use, percent_of_cpus(report)));
    return plot;
}

Plot waiting(const Heading& heading, const std::vector<Report>& reports) {
    Plot plot;
    plot.name = "waiting.svg";
    plot.title = "Jobs waiting";
    plot.y_title = "jobs";
    scale_time(plot, reports, heading.zone);
    double most = 1;
    for (const Report& report : reports) {
        for (const double value : report.series.jobs_waiting) most = std::max(most, value);
        plot.curves.push_back(series_curve(report.title, report.series, report.series.jobs_waiting, 1));
    }
    scale_y(plot, most, [](double value) { return fmt::format("{:g}", value); });
    return plot;
}

// Plots the distribution of wait times. The x axis is logarithmic in 1 + seconds.
Plot wait_times(const Heading&, const std::vector<Report>& reports) {
    Plot plot;
    plot.name = "wait_times.svg";
    plot.title = "Wait times";
    plot.x_title = "wait of at most";
    plot.y_title = "of the jobs that started";
    double longest = 10;
    for (const Report& report : reports)
        if (!report.waits.empty()) longest = std::max(longest, report.waits.back());
    const auto scale = [](double seconds) { return std::log10(1 + seconds); };
    plot.x_to = scale(longest);
    constexpr std::array<std::pair<double, const char*>, 15> kMarks = {{{0, "0"},
                                                                        {1, "1 s"},
                                                                        {10, "10 s"},
                                                                        {60, "1 min"},
                                                                        {600, "10 min"},
                                                                        {3600, "1 h"},
                                                                        {4 * 3600, "4 h"},
                                                                        {86400, "1 d"},
                                                                        {7 * 86400, "7 d"},
                                                                        {30 * 86400, "30 d"},
                                                                        {100. * 86400, "100 d"},
                                                                        {365. * 86400, "1 y"},
                                                                        {3650. * 86400, "10 y"},
                                                                        {36500. * 86400, "100 y"},
                                                                        {365000. * 86400, "1000 y"}}};
    for (const auto& [seconds, text] : kMarks)
        if (seconds <= longest) plot.x_ticks.push_back({scale(seconds), text});
    scale_y(plot, 100, [](double value) { return fmt::format("{:.0f}%", value); });
    constexpr std::size_t kPoints = 500;
    for (const Report& report : reports) {
        Curve curve{report.title, {}};
        for (std::size_t i = 0; i <= kPoints && !report.waits.empty(); ++i) {
            const double x = plot.x_to * static_cast<double>(i) / kPoints;
            const double seconds = std::pow(10, x) - 1 + 1e-6;
            const auto within = std::ranges::upper_bound(report.waits, seconds) - report.waits.begin();
            curve.points.push_back(
                {x, 100 * static_cast<double>(within) / static_cast<double>(report.waits.size())});
        }
        plot.curves.push_back(std::move(curve));
    }
    return plot;
}

// Returns the colour of a group, which is the same in all reports.
std::string_view colour_of(const std::string& group, const GroupSeries& of,
                           const std::vector<Report>& reports) {
    if (group == kOtherGroups) return kGroupColours.back();
    std::vector<std::string_view> names;
    for (const Report& report : reports)
        for (const GroupSeries& series : report.by_group)
            for (const GroupSeries::Line& one : series.groups)
                if (series.title == of.title && one.name != kOtherGroups &&
                    std::ranges::find(names, one.name) == names.end())
                    names.push_back(one.name);
    const auto number = static_cast<std::size_t>(std::ranges::find(names, group) - names.begin());
    return kGroupColours[number % (kGroupColours.size() - 1)];
}

// Returns a group's text in the legend, with its target, because lines of equal targets hide each other. If
// there are `many` groups, names are shortened.
std::string legend_of(const GroupSeries::Line& group, std::size_t many) {
    const std::string target = group.target ? fmt::format(" {:.0f}%", 100 * *group.target) : std::string();
    const auto letters = static_cast<std::size_t>((kInnerWidth / static_cast<double>(many) - 44) / 7);
    const std::size_t most = std::min<std::size_t>(letters, 40) - target.size();
    return (group.name.size() > most ? group.name.substr(0, most - 3) + "..." : group.name) + target;
}

// Plots the CPUs of each group. The axes are the same for all reports, so that the plots can be compared.
Plot by_group(const Heading& heading, const std::vector<Report>& reports, const Report& report,
              const GroupSeries& series) {
    Plot plot;
    plot.title = "CPU use by " + series.title;
    plot.y_title = "CPUs in use";
    scale_time(plot, reports, heading.zone);
    plot.bands.clear();
    double most = 1;
    for (const Report& each : reports)
        for (const GroupSeries& other : each.by_group)
            for (const GroupSeries::Line& group : other.groups) {
                most = std::max(most, 100 * group.target.value_or(0));
                for (const double cpus : group.cpus_in_use)
                    most = std::max(most, cpus * percent_of_cpus(each));
            }
    scale_y(plot, most, [](double value) { return fmt::format("{:g}%", value); });
    for (const GroupSeries::Line& group : series.groups) {
        Curve& curve = plot.curves.emplace_back(series_curve(
            legend_of(group, series.groups.size()), series.time, group.cpus_in_use, percent_of_cpus(report)));
        curve.colour = colour_of(group.name, series, reports);
        if (group.target) curve.target = 100 * *group.target;
    }
    return plot;
}

std::vector<Plot> plots(const Heading& heading, const std::vector<Report>& reports) {
    std::vector<Plot> list = {utilisation(heading, reports), waiting(heading, reports),
                              wait_times(heading, reports)};
    for (Plot& plot : list)
        for (std::size_t i = 0; i < plot.curves.size(); ++i) {
            plot.curves[i].colour = kColours[i % 2];
            plot.curves[i].dash = kDashes[i % 2];
            if (reports.size() > 1)
                plot.curves[i].name = fmt::format("{}: {}", i == 0 ? 'A' : 'B', plot.curves[i].name);
        }
    for (std::size_t i = 0; i < reports.size(); ++i)
        for (std::size_t j = 0; j < reports[i].by_group.size(); ++j) {
            Plot plot = by_group(heading, reports, reports[i], reports[i].by_group[j]);
            plot.name = j == 0 ? "groups" : fmt::format("groups_{}", j + 1);
            if (reports.size() > 1) {
                plot.name += i == 0 ? "_a" : "_b";
                plot.title += fmt::format(", {}: {}", i == 0 ? 'A' : 'B', reports[i].title);
            }
            plot.name += ".svg";
            list.push_back(std::move(plot));
        }
    return list;
}

}  // namespace

std::vector<Picture> to_pictures(const Heading& heading, const std::vector<Report>& reports) {
    std::vector<Picture> pictures;
    for (const Plot& plot : plots(heading, reports)) pictures.push_back({plot.name, document({plot})});
    return pictures;
}

std::string to_svg(const Heading& heading, const std::vector<Report>& reports) {
    return document(plots(heading, reports));
}

}  // namespace pbs::simulate
