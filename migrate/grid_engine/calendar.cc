// Reads scal/: calendars of Grid Engine become time_windows.
//
// A calendar has entries for days of the year and for days of the week. An entry switches a queue off, or
// with `on` switches it on again within such times. On a day that an entry for the year names, the entries
// for the week don't count. Each window has one pair of times at which the queue is on, and all days with
// this pair.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "migrate/grid_engine/output.h"
#include "migrate/words.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate::grid_engine {
namespace {

using objects::ObjectType;
using std::chrono::sys_days;

constexpr int kDay = 86400;
constexpr std::array<std::string_view, 7> kWeekdays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr std::array<std::string_view, 7> kByDay = {"MO", "TU", "WE", "TH", "FR", "SA", "SU"};
constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
// The recurrence of a window that doesn't open any more. Without an rrule a window never opens, either, but
// no queue may have such a window.
constexpr const char* kNever = "RDATE;VALUE=DATE:19700101";
// The most days in a line of a calendar: ten years.
constexpr std::size_t kMostDays = 3660;
// The most pairs of times in an entry with dates, and in all entries of a line without dates (for weekdays or
// for all days) taken together.
constexpr std::size_t kMostTimes = 100;

using Times = std::pair<int, int>;  // seconds of a day, the second one excluded

enum class QueueState { on, off, suspended };

struct CalendarEntry {
    bool all_days = false;
    std::set<int> weekdays;  // 0 is Monday
    std::set<sys_days> dates;
    std::vector<Times> times;  // empty: the whole day
    QueueState state = QueueState::off;
};

// Returns the times at which a queue is on, on a day with these entries.
std::vector<Times> open_times(const std::vector<const CalendarEntry*>& entries) {
    // Changes at a second of the day. on: how many `on` entries begin then, less the number that end. off:
    // the same count for entries that switch the queue off.
    struct Change {
        int on = 0;
        int off = 0;
    };
    std::map<int, Change> changes{{0, {}}, {kDay, {}}};
    for (const CalendarEntry* entry : entries) {
        const auto count = entry->state == QueueState::on ? &Change::on : &Change::off;
        const auto add = [&](const Times& times) {
            ++(changes[times.first].*count);
            --(changes[times.second].*count);
        };
        if (entry->times.empty()) add({0, kDay});
        for (const Times& times : entry->times) add(times);
    }
    std::vector<Times> out;
    Change now;
    for (auto begin = changes.begin(), end = std::next(begin); end != changes.end(); ++begin, ++end) {
        now.on += begin->second.on;
        now.off += begin->second.off;
        if (now.off > 0 && now.on == 0) continue;
        if (!out.empty() && out.back().second == begin->first) {
            out.back().second = end->first;
        } else {
            out.emplace_back(begin->first, end->first);
        }
    }
    return out;
}

// Reads the entries of a line from the left. Blanks separate entries, except behind commas.
class EntryReader {
  public:
    EntryReader(Output& out, const File& file, const Line& line, const Field& field, bool year)
        : out_(out), file_(file), line_(line), field_(field), year_(year) {}

    // Returns the entries; nullopt: the line has a mistake, which is reported as a problem.
    std::optional<std::vector<CalendarEntry>> read() {
        std::vector<CalendarEntry> entries;
        if (values::lowered(field_.value) == "none") return entries;
        skip_blanks();
        while (!rest().empty()) {
            CalendarEntry entry;
            if (!read_entry(entry)) return std::nullopt;
            entries.push_back(std::move(entry));
            skip_blanks();
        }
        return entries;
    }

  private:
    std::string_view rest() const { return field_.value.substr(at_); }
    bool next_is(char c) const { return rest().starts_with(c); }
    bool next_is_digit() const { return !rest().empty() && values::is_digit(rest().front()); }
    void skip_blanks() {
        while (!rest().empty() && values::is_space(rest().front())) ++at_;
    }
    bool take(char c) {
        if (!next_is(c)) return false;
        ++at_;
        return true;
    }

    bool wrong(std::string_view expectation) {
        const std::string_view word = word_at(rest(), 0);
        out_.problem(
            file_, line_, word.empty() ? rest() : word, field_.name,
            fmt::format("found {}, expected {}", word.empty() ? "the end" : in_quotes(word), expectation));
        return false;
    }

