#include "migrate/allocations.h"

#include <fmt/format.h>

#include <map>

#include "migrate/amount.h"
#include "migrate/words.h"

namespace pbs::migrate {
namespace {

constexpr std::string_view kSpace = " \t\r\v\f";

// A field between '=' signs, without white space at its ends.
struct Field {
    std::string_view text;
    int column = 0;
};

Field trimmed(std::string_view line, std::size_t from, std::size_t end) {
    while (from < end && kSpace.find(line[from]) != std::string_view::npos) ++from;
    while (end > from && kSpace.find(line[end - 1]) != std::string_view::npos) --end;
    return {line.substr(from, end - from), static_cast<int>(from) + 1};
}

class AllocationsReader {
  public:
    explicit AllocationsReader(const std::string& file) { result_.file = file; }

    void read_line(std::string_view line, int number) {
        const Field whole = trimmed(line, 0, line.size());
        if (whole.text.empty() || whole.text.starts_with('#')) return;
        // A title may have '=' in it: the last two fields are the group and the allocation.
        const auto first = line.find('=');
        const auto last = line.rfind('=');
        const auto middle = last == 0 || last == std::string_view::npos ? last : line.rfind('=', last - 1);
        const bool marked = first != std::string_view::npos && trimmed(line, 0, first).text == "P" &&
                            first < middle && middle < last;
        if (!marked)
            return problem(number, whole.column, "",
                           fmt::format("{} is no allocation, expected P= title = group = node-hours",
                                       in_quotes(whole.text)));
        const Field title = trimmed(line, first + 1, middle);
        const Field group = trimmed(line, middle + 1, last);
        const Field hours = trimmed(line, last + 1, line.size());
        if (group.text.empty() || group.text.find_first_of(kSpace) != std::string_view::npos)
            return problem(number, group.column, "",
                           fmt::format("{} is no name of a group", in_quotes(group.text)));
        const auto amount = read_amount(hours.text);
        if (!amount || (*amount < 0 && *amount != -1))
            return problem(number, hours.column, group.text,
                           fmt::format("{} is no allocation, expected node-hours, or -1.0 for no limit",
                                       in_quotes(hours.text)));
        add({std::string(group.text), std::string(title.text), *amount, number});
    }

    Allocations finish() { return std::move(result_); }

  private:
    void add(Allocation allocation) {
        const auto [found, fresh] = seen_.emplace(allocation.group, result_.groups.size());
        if (fresh) {
            result_.groups.push_back(std::move(allocation));
            return;
        }
        Allocation& old = result_.groups[found->second];
        result_.notes.push_back(fmt::format("{}:{}: {} is in line {} already, which doesn't count",
                                            result_.file, allocation.line, printable(allocation.group),
                                            old.line));
        old = std::move(allocation);
    }

    void problem(int line, int column, std::string_view option, std::string message) {
        result_.mistakes.push_back(
            {result_.file, line, column, printable(option), std::move(message), false, kLeftOut});
    }

    Allocations result_;
    std::map<std::string, std::size_t> seen_;
};

}  // namespace

Allocations parse_allocations(std::string_view text, const std::string& file) {
    AllocationsReader reader(file);
    for_each_line(text, [&](std::string_view line, int number) { reader.read_line(line, number); });
    return reader.finish();
}

}  // namespace pbs::migrate
