// Reads a folder with the output of qconf, a file for each command, and makes one text of it, because
// LegacyTexts and the request to a server have room for one text of each kind. Internal to migrate/.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate::grid_engine {

// A line of a file, joined by blanks with the lines that continue it after a backslash, as in Grid Engine.
// problem_at() finds the place in the file of a view into `text`.
struct Line {
    struct Piece {
        std::size_t begin = 0;  // where the piece begins in `text`
        int number = 0;         // its line number in the file
    };
    std::string text;
    std::vector<Piece> pieces;

    int number() const { return pieces.front().number; }
    int last() const { return pieces.back().number; }
};

struct File {
    std::string kind;         // the option of qconf that printed it, without the dash: "ssconf", "sq"
    std::string name;         // the name behind the option: "all.q"; empty if there is none
    std::string path;         // for messages
    std::vector<Line> lines;  // without comments and empty lines
};

struct Folder {
    std::string path;
    std::vector<File> files;
    std::map<std::string, std::size_t> by_path;  // the files' numbers by their paths in the folder
    std::vector<std::string> notes;              // on files that aren't read

    // Finds the file of a kind or, if the kind has files by name, the file of this name; null: there is none.
    const File* find(std::string_view kind, std::string_view name = {}) const;
    std::vector<const File*> of_kind(std::string_view kind) const;
    // Finds the file of a kind; null: it isn't there or has no lines.
    const File* find_lines(std::string_view kind) const {
        const File* file = find(kind);
        return file == nullptr || file->lines.empty() ? nullptr : file;
    }
};

// A line's name and value: "weight_user 0.25", or with '=' between them "name=Root".
struct Field {
    std::string_view name;
    std::string_view value;  // trimmed; an empty value is a view into the line's text, too
};
Field field_of(const Line& line);

// Returns the first blank-separated word from `at` on, as a view into the text; empty at the end.
std::string_view word_at(std::string_view text, std::size_t at);

// Makes a problem with `part`, a view into the line's text.
Problem problem_at(const File& file, const Line& line, std::string_view part, std::string_view option,
                   std::string message);

// Makes one text of the files. For each file it has a line "PATH SIZE", with the path in the folder and the
// size in bytes, and then the file's bytes. An entry that no reader uses has the size "-" and no bytes. An
// entry that a reader uses and that can't be read, such as a link to nowhere, is a problem: left out, it
// would look as if the site had no such setting.
Result<std::string> read_folder(const std::string& folder);
// Reads a text that read_folder() made. `path`: the folder's path, for messages.
Result<Folder> parse_folder(std::string_view text, const std::string& path);

}  // namespace pbs::migrate::grid_engine
