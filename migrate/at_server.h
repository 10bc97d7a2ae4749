// A running server, asked through the C API as one of its managers. Of the program pbs_migrate.
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

// Has a server migrate the files: `server` is empty for the default one. The result is its report. Problems:
// it can't be reached, or refuses.
Result<std::string> migrate_at(const std::string& server, const ServerRequest& request);

// What a server has, for export.
struct ServerConfiguration {
    std::shared_ptr<const objects::Snapshot> snapshot;
    std::vector<std::string> queues;
    std::vector<std::string> consumables;  // resources that jobs use up
    // The site's resources that they don't use up, and those that sched_config named and nobody has made.
    std::vector<std::string> others;
    std::vector<FoundQueueType> queue_types;
};
Result<ServerConfiguration> configuration_of(const std::string& server);

}  // namespace pbs::migrate
