#include "migrate/pbs_holidays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bitset>
#include <charconv>
#include <climits>
#include <cstdint>
#include <optional>
#include <utility>

#include "migrate/words.h"
#include "rrule/rule_text.h"

namespace pbs::migrate {
namespace {

constexpr std::size_t kLongestLine = 255;  // pbs_sched read the rest of a longer line as another line

// Returns the number at the beginning of a text and the rest. Without a number: 0 and the whole text.
std::pair<long, std::string_view> leading_number(std::string_view text) {
    std::string_view digits = text.substr(text.starts_with('+') ? 1 : 0);
    long value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::invalid_argument) return {0, text};
    if (error == std::errc::result_out_of_range) value = digits.starts_with('-') ? LONG_MIN : LONG_MAX;
    return {value, digits.substr(static_cast<std::size_t>(end - digits.data()))};
}

std::optional<long> whole_number(std::string_view text) {
    const auto [value, rest] = leading_number(text);
    return rest.empty() && !text.empty() ? std::optional(value) : std::nullopt;
}

// Splits a line at blanks and tabs only, as pbs_sched did: a carriage return stays part of the last word.
std::vector<Word> words_at_blanks(std::string_view line) {
    std::vector<Word> out;
    for (auto from = line.find_first_not_of(" \t"); from != std::string_view::npos;) {
        const auto end = std::min(line.find_first_of(" \t", from), line.size());
        out.push_back({line.substr(from, end - from), static_cast<int>(from) + 1});
        from = line.find_first_not_of(" \t", end);
    }
    return out;
}

// Start of prime or non-prime time on a day, with the same fields as in pbs_sched: setting a time doesn't
// clear `all` and `none` of an earlier line.
struct Start {
    bool all = false;
    bool none = false;
    std::uint32_t hour = 0;
    std::uint32_t minute = 0;

    void set_word(bool is_all) {
        all = is_all;
        none = !is_all;
        hour = minute = UINT32_MAX;
    }
    bool word() const { return all || none; }
    // Returns the time HHMM as a number.
    int clock() const { return static_cast<int>(hour * 100 + minute); }
};

struct Day {
    Start prime;
    Start non_prime;

    // Sets the start of prime time. False: the word is neither a time, all nor none.
    bool set_prime(std::string_view word) {
        if (word == "all" || word == "ALL") return prime.set_word(true), true;
        if (word == "none" || word == "NONE") return prime.set_word(false), true;
        return set_time(prime, word);
    }
    bool set_non_prime(std::string_view word) {
        if (word == "all" || word == "ALL") {
            if (!prime.all) non_prime.set_word(true);
            return true;
        }
        if (word == "none" || word == "NONE") {
            // With `none` for both, prime time lasts all day.
            prime.none ? prime.set_word(true) : non_prime.set_word(false);
            return true;
        }
        return set_time(non_prime, word);
    }

    // Returns whether no line for the day has a word or a time other than 0000. The whole day is prime time
    // then.
    bool is_missing() const {
        return (prime.all ? 1U : 0U) + (prime.none ? 1U : 0U) + prime.hour + prime.minute + non_prime.hour +
                   non_prime.minute ==
               0;
    }
    std::vector<PrimeHours> hours() const;

  private:
    static bool set_time(Start& start, std::string_view word) {
        const auto hhmm = whole_number(word);
        if (!hhmm) return false;
        start.hour = static_cast<std::uint32_t>(*hhmm / 100);
        start.minute = static_cast<std::uint32_t>(*hhmm % 100);
        return true;
    }
};

// Returns the minute of the day at HHMM. Minutes above 60 count as 60, and times after 24:00 as 24:00.
int minute_of(int hhmm) {
    if (hhmm <= 0) return 0;
    return std::min(hhmm / 100 * 60 + std::min(hhmm % 100, 60), kWholeDay);
}

std::vector<PrimeHours> Day::hours() const {
    const std::vector<PrimeHours> whole{PrimeHours{}};
    if (is_missing() || prime.all) return whole;
    if (non_prime.all || prime.none) return {};
    if (non_prime.none) return whole;
    const int begin = prime.clock();
    const int end = non_prime.clock();
    std::vector<PrimeHours> out;
    const auto add = [&](int from, int to) {
        if (from < to) out.push_back({from, to});
    };
    if (begin < end) add(minute_of(begin), minute_of(end));
    if (begin > end) {
        if (minute_of(begin) == minute_of(end)) return whole;
        add(0, minute_of(end));
        add(minute_of(begin), kWholeDay);
    }
    return out;
}

// Describes the hours: "prime time is 06:00 to 17:30".
std::string effect_text(const std::vector<PrimeHours>& hours) {
    if (hours.empty()) return "there is no prime time";
    if (hours.front() == PrimeHours{}) return "it is prime time all day";
    std::string text = "prime time is ";
    for (const PrimeHours& one : hours)
        text += fmt::format("{}{:02}:{:02} to {:02}:{:02}", &one == &hours.front() ? "" : " and ",
                            one.start / 60, one.start % 60, one.end / 60, one.end % 60);
    return text;
}

bool is_time(long hhmm) {
    return hhmm >= 0 && hhmm <= 2400 && hhmm % 100 < 60;
}

class Reader {
  public:
    explicit Reader(const std::string& file) { result_.file = file; }

