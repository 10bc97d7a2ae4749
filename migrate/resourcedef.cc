#include "migrate/resourcedef.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "migrate/words.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

constexpr std::array<std::string_view, 6> kTypes = {"long",   "float",   "size",
                                                    "string", "boolean", "string_array"};

bool is_name(std::string_view word) {
    return values::is_letter(word.front()) && std::ranges::all_of(word, [](char c) {
               return values::is_letter(c) || values::is_digit(c) || c == '_' || c == '-';
           });
}

// Splits a line into words. Blanks before and after a '=' belong to the word.
std::vector<Word> definition_words(std::string_view line) {
    std::vector<Word> out;
    for (const Word& word : words_of(line, '\n')) {
        const bool goes_on = !out.empty() && (word.text.starts_with('=') || out.back().text.ends_with('='));
        if (!goes_on) {
            out.push_back(word);
            continue;
        }
        const auto begin = static_cast<std::size_t>(out.back().column) - 1;
        const auto end = static_cast<std::size_t>(word.column) - 1 + word.text.size();
        out.back().text = line.substr(begin, end - begin);
    }
    return out;
}

// Reads a word "type=..." or "flag=..." into `type` or `flag`. Returns the text of an error; empty: none.
std::string read_word(std::string_view word, std::string& type, std::string& flag) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = values::trim(word.substr(0, equals));
    const std::string_view value = values::trim(word.substr(std::min(word.size(), equals + 1)));
    if (name == "type") {
        if (std::ranges::find(kTypes, value) == kTypes.end())
            return fmt::format(
                "{} is not a type: expected long, float, size, string, boolean or string_array",
                in_quotes(value));
        type = value;
        return {};
    }
    if (name != "flag") return fmt::format("{} is unknown here: expected type= or flag=", in_quotes(word));
    if (value.find_first_not_of("hnfqmri") != std::string_view::npos)
        return fmt::format("{} are not flags: expected some of h, n, f, q, m, r and i", in_quotes(value));
    flag = value;
    return {};
}

std::string directives(std::string_view name, std::string_view type, std::string_view flag) {
    std::string text = fmt::format("create resource {0}; set resource {0} type = {1}", name, type);
    if (!flag.empty()) text += fmt::format("; set resource {} flag = {}", name, flag);
    return text;
}

}  // namespace

QmgrPrint parse_resourcedef(std::string_view text, const std::string& file) {
    std::string print;
    Problems mistakes;
    for_each_line(text, [&](std::string_view line, int number) {
        // Begin a line of the print for each line of the file, so that the line numbers agree.
        print += number == 1 ? "" : "\n";
        if (line.starts_with('#')) return;
        const auto words = definition_words(line);
        if (words.empty()) return;
        std::string type = "long";
        std::string flag;
        const auto mistake = [&, number](const Word& word, std::string message) {
            mistakes.push_back({file, number, word.column, "", std::move(message), false, kLeftOut});
        };
        if (!is_name(words[0].text))
            return mistake(words[0],
                           fmt::format("{} is not a name: expected a letter, then letters, digits, _ or -",
                                       in_quotes(words[0].text)));
        for (std::size_t i = 1; i < words.size(); ++i)
            if (std::string wrong = read_word(words[i].text, type, flag); !wrong.empty())
                return mistake(words[i], std::move(wrong));
        print += directives(words[0].text, type, flag);
    });
    QmgrPrint out = parse_qmgr_print(print, file);
    out.mistakes.insert(out.mistakes.begin(), mistakes.begin(), mistakes.end());
    return out;
}

}  // namespace pbs::migrate
