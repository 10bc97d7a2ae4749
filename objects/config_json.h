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
//     "fs_group": {},
//     "quota": {}
//   }
//
// A server adds its own part of the configuration under the key "host", which isn't read here.
//
// Values are texts as in qmgr, lists are arrays of them. Set values are written, defaults are not. Types come
// in this order, objects in the order of their names, attributes in the order of the tables: equal
// configurations are equal texts. JSON can't hold a value whose bytes aren't UTF-8: such a value is written
// as {"hex": "e9"}.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/error.h"
#include "objects/snapshot.h"

namespace pbs::objects {

// The number of the documents' format.
inline constexpr int kConfigFormat = 1;

// An attribute and an object as read from JSON: their syntax is right; names and values are still unchecked.
struct AttributeText {
    std::string name;
    bool is_list = false;
    StringList items;  // one item, unless it is a list
};
struct ObjectText {
    ObjectType type = ObjectType::policy;
    std::string name;
    std::vector<AttributeText> attributes{};
};

// An object as the history keeps it: {"by_queue":"False","batch_queues":["a","b"]}; null for no object.
std::string to_json(const Object* object);
// Reads the text of to_json(); nullopt for null. Errors: bad_value, saying what can't be read.
Result<std::optional<Object>> from_json(ObjectType type, std::string_view name, std::string_view json);

// The configuration as a document that ends with a newline.
std::string to_document(const Snapshot& snapshot);
// The objects of a document. Errors: bad_value. A mistake in JSON's grammar is reported with line and column;
// mistakes in a document of right grammar (unknown or repeated keys, values of a wrong kind) are all
// reported, a line each.
Result<std::vector<ObjectText>> from_document(std::string_view json);

}  // namespace pbs::objects
