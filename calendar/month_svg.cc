#include <fmt/chrono.h>
#include <fmt/format.h>

#include "calendar/month.h"

namespace pbs::calendar {
namespace {

// Pixels. The bars are 720 wide: two minutes a pixel.
constexpr int kLeft = 110;
constexpr int kTop = 60;
constexpr int kRow = 20;
constexpr int kBar = 14;
constexpr int kWidth = 720;

// Colours that differ in brightness too, for those who don't tell red from green.
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

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '&':
                out += "&amp;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string clock(int minute) {
    return fmt::format("{:02}:{:02}", minute / 60, minute % 60);
}

std::string row(const MonthDay& day, int y) {
    const auto shown = fmt::gmtime(std::chrono::sys_days(day.day.time_since_epoch()));
    std::string out =
        fmt::format(R"(<text x="{}" y="{}" text-anchor="end"{}>{:%a %d}{}</text>)"
                    "\n",
                    kLeft - 10, y + 11, day.non_work ? R"( font-weight="bold" fill="#b2182b")" : "", shown,
                    day.non_work ? " *" : "");
    for (const DayPart& part : day.parts) {
        out += fmt::format(
            R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"><title>{:%Y-%m-%d} {} to {}: {}</title></rect>)"
            "\n",
            kLeft + part.from / 2.0, y, (part.to - part.from) / 2.0, kBar, fill(part.phase), shown,
            clock(part.from), clock(part.to), phase_text(part.phase));
    }
    return out;
}

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

std::string legend(int y) {
    std::string out;
    int x = kLeft;
    for (const Phase phase : {Phase::prime, Phase::non_prime, Phase::dedicated}) {
        out += fmt::format(R"(<rect x="{}" y="{}" width="14" height="14" fill="{}"/>)"
                           R"(<text x="{}" y="{}">{}</text>)"
                           "\n",
                           x, y, fill(phase), x + 20, y + 11, phase_text(phase));
        x += 150;
    }
    return out + fmt::format(R"(<text x="{}" y="{}" font-weight="bold" fill="#b2182b">* non-work day</text>)"
                             "\n",
                             x, y + 11);
}

}  // namespace

std::string to_svg(const Month& month) {
    const std::chrono::sys_days first(month.month / 1);
    const int bottom = kTop + static_cast<int>(month.days.size()) * kRow;
    std::string out =
        fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="{0}" height="{1}" )"
                    R"(viewBox="0 0 {0} {1}" font-family="sans-serif" font-size="12">)"
                    "\n"
                    R"(<rect width="{0}" height="{1}" fill="white"/>)"
                    "\n"
                    R"(<text x="{2}" y="24" font-size="18">{3:%B %Y}, {4} ({5})</text>)"
                    "\n",
                    kLeft + kWidth + 30, bottom + 40, kLeft, fmt::gmtime(first), escaped(month.server),
                    escaped(month.zone));
    int y = kTop;
    for (const MonthDay& day : month.days) {
        out += row(day, y);
        y += kRow;
    }
    return out + hour_marks(bottom) + legend(bottom + 12) + "</svg>\n";
}

}  // namespace pbs::calendar
