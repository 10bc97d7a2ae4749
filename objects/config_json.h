// Writes and reads the configuration as JSON: an object for a row of the history, and a whole document for
// export and import.
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
// A server adds its own part of the configuration under the key "host". The functions below skip it.
//
// Values are texts as in qmgr; lists are arrays of texts. Only values that were set are written, not
// defaults. Types come in this order, objects in the order of their names, attributes in the order of the
// tables: equal configurations are equal texts. JSON can't contain a value whose bytes aren't UTF-8: such a
// value is written as {"hex": "e9"}.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/error.h"
#include "objects/snapshot.h"

namespace pbs::objects {

// The number of the format of documents.
inline constexpr int kConfigFormat = 1;

// An attribute and an object as read from JSON. JSON's syntax was checked; names and values weren't.
struct AttributeText {
    std::string name;
    bool is_list = false;
    StringList items;  // one item if it isn't a list
};
struct ObjectText {
    ObjectType type = ObjectType::policy;
    std::string name;
    std::vector<AttributeText> attributes{};
};

// Writes an object for the history: {"by_queue":"False","batch_queues":["a","b"]}; null if `object` is null.
std::string to_json(const Object* object);
// Reads the text that to_json() writes; nullopt for null. Errors: bad_value, saying what can't be read.
Result<std::optional<Object>> from_json(ObjectType type, std::string_view name, std::string_view json);

// Writes the configuration as a document that ends with a newline.
std::string to_document(const Snapshot& snapshot);
// Reads the objects of a document. Errors: bad_value. A mistake in JSON's grammar is reported with line and
// column. If the grammar is right, all mistakes (unknown or repeated keys, values of a wrong kind) are
// reported, a line each.
Result<std::vector<ObjectText>> from_document(std::string_view json);

}  // namespace pbs::objects