    void read_line(std::string_view line, int line_number) {
        number_ = line_number;
        for (column_ = 0;; column_ += static_cast<int>(kLongestLine)) {
            read_part(line.substr(0, kLongestLine));
            if (line.size() <= kLongestLine) return;
            line.remove_prefix(kLongestLine);
        }
    }

    void skip_first_line() {
        result_.mistakes.push_back(
            {result_.file, 1, 1, "", "the file begins with a byte order mark", false, kLeftOut});
    }

    PbsHolidays finish() {
        for (std::size_t day = 0; day < days_.size(); ++day) {
            result_.prime.at(day) = days_.at(day).hours();
            if (result_.lines.at(day) != 0 && days_.at(day).is_missing())
                note(result_.lines.at(day), day,
                     "PBS ignored a line with these times, so that the whole day is prime time, and so it is "
                     "here; write none all for a day without prime time");
        }
        for (const auto& [mistake, day] : effects_)
            result_.mistakes.at(mistake).then = effect_text(result_.prime.at(day)) + ", as with PBS";
        for (const Kept& kept : kept_)
            note(kept.line, kept.day,
                 fmt::format("these times don't replace none or all of line {}, as with PBS: {}",
                             kept.word_line, effect_text(result_.prime.at(kept.day))));
        return std::move(result_);
    }

  private:
    void read_part(std::string_view line) {
        const auto words = words_at_blanks(line);
        if (words_of(line, '\n').empty() || words[0].text.starts_with('#') || words[0].text.starts_with('*'))
            return;
        const std::string_view name = words[0].text;
        if (name == "HOLIDAYFILE_VERSION1") return;
        if (name == "YEAR") return note_return(words, 2), read_year(words);
        if (name == "weekday") return note_return(words, 3), read_days(words, 1, 5);
        const auto day = std::find(kDayNames.begin(), kDayNames.end(), name);
        if (day == kDayNames.end()) return read_holiday(line, words[0]);
        note_return(words, 3);
        const auto index = static_cast<std::size_t>(day - kDayNames.begin());
        read_days(words, index, index);
    }

    // Adds a note if a line's last word counts and a carriage return makes it unreadable. One note is enough:
    // all lines of a file end alike.
    void note_return(const std::vector<Word>& words, std::size_t counted) {
        if (words.size() > counted || !words.back().text.ends_with('\r') ||
            std::exchange(told_of_return_, true))
            return;
        result_.notes.push_back(fmt::format(
            "{}:{}: the line ends with a carriage return, expected LF alone: PBS read it as a part of the "
            "last word, which then has no effect; convert the file if the line is to have one",
            result_.file, number_));
    }

    void read_year(const std::vector<Word>& words) {
        constexpr long kLast = 9999;
        if (words.size() < 2)
            return mistake(words.back(), "YEAR", "the year is missing, expected one such as 2026");
        const auto year = whole_number(words[1].text);
        const bool good = year && *year >= 0 && *year <= kLast;
        if (year) result_.year = static_cast<int>(good ? *year : kLast);
        if (!good)
            mistake(words[1], "YEAR", fmt::format("{} is not a year such as 2026", in_quotes(words[1].text)),
                    year ? "the file is used all the same" : kLeftOut);
    }

    void read_days(const std::vector<Word>& words, std::size_t first, std::size_t last) {
        const auto missing = [&](const char* then) {
            mistake(words.back(), words[0].text,
                    "expected the start of prime and of non-prime time, each HHMM, all or none", then);
        };
        const auto unread = [&](const Word& word, const char* then) {
            mistake(word, words[0].text,
                    fmt::format("{} is not a time HHMM up to 2400, all or none", in_quotes(word.text)), then);
        };
        if (words.size() < 2) return missing(kLeftOut);
        note_kept_words(words, first, last);
        for (std::size_t day = first; day <= last; ++day) {
            if (!days_.at(day).set_prime(words[1].text)) return unread(words[1], kLeftOut);
            result_.lines.at(day) = number_;
        }
        const std::size_t before = result_.mistakes.size();
        note_odd_time(words, 1);
        if (words.size() < 3) {
            missing("");
        } else {
            bool read = true;
            for (std::size_t day = first; day <= last; ++day)
                read = days_.at(day).set_non_prime(words[2].text) && read;
            read ? note_odd_time(words, 2) : unread(words[2], "");
        }
        for (std::size_t i = before; i < result_.mistakes.size(); ++i) effects_.emplace_back(i, first);
    }

