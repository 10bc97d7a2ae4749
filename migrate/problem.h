// What is wrong in a legacy file, for the administrator who corrects it.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace pbs::migrate {

struct Problem {
    std::string file;
    int line = 0;        // counted from 1; 0 when the whole file is meant
    int column = 0;      // of the first byte of what is wrong, counted from 1; 0 when the whole line is meant
    std::string option;  // the option, empty where there is none
    std::string message;
    bool system = false;  // no file is to blame: the disk failed, or the database
    // What a migration does with the line all the same, as the older scheduler went on after it: "the line is
    // left out". Empty: nothing can be migrated before the file is corrected.
    std::string then{};
};

// "config:12:20: PRIME_TIME_START: '8am' is not a time HH:MM:SS"
std::string to_text(const Problem& problem);

using Problems = std::vector<Problem>;

bool has_system_problem(const Problems& problems);

// "sched_config:3:1: 'by_queu' is not an option; the line is left out": a mistake that a migration goes on
// after.
std::string note_of(const Problem& mistake);

// The most common way to go on.
inline constexpr const char* kLeftOut = "the line is left out";

// All problems of a file are collected: nothing is migrated while there is one.
template <class T>
using Result = tl::expected<T, Problems>;

}  // namespace pbs::migrate
