// What of the server the plugin has to know: queues, schedulers, resources, vnodes and the server itself,
// as the server describes them to any client.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ifl/attributes/entity_limits.h"
#include "ifl/connection.h"
#include "ifl/error.h"
#include "ifl/settings.h"

namespace pbs::openpbs {

// Of a list of resources: names and values, as the server writes them.
using ResourceList = std::map<std::string, std::string>;

// Of the server, or of a queue. -1: not set.
struct SiteLimits {
    std::int64_t max_running = -1;
    std::int64_t max_user_run = -1;
    std::int64_t max_group_run = -1;
    ResourceList max;
    ResourceList min;
    ResourceList available;
    // On entities: those of max_run and max_run_soft, and the others by resource.
    struct Entity {
        ifl::EntityLimit limit;
        std::string resource;  // empty: jobs
        bool soft = false;
        bool operator==(const Entity&) const = default;
    };
    std::vector<Entity> entities{};
    bool operator==(const SiteLimits&) const = default;
};
struct SiteQueue {
    bool execution = false;
    bool route = false;
    bool started = false;
    bool enabled = false;
    bool user_acl = false;
    std::int32_t priority = 0;
    std::int64_t backfill_depth = -1;  // -1: not set
    std::string partition;
    std::string node_group_key;
    std::vector<std::string> acl_users;
    SiteLimits limits;
    std::int32_t execution_type = 0;  // enum pbs_execution_type; the plugin keeps it, not the server
    bool operator==(const SiteQueue&) const = default;
};
struct SiteSched {
    bool scheduling = false;
    bool own = false;  // its jobs are scheduled by the plugin, not by pbs_sched
    std::string partition;
    std::string sched_priv;     // absolute path
    std::string sched_log;      // likewise
    std::string preempt_order;  // by which the server preempts jobs that this scheduler wants preempted
    std::string job_run_wait;   // for what of a job's start the scheduler waits
    std::int64_t attr_update_period = 0;  // seconds between two updates of what jobs wait for, at least
    // What policies have of it too, such as preempt_prio.
    std::map<std::string, std::string> settings{};
    bool operator==(const SiteSched&) const = default;
};
struct SiteResource {
    int kind = 0;  // enum pbs_resource_kind
    bool consumable = false;
    bool host_level = false;
    bool operator==(const SiteResource&) const = default;
};
struct SiteServer {
    std::string name;
    std::string host;
    std::int64_t backfill_depth = -1;
    std::string job_sort_formula;
    std::string node_group_key;
    bool node_group_enable = false;
    std::string suspend_releases;  // resources, with commas; empty: all
    bool counts_eligible_time = false;
    bool has_runjob_hook = false;  // a hook may keep jobs from being run
    bool others_see_jobs = false;  // query_other_jobs
    SiteLimits limits;
    bool operator==(const SiteServer&) const = default;
};
struct SiteVnode {
    std::string host;
    std::uint32_t state = 0;    // bits of enum pbs_vnode_state
    std::uint32_t sharing = 0;  // one of enum pbs_vnode_sharing
    std::int32_t priority = 0;
    std::string queue;
    std::string partition;
    ResourceList available;
    bool operator==(const SiteVnode&) const = default;
};

struct SiteReservation {
    std::string queue;
    std::string partition;  // where it is confirmed; empty: nowhere, or that of the default scheduler
    bool asked = false;     // the scheduler is to find places for it
    std::int64_t start = 0;
    std::int64_t end = 0;
    ResourceList requested;
    std::string nodes;  // its places, as an exec_vnode; empty: it has none yet
    // Of a standing one: those of its times that come after this one.
    struct Occurrence {
        std::int64_t start = 0;
        std::int64_t end = 0;
        std::string nodes;
        bool asked = false;
        bool operator==(const Occurrence&) const = default;
    };
    std::vector<Occurrence> later{};
    std::string later_select{};  // what they ask for; empty: what this one does
    bool standing = false;
    bool one_altered = false;  // only the time that comes next is asked for
    bool keeps_first = false;  // and only later ones are
    bool soonest = false;      // it begins as soon as there are places
    std::string error;         // why the scheduler can't answer
    bool operator==(const SiteReservation&) const = default;
};

// By their numbers, in the order in which they came: S9.server is before R10.server.
struct ByNumber {
    bool operator()(const std::string& a, const std::string& b) const;
};
using SiteReservations = std::map<std::string, SiteReservation, ByNumber>;

struct Site {
    SiteServer server;
    std::map<std::string, SiteQueue> queues;
    std::map<std::string, SiteSched> scheds;
    std::map<std::string, SiteResource> resources;
    std::map<std::string, SiteVnode> vnodes;
    SiteReservations reservations;
};

// Copies execution_type, which the server doesn't tell, from `before`.
void keep_execution_types(const std::map<std::string, SiteQueue>& before,
                          std::map<std::string, SiteQueue>& after);

// The value of an attribute, or an empty string.
std::string_view value_of(const ifl::ObjectView& object, std::string_view name,
                          std::string_view resource = {});
// All of a list of resources.
ResourceList resources_of(const ifl::ObjectView& object, std::string_view name);

// Objects of the replies to status requests.
SiteServer server_of(const ifl::ObjectView& object);
SiteQueue queue_of(const ifl::ObjectView& object);
SiteSched sched_of(const ifl::ObjectView& object);
// Of a reply to a request with the extend string kResourceExtend. One of OpenPBS's own, "|unknown|", is none.
void note_resource(std::map<std::string, SiteResource>& resources, const ifl::ObjectView& object);
// `now`: a reservation that has lost vnodes is asked for again when its time to try has come.
SiteReservation reservation_of(const ifl::ObjectView& object, std::int64_t now);
// Which of a reservation's times are asked for: of one that has lost vnodes, those that have. `is_there`: is
// the vnode there, and takes jobs?
void choose_asked(SiteReservation& reservation, const std::function<bool(const std::string&)>& is_there);
SiteVnode vnode_of(const ifl::ObjectView& object);
// Of a vnode's attribute `state`.
std::uint32_t vnode_state(std::string_view text);

// Asks for types and flags as numbers.
inline constexpr const char* kResourceExtend = "p";
// What a status request has to name for queue_of() and vnode_of().
ifl::Attributes queue_attributes();
ifl::Attributes vnode_attributes();
// And for vnode_state().
ifl::Attributes vnode_state_attributes();

// This host's server, of pbs.conf, and how it is reached.
struct ServerPlace {
    ifl::Settings settings;
    ifl::ServerAddress address;
};
ifl::Result<ServerPlace> find_server();

// Connects to this host's server and asks for all of it but vnodes and reservations. Waits for the server,
// however long it takes.
ifl::Result<Site> ask_site();

}  // namespace pbs::openpbs