    // Reads [DAYS][=TIMES][=STATE], of which at least one must be there.
    bool read_entry(CalendarEntry& entry) {
        entry.all_days = true;
        bool more = true;
        if (begins_days()) {
            entry.all_days = false;
            if (!read_list([&] { return read_days(entry); })) return false;
            more = take('=');
        }
        // Limit the times of entries that apply to any date together: all of them may meet on one date.
        std::size_t own_times = 0;
        std::size_t& times = entry.dates.empty() ? any_times_ : own_times;
        if (more && next_is_digit()) {
            if (!read_list([&] { return count(times) && read_times(entry); })) return false;
            more = take('=');
        } else if (!count(times)) {
            return false;
        }
        if (more && !read_state(entry)) return false;
        if (!rest().empty() && !values::is_space(rest().front()))
            return wrong("a blank before the next entry");
        return true;
    }

    bool count(std::size_t& times) {
        return ++times <= kMostTimes || wrong(fmt::format("at most {} pairs of times", kMostTimes));
    }

    bool begins_days() const {
        if (!year_) return weekday_at(rest()).has_value();
        const std::size_t end = rest().find_first_not_of("0123456789");
        return end != std::string_view::npos && end > 0 && rest()[end] == '.';
    }

    template <class Read>
    bool read_list(const Read& read) {
        do {
            skip_blanks();
            if (!read()) return false;
        } while (take(','));
        return true;
    }

    static std::optional<int> weekday_at(std::string_view text) {
        const std::string word = values::lowered(text.substr(0, 3));
        const auto* found = std::ranges::find(kWeekdays, word);
        if (found == kWeekdays.end()) return std::nullopt;
        return static_cast<int>(found - kWeekdays.begin());
    }

    std::optional<int> number(int least, int most) {
        const std::size_t end = std::min(rest().find_first_not_of("0123456789"), rest().size());
        const auto number = values::digits<int>(rest().substr(0, end));
        if (!number || *number < least || *number > most) return std::nullopt;
        at_ += end;
        return number;
    }

    std::optional<int> weekday() {
        const auto day = weekday_at(rest());
        if (day) at_ += 3;
        return day;
    }

    std::optional<sys_days> date() {
        const auto begin = at_;
        const auto day = number(1, 31);
        if (!day || !take('.')) return std::nullopt;
        const std::string word = values::lowered(rest().substr(0, 3));
        const auto* name = std::ranges::find(kMonths, word);
        std::optional<int> month;
        if (name != kMonths.end()) {
            month = static_cast<int>(name - kMonths.begin()) + 1;
            at_ += 3;
        } else {
            month = number(1, 12);
        }
        if (!month || !take('.')) return std::nullopt;
        const auto year = number(1970, 2399);
        if (!year) return std::nullopt;
        const std::chrono::year_month_day ymd{std::chrono::year{*year},
                                              std::chrono::month{static_cast<unsigned>(*month)},
                                              std::chrono::day{static_cast<unsigned>(*day)}};
        if (ymd.ok()) return sys_days(ymd);
        at_ = begin;
        return std::nullopt;
    }

    bool read_days(CalendarEntry& entry) {
        if (!year_) {
            const auto first = weekday();
            if (!first) return wrong("a day of the week, such as mon or mon-fri");
            auto last = first;
            if (take('-') && !(last = weekday())) return wrong("a day of the week, such as fri");
            for (int day = *first;; day = (day + 1) % 7) {
                entry.weekdays.insert(day);
                if (day == *last) return true;
            }
        }
        const std::size_t range = at_;
        const auto first = date();
        if (!first) return wrong("a date, such as 24.12.2026");
        auto last = first;
        const auto begin = at_;
        if (take('-') && !(last = date())) return wrong("a date, such as 31.12.2026");
        if (*last < *first || static_cast<std::size_t>((*last - *first).count()) >= kMostDays) {
            at_ = begin;
            return wrong("a range of at most ten years that doesn't end before it begins");
        }
        days_ += static_cast<std::size_t>((*last - *first).count()) + 1;
        if (days_ > kMostDays) {
            at_ = range;
            return wrong(fmt::format("at most {} days in the line", kMostDays));
        }
        for (auto day = *first; day <= *last; day += std::chrono::days{1}) entry.dates.insert(day);
        return true;
    }

    std::optional<int> time() {
        const auto hour = number(0, 24);
        if (!hour) return std::nullopt;
        int seconds = *hour * 3600;
        for (const int unit : {60, 1}) {
            if (!take(':')) break;
            const auto part = number(0, 59);
            if (!part) return std::nullopt;
            seconds += *part * unit;
        }
        if (seconds > kDay) return std::nullopt;
        return seconds;
    }

