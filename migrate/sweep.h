// Takes back what earlier migrations made and the files no longer have. Internal to migrate/.
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
    std::vector<objects::Command> commands;  // to run after the commands that set the files' values
    std::vector<Report::Line> lines;
    std::vector<std::string> notes;  // objects and values that stay because somebody has changed or uses them
    std::vector<QueueType> queue_types;
    Ledger ledger;  // the new ledger: lines of `now`, of parts that weren't read, and of objects in use
};

// Takes back what `before`, the ledger of earlier migrations, has for `parts` of the configuration and `now`,
// the ledger of this one, doesn't have any more. Such a value is unset if it is still as migrated. Such an
// object is deleted if a migration made it, nobody else has set any of its attributes except the comment, and
// nothing refers to it. A scheduler's policies are replaced by default_policy. Queues, nodes and resources
// stay, because jobs may use them; a note says how to remove them. If `current` is null, there is nothing to
// take back.
Swept sweep(const Ledger& before, const Ledger& now, const std::set<Part>& parts,
            const objects::Snapshot* current, const Surroundings& server);

}  // namespace pbs::migrate
