// What of the server the plugin has to know: queues, schedulers, resources and the server itself, asked for
// as any client asks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "ifl/connection.h"
#include "ifl/error.h"

namespace pbs::openpbs {

struct SiteQueue {
    bool execution = false;
    bool started = false;
    bool enabled = false;
    std::int32_t priority = 0;
    std::int64_t backfill_depth = -1;  // -1: not set
    std::string partition;
    bool operator==(const SiteQueue&) const = default;
};
struct SiteSched {
    bool scheduling = false;
    std::string partition;
    std::string sched_priv;  // absolute path
    bool operator==(const SiteSched&) const = default;
};
struct SiteResource {
    int kind = 0;  // enum pbs_resource_kind
    bool consumable = false;
    bool operator==(const SiteResource&) const = default;
};
struct SiteServer {
    std::string name;
    std::string host;
    std::int64_t backfill_depth = -1;
    std::string job_sort_formula;
    bool operator==(const SiteServer&) const = default;
};

struct Site {
    SiteServer server;
    std::map<std::string, SiteQueue> queues;
    std::map<std::string, SiteSched> scheds;
    std::map<std::string, SiteResource> resources;
};

// Connects to this host's server, of pbs.conf, and asks for all of it. Waits for the server, however long it
// takes.
ifl::Result<Site> ask_site();

}  // namespace pbs::openpbs
