#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "rrule/plain_text.h"
#include "tools/calendar/month.h"

namespace pbs::calendar {
namespace {

using rrule::markup_text;

// Sizes in pixels. Bars are 720 wide: two minutes a pixel.
constexpr int kLeft = 110;
constexpr int kTop = 60;
constexpr int kRow = 20;
constexpr int kBar = 14;
constexpr int kQueueRow = 5;
constexpr int kWidth = 720;

// The colours of phases also differ in brightness, for people who can't tell red from green.
constexpr std::string_view fill(Phase phase) {
    switch (phase) {
        case Phase::prime:
            return "#7fc97f";
        case Phase::dedicated:
            return "#b2182b";
        case Phase::non_prime:
            break;
    }
    return "#2b4c7e";
}

std::string_view queue_fill(std::size_t i) {
    static constexpr std::array<std::string_view, 6> kFills{"#e6ab02", "#7570b3", "#1b9e77",
                                                            "#e7298a", "#a6761d", "#666666"};
    return kFills[i % kFills.size()];
}

// Draws a bar, at least two pixels wide.
std::string bar(int from, int to, int y, int height, std::string_view colour, const std::string& title) {
    constexpr double kThinnest = 2;
    return fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"><title>{}</title></rect>)"
                       "\n",
                       kLeft + from / 2.0, y, std::max(kThinnest, (to - from) / 2.0), height, colour,
                       markup_text(title));
}

int row_height(const Month& month) {
    return kRow + kQueueRow * static_cast<int>(month.queues.size());
}

std::string row(const Month& month, std::size_t index, int y) {
    const MonthDay& day = month.days[index];
    const std::tm date = date_of(day.day);
    std::string out =
        fmt::format(R"(<text x="{}" y="{}" text-anchor="end"{}>{}{:%a %d}{}</text>)"
                    "\n",
                    kLeft - 10, y + 11, day.non_work ? R"( font-weight="bold" fill="#b2182b")" : "",
                    day.name.empty() ? "" : fmt::format("<title>{}</title>", markup_text(day.name)), date,
                    day.non_work ? " *" : "");
    // Draw longer parts first, so that they don't cover the short ones beside them.
    std::vector<DayPart> parts = day.parts;
    std::ranges::stable_sort(parts, std::greater<>(),
                             [](const DayPart& part) { return part.to - part.from; });
    for (const DayPart& part : parts) {
        std::string title = fmt::format("{:%Y-%m-%d} {} to {}: {}", date, minute_text(part.from),
                                        minute_text(part.to), phase_text(part.phase));
        for (const PhasePolicies& sched : month.policies)
            title += fmt::format("; sched {}: policy {}", sched.sched,
                                 sched.policies[static_cast<std::size_t>(part.phase)]);
        if (day.non_work) title += day.name.empty() ? "; non-work day" : "; non-work day: " + day.name;
        out += bar(part.from, part.to, y, kBar, fill(part.phase), title);
    }
    for (std::size_t i = 0; i < month.queues.size(); ++i) {
        const QueueMonth& queue = month.queues[i];
        for (const OpenTime& open : queue.days[index])
            out += bar(
                open.from, open.to, y + kBar + 1 + kQueueRow * static_cast<int>(i), kQueueRow - 1,
                queue_fill(i),
                fmt::format("{:%Y-%m-%d} {} to {}: {}", date, minute_text(open.from), minute_text(open.to),
                            queue.windows.empty() ? fmt::format("reservation {}", queue.name)
                                                  : fmt::format("queue {} ({})", queue.name, queue.windows)));
    }
    if (const std::string remark = day.remark(); !remark.empty())
        out += fmt::format(R"(<text x="{}" y="{}" font-size="11" fill="#b2182b">{}</text>)"
                           "\n",
                           kLeft + kWidth + 10, y + 11, markup_text(remark));
    return out;
}

// Draws the hour marks below the bars, so that they don't cover short windows, which often begin on the hour.
std::string hour_marks(int bottom) {
    std::string out;
    for (int hour = 0; hour <= 24; hour += 3) {
        const int x = kLeft + hour * 30;
        out += fmt::format(R"(<text x="{0}" y="{1}" text-anchor="middle">{2}</text>)"
                           R"(<line x1="{0}" y1="{3}" x2="{0}" y2="{4}" stroke="#999" stroke-width="0.5"/>)"
                           "\n",
                           x, kTop - 12, hour, kTop - 8, bottom);
    }
    return out;
}

std::string sample(int x, int y, std::string_view colour, const std::string& text) {
    return fmt::format(
        R"(<rect x="{}" y="{}" width="14" height="14" fill="{}"/><text x="{}" y="{}">{}</text>)"
        "\n",
        x, y, colour, x + 20, y + 11, markup_text(text));
}

std::string note(int y, const std::string& text) {
    return fmt::format(R"(<text x="{}" y="{}">{}</text>)"
                       "\n",
                       kLeft, y + 11, markup_text(text));
}

// Draws the legend from y on, and sets y to its end.
std::string legend(const Month& month, int& y) {
    std::string out;
    int x = kLeft;
    for (const Phase phase : {Phase::prime, Phase::non_prime, Phase::dedicated}) {
        out += sample(x, y, fill(phase), std::string(phase_text(phase)));
        x += 150;
    }
    out += fmt::format(R"(<text x="{}" y="{}" font-weight="bold" fill="#b2182b">* non-work day</text>)"
                       "\n",
                       x, y + 11);
    y += kRow;
    for (std::size_t i = 0; i < month.queues.size(); ++i, y += kRow)
        out +=
            sample(kLeft, y, queue_fill(i),
                   month.queues[i].windows.empty()
                       ? fmt::format("reservation {}", month.queues[i].name)
                       : fmt::format("queue {} is open ({})", month.queues[i].name, month.queues[i].windows));
    for (const PhasePolicies& sched : month.policies) {
        out += note(y, sched.text());
        y += kRow;
    }
    return out;
}

}  // namespace

std::string to_svg(const Month& month) {
    const int bottom = kTop + static_cast<int>(month.days.size()) * row_height(month);
    std::string rows;
    int y = kTop;
    for (std::size_t i = 0; i < month.days.size(); ++i, y += row_height(month)) rows += row(month, i, y);
    int end = bottom + 12;
    const std::string explained = legend(month, end);
    std::size_t longest = 0;
    for (const MonthDay& day : month.days) longest = std::max(longest, day.remark().size());
    return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="{0}" height="{1}" )"
                       R"(viewBox="0 0 {0} {1}" font-family="sans-serif" font-size="12">)"
                       "\n"
                       R"(<rect width="{0}" height="{1}" fill="white"/>)"
                       "\n"
                       R"(<text x="{2}" y="24" font-size="18">{3}, {4} ({5})</text>)"
                       "\n",
                       kLeft + kWidth + 30 + 7 * static_cast<int>(std::min<std::size_t>(longest, 60)),
                       end + 8, kLeft, title_of(month.month), markup_text(month.server),
                       markup_text(month.zone)) +
           hour_marks(bottom) + rows + explained + "</svg>\n";
}

}  // namespace pbs::calendar
