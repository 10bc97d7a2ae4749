#include "migrate/grid_engine/folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>

#include "migrate/read_file.h"
#include "migrate/words.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate::grid_engine {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kFiles = {"ssconf", "sconf", "srqs", "sstree", "sc"};
constexpr std::array<std::string_view, 7> kFolders = {"scal", "sq", "sp", "shgrp", "su", "suser", "sprj"};

template <std::size_t Count>
bool has(const std::array<std::string_view, Count>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

// Returns whether the readers use the file with this path in the folder.
bool is_read(std::string_view path) {
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) return has(kFiles, path);
    // Hidden files and those that end in '~' or begin with '#' are an editor's. No object has such a name.
    const std::string_view name = path.substr(slash + 1);
    return has(kFolders, path.substr(0, slash)) && name.find('/') == std::string_view::npos &&
           !name.starts_with('.') && !name.starts_with('#') && !name.ends_with('~');
}

// Adds the names in a folder to `names`, each behind `before`. Returns an error's text; empty: none.
std::string add_names(const std::string& folder, const std::string& before, std::vector<std::string>& names) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        names.push_back(before + entry->path().filename().string());
    return error ? fmt::format("can't be read: {}", error.message()) : std::string();
}

// Returns the sorted paths of the folder's entries. Folders with files to read (kFolders) are replaced by
// their entries.
std::vector<std::string> paths_in(const std::string& folder, Problems& problems) {
    std::vector<std::string> names;
    if (std::string why = add_names(folder, "", names); !why.empty())
        problems.push_back({folder, 0, 0, "", std::move(why)});
    std::vector<std::string> out;
    for (const std::string& name : names) {
        if (!has(kFolders, name)) {
            out.push_back(name);
            continue;
        }
        const std::string path = fmt::format("{}/{}", folder, name);
        if (std::string why = add_names(path, name + "/", out); !why.empty())
            problems.push_back({path, 0, 0, "", std::move(why)});
    }
    std::ranges::sort(out);
    return out;
}

std::vector<Line> lines_in(std::string_view text) {
    std::vector<Line> out;
    bool goes_on = false;
    for_each_line(text, [&](std::string_view part, int number) {
        if (part.ends_with('\r')) part.remove_suffix(1);
        if (!goes_on && values::trim(part).starts_with('#')) return;
        if (!goes_on) out.emplace_back();
        Line& line = out.back();
        line.pieces.push_back({line.text.size(), number});
        goes_on = part.ends_with('\\');
        if (goes_on) part.remove_suffix(1);
        line.text += part;
        if (goes_on) line.text += ' ';
    });
    std::erase_if(out, [](const Line& line) { return values::trim(line.text).empty(); });
    return out;
}

// Returns whether the lines are the answer of qconf that there is nothing of this kind. Only quota sets and
// the share tree may be missing; all other files have contents at every site.
bool says_nothing(const File& file) {
    if (file.lines.size() != 1) return false;
    const std::string words = values::lowered(values::trim(file.lines.front().text));
    if (!words.starts_with("no ") || words.find('=') != std::string::npos) return false;
    if (file.kind == "srqs") return words.find("quota") != std::string::npos;
    return file.kind == "sstree" && words.find("share") != std::string::npos;
}

// Refuses a file that doesn't have the whole output of qconf: an empty one, one with an error message, and
// one that ends within a line. All that earlier migrations have made of it would be taken back.
void check_output(const File& file, std::string_view text, Problems& problems) {
    const auto refuse = [&](int line, std::string message) {
        problems.push_back({file.path, line, 1, "", std::move(message)});
    };
    if (file.lines.empty())
        return refuse(1,
                      "has no lines, expected the output of qconf, error messages included (2>&1), or no "
                      "such file");
    for (const Line& line : file.lines) {
        const std::string words = values::lowered(values::trim(line.text));
        if (words.starts_with("error:") || words.starts_with("denied:") ||
            words.starts_with("critical error"))
            return refuse(line.number(), fmt::format("{} is an error message, expected the output of qconf",
                                                     in_quotes(values::trim(line.text))));
    }
    if (!text.ends_with('\n'))
        refuse(file.lines.back().last(),
               "the last line has no end, so that lines may be missing: expected the whole output of qconf");
}

}  // namespace

