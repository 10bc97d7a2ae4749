// Random inputs of commands: a grammar makes good ones, and mutations spoil some of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pbs::e2e {

// The parts of an input. Their concatenation is its text, and a smaller input has fewer parts.
using Parts = std::vector<std::string>;
std::string text_of(const Parts& parts);

// In the text of a command line these characters end an argument, and begin the job's script.
inline constexpr char kEndOfArgument = '\x1f';
inline constexpr char kScript = '\x1e';

// A command line as words and a script.
struct CommandText {
    std::vector<std::string> arguments;
    std::string script;
};
CommandText command_of(std::string_view text);

// Makes the input of a seed: a directive of qmgr, or a line of several; the options of qsub or qalter, with a
// script for qsub; or the vnodes of qrun -H, with the job's select as a second argument. Equal seeds make
// equal inputs.
Parts qmgr_input(std::uint64_t seed);
Parts qsub_input(std::uint64_t seed);
Parts qalter_input(std::uint64_t seed);
Parts qrun_input(std::uint64_t seed);

}  // namespace pbs::e2e
