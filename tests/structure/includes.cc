#include "tests/structure/includes.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/structure/sources.h"

namespace pbs::structure {
namespace fs = std::filesystem;

std::span<const Header> headers() {
    static const std::vector<Header> table{
        {"algorithm",
         {"std::ranges::",
          "std::adjacent_find",
          "std::all_of",
          "std::any_of",
          "std::binary_search",
          "std::clamp",
          "std::copy",
          "std::copy_if",
          "std::copy_n",
          "std::count",
          "std::count_if",
          "std::equal",
          "std::equal_range",
          "std::fill",
          "std::fill_n",
          "std::find",
          "std::find_if",
          "std::find_if_not",
          "std::for_each",
          "std::generate",
          "std::includes",
          "std::inplace_merge",
          "std::is_sorted",
          "std::lexicographical_compare",
          "std::lower_bound",
          "std::make_heap",
          "std::max",
          "std::max_element",
          "std::merge",
          "std::min",
          "std::min_element",
          "std::minmax",
          "std::mismatch",
          "std::next_permutation",
          "std::none_of",
          "std::nth_element",
          "std::partial_sort",
          "std::partition",
          "std::partition_point",
          "std::pop_heap",
          "std::push_heap",
          "std::remove_if",
          "std::replace",
          "std::reverse",
          "std::rotate",
          "std::search",
          "std::set_difference",
          "std::set_intersection",
          "std::set_union",
          "std::shuffle",
          "std::sort",
          "std::stable_partition",
          "std::stable_sort",
          "std::transform",
          "std::unique",
          "std::upper_bound"}},
        {"array", {"std::array", "std::to_array"}},
        {"bit",
         {"std::bit_cast", "std::bit_ceil", "std::bit_floor", "std::bit_width", "std::countl_zero",
          "std::countr_one", "std::countr_zero", "std::has_single_bit", "std::popcount"}},
        {"bitset", {"std::bitset"}},
        {"charconv", {"std::chars_format", "std::from_chars", "std::to_chars"}},
        {"chrono", {"std::chrono::", "std::chrono_literals::"}},
        {"cmath",
         {"std::ceil", "std::fabs", "std::floor", "std::isfinite", "std::isnan", "std::llround", "std::log",
          "std::log10", "std::pow", "std::round", "std::sqrt"}},
        {"cstdint",
         {"std::int16_t", "std::int32_t", "std::int64_t", "std::int8_t", "std::intptr_t", "std::uint16_t",
          "std::uint32_t", "std::uint64_t", "std::uint8_t", "std::uintmax_t", "std::uintptr_t"}},
        {"cstdio",
         {"std::fclose", "std::ferror", "std::fflush", "std::fopen", "std::fprintf", "std::fputs",
          "std::fread", "std::fwrite", "std::printf", "std::rename"}},
        {"cstdlib",
         {"std::abort", "std::calloc", "std::exit", "std::free", "std::getenv", "std::malloc", "std::strtod",
          "std::strtoll"}},
        {"cstring", {"std::memcmp", "std::memcpy", "std::strerror", "std::strlen", "std::strncmp"}},
        {"ctime", {"std::mktime", "std::strftime", "std::time", "std::tm"}},
        {"deque", {"std::deque"}},
        {"fstream", {"std::ifstream", "std::ofstream"}},
        {"functional", {"std::cref", "std::function", "std::invoke", "std::ref", "std::reference_wrapper"}},
        {"limits", {"std::numeric_limits"}},
        {"map", {"std::map", "std::multimap"}},
        {"memory",
         {"std::enable_shared_from_this", "std::make_shared", "std::make_unique", "std::shared_ptr",
          "std::unique_ptr", "std::weak_ptr"}},
        {"mutex", {"std::lock_guard", "std::mutex", "std::scoped_lock", "std::unique_lock"}},
        {"numeric",
         {"std::accumulate", "std::gcd", "std::iota", "std::lcm", "std::midpoint", "std::partial_sum"}},
        {"optional", {"std::make_optional", "std::nullopt", "std::optional"}},
        {"set", {"std::multiset", "std::set"}},
        {"span", {"std::span"}},
        {"sstream", {"std::istringstream", "std::ostringstream", "std::stringstream"}},
        {"string", {"std::getline", "std::stoll", "std::string", "std::to_string"}},
        {"string_view", {"std::string_view"}},
        {"tuple", {"std::make_tuple", "std::tie", "std::tuple"}},
        {"unordered_map", {"std::unordered_map", "std::unordered_multimap"}},
        {"unordered_set", {"std::unordered_multiset", "std::unordered_set"}},
        {"variant",
         {"std::get_if", "std::holds_alternative", "std::monostate", "std::variant", "std::visit"}},
        {"vector", {"std::vector"}},
        {"fmt/format.h", {"fmt::"}},
        {"tl/expected.hpp", {"tl::"}},
        {"CLI/CLI.hpp", {"CLI::"}},
    };
    return table;
}

namespace {

// `header` includes `other`, so a file that includes `header` has the names of `other`.
struct Gives {
    std::string_view header;
    std::string_view other;
};
constexpr Gives kGives[] = {
    {"string", "string_view"},
    {"fstream", "string"},
    {"sstream", "string"},
    {"fmt/chrono.h", "fmt/format.h"},
    {"fmt/ranges.h", "fmt/format.h"},
    {"CLI/App.hpp", "CLI/CLI.hpp"},
};

bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Replaces comments, strings and character literals by blanks. All other text keeps its position.
std::string code_of(const std::string& text) {
    std::string code = text;
    const auto blank = [&](std::size_t from, std::size_t to) {
        to = std::min(to, text.size());
        for (std::size_t i = from; i < to; ++i)
            if (code[i] != '\n') code[i] = ' ';
        return to;
    };
    const auto end_of = [&](std::string_view mark, std::size_t from) {
        const std::size_t at = text.find(mark, from);
        return at == std::string::npos ? text.size() : at + mark.size();
    };
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (text.compare(i, 2, "//") == 0) {
            i = blank(i, text.find('\n', i));
        } else if (text.compare(i, 2, "/*") == 0) {
            i = blank(i, end_of("*/", i + 2));
        } else if (text.compare(i, 2, "R\"") == 0 && (i == 0 || !in_word(text[i - 1]))) {
            const std::string mark = ")" + text.substr(i + 2, text.find('(', i) - i - 2) + "\"";
            i = blank(i, end_of(mark, i + 2));
        } else if (c == '"' || (c == '\'' && (i == 0 || !in_word(text[i - 1])))) {
            // An apostrophe after a digit separates thousands; other apostrophes begin a character literal.
            std::size_t end = i + 1;
            while (end < text.size() && text[end] != c && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
            i = blank(i, end + 1);
        } else {
            ++i;
        }
    }
    return code;
}

// Returns the headers that a file's #include lines name.
std::vector<std::string> included_in(const std::string& text) {
    std::vector<std::string> names;
    for (std::size_t line = 0; line < text.size();) {
        const std::size_t end = std::min(text.find('\n', line), text.size());
        std::string_view rest = std::string_view(text).substr(line, end - line);
        line = end + 1;
        const auto skip = [&](std::string_view word) {
            rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
            if (!rest.starts_with(word)) return false;
            rest.remove_prefix(word.size());
            return true;
        };
        if (!skip("#") || !skip("include") || !(skip("<") || skip("\""))) continue;
        names.emplace_back(rest.substr(0, rest.find_first_of(">\"")));
    }
    return names;
}

class IncludeChecker {
  public:
    IncludeChecker(fs::path root, std::span<const Rule> table, std::span<const Header> known)
        : root_(std::move(root)), table_(table) {
        for (const Header& header : known)
            for (const std::string_view name : header.names) header_of_.emplace(name, header.file);
    }

