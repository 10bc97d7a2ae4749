#include <fmt/chrono.h>
#include <fmt/format.h>

#include "calendar/month.h"

namespace pbs::calendar {
namespace {

constexpr int kSlots = 48;
constexpr int kSlotMinutes = 1440 / kSlots;

struct Look {
    char letter;
    std::string_view colour;  // ANSI: black on green, on blue, on red
};

constexpr Look look(Phase phase) {
    switch (phase) {
        case Phase::prime:
            return {'#', "\x1b[30;42m"};
        case Phase::dedicated:
            return {'D', "\x1b[97;41m"};
        case Phase::non_prime:
            break;
    }
    return {'.', "\x1b[97;44m"};
}
constexpr std::string_view kNonWork = "\x1b[1;33m";
constexpr std::string_view kPlain = "\x1b[0m";

Phase phase_at(const MonthDay& day, int minute) {
    for (const DayPart& part : day.parts)
        if (minute < part.to) return part.phase;
    return Phase::non_prime;
}

std::string bar(const MonthDay& day, bool colour) {
    std::string text;
    std::string_view last;
    for (int slot = 0; slot < kSlots; ++slot) {
        const Look shown = look(phase_at(day, slot * kSlotMinutes));
        if (colour && shown.colour != last) text += last = shown.colour;
        text += shown.letter;
    }
    if (colour) text += kPlain;
    return text;
}

std::string hours() {
    std::string text;
    for (int hour = 0; hour < 24; hour += 3) text += fmt::format("{:<6}", hour);
    return text + "24";
}

std::string legend(bool colour) {
    std::string text;
    for (const Phase phase : {Phase::prime, Phase::non_prime, Phase::dedicated}) {
        const Look shown = look(phase);
        text += fmt::format("{}{}{} {}   ", colour ? shown.colour : "", shown.letter, colour ? kPlain : "",
                            phase_text(phase));
    }
    return text + fmt::format("{}*{} non-work day", colour ? kNonWork : "", colour ? kPlain : "");
}

}  // namespace

std::string to_terminal(const Month& month, bool colour) {
    const std::chrono::sys_days first(month.month / 1);
    std::string text = fmt::format("{:%B %Y}, {} ({})\n\n          {}\n", fmt::gmtime(first), month.server,
                                   month.zone, hours());
    for (const MonthDay& day : month.days) {
        const auto shown = fmt::gmtime(std::chrono::sys_days(day.day.time_since_epoch()));
        const bool marked = day.non_work && colour;
        text += fmt::format("{}{:%a %d} {}{}  {}\n", marked ? kNonWork : "", shown, day.non_work ? '*' : ' ',
                            marked ? kPlain : "", bar(day, colour));
    }
    return text + "\n" + legend(colour) + "\n";
}

}  // namespace pbs::calendar
