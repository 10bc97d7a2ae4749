// Runs the commands of a Markdown document, in the order in which a reader would type them.
//
// Blocks ```sh are commands of one shell, which lasts from the first block to the last. A block ```text after
// one shows its output: the lines must occur in this order, and other lines may stand between them. "..." in
// a line stands for any text, and runs of blanks of any length are equal. Other kinds of blocks are faults.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

// A fault at a line, counted from 1.
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
        int line = 0;             // first line of the block
        std::vector<Line> shown;  // lines that the output must contain
    };
    // Script for bash. Line N of the script is line N of the document, so that line numbers agree.
    std::string script;
    std::vector<Block> blocks;
    std::vector<Fault> faults;  // reasons why the document can't be run
};

Document read_document(std::string_view markdown);

// Returns the faults that a run of the script shows: commands that failed, and shown lines that didn't come.
std::vector<Fault> faults_of(const Document& document, const Output& done);

}  // namespace pbs::e2e
