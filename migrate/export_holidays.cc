// Exports the holidays file of PBS or, for a policy of the Origin algorithm, of the Origin scheduler.
#include <fmt/format.h>

#include <algorithm>

#include "migrate/export_parts.h"

namespace pbs::migrate {
namespace {

// Merges hours that overlap or touch.
std::vector<PrimeHours> united(std::vector<PrimeHours> hours) {
    std::ranges::sort(hours, {}, &PrimeHours::start);
    std::vector<PrimeHours> out;
    for (const PrimeHours& next : hours) {
        if (!out.empty() && next.start <= out.back().end) {
            out.back().end = std::max(out.back().end, next.end);
        } else {
            out.push_back(next);
        }
    }
    return out;
}

std::string hhmm(int minute) {
    return fmt::format("{:02}{:02}", minute / 60, minute % 60);
}

// Returns the two words of a line, the starts of prime and of non-prime time. Empty: the file can't express
// these hours.
std::string hours_text(const std::vector<PrimeHours>& hours) {
    if (hours.empty()) return "none\tall";
    if (hours.size() == 1 && hours[0].start == 0 && hours[0].end == kWholeDay) return "all\tnone";
    if (hours.size() == 1)
        return fmt::format("{}\t{}", hhmm(hours[0].start),
                           hhmm(hours[0].end == kWholeDay ? 0 : hours[0].end));
    if (hours.size() == 2 && hours[0].start == 0 && hours[1].end == kWholeDay)
        return fmt::format("{}\t{}", hhmm(hours[1].start), hhmm(hours[0].end));
    return {};
}

class HolidaysWriter {
  public:
    explicit HolidaysWriter(const ExportSource& source) : source_(source), year_(year_of(source)) {}

    Exported pbs() {
        const auto windows = source_.snapshot.time_windows_of_type("prime");
        out_.text = "* Prime time and holidays, from the time_windows of type prime and non_work_days\n";
        if (windows.empty()) {
            out_.text += "* No YEAR: it is always prime time\n";
            if (!source_.snapshot.non_work_days().empty())
                out_.left_out.emplace_back(
                    "server non_work_days: without a time_window of type prime the file has no effect");
            return std::move(out_);
        }
        for (const objects::Object* window : windows) add(*window);
        out_.text += fmt::format("YEAR\t{}\n", year_);
        lines();
        for (const DayNumber& day : day_numbers(source_, year_, out_.left_out))
            out_.text += fmt::format("{}\t{}\n", day.day_of_year, day.remark);
        return std::move(out_);
    }

    Exported origin() {
        out_.text = fmt::format("* Holidays, from non_work_days\nYEAR {}\n", year_);
        for (const DayNumber& day : day_numbers(source_, year_, out_.left_out)) {
            if (day.day_of_year > 365) {
                out_.left_out.push_back(
                    fmt::format("server non_work_days: day {} of {}: the file ends with day "
                                "365",
                                day.day_of_year, year_));
                continue;
            }
            out_.text += fmt::format("{}\t{}\n", day.day_of_year, day.remark);
        }
        return std::move(out_);
    }

  private:
    void add(const objects::Object& window) {
        const auto week = week_hours(window);
        if (!week) {
            leave_out(window,
                      fmt::format("rrule = {}: the file has days of the week only", window.text("rrule")));
            return;
        }
        const auto is_odd = [&](const char* name) { return window.seconds(name).count() % 60 != 0; };
        if (is_odd("start_time") || is_odd("end_time"))
            leave_out(window, "the file has whole minutes only: the seconds are cut off");
        const bool holidays = !source_.snapshot.non_work_days().empty();
        if (holidays && window.boolean("applies_on_holidays"))
            leave_out(window, "applies_on_holidays = True: in the file a holiday has no prime time");
        const bool overnight =
            window.has("end_time") && window.seconds("end_time") <= window.seconds("start_time");
        if (holidays && overnight && !window.boolean("applies_on_holidays"))
            leave_out(window,
                      "the hours after midnight belong to the day on which the window starts, but in the "
                      "file to the next day");
        for (std::size_t day = 0; day < 7; ++day)
            week_.at(day).insert(week_.at(day).end(), week->at(day).begin(), week->at(day).end());
    }

    void lines() {
        std::array<std::string, 7> words;
        for (std::size_t day = 0; day < 7; ++day) {
            const auto hours = united(week_.at(day));
            words.at(day) = hours_text(hours);
            if (!words.at(day).empty()) continue;
            words.at(day) = hours_text({hours.front()});
            out_.left_out.push_back(fmt::format(
                "prime time on {}: the file can have one period a day: it has the one from {} to {}",
                kDayNames.at(day), hhmm(hours.front().start), hhmm(hours.front().end)));
        }
        const bool same = std::all_of(words.begin() + 1, words.begin() + 6,
                                      [&](const std::string& text) { return text == words[1]; });
        if (same) out_.text += fmt::format("weekday\t{}\n", words[1]);
        for (std::size_t day = 1; day <= 7; ++day)
            if (!same || day > 5)
                out_.text += fmt::format("{}\t{}\n", kDayNames.at(day % 7), words.at(day % 7));
    }

    void leave_out(const objects::Object& window, const std::string& why) {
        out_.left_out.push_back(fmt::format("time_window {}: {}", window.name(), why));
    }

    const ExportSource& source_;
    int year_;
    WeekHours week_;
    Exported out_;
};

}  // namespace

Exported export_holidays(const ExportSource& source) {
    const PoliciesByTime policies = policies_of(source);
    const bool origin = policies.all_time != nullptr && policies.all_time->text("algorithm") == "origin";
    return origin ? HolidaysWriter(source).origin() : HolidaysWriter(source).pbs();
}

}  // namespace pbs::migrate