    std::vector<Violation> run() {
        std::vector<std::string> files;
        for (const fs::path& file : governed_files(root_, table_)) {
            // C programs use no names of C++, so they aren't checked.
            if (!is_source(file) || file.extension() == ".c") continue;
            files.push_back(file.lexically_relative(root_).generic_string());
            texts_.emplace(files.back(), read_text(file));
        }
        for (const auto& [file, text] : texts_)
            for (const std::string& written : included_in(text))
                includes_[file].push_back(included_path(root_, root_ / file, written));
        for (const std::string& file : files) check(file);
        return std::move(found_);
    }

  private:
    void check(const std::string& file) {
        std::set<std::string, std::less<>> had;
        std::set<std::string> seen;
        collect(file, had, seen);
        for (const auto& [header, other] : kGives)
            if (had.contains(header)) had.emplace(other);

        const std::string code = code_of(texts_[file]);
        for (std::size_t at = code.find("::"); at != std::string::npos; at = code.find("::", at)) {
            std::size_t begin = at;
            while (begin > 0 && in_word(code[begin - 1])) --begin;
            std::size_t end = at;
            while (code.compare(end, 2, "::") == 0) {
                end += 2;
                while (end < code.size() && in_word(code[end])) ++end;
            }
            at = end;
            const auto header = header_for(std::string_view(code).substr(begin, end - begin));
            if (header == header_of_.end() || had.contains(header->second)) continue;
            had.emplace(header->second);
            found_.push_back({file, line_at(code, begin), code.substr(begin, end - begin),
                              "needs #include <" + std::string(header->second) + ">"});
        }
    }

    // Adds to `had` the headers from outside this project that a file includes, directly or through this
    // project's headers.
    void collect(const std::string& file, std::set<std::string, std::less<>>& had,
                 std::set<std::string>& seen) {
        if (!seen.insert(file).second) return;
        for (const std::string& included : includes_[file]) {
            if (texts_.contains(included))
                collect(included, had, seen);
            else
                had.insert(included);
        }
    }

    using HeaderOf = std::map<std::string_view, std::string_view>;

    // Returns the header for the longest known prefix of `name`: for std::chrono::days::rep, the prefix is
    // "std::chrono::".
    HeaderOf::const_iterator header_for(std::string_view name) const {
        for (std::size_t size = name.size(); size != 0;) {
            if (const auto known = header_of_.find(name.substr(0, size)); known != header_of_.end())
                return known;
            const std::size_t colons = name.rfind("::", size - 1);
            if (colons == std::string_view::npos) break;
            size = size == colons + 2 ? colons : colons + 2;
        }
        return header_of_.end();
    }

    fs::path root_;
    std::span<const Rule> table_;
    HeaderOf header_of_;
    std::map<std::string, std::string> texts_;
    std::map<std::string, std::vector<std::string>> includes_;
    std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> check_includes(const fs::path& root, std::span<const Rule> table,
                                      std::span<const Header> known) {
    return IncludeChecker(root.lexically_normal(), table, known).run();
}

}  // namespace pbs::structure
