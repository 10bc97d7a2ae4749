#include "migrate/decay_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "migrate/amount.h"
#include "migrate/words.h"

namespace pbs::migrate {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

class DecayReader {
  public:
    explicit DecayReader(const std::string& file) { result_.file = file; }

    void read_line(std::string_view line, int number) {
        const auto words = words_of(line, '\n');
        if (words.empty()) return;
        const bool is_day = words.size() == 1 && std::ranges::find(kDays, words[0].text) != kDays.end();
        if (number == 1 && is_day) return;
        if (words.size() != 2)
            return problem(number, words.size() < 2 ? words[0] : words[2], "",
                           "expected a group and a user, as group:user, and an amount");
        const auto colon = words[0].text.find(':');
        if (colon == std::string_view::npos || colon == 0 || colon + 1 == words[0].text.size())
            return problem(
                number, words[0], "",
                fmt::format("{} is not a group and a user, as group:user", in_quotes(words[0].text)));
        const auto amount = read_amount(words[1].text);
        if (!amount || *amount < 0)
            return problem(
                number, words[1], words[0].text,
                fmt::format("{} is no amount, expected a number from 0 on", in_quotes(words[1].text)));
        add({std::string(words[0].text.substr(0, colon)), std::string(words[0].text.substr(colon + 1)),
             *amount, number});
    }

    DecayUsage finish() { return std::move(result_); }

  private:
    void add(UserUsage usage) {
        const auto [found, fresh] = seen_.emplace(usage.group + ":" + usage.user, result_.users.size());
        if (fresh) {
            result_.users.push_back(std::move(usage));
            return;
        }
        UserUsage& old = result_.users[found->second];
        result_.notes.push_back(fmt::format("{}:{}: {} is in line {} already, which doesn't count",
                                            result_.file, usage.line, printable(found->first), old.line));
        old = std::move(usage);
    }

    void problem(int line, const Word& word, std::string_view option, std::string message) {
        result_.mistakes.push_back(
            {result_.file, line, word.column, printable(option), std::move(message), false, kLeftOut});
    }

    DecayUsage result_;
    std::map<std::string, std::size_t> seen_;
};

}  // namespace

DecayUsage parse_decay_usage(std::string_view text, const std::string& file) {
    DecayReader reader(file);
    for_each_line(text, [&](std::string_view line, int number) { reader.read_line(line, number); });
    return reader.finish();
}

}  // namespace pbs::migrate
