#include "migrate/pbs_holidays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bitset>
#include <charconv>
#include <optional>
#include <utility>

#include "migrate/words.h"
#include "rrule/rule_text.h"

namespace pbs::migrate {
namespace {

constexpr int kWholeDay = 1440;
constexpr std::array<std::string_view, 7> kDays = {"sunday",   "monday", "tuesday", "wednesday",
                                                   "thursday", "friday", "saturday"};

// Decimal digits only; -1 for anything else.
int number(std::string_view text) {
    int value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && text.front() != '-' ? value : -1;
}

// A time as PBS reads it, of any size and with a sign.
std::optional<int> time_of(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// What PBS keeps of the start of prime or of non-prime time on a day. A time leaves the words of an earlier
// line as they are, and these count first.
struct Start {
    bool all = false;
    bool none = false;
    int hour = 0;  // -1 beside a word
    int minute = 0;

    bool word() const { return all || none; }
    int hhmm() const { return hour * 100 + minute; }
    // Minutes since midnight: minute 75 comes when the next hour does.
    int minutes() const { return std::clamp(hour * 60 + std::min(minute, 60), 0, kWholeDay); }

    void set_word(bool is_all) { *this = {is_all, !is_all, -1, -1}; }
    void set_time(int time) {
        hour = time / 100;
        minute = time % 100;
    }
};

struct Day {
    Start prime;
    Start non_prime;

    // PBS takes a day for one without a line whose fields add up to 0.
    bool is_missing() const {
        return (prime.all ? 1 : 0) + (prime.none ? 1 : 0) + prime.hour + prime.minute + non_prime.hour +
                   non_prime.minute ==
               0;
    }
    std::vector<PrimeHours> hours() const {
        const PrimeHours whole;
        if (is_missing() || prime.all) return {whole};
        if (non_prime.all || prime.none) return {};
        if (non_prime.none) return {whole};
        const int from = prime.minutes();
        const int to = non_prime.minutes();
        std::vector<PrimeHours> hours;
        if (prime.hhmm() < non_prime.hhmm()) {
            hours = {{from, to}};
        } else if (prime.hhmm() > non_prime.hhmm()) {
            hours = {{0, to}, {from, kWholeDay}};
        }
        std::erase_if(hours, [](const PrimeHours& one) { return one.start >= one.end; });
        return hours;
    }
};

// "prime time is 06:00 to 17:30"
std::string effect_text(const std::vector<PrimeHours>& hours) {
    if (hours.empty()) return "there is no prime time";
    if (hours.front() == PrimeHours{}) return "it is prime time all day";
    std::string text = "prime time is ";
    for (const PrimeHours& one : hours)
        text += fmt::format("{}{:02}:{:02} to {:02}:{:02}", &one == &hours.front() ? "" : " and ",
                            one.start / 60, one.start % 60, one.end / 60, one.end % 60);
    return text;
}

class Reader {
  public:
    explicit Reader(const std::string& file) { result_.file = file; }

    void read_line(std::string_view line, int line_number) {
        const auto words = words_of(line, '\n');
        if (words.empty() || words[0].text.starts_with('#') || words[0].text.starts_with('*')) return;
        number_ = line_number;
        line_ = line;
        const std::string_view name = words[0].text;
        if (name == "HOLIDAYFILE_VERSION1") return;
        if (name == "YEAR") return read_year(words);
        if (name == "weekday") return read_days(words, 1, 5);
        const auto day = std::find(kDays.begin(), kDays.end(), name);
        if (day == kDays.end()) return read_holiday(words);
        const auto index = static_cast<std::size_t>(day - kDays.begin());
        read_days(words, index, index);
    }

    PbsHolidays finish() {
        for (std::size_t day = 0; day < kDays.size(); ++day) {
            result_.prime.at(day) = days_.at(day).hours();
            if (result_.lines.at(day) != 0 && days_.at(day).is_missing() && !days_.at(day).prime.all)
                note(result_.lines.at(day), day,
                     "PBS took these times for no line at all, and the day for prime time as a whole; so it "
                     "is "
                     "here: none all says that a day has no prime time");
        }
        for (const auto& [mistake, day] : effects_)
            result_.mistakes.at(mistake).then = effect_text(result_.prime.at(day)) + ", as it was for PBS";
        for (const Kept& kept : kept_)
            note(kept.line, kept.day,
                 fmt::format("the times come after none or all in line {}, which PBS kept: {}",
                             kept.word_line, effect_text(result_.prime.at(kept.day))));
        return std::move(result_);
    }

  private:
    void read_year(const std::vector<Word>& words) {
        const int year = words.size() < 2 ? -1 : number(words[1].text);
        if (year >= 0 && year <= 9999) {
            result_.year = year;
            look_for_return(words[1], "YEAR", "read no year, and it was always prime time");
        } else {
            mistake(words.back(), "YEAR",
                    words.size() < 2
                        ? std::string("the year is missing, expected one such as 2026")
                        : fmt::format("{} is not a year such as 2026", in_quotes(words[1].text)));
        }
    }

    // PBS splits lines at blanks and tabs alone. Told once: the lines of a file end alike.
    void look_for_return(const Word& word, std::string_view option, const char* so) {
        const std::size_t behind = static_cast<std::size_t>(word.column) - 1 + word.text.size();
        if (line_.substr(std::min(behind, line_.size())) != "\r" || std::exchange(told_of_return_, true))
            return;
        mistake(
            word, option,
            fmt::format("a carriage return stands behind {}, expected lines that end with LF alone: PBS {}",
                        in_quotes(word.text), so),
            "here the lines count as if they ended so");
    }

    void read_days(const std::vector<Word>& words, std::size_t first, std::size_t last) {
        const std::size_t before = result_.mistakes.size();
        if (words.size() < 3)
            mistake(words.back(), words[0].text,
                    "expected the start of prime and of non-prime time, each HHMM, all or none");
        if (words.size() < 2 || !read_start(words[0], words[1], first, last, &Day::prime)) return;
        const bool both = words.size() > 2 && read_start(words[0], words[2], first, last, &Day::non_prime);
        for (std::size_t i = before; i < result_.mistakes.size(); ++i) effects_.emplace_back(i, first);
        if (both) look_for_return(words[2], words[0].text, "read no start of non-prime time");
        for (std::size_t day = first; day <= last; ++day) result_.lines.at(day) = number_;
    }

    // Sets the start of prime or non-prime time of these days; false: the word says none.
    bool read_start(const Word& name, const Word& word, std::size_t first, std::size_t last,
                    Start Day::*which) {
        const bool all = word.text == "all" || word.text == "ALL";
        const bool none = word.text == "none" || word.text == "NONE";
        const auto time = time_of(word.text);
        const bool usual = number(word.text) >= 0 && *time % 100 < 60 && *time <= 2400;
        if (!all && !none && !usual)
            mistake(word, name.text,
                    fmt::format("{} is not a time HHMM up to 2400, all or none", in_quotes(word.text)));
        if (!all && !none && !time) return false;
        for (std::size_t index = first; index <= last; ++index) {
            Day& day = days_.at(index);
            Start& start = day.*which;
            const bool ends = which == &Day::non_prime;
            if (all) {
                if (!ends || !day.prime.all) start.set_word(true);
            } else if (none) {
                // Both none is prime time all day, as both all is.
                if (ends && day.prime.none) {
                    day.prime.set_word(true);
                } else {
                    start.set_word(false);
                }
            } else {
                const bool told = !kept_.empty() && kept_.back().line == number_;
                if (start.word() && !told) kept_.push_back({number_, index, result_.lines.at(index)});
                start.set_time(*time);
            }
        }
        return true;
    }

    void read_holiday(const std::vector<Word>& words) {
        int day = number(words[0].text);
        if (day < 1 || day > 366) {
            day = number(words[0].text.substr(0, words[0].text.find_first_not_of("0123456789")));
            const bool counts = day >= 1 && day <= 366;
            mistake(words[0], "",
                    fmt::format("{} is not a day of the year from 1 to 366, YEAR, weekday or a day of the "
                                "week in lower case",
                                in_quotes(words[0].text)),
                    counts ? fmt::format("it is read as day {}", day) : kLeftOut);
            if (!counts) return;
        }
        if (seen_.test(static_cast<std::size_t>(day))) return;
        seen_.set(static_cast<std::size_t>(day));
        std::string description;
        for (std::size_t i = 1; i < words.size(); ++i)
            description += (i > 1 ? " " : "") + std::string(words[i].text);
        result_.days.push_back({day, std::move(description), number_});
    }

    void mistake(const Word& word, std::string_view option, std::string message,
                 std::string then = kLeftOut) {
        result_.mistakes.push_back({result_.file, number_, word.column, std::string(option),
                                    std::move(message), false, std::move(then)});
    }

    void note(int line, std::size_t day, std::string_view text) {
        result_.notes.push_back(fmt::format("{}:{}: {}: {}", result_.file, line, kDays.at(day), text));
    }

    // Times behind a word that counts first.
    struct Kept {
        int line;
        std::size_t day;
        int word_line;
    };

    PbsHolidays result_;
    std::array<Day, 7> days_;
    std::vector<std::pair<std::size_t, std::size_t>> effects_;  // mistakes, with the day that they are about
    std::vector<Kept> kept_;
    std::bitset<367> seen_;
    std::string_view line_;
    bool told_of_return_ = false;
    int number_ = 0;
};

}  // namespace

std::string PbsHoliday::rule() const {
    return fmt::format("FREQ=YEARLY;BYYEARDAY={}", day_of_year);
}

PbsHolidays parse_pbs_holidays(std::string_view text, const std::string& file) {
    Reader reader(file);
    for_each_line(text, [&](std::string_view line, int number) { reader.read_line(line, number); });
    return reader.finish();
}

std::vector<PrimeWindow> prime_windows(const PbsHolidays& holidays) {
    std::vector<PrimeWindow> windows;
    if (!holidays.in_use()) return windows;
    std::vector<std::vector<std::string_view>> days;  // of each window
    // Monday first, as people read a week.
    for (std::size_t i = 1; i <= 7; ++i) {
        const std::size_t day = i % 7;
        for (const PrimeHours& hours : holidays.prime.at(day)) {
            const auto same = std::ranges::find(windows, hours, &PrimeWindow::hours);
            const auto index = static_cast<std::size_t>(same - windows.begin());
            if (same == windows.end()) {
                windows.push_back({"", hours, holidays.lines.at(day)});
                days.emplace_back();
            }
            days.at(index).push_back(rrule::text::weekday_name(static_cast<unsigned>(day)));
        }
    }
    for (std::size_t i = 0; i < windows.size(); ++i)
        windows[i].rrule =
            days[i].size() == 7 ? "FREQ=DAILY" : fmt::format("FREQ=WEEKLY;BYDAY={}", fmt::join(days[i], ","));
    return windows;
}

}  // namespace pbs::migrate
