// Describes a mistake in a legacy file, for the administrator who corrects it.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace pbs::migrate {

struct Problem {
    std::string file;
    int line = 0;        // counted from 1; 0: the whole file
    int column = 0;      // first wrong byte, counted from 1; 0: the whole line
    std::string option;  // name of the option; empty: none
    std::string message;
    bool system = false;  // no file is to blame: the disk or the database failed
    // The consequence with which the migration goes on, as the older scheduler did: "the line is left out".
    // Empty: the mistake stops the migration until the file is corrected.
    std::string then{};
    // The connection broke before the server's answer: it may have migrated the files or not.
    bool unknown = false;
};

// Returns the text of a problem: "config:12:20: PRIME_TIME_START: '8am' is not a time HH:MM:SS".
std::string to_text(const Problem& problem);

using Problems = std::vector<Problem>;

// Returns a problem without a file: no line of a file is to blame.
inline tl::unexpected<Problems> refuse(std::string message) {
    return tl::unexpected(Problems{{"", 0, 0, "", std::move(message)}});
}

// Returns a problem with a whole file.
inline tl::unexpected<Problems> refuse_file(const std::string& file, std::string message) {
    return tl::unexpected(Problems{{file, 0, 0, "", std::move(message)}});
}

bool has_system_problem(const Problems& problems);

// Returns the note on a mistake that doesn't stop the migration: "sched_config:3:1: 'by_queu' is not an
// option; the line is left out".
std::string note_of(const Problem& mistake);

// The usual consequence of a mistake (Problem::then).
inline constexpr const char* kLeftOut = "the line is left out";

// The value of a successful function, or else all problems of a file: any problem stops the migration.
template <class T>
using Result = tl::expected<T, Problems>;

}  // namespace pbs::migrate
