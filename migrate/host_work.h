// What qmgr printed of an older server's own objects (qmgr_print.h), on its way to the server that carries it
// out: queues, resources, nodes, schedulers and the server itself aren't the store's.
//
// A server that runs does it in the request of the migration, and tells the migration what came of each
// directive. Otherwise the directives stay beside the objects (Store::meta, kHostWorkKey) until the server's
// next start.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/qmgr_print.h"
#include "migrate/report.h"

namespace pbs::migrate {

struct HostWork {
    std::string file;
    std::vector<PrintedCommand> commands;
};

// What came of one of the commands.
struct HostOutcome {
    bool changed = true;
    std::string before{};   // the value that it replaced
    std::string refused{};  // why the server doesn't take it; empty: it does
};

// The key of Store::meta.
inline constexpr std::string_view kHostWorkKey = "host_work";

// {"file": "qmgr_print", "commands": [{"line": 12, "command": 2, "type": 1, "object": "workq", "attribute":
// "resources_max.ncpus", "value": "4", "op": 0}]}; the numbers are those of the batch protocol, and what only
// creates or deletes has no attribute. A command of another file has that in "file". An empty text for no
// commands.
std::string to_json(const HostWork& work);
// Reads the commands. An empty text, or one that makes no sense, stands for no commands.
HostWork host_work_from_json(std::string_view json);

// [{"changed": true, "before": "3", "refused": ""}], in the order of the commands. nullopt: it makes no
// sense.
std::optional<std::vector<HostOutcome>> outcomes_from_json(std::string_view json);

// A line of a report about a directive that isn't carried over.
std::string refusal_note(const HostWork& work, const PrintedCommand& printed, std::string_view why);

// Adds to a report a line for each command that the server took, and a note for each that it refused.
void add_lines(Report& report, const HostWork& work, const std::vector<HostOutcome>& outcomes);

}  // namespace pbs::migrate
