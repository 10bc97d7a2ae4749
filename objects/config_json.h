// The configuration as JSON: one object for a row of the history, a whole document for export and import.
//
// A document (format 1; pbs_config(8) describes it for its users):
//
//   {
//     "format": 1,
//     "server": {"non_work_days": ["FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1"]},
//     "queue": {"q1": {"time_window": ["t1"]}},
//     "sched": {"default": {"policy": ["p1"]}},
//     "policy": {"p1": {"by_queue": "False"}},
//     "time_window": {"t1": {}},
//     "fs_group": {}
//   }
//
// A server puts what it keeps itself under one more key, "host", which isn't read here.
//
// Values are texts as in qmgr, lists are arrays of them. What is set is written, defaults are not. Types are
// in this order, objects in that of their names, attributes in that of the tables: equal configurations are
// equal texts. Values are bytes: one that isn't UTF-8, which JSON can't hold, is {"hex": "e9"}.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/error.h"
#include "objects/snapshot.h"

namespace pbs::objects {

// The format that documents say they have.
inline constexpr int kConfigFormat = 1;

// An attribute and an object as a text has them: the form of the text is right, nothing else is known of
// them.
struct AttributeText {
    std::string name;
    bool is_list = false;
    StringList items;  // one, unless it is a list
};
struct ObjectText {
    ObjectType type = ObjectType::policy;
    std::string name;
    std::vector<AttributeText> attributes{};
};

// {"by_queue":"False","batch_queues":["a","b"]}, what history keeps; null for no object.
std::string to_json(const Object* object);
// Reads it back; nullopt for null. Errors: bad_value, saying what makes no sense.
Result<std::optional<Object>> from_json(ObjectType type, std::string_view name, std::string_view json);

// A configuration as a document that ends with a newline.
std::string to_document(const Snapshot& snapshot);
// The objects of a document. Errors: bad_value. A mistake of JSON's grammar is told with line and column, all
// that is wrong with a document of right grammar (unknown or repeated keys, values of a wrong kind) in a line
// each.
Result<std::vector<ObjectText>> from_document(std::string_view json);

}  // namespace pbs::objects
