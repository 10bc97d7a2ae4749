// A migration as text for people and programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "migrate/convert.h"
#include "migrate/export.h"
#include "migrate/problem.h"

namespace pbs::migrate {

enum class Format {
    text,      // the report
    json,      // see to_json()
    commands,  // directives of qmgr, the notes as comments
    diff,      // what is there and what would be, the notes as comments
    notes,     // the notes alone
    host,      // what is left to the server (host_work.h), as JSON
};

// "text", "json", "commands", "diff", "notes" or "host".
std::optional<Format> format_from_word(std::string_view word);
std::string_view format_word(Format format);

// A text that ends with a newline, or, of a diff without a difference and of no notes, an empty one.
std::string show(const Conversion& conversion, Format format);

// {
//   "lines": [{"source": "config:12 MAX_JOBS", "target": "policy default_policy max_jobs", "value": "2",
//              "before": null, "changed": true}],
//   "notes": ["..."],
//   "commands": ["set policy default_policy max_jobs = 2"]
// }
// A value that is null is taken back; a before that is null: nothing was set.
std::string to_json(const Conversion& conversion);
// {"problems": [{"file": "config", "line": 12, "column": 20, "option": "MAX_JOBS", "message": "..."}]}
// A line or column of 0 is the whole file or line.
std::string to_json(const Problems& problems);

// {"file": "/back/sched_config", "left_out": ["..."]}
std::string to_json(const std::string& file, const Exported& exported);

}  // namespace pbs::migrate
