#include "migrate/current_usage.h"

#include <fmt/format.h>

#include "migrate/amount.h"
#include "migrate/words.h"
#include "values/number.h"

namespace pbs::migrate {
namespace {

class CurrentUsageReader {
  public:
    explicit CurrentUsageReader(const std::string& file) { result_.file = file; }

    void read_line(std::string_view line, int number) {
        const auto words = words_of(line, '#');
        if (words.empty()) return;
        if (words.size() != 4)
            return problem(number, words.size() < 4 ? words.back() : words[4],
                           "expected a user, a group, a number of jobs and node-hours");
        CurrentUse use{std::string(words[0].text), std::string(words[1].text), 0, 0, number};
        const std::string_view jobs = words[2].text;
        const auto counted = values::digits<decltype(use.jobs)>(jobs);
        use.jobs = counted.value_or(0);
        if (!counted)
            problem(number, words[2],
                    fmt::format("{} is no number of jobs, expected one from 0 on", in_quotes(jobs)));
        const auto amount = read_amount(words[3].text);
        if (!amount || *amount < 0)
            return problem(
                number, words[3],
                fmt::format("{} are no node-hours, expected a number from 0 on", in_quotes(words[3].text)));
        use.node_hours = *amount;
        if (counted) result_.uses.push_back(std::move(use));
    }

    CurrentUsage finish() { return std::move(result_); }

  private:
    void problem(int line, const Word& word, std::string message) {
        result_.mistakes.push_back(
            {result_.file, line, word.column, "", std::move(message), false, kLeftOut});
    }

    CurrentUsage result_;
};

}  // namespace

std::map<std::string, double> CurrentUsage::groups() const {
    std::map<std::string, double> out;
    for (const CurrentUse& use : uses) out[use.group] += use.node_hours;
    return out;
}

CurrentUsage parse_current_usage(std::string_view text, const std::string& file) {
    CurrentUsageReader reader(file);
    for_each_line(text, [&](std::string_view line, int number) { reader.read_line(line, number); });
    return reader.finish();
}

}  // namespace pbs::migrate
