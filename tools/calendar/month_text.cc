#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "tools/calendar/month.h"

namespace pbs::calendar {
namespace {

constexpr int kSlots = 48;
constexpr int kSlotMinutes = 1440 / kSlots;

struct Style {
    char letter;
    std::string_view colour;  // ANSI: black on green, white on blue, white on red
};

constexpr Style look(Phase phase) {
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

// Returns the phase that a slot of the bar shows: the phase at its beginning, or that of the shortest part
// within it, which no other slot would show.
Phase phase_in(const MonthDay& day, int from, int to) {
    Phase shown = Phase::non_prime;
    int shortest = to - from;
    for (const DayPart& part : day.parts) {
        if (part.from <= from && from < part.to) shown = part.phase;
        if (part.from <= from || part.to >= to || part.to - part.from >= shortest) continue;
        shortest = part.to - part.from;
        shown = part.phase;
    }
    return shown;
}

std::string bar(const MonthDay& day, bool colour) {
    std::string text;
    std::string_view last;
    for (int slot = 0; slot < kSlots; ++slot) {
        const Style shown = look(phase_in(day, slot * kSlotMinutes, (slot + 1) * kSlotMinutes));
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
        const Style shown = look(phase);
        text += fmt::format("{}{}{} {}   ", colour ? shown.colour : "", shown.letter, colour ? kPlain : "",
                            phase_text(phase));
    }
    return text + fmt::format("{}*{} non-work day", colour ? kNonWork : "", colour ? kPlain : "");
}

// Lists days in a short form: "1-24, 26".
std::string day_list(const std::vector<int>& days) {
    std::string text;
    for (std::size_t i = 0; i < days.size();) {
        std::size_t last = i;
        while (last + 1 < days.size() && days[last + 1] == days[last] + 1) ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ", ", days[i]);
        if (last > i) text += fmt::format("-{}", days[last]);
        i = last + 1;
    }
    return text;
}

// Lists the hours of a queue or reservation, each with its days.
std::string hours_of(const QueueMonth& queue) {
    std::vector<std::pair<std::string, std::vector<int>>> kinds;
    for (std::size_t i = 0; i < queue.days.size(); ++i) {
        std::string times;
        for (const OpenTime& open : queue.days[i])
            times += fmt::format("{}{}-{}", times.empty() ? "" : " ", minute_text(open.from),
                                 minute_text(open.to));
        if (times.empty() && queue.windows.empty()) continue;
        if (times.empty()) times = "closed";
        auto kind = std::ranges::find(kinds, times, &std::pair<std::string, std::vector<int>>::first);
        if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {times, {}});
        kind->second.push_back(static_cast<int>(i) + 1);
    }
    std::string text = queue.windows.empty()
                           ? fmt::format("reservation {}:\n", queue.name)
                           : fmt::format("queue {} (time_window {}):\n", queue.name, queue.windows);
    for (const auto& [times, days] : kinds) text += fmt::format("  {}  on {}\n", times, day_list(days));
    return text;
}

}  // namespace

std::string to_terminal(const Month& month, bool colour) {
    std::string text = fmt::format("{}, {} ({})\n\n          {}\n", title_of(month.month), month.server,
                                   month.zone, hours());
    for (const MonthDay& day : month.days) {
        const bool marked = day.non_work && colour;
        text += fmt::format("{}{:%a %d} {}{}  {}{}{}\n", marked ? kNonWork : "", date_of(day.day),
                            day.non_work ? '*' : ' ', marked ? kPlain : "", bar(day, colour),
                            day.remark().empty() ? "" : "  ", day.remark());
    }
    text += "\n" + legend(colour) + "\n";
    for (const PhasePolicies& sched : month.policies) text += sched.text() + "\n";
    for (const QueueMonth& queue : month.queues) text += hours_of(queue);
    return text;
}

}  // namespace pbs::calendar