    bool read_times(CalendarEntry& entry) {
        const auto begin = time();
        if (!begin || !take('-')) return wrong("times of day, such as 6-20 or 6:30-20:00");
        const auto end = time();
        if (!end) return wrong("a time of day up to 24, such as 20 or 20:00:00");
        if (*begin < *end) {
            entry.times.emplace_back(*begin, *end);
            return true;
        }
        // "20-6" means 20-24 and 0-6 of the same day, not of the next one.
        if (*begin < kDay) entry.times.emplace_back(*begin, kDay);
        if (*end > 0) entry.times.emplace_back(0, *end);
        return true;
    }

    bool read_state(CalendarEntry& entry) {
        const std::size_t end = std::min(rest().find_first_of(" \t="), rest().size());
        const std::string word = values::lowered(rest().substr(0, end));
        if (word == "on") {
            entry.state = QueueState::on;
        } else if (word == "suspended") {
            entry.state = QueueState::suspended;
        } else if (word != "off") {
            return wrong(year_ ? "dates, times of day, or on, off or suspended"
                               : "days of the week, times of day, or on, off or suspended");
        }
        at_ += end;
        return true;
    }

    Output& out_;
    const File& file_;
    const Line& line_;
    const Field& field_;
    const bool year_;
    std::size_t at_ = 0;
    std::size_t days_ = 0;       // days of the year that entries name
    std::size_t any_times_ = 0;  // pairs of times of entries that apply to any date
};

std::string clock_of(int second) {
    return fmt::format("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
}

std::string dates_of(std::string_view name, const std::set<sys_days>& days) {
    std::string out = fmt::format("{};VALUE=DATE:", name);
    for (const sys_days day : days) {
        const std::chrono::year_month_day ymd{day};
        if (out.back() != ':') out += ',';
        out += fmt::format("{:04}{:02}{:02}", static_cast<int>(ymd.year()),
                           static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()));
    }
    return out;
}

int weekday_of(sys_days day) {
    return static_cast<int>(std::chrono::weekday{day}.iso_encoding()) - 1;
}

// The days on which a window opens.
struct WindowDays {
    std::set<int> weekdays;
    std::set<sys_days> dates;

    std::string rrule(const std::set<sys_days>& not_by_week) const {
        std::string out;
        if (weekdays.size() == kByDay.size()) {
            out = "FREQ=DAILY";
        } else if (!weekdays.empty()) {
            std::vector<std::string_view> names;
            for (const int day : weekdays) names.push_back(kByDay[static_cast<std::size_t>(day)]);
            out = fmt::format("FREQ=WEEKLY;BYDAY={}", fmt::join(names, ","));
        }
        std::set<sys_days> more;
        std::set<sys_days> fewer;
        // A window that opens each week is compared with all dates that differ from the week. Compare any
        // other window with its own dates only: there may be many such windows.
        for (const sys_days day : weekdays.empty() ? dates : not_by_week) {
            const bool weekly = weekdays.contains(weekday_of(day));
            if (weekly && !dates.contains(day)) fewer.insert(day);
            if (!weekly && dates.contains(day)) more.insert(day);
        }
        if (!more.empty()) out += (out.empty() ? "" : " ") + dates_of("RDATE", more);
        if (!fewer.empty()) out += " " + dates_of("EXDATE", fewer);
        return out;
    }
};

class CalendarReader {
  public:
    // `taken`: names of windows that are made already.
    CalendarReader(Output& out, const File& file, std::set<std::string>& taken)
        : out_(out), file_(file), taken_(taken) {}

    // Returns the names of the calendar's windows; empty if the calendar is always on.
    std::vector<std::string> read() {
        std::string_view name;
        std::vector<CalendarEntry> year;
        std::vector<CalendarEntry> week;
        std::vector<const Line*> lines;
        std::set<std::string, std::less<>> seen;
        for (const Line& line : file_.lines) {
            lines.push_back(&line);
            const Field field = field_of(line);
            const bool of_year = field.name == "year";
            if (!out_.is_first(file_, line, field.name, seen)) return {};
            if (field.name == "calendar_name") {
                name = field.value;
                if (name != file_.name) {
                    out_.problem(file_, line, name, field.name, "isn't the file's name, expected that");
                    return {};
                }
            } else if (!of_year && field.name != "week") {
                out_.problem(
                    file_, line, field.name, "",
                    fmt::format("found {}, expected calendar_name, year or week", in_quotes(field.name)));
                return {};
            } else {
                auto entries = EntryReader(out_, file_, line, field, of_year).read();
                if (!entries) return {};
                (of_year ? year : week) = std::move(*entries);
            }
        }
        if (lines.empty()) return {};
        if (name.empty()) {
            out_.problem(file_, *lines.front(), lines.front()->text, "",
                         "has no line calendar_name, expected one");
            return {};
        }
        note_suspended(year, week, *lines.front());
        return make(out_.name_of(file_, *lines.front(), name, "calendar"), year, week, lines);
    }

