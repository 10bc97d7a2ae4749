// What qmgr printed of an older server: `qmgr -c "print server"`, from which backfill_depth, job_sort_formula
// and the names of queues and resources are taken.
//
// Format: directives of qmgr, one a line; '#' begins a comment where a word may begin. Read are
//
//     create queue NAME                       also with attributes behind it
//     set queue NAME attribute = value
//     set server attribute = value
//     create resource NAME                    also with attributes behind it
//     set resource NAME attribute = value
//
// with the commands and types abbreviated as qmgr takes them. A value in double or single quotes may have
// blanks and commas in it; a line that ends with a backslash goes on in the next one. A later setting
// replaces an earlier one. Directives on other objects and other attributes say nothing here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate {

struct PrintedQueue {
    std::string name;
    bool route = false;          // queue_type Route
    std::string execution_type;  // execution_prime, execution_non_prime or execution_dedicated, or empty
    int line = 0;
};

struct PrintedValue {
    std::string value;
    int line = 0;
};

struct QmgrPrint {
    std::string file;
    std::vector<PrintedQueue> queues;      // in the order of the file
    std::vector<std::string> consumables;  // resources whose flag says that jobs use them up
    std::optional<PrintedValue> backfill_depth;
    std::optional<PrintedValue> job_sort_formula;
};

// Does the flag of a resource say that jobs use it up? n: of vnodes, f: of the first vnode, q: of queues and
// the server.
bool uses_up(std::string_view flag);

// Reads the text of a file; `file` is its name in messages. Problems: lines that are no directives, open
// quotes, settings without a value, queues' names that are none, a backfill_depth that is no number.
Result<QmgrPrint> parse_qmgr_print(std::string_view text, const std::string& file);

}  // namespace pbs::migrate
