// The objects of the server that the plugin has to know, as the server describes them to any client:
// queues, schedulers, resources, vnodes and the server itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cluster/job.h"
#include "cluster/queue.h"
#include "cluster/server.h"
#include "cluster/vnode.h"
#include "ifl/connection.h"
#include "ifl/error.h"
#include "ifl/reply.h"
#include "ifl/request.h"
#include "ifl/settings.h"
#include "server_plugin/openpbs/reservation.h"

namespace pbs::openpbs {

using cluster::Job;
using cluster::Queue;
using cluster::ResourceList;
using cluster::Server;
using cluster::Vnode;

struct Sched : cluster::Sched {
    std::string host;           // the host on which the scheduler's pbs_sched runs
    std::string sched_log;      // absolute path
    std::string preempt_order;  // the methods by which the server preempts jobs for this scheduler
    std::string
        job_run_wait;  // none, runjob_hook or execjob_hook: what the scheduler waits for when a job starts
    std::int64_t attr_update_period =
        0;  // least seconds between two updates of waiting jobs' comments and estimates
    std::vector<std::string> not_acted_on{};  // names of set attributes that only pbs_sched acts on
    // The settings that policies have, too, such as preempt_prio.
    std::map<std::string, std::string> settings{};
    bool operator==(const Sched&) const = default;
};
struct ResourceDefinition {
    int kind = 0;  // enum pbs_resource_kind
    bool consumable = false;
    bool host_level = false;
    bool operator==(const ResourceDefinition&) const = default;
};

struct Site {
    Server server;
    std::map<std::string, Queue> queues;
    std::map<std::string, Sched> scheds;
    std::map<std::string, ResourceDefinition> resources;
    std::map<std::string, Vnode> vnodes;
    // A text about the vnodes that name another vnode for an amount that jobs consume; empty: none does.
    std::string shared_amounts{};
    Reservations reservations;
};

// Copies the execution_types of queues from `before` to `after`, because the server's replies don't have
// them.
void keep_execution_types(const std::map<std::string, Queue>& before, std::map<std::string, Queue>& after);

// Returns the objection to an execution_type, as in the bundled server: a route queue has none, and an
// execution queue can't have the type route. An empty text means that there is no objection.
std::string objection_to_type(const Site& site, const ifl::Manage& body);

// These functions read an object of a reply to a status request.
Sched sched_of(const ifl::ObjectView& object);
Vnode vnode_of(const ifl::ObjectView& object);
// Reads a resource from a reply to a request with the extend string kResourceExtend. Skips OpenPBS's
// "|unknown|".
void note_resource(std::map<std::string, ResourceDefinition>& resources, const ifl::ObjectView& object);

// A vnode's value "@VNODE" of a resource stands for that other vnode's value, which may stand for a further
// one's. Replaces such values of resources that jobs don't consume, and removes those that lead nowhere.
// An amount that jobs consume would belong to both vnodes together. The plugin's schedulers share no amounts,
// so the function sets such an amount to 0, and says so in site.shared_amounts.
void follow_other_vnodes(Site& site);

// The extend string that makes the server send types and flags as numbers.
inline constexpr const char* kResourceExtend = "p";
// The server of this host: its settings in pbs.conf, and its address.
struct ServerPlace {
    ifl::Settings settings;
    ifl::ServerAddress address;
};
ifl::Result<ServerPlace> find_server();

// Connects to this host's server, and queries all of its objects except vnodes and reservations. Waits for
// the server without limit.
ifl::Result<Site> ask_site();

}  // namespace pbs::openpbs
