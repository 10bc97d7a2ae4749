// Migrates at a running server and reads its configuration, through the C API and as one of its managers.
// Part of the program pbs_migrate.
#pragma once

#include <memory>
#include <string>

#include "migrate/legacy.h"
#include "migrate/problem.h"
#include "migrate/queue_types.h"
#include "migrate/show.h"
#include "objects/snapshot.h"

namespace pbs::migrate {

struct ServerRequest {
    LegacyTexts texts{};
    Format format = Format::text;
    bool infer = false;
    bool strict = false;
    bool dry_run = false;
};

// Asks a server to migrate the files, and returns its report. An empty `server` is the default one. Problems:
// the server can't be reached, or refuses.
Result<std::string> migrate_at(const std::string& server, const ServerRequest& request);

// A running server's configuration, from which --export makes files.
struct ServerConfiguration {
    std::shared_ptr<const objects::Snapshot> snapshot;
    std::vector<std::string> queues;
    std::vector<std::string> consumables;  // resources that jobs use up (consumable)
    // Custom resources that aren't consumable, and resources that a migrated sched_config named but nobody
    // has created.
    std::vector<std::string> others;
    std::vector<FoundQueueType> queue_types;
};
Result<ServerConfiguration> configuration_of(const std::string& server);

}  // namespace pbs::migrate
