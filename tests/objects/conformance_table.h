// The attribute tables of the design document PP-748, row by row, with values for the tests to set. Programs
// in these values are below /bin/; the tests replace this folder by one of their own. The tests' store has
// the queues queue1, queue2 and workq, the resource color, and the windows w1, w2 (which w3 overlaps) and
// never.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "objects/schema.h"

namespace pbs::objects {

struct ConformanceRow {
    ObjectType type;
    std::string_view attribute;
    std::string_view type_text;      // text of the column "Type" in PP-748
    std::string_view default_value;  // value that qmgr lists for a new object; "-": none
    std::string_view example;        // the command in PP-748, without `qmgr -c` and its quotation marks
    std::string_view example_value;  // value that qmgr lists after the example
    // Other valid values, one of each kind, each with the value that qmgr then lists.
    std::vector<std::pair<std::string_view, std::string_view>> valid;
    std::vector<std::string_view> invalid;
};

const std::vector<ConformanceRow>& conformance_table();

// The attribute's effect is shown by this test, which fails if the attribute has none.
struct ShownEffect {
    ObjectType type;
    std::string_view attribute;
    std::string_view file;  // path of the test's file below tests/
    std::string_view suite;
    std::string_view test;
};

const std::vector<ShownEffect>& shown_effects();

}  // namespace pbs::objects
