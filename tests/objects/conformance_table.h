// The attribute tables of the design document PP-748, row by row, with values that the tests set. The tests
// make programs in a folder of their own for those that the values have below /bin/. The tests' store has the
// queues queue1, queue2 and workq, the resource color, and the windows w1, w2 (which w3 overlaps) and never.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "objects/schema.h"

namespace pbs::objects {

struct ConformanceRow {
    ObjectType type;
    std::string_view attribute;
    std::string_view type_text;      // "Type" in PP-748
    std::string_view default_value;  // as qmgr lists it for a new object; "-": none
    std::string_view example;        // the command in PP-748, without qmgr -c and its quotes
    std::string_view example_value;  // as qmgr lists it after the example
    // Other valid values, one of each kind, and how qmgr lists them
    std::vector<std::pair<std::string_view, std::string_view>> valid;
    std::vector<std::string_view> invalid;
};

const std::vector<ConformanceRow>& conformance_table();

// Names the test that fails if the attribute has no effect.
struct ShownEffect {
    ObjectType type;
    std::string_view attribute;
    std::string_view file;  // below tests/
    std::string_view suite;
    std::string_view test;
};

const std::vector<ShownEffect>& shown_effects();

}  // namespace pbs::objects
