// Reads command lines in the manner of getopt: options are letters, and operands may stand anywhere before
// "--". Unlike getopt, the reader has no global state, so that qsub can read several lines of options.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/error.h"

namespace pbs::cmds {

struct Option {
    char letter;
    std::string value;  // empty for an option that takes none
};

struct CommandLine {
    std::vector<Option> options;  // in the order given
    std::vector<std::string> operands;
    std::vector<std::string> after_dashes;  // the words after "--"
    bool dashes = false;                    // the command line has a "--"

    // The operands on both sides of "--".
    std::vector<std::string> all_operands() const {
        std::vector<std::string> all = operands;
        all.insert(all.end(), after_dashes.begin(), after_dashes.end());
        return all;
    }
};

// Reads a command line. `letters` as for getopt: "ab:" is -a, and -b with a value. `arguments` without the
// program's name.
Result<CommandLine> parse_options(std::string_view letters, const std::vector<std::string>& arguments);

// An option that makes a member of a program's options true.
template <class Options>
struct Flag {
    char letter;
    bool Options::*member;
};
// If a flag has the letter, sets its member and returns true.
template <class Options>
bool set_flag(Options& options, std::span<const Flag<Options>> flags, char letter) {
    for (const Flag<Options>& flag : flags) {
        if (flag.letter != letter) continue;
        options.*flag.member = true;
        return true;
    }
    return false;
}

// Adds a letter to the text, unless it is there.
inline void add_letter(std::string& text, char letter) {
    if (text.find(letter) == std::string::npos) text += letter;
}

// The output of qstat and pbsnodes, as option -F names it.
enum class ListFormat { text, dsv, json };
Result<ListFormat> parse_format(std::string_view text);

}  // namespace pbs::cmds