  private:
    // Makes the windows suspend jobs at their close (at_close) only if the calendar has no times at which
    // queues are off without that: a window has one at_close. Otherwise adds a note.
    void note_suspended(const std::vector<CalendarEntry>& year, const std::vector<CalendarEntry>& week,
                        const Line& line) {
        const auto any = [&](QueueState state) {
            const auto has = [state](const CalendarEntry& entry) { return entry.state == state; };
            return std::ranges::any_of(year, has) || std::ranges::any_of(week, has);
        };
        if (!any(QueueState::suspended)) return;
        suspends_ = !any(QueueState::off);
        if (!suspends_)
            out_.note(file_, line, file_.name,
                      "suspended times count as off: no job starts, but running jobs go on, because the "
                      "calendar has times of state off, too, and a time_window has one at_close");
    }

    std::vector<std::string> make(const std::string& name, const std::vector<CalendarEntry>& year,
                                  const std::vector<CalendarEntry>& week,
                                  const std::vector<const Line*>& lines) {
        std::map<sys_days, std::vector<const CalendarEntry*>> by_date;
        std::vector<const CalendarEntry*> on_all;
        for (const CalendarEntry& entry : year) {
            for (const sys_days date : entry.dates) by_date[date].push_back(&entry);
            if (entry.all_days) on_all.push_back(&entry);
        }
        std::map<Times, WindowDays> windows;
        for (int day = 0; day < 7; ++day) {
            std::vector<const CalendarEntry*> entries;
            for (const CalendarEntry& entry : on_all.empty() ? week : year)
                if (entry.all_days || entry.weekdays.contains(day)) entries.push_back(&entry);
            for (const Times& times : open_times(entries)) windows[times].weekdays.insert(day);
        }
        std::set<sys_days> dates;
        for (auto& [date, entries] : by_date) {
            dates.insert(dates.end(), date);
            entries.insert(entries.end(), on_all.begin(), on_all.end());
            for (const Times& times : open_times(entries)) windows[times].dates.insert(date);
        }
        return make_windows(name, windows, dates, lines);
    }

    std::vector<std::string> make_windows(const std::string& name, const std::map<Times, WindowDays>& windows,
                                          const std::set<sys_days>& dates,
                                          const std::vector<const Line*>& lines) {
        const std::string from = place_of(file_, lines, name);
        std::vector<std::string> names;
        std::size_t number = 1;
        // Don't give a window the name of another calendar, which may be read later.
        const auto is_free = [&](const std::string& wish) {
            const File* file = out_.folder().find("scal", wish);
            return (file == nullptr || file == &file_) && taken_.insert(wish).second;
        };
        const auto create = [&] {
            std::string next = name;
            while (!is_free(next)) next = numbered_name(name, ++number);
            names.push_back(std::move(next));
            out_.create(ObjectType::time_window, names.back(), from);
        };
        const auto set = [&](std::string_view attribute, std::string value) {
            out_.set(ObjectType::time_window, names.back(), attribute, std::move(value), from);
        };
        if (windows.size() == 1 && windows.begin()->second.rrule(dates) == "FREQ=DAILY" &&
            windows.begin()->first == Times{0, kDay}) {
            out_.note(file_, *lines.front(), name, "is always on: queues need no time_window for it");
            for (const Line* line : lines)
                if (line != lines.front())
                    out_.left_out(file_, *line, field_of(*line).name, "switches nothing off");
            return {};
        }
        for (const auto& [times, days] : windows) {
            create();
            set("rrule", days.rrule(dates));
            set("start_time", clock_of(times.first));
            set("end_time", clock_of(times.second));
            // Set it even if it is the default: the window may be there already, with another one.
            set("at_close", suspends_ ? "suspend" : "run");
        }
        if (windows.empty()) {
            create();
            set("rrule", kNever);
            set("start_time", clock_of(0));
            set("end_time", clock_of(kDay));
            set("at_close", suspends_ ? "suspend" : "run");
            out_.note(file_, *lines.front(), name, "is never on: its time_window has one day, in the past");
        }
        return names;
    }

    Output& out_;
    const File& file_;
    std::set<std::string>& taken_;
    bool suspends_ = false;
};

}  // namespace

CalendarWindows read_calendars(Output& out) {
    CalendarWindows windows;
    std::set<std::string> taken;
    for (const File* file : out.folder().of_kind("scal"))
        windows[file->name] = CalendarReader(out, *file, taken).read();
    return windows;
}

}  // namespace pbs::migrate::grid_engine
