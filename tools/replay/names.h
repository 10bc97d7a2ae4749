// The names of a site in a record, and the words of its texts.
#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "values/find.h"
#include "values/text.h"

namespace pbs::replay {

// The names of one kind. When all have been seen, each gets a number by its place in the order of names, so
// that decisions that depend on that order stay the same.
class Names {
  public:
    explicit Names(std::string_view stem) : stem_(stem) {}
    void see(std::string_view name) {
        if (!name.empty()) seen_.emplace(name);
    }
    void number() {
        const std::size_t width = std::to_string(seen_.size()).size();
        std::size_t i = 0;
        for (const std::string& name : seen_) others_[name] = fmt::format("{}{:0{}}", stem_, ++i, width);
    }
    const std::string* find(std::string_view name) const { return values::find_in(others_, name); }
    const std::set<std::string, std::less<>>& seen() const { return seen_; }

  private:
    std::string stem_;
    std::set<std::string, std::less<>> seen_;
    std::map<std::string, std::string, std::less<>> others_;
};

// Splits a text, from left to right: calls `word` with each word that may be a name (of letters, digits, _, -
// and the characters in `also`), and `between` with the text between words.
template <class Word, class Between>
void each_word(std::string_view text, std::string_view also, Word word, Between between) {
    const auto is_word = [&](char c) {
        return values::is_alnum(c) || static_cast<unsigned char>(c) >= 0x80 || c == '_' || c == '-' ||
               also.find(c) != std::string_view::npos;
    };
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && is_word(text[end]) == is_word(text[i])) ++end;
        if (is_word(text[i]))
            word(text.substr(i, end - i));
        else
            between(text.substr(i, end - i));
        i = end;
    }
}

}  // namespace pbs::replay
