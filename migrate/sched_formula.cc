#include "migrate/sched_formula.h"

#include <fmt/format.h>

#include <algorithm>

#include "migrate/words.h"

namespace pbs::migrate {

SchedFormula parse_sched_formula(std::string_view text, const std::string& file) {
    SchedFormula out{file, {}, 0, {}};
    for_each_line(text, [&](std::string_view line, int number) {
        const auto words = words_of(line, '\n');
        if (words.empty() || words[0].text.starts_with('#')) return;
        if (out.line == 0) out.line = number;
        for (const Word& word : words)
            out.formula += (out.formula.empty() ? "" : " ") + std::string(word.text);
    });
    const auto bad = std::ranges::find_if(out.formula, [](char c) { return c < ' ' || c > '~'; });
    if (bad != out.formula.end()) {
        out.mistakes.push_back(
            {file, out.line, 0, "",
             fmt::format("the byte {:#04x} stands in {}, expected printable ASCII characters",
                         static_cast<unsigned char>(*bad), in_quotes(out.formula)),
             false, "the formula is left out"});
        out.formula.clear();
    }
    return out;
}

}  // namespace pbs::migrate
