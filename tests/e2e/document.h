// Runs the commands of a Markdown document, in the order in which a reader would type them.
//
// Blocks of commands begin with ```sh. One shell runs them all, from the first block to the last. A block
// ```text after a block of commands shows its output: the real output must contain the block's lines in this
// order, and may have other lines between them. "..." in a line stands for any text, and all runs of blanks
// are equal. Any other kind of block is a fault.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

// A fault of the document, at a line, which is counted from 1.
struct Fault {
    int line = 0;
    std::string text;
};

struct Document {
    struct Line {
        int number = 0;
        std::string text;
    };
    struct Block {
        int line = 0;             // number of the block's first line
        std::vector<Line> shown;  // lines that the output must contain
    };
    // Script for bash. Each command has the same line number in the script as in the document.
    std::string script;
    std::vector<Block> blocks;
    std::vector<Fault> faults;  // reasons why the document can't be run
};

Document read_document(std::string_view markdown);

// Returns the faults of the document, and those found by running its script with the result `done`: a command
// that failed, and shown lines that the output lacks.
std::vector<Fault> faults_of(const Document& document, const Output& done);

}  // namespace pbs::e2e