const File* Folder::find(std::string_view kind, std::string_view name) const {
    const auto found = by_path.find(name.empty() ? std::string(kind) : fmt::format("{}/{}", kind, name));
    return found == by_path.end() ? nullptr : &files[found->second];
}

std::vector<const File*> Folder::of_kind(std::string_view kind) const {
    std::vector<const File*> out;
    for (const File& file : files)
        if (file.kind == kind) out.push_back(&file);
    return out;
}

Field field_of(const Line& line) {
    const std::string_view text = values::trim(line.text);
    std::size_t end = 0;
    while (end < text.size() && !values::is_space(text[end]) && text[end] != '=') ++end;
    std::size_t from = end;
    while (from < text.size() && (values::is_space(text[from]) || text[from] == '=')) ++from;
    return {text.substr(0, end), text.substr(from)};
}

std::string_view word_at(std::string_view text, std::size_t at) {
    while (at < text.size() && values::is_space(text[at])) ++at;
    std::size_t end = at;
    while (end < text.size() && !values::is_space(text[end])) ++end;
    return text.substr(at, end - at);
}

Problem problem_at(const File& file, const Line& line, std::string_view part, std::string_view option,
                   std::string message) {
    const auto at = static_cast<std::size_t>(part.data() - line.text.data());
    const auto next = std::ranges::upper_bound(line.pieces, at, {}, &Line::Piece::begin);
    const Line::Piece& piece = *std::prev(next);
    return {file.path, piece.number, static_cast<int>(at - piece.begin) + 1, printable(option),
            std::move(message)};
}

Result<std::string> read_folder(const std::string& folder) {
    Problems problems;
    std::string out;
    for (const std::string& path : paths_in(folder, problems)) {
        if (path.find('\n') != std::string::npos) {
            problems.push_back({folder, 0, 0, "",
                                fmt::format("{} has a newline in its name, expected none", in_quotes(path))});
        } else if (!is_read(path)) {
            out += path + " -\n";
        } else if (const auto bytes =
                       read_file(fmt::format("{}/{}", folder, path),
                                 kLargestFile - std::min<std::uintmax_t>(out.size(), kLargestFile))) {
            out += fmt::format("{} {}\n", path, bytes->size()) + *bytes;
        } else {
            problems.push_back({fmt::format("{}/{}", folder, printable(path)), 0, 0, "", bytes.error()});
        }
    }
    if (!problems.empty()) return tl::unexpected(std::move(problems));
    return out;
}

Result<Folder> parse_folder(std::string_view text, const std::string& path) {
    Folder out;
    Problems problems;
    out.path = path;
    const auto fail = [&](std::string message) {
        return tl::unexpected(Problems{{path, 0, 0, "", std::move(message)}});
    };
    while (!text.empty()) {
        const std::string_view head = values::take_line(text);
        const std::size_t blank = std::min(head.rfind(' '), head.size());
        const std::string file(head.substr(0, blank));
        const std::string_view size_word = head.substr(std::min(blank + 1, head.size()));
        if (size_word == "-" && !is_read(file)) {
            out.notes.push_back(fmt::format("{}/{}: is left out: it isn't one of the files that are read",
                                            path, printable(file)));
            continue;
        }
        const auto size = values::digits<std::size_t>(size_word);
        if (!is_read(file) || !size || *size > text.size())
            return fail(fmt::format("{} is no file of a folder of Grid Engine, expected its name and size",
                                    in_quotes(head)));
        out.by_path.emplace(file, out.files.size());
        const std::size_t slash = std::min(file.find('/'), file.size());
        const std::string_view bytes = text.substr(0, *size);
        out.files.push_back({file.substr(0, slash), file.substr(std::min(slash + 1, file.size())),
                             fmt::format("{}/{}", path, printable(file)), lines_in(bytes)});
        check_output(out.files.back(), bytes, problems);
        if (says_nothing(out.files.back())) out.files.back().lines.clear();
        text.remove_prefix(*size);
    }
    if (!problems.empty()) return tl::unexpected(std::move(problems));
    if (out.files.empty())
        return fail(fmt::format("has no file that is read, expected {} or files in {}",
                                fmt::join(kFiles, ", "), fmt::join(kFolders, ", ")));
    return out;
}

}  // namespace pbs::migrate::grid_engine
