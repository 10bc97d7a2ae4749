// Passes directives about an older server's own objects (qmgr_print.h), such as queues, resources, nodes and
// schedulers, on to the server that carries them out: these objects aren't in the policy store.
//
// A running server carries the directives out within the request of the migration, and returns their
// outcomes. Otherwise they stay beside the objects (Store::meta, kHostWorkKey) until the server's next start.
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

// The outcome of a command that the server carries out on its own objects.
struct HostOutcome {
    bool changed = true;
    std::string before{};   // the value that the command replaced
    std::string refused{};  // the server's reason to refuse the command; empty: it was carried out
};

// Key of Store::meta for the directives, as JSON.
inline constexpr std::string_view kHostWorkKey = "host_work";

// Writes the commands as JSON: {"file": "qmgr_print", "commands": [{"line": 12, "command": 2, "type": 1,
// "object": "workq", "attribute": "resources_max.ncpus", "value": "4", "op": 0}]}. The numbers are the batch
// protocol's. A command that only creates or deletes has no attribute; a command from another file has "file"
// of its own. No commands give an empty text.
std::string to_json(const HostWork& work);
// Reads the commands. An empty or malformed text stands for none.
HostWork host_work_from_json(std::string_view json);

// Reads the outcomes of commands, in their order: [{"changed": true, "before": "3", "refused": ""}]. nullopt:
// the text is malformed.
std::optional<std::vector<HostOutcome>> outcomes_from_json(std::string_view json);

// Returns the text of a report's note on a directive that isn't carried out, for the reason `why`.
std::string refusal_note(const HostWork& work, const PrintedCommand& printed, std::string_view why);

// Adds to a report a line for each command that the server carried out, and a note for each that it refused.
void add_lines(Report& report, const HostWork& work, const std::vector<HostOutcome>& outcomes);

}  // namespace pbs::migrate
