// Taking back what earlier migrations made and the files no longer say. Internal to migrate/.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "migrate/ledger.h"
#include "migrate/queue_types.h"
#include "migrate/report.h"
#include "objects/commands.h"

namespace pbs::objects {
class Snapshot;
}

namespace pbs::migrate {

struct Swept {
    std::vector<objects::Command> commands;  // to come after those that make what the files say
    std::vector<Report::Line> lines;
    std::vector<std::string> notes;  // what stays, because somebody has changed it or uses it
    std::vector<QueueType> queue_types;
    Ledger ledger;  // of both migrations together
};

// `before` is what earlier migrations made, `now` what this one makes, of these parts of the configuration:
// other parts stay. A value is unset where it is still the one that was migrated; an object is deleted if a
// migration made it, nothing of it was set by anybody else but a comment, and nothing else refers to it. The
// slots of a scheduler fall back to default_policy. Queues, nodes and resources are the server's and stay,
// jobs may use them; a note says how to remove them. Without a `current` there is nothing to take back.
Swept sweep(const Ledger& before, const Ledger& now, const std::set<Part>& parts,
            const objects::Snapshot* current, const Surroundings& server);

}  // namespace pbs::migrate
