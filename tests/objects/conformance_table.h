// PP-748's attribute tables, row by row, in a form to compare with the document. Programs below /bin/ stand
// for ones that a test makes. The tests' store has the queues queue1, queue2 and workq, the resource color,
// and the windows w1, w2 (which w3 overlaps) and never.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "objects/schema.h"

namespace pbs::objects {

struct ConformanceRow {
    ObjectType type;
    std::string_view attribute;
    std::string_view type_text;      // the document's "Type"
    std::string_view default_value;  // as listed on a fresh object; "-": none
    std::string_view example;        // the document's command, without qmgr -c and its quotes
    std::string_view example_value;  // as listed after the example
    // Other valid values, one of each kind, and their listed texts
    std::vector<std::pair<std::string_view, std::string_view>> valid;
    std::vector<std::string_view> invalid;
};

const std::vector<ConformanceRow>& conformance_table();

// A test that fails if the attribute has no effect.
struct ShownEffect {
    ObjectType type;
    std::string_view attribute;
    std::string_view file;  // below tests/
    std::string_view suite;
    std::string_view test;
};

const std::vector<ShownEffect>& shown_effects();

}  // namespace pbs::objects
