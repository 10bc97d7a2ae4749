#include "migrate/pbs_holidays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bitset>
#include <charconv>
#include <optional>

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

// The start of prime or non-prime time on a day.
struct Start {
    enum Kind { at, all, none } kind = at;
    int minute = 0;
};

std::optional<Start> start_of(std::string_view text) {
    if (text == "all" || text == "ALL") return Start{Start::all, 0};
    if (text == "none" || text == "NONE") return Start{Start::none, 0};
    const int hhmm = number(text);
    const int minute = hhmm / 100 * 60 + hhmm % 100;
    if (hhmm < 0 || hhmm % 100 > 59 || minute > kWholeDay) return std::nullopt;
    return Start{Start::at, minute};
}

std::vector<PrimeHours> hours_of(const Start& prime, const Start& non_prime) {
    std::vector<PrimeHours> hours;
    if (prime.kind == Start::all) return {{0, kWholeDay}};
    if (non_prime.kind == Start::all) return {};
    // Both `none` is prime time all day, as the old scheduler warned.
    if (prime.kind == Start::none) return non_prime.kind == Start::none ? std::vector{PrimeHours{}} : hours;
    if (non_prime.kind == Start::none) return {{0, kWholeDay}};
    if (prime.minute < non_prime.minute) return {{prime.minute, non_prime.minute}};
    if (prime.minute == non_prime.minute) return {};
    if (non_prime.minute > 0) hours.push_back({0, non_prime.minute});
    if (prime.minute < kWholeDay) hours.push_back({prime.minute, kWholeDay});
    return hours;
}

class Reader {
  public:
    explicit Reader(const std::string& file) {
        result_.file = file;
        for (auto& hours : result_.prime) hours = {PrimeHours{}};
    }

    void read_line(std::string_view line, int line_number) {
        const auto words = words_of(line, '\n');
        if (words.empty() || words[0].text.starts_with('#') || words[0].text.starts_with('*')) return;
        number_ = line_number;
        const std::string_view name = words[0].text;
        if (name == "HOLIDAYFILE_VERSION1") return;
        if (name == "YEAR") return read_year(words);
        if (name == "weekday") return read_days(words, 1, 5);
        const auto day = std::find(kDays.begin(), kDays.end(), name);
        if (day == kDays.end()) return read_holiday(words);
        const auto index = static_cast<std::size_t>(day - kDays.begin());
        read_days(words, index, index);
    }

    PbsHolidays finish() { return std::move(result_); }

  private:
    void read_year(const std::vector<Word>& words) {
        const int year = words.size() < 2 ? -1 : number(words[1].text);
        if (year >= 0 && year <= 9999) {
            result_.year = year;
        } else {
            mistake(words.back(), "YEAR",
                    words.size() < 2
                        ? std::string("the year is missing, expected one such as 2026")
                        : fmt::format("{} is not a year such as 2026", in_quotes(words[1].text)));
        }
    }

    void read_days(const std::vector<Word>& words, std::size_t first, std::size_t last) {
        if (words.size() < 3)
            return mistake(words.back(), words[0].text,
                           "expected the start of prime and of non-prime time, each HHMM, all or none");
        const auto prime = start_of(words[1].text);
        const auto non_prime = start_of(words[2].text);
        for (const auto& [start, word] : {std::pair{prime, words[1]}, std::pair{non_prime, words[2]}})
            if (!start)
                mistake(word, words[0].text,
                        fmt::format("{} is not a time HHMM up to 2400, all or none", in_quotes(word.text)));
        if (!prime || !non_prime) return;
        for (std::size_t day = first; day <= last; ++day) {
            result_.prime.at(day) = hours_of(*prime, *non_prime);
            result_.lines.at(day) = number_;
        }
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

    PbsHolidays result_;
    std::bitset<367> seen_;
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