    // Remembers a line, for a note, if its times have no effect because an earlier line has `all` or `none`.
    void note_kept_words(const std::vector<Word>& words, std::size_t first, std::size_t last) {
        for (std::size_t day = first; day <= last; ++day) {
            const bool first_kept = days_.at(day).prime.word() && whole_number(words[1].text);
            const bool second_kept =
                days_.at(day).non_prime.word() && words.size() > 2 && whole_number(words[2].text);
            if (first_kept || second_kept) return kept_.push_back({number_, day, result_.lines.at(day)});
        }
    }

    void note_odd_time(const std::vector<Word>& words, std::size_t index) {
        const Word& word = words[index];
        const auto hhmm = whole_number(word.text);
        if (!hhmm || (is_time(*hhmm) && !word.text.starts_with('+'))) return;
        mistake(word, words[0].text,
                fmt::format("{} is not a time HHMM up to 2400, all or none", in_quotes(word.text)), "");
    }

    void read_holiday(std::string_view line, const Word& first) {
        const auto [number, rest] = leading_number(first.text);
        const bool counts = number >= 1 && number <= 366;
        if (!counts || !rest.empty())
            mistake(first, "",
                    fmt::format("{} is not a day of the year from 1 to 366, YEAR, weekday or a day of the "
                                "week in lower case",
                                in_quotes(first.text)),
                    counts ? fmt::format("it is read as day {}", number) : kLeftOut);
        if (!counts) return;
        const int day = static_cast<int>(number);
        if (seen_.test(static_cast<std::size_t>(day))) return;
        seen_.set(static_cast<std::size_t>(day));
        std::string description;
        const auto words = words_of(line, '\n');
        for (std::size_t i = 1; i < words.size(); ++i)
            description += (i > 1 ? " " : "") + std::string(words[i].text);
        result_.days.push_back({day, std::move(description), number_});
    }

    void mistake(const Word& word, std::string_view option, std::string message,
                 std::string then = kLeftOut) {
        // Skip lines that mean nothing in the second part of a long line: that part is mostly a remark.
        if (column_ > 0 && then == kLeftOut) return;
        result_.mistakes.push_back({result_.file, number_, column_ + word.column, std::string(option),
                                    std::move(message), false, std::move(then)});
    }

    void note(int line, std::size_t day, std::string_view text) {
        result_.notes.push_back(fmt::format("{}:{}: {}: {}", result_.file, line, kDayNames.at(day), text));
    }

    // A line whose time has no effect, and the line whose `all` or `none` stays in force.
    struct Kept {
        int line;
        std::size_t day;
        int word_line;
    };

    PbsHolidays result_;
    std::array<Day, 7> days_;
    std::vector<std::pair<std::size_t, std::size_t>> effects_;  // mistakes whose effect isn't reported yet:
                                                                // their indices, with those of their days
    std::vector<Kept> kept_;
    bool told_of_return_ = false;
    std::bitset<367> seen_;
    int number_ = 0;
    int column_ = 0;  // start of the part of a long line that is being read
};

}  // namespace

std::string PbsHoliday::rule() const {
    return fmt::format("FREQ=YEARLY;BYYEARDAY={}", day_of_year);
}

bool is_pbs_holidays(std::string_view text) {
    bool found = false;
    for_each_line(text, [&](std::string_view line, int) {
        const auto words = words_at_blanks(line);
        if (words.empty()) return;
        const std::string_view name = words[0].text;
        found = found || name == "HOLIDAYFILE_VERSION1" || name == "weekday" ||
                std::ranges::find(kDayNames, name) != kDayNames.end();
    });
    return found;
}

PbsHolidays parse_pbs_holidays(std::string_view text, const std::string& file) {
    Reader reader(file);
    const bool marked = text.starts_with("\xef\xbb\xbf");
    if (marked) reader.skip_first_line();
    for_each_line(text, [&](std::string_view line, int number) {
        if (!marked || number > 1) reader.read_line(line, number);
    });
    return reader.finish();
}

std::vector<PrimeWindow> prime_windows(const PbsHolidays& holidays) {
    std::vector<PrimeWindow> windows;
    if (!holidays.in_use()) return windows;
    std::vector<std::vector<std::string_view>> days;  // days of each window
    // Begin with Monday, so that an rrule lists the days from Monday to Sunday.
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
