// Shows a migration as text, for people or for programs.
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
    diff,      // present and future values as a diff, the notes as comments
    notes,     // the notes alone
    host,      // the directives left to the server (host_work.h), as JSON
};

// Converts between a format and its word: "text", "json", "commands", "diff", "notes" or "host". nullopt:
// another word.
std::optional<Format> format_from_word(std::string_view word);
std::string_view format_word(Format format);

// Returns a conversion as text with a newline at its end. A diff without differences and notes is empty.
std::string show(const Conversion& conversion, Format format);

// Returns a conversion as JSON:
// {
//   "lines": [{"source": "config:12 MAX_JOBS", "target": "policy default_policy max_jobs", "value": "2",
//              "before": null, "changed": true}],
//   "notes": ["..."],
//   "commands": ["set policy default_policy max_jobs = 2"]
// }
// A "value" of null means that the value is taken back; a "before" of null, that nothing was set.
std::string to_json(const Conversion& conversion);
// Returns problems as JSON: {"problems": [{"file": "config", "line": 12, "column": 20, "option": "MAX_JOBS",
// "message": "..."}]}. Line 0 is the whole file, column 0 the whole line. `unknown`: nobody knows whether the
// files were migrated; then there is "unknown": true, too.
std::string to_json(const Problems& problems, bool unknown = false);

// Returns the result of an export as JSON: {"file": "/back/sched_config", "left_out": ["..."]}
std::string to_json(const std::string& file, const Exported& exported);

}  // namespace pbs::migrate
