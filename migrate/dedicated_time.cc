#include "migrate/dedicated_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "migrate/words.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

using std::chrono::days;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::minutes;

constexpr days kLongest{366};

// Reads at most four digits; -1 for anything else.
int number(std::string_view text) {
    return text.size() <= 4 ? values::digits<int>(text).value_or(-1) : -1;
}

int full_year(int year) {
    if (year < 90) return year + 2000;
    return year < 100 ? year + 1900 : year;
}

std::optional<local_days> date(std::string_view text) {
    const auto parts = values::split_trimmed(text, '/');
    if (parts.size() != 3) return std::nullopt;
    const int month = number(parts[0]);
    const int day = number(parts[1]);
    const int year = number(parts[2]);
    if (month < 1 || day < 1 || year < 0) return std::nullopt;
    const std::chrono::year_month_day ymd{std::chrono::year{full_year(year)},
                                          std::chrono::month{static_cast<unsigned>(month)},
                                          std::chrono::day{static_cast<unsigned>(day)}};
    if (!ymd.ok()) return std::nullopt;
    return local_days{ymd};
}

// Reads HH:MM. 24:00 is the end of the day.
std::optional<minutes> time_of_day(std::string_view text) {
    const auto parts = values::split_trimmed(text, ':');
    if (parts.size() != 2) return std::nullopt;
    const int hour = number(parts[0]);
    const int minute = number(parts[1]);
    if (hour < 0 || minute < 0 || minute > 59 || hour * 60 + minute > 1440) return std::nullopt;
    return minutes{hour * 60 + minute};
}

class Reader {
  public:
    explicit Reader(const std::string& file) { result_.file = file; }

    void read_line(std::string_view line, int line_number) {
        const auto words = words_of(line, '\n');
        if (words.empty() || words[0].text.starts_with('#') || words[0].text.starts_with('*')) return;
        number_ = line_number;
        constexpr const char* kForm = "expected two dates with times, MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM";
        if (words.size() < 4) return mistake(words.back(), kForm);
        if (words.size() > 4)
            mistake(words[4], kForm,
                    fmt::format("{} and what follows it is left out, the period counts",
                                in_quotes(words[4].text)));
        const auto from = instant(words[0], words[1]);
        const auto to = instant(words[2], words[3]);
        if (!from || !to) return;
        if (*to <= *from)
            return mistake(words[2], "the end is not after the start, expected a later date or time");
        if (*to - *from > kLongest)
            return mistake(words[2], "the end is more than a year after the start, expected an earlier one");
        result_.periods.push_back({*from, *to, number_});
    }

    DedicatedTime finish() { return std::move(result_); }

  private:
    std::optional<local_seconds> instant(const Word& day, const Word& time) {
        const auto d = date(day.text);
        const auto t = time_of_day(time.text);
        if (!d)
            mistake(day, fmt::format("{} is not a date MM/DD/YYYY, such as 04/15/2027", in_quotes(day.text)));
        if (!t) mistake(time, fmt::format("{} is not a time of day HH:MM up to 24:00", in_quotes(time.text)));
        if (!d || !t) return std::nullopt;
        return local_seconds{*d} + *t;
    }

    void mistake(const Word& word, std::string message, std::string then = kLeftOut) {
        result_.mistakes.push_back(
            {result_.file, number_, word.column, "", std::move(message), false, std::move(then)});
    }

    DedicatedTime result_;
    int number_ = 0;
};

std::string date_text(local_days day) {
    const std::chrono::year_month_day ymd{day};
    return fmt::format("{:04}{:02}{:02}", static_cast<int>(ymd.year()), static_cast<unsigned>(ymd.month()),
                       static_cast<unsigned>(ymd.day()));
}

}  // namespace

DedicatedTime parse_dedicated_time(std::string_view text, const std::string& file) {
    Reader reader(file);
    for_each_line(text, [&](std::string_view line, int number) { reader.read_line(line, number); });
    return reader.finish();
}

std::vector<DedicatedWindow> dedicated_windows(const std::vector<DedicatedPeriod>& periods) {
    std::vector<DedicatedWindow> windows;
    const auto add = [&](local_days day, int start, int end, int line) {
        const std::string text = date_text(day);
        const auto same = std::ranges::find_if(
            windows, [&](const DedicatedWindow& w) { return w.start == start && w.end == end; });
        if (same == windows.end()) {
            windows.push_back({"RDATE;VALUE=DATE:" + text, start, end, line});
        } else if (same->rrule.find(text) == std::string::npos) {
            same->rrule += "," + text;
        }
    };
    for (const DedicatedPeriod& period : periods) {
        const auto minute = [](local_seconds t, local_days day) {
            return static_cast<int>(std::clamp((t - day).count() / 60, std::int64_t{0}, std::int64_t{1440}));
        };
        for (auto day = std::chrono::floor<days>(period.from); day < period.to; day += days{1})
            add(day, minute(period.from, day), minute(period.to, day), period.line);
    }
    return windows;
}

}  // namespace pbs::migrate
