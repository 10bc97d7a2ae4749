// Commands that a document in Markdown shows, run in the order in which a reader types them.
//
// A block ```sh is commands of one shell, which lasts from the first block to the last. A block ```text
// behind it is what these show: its lines stand in the output, in this order, with others between them. "..."
// in a line is anything, and any run of blanks is as good as another. There are no blocks of other kinds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

// What is wrong at a line, counted from 1.
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
        int line = 0;             // its first
        std::vector<Line> shown;  // what stands in the output
    };
    // For bash. Line N of the script is line N of the document, so that the shell's line numbers are the
    // document's.
    std::string script;
    std::vector<Block> blocks;
    std::vector<Fault> faults;  // why it can't be run as it stands
};

Document read_document(std::string_view markdown);

// What is wrong with the document, by what its script did: a command that failed, or a line that wasn't
// shown.
std::vector<Fault> faults_of(const Document& document, const Output& done);

}  // namespace pbs::e2e
