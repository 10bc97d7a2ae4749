// Inputs of commands that our parsers take otherwise than OpenPBS's, and inputs that they take alike.
#pragma once

#include <span>
#include <string>

namespace pbs::e2e {

// A difference that stays.
struct WantedDifference {
    const char* parser;   // qmgr, qsub, qalter or qrun; "q..." stands for qsub and qalter
    const char* line;     // regular expression: a line of the difference, as difference_of() writes it
    const char* input;    // regular expression: a part of the inputs with the difference
    const char* example;  // such an input
    const char* why;
};
std::span<const WantedDifference> wanted_differences();

// An input that both take alike; most of them were found by random inputs.
struct SameInput {
    const char* parser;
    const char* text;
};
std::span<const SameInput> same_inputs();

// Returns the lines that only one of the results has, with "<" before those of OpenPBS and ">" before ours.
// If only one of them refused the input, there is one line.
std::string difference_of(const std::string& theirs, const std::string& ours);
// Removes the lines that are wanted for the input. `only` limits that to one row.
std::string unwanted(const std::string& parser, const std::string& input, const std::string& difference,
                     const WantedDifference* only = nullptr);

}  // namespace pbs::e2e
