#include "migrate/origin_holidays.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>

#include "migrate/words.h"
#include "values/number.h"

namespace pbs::migrate {
namespace {

// Reads a day of the year, at most 365; -1 for any other text.
int day_of_year(std::string_view text) {
    const int day = values::digits<int>(text).value_or(-1);
    return day <= 365 ? day : -1;
}

// Reads a year of four digits; 0 for anything else.
int year_of(std::string_view text) {
    const int value = values::digits<int>(text).value_or(0);
    return value >= 1000 && value <= 9999 ? value : 0;
}

// Returns the remark behind a line's number. If it is no more than a date, the line's comment is added: in
// many files it has the name of the holiday.
std::string remark(std::string_view line) {
    std::vector<Word> words = words_of(line, '*');
    if (words.size() <= 3) words = words_of(line, '\n');
    std::string out;
    for (std::size_t i = 1; i < words.size(); ++i) {
        std::string_view text = words[i].text;
        while (text.starts_with('*')) text.remove_prefix(1);
        if (!text.empty()) out += (out.empty() ? "" : " ") + std::string(text);
    }
    return out;
}

}  // namespace

std::string Holiday::rule() const {
    return fmt::format("FREQ=YEARLY;BYYEARDAY={}", day_of_year);
}

HolidaysFile parse_origin_holidays(std::string_view text, const std::string& file) {
    HolidaysFile out{file, {}, 0, {}};
    std::bitset<366> seen;
    for_each_line(text, [&](std::string_view line, int number) {
        const auto words = words_of(line, '*');
        if (words.empty()) return;
        if (words[0].text.starts_with("YEAR")) {
            if (words.size() > 1) out.year = year_of(words[1].text);
            return;
        }
        const int day = day_of_year(words[0].text);
        if (day < 0) {
            out.mistakes.push_back({file, number, words[0].column, "",
                                    fmt::format("{} is not a day of the year from 1 to 365 (or 0, or YEAR)",
                                                in_quotes(words[0].text)),
                                    false, kLeftOut});
        } else if (day > 0 && !seen.test(static_cast<std::size_t>(day))) {
            seen.set(static_cast<std::size_t>(day));
            out.days.push_back({day, remark(line), number});
        }
    });
    return out;
}

}  // namespace pbs::migrate
